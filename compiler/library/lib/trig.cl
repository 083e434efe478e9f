// Circular functions of float (OpenCL C 6.15.2). Arguments are reduced by Payne and Hanek's method (1983): the bits
// of 2/pi that are significant for the argument's exponent, multiplied by its significand, give the quadrant and the
// fraction in it with an error of at most 2^-64, for any argument.
//
// Defines: sin cos tan sincos sinpi cospi tanpi half_sin half_cos half_tan
// Helps: sinpi_float reduce_circle_exactly
#ifndef TRIG_CL
#define TRIG_CL
#include "exact.cl"

// 128 bits of 2/pi from bit 32 * `index`, after 32 zeros before the point.
uint4 two_over_pi(uint index) {
    switch (index) {
    case 0: return (uint4)(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u);
    case 1: return (uint4)(0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
    case 2: return (uint4)(0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
    case 3: return (uint4)(0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
    default: return (uint4)(0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
    }
}

// r = x - n pi/2 as a sum for a finite x of at least pi/4, |r| <= pi/4, and n modulo 4.
float2 reduce_circle_exactly(float x, uint *quadrant) {
    float size = fabs(x);
    uint m = (as_uint(size) & 0x7fffffu) | 0x800000u;
    uint first = (as_uint(size) >> 23) - 120;
    uint index = first >> 5, shift = first & 31;
    uint4 words = two_over_pi(index);
    uint a = words.x, b = words.y, c = words.z;
    if (shift != 0) {
        a = (a << shift) | (b >> (32 - shift));
        b = (b << shift) | (c >> (32 - shift));
        c = (c << shift) | (words.w >> (32 - shift));
    }
    // The product modulo 2^96: two bits of quadrant, 94 of fraction.
    ulong low = (ulong)m * c;
    ulong middle = (ulong)m * b + (low >> 32);
    uint high = m * a + (uint)(middle >> 32);
    ulong bits = ((ulong)high << 32) | (uint)middle;
    long fraction = (long)((bits << 2) | ((uint)low >> 30));
    uint n = (high >> 30) + (fraction < 0 ? 1 : 0);
    ulong magnitude = (ulong)(fraction < 0 ? -fraction : fraction);
    if (magnitude == 0) magnitude = 1;
    int zeros = (int)clz(magnitude);
    magnitude <<= zeros;
    // 2^(-24 - zeros) and 2^(-48 - zeros) are normal numbers.
    float upper = (float)(uint)(magnitude >> 40) * as_float((uint)(103 - zeros) << 23);
    float lower = (float)((uint)(magnitude >> 16) & 0xffffffu) * as_float((uint)(79 - zeros) << 23);
    float2 r = two_product(upper, 0x1.921fb6p+0f);
    r = fast_two_sum(r.x, r.y + (lower * 0x1.921fb6p+0f - upper * 4.37113900019e-8f));
    bool is_negative = (fraction < 0) != (x < 0.0f);
    *quadrant = (x < 0.0f ? 4 - n : n) & 3;
    return is_negative ? -r : r;
}

// The same for every finite x. Up to 512, with Cody and Waite's reduction: pi/2 is a sum of numbers of 15 bits, whose products with
// the 9 bits of n are exact.
float2 reduce_circle(float x, uint *quadrant) {
    if (!(fabs(x) <= 512.0f)) return reduce_circle_exactly(x, quadrant);
    float n = rint(x * 0.636619772f);
    *quadrant = (uint)(int)n & 3;
    float2 r = two_sum(x - n * 0x1.921cp+0f, n * -0x1.daap-15f);
    return fast_two_sum(r.x, (r.y - n * 0x1.10b4p-30f) - n * 0x1.84698ap-48f);
}

float sin_part(float2 r) {
    float z = r.x * r.x;
    float tail = 2.755731922e-6f;
    tail = mul_add(tail, z, -1.984126984e-4f);
    tail = mul_add(tail, z, 8.333333333e-3f);
    tail = mul_add(tail, z, -0.1666666667f);
    return r.x + (r.x * z * tail + r.y * (1.0f - 0.5f * z));
}
float cos_part(float2 r) {
    float z = r.x * r.x;
    float tail = -2.755731922e-7f;
    tail = mul_add(tail, z, 2.48015873e-5f);
    tail = mul_add(tail, z, -1.388888889e-3f);
    tail = mul_add(tail, z, 4.166666667e-2f);
    float2 head = fast_two_sum(1.0f, -0.5f * z);
    return head.x + (head.y + (z * z * tail - r.x * r.y));
}

// The sine and cosine of r + quadrant pi/2.
float turned_sin(float2 r, uint quadrant) {
    float value = (quadrant & 1) != 0 ? cos_part(r) : sin_part(r);
    return (quadrant & 2) != 0 ? -value : value;
}
float turned_tan(float2 r, uint quadrant) {
    float s = sin_part(r), c = cos_part(r);
    return (quadrant & 1) != 0 ? -c / s : s / c;
}

bool is_endless(float x) { return (as_uint(x) & INFINITE) == INFINITE; }

float sin_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    if (fabs(x) < 0x1p-13f) return x;
    uint quadrant;
    float2 r = reduce_circle(x, &quadrant);
    return turned_sin(r, quadrant);
}
float cos_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    uint quadrant;
    float2 r = reduce_circle(x, &quadrant);
    return turned_sin(r, quadrant + 1);
}
float tan_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    if (fabs(x) < 0x1p-13f) return x;
    uint quadrant;
    float2 r = reduce_circle(x, &quadrant);
    return turned_tan(r, quadrant);
}
float sincos_float(float x, float *cosine) {
    *cosine = cos_float(x);
    return sin_float(x);
}

// r = pi (x - n/2) as a sum for a finite x, and n modulo 4.
float2 reduce_half_turns(float x, uint *quadrant) {
    x -= 2.0f * trunc(0.5f * x);
    float n = rint(2.0f * x);
    x -= 0.5f * n;
    *quadrant = (uint)(int)n & 3;
    float2 r = two_product(x, 0x1.921fb6p+1f);
    return fast_two_sum(r.x, r.y - x * 8.74227800037e-8f);
}
float sinpi_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    if (x == trunc(x)) return copysign_float(0.0f, x);
    if (fabs(x) < 0x1p-100f) return x * 0x1.921fb6p+1f;
    uint quadrant;
    float2 r = reduce_half_turns(x, &quadrant);
    return turned_sin(r, quadrant);
}
float cospi_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    float twice = x - 2.0f * trunc(0.5f * x);
    if (fabs(twice) == 0.5f || fabs(twice) == 1.5f) return 0.0f;
    if (fabs(x) < 0x1p-40f) return 1.0f;
    uint quadrant;
    float2 r = reduce_half_turns(x, &quadrant);
    return turned_sin(r, quadrant + 1);
}
float tanpi_float(float x) {
    if (is_endless(x)) return as_float(0x7fc00000u);
    if (fabs(x) < 0x1p-100f) return x * 0x1.921fb6p+1f;
    bool is_odd = fabs(x) < 0x1p24f && ((int)floor(x) & 1) != 0;
    if (x == trunc(x)) return copysign_float(0.0f, is_odd ? -x : x);
    if (fabs(x - trunc(x)) == 0.5f) return as_float(is_odd ? INFINITE | SIGN_BIT : INFINITE);
    uint quadrant;
    float2 r = reduce_half_turns(x, &quadrant);
    return turned_tan(r, quadrant);
}

float half_sin_float(float x) { return sin_float(x); }
float half_cos_float(float x) { return cos_float(x); }
float half_tan_float(float x) { return tan_float(x); }
#endif
