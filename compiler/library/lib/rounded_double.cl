// Division of double, correctly rounded (OpenCL C 7.4), for drivers whose division has an error of up to 2.5 ulp.
//
// Defines: rounded_divide
// Types: double
#include "digits_double.cl"

double rounded_divide_double(double x, double y) {
    ulong sign = (as_ulong(x) ^ as_ulong(y)) & NEGATIVE;
    if (!is_plain(x) || !is_plain(y)) {
        // The device may flush denormal operands, and its quotient by a large number can have any error.
        bool is_zero_x = x == 0.0, is_zero_y = y == 0.0, is_endless_x = isinf(x), is_endless_y = isinf(y);
        bool is_undefined = (is_zero_x && is_zero_y) || (is_endless_x && is_endless_y);
        if (isnan(x) || isnan(y) || is_undefined) return as_double(0x7ff8000000000000ul);
        return as_double(is_zero_x || is_endless_y ? sign : sign | ENDLESS);
    }
    int exponent_x, exponent_y;
    ulong m = digits(x, &exponent_x), divisor = digits(y, &exponent_y);
    ulong quotient = (ulong)((double)m / (double)divisor * 0x1p54);
    // The rest, modulo 2^64. The loops correct the estimate, which is wrong by a few units.
    long rest = (long)((m << 54) - quotient * divisor);
    while (rest < 0) {
        quotient -= 1;
        rest += (long)divisor;
    }
    while (rest >= (long)divisor) {
        quotient += 1;
        rest -= (long)divisor;
    }
    // The lowest bit represents the lost bits.
    ulong rounded = round_to(quotient << 1 | (rest != 0 ? 1 : 0), exponent_x - exponent_y - 55, TO_EVEN, 53, 1023);
    return as_double(sign | rounded);
}
