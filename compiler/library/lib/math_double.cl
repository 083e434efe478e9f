// Exponentials, logarithms, powers, roots, and circular functions of double (OpenCL C 6.15.2), by the methods of
// `exp.cl`, `log.cl`, `pow.cl` and `trig.cl`.
//
// Defines: exp exp2 exp10 expm1 log log2 log10 log1p pow powr pown rootn cbrt sqrt rsqrt hypot sin cos tan sincos
// Defines: sinh cosh tanh length distance normalize cross
// Types: double
// Helps: reduce_circle_exactly exp_part log_double log1p_double power is_odd pair_sqrt sqrt_double sin_part cos_part turned_sin
// Helps: is_special_log
#include "exact_double.cl"

#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW 7.4406171100123967161e-11

// e^r - 1 for |r| <= 0.36
double exp_part(double r) {
    double tail = 1.6059043836821614599e-10;
    tail = mul_add(tail, r, 2.0876756987868098979e-9);
    tail = mul_add(tail, r, 2.5052108385441718775e-8);
    tail = mul_add(tail, r, 2.7557319223985890653e-7);
    tail = mul_add(tail, r, 2.7557319223985890653e-6);
    tail = mul_add(tail, r, 0.000024801587301587301587);
    tail = mul_add(tail, r, 0.0001984126984126984127);
    tail = mul_add(tail, r, 0.0013888888888888888889);
    tail = mul_add(tail, r, 0.0083333333333333333333);
    tail = mul_add(tail, r, 0.041666666666666666667);
    tail = mul_add(tail, r, 0.16666666666666666667);
    tail = mul_add(tail, r, 0.5);
    return r + r * r * tail;
}
double exp_reduced(double x, double n) { return exp_part((x - n * LN2_HIGH) - n * LN2_LOW); }
double exp_double(double x) {
    if (isnan(x)) return x;
    if (x > 710.0) return as_double(INFINITE);
    if (x < -746.0) return 0.0;
    double n = rint(x * 1.4426950408889634074);
    return ldexp_double(1.0 + exp_reduced(x, n), (int)n);
}
// 2^(high + low)
double exp2_pair(double high, double low) {
    if (high > 1025.0) return as_double(INFINITE);
    if (high < -1080.0) return 0.0;
    double n = rint(high);
    return ldexp_double(1.0 + exp_part(((high - n) + low) * 0.69314718055994530942), (int)n);
}
double exp2_double(double x) { return isnan(x) ? x : exp2_pair(x, 0.0); }
double exp10_double(double x) {
    if (isnan(x)) return x;
    if (x > 309.0) return as_double(INFINITE);
    if (x < -325.0) return 0.0;
    double n = rint(x * 3.3219280948873623479);
    double r = (x - n * 0x1.34413508p-2) - n * 1.1451100898021838691e-10;
    return ldexp_double(1.0 + exp_part(r * 2.3025850929940456840), (int)n);
}
double expm1_double(double x) {
    if (isnan(x)) return x;
    if (x > 710.0) return as_double(INFINITE);
    if (x < -40.0) return -1.0;
    if (fabs(x) < 0.34) return fabs(x) < 0x1p-54 ? x : exp_part(x);
    double n = rint(x * 1.4426950408889634074);
    double part = exp_reduced(x, n);
    if (n > 60.0) return ldexp_double(1.0 + part, (int)n);
    double power = ldexp_double(1.0, (int)n);
    return (power - 1.0) + power * part;
}

