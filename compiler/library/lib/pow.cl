// Powers and roots of float (OpenCL C 6.15.2, special cases 7.5.1): 2^(y log2 x) with the exponent as a sum.
//
// Defines: pow powr pown rootn cbrt sqrt rsqrt hypot half_powr half_recip half_divide native_recip native_divide
// Defines: half_sqrt half_rsqrt
// Helps: power_of_size sqrt_float is_whole is_odd
#ifndef POW_CL
#define POW_CL
#include "exact.cl"
#include "exp.cl"
#include "log.cl"

#define NOT_A_NUMBER as_float(0x7fc00000u)

// x^(y + z) for x >= 0, where z is a last correction of y; zero and infinity are as limits.
float power_of_size(float x, float y, float z) {
    if (x == 1.0f || y == 0.0f) return 1.0f;
    bool is_large = (x > 1.0f) == (y > 0.0f);
    if (x == 0.0f || isinf(x) || isinf(y)) return is_large ? as_float(INFINITE) : 0.0f;
    float2 binary = log2_pair(x);
    float estimate = y * binary.x;
    if (fabs(estimate) > 200.0f) return is_large ? as_float(INFINITE) : 0.0f;
    float2 product = two_product(y, binary.x);
    return exp2_pair(product.x, product.y + (y * binary.y + z * binary.x));
}

// Numbers of at least 2^24 are even.
bool is_whole(float y) { return y == trunc(y); }
bool is_odd(float y) { return fabs(y) < 0x1p24f && is_whole(y) && ((int)y & 1) != 0; }

float pow_float(float x, float y) {
    if (x == 1.0f || y == 0.0f) return 1.0f;
    if (isnan(x) || isnan(y)) return NOT_A_NUMBER;
    bool is_negative = as_uint(x) >> 31 != 0;
    if (is_negative && x != 0.0f && !isinf(x) && !isinf(y) && !is_whole(y)) return NOT_A_NUMBER;
    float magnitude = power_of_size(fabs(x), y, 0.0f);
    return is_negative && is_odd(y) ? -magnitude : magnitude;
}

float powr_float(float x, float y) {
    if (isnan(x) || isnan(y) || x < 0.0f) return NOT_A_NUMBER;
    if (y == 0.0f && (x == 0.0f || isinf(x))) return NOT_A_NUMBER;
    if (x == 1.0f && isinf(y)) return NOT_A_NUMBER;
    return power_of_size(fabs(x), y, 0.0f);
}

float pown_float(float x, int n) {
    if (n == 0) return 1.0f;
    if (isnan(x)) return x;
    // A value that is not representable in float is split into two parts.
    int rest = n < -0x1000000 || n > 0x1000000 ? n & 0xff : 0;
    float magnitude = power_of_size(fabs(x), (float)(n - rest), (float)rest);
    return as_uint(x) >> 31 != 0 && (n & 1) != 0 ? -magnitude : magnitude;
}

float rootn_float(float x, int n) {
    bool is_negative = as_uint(x) >> 31 != 0;
    if (n == 0 || isnan(x) || (x < 0.0f && (n & 1) == 0)) return NOT_A_NUMBER;
    float whole = (float)n;
    float2 inverse = pair_quotient(1.0f, whole);
    float magnitude = power_of_size(fabs(x), inverse.x, inverse.y);
    return is_negative && (n & 1) != 0 ? -magnitude : magnitude;
}

float cbrt_float(float x) {
    // A device may flush denormals to zero.
    if (x == 0.0f) return copysign_float(0.0f, x);
    if (isnan(x) || isinf(x)) return x;
    float size = fabs(x), scale = 1.0f;
    if (size < 0x1p-60f) {
        size *= 0x1p90f;
        scale = 0x1p-30f;
    } else if (size > 0x1p60f) {
        size *= 0x1p-90f;
        scale = 0x1p30f;
    }
    // The estimate has at least 16 correct bits on every device.
    float root = native_exp2(native_log2(size) * 0.333333333f);
    float2 square = two_product(root, root);
    float2 cube = two_product(square.x, root);
    float excess = ((cube.x - size) + cube.y) + square.y * root;
    return copysign_float((root - excess / (3.0f * square.x)) * scale, x);
}

float sqrt_float(float x) {
    if (x == 0.0f) return copysign_float(0.0f, x);
    if (isnan(x) || as_uint(x) == INFINITE) return x;
    if (x < 0.0f) return NOT_A_NUMBER;
    float scale = 1.0f;
    if (x < 0x1p-80f) {
        x *= 0x1p80f;
        scale = 0x1p-40f;
    } else if (x > 0x1p80f) {
        x *= 0x1p-80f;
        scale = 0x1p40f;
    }
    return pair_sqrt(x).x * scale;
}

float hypot_float(float x, float y) {
    x = fabs(x);
    y = fabs(y);
    if (isinf(x) || isinf(y)) return as_float(INFINITE);
    if (isnan(x) || isnan(y)) return NOT_A_NUMBER;
    float scale = 1.0f;
    if (fmax(x, y) > 0x1p60f) {
        x *= 0x1p-80f;
        y *= 0x1p-80f;
        scale = 0x1p80f;
    } else if (fmax(x, y) < 0x1p-50f) {
        x *= 0x1p100f;
        y *= 0x1p100f;
        scale = 0x1p-100f;
    }
    return sqrt_float(x * x + y * y) * scale;
}

float half_powr_float(float x, float y) { return powr_float(x, y); }
// Vulkan defines the quotient only for divisors up to 2^126. Scaling can underflow only if the quotient does.
float half_divide_float(float x, float y) {
    float scale = fabs(y) > 0x1p126f ? 0.25f : 1.0f;
    return (x * scale) / (y * scale);
}
float half_recip_float(float x) { return half_divide_float(1.0f, x); }
float native_recip_float(float x) { return 1.0f / x; }
float native_divide_float(float x, float y) { return x / y; }
// Vulkan leaves the roots of negative numbers and the inverse root of zero undefined.
// Computed for every number, it is selected without a branch.
float rsqrt_float(float x) {
    float inverse = native_rsqrt(x);
    float other = x == 0.0f ? copysign_float(as_float(INFINITE), x) : NOT_A_NUMBER;
    return x <= 0.0f ? other : inverse;
}
float half_rsqrt_float(float x) { return rsqrt_float(x); }
float half_sqrt_float(float x) { return x < 0.0f ? NOT_A_NUMBER : native_sqrt(x); }
#endif
