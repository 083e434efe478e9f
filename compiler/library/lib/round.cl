// Functions of float that are exact (OpenCL C 6.15.2): remainders, neighbors, parts, and `fma`.
//
// Defines: round copysign fdim fmod remainder remquo nextafter maxmag minmag fma ldexp frexp modf fract ilogb logb nan
// Defines: sign step
// Helps: fmod_exactly remainder_exactly
#include "exact.cl"

#define QUIET_NAN as_float(0x7fc00000u)

float round_float(float x) {
    float whole = trunc(x);
    // Large numbers have no fractional part, so the addition is exact.
    return copysign_float(fabs(x - whole) >= 0.5f ? whole + copysign_float(1.0f, x) : whole, x);
}
float fdim_float(float x, float y) { return isnan(x) || isnan(y) ? QUIET_NAN : x > y ? x - y : 0.0f; }
// Compares bits, because a device may flush denormals to zero in comparisons of floats.
float maxmag_float(float x, float y) {
    uint a = as_uint(x) & ~SIGN_BIT, b = as_uint(y) & ~SIGN_BIT;
    if (isnan(x) || isnan(y)) return fmax(x, y);
    return a > b || (a == b && as_uint(x) == a) ? x : y;
}
float minmag_float(float x, float y) {
    uint a = as_uint(x) & ~SIGN_BIT, b = as_uint(y) & ~SIGN_BIT;
    if (isnan(x) || isnan(y)) return fmin(x, y);
    return a < b || (a == b && as_uint(x) != a) ? x : y;
}
float sign_float(float x) {
    return fabs(x) > 0.0f ? copysign_float(1.0f, x) : isnan(x) ? 0.0f : copysign_float(0.0f, x);
}
float step_float(float edge, float x) { return x < edge ? 0.0f : 1.0f; }

// Neighbors have consecutive bit patterns, in reverse order for negative numbers.
float nextafter_float(float x, float y) {
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    uint a = as_uint(x), b = as_uint(y);
    uint size_a = a & ~SIGN_BIT, size_b = b & ~SIGN_BIT;
    if (a == b || (size_a == 0 && size_b == 0)) return y;
    if (size_a == 0) return as_float((b & SIGN_BIT) | 1);
    bool is_inward = ((a ^ b) & SIGN_BIT) != 0 || size_b < size_a;
    return as_float(is_inward ? a - 1 : a + 1);
}

bool is_zero(float x) { return (as_uint(x) & ~SIGN_BIT) == 0; }
bool is_infinite_or_nan(float x) { return (as_uint(x) & INFINITE) == INFINITE; }

float frexp_float(float x, int *exponent) {
    *exponent = 0;
    if (is_zero(x) || is_infinite_or_nan(x)) return x;
    int last;
    uint m = significand(x, &last);
    *exponent = last + 24;
    return as_float((as_uint(x) & SIGN_BIT) | (126u << 23) | (m & 0x7fffffu));
}
int ilogb_float(float x) {
    uint bits = as_uint(x) & ~SIGN_BIT;
    if (bits - 0x00800000u < 0x7f000000u) return (int)(bits >> 23) - 127;
    if (is_zero(x)) return FP_ILOGB0;
    if (is_infinite_or_nan(x)) return isnan(x) ? FP_ILOGBNAN : INT_MAX;
    int last;
    significand(x, &last);
    return last + 23;
}
float logb_float(float x) {
    if (is_zero(x)) return as_float(INFINITE | SIGN_BIT);
    if (is_infinite_or_nan(x)) return isnan(x) ? x : as_float(INFINITE);
    return (float)ilogb_float(x);
}
float modf_float(float x, float *whole) {
    *whole = trunc(x);
    return copysign_float(isinf(x) ? 0.0f : x - *whole, x);
}
float fract_float(float x, float *whole) {
    float below = floor(x);
    // Drivers may flush a denormal operand.
    *whole = below > x ? below - 1.0f : below;
    if (isnan(x)) return x;
    if (isinf(x)) return copysign_float(0.0f, x);
    return is_zero(x) ? x : fmin(x - *whole, 0x1.fffffep-1f);
}
float nan_uint(uint code) { return as_float(0x7fc00000u | (code & 0x3fffffu)); }