// ln m for m from sqrt(1/2) to sqrt(2), where m - 1 = f + g and g is a last correction.
double2 log_near_one(double f, double g) {
    double2 divisor = fast_two_sum(2.0, f);
    double s = f / divisor.x;
    double2 product = two_product(s, divisor.x);
    double rest = (((f - product.x) - product.y) + g - s * (divisor.y + g)) / divisor.x;
    double2 sum = fast_two_sum(s, rest);
    double z = sum.x * sum.x;
    double tail = 0.086956521739130434783;
    tail = mul_add(tail, z, 0.095238095238095238095);
    tail = mul_add(tail, z, 0.10526315789473684211);
    tail = mul_add(tail, z, 0.11764705882352941176);
    tail = mul_add(tail, z, 0.13333333333333333333);
    tail = mul_add(tail, z, 0.15384615384615384615);
    tail = mul_add(tail, z, 0.18181818181818181818);
    tail = mul_add(tail, z, 0.22222222222222222222);
    tail = mul_add(tail, z, 0.28571428571428571429);
    tail = mul_add(tail, z, 0.4);
    tail = mul_add(tail, z, 0.66666666666666666667);
    return fast_two_sum(2.0 * sum.x, sum.x * z * tail + 2.0 * sum.y);
}
double reduce_log(double x, int *k) {
    int from = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        from = -54;
    }
    long above = (long)(as_ulong(x) - 0x3fe6a09e667f3bcdul);
    *k = from + (int)(above >> 52);
    return as_double((ulong)(above & 0xffffffffffffful) + 0x3fe6a09e667f3bcdul);
}
bool is_special_log(double x, double *result) {
    if (isnan(x) || x < 0.0) *result = QUIET_NAN;
    else if (x == 0.0) *result = as_double(INFINITE | SIGN_BIT);
    else if (as_ulong(x) == INFINITE) *result = x;
    else return false;
    return true;
}
double log_double(double x) {
    double result;
    if (is_special_log(x, &result)) return result;
    int k;
    double m = reduce_log(x, &k);
    double2 part = log_near_one(m - 1.0, 0.0);
    double2 sum = two_sum((double)k * LN2_HIGH, part.x);
    return sum.x + (sum.y + (part.y + (double)k * LN2_LOW));
}
double2 log2_pair(double x) {
    int k;
    double m = reduce_log(x, &k);
    double2 part = log_near_one(m - 1.0, 0.0);
    double2 product = two_product(part.x, 0x1.71547652b82fep+0);
    product.y += part.x * 2.035527374093103205e-17 + part.y * 0x1.71547652b82fep+0;
    double2 sum = two_sum((double)k, product.x);
    return fast_two_sum(sum.x, sum.y + product.y);
}
double log2_double(double x) {
    double result;
    return is_special_log(x, &result) ? result : log2_pair(x).x;
}
double log10_double(double x) {
    double result;
    if (is_special_log(x, &result)) return result;
    int k;
    double m = reduce_log(x, &k);
    double2 part = log_near_one(m - 1.0, 0.0);
    double2 product = two_product(part.x, 0x1.bcb7b1526e50ep-2);
    product.y += part.y * 0x1.bcb7b1526e50ep-2 + part.x * 1.0983196502167651099e-17;
    double2 sum = two_sum((double)k * 0x1.34413508p-2, product.x);
    return sum.x + (sum.y + (product.y + (double)k * 1.1451100898021838691e-10));
}
double log1p_double(double x) {
    if (x == 0.0 || as_ulong(x) == INFINITE || fabs(x) < 0x1p-54) return x;
    if (x == -1.0) return as_double(INFINITE | SIGN_BIT);
    if (isnan(x) || x < -1.0) return QUIET_NAN;
    double2 sum = two_sum(1.0, x);
    int k;
    double m = reduce_log(sum.x, &k);
    double2 part = log_near_one(m - 1.0, k < -900 || k > 900 ? 0.0 : ldexp_double(sum.y, -k));
    double2 total = two_sum((double)k * LN2_HIGH, part.x);
    return total.x + (total.y + (part.y + (double)k * LN2_LOW));
}

