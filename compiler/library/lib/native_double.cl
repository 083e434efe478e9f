// Functions of double for drivers whose Fma rounds once (kiln_vocabulary::precision). Each replaces the function with the
// same name in another file.
//
// Types: double
#include "exact_double.cl"
#include "math_double.cl"

// As in `native.cl`; the sum contains a number below 2^31 in its low word.
#define ROUNDER 0x1.8p52

double mul_add(double a, double b, double c) { return fma(a, b, c); }
double2 two_product(double a, double b) {
    double product = a * b;
    return (double2)(product, fma(a, b, -product));
}

// The inverse root of the nearest float, for numbers from 2^-120 to 2^120, has 21 bits. Halley's step trebles them, and the last
// one, with an exact remainder, rounds correctly.
double root_of_middle(double x) {
    double inverse = (double)native_rsqrt((float)x);
    double rest = fma(-(x * inverse), inverse, 1.0);
    inverse = fma(fma(0.375, rest, 0.5), inverse * rest, inverse);
    double root = x * inverse;
    return fma(fma(-root, root, x), 0.5 * inverse, root);
}
double sqrt_double(double x) {
    if (as_uint2(x).y - 0x38700000u < 0x0f000000u) return root_of_middle(x);
    if (!(x > 0.0 && as_ulong(x) < INFINITE)) return x < 0.0 ? QUIET_NAN : x;
    // An even power of two scales other numbers.
    bool is_small = x < 0x1p-1022;
    ulong bits = as_ulong(is_small ? x * 0x1p54 : x);
    long exponent = ((long)(bits >> 52) - 1023) & ~1l;
    double root = root_of_middle(as_double(bits - ((ulong)exponent << 52)));
    root = as_double(as_ulong(root) + ((ulong)(exponent >> 1) << 52));
    return is_small ? root * 0x1p-27 : root;
}

// Cody and Waite's reduction, as for float.
double2 reduce_circle(double x, uint *quadrant) {
    if (!(fabs(x) <= 1e5)) return reduce_circle_exactly(x, quadrant);
    double sum = fma(x, 0.63661977236758138, ROUNDER), n = sum - ROUNDER;
    double r = fma(n, -0x1.921fb54442d18p+0, x);
    double2 product = two_product(n, -0x1.1a62633145c07p-54);
    double2 reduced = two_sum(r, product.x);
    *quadrant = as_uint2(sum).x & 3;
    return (double2)(reduced.x, reduced.y + (product.y + n * 0x1.f1976b7ed8fbcp-110));
}

// The sine of r for |r| <= pi/2, as for float.
double sine(double r) {
    double z = r * r;
    double tail = fma(2.7211381923254589285e-15, z, -7.6429880617176378657e-13);
    tail = fma(tail, z, 1.605893957676792091e-10);
    tail = fma(tail, z, -2.5052106870287395291e-8);
    tail = fma(tail, z, 2.7557319211110443687e-6);
    tail = fma(tail, z, -0.00019841269841209066816);
    tail = fma(tail, z, 0.0083333333333331938999);
    tail = fma(tail, z, -0.16666666666666665566);
    return r * fma(tail, z, 1.0);
}
double with_sign_of(double x, uint sign) {
    uint2 words = as_uint2(x);
    return as_double((uint2)(words.x, words.y ^ (sign & 0x80000000u)));
}
#define LARGEST_SHORT 1e5
double minus_turns(double x, double n) {
    return fma(n, -0x1.c1cd129024e08p-106, fma(n, -0x1.1a62633145c06p-53, fma(n, -0x1.921fb54442d18p+1, x)));
}
double sine_of_large(double x, uint from) {
    if (is_endless(x)) return QUIET_NAN;
    uint quadrant;
    double2 r = reduce_circle_exactly(x, &quadrant);
    quadrant += from;
    double near = r.x + r.y;
    if ((quadrant & 1) != 0) near = (0x1.921fb54442d18p+0 - fabs(near)) + 6.123233995736766e-17;
    return with_sign_of(sine(near), quadrant << 30);
}
double sin_double(double x) {
    if (!(fabs(x) <= LARGEST_SHORT)) return sine_of_large(x, 0);
    double sum = fma(x, 0.31830988618379067154, ROUNDER);
    return with_sign_of(sine(minus_turns(x, sum - ROUNDER)), as_uint2(sum).x << 31);
}
double cos_double(double x) {
    if (!(fabs(x) <= LARGEST_SHORT)) return sine_of_large(x, 1);
    double sum = fma(x, 0.31830988618379067154, 0.5) + ROUNDER;
    return with_sign_of(sine(minus_turns(x, (sum - ROUNDER) - 0.5)), as_uint2(sum).x << 31);
}

