// Functions of vendors' extensions: cl_amd_media_ops, cl_amd_media_ops2, and of GNU C.
//
// Defines: amd_bitalign amd_bytealign amd_lerp amd_sad amd_sadhi amd_sad4 amd_pack
// Defines: amd_unpack0 amd_unpack1 amd_unpack2 amd_unpack3 amd_max3 amd_min3 amd_median3 amd_bfe amd_bfm
// Defines: amd_msad amd_sadd amd_sadw amd_mqsad amd_qsad
// Defines: __builtin_popcount __builtin_popcountl __builtin_popcountll __builtin_parity __builtin_parityl
// Defines: __builtin_parityll __builtin_clz __builtin_clzl __builtin_clzll __builtin_ctz __builtin_ctzl
// Defines: __builtin_ctzll __builtin_ffs __builtin_ffsl __builtin_ffsll __builtin_bswap16 __builtin_bswap32
// Defines: __builtin_bswap64 __builtin_unreachable __builtin_rotateleft8 __builtin_rotateright8
// Defines: __builtin_rotateleft16 __builtin_rotateright16 __builtin_rotateleft32 __builtin_rotateright32
// Defines: __builtin_rotateleft64 __builtin_rotateright64
// Defines: __builtin_sadd_overflow __builtin_ssub_overflow __builtin_smul_overflow __builtin_saddl_overflow
// Defines: __builtin_ssubl_overflow __builtin_smull_overflow __builtin_saddll_overflow __builtin_ssubll_overflow
// Defines: __builtin_smulll_overflow __builtin_uadd_overflow __builtin_usub_overflow __builtin_umul_overflow
// Defines: __builtin_uaddl_overflow __builtin_usubl_overflow __builtin_umull_overflow __builtin_uaddll_overflow
// Defines: __builtin_usubll_overflow __builtin_umulll_overflow
// Defines: __builtin_add_overflow __builtin_sub_overflow __builtin_mul_overflow
// Defines: __kiln_add_overflow_char __kiln_sub_overflow_char __kiln_mul_overflow_char
// Defines: __kiln_add_overflow_uchar __kiln_sub_overflow_uchar __kiln_mul_overflow_uchar
// Defines: __kiln_add_overflow_short __kiln_sub_overflow_short __kiln_mul_overflow_short
// Defines: __kiln_add_overflow_ushort __kiln_sub_overflow_ushort __kiln_mul_overflow_ushort
// Defines: __kiln_add_overflow_int __kiln_sub_overflow_int __kiln_mul_overflow_int
// Defines: __kiln_add_overflow_uint __kiln_sub_overflow_uint __kiln_mul_overflow_uint
// Defines: __kiln_add_overflow_long __kiln_sub_overflow_long __kiln_mul_overflow_long
// Defines: __kiln_add_overflow_ulong __kiln_sub_overflow_ulong __kiln_mul_overflow_ulong

uint byte_of(uint x, uint index) { return x >> (8 * index) & 0xff; }
uint distance_of(uint a, uint b) { return a > b ? a - b : b - a; }

uint amd_bitalign_uint(uint high, uint low, uint by) {
    by &= 31;
    return by == 0 ? low : (high << (32 - by)) | (low >> by);
}
uint amd_bytealign_uint(uint high, uint low, uint by) { return amd_bitalign_uint(high, low, 8 * (by & 3)); }
uint amd_lerp_uint(uint a, uint b, uint rounding) {
    uint result = 0;
    for (uint i = 0; i < 4; i++) {
        result |= ((byte_of(a, i) + byte_of(b, i) + (byte_of(rounding, i) & 1)) >> 1) << (8 * i);
    }
    return result;
}
uint amd_sad_uint(uint a, uint b, uint sum) {
    for (uint i = 0; i < 4; i++) sum += distance_of(byte_of(a, i), byte_of(b, i));
    return sum;
}
uint amd_sadhi_uint(uint a, uint b, uint sum) { return (amd_sad_uint(a, b, 0) << 16) + sum; }
uint amd_sad4_uint4_uint4_uint(uint4 a, uint4 b, uint sum) {
    sum = amd_sad_uint(a.x, b.x, sum);
    sum = amd_sad_uint(a.y, b.y, sum);
    sum = amd_sad_uint(a.z, b.z, sum);
    return amd_sad_uint(a.w, b.w, sum);
}
uint amd_pack_float4(float4 v) {
    uint4 bytes = convert_uint4_sat_rte(clamp(v, 0.0f, 255.0f));
    return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}
float amd_unpack0_uint(uint x) { return (float)byte_of(x, 0); }
float amd_unpack1_uint(uint x) { return (float)byte_of(x, 1); }
float amd_unpack2_uint(uint x) { return (float)byte_of(x, 2); }
float amd_unpack3_uint(uint x) { return (float)byte_of(x, 3); }

#define OF_THREE(T, MIN, MAX)                                                    \
    T amd_max3_##T(T a, T b, T c) { return MAX(MAX(a, b), c); }                   \
    T amd_min3_##T(T a, T b, T c) { return MIN(MIN(a, b), c); }                   \
    T amd_median3_##T(T a, T b, T c) { return MAX(MIN(a, b), MIN(MAX(a, b), c)); }