// |x| mod |y| in units of the last bit of y, and the low bits of the quotient, for finite numbers with |x| >= |y| > 0.
uint long_division(uint m, int exponent, uint divisor, int last, uint *quotient) {
    uint rest = m % divisor;
    *quotient = m / divisor;
    for (int left = exponent - last; left > 0; left -= 8) {
        int shift = min(left, 8);
        uint next = rest << shift;
        *quotient = (*quotient << shift) | (next / divisor);
        rest = next % divisor;
    }
    return rest;
}
float fmod_exactly(float x, float y) {
    if (isnan(x) || isnan(y) || isinf(x) || is_zero(y)) return QUIET_NAN;
    uint size_x = as_uint(x) & ~SIGN_BIT, size_y = as_uint(y) & ~SIGN_BIT;
    if (size_x < size_y) return x;
    int exponent, last;
    uint m = significand(x, &exponent), divisor = significand(y, &last), quotient;
    uint rest = long_division(m, exponent, divisor, last, &quotient);
    return as_float((as_uint(x) & SIGN_BIT) | round_to_float(rest, last, TO_ZERO));
}
float fmod_float(float x, float y) { return fmod_exactly(x, y); }
float remquo_float(float x, float y, int *quotient) {
    *quotient = 0;
    if (isnan(x) || isnan(y) || isinf(x) || is_zero(y)) return QUIET_NAN;
    uint size_x = as_uint(x) & ~SIGN_BIT, size_y = as_uint(y) & ~SIGN_BIT;
    if (is_zero(x) || size_y == INFINITE) return x;
    int exponent, last;
    uint m = significand(x, &exponent), divisor = significand(y, &last), count = 0;
    if (exponent < last - 1) return x;
    // In units of half the last bit of y, so that y / 2 is an integer.
    uint rest;
    if (exponent == last - 1) rest = m;
    else rest = 2 * long_division(m, exponent, divisor, last, &count);
    bool is_up = rest > divisor || (rest == divisor && (count & 1) != 0);
    count += is_up ? 1 : 0;
    uint magnitude = is_up ? 2 * divisor - rest : rest;
    uint sign = (as_uint(x) & SIGN_BIT) ^ (is_up ? SIGN_BIT : 0);
    int low = (int)(count & 0x7f);
    *quotient = ((as_uint(x) ^ as_uint(y)) & SIGN_BIT) != 0 ? -low : low;
    return as_float(sign | round_to_float(magnitude, last - 1, TO_ZERO));
}
float remainder_exactly(float x, float y) {
    int quotient;
    return remquo_float(x, y, &quotient);
}
float remainder_float(float x, float y) { return remainder_exactly(x, y); }

// a * b + c rounded once, in integers: the product has 48 bits, and one bit represents the lost bits of a smaller operand.
float fma_float(float a, float b, float c) {
    // The product of finite numbers is finite.
    if (isinf(c) && !is_infinite_or_nan(a) && !is_infinite_or_nan(b)) return c;
    if (is_infinite_or_nan(a) || is_infinite_or_nan(b) || is_infinite_or_nan(c) || is_zero(a) || is_zero(b)) {
        return a * b + c;
    }
    int exponent_a, exponent_b, exponent_c;
    ulong product = (ulong)significand(a, &exponent_a) * significand(b, &exponent_b) << 14;
    int exponent = exponent_a + exponent_b - 14;
    uint sign = (as_uint(a) ^ as_uint(b)) & SIGN_BIT;
    if (is_zero(c)) return as_float(sign | round_to_float(product, exponent, TO_EVEN));
    ulong addend = (ulong)significand(c, &exponent_c) << 38;
    exponent_c -= 38;
    int distance = exponent - exponent_c;
    if (distance > 0) {
        addend = distance > 63 ? 1 : (addend >> distance) | ((addend & ((1ul << distance) - 1)) != 0 ? 1 : 0);
    } else if (distance < 0) {
        int shift = -distance;
        product = shift > 63 ? 1 : (product >> shift) | ((product & ((1ul << shift) - 1)) != 0 ? 1 : 0);
        exponent = exponent_c;
    }
    uint sign_c = as_uint(c) & SIGN_BIT;
    ulong sum;
    if (sign == sign_c) sum = product + addend;
    else if (product >= addend) sum = product - addend;
    else {
        sum = addend - product;
        sign = sign_c;
    }
    return sum == 0 ? 0.0f : as_float(sign | round_to_float(sum, exponent, TO_EVEN));
}
