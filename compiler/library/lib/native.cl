// Functions of float for drivers whose instructions are precise (kiln_vocabulary::precision): Fma rounds once, and Sqrt and Exp2
// meet the bounds of OpenCL C 7.4. Each replaces the function with the same name in another file. `fit.py` beside this folder
// computes the polynomials, which are minimax.
#include "exact.cl"
#include "log.cl"
#include "pow.cl"
#include "round.cl"
#include "trig.cl"

#define HALF_PI 0x1.921fb6p+0f
// Adding this to a number below 2^22 rounds the number to an integer, which is in the low bits of the sum. Conversions between
// float and int are slower on GPUs.
#define ROUNDER 0x1.8p23f

float mul_add(float a, float b, float c) { return fma(a, b, c); }
float2 two_product(float a, float b) {
    float product = a * b;
    return (float2)(product, fma(a, b, -product));
}

// GLSL.std.450 leaves the square root of a negative number undefined.
float sqrt_float(float x) { return x < 0.0f ? as_float(0x7fc00000u) : native_sqrt(x); }

// The sine of r for |r| <= pi/2.
float sine(float r) {
    float z = r * r;
    float tail = fma(2.605720522e-6f, z, -0.0001980957724f);
    tail = fma(tail, z, 0.00833306592f);
    tail = fma(tail, z, -0.1666665954f);
    // A sum with r would lose the sign of a zero.
    return r * fma(tail, z, 1.0f);
}
float with_sign_of(float x, uint sign) { return as_float(as_uint(x) ^ (sign & SIGN_BIT)); }

// Cody and Waite's reduction: the first product and its difference are exact, as both are multiples of 2^-24 and the difference
// is below 2. The parts of pi and pi/2 are truncated, so their products with zero keep the sign of a zero.
#define LARGEST_SHORT 65536.0f
float minus_turns(float x, float n) { return fma(n, -0x1.846988p-47f, fma(n, -0x1.4442dp-23f, fma(n, -0x1.921fb4p+1f, x))); }
float minus_quarters(float x, float n) { return fma(n, -0x1.846988p-48f, fma(n, -0x1.4442dp-24f, fma(n, -0x1.921fb4p+0f, x))); }
// The sine of x + `from` * pi/2 for a large x.
float sine_of_large(float x, uint from) {
    if (!(fabs(x) < as_float(INFINITE))) return as_float(0x7fc00000u);
    uint quadrant = 0;
    float2 r = reduce_circle_exactly(x, &quadrant);
    quadrant += from;
    float near = r.x + r.y;
    if ((quadrant & 1) != 0) near = (HALF_PI - fabs(near)) - 4.37113900019e-8f;
    return with_sign_of(sine(near), quadrant << 30);
}
// sin(r + n pi) = (-1)^n sin r
float sin_float(float x) {
    if (!(fabs(x) <= LARGEST_SHORT)) return sine_of_large(x, 0);
    float sum = fma(x, 0.318309886f, ROUNDER);
    return with_sign_of(sine(minus_turns(x, sum - ROUNDER)), as_uint(sum) << 31);
}
float cos_float(float x) {
    if (!(fabs(x) <= LARGEST_SHORT)) return sine_of_large(x, 1);
    float sum = fma(x, 0.318309886f, 0.5f) + ROUNDER;
    return with_sign_of(sine(minus_turns(x, (sum - ROUNDER) - 0.5f)), as_uint(sum) << 31);
}
// The tangent of r + quadrant pi/2 for |r| <= pi/4.
float turned_tangent(float r, uint quadrant) {
    float z = r * r;
    float over = fma(-0.09578066807f * z, r, r);
    float under = fma(fma(0.009709265262f, z, -0.4291144979f), z, 1.0f);
    bool is_odd = (quadrant & 1) != 0;
    return with_sign_of((is_odd ? under : over) * native_recip(is_odd ? over : under), quadrant << 31);
}
float turned_tan(float2 r, uint quadrant) { return turned_tangent(r.x, quadrant); }
float tangent_of_large(float size) {
    if (!(size < as_float(INFINITE))) return as_float(0x7fc00000u);
    uint quadrant = 0;
    float2 r = reduce_circle_exactly(size, &quadrant);
    return turned_tangent(r.x + r.y, quadrant);
}
float tan_float(float x) {
    float size = fabs(x), result;
    if (!(size <= LARGEST_SHORT)) result = tangent_of_large(size);
    else {
        float sum = fma(size, 0.636619772f, ROUNDER);
        result = turned_tangent(minus_quarters(size, sum - ROUNDER), as_uint(sum));
    }
    return with_sign_of(result, as_uint(x));
}

