// Division and square root of float, correctly rounded, in integer arithmetic, for
// -cl-fp32-correctly-rounded-divide-sqrt (OpenCL API 5.8.6.3).
//
// Defines: rounded_divide rounded_sqrt
#include "exact.cl"

bool is_plain(float x) { return (as_uint(x) & INFINITE) != INFINITE && (as_uint(x) & ~SIGN_BIT) != 0; }

float rounded_divide_float(float x, float y) {
    uint sign = (as_uint(x) ^ as_uint(y)) & SIGN_BIT;
    if (!is_plain(x) || !is_plain(y)) {
        // The device's quotient by a large number can have any error, even the quotient of an infinity.
        uint size_x = as_uint(x) & ~SIGN_BIT, size_y = as_uint(y) & ~SIGN_BIT;
        if (size_x > INFINITE || size_y > INFINITE || size_x == size_y) return as_float(0x7fc00000u);
        return as_float(sign | (size_x == INFINITE || size_y == 0 ? INFINITE : 0));
    }
    int exponent_x, exponent_y;
    ulong m = (ulong)significand(x, &exponent_x) << 27, divisor = significand(y, &exponent_y);
    ulong quotient = m / divisor;
    // The lowest bit represents the lost bits.
    quotient |= quotient * divisor != m ? 1 : 0;
    return as_float(sign | round_to_float(quotient, exponent_x - 27 - exponent_y, TO_EVEN));
}
float rounded_sqrt_float(float x) {
    if ((as_uint(x) & ~SIGN_BIT) == 0 || isnan(x) || as_uint(x) == INFINITE) return x;
    if (as_uint(x) >> 31 != 0) return as_float(0x7fc00000u);
    int exponent;
    uint m = significand(x, &exponent);
    if ((exponent & 1) != 0) {
        m <<= 1;
        exponent -= 1;
    }
    ulong square = (ulong)m << 26;
    uint root = (uint)(native_sqrt((float)m) * 8192.0f);
    while ((ulong)root * root > square) root -= 1;
    while ((ulong)(root + 1) * (root + 1) <= square) root += 1;
    ulong digits = (ulong)root << 1 | ((ulong)root * root != square ? 1 : 0);
    return as_float(round_to_float(digits, exponent / 2 - 14, TO_EVEN));
}
