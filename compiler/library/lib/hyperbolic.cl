// Hyperbolic functions of float and their inverses (OpenCL C 6.15.2).
//
// Defines: sinh cosh tanh asinh acosh atanh
#include "exact.cl"
#include "exp.cl"
#include "log.cl"
#include "pow.cl"

float sinh_float(float x) {
    float size = fabs(x);
    if (isnan(x) || isinf(x) || size < 0x1p-13f) return x;
    if (size < 1.0f) {
        float z = x * x;
        float tail = 2.505210839e-8f;
        tail = mul_add(tail, z, 2.755731922e-6f);
        tail = mul_add(tail, z, 1.984126984e-4f);
        tail = mul_add(tail, z, 8.333333333e-3f);
        tail = mul_add(tail, z, 0.1666666667f);
        return x + x * z * tail;
    }
    float half_power = half_of_exp(size);
    // The subtracted part of a larger value is negligible.
    return copysign_float(size > 88.0f ? half_power : half_power - 0.25f / half_power, x);
}
float cosh_float(float x) {
    float size = fabs(x);
    if (isnan(x)) return x;
    float half_power = half_of_exp(size);
    return size > 88.0f ? half_power : half_power + 0.25f / half_power;
}
float tanh_float(float x) {
    float size = fabs(x);
    if (isnan(x) || size < 0x1p-13f) return x;
    if (size > 10.0f) return copysign_float(1.0f, x);
    float power = expm1_float(2.0f * size);
    // From the bound on, the second quotient is below one half, and so is the unit of its error.
    return copysign_float(size < 0.5625f ? power / (power + 2.0f) : 1.0f - 2.0f / (power + 2.0f), x);
}

float asinh_float(float x) {
    float size = fabs(x);
    if (isnan(x) || isinf(x) || size < 0x1p-13f) return x;
    if (size > 0x1p14f) return copysign_float(log_float(size) + 0.693147181f, x);
    float square = size * size;
    return copysign_float(log1p_float(size + square / (1.0f + sqrt_float(square + 1.0f))), x);
}
float acosh_float(float x) {
    if (isnan(x) || x < 1.0f) return as_float(0x7fc00000u);
    if (x > 0x1p14f) return log_float(x) + 0.693147181f;
    float above = x - 1.0f;
    return log1p_float(above + sqrt_float(2.0f * above + above * above));
}
float atanh_float(float x) {
    float size = fabs(x);
    if (!(size <= 1.0f)) return as_float(0x7fc00000u);
    if (size == 1.0f) return copysign_float(as_float(INFINITE), x);
    if (size < 0x1p-13f) return x;
    float twice = 2.0f * size;
    float argument = size < 0.5f ? twice + twice * size / (1.0f - size) : twice / (1.0f - size);
    return copysign_float(0.5f * log1p_float(argument), x);
}