// The first line subtracts an even integer, even if x is large.
float2 reduce_half_turns(float x, uint *quadrant) {
    x = fma(fma(x, 0.5f, ROUNDER) - ROUNDER, -2.0f, x);
    float sum = fma(x, 2.0f, ROUNDER);
    *quadrant = as_uint(sum) & 3;
    return (float2)(fma(sum - ROUNDER, -0.5f, x) * 0x1.921fb6p+1f, 0.0f);
}
// sin(pi x) for |x| <= 1/2
float sine_of_turns(float x) {
    float z = x * x;
    float tail = fma(0.07767596475f, z, -0.5983080919f);
    tail = fma(tail, z, 2.550082306f);
    tail = fma(tail, z, -5.167710574f);
    return fma(x, 0x1.921fb6p+1f, x * z * tail);
}
// The lowest bit of the sum is that of n. If n is 2^23 or more, `size - n` is zero, and the bit does not matter. Adding zero
// removes the sign of a zero.
float sinpi_float(float x) {
    float size = fabs(x), n = rint(size);
    uint sum = as_uint(n + 0x1p23f);
    return with_sign_of(with_sign_of(sine_of_turns(size - n), sum << 31) + 0.0f, as_uint(x));
}
// `fma` subtracts the nearest even integer.
float cospi_float(float x) { return sine_of_turns(0.5f - fabs(fma(rint(x * 0.5f), -2.0f, x))); }

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
// e^x / 2. The sum overflows only if the result does; `high - 1.0f` may round up to 128.
float half_of_exp(float x) {
    float high = x * 0x1.715476p+0f;
    float quarter = corrected_power(exp2(high - 2.0f), fma(x, 0x1.4ae0cp-26f, fma(x, 0x1.715476p+0f, -high)));
    return quarter + quarter;
}
// e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2) with x = n ln 2 + r; the sum overflows only if the result does.
float expm1_float(float x) {
    float near = x > 89.0f ? 89.0f : x < -25.0f ? -25.0f : x;
    float sum = fma(near, 1.44269504f, ROUNDER), n = sum - ROUNDER;
    float r = fma(n, 0x1.05c61p-29f, fma(n, -0x1.62e43p-1f, near));
    float tail = fma(0.001388252796f, r, 0.008366520555f);
    tail = fma(tail, r, 0.04166719978f);
    tail = fma(tail, r, 0.1666654362f);
    tail = fma(tail, r, 0.4999999815f);
    float power = as_float((as_uint(sum) << 23) + 0x3f000000u);
    float half_result = fma(fma(r * r, tail, r), power, power - 0.5f);
    return fabs(x) >= 0x1p-26f ? half_result + half_result : x;
}
float tanh_float(float x) {
    float size = fabs(x), z = x * x;
    float tail = fma(0.01643755f, z, -0.05267179545f);
    tail = fma(tail, z, 0.1332072475f);
    tail = fma(tail, z, -0.3333294662f);
    float power = exp2((size > 20.0f ? 20.0f : size) * 2.88539008f);
    float large = fma(-2.0f, native_recip(power + 1.0f), 1.0f);
    return copysign_float(size < 0.55f ? fma(size * z, tail, size) : large, x);
}

