// Exact functions of double (OpenCL C 6.15.2), and helpers of the other files for double.
//
// Defines: copysign round fdim maxmag minmag sign nextafter frexp ilogb logb modf fract nan fmod remainder remquo ldexp
// Defines: degrees radians step
// Types: double ulong
// Helps: mul_add copysign_double is_zero is_endless fast_two_sum two_sum two_product pair_quotient ldexp_double significand
#ifndef EXACT_DOUBLE_CL
#define EXACT_DOUBLE_CL

#define SIGN_BIT 0x8000000000000000ul
#define INFINITE 0x7ff0000000000000ul
#define QUIET_NAN as_double(0x7ff8000000000000ul)

double copysign_double(double x, double y) {
    return as_double((as_ulong(x) & ~SIGN_BIT) | (as_ulong(y) & SIGN_BIT));
}
// a * b + c, rounded once or twice.
double mul_add(double a, double b, double c) { return a * b + c; }
bool is_zero(double x) { return (as_ulong(x) & ~SIGN_BIT) == 0; }
bool is_endless(double x) { return (as_ulong(x) & INFINITE) == INFINITE; }

double2 fast_two_sum(double a, double b) {
    double sum = a + b;
    return (double2)(sum, b - (sum - a));
}
double2 two_sum(double a, double b) {
    double sum = a + b, b_part = sum - a;
    return (double2)(sum, (a - (sum - b_part)) + (b - b_part));
}
// Veltkamp's splitting: 53 digits are two times 26 and a sign.
double upper_half(double a) {
    double scaled = 134217729.0 * a;
    return scaled - (scaled - a);
}
double2 two_product(double a, double b) {
    double a_high = upper_half(a), a_low = a - a_high, b_high = upper_half(b), b_low = b - b_high;
    double product = a * b;
    return (double2)(product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low);
}
double2 pair_quotient(double y, double x) {
    double quotient = y / x;
    double2 product = two_product(quotient, x);
    return fast_two_sum(quotient, ((y - product.x) - product.y) / x);
}

// x * 2^n, rounded once. A step down keeps 53 bits, so only the last one rounds.
double ldexp_double(double x, int n) {
    if (n > 1023) {
        x *= 0x1p1023;
        n -= 1023;
        if (n > 1023) {
            x *= 0x1p1023;
            n = min(n - 1023, 1023);
        }
    } else if (n < -1022) {
        x *= 0x1p-969;
        n += 969;
        if (n < -1022) {
            x *= 0x1p-969;
            n = max(n + 969, -1022);
        }
    }
    return x * as_double((ulong)(n + 1023) << 52);
}

// The 53-bit significand of a finite nonzero number, with the first bit set, and the exponent of its last bit.
ulong significand(double x, int *exponent) {
    ulong bits = as_ulong(x) & ~SIGN_BIT;
    ulong fraction = bits & 0xffffffffffffful;
    int biased = (int)(bits >> 52);
    if (biased == 0) {
        int shift = (int)clz(fraction) - 11;
        *exponent = -1074 - shift;
        return fraction << shift;
    }
    *exponent = biased - 1075;
    return fraction | 0x10000000000000ul;
}