// e^x = 2^n e^r with x = n ln 2 + r. The exponent is in the high word.
double exp_double(double x) {
    double sum = fma(x, 1.4426950408889634074, ROUNDER), n = sum - ROUNDER;
    double r = fma(n, -0x1.abc9e3b39803fp-56, fma(n, -0x1.62e42fefa39efp-1, x));
    double tail = 2.5000066626477465254e-8;
    tail = fma(tail, r, 2.7630248368472882038e-7);
    tail = fma(tail, r, 2.7557586353522278202e-6);
    tail = fma(tail, r, 0.000024801493099025649647);
    tail = fma(tail, r, 0.00019841269506607021004);
    tail = fma(tail, r, 0.0013888888943629926239);
    tail = fma(tail, r, 0.0083333333334944459065);
    tail = fma(tail, r, 0.041666666666530159353);
    tail = fma(tail, r, 0.16666666666666412551);
    tail = fma(tail, r, 0.50000000000000106271);
    double power = fma(fma(tail, r, 1.0), r, 1.0);
    if (fabs(x) < 708.0) {
        uint2 words = as_uint2(power);
        words.y += as_uint2(sum).x << 20;
        return as_double(words);
    }
    if (isnan(x)) return x;
    if (x > 710.0) return as_double(INFINITE);
    if (x < -746.0) return 0.0;
    return ldexp_double(power, (int)as_uint2(sum).x);
}

// ln x = k ln 2 + 2 artanh q with q = (m - 1) / (m + 1) as a sum. The words contain k and m as in `reduce_log`.
double log_double(double x) {
    double from = 0.0;
    uint2 words = as_uint2(x);
    if (words.y - 0x00100000u >= 0x7fe00000u) {
        double special;
        if (is_special_log(x, &special)) return special;
        words = as_uint2(x * 0x1p54);
        from = -54.0;
    }
    uint above = words.y - 0x3fe6a09eu;
    double k = as_double((uint2)(((uint)((int)above >> 20)) ^ 0x80000000u, 0x43300000u)) - 0x1.000008p+52 + from;
    words.y -= above & 0xfff00000u;
    double m = as_double(words), f = m - 1.0, divisor = m + 1.0;
    double inverse = (double)native_recip((float)divisor);
    inverse = fma(fma(-divisor, inverse, 1.0), inverse, inverse);
    double q = f * inverse;
    q = fma(fma(-q, divisor, f), inverse, q);
    double rest = fma(-q, divisor, f) * inverse;
    double z = q * q;
    double tail = 0.14797512160796981135;
    tail = fma(tail, z, 0.15313902794709786471);
    tail = fma(tail, z, 0.18183569758080296588);
    tail = fma(tail, z, 0.22222198475611771832);
    tail = fma(tail, z, 0.2857142874326675573);
    tail = fma(tail, z, 0.39999999999411070067);
    tail = fma(tail, z, 0.66666666666667349004);
    double2 sum = fast_two_sum(k * LN2_HIGH, 2.0 * q);
    return sum.x + (sum.y + fma(k, LN2_LOW, fma(q * z, tail, 2.0 * rest)));
}