// x^(y + z) for x >= 0, where z is a last correction of y; zero and infinity are as limits.
double power(double x, double y, double z) {
    if (x == 1.0 || y == 0.0) return 1.0;
    bool is_large = (x > 1.0) == (y > 0.0);
    if (x == 0.0 || isinf(x) || isinf(y)) return is_large ? as_double(INFINITE) : 0.0;
    double2 binary = log2_pair(x);
    if (fabs(y * binary.x) > 1200.0) return is_large ? as_double(INFINITE) : 0.0;
    double2 product = two_product(y, binary.x);
    return exp2_pair(product.x, product.y + (y * binary.y + z * binary.x));
}
bool is_whole(double y) { return y == trunc(y); }
bool is_odd(double y) { return fabs(y) < 0x1p53 && is_whole(y) && ((long)y & 1) != 0; }
double pow_double(double x, double y) {
    if (x == 1.0 || y == 0.0) return 1.0;
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    bool is_negative = as_ulong(x) >> 63 != 0;
    if (is_negative && x != 0.0 && !isinf(x) && !isinf(y) && !is_whole(y)) return QUIET_NAN;
    double magnitude = power(fabs(x), y, 0.0);
    return is_negative && is_odd(y) ? -magnitude : magnitude;
}
double powr_double(double x, double y) {
    if (isnan(x) || isnan(y) || x < 0.0) return QUIET_NAN;
    if (y == 0.0 && (x == 0.0 || isinf(x))) return QUIET_NAN;
    if (x == 1.0 && isinf(y)) return QUIET_NAN;
    return power(fabs(x), y, 0.0);
}
double pown_double(double x, int n) {
    if (n == 0) return 1.0;
    if (isnan(x)) return x;
    double magnitude = power(fabs(x), (double)n, 0.0);
    return as_ulong(x) >> 63 != 0 && (n & 1) != 0 ? -magnitude : magnitude;
}
double rootn_double(double x, int n) {
    if (n == 0 || isnan(x) || (x < 0.0 && (n & 1) == 0)) return QUIET_NAN;
    double2 inverse = pair_quotient(1.0, (double)n);
    double magnitude = power(fabs(x), inverse.x, inverse.y);
    return as_ulong(x) >> 63 != 0 && (n & 1) != 0 ? -magnitude : magnitude;
}
double cbrt_double(double x) {
    if (x == 0.0 || is_endless(x)) return x;
    double2 third = pair_quotient(1.0, 3.0);
    return copysign_double(power(fabs(x), third.x, third.y), x);
}

// Newton steps from a float estimate, the last with an exact remainder.
double2 pair_sqrt(double x) {
    double root = (double)native_sqrt((float)x);
    root = 0.5 * (root + x / root);
    root = 0.5 * (root + x / root);
    double2 square = two_product(root, root);
    return fast_two_sum(root, ((x - square.x) - square.y) / (2.0 * root));
}
double sqrt_double(double x) {
    if (x == 0.0 || isnan(x) || as_ulong(x) == INFINITE) return x;
    if (x < 0.0) return QUIET_NAN;
    int last;
    ulong m = significand(x, &last);
    if ((last & 1) != 0) {
        m <<= 1;
        last -= 1;
    }
    // 54 digits of the root, and what its square lacks, modulo 2^64.
    ulong root = (ulong)(pair_sqrt((double)m).x * 0x1p27);
    long rest = (long)((m << 54) - root * root);
    while (rest < 0) {
        root -= 1;
        rest += (long)(2 * root + 1);
    }
    while (rest > (long)(2 * root)) {
        rest -= (long)(2 * root + 1);
        root += 1;
    }
    // Ties do not occur. The first bit adds one to the exponent.
    ulong kept = (root >> 1) + ((root & 1) != 0 && (rest != 0 || (root & 2) != 0) ? 1 : 0);
    return as_double(((ulong)(last / 2 + 1048) << 52) + kept);
}
double rsqrt_double(double x) {
    double root = sqrt_double(x), inverse = 1.0 / root;
    if (!(root > 0.0) || isinf(root)) return inverse;
    double2 product = two_product(inverse, root);
    return inverse + inverse * ((1.0 - product.x) - product.y);
}
double hypot_double(double x, double y) {
    x = fabs(x);
    y = fabs(y);
    if (isinf(x) || isinf(y)) return as_double(INFINITE);
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    double size = fmax(x, y);
    double scale = size > 0x1p500 ? 0x1p-600 : size < 0x1p-450 ? 0x1p600 : 1.0;
    double back = size > 0x1p500 ? 0x1p600 : size < 0x1p-450 ? 0x1p-600 : 1.0;
    x *= scale;
    y *= scale;
    return sqrt_double(x * x + y * y) * back;
}