// Above 1, with a polynomial for log2(erfc(x)); erf(4) is 1.
float erf_float(float x) {
    float size = fabs(x), z = x * x;
    float tail = fma(-0.0005660151529f, z, 0.004924788593f);
    tail = fma(tail, z, -0.02671770656f);
    tail = fma(tail, z, 0.1128041157f);
    tail = fma(tail, z, -0.3761235568f);
    tail = fma(tail, z, 0.1283791286f);
    float t = size > 4.0f ? 4.0f : size;
    float exponent = fma(-0.001669515234f, t, 0.02139782103f);
    exponent = fma(exponent, t, -0.1281109064f);
    exponent = fma(exponent, t, -0.9438688864f);
    exponent = fma(exponent, t, -1.612386673f);
    exponent = fma(exponent, t, -0.003778661469f);
    return copysign_float(size < 1.0f ? fma(size, tail, size) : 1.0f - exp2(exponent), x);
}

// ln(1 + f) for f from sqrt(1/2) - 1 to sqrt(2) - 1
float log_one_plus(float f) {
    float tail = fma(0.08734819934f, f, -0.1430751705f);
    tail = fma(tail, f, 0.1491798005f);
    tail = fma(tail, f, -0.1657050941f);
    tail = fma(tail, f, 0.1996207164f);
    tail = fma(tail, f, -0.2500175516f);
    tail = fma(tail, f, 0.3333395023f);
    tail = fma(tail, f, -0.4999999161f);
    return fma(f * f, tail, f);
}
// m and k of a normal number above zero, as in `reduce_log`.
float reduce_normal_log(float x, float *k) {
    uint above = as_uint(x) - 0x3f3504f3u;
    *k = as_float((uint)((int)above >> 23) + as_uint(ROUNDER)) - ROUNDER;
    return as_float(as_uint(x) - (above & 0xff800000u));
}
// Without branches, so that the logarithms of several values overlap. `fma` with infinity is NaN for negative numbers and infinity
// for infinity.
#define LOGARITHM(NAME, OF_TWO, FACTOR)                                        \
    float NAME(float x) {                                                       \
        float k, infinity = as_float(INFINITE);                                 \
        bool is_small = x < 0x1p-126f;                                          \
        float m = reduce_normal_log(is_small ? x * 0x1p25f : x, &k);            \
        float part = log_one_plus(m - 1.0f);                                    \
        float result = fma(is_small ? k - 25.0f : k, OF_TWO, part * FACTOR);    \
        float special = fma(x, infinity, infinity);                             \
        result = as_uint(x) - 1u < 0x7f7fffffu ? result : special;              \
        return x == 0.0f ? -infinity : result;                                  \
    }
LOGARITHM(log_float, 0.693147182f, 1.0f)
LOGARITHM(log2_float, 1.0f, 1.44269502f)
LOGARITHM(log10_float, 0.301029996f, 0.434294482f)

float log1p_float(float x) {
    if (!(x > -1.0f && x < 0x1p60f)) return x == -1.0f ? as_float(INFINITE | SIGN_BIT) : x < -1.0f ? as_float(0x7fc00000u) : log_float(x);
    float k;
    float m = reduce_normal_log(1.0f + x, &k);
    // (1 + x) 2^-k - 1, where 2^-k is the quotient of m and 1 + x.
    float scale = as_float(as_uint(m) - as_uint(1.0f + x) + 0x3f800000u);
    float result = fma(k, 0.693147182f, log_one_plus(fma(x, scale, scale - 1.0f)));
    return x == 0.0f ? x : result;
}
float atanh_float(float x) {
    float size = fabs(x);
    if (!(size < 1.0f)) return size == 1.0f ? copysign_float(as_float(INFINITE), x) : as_float(0x7fc00000u);
    return copysign_float(0.5f * log1p_float(2.0f * size * native_recip(1.0f - size)), x);
}

