// Functions of float for drivers whose instructions are precise (kiln_vocabulary::precision): Fma rounds once, and Sqrt and Exp2
// meet the bounds of OpenCL C 7.4. Each replaces the function with the same name in another file.
#include "arc.cl"
#include "exact.cl"
#include "log.cl"
#include "round.cl"
#include "trig.cl"

#define HALF_PI 0x1.921fb6p+0f

float mul_add(float a, float b, float c) { return fma(a, b, c); }
float2 two_product(float a, float b) {
    float product = a * b;
    return (float2)(product, fma(a, b, -product));
}

// GLSL.std.450 leaves the square root of a negative number undefined.
float sqrt_float(float x) { return x < 0.0f ? as_float(0x7fc00000u) : native_sqrt(x); }

// Cody and Waite's reduction: the first product and its difference are exact, as both are multiples of 2^-24 and the difference
// is below 1. r = size - n pi/2 for a size from 0, |r| <= pi/4, and n modulo 4.
float reduce_size(float size, uint *quadrant) {
    if (!(size <= 65536.0f)) {
        if (!(size < as_float(INFINITE))) return as_float(0x7fc00000u);
        float2 r = reduce_circle_exactly(size, quadrant);
        return r.x + r.y;
    }
    float n = rint(size * 0.636619772f);
    *quadrant = (uint)(int)n & 3;
    float r = fma(n, -0x1.921fb6p+0f, size);
    r = fma(n, 0x1.777a5cp-25f, r);
    return fma(n, 0x1.ee59dap-50f, r);
}
float2 reduce_half_turns(float x, uint *quadrant) {
    x -= 2.0f * trunc(0.5f * x);
    float n = rint(2.0f * x);
    *quadrant = (uint)(int)n & 3;
    return (float2)(fma(n, -0.5f, x) * 0x1.921fb6p+1f, 0.0f);
}
float sine(float r) {
    float z = r * r;
    float tail = fma(2.755731922e-6f, z, -1.984126984e-4f);
    tail = fma(tail, z, 8.333333333e-3f);
    tail = fma(tail, z, -0.1666666667f);
    return fma(r * z, tail, r);
}
float cosine(float r) {
    float z = r * r;
    float tail = fma(-2.755731922e-7f, z, 2.48015873e-5f);
    tail = fma(tail, z, -1.388888889e-3f);
    tail = fma(tail, z, 4.166666667e-2f);
    tail = fma(tail, z, -0.5f);
    return fma(tail, z, 1.0f);
}
float with_sign_of(float x, uint sign) { return as_float(as_uint(x) ^ (sign & SIGN_BIT)); }
// The sine of r + quadrant pi/2.
float turned_sine(float r, uint quadrant) {
    return with_sign_of((quadrant & 1) != 0 ? cosine(r) : sine(r), quadrant << 30);
}
float turned_sin(float2 r, uint quadrant) { return turned_sine(r.x, quadrant); }
float turned_tan(float2 r, uint quadrant) {
    float s = sine(r.x), c = cosine(r.x);
    return (quadrant & 1) != 0 ? -c / s : s / c;
}
float sin_float(float x) {
    uint quadrant = 0;
    float r = reduce_size(fabs(x), &quadrant);
    return with_sign_of(turned_sine(r, quadrant), as_uint(x));
}
float cos_float(float x) {
    uint quadrant = 0;
    float r = reduce_size(fabs(x), &quadrant);
    return turned_sine(r, quadrant + 1);
}
float tan_float(float x) {
    uint quadrant = 0;
    float r = reduce_size(fabs(x), &quadrant);
    return with_sign_of(turned_tan((float2)(r, 0.0f), quadrant), as_uint(x));
}

// 2^(high + low) from `power`, which is 2^high, for |low| below 2^-13; zero, infinity and NaN are unchanged.
float corrected_power(float power, float low) {
    float corrected = fma(power, 0.693147182f * low, power);
    return as_uint(power) - 1 < 0x7f7fffffu ? corrected : power;
}
float exp2_pair(float high, float low) { return corrected_power(exp2(high), low); }
// The products with log2 e and log2 10 are sums.
float exp_float(float x) {
    float high = x * 0x1.715476p+0f;
    return corrected_power(exp2(high), fma(x, 0x1.4ae0cp-26f, fma(x, 0x1.715476p+0f, -high)));
}
float exp10_float(float x) {
    float high = x * 0x1.a934fp+1f;
    return corrected_power(exp2(high), fma(x, 0x1.2f346ep-24f, fma(x, 0x1.a934fp+1f, -high)));
}
// e^x / 2, which overflows only if the exact result does.
float half_of_exp(float x) {
    float high = x * 0x1.715476p+0f;
    return corrected_power(exp2(high - 1.0f), fma(x, 0x1.4ae0cp-26f, fma(x, 0x1.715476p+0f, -high)));
}
float tanh_float(float x) {
    float size = fabs(x);
    if (size < 0.55f) {
        float z = x * x;
        float tail = fma(-0.006056840551f, z, 0.02092025144f);
        tail = fma(tail, z, -0.05381642174f);
        tail = fma(tail, z, 0.1333225662f);
        tail = fma(tail, z, -0.3333330837f);
        return copysign_float(fma(size * z, tail, size), x);
    }
    if (isnan(x)) return x;
    float power = exp2(fmin(size, 20.0f) * 2.88539008f);
    return copysign_float(1.0f - 2.0f / (power + 1.0f), x);
}

