// Exponential functions of float (OpenCL C 6.15.2), within 3 ulp: x = n ln 2 + r with a product n ln 2 that is
// exact in its high part, and the Taylor series of e^r to the seventh power.
//
// Defines: exp exp2 exp10 expm1 half_exp half_exp2 half_exp10 native_exp10
// Helps: exp_part exp_float exp2_pair expm1_float half_of_exp
#ifndef EXP_CL
#define EXP_CL
#include "exact.cl"

#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 1.42860682031e-6f

// e^r - 1 for |r| <= 0.36
float exp_part(float r) {
    float tail = 1.984126984e-4f;
    tail = mul_add(tail, r, 1.388888889e-3f);
    tail = mul_add(tail, r, 8.333333333e-3f);
    tail = mul_add(tail, r, 4.166666667e-2f);
    tail = mul_add(tail, r, 0.1666666667f);
    tail = mul_add(tail, r, 0.5f);
    return r + r * r * tail;
}

// e^x, and n with the result near 2^n, for finite nonzero results.
float exp_reduced(float x, float n) { return exp_part((x - n * LN2_HIGH) - n * LN2_LOW); }

float exp_float(float x) {
    if (isnan(x)) return x;
    if (x > 89.0f) return as_float(INFINITE);
    if (x < -104.0f) return 0.0f;
    float n = rint(x * 1.44269504f);
    return ldexp_float(1.0f + exp_reduced(x, n), (int)n);
}

// e^x / 2, which overflows only if the exact result does.
float half_of_exp(float x) {
    if (x <= 88.0f) return 0.5f * exp_float(x);
    float root = exp_float(0.5f * x);
    return 0.5f * root * root;
}

// 2^(high + low)
float exp2_pair(float high, float low) {
    if (high > 129.0f) return as_float(INFINITE);
    if (high < -151.0f) return 0.0f;
    float n = rint(high);
    float r = (high - n) + low;
    return ldexp_float(1.0f + exp_part(r * 0.693147181f), (int)n);
}
float exp2_float(float x) { return isnan(x) ? x : exp2_pair(x, 0.0f); }

float exp10_float(float x) {
    if (isnan(x)) return x;
    if (x > 39.0f) return as_float(INFINITE);
    if (x < -46.0f) return 0.0f;
    float n = rint(x * 3.321928095f);
    float r = (x - n * 0x1.344p-2f) - n * 4.6050389812e-6f;
    return ldexp_float(1.0f + exp_part(r * 2.302585093f), (int)n);
}
// Vulkan does not say what the exponential of NaN is: SwiftShader's is infinite.
float half_exp_float(float x) { return isnan(x) ? x : native_exp(x); }
float half_exp2_float(float x) { return isnan(x) ? x : native_exp2(x); }
float half_exp10_float(float x) { return exp10_float(x); }
float native_exp10_float(float x) { return native_exp2(x * 3.321928095f); }

float expm1_float(float x) {
    if (isnan(x)) return x;
    if (x > 89.0f) return as_float(INFINITE);
    if (x < -18.0f) return -1.0f;
    if (fabs(x) < 0.34f) return fabs(x) < 0x1p-26f ? x : exp_part(x);
    float n = rint(x * 1.44269504f);
    float part = exp_reduced(x, n);
    if (n > 30.0f) return ldexp_float(1.0f + part, (int)n);
    float power = ldexp_float(1.0f, (int)n);
    return (power - 1.0f) + power * part;
}
#endif