// The arc sine of a size up to 1/2, or half of the arc cosine of a larger one.
float arc(float size, bool is_small) {
    float half_root = native_sqrt(fma(-0.5f, size, 0.5f));
    float root = is_small ? size : half_root;
    float z = root * root;
    float tail = fma(0.04216616057f, z, 0.02417959486f);
    tail = fma(tail, z, 0.04547036186f);
    tail = fma(tail, z, 0.07495297732f);
    tail = fma(tail, z, 0.1666675248f);
    return fma(tail * z, root, root);
}
float asin_float(float x) {
    float size = fabs(x);
    bool is_small = size < 0.5f;
    float angle = arc(size, is_small);
    float result = copysign_float(is_small ? angle : fma(-2.0f, angle, HALF_PI), x);
    return size <= 1.0f ? result : as_float(0x7fc00000u);
}
float acos_float(float x) {
    float size = fabs(x);
    bool is_small = size < 0.5f;
    float angle = arc(size, is_small);
    angle = is_small ? HALF_PI - angle : angle + angle;
    return size <= 1.0f ? (x < 0.0f ? 0x1.921fb6p+1f - angle : angle) : as_float(0x7fc00000u);
}

// The arc tangent of a number from 0 to 1.
float atan_up_to_one(float t) {
    float z = t * t;
    float tail = fma(-0.004822447233f, z, 0.02473374566f);
    tail = fma(tail, z, -0.06020267037f);
    tail = fma(tail, z, 0.09968439713f);
    tail = fma(tail, z, -0.1404131515f);
    tail = fma(tail, z, 0.199742118f);
    tail = fma(tail, z, -0.3333239145f);
    return fma(t * z, tail, t);
}
// As integers, NaN is above infinity. The larger magnitude is usually from 2^-100 to 2^103; others are scaled. A device may flush
// denormals, so the larger one is converted as an integer if it is denormal, in units of 2^-149.
float atan2_float(float y, float x) {
    uint width = as_uint(x) & ~SIGN_BIT, height = as_uint(y) & ~SIGN_BIT;
    uint most = max(width, height), least = min(width, height);
    float tangent = as_float(least), scale = as_float(most);
    if (most - 0x0d800000u >= 0x65800000u) {
        if (most > INFINITE) return as_float(0x7fc00000u);
        bool is_limit = most == INFINITE || most == 0, is_denormal = most < 0x00800000u;
        float power = most < 0x3f800000u ? 0x1p100f : 0x1p-60f;
        tangent = is_denormal ? (float)least : tangent * power;
        scale = is_denormal ? (float)most : scale * power;
        tangent = is_limit ? (least == INFINITE ? 1.0f : 0.0f) : tangent;
        scale = is_limit ? 1.0f : scale;
    }
    float angle = atan_up_to_one(tangent * native_recip(scale));
    angle = height > width ? HALF_PI - angle : angle;
    angle = as_uint(x) >> 31 != 0 ? 0x1.921fb6p+1f - angle : angle;
    return copysign_float(angle, y);
}

// For a normal x. The last step is Newton's: the product of the size of x and the square of the estimate has only errors of
// rounding. The factors have the sign of x until the end: `copysign` would take an instruction.
float cbrt_of_normal(float x) {
    float inverse = native_exp2(native_log2(fabs(x)) * -0.333333333f);
    float root = x * inverse * inverse;
    return fma(root * fma(-fabs(root), inverse, 1.0f), 0.666666667f, root);
}
// A device may flush denormals in every operation, also in `fabs`, so they are converted as integers, in units of 2^-150.
float cbrt_float(float x) {
    float size = fabs(x);
    if (size >= 0x1p-126f && size <= 0x1.fffffep127f) return cbrt_of_normal(x);
    uint bits = as_uint(x) & ~SIGN_BIT;
    if (bits - 1 >= INFINITE - 1) return x;
    return copysign_float(cbrt_of_normal((float)(bits << 1)) * 0x1p-50f, x);
}