OF_THREE(int, min, max)
OF_THREE(uint, min, max)
OF_THREE(float, fmin, fmax)

#define EXTRACT(T)                                                               \
    T amd_bfe_##T(T x, uint offset, uint width) {                                \
        offset &= 31;                                                            \
        width &= 31;                                                             \
        if (width == 0) return 0;                                                \
        if (offset + width < 32) return x << (32 - offset - width) >> (32 - width); \
        return x >> offset;                                                      \
    }
EXTRACT(int)
EXTRACT(uint)
uint amd_bfm_uint(uint width, uint offset) { return ((1u << (width & 31)) - 1) << (offset & 31); }

uint amd_msad_uint(uint a, uint b, uint sum) {
    for (uint i = 0; i < 4; i++) sum += byte_of(b, i) == 0 ? 0 : distance_of(byte_of(a, i), byte_of(b, i));
    return sum;
}
uint amd_sadd_uint(uint a, uint b, uint sum) { return sum + distance_of(a, b); }
uint amd_sadw_uint(uint a, uint b, uint sum) {
    return sum + distance_of(a & 0xffff, b & 0xffff) + distance_of(a >> 16, b >> 16);
}
// Four 16-bit sums, for the windows that start at each of four bytes.
#define WINDOWS(NAME, SAD)                                                       \
    ulong NAME##_ulong(ulong a, uint b, ulong sums) {                            \
        ulong result = 0;                                                        \
        for (uint i = 0; i < 4; i++) {                                           \
            uint sum = SAD((uint)(a >> (8 * i)), b, (uint)(sums >> (16 * i)) & 0xffff); \
            result |= (ulong)(sum & 0xffff) << (16 * i);                         \
        }                                                                        \
        return result;                                                           \
    }
WINDOWS(amd_qsad, amd_sad_uint)
WINDOWS(amd_mqsad, amd_msad_uint)

// For the integer types of GNU C's functions. `clz` and `ctz` of zero are undefined there.
#define GNU(SUFFIX, U, T)                                                                                   \
    int __builtin_popcount##SUFFIX##_##U(U x) { return popcount(x); }                                        \
    int __builtin_parity##SUFFIX##_##U(U x) { return popcount(x) & 1; }                                      \
    int __builtin_clz##SUFFIX##_##U(U x) { return clz(x); }                                                  \
    int __builtin_ctz##SUFFIX##_##U(U x) { return popcount(~x & (x - 1)); }                                  \
    int __builtin_ffs##SUFFIX##_##T(T x) { return x == 0 ? 0 : 1 + popcount(~(U)x & ((U)x - 1)); }
GNU(, uint, int)
GNU(l, ulong, long)
GNU(ll, ulong, long)

#define ROTATE(T, BITS)                                                                                      \
    T __builtin_rotateleft##BITS##_##T(T x, T count) { return rotate(x, count); }                            \
    T __builtin_rotateright##BITS##_##T(T x, T count) { return rotate(x, (T)(BITS - (count & (BITS - 1)))); }
ROTATE(uchar, 8)
ROTATE(ushort, 16)
ROTATE(uint, 32)
ROTATE(ulong, 64)

ushort __builtin_bswap16_ushort(ushort x) { return (ushort)((x << 8) | (x >> 8)); }
uint __builtin_bswap32_uint(uint x) {
    return (x << 24) | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | (x >> 24);
}
ulong __builtin_bswap64_ulong(ulong x) {
    return (ulong)__builtin_bswap32_uint((uint)x) << 32 | __builtin_bswap32_uint((uint)(x >> 32));
}

// Stores the wrapped result, and returns whether it overflowed.
#define SIGNED_OVERFLOW(SUFFIX, T, U, BITS)                                                                 \
    bool __builtin_sadd##SUFFIX##_overflow_##T(T x, T y, T *sum) {                                           \
        *sum = (T)((U)x + (U)y);                                                                             \
        return ((x ^ *sum) & (y ^ *sum)) < 0;                                                                \
    }                                                                                                        \
    bool __builtin_ssub##SUFFIX##_overflow_##T(T x, T y, T *difference) {                                    \
        *difference = (T)((U)x - (U)y);                                                                      \
        return ((x ^ y) & (x ^ *difference)) < 0;                                                            \
    }                                                                                                        \
    bool __builtin_smul##SUFFIX##_overflow_##T(T x, T y, T *product) {                                       \
        *product = (T)((U)x * (U)y);                                                                         \
        return mul_hi(x, y) != *product >> (BITS - 1);                                                       \
    }
SIGNED_OVERFLOW(, int, uint, 32)
SIGNED_OVERFLOW(l, long, ulong, 64)
SIGNED_OVERFLOW(ll, long, ulong, 64)

#define UNSIGNED_OVERFLOW(SUFFIX, T)                                                                        \
    bool __builtin_uadd##SUFFIX##_overflow_##T(T x, T y, T *sum) { return (*sum = x + y) < x; }              \
    bool __builtin_usub##SUFFIX##_overflow_##T(T x, T y, T *difference) {                                    \
        *difference = x - y;                                                                                 \
        return x < y;                                                                                        \
    }                                                                                                        \
    bool __builtin_umul##SUFFIX##_overflow_##T(T x, T y, T *product) {                                       \
        *product = x * y;                                                                                    \
        return mul_hi(x, y) != 0;                                                                            \
    }