double round_double(double x) {
    double whole = trunc(x);
    return copysign_double(fabs(x - whole) >= 0.5 ? whole + copysign_double(1.0, x) : whole, x);
}
double fdim_double(double x, double y) { return isnan(x) || isnan(y) ? QUIET_NAN : x > y ? x - y : 0.0; }
double maxmag_double(double x, double y) {
    double a = fabs(x), b = fabs(y);
    return a > b ? x : b > a ? y : fmax(x, y);
}
double minmag_double(double x, double y) {
    double a = fabs(x), b = fabs(y);
    return a < b ? x : b < a ? y : fmin(x, y);
}
double step_double(double edge, double x) { return x < edge ? 0.0 : 1.0; }
double sign_double(double x) { return isnan(x) ? 0.0 : x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }
double nextafter_double(double x, double y) {
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    ulong a = as_ulong(x), b = as_ulong(y);
    ulong size_a = a & ~SIGN_BIT, size_b = b & ~SIGN_BIT;
    if (a == b || (size_a == 0 && size_b == 0)) return y;
    if (size_a == 0) return as_double((b & SIGN_BIT) | 1);
    bool is_inward = ((a ^ b) & SIGN_BIT) != 0 || size_b < size_a;
    return as_double(is_inward ? a - 1 : a + 1);
}
double frexp_double(double x, int *exponent) {
    *exponent = 0;
    if (is_zero(x) || is_endless(x)) return x;
    int last;
    ulong m = significand(x, &last);
    *exponent = last + 53;
    return as_double((as_ulong(x) & SIGN_BIT) | (1022ul << 52) | (m & 0xffffffffffffful));
}
int ilogb_double(double x) {
    if (is_zero(x)) return FP_ILOGB0;
    if (is_endless(x)) return isnan(x) ? FP_ILOGBNAN : INT_MAX;
    int last;
    significand(x, &last);
    return last + 52;
}
double logb_double(double x) {
    if (is_zero(x)) return as_double(INFINITE | SIGN_BIT);
    if (is_endless(x)) return isnan(x) ? x : as_double(INFINITE);
    return (double)ilogb_double(x);
}
double modf_double(double x, double *whole) {
    *whole = trunc(x);
    return copysign_double(isinf(x) ? 0.0 : x - *whole, x);
}
double fract_double(double x, double *whole) {
    double below = floor(x);
    // Drivers may flush a denormal operand.
    *whole = below > x ? below - 1.0 : below;
    if (isnan(x)) return x;
    if (isinf(x)) return copysign_double(0.0, x);
    return is_zero(x) ? x : fmin(x - *whole, 0x1.fffffffffffffp-1);
}
double nan_ulong(ulong code) { return as_double(0x7ff8000000000000ul | (code & 0x7fffffffffffful)); }

// |x| mod |y| in units of the last bit of y, and the low bits of the quotient, for finite numbers with |x| >= |y| > 0.
ulong long_division(ulong m, int exponent, ulong divisor, int last, uint *quotient) {
    ulong rest = m % divisor;
    *quotient = (uint)(m / divisor);
    for (int left = exponent - last; left > 0; left -= 10) {
        int shift = min(left, 10);
        ulong next = rest << shift;
        *quotient = (*quotient << shift) | (uint)(next / divisor);
        rest = next % divisor;
    }
    return rest;
}
double fmod_double(double x, double y) {
    if (isnan(x) || isnan(y) || isinf(x) || is_zero(y)) return QUIET_NAN;
    ulong size_x = as_ulong(x) & ~SIGN_BIT, size_y = as_ulong(y) & ~SIGN_BIT;
    if (size_x < size_y) return x;
    int exponent, last;
    uint quotient;
    ulong m = significand(x, &exponent), divisor = significand(y, &last);
    ulong rest = long_division(m, exponent, divisor, last, &quotient);
    return copysign_double(ldexp_double((double)rest, last), x);
}
double remquo_double(double x, double y, int *quotient) {
    *quotient = 0;
    if (isnan(x) || isnan(y) || isinf(x) || is_zero(y)) return QUIET_NAN;
    if (is_zero(x) || isinf(y)) return x;
    int exponent, last;
    uint count = 0;
    ulong m = significand(x, &exponent), divisor = significand(y, &last), rest;
    if (exponent < last - 1) return x;
    if (exponent == last - 1) rest = m;
    else rest = 2 * long_division(m, exponent, divisor, last, &count);
    bool is_up = rest > divisor || (rest == divisor && (count & 1) != 0);
    count += is_up ? 1 : 0;
    ulong magnitude = is_up ? 2 * divisor - rest : rest;
    int low = (int)(count & 0x7f);
    *quotient = ((as_ulong(x) ^ as_ulong(y)) & SIGN_BIT) != 0 ? -low : low;
    double result = copysign_double(ldexp_double((double)magnitude, last - 1), x);
    return is_up ? -result : result;
}
double remainder_double(double x, double y) {
    int quotient;
    return remquo_double(x, y, &quotient);
}
double degrees_double(double x) { return x * 57.295779513082320877; }
double radians_double(double x) { return x * 0.017453292519943295769; }
#endif
