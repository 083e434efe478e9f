// Inverse circular functions of float (OpenCL C 6.15.2, special cases 7.5.1), with roots as sums. The
// polynomials are Chebyshev's for (asin(x)/x - 1)/x^2 up to 1/2 and (atan(x)/x - 1)/x^2 up to 1.
//
// Helps: asin_tail
// Defines: asin acos atan atan2 asinpi acospi atanpi atan2pi
#include "exact.cl"

#define HALF_PI_HIGH 0x1.921fb6p+0f
#define HALF_PI_LOW -4.37113900019e-8f
#define PI_HIGH 0x1.921fb6p+1f
#define PI_LOW -8.74227800037e-8f
#define OVER_PI 0.318309886f

// (asin(x)/x - 1), of x^2 up to 1/4
float asin_tail(float z) {
    float tail = 0.03102918882f;
    tail = mul_add(tail, z, 0.01053701429f);
    tail = mul_add(tail, z, 0.02362132656f);
    tail = mul_add(tail, z, 0.030268037f);
    tail = mul_add(tail, z, 0.04464772076f);
    tail = mul_add(tail, z, 0.07499992299f);
    tail = mul_add(tail, z, 0.1666666669f);
    return tail * z;
}
float asin_float(float x) {
    float size = fabs(x);
    if (!(size <= 1.0f)) return as_float(0x7fc00000u);
    if (size < 0x1p-13f) return x;
    if (size < 0.5f) return x + x * asin_tail(x * x);
    float z = 0.5f * (1.0f - size);
    if (z == 0.0f) return copysign_float(HALF_PI_HIGH, x);
    float2 s = pair_sqrt(z);
    float2 sum = two_sum(HALF_PI_HIGH, -2.0f * s.x);
    return copysign_float(sum.x + (sum.y + (HALF_PI_LOW - 2.0f * (s.y + s.x * asin_tail(z)))), x);
}
float acos_float(float x) {
    float size = fabs(x);
    if (!(size <= 1.0f)) return as_float(0x7fc00000u);
    if (size < 0.5f) {
        float2 sum = two_sum(HALF_PI_HIGH, -x);
        return sum.x + (sum.y + (HALF_PI_LOW - x * asin_tail(x * x)));
    }
    float z = 0.5f * (1.0f - size);
    if (z == 0.0f) return x > 0.0f ? 0.0f : PI_HIGH;
    float2 s = pair_sqrt(z);
    float rest = 2.0f * (s.y + s.x * asin_tail(z));
    if (x > 0.0f) return 2.0f * s.x + rest;
    float2 sum = two_sum(PI_HIGH, -2.0f * s.x);
    return sum.x + (sum.y + (PI_LOW - rest));
}
float asinpi_float(float x) { return asin_float(x) * OVER_PI; }
float acospi_float(float x) { return acos_float(x) * OVER_PI; }

// The arc tangent of a number from 0 to 1.
float atan_up_to_one(float t) {
    float z = t * t;
    float tail = -0.0009362994719f;
    tail = mul_add(tail, z, 0.006207254534f);
    tail = mul_add(tail, z, -0.01926108132f);
    tail = mul_add(tail, z, 0.03832744598f);
    tail = mul_add(tail, z, -0.05760716083f);
    tail = mul_add(tail, z, 0.07417496964f);
    tail = mul_add(tail, z, -0.09036742342f);
    tail = mul_add(tail, z, 0.1110470679f);
    tail = mul_add(tail, z, -0.1428531796f);
    tail = mul_add(tail, z, 0.1999999028f);
    tail = mul_add(tail, z, -0.3333333329f);
    return mul_add(t * z, tail, t);
}
float atan_float(float x) {
    float size = fabs(x);
    // Larger values give the same result, and the range of divisors is limited.
    bool is_steep = size > 1.0f;
    float angle = atan_up_to_one(is_steep ? 1.0f / fmin(size, 0x1p40f) : size);
    return copysign_float(is_steep ? HALF_PI_HIGH - angle : angle, x);
}
float atan2_float(float y, float x) {
    if (isnan(x) || isnan(y)) return as_float(0x7fc00000u);
    bool is_left = as_uint(x) >> 31 != 0;
    float width = fabs(x), height = fabs(y);
    bool is_steep = height > width;
    float less = is_steep ? width : height, more = is_steep ? height : width;
    float scale = more > 0x1p60f ? 0x1p-60f : more < 0x1p-40f ? 0x1p100f : 1.0f;
    float tangent = isinf(more) ? (isinf(less) ? 1.0f : 0.0f) : more == 0.0f ? 0.0f : (less * scale) / (more * scale);
    float angle = atan_up_to_one(tangent);
    angle = is_steep ? HALF_PI_HIGH - angle : angle;
    return copysign_float(is_left ? PI_HIGH - angle : angle, y);
}
float atanpi_float(float x) { return atan_float(x) * OVER_PI; }
// The quotient of two infinities is exact (OpenCL C 7.5.1).
float atan2pi_float(float y, float x) {
    if (isinf(x) && isinf(y)) return copysign_float(x > 0.0f ? 0.25f : 0.75f, y);
    return atan2_float(y, x) * OVER_PI;
}