// ln(1 + f) for f from sqrt(1/2) - 1 to sqrt(2) - 1, with a minimax polynomial for (ln(1 + f) - f + f^2/2) / f^3.
float log_one_plus(float f) {
    float tail = fma(-0.07859645924f, f, 0.1288175106f);
    tail = fma(tail, f, -0.131287892f);
    tail = fma(tail, f, 0.1418117961f);
    tail = fma(tail, f, -0.1662454952f);
    tail = fma(tail, f, 0.200022867f);
    tail = fma(tail, f, -0.2500081054f);
    tail = fma(tail, f, 0.3333331672f);
    tail = fma(tail, f, -0.5f);
    return fma(f * f, tail, f);
}
#define LOGARITHM(NAME, OF_TWO, FACTOR)                                        \
    float NAME(float x) {                                                       \
        float special;                                                          \
        if (is_special_log(x, &special)) return special;                        \
        int k;                                                                  \
        float part = log_one_plus(reduce_log(x, &k) - 1.0f);                    \
        return fma((float)k, OF_TWO, part * FACTOR);                            \
    }
LOGARITHM(log_float, 0.693147182f, 1.0f)
LOGARITHM(log2_float, 1.0f, 1.44269502f)
LOGARITHM(log10_float, 0.301029996f, 0.434294482f)

float log1p_float(float x) {
    if (!(x > -1.0f && x < 0x1p60f)) return x == -1.0f ? as_float(INFINITE | SIGN_BIT) : x < -1.0f ? as_float(0x7fc00000u) : log_float(x);
    int k;
    reduce_log(1.0f + x, &k);
    // (1 + x) 2^-k - 1
    float scale = as_float((uint)(127 - k) << 23);
    float f = fma(x, scale, scale - 1.0f);
    return k == 0 ? log_one_plus(x) : fma((float)k, 0.693147182f, log_one_plus(f));
}

float asin_float(float x) {
    float size = fabs(x);
    if (!(size <= 1.0f)) return as_float(0x7fc00000u);
    float z = 0.5f - 0.5f * size;
    bool is_small = size < 0.5f;
    float root = is_small ? size : native_sqrt(z);
    float angle = fma(root, asin_tail(is_small ? size * size : z), root);
    return copysign_float(is_small ? angle : fma(-2.0f, angle, HALF_PI), x);
}
float acos_float(float x) {
    float size = fabs(x);
    if (!(size <= 1.0f)) return as_float(0x7fc00000u);
    float z = 0.5f - 0.5f * size;
    bool is_small = size < 0.5f;
    float root = is_small ? size : native_sqrt(z);
    float angle = fma(root, asin_tail(is_small ? size * size : z), root);
    if (is_small) return HALF_PI - copysign_float(angle, x);
    return x < 0.0f ? 0x1.921fb6p+1f - 2.0f * angle : 2.0f * angle;
}

// The quotient of magnitudes with b between 2^-100 and 2^100 and a < 2^18 b, rounded to the nearest whole number or a neighbor of it.
// The remainder is exact, because it is a multiple of b's last bit and not much larger than b / 2.
bool has_short_quotient(float a, float b) { return b >= 0x1p-100f && b <= 0x1p100f && a < b * 0x1p18f; }
float fmod_float(float x, float y) {
    float a = fabs(x), b = fabs(y);
    if (!has_short_quotient(a, b)) return fmod_exactly(x, y);
    float rest = fma(-rint(a / b), b, a);
    rest = rest < 0.0f ? rest + b : rest;
    return copysign_float(rest, x);
}
float remainder_float(float x, float y) {
    float a = fabs(x), b = fabs(y);
    if (!has_short_quotient(a, b)) return remainder_exactly(x, y);
    float n = rint(a / b);
    float rest = fma(-n, b, a), twice = 2.0f * rest;
    float next = twice > b ? 1.0f : twice < -b ? -1.0f : 0.0f;
    rest -= next * b;
    n += next;
    // Halfway cases round to even.
    rest = fabs(2.0f * rest) == b && ((int)n & 1) != 0 ? -rest : rest;
    return as_float(as_uint(rest) ^ (as_uint(x) & SIGN_BIT));
}