// x^(y + z) for x = 2^from m with a normal m above zero, where z is a last correction of y. The binary logarithm is a sum:
// log2 m = 2 artanh(s) / ln 2 with s = (m - 1) / (m + 1).
float power_of_normal(float m, float from, float y, float z) {
    float k;
    float f = reduce_normal_log(m, &k) - 1.0f;
    float divisor = f + 2.0f, inverse = native_recip(divisor);
    float s = f * inverse;
    float rest = fma(-s, f - (divisor - 2.0f), fma(-s, divisor, f)) * inverse;
    float near = s + rest, square = near * near;
    float tail = fma(fma(0.430977248f, square, 0.576753351f), square, 0.961798282f);
    float large = s * 0x1.715476p+1f;
    float small = fma(s, 0x1.4ae0cp-25f, fma(s, 0x1.715476p+1f, -large));
    small = fma(square * near, tail, fma(rest, 0x1.715476p+1f, small));
    k += from;
    float sum = k + large;
    small += large - (sum - k);
    float high = sum + small, low = small - (high - sum);
    float exponent = y * high;
    float excess = fma(z, high, fma(y, low, fma(y, high, -exponent))) * 0.693147182f;
    if (fabs(exponent) < 126.0f) {
        float power = exp2(exponent);
        return fma(power, excess, power);
    }
    if (m == 1.0f && from == 0.0f) return 1.0f;
    if (isnan(exponent)) return exponent;
    if (fabs(exponent) > 200.0f) return exponent > 0.0f ? as_float(INFINITE) : 0.0f;
    float root = exp2(0.5f * exponent);
    root = fma(root, 0.5f * excess, root);
    return root * root;
}
float power_of_size(float x, float y, float z) {
    float from = 0.0f;
    if (as_uint(x) - 0x00800000u >= 0x7f000000u) {
        if (y == 0.0f) return 1.0f;
        if (x == 0.0f || isinf(x)) return (x > 1.0f) == (y > 0.0f) ? as_float(INFINITE) : 0.0f;
        x *= 0x1p24f;
        from = -24.0f;
    }
    return power_of_normal(x, from, y, z);
}
float pow_float(float x, float y) {
    uint sign = 0;
    float from = 0.0f;
    if (as_uint(x) - 0x00800000u >= 0x7f000000u) {
        if (y == 0.0f) return 1.0f;
        if (isnan(x) || isnan(y)) return as_float(0x7fc00000u);
        float size = fabs(x);
        bool is_limit = size == 0.0f || isinf(size);
        if (as_uint(x) >> 31 != 0) {
            if (!is_limit && !isinf(y) && !is_whole(y)) return as_float(0x7fc00000u);
            sign = is_odd(y) ? SIGN_BIT : 0;
        }
        if (is_limit) return with_sign_of((size > 1.0f) == (y > 0.0f) ? as_float(INFINITE) : 0.0f, sign);
        bool is_tiny = size < 0x1p-126f;
        x = is_tiny ? size * 0x1p24f : size;
        from = is_tiny ? -24.0f : 0.0f;
    }
    return with_sign_of(power_of_normal(x, from, y, 0.0f), sign);
}

// A power of 16 scales the operands. As integers, NaN is above infinity.
float hypot_float(float x, float y) {
    uint a = as_uint(x) & ~SIGN_BIT, b = as_uint(y) & ~SIGN_BIT;
    uint most = max(a, b), least = min(a, b);
    uint power = max(most & 0x7e000000u, 0x02000000u);
    float scale = as_float(0x7f000000u - power);
    float width = as_float(most) * scale, height = as_float(least) * scale;
    float root = native_sqrt(fma(height, height, width * width)) * as_float(power);
    return least == INFINITE ? as_float(INFINITE) : root;
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