UNSIGNED_OVERFLOW(, uint)
UNSIGNED_OVERFLOW(l, ulong)
UNSIGNED_OVERFLOW(ll, ulong)

// The same for operands and results of any types. A sum of operands of fewer than 32 bits fits into `int`.
#define SMALL_OVERFLOW(T)                                                                                   \
    bool __builtin_add_overflow_##T(T x, T y, T *sum) { return (*sum = (T)(x + y)) != x + y; }               \
    bool __builtin_sub_overflow_##T(T x, T y, T *difference) { return (*difference = (T)(x - y)) != x - y; }
SMALL_OVERFLOW(char)
SMALL_OVERFLOW(uchar)
SMALL_OVERFLOW(short)
SMALL_OVERFLOW(ushort)
bool __builtin_mul_overflow_char(char x, char y, char *product) { return (*product = (char)(x * y)) != x * y; }
bool __builtin_mul_overflow_uchar(uchar x, uchar y, uchar *product) {
    return (*product = (uchar)(x * y)) != x * y;
}
bool __builtin_mul_overflow_short(short x, short y, short *product) {
    return (*product = (short)(x * y)) != x * y;
}
bool __builtin_mul_overflow_ushort(ushort x, ushort y, ushort *product) {
    return (*product = (ushort)((uint)x * y)) != (uint)x * y;
}

#define LARGE_OVERFLOW(T, S, L)                                                                             \
    bool __builtin_add_overflow_##T(T x, T y, T *sum) { return __builtin_##S##add##L##_overflow_##T(x, y, sum); } \
    bool __builtin_sub_overflow_##T(T x, T y, T *difference) {                                               \
        return __builtin_##S##sub##L##_overflow_##T(x, y, difference);                                       \
    }                                                                                                        \
    bool __builtin_mul_overflow_##T(T x, T y, T *product) {                                                  \
        return __builtin_##S##mul##L##_overflow_##T(x, y, product);                                          \
    }
LARGE_OVERFLOW(int, s, )
LARGE_OVERFLOW(uint, u, )
LARGE_OVERFLOW(long, s, l)
LARGE_OVERFLOW(ulong, u, l)

// The bits over the lowest 64 of an operand. Bit `index` of `mask` says whether it is signed.
long high_of(long x, int mask, int index) { return mask >> index & 1 ? x >> 63 : 0; }

// Whether an integer of two words is in the range of a type of at most 64 bits, by its lowest and highest value.
bool is_in_range(ulong low, long high, long least, ulong most) {
    return high == 0 ? low <= most : high == -1 && (long)low < 0 && (long)low >= least;
}

// Operands of different types. `mask` is a constant.
#define MIXED_OVERFLOW(T, LEAST, MOST)                                                                      \
    bool __kiln_add_overflow_##T##_long(long x, long y, int mask, T *sum) {                                  \
        ulong low = (ulong)x + (ulong)y;                                                                     \
        *sum = (T)low;                                                                                       \
        long high = high_of(x, mask, 0) + high_of(y, mask, 1) + (low < (ulong)x);                            \
        return !is_in_range(low, high, LEAST, MOST);                                                         \
    }                                                                                                        \
    bool __kiln_sub_overflow_##T##_long(long x, long y, int mask, T *difference) {                           \
        ulong low = (ulong)x - (ulong)y;                                                                     \
        *difference = (T)low;                                                                                \
        long high = high_of(x, mask, 0) - high_of(y, mask, 1) - ((ulong)x < (ulong)y);                       \
        return !is_in_range(low, high, LEAST, MOST);                                                         \
    }                                                                                                        \
    bool __kiln_mul_overflow_##T##_long(long x, long y, int mask, T *product) {                              \
        ulong a = high_of(x, mask, 0) < 0 ? -(ulong)x : x, b = high_of(y, mask, 1) < 0 ? -(ulong)y : y;      \
        *product = (T)((ulong)x * (ulong)y);                                                                             \
        bool is_negative = high_of(x, mask, 0) != high_of(y, mask, 1);                                       \
        return mul_hi(a, b) != 0 || a * b > (is_negative ? -(ulong)LEAST : MOST);                            \
    }
MIXED_OVERFLOW(char, CHAR_MIN, CHAR_MAX)
MIXED_OVERFLOW(uchar, 0L, UCHAR_MAX)
MIXED_OVERFLOW(short, SHRT_MIN, SHRT_MAX)
MIXED_OVERFLOW(ushort, 0L, USHRT_MAX)
MIXED_OVERFLOW(int, INT_MIN, INT_MAX)
MIXED_OVERFLOW(uint, 0L, UINT_MAX)
MIXED_OVERFLOW(long, LONG_MIN, LONG_MAX)
MIXED_OVERFLOW(ulong, 0L, ULONG_MAX)

void __builtin_unreachable_(void) {}
