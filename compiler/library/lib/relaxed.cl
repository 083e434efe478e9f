// Less precise functions of float, with the derivations of OpenCL C 7.4 for unsafe math optimizations. `math.bi` selects
// those of the device's library.
//
// Defines: sincos sinpi cospi tanpi exp10 expm1 log10 log1p pow powr pown rootn cbrt hypot
// Defines: acospi asinpi atanpi atan2pi half_cos half_sin half_tan half_exp10 half_log half_log2 half_log10 half_powr

#define PI 3.14159265f

float sincos_float(float x, float *cosine) {
    *cosine = native_cos(x);
    return native_sin(x);
}
float sinpi_float(float x) { return native_sin(PI * (x - 2.0f * rint(0.5f * x))); }
float cospi_float(float x) { return native_cos(PI * (x - 2.0f * rint(0.5f * x))); }
float tanpi_float(float x) { return native_tan(PI * (x - rint(x))); }
float asinpi_float(float x) { return asin(x) * (1.0f / PI); }
float acospi_float(float x) { return acos(x) * (1.0f / PI); }
float atanpi_float(float x) { return atan(x) * (1.0f / PI); }
float atan2pi_float(float y, float x) { return atan2(y, x) * (1.0f / PI); }

float exp10_float(float x) { return native_exp2(x * 3.32192809f); }
float expm1_float(float x) { return native_exp(x) - 1.0f; }
float log10_float(float x) { return log2(x) * 0.301029996f; }
float log1p_float(float x) { return log(x + 1.0f); }

float powr_float(float x, float y) { return native_exp2(y * log2(x)); }
float pow_float(float x, float y) {
    float magnitude = native_exp2(y * log2(fabs(x)));
    return x < 0.0f && fabs(y) < 0x1p24f && ((int)y & 1) != 0 ? -magnitude : magnitude;
}
float pown_float(float x, int n) {
    float magnitude = native_exp2((float)n * log2(fabs(x)));
    return x < 0.0f && (n & 1) != 0 ? -magnitude : magnitude;
}
float rootn_float(float x, int n) {
    float magnitude = native_exp2(log2(fabs(x)) / (float)n);
    return x < 0.0f && (n & 1) != 0 ? -magnitude : magnitude;
}
float cbrt_float(float x) { return rootn_float(x, 3); }
float hypot_float(float x, float y) { return native_sqrt(x * x + y * y); }

float half_sin_float(float x) { return native_sin(x); }
float half_cos_float(float x) { return native_cos(x); }
float half_tan_float(float x) { return native_tan(x); }
float half_exp10_float(float x) { return exp10_float(x); }
float half_log_float(float x) { return log(x); }
float half_log2_float(float x) { return log2(x); }
float half_log10_float(float x) { return log10_float(x); }
float half_powr_float(float x, float y) { return powr_float(x, y); }
