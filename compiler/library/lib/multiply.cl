// Products of integers (OpenCL C 6.15.3): their upper halves, sums with them, and products of 24 bits.
//
// Defines: mul_hi mad_hi mad_sat mad24 mul24
// Helps: mul_hi_ulong

// For types of at most 16 bits, in a 32-bit type W.
#define NARROW(T, W, LEAST, MOST, BITS)                                                                     \
    T mul_hi_##T(T x, T y) { return (T)(((W)x * (W)y) >> BITS); }                                            \
    T mad_hi_##T(T x, T y, T z) { return (T)(mul_hi_##T(x, y) + z); }                                        \
    T mad_sat_##T(T x, T y, T z) { return (T)clamp((W)x * (W)y + (W)z, (W)LEAST, (W)MOST); }
NARROW(char, int, CHAR_MIN, CHAR_MAX, 8)
NARROW(uchar, uint, 0, UCHAR_MAX, 8)
NARROW(short, int, SHRT_MIN, SHRT_MAX, 16)
NARROW(ushort, uint, 0, USHRT_MAX, 16)

uint mul_hi_uint(uint x, uint y) { return __kiln_umul_high(x, y); }
int mul_hi_int(int x, int y) { return (int)(((long)x * (long)y) >> 32); }

ulong mul_hi_ulong(ulong x, ulong y) { return __kiln_umul_high(x, y); }
// The unsigned product is too large by 2^64 times the other factor if one is negative.
long mul_hi_long(long x, long y) {
    ulong high = mul_hi_ulong((ulong)x, (ulong)y);
    return (long)(high - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
}

#define MAD_HI(T, U) \
    T mad_hi_##T(T x, T y, T z) { return (T)((U)mul_hi_##T(x, y) + (U)z); }
MAD_HI(int, uint)
MAD_HI(uint, uint)
MAD_HI(long, ulong)
MAD_HI(ulong, ulong)

int mad_sat_int(int x, int y, int z) {
    long exact = (long)x * y + z;
    return exact > INT_MAX ? INT_MAX : exact < INT_MIN ? INT_MIN : (int)exact;
}
uint mad_sat_uint(uint x, uint y, uint z) {
    uint low = x * y;
    return mul_hi_uint(x, y) != 0 || low > UINT_MAX - z ? UINT_MAX : low + z;
}
long mad_sat_long(long x, long y, long z) {
    ulong low = (ulong)x * (ulong)y;
    long high = mul_hi_long(x, y);
    ulong sum = low + (ulong)z;
    high += (z >> 63) + (sum < low ? 1 : 0);
    return high == ((long)sum >> 63) ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
ulong mad_sat_ulong(ulong x, ulong y, ulong z) {
    ulong low = x * y;
    return mul_hi_ulong(x, y) != 0 || low > ULONG_MAX - z ? ULONG_MAX : low + z;
}

// The result for arguments of more than 24 bits is undefined (OpenCL C 6.15.3), so the full product is correct.
int mul24_int(int x, int y) { return (int)((uint)x * (uint)y); }
uint mul24_uint(uint x, uint y) { return x * y; }
int mad24_int(int x, int y, int z) { return (int)((uint)x * (uint)y + (uint)z); }
uint mad24_uint(uint x, uint y, uint z) { return x * y + z; }