// 256 bits of 2/pi from bit 64 * `index`, after 64 zeros before the point.
ulong4 two_over_pi(uint index) {
    switch (index) {
    case 0: return (ulong4)(0ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul);
    case 1: return (ulong4)(0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul);
    case 2: return (ulong4)(0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul);
    case 3: return (ulong4)(0xdb6295993c439041ul, 0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul);
    case 4: return (ulong4)(0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul);
    case 5: return (ulong4)(0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul);
    case 6: return (ulong4)(0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul);
    case 7: return (ulong4)(0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul);
    case 8: return (ulong4)(0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul, 0x9c845f8bbdf9283bul);
    case 9: return (ulong4)(0xe99c7026b45f7e41ul, 0x3991d639835339f4ul, 0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful);
    case 10: return (ulong4)(0x3991d639835339f4ul, 0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful);
    case 11: return (ulong4)(0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul);
    case 12: return (ulong4)(0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul);
    case 13: return (ulong4)(0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul);
    case 14: return (ulong4)(0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul);
    case 15: return (ulong4)(0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul);
    default: return (ulong4)(0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul);
    }
}
// r = x - n pi/2 as a sum for a finite x of at least pi/4, |r| <= pi/4, and n modulo 4.
double2 reduce_circle_exactly(double x, uint *quadrant) {
    double size = fabs(x);
    ulong m = (as_ulong(size) & 0xffffffffffffful) | 0x10000000000000ul;
    uint first = (uint)(as_ulong(size) >> 52) - 1013;
    uint index = first >> 6, shift = first & 63;
    ulong4 words = two_over_pi(index);
    ulong a = words.x, b = words.y, c = words.z;
    if (shift != 0) {
        a = (a << shift) | (b >> (64 - shift));
        b = (b << shift) | (c >> (64 - shift));
        c = (c << shift) | (words.w >> (64 - shift));
    }
    // The product modulo 2^192: two bits of quadrant, 190 of fraction.
    ulong low = m * c;
    ulong middle = m * b, carried = mul_hi(m, c);
    middle += carried;
    ulong high = m * a + mul_hi(m, b) + (middle < carried ? 1 : 0);
    uint n = (uint)(high >> 62);
    ulong top = (high << 2) | (middle >> 62), rest = (middle << 2) | (low >> 62);
    bool is_over = (long)top < 0;
    if (is_over) {
        rest = 0 - rest;
        top = ~top + (rest == 0 ? 1 : 0);
        n += 1;
    }
    int zeros = 0;
    if (top == 0) {
        top = rest;
        rest = 0;
        zeros = 64;
    }
    int more = (int)clz(top | 1);
    if (more > 0) {
        top = (top << more) | (rest >> (64 - more));
        rest <<= more;
        zeros += more;
    }
    // 2^(-53 - zeros) and 2^(-106 - zeros) are normal numbers.
    double upper = (double)(top >> 11) * as_double((ulong)(970 - zeros) << 52);
    double lower = (double)(((top & 0x7ff) << 42) | (rest >> 22)) * as_double((ulong)(917 - zeros) << 52);
    double2 r = two_product(upper, 0x1.921fb54442d18p+0);
    r = fast_two_sum(r.x, r.y + (lower * 0x1.921fb54442d18p+0 + upper * 6.1232339957367658861e-17));
    *quadrant = (x < 0.0 ? 4 - n : n) & 3;
    return is_over != (x < 0.0) ? -r : r;
}
double2 reduce_circle(double x, uint *quadrant) {
    if (!(fabs(x) < 0.785398)) return reduce_circle_exactly(x, quadrant);
    *quadrant = 0;
    return (double2)(x, 0.0);
}
double sin_part(double2 r) {
    double z = r.x * r.x;
    double tail = 2.8114572543455207632e-15;
    tail = mul_add(tail, z, -7.6471637318198164759e-13);
    tail = mul_add(tail, z, 1.6059043836821614599e-10);
    tail = mul_add(tail, z, -2.5052108385441718775e-8);
    tail = mul_add(tail, z, 2.7557319223985890653e-6);
    tail = mul_add(tail, z, -0.0001984126984126984127);
    tail = mul_add(tail, z, 0.0083333333333333333333);
    tail = mul_add(tail, z, -0.16666666666666666667);
    return r.x + (r.x * z * tail + r.y * (1.0 - 0.5 * z));
}
double cos_part(double2 r) {
    double z = r.x * r.x;
    double tail = -1.5619206968586226462e-16;
    tail = mul_add(tail, z, 4.7794773323873852974e-14);
    tail = mul_add(tail, z, -1.1470745597729724714e-11);
    tail = mul_add(tail, z, 2.0876756987868098979e-9);
    tail = mul_add(tail, z, -2.7557319223985890653e-7);
    tail = mul_add(tail, z, 0.000024801587301587301587);
    tail = mul_add(tail, z, -0.0013888888888888888889);
    tail = mul_add(tail, z, 0.041666666666666666667);
    double2 head = fast_two_sum(1.0, -0.5 * z);
    return head.x + (head.y + (z * z * tail - r.x * r.y));
}
double turned_sin(double2 r, uint quadrant) {
    double value = (quadrant & 1) != 0 ? cos_part(r) : sin_part(r);
    return (quadrant & 2) != 0 ? -value : value;
}
double sin_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    if (fabs(x) < 0x1p-27) return x;
    uint quadrant;
    double2 r = reduce_circle(x, &quadrant);
    return turned_sin(r, quadrant);
}
double cos_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    uint quadrant;
    double2 r = reduce_circle(x, &quadrant);
    return turned_sin(r, quadrant + 1);
}
double tan_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    if (fabs(x) < 0x1p-27) return x;
    uint quadrant;
    double2 r = reduce_circle(x, &quadrant);
    double s = sin_part(r), c = cos_part(r);
    return (quadrant & 1) != 0 ? -c / s : s / c;
}
double sincos_double(double x, double *cosine) {
    *cosine = cos_double(x);
    return sin_double(x);
}

