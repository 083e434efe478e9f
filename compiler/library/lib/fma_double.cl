// `fma` of double (OpenCL C 6.15.2), in 128-bit integers. The lowest bit represents the lost bits of a much smaller
// operand.
//
// Defines: fma
// Types: double
#include "digits_double.cl"

// Shifts high and low down; the lowest bit represents the lost bits.
ulong2 shifted(ulong2 value, int by) {
    if (by == 0) return value;
    if (by > 127) return (ulong2)(0, 1);
    ulong lost = by < 64 ? value.y << (64 - by) : by == 64 ? value.y : value.y | (value.x << (128 - by));
    ulong low = by < 64 ? (value.y >> by) | (value.x << (64 - by)) : by == 64 ? value.x : value.x >> (by - 64);
    return (ulong2)(by < 64 ? value.x >> by : 0, low | (lost != 0 ? 1 : 0));
}
double fma_double(double a, double b, double c) {
    // The product of finite numbers is finite.
    if (isinf(c) && isfinite(a) && isfinite(b)) return c;
    if (!is_plain(a) || !is_plain(b) || (as_ulong(c) & ENDLESS) == ENDLESS) return a * b + c;
    int exponent_a, exponent_b;
    ulong m = digits(a, &exponent_a), n = digits(b, &exponent_b);
    ulong sign = (as_ulong(a) ^ as_ulong(b)) & NEGATIVE;
    ulong low = m * n;
    ulong2 sum = (ulong2)((mul_hi(m, n) << 20) | (low >> 44), low << 20);
    int exponent = exponent_a + exponent_b - 20;
    if (is_plain(c)) {
        int exponent_c;
        ulong2 addend = (ulong2)(digits(c, &exponent_c) << 9, 0);
        exponent_c -= 73;
        if (exponent > exponent_c) addend = shifted(addend, exponent - exponent_c);
        else {
            sum = shifted(sum, exponent_c - exponent);
            exponent = exponent_c;
        }
        ulong sign_c = as_ulong(c) & NEGATIVE;
        if (sign == sign_c) {
            ulong total = sum.y + addend.y;
            sum = (ulong2)(sum.x + addend.x + (total < sum.y ? 1 : 0), total);
        } else {
            if (sum.x < addend.x || (sum.x == addend.x && sum.y < addend.y)) {
                ulong2 other = sum;
                sum = addend;
                addend = other;
                sign = sign_c;
            }
            sum = (ulong2)(sum.x - addend.x - (sum.y < addend.y ? 1 : 0), sum.y - addend.y);
        }
        if (sum.x == 0 && sum.y == 0) return 0.0;
    }
    ulong top = sum.y;
    if (sum.x != 0) {
        int zeros = (int)clz(sum.x);
        ulong rest = sum.y << zeros;
        top = zeros == 0 ? sum.x : (sum.x << zeros) | (sum.y >> (64 - zeros));
        top |= rest != 0 ? 1 : 0;
        exponent += 64 - zeros;
    }
    return as_double(sign | round_to(top, exponent, TO_EVEN, 53, 1023));
}
