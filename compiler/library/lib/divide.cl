// Quotients of 64-bit integers, for drivers that divide them wrongly.
//
// Defines: divide divide_by
// Types: ulong long
#include "multiply.cl"

// floor(2^64 / y), or 1 less. `estimate` is 2^64 / y with a relative error of at most 2^-19, and never more than that. Each
// Newton step squares the relative error and keeps the sign, so that z * y never exceeds 2^64. Where y is 0, any result will do.
ulong reciprocal(ulong y) {
    float divisor = (float)(uint)(y >> 32) * 0x1p32f + (float)(uint)y;
    float estimate = 0x1.ffffep+63f / (divisor > 0.0f ? divisor : 1.0f);
    uint high = (uint)(estimate * 0x1p-32f);
    ulong z = ((ulong)high << 32) + (uint)(estimate - (float)high * 0x1p32f);
    z += mul_hi_ulong(z, 0 - y * z);
    z += mul_hi_ulong(z, 0 - y * z);
    return z;
}

ulong divide_ulong(ulong x, ulong y) {
    if ((x | y) >> 32 == 0) return (uint)x / (uint)y;
    ulong quotient = mul_hi_ulong(x, reciprocal(y));
    ulong rest = x - quotient * y;
    // The reciprocal is too small by less than 2, and its product with x was cut off: at most 2 are missing.
    if (rest >= y) {
        quotient++;
        rest -= y;
    }
    return rest >= y ? quotient + 1 : quotient;
}
long divide_long(long x, long y) {
    ulong quotient = divide_ulong(x < 0 ? 0 - (ulong)x : (ulong)x, y < 0 ? 0 - (ulong)y : (ulong)y);
    return (long)((x < 0) != (y < 0) ? 0 - quotient : quotient);
}

// `z` is floor(2^64 / y): at most 1 is missing.
ulong divide_by_ulong(ulong x, ulong y, ulong z) {
    ulong quotient = mul_hi_ulong(x, z);
    return x - quotient * y >= y ? quotient + 1 : quotient;
}
