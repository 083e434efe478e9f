// Functions of half that are not rounded results of float: neighbors, and functions that round once (cl_khr_fp16).
//
// Defines: copysign fma nextafter fract nan
#include "exact.cl"

#define QUIET_NAN as_half((ushort)0x7e00)

// The product is exact in float. The sum, whose lowest bit represents the lost bits, rounds like the exact one.
half fma_half(half a, half b, half c) {
    float product = (float)a * (float)b;
    float2 sum = two_sum(product, (float)c);
    uint bits = as_uint(sum.x);
    bool is_exact = sum.y == 0.0f || (bits & INFINITE) == INFINITE;
    if (!is_exact && (bits & 1) == 0) bits = (as_uint(sum.y) ^ bits) >> 31 == 0 ? bits + 1 : bits - 1;
    return (half)as_float(bits);
}
// On bits, because a conversion to float and back loses the sign of a NaN.
half copysign_half(half x, half y) { return as_half((ushort)((as_ushort(x) & 0x7fff) | (as_ushort(y) & 0x8000))); }
half nextafter_half(half x, half y) {
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    ushort a = as_ushort(x), b = as_ushort(y), size_a = a & 0x7fff, size_b = b & 0x7fff;
    if (a == b || (size_a == 0 && size_b == 0)) return y;
    if (size_a == 0) return as_half((ushort)((b & 0x8000) | 1));
    bool is_inward = ((a ^ b) & 0x8000) != 0 || size_b < size_a;
    return as_half((ushort)(is_inward ? a - 1 : a + 1));
}
half fract_half(half x, half *whole) {
    // Drivers may flush a denormal operand, which is a normal number as a float.
    *whole = (half)floor((float)x);
    ushort sign = as_ushort(x) & 0x8000;
    if (isnan(x) || (as_ushort(x) & 0x7fff) == 0) return x;
    if (isinf(x)) return as_half(sign);
    return fmin(x - *whole, (half)0x1.ffcp-1f);
}
half nan_ushort(ushort code) { return as_half((ushort)(0x7e00 | (code & 0x1ff))); }
