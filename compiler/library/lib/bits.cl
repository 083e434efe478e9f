// Bits of integers (OpenCL C 6.15.3 and cl_khr_extended_bit_ops): counts, rotations, fields. Narrow types compute in
// 32 bits.
//
// Defines: clz ctz popcount rotate bitfield_insert bitfield_extract_signed bitfield_extract_unsigned bit_reverse

// For every type T of this width, with the unsigned type U and the signed type S.
#define EVERY(T, U, S, BITS)                                                                                \
    T rotate_##T(T x, T y) {                                                                                 \
        uint n = (uint)y & (BITS - 1);                                                                       \
        return (T)(U)(((U)x << n) | ((U)x >> ((BITS - n) & (BITS - 1))));                                    \
    }                                                                                                        \
    T bitfield_insert_##T(T base, T insert, uint offset, uint count) {                                       \
        U mask = (U)((U)(count < BITS ? (U)(((U)1 << count) - 1) : (U)~(U)0) << offset);                     \
        return count == 0 ? base : (T)(((U)base & (U)~mask) | ((U)((U)insert << offset) & mask));            \
    }                                                                                                        \
    U bitfield_extract_unsigned_##T(T base, uint offset, uint count) {                                       \
        return count == 0 ? (U)0 : (U)((U)((U)base << (BITS - offset - count)) >> (BITS - count));           \
    }                                                                                                        \
    S bitfield_extract_signed_##T(T base, uint offset, uint count) {                                         \
        return count == 0 ? (S)0 : (S)((S)(U)((U)base << (BITS - offset - count)) >> (BITS - count));        \
    }
EVERY(char, uchar, char, 8)
EVERY(uchar, uchar, char, 8)
EVERY(short, ushort, short, 16)
EVERY(ushort, ushort, short, 16)
EVERY(int, uint, int, 32)
EVERY(uint, uint, int, 32)
EVERY(long, ulong, long, 64)
EVERY(ulong, ulong, long, 64)

uint popcount_uint(uint x) { return __kiln_bit_count(x); }
ulong popcount_ulong(ulong x) { return popcount_uint((uint)x) + popcount_uint((uint)(x >> 32)); }

uint clz_uint(uint x) { return 31 - __kiln_find_msb(x); }
ulong clz_ulong(ulong x) {
    uint high = (uint)(x >> 32);
    return high != 0 ? clz_uint(high) : 32 + clz_uint((uint)x);
}
uint ctz_uint(uint x) { return popcount_uint(~x & (x - 1)); }
ulong ctz_ulong(ulong x) { return popcount_ulong(~x & (x - 1)); }

uint bit_reverse_uint(uint x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    return (x >> 16) | (x << 16);
}
ulong bit_reverse_ulong(ulong x) {
    return ((ulong)bit_reverse_uint((uint)x) << 32) | bit_reverse_uint((uint)(x >> 32));
}

// Counts of narrow types, from the 32-bit ones.
#define COUNT_NARROW(T, U, BITS)                                                                            \
    T popcount_##T(T x) { return (T)popcount_uint((U)x); }                                                   \
    T clz_##T(T x) { return (T)(clz_uint((U)x) - (32 - BITS)); }                                             \
    T ctz_##T(T x) { return (T)ctz_uint((uint)(U)x | (1u << BITS)); }                                        \
    T bit_reverse_##T(T x) { return (T)(U)(bit_reverse_uint((U)x) >> (32 - BITS)); }
COUNT_NARROW(char, uchar, 8)
COUNT_NARROW(uchar, uchar, 8)
COUNT_NARROW(short, ushort, 16)
COUNT_NARROW(ushort, ushort, 16)

#define COUNT_SIGNED(T, U)                                                                                  \
    T popcount_##T(T x) { return (T)popcount_##U((U)x); }                                                    \
    T clz_##T(T x) { return (T)clz_##U((U)x); }                                                              \
    T ctz_##T(T x) { return (T)ctz_##U((U)x); }                                                              \
    T bit_reverse_##T(T x) { return (T)bit_reverse_##U((U)x); }
COUNT_SIGNED(int, uint)
COUNT_SIGNED(long, ulong)
