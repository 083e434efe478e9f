// Error and gamma functions of float (OpenCL C 6.15.2), within 16 ulp. The polynomials are Chebyshev's.
//
// Defines: erf erfc tgamma lgamma lgamma_r
#include "exact.cl"
#include "exp.cl"
#include "log.cl"
#include "trig.cl"

// erf(x) for |x| <= 1
float erf_part(float x) {
    float z = x * x;
    float sum = -9.667044571e-6f;
    sum = mul_add(sum, z, 0.0001126595903f);
    sum = mul_add(sum, z, -0.0008484080406f);
    sum = mul_add(sum, z, 0.005221031808f);
    sum = mul_add(sum, z, -0.02686543073f);
    sum = mul_add(sum, z, 0.112837825f);
    sum = mul_add(sum, z, -0.3761263847f);
    sum = mul_add(sum, z, 1.128379167f);
    return x * sum;
}
// erfc(x) for 0.9 <= x <= 10.6: e^(-x^2)/(x + 1) times a smooth function of (x - 4)/(x + 4)
float erfc_part(float x) {
    float t = (x - 4.0f) / (x + 4.0f);
    float sum = -0.0001405741072f;
    sum = mul_add(sum, t, -0.0003696536655f);
    sum = mul_add(sum, t, 0.002160948501f);
    sum = mul_add(sum, t, -0.006068009235f);
    sum = mul_add(sum, t, 0.01215228421f);
    sum = mul_add(sum, t, -0.01751644078f);
    sum = mul_add(sum, t, 0.01531342769f);
    sum = mul_add(sum, t, 0.003962135447f);
    sum = mul_add(sum, t, -0.04808041865f);
    sum = mul_add(sum, t, 0.1170496632f);
    sum = mul_add(sum, t, -0.1993445824f);
    sum = mul_add(sum, t, 0.6849972881f);
    float2 square = two_product(x, x);
    float n = rint(square.x * -1.44269504f);
    float power = exp_part(((-square.x - n * LN2_HIGH) - n * LN2_LOW) - square.y);
    return ldexp_float((1.0f + power) * (sum / (x + 1.0f)), (int)n);
}
float erf_float(float x) {
    float size = fabs(x);
    if (isnan(x)) return x;
    if (size <= 1.0f) return erf_part(x);
    return copysign_float(size > 4.0f ? 1.0f : 1.0f - erfc_part(size), x);
}
float erfc_float(float x) {
    if (isnan(x)) return x;
    if (x > 10.5f) return 0.0f;
    if (x < -4.0f) return 2.0f;
    if (x < -1.0f) return 2.0f - erfc_part(-x);
    return x <= 0.92f ? 1.0f - erf_part(x) : erfc_part(x);
}

// The gamma function at 1.5 + u, |u| <= 1/2
float gamma_part(float u) {
    float sum = 0.007485898053f;
    sum = mul_add(sum, u, -0.01122063914f);
    sum = mul_add(sum, u, 0.010731166f);
    sum = mul_add(sum, u, -0.01603572509f);
    sum = mul_add(sum, u, 0.02596049444f);
    sum = mul_add(sum, u, -0.03818622104f);
    sum = mul_add(sum, u, 0.0586011717f);
    sum = mul_add(sum, u, -0.07750935754f);
    sum = mul_add(sum, u, 0.1446456474f);
    sum = mul_add(sum, u, -0.107295237f);
    sum = mul_add(sum, u, 0.4148134511f);
    sum = mul_add(sum, u, 0.03233840133f);
    return sum * u + 0.8862269255f;
}
float tgamma_float(float x) {
    if (isnan(x) || as_uint(x) == INFINITE) return x;
    if (x == 0.0f) return copysign_float(as_float(INFINITE), x);
    if (x < 0.0f && x == trunc(x)) return as_float(0x7fc00000u);
    if (x > 35.05f) return as_float(INFINITE);
    if (x < -42.5f) return ((int)trunc(x) & 1) != 0 ? 0.0f : -0.0f;
    if (fabs(x) < 0x1p-25f) return 1.0f / x;
    // Steps to the interval [1, 2]; their product is an unevaluated sum.
    float2 product = (float2)(x < 0.0f ? 0x1p-60f : 0x1p-10f, 0.0f);
    float at = x;
    if (x >= 1.0f) {
        while (at > 2.0f) {
            at -= 1.0f;
            float2 next = two_product(product.x, at);
            product = (float2)(next.x, next.y + product.y * at);
        }
        return gamma_part(at - 1.5f) * (product.x + product.y) * 0x1p10f;
    }
    int steps = 0;
    while (at < 1.0f) {
        float2 next = two_product(product.x, at);
        product = (float2)(next.x, next.y + product.y * at);
        steps += 1;
        at = x + (float)steps;
    }
    float quotient = gamma_part(at - 1.5f) / (product.x + product.y);
    return ldexp_float(quotient, x < 0.0f ? -60 : -10);
}

// The logarithm of the gamma function at x above zero.
float lgamma_positive(float x) {
    if (x >= 8.0f) {
        if (x > 0x1p120f) return x > 0x1.895f1cp121f ? as_float(INFINITE) : x * (log_float(x) - 1.0f);
        float inverse = 1.0f / x, z = inverse * inverse;
        float tail = inverse * (0.0833333333f - z * (0.00277777778f - z * 7.93650794e-4f));
        float logarithm = log_float(x);
        return (x - 0.5f) * (logarithm - 1.0f) + (0.418938533f + tail);
    }
    float at = x, product = 1.0f;
    while (at > 2.5f) {
        at -= 1.0f;
        product *= at;
    }
    // Reduces to at + whole in [1, 2]. The logarithm is 0 at both ends, and the distance to them is exact.
    float sum = 0.0f, whole = 0.0f;
    if (at > 2.0f) {
        at -= 1.0f;
        product *= at;
    } else if (at < 1.0f) {
        sum = -log_float(at);
        whole = 1.0f;
    }
    float u = at - (1.5f - whole);
    float part = -0.0005920983356f;
    part = part * u + 0.0009586282662f;
    part = part * u - 0.001118371454f;
    part = part * u + 0.001849121069f;
    part = part * u - 0.0032182149f;
    part = part * u + 0.005456297821f;
    part = part * u - 0.009425257158f;
    part = part * u + 0.01679651336f;
    part = part * u - 0.03130849539f;
    part = part * u + 0.06291141371f;
    part = part * u - 0.1459598959f;
    part = part * u + 0.4831289505f;
    return (at - (1.0f - whole)) * (at - (2.0f - whole)) * part + (sum + log_float(product));
}
float lgamma_r_float(float x, int *sign) {
    *sign = 1;
    if (isnan(x)) return x;
    if (isinf(x)) return as_float(INFINITE);
    if (x == 0.0f) {
        *sign = as_uint(x) >> 31 != 0 ? -1 : 1;
        return as_float(INFINITE);
    }
    if (x > 0.0f) return lgamma_positive(x);
    if (x == trunc(x)) {
        *sign = 0;
        return as_float(INFINITE);
    }
    // gamma(x) gamma(1 - x) sin(pi x) = pi, and gamma(1 - x) is positive.
    float sine = sinpi_float(x);
    *sign = sine < 0.0f ? -1 : 1;
    if (x > -0x1p-20f) return -log_float(-x);
    return log_float(3.14159265f / fabs(sine * x)) - lgamma_positive(-x);
}
float lgamma_float(float x) {
    int sign;
    return lgamma_r_float(x, &sign);
}
