// Conversions to floating-point types with a rounding mode (OpenCL C 6.4.3.2), in integer arithmetic: the result is bits. Also
// conversions to 64-bit integers, for devices without them and for drivers that convert incorrectly.
//
// Defines: convert_half_rte convert_half_rtz convert_half_rtp convert_half_rtn
// Defines: convert_float_rte convert_float_rtz convert_float_rtp convert_float_rtn
// Defines: convert_double_rte convert_double_rtz convert_double_rtp convert_double_rtn
// Defines: convert_long_rtz convert_ulong_rtz
#include "exact.cl"

// The name of each mode, and its equivalent for positive and for negative numbers.
#define EVERY_MODE(CONVERT, ...)          \
    CONVERT(rte, TO_EVEN, TO_EVEN, __VA_ARGS__) \
    CONVERT(rtz, TO_ZERO, TO_ZERO, __VA_ARGS__) \
    CONVERT(rtp, AWAY, TO_ZERO, __VA_ARGS__)    \
    CONVERT(rtn, TO_ZERO, AWAY, __VA_ARGS__)

#define FROM_INTEGER(NAME, POSITIVE, NEGATIVE, TO, BITS, DIGITS, BIAS, FROM)                                \
    BITS convert_##TO##_##NAME##_##FROM(FROM x) {                                                            \
        bool is_negative = x < 0;                                                                            \
        ulong size = is_negative ? 0 - (ulong)x : (ulong)x;                                                  \
        ulong bits = round_to(size, 0, is_negative ? NEGATIVE : POSITIVE, DIGITS, BIAS);                     \
        return (BITS)(bits | (is_negative ? 1ul << (sizeof(BITS) * 8 - 1) : 0));                             \
    }
#define FROM_INTEGERS(...)                   \
    EVERY_MODE(FROM_INTEGER, __VA_ARGS__, int)   \
    EVERY_MODE(FROM_INTEGER, __VA_ARGS__, uint)  \
    EVERY_MODE(FROM_INTEGER, __VA_ARGS__, long)  \
    EVERY_MODE(FROM_INTEGER, __VA_ARGS__, ulong)
FROM_INTEGERS(half, ushort, 11, 15)
FROM_INTEGERS(float, uint, 24, 127)
FROM_INTEGERS(double, ulong, 53, 1023)

// Converts the bits of a float with this precision and bias to those of a less precise one.
ulong narrowed(ulong from, int from_digits, int from_bias, int positive, int negative, int digits, int bias) {
    int from_sign = from_digits == 53 ? 63 : 31, sign = digits == 24 ? 31 : 15;
    bool is_negative = (from >> from_sign & 1) != 0;
    ulong infinity = (ulong)(2 * bias + 1) << (digits - 1);
    ulong fraction = from & ((1ul << (from_digits - 1)) - 1);
    int biased = (int)(from >> (from_digits - 1)) & (2 * from_bias + 1);
    ulong bits;
    if (biased == 2 * from_bias + 1) bits = fraction == 0 ? infinity : infinity | (1ul << (digits - 2));
    else {
        ulong size = biased == 0 ? fraction : fraction | (1ul << (from_digits - 1));
        int exponent = max(biased, 1) + 1 - from_bias - from_digits;
        bits = round_to(size, exponent, is_negative ? negative : positive, digits, bias);
    }
    return bits | (is_negative ? 1ul << sign : 0);
}
#define FROM_FLOAT(NAME, POSITIVE, NEGATIVE, TO, BITS, DIGITS, BIAS) \
    BITS convert_##TO##_##NAME##_float(float x) {                     \
        return (BITS)narrowed(as_uint(x), 24, 127, POSITIVE, NEGATIVE, DIGITS, BIAS); \
    }
#define FROM_DOUBLE(NAME, POSITIVE, NEGATIVE, TO, BITS, DIGITS, BIAS) \
    BITS convert_##TO##_##NAME##_double(double x) {                    \
        return (BITS)narrowed(as_ulong(x), 53, 1023, POSITIVE, NEGATIVE, DIGITS, BIAS); \
    }
EVERY_MODE(FROM_FLOAT, half, ushort, 11, 15)
EVERY_MODE(FROM_DOUBLE, half, ushort, 11, 15)
EVERY_MODE(FROM_DOUBLE, float, uint, 24, 127)

// Large floats are whole, with 24 significant bits.
#define SHIFT_OF(bits) (((bits) >> 23 & 0xff) - 150)
long convert_long_rtz_float(float x) {
    if (fabs(x) < 0x1p31f) return (int)x;
    uint bits = as_uint(x);
    int size = (int)((bits & 0x7fffff) | 0x800000);
    return (long)((ulong)(long)((int)bits < 0 ? -size : size) << SHIFT_OF(bits));
}
ulong convert_ulong_rtz_float(float x) {
    if (x < 0x1p32f) return (uint)x;
    uint bits = as_uint(x);
    return (ulong)((bits & 0x7fffff) | 0x800000) << SHIFT_OF(bits);
}
// The low word of the sum is the upper half, rounded. The rest is in the low bits of the difference, modulo 2^64.
ulong words_of(double x) {
    double whole = trunc(x), sum = whole + 0x1.8p84;
    uint2 rest = as_uint2(whole - (sum - 0x1.800000018p84));
    return as_ulong((uint2)(rest.x, as_uint2(sum).x + rest.y - 0x43380000u));
}
long convert_long_rtz_double(double x) { return (long)words_of(x); }
ulong convert_ulong_rtz_double(double x) { return words_of(x); }
