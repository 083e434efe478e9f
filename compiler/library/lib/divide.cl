// Quotients of 64-bit integers, for drivers that divide them incorrectly.
//
// Defines: divide divide_by
// Types: ulong long
#include "multiply.cl"

// floor(2^64 / y), or 1 less. `estimate` is 2^64 / y with a relative error of at most 2^-19, and never too large. Each
// Newton step squares the relative error and keeps the sign, so z * y never exceeds 2^64. If y is 0, the result is arbitrary.
ulong reciprocal(ulong y) {
    float divisor = (float)(uint)(y >> 32) * 0x1p32f + (float)(uint)y;
    float estimate = 0x1.ffffep+63f / (divisor > 0.0f ? divisor : 1.0f);
    uint high = (uint)(estimate * 0x1p-32f);
    ulong z = ((ulong)high << 32) + (uint)(estimate - (float)high * 0x1p32f);
    z += mul_hi_ulong(z, 0 - y * z);
    z += mul_hi_ulong(z, 0 - y * z);
    return z;
}

// Without a shorter way for operands of 32 bits: a branch to one made a random program wrong (`DriverBug::ExpandInt64Division`).
ulong divide_ulong(ulong x, ulong y) {
    ulong quotient = mul_hi_ulong(x, reciprocal(y));
    ulong rest = x - quotient * y;
    // The reciprocal is too small by less than 2, and its product with x was truncated: the quotient is too small by at most 2.
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

// `z` is floor(2^64 / y): the quotient is too small by at most 1.
ulong divide_by_ulong(ulong x, ulong y, ulong z) {
    ulong quotient = mul_hi_ulong(x, z);
    return x - quotient * y >= y ? quotient + 1 : quotient;
}
