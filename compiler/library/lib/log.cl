// Logarithms of float (OpenCL C 6.15.2), within 3 ulp, and as a sum of two floats for powers: x = 2^k m with m near one,
// ln m = 2 artanh s with s = (m - 1) / (m + 1) as a sum.
//
// Defines: log log2 log10 log1p half_log half_log2 half_log10 native_log10
// Helps: log_float log2_pair log1p_float is_special_log reduce_log
#ifndef LOG_CL
#define LOG_CL
#include "exact.cl"

// ln m for m from sqrt(1/2) to sqrt(2), where m - 1 = f + g and g is a last correction; relative error 2^-30.
float2 log_near_one(float f, float g) {
    float2 divisor = fast_two_sum(2.0f, f);
    float s = f / divisor.x;
    float2 product = two_product(s, divisor.x);
    float rest = (((f - product.x) - product.y) + g - s * (divisor.y + g)) / divisor.x;
    float2 sum = fast_two_sum(s, rest);
    float z = sum.x * sum.x;
    float tail = 0.1818181818f;
    tail = mul_add(tail, z, 0.2222222222f);
    tail = mul_add(tail, z, 0.2857142857f);
    tail = mul_add(tail, z, 0.4f);
    tail = mul_add(tail, z, 0.6666666667f);
    return fast_two_sum(2.0f * sum.x, sum.x * z * tail + 2.0f * sum.y);
}

// m and k of a finite x above zero.
float reduce_log(float x, int *k) {
    int from = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p25f;
        from = -25;
    }
    int above = (int)(as_uint(x) - 0x3f3504f3u);
    *k = from + (above >> 23);
    return as_float((uint)(above & 0x7fffff) + 0x3f3504f3u);
}

// Whether the logarithm of x is a special case, which is then stored in `result`.
bool is_special_log(float x, float *result) {
    if (isnan(x) || x < 0.0f) *result = as_float(0x7fc00000u);
    else if (x == 0.0f) *result = as_float(INFINITE | SIGN_BIT);
    else if (as_uint(x) == INFINITE) *result = x;
    else return false;
    return true;
}

float log_float(float x) {
    float result;
    if (is_special_log(x, &result)) return result;
    int k;
    float m = reduce_log(x, &k);
    float2 part = log_near_one(m - 1.0f, 0.0f);
    float2 sum = two_sum((float)k * 0x1.62e4p-1f, part.x);
    return sum.x + (sum.y + (part.y + (float)k * 1.42860682031e-6f));
}

// The binary logarithm of a finite number above zero, as a sum.
float2 log2_pair(float x) {
    int k;
    float m = reduce_log(x, &k);
    float2 part = log_near_one(m - 1.0f, 0.0f);
    float2 product = two_product(part.x, 0x1.715476p+0f);
    product.y += part.x * 1.92596299113e-8f + part.y * 0x1.715476p+0f;
    float2 sum = two_sum((float)k, product.x);
    return fast_two_sum(sum.x, sum.y + product.y);
}
float log2_float(float x) {
    float result;
    return is_special_log(x, &result) ? result : log2_pair(x).x;
}

float log10_float(float x) {
    float result;
    if (is_special_log(x, &result)) return result;
    int k;
    float m = reduce_log(x, &k);
    float2 part = log_near_one(m - 1.0f, 0.0f);
    float2 product = two_product(part.x, 0x1.bcb7b2p-2f);
    product.y += part.y * 0x1.bcb7b2p-2f - part.x * 1.01030500522e-8f;
    float2 sum = two_sum((float)k * 0x1.344p-2f, product.x);
    return sum.x + (sum.y + (product.y + (float)k * 4.6050389812e-6f));
}

float log1p_float(float x) {
    if (x == 0.0f || as_uint(x) == INFINITE || fabs(x) < 0x1p-25f) return x;
    if (x == -1.0f) return as_float(INFINITE | SIGN_BIT);
    if (isnan(x) || x < -1.0f) return as_float(0x7fc00000u);
    // A series without division: for a small x, the error of a quotient would be that of the result.
    if (fabs(x) < 0x1p-8f) return x - x * x * (0.5f - x * (0.33333333f - x * (0.25f - x * 0.2f)));
    float2 sum = two_sum(1.0f, x);
    int k;
    float m = reduce_log(sum.x, &k);
    // The last correction: the bits that the sum has lost, at the scale of m.
    float2 part = log_near_one(m - 1.0f, k < -100 || k > 100 ? 0.0f : ldexp_float(sum.y, -k));
    float2 total = two_sum((float)k * 0x1.62e4p-1f, part.x);
    return total.x + (total.y + (part.y + (float)k * 1.42860682031e-6f));
}

float half_log_float(float x) { return log_float(x); }
float half_log2_float(float x) { return log2_float(x); }
float half_log10_float(float x) { return log10_float(x); }
float native_log10_float(float x) { return native_log2(x) * 0.301029996f; }
#endif
