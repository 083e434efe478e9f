// Helpers for the other files: unevaluated sums of two floats, exact scaling, and rounding of wide integers.
// Masks split the factors, so each partial product is exact.
//
// Helps: copysign_float fast_two_sum two_sum two_product pair_quotient pair_sqrt ldexp_float significand round_to
// Helps: round_to_float mul_add
#ifndef EXACT_CL
#define EXACT_CL

#define SIGN_BIT 0x80000000u
#define INFINITE 0x7f800000u

float copysign_float(float x, float y) { return as_float((as_uint(x) & ~SIGN_BIT) | (as_uint(y) & SIGN_BIT)); }

// a * b + c, rounded once or twice.
float mul_add(float a, float b, float c) { return a * b + c; }
// a + b, where |a| >= |b| or a is zero.
float2 fast_two_sum(float a, float b) {
    float sum = a + b;
    return (float2)(sum, b - (sum - a));
}
// a + b
float2 two_sum(float a, float b) {
    float sum = a + b, b_part = sum - a;
    return (float2)(sum, (a - (sum - b_part)) + (b - b_part));
}
// a * b, if the low half does not underflow.
float2 two_product(float a, float b) {
    float a_high = as_float(as_uint(a) & 0xfffff000u), a_low = a - a_high;
    float b_high = as_float(as_uint(b) & 0xfffff000u), b_low = b - b_high;
    float product = a * b;
    return (float2)(product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low);
}
// y / x as a sum, for operands far from overflow and underflow.
float2 pair_quotient(float y, float x) {
    float quotient = y / x;
    float2 product = two_product(quotient, x);
    return fast_two_sum(quotient, ((y - product.x) - product.y) / x);
}
// The square root of a normal number as a sum.
float2 pair_sqrt(float x) {
    float root = native_sqrt(x);
    float2 square = two_product(root, root);
    return fast_two_sum(root, ((x - square.x) - square.y) / (2.0f * root));
}

// x * 2^n, rounded once. A step down keeps 24 bits, so only the last one rounds.
float ldexp_float(float x, int n) {
    if (n > 127) {
        x *= 0x1p127f;
        n -= 127;
        if (n > 127) {
            x *= 0x1p127f;
            n = min(n - 127, 127);
        }
    } else if (n < -126) {
        x *= 0x1p-102f;
        n += 102;
        if (n < -126) {
            x *= 0x1p-102f;
            n = max(n + 102, -126);
        }
    }
    return x * as_float((uint)(n + 127) << 23);
}

// The 24-bit significand of a finite nonzero number, with the first bit set, and the exponent of its last bit.
uint significand(float x, int *exponent) {
    uint bits = as_uint(x) & ~SIGN_BIT;
    uint fraction = bits & 0x7fffffu;
    int biased = (int)(bits >> 23);
    if (biased == 0) {
        int shift = (int)clz(fraction) - 8;
        *exponent = -149 - shift;
        return fraction << shift;
    }
    *exponent = biased - 150;
    return fraction | 0x800000u;
}

// Rounding modes.
#define TO_EVEN 0
#define TO_ZERO 1
#define AWAY 2

// value * 2^exponent as the bits, without sign, of a float with this precision and bias. The lowest bit of value can
// represent all lost bits.
ulong round_to(ulong value, int exponent, int mode, int digits, int bias) {
    if (value == 0) return 0;
    ulong infinity = (ulong)(2 * bias + 1) << (digits - 1);
    int least = 2 - bias - digits;
    int top = 63 - (int)clz(value) + exponent;
    if (top > bias) return mode == TO_ZERO ? infinity - 1 : infinity;
    int last = max(top - (digits - 1), least);
    int drop = last - exponent;
    ulong kept = drop > 63 ? 0 : drop > 0 ? value >> drop : value << -drop;
    if (drop > 0) {
        ulong rest = drop > 63 ? value : value & ((1ul << drop) - 1);
        ulong half_way = drop > 64 ? ~0ul : 1ul << (drop - 1);
        bool is_up = mode == TO_EVEN ? rest > half_way || (rest == half_way && (kept & 1) != 0)
                                     : mode == AWAY && rest != 0;
        kept += is_up ? 1 : 0;
    }
    // The leading bit of a normal number adds one to the exponent.
    return ((ulong)(last - least) << (digits - 1)) + kept;
}
uint round_to_float(ulong value, int exponent, int mode) {
    return (uint)round_to(value, exponent, mode, 24, 127);
}
#endif