double sinh_double(double x) {
    double size = fabs(x);
    if (is_endless(x) || size < 0x1p-28) return x;
    if (size > 709.0) {
        double root = exp_double(0.5 * size);
        return copysign_double(0.5 * root * root, x);
    }
    double above = expm1_double(size);
    return copysign_double(0.5 * (above + above / (above + 1.0)), x);
}
double cosh_double(double x) {
    double size = fabs(x);
    if (isnan(x)) return x;
    if (size > 709.0) {
        double root = exp_double(0.5 * size);
        return 0.5 * root * root;
    }
    double power = exp_double(size);
    return 0.5 * power + 0.5 / power;
}
double tanh_double(double x) {
    double size = fabs(x);
    if (isnan(x) || size < 0x1p-28) return x;
    if (size > 20.0) return copysign_double(1.0, x);
    double above = expm1_double(2.0 * size);
    // From the bound on, the second quotient is below one half, and so is the unit of its error.
    return copysign_double(size < 0.5625 ? above / (above + 2.0) : 1.0 - 2.0 / (above + 2.0), x);
}

double sum_double2(double2 v) { return v.x + v.y; }
double sum_double3(double3 v) { return v.x + v.y + v.z; }
double sum_double4(double4 v) { return (v.x + v.y) + (v.z + v.w); }
double largest_double2(double2 v) { return fmax(v.x, v.y); }
double largest_double3(double3 v) { return fmax(fmax(v.x, v.y), v.z); }
double largest_double4(double4 v) { return fmax(fmax(v.x, v.y), fmax(v.z, v.w)); }
double scale_to_one(double size) { return size > 0x1p500 ? 0x1p-600 : size < 0x1p-450 ? 0x1p600 : 1.0; }
#define GEOMETRIC(T)                                                \
    double length_##T(T v) {                                        \
        double size = largest_##T(fabs(v));                         \
        if (size == as_double(INFINITE)) return size;               \
        double scale = scale_to_one(size);                          \
        v *= scale;                                                 \
        return sqrt_double(sum_##T(v * v)) / scale;                 \
    }                                                               \
    double distance_##T(T a, T b) { return length_##T(a - b); }     \
    T normalize_##T(T v) {                                          \
        double size = largest_##T(fabs(v));                         \
        if (size == 0.0) return v;                                  \
        /* The small components of a large vector keep their bits. */ \
        bool is_large = size > 0x1p500;                             \
        double scale = scale_to_one(size);                          \
        T scaled = v * scale;                                       \
        double root = sqrt_double(sum_##T(scaled * scaled));        \
        return v * (is_large ? 0x1p-100 : scale) / (is_large ? root * 0x1p500 : root); \
    }
GEOMETRIC(double2)
GEOMETRIC(double3)
GEOMETRIC(double4)
double length_double(double v) { return fabs(v); }
double distance_double(double a, double b) { return fabs(a - b); }
double normalize_double(double v) { return isnan(v) || v == 0.0 ? v : copysign_double(1.0, v); }
double3 cross_double3(double3 a, double3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
double4 cross_double4(double4 a, double4 b) { return (double4)(a.yzx * b.zxy - a.zxy * b.yzx, 0.0); }
