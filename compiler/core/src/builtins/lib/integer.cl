// Integer functions (OpenCL C 6.15.3) of every width, and the extensions cl_khr_extended_bit_ops,
// cl_khr_integer_dot_product and cl_arm_integer_dot_product_*. Narrow types compute in 32 bits, where nothing overflows.
//
// Defines: abs abs_diff add_sat sub_sat hadd rhadd mul_hi mad_hi mad_sat clz ctz popcount rotate mad24 mul24
// Defines: upsample bitfield_insert bitfield_extract_signed bitfield_extract_unsigned bit_reverse
// Defines: dot dot_acc_sat dot_4x8packed_uu_uint dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int
// Defines: dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int
// Defines: dot_acc_sat_4x8packed_su_int __builtin_expect __builtin_assume arm_dot arm_dot_acc arm_dot_acc_sat

// Of every type T, unsigned U, of so many bits.
#define EVERY(T, U, BITS)                                                                                   \
    U abs_diff_##T(T x, T y) { return x > y ? (U)((U)x - (U)y) : (U)((U)y - (U)x); }                         \
    T hadd_##T(T x, T y) { return (T)((x & y) + ((x ^ y) >> 1)); }                                           \
    T rhadd_##T(T x, T y) { return (T)((x | y) - ((x ^ y) >> 1)); }                                          \
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
    T __builtin_expect_##T(T x, T y) { return x; }
EVERY(char, uchar, 8)
EVERY(uchar, uchar, 8)
EVERY(short, ushort, 16)
EVERY(ushort, ushort, 16)
EVERY(int, uint, 32)
EVERY(uint, uint, 32)
EVERY(long, ulong, 64)
EVERY(ulong, ulong, 64)

#define SIGNED(T, U, BITS)                                                                                  \
    U abs_##T(T x) { return x < 0 ? (U)((U)0 - (U)x) : (U)x; }                                               \
    T bitfield_extract_signed_##T(T base, uint offset, uint count) {                                         \
        return count == 0 ? (T)0 : (T)((T)(U)((U)base << (BITS - offset - count)) >> (BITS - count));        \
    }
SIGNED(char, uchar, 8)
SIGNED(short, ushort, 16)
SIGNED(int, uint, 32)
SIGNED(long, ulong, 64)

#define UNSIGNED(T, I, BITS)                                                                                \
    T abs_##T(T x) { return x; }                                                                             \
    I bitfield_extract_signed_##T(T base, uint offset, uint count) {                                         \
        return count == 0 ? (I)0 : (I)((I)(T)(base << (BITS - offset - count)) >> (BITS - count));           \
    }
UNSIGNED(uchar, char, 8)
UNSIGNED(ushort, short, 16)
UNSIGNED(uint, int, 32)
UNSIGNED(ulong, long, 64)

// What is at most 16 bits wide, in a type W of 32.
#define NARROW(T, W, LEAST, MOST, BITS)                                                                     \
    T add_sat_##T(T x, T y) { return (T)clamp((int)x + (int)y, (int)LEAST, (int)MOST); }                     \
    T sub_sat_##T(T x, T y) { return (T)clamp((int)x - (int)y, (int)LEAST, (int)MOST); }                     \
    T mul_hi_##T(T x, T y) { return (T)(((W)x * (W)y) >> BITS); }                                            \
    T mad_hi_##T(T x, T y, T z) { return (T)(mul_hi_##T(x, y) + z); }                                        \
    T mad_sat_##T(T x, T y, T z) { return (T)clamp((W)x * (W)y + (W)z, (W)LEAST, (W)MOST); }
NARROW(char, int, CHAR_MIN, CHAR_MAX, 8)
NARROW(uchar, uint, 0, UCHAR_MAX, 8)
NARROW(short, int, SHRT_MIN, SHRT_MAX, 16)
NARROW(ushort, uint, 0, USHRT_MAX, 16)

#define WIDE_SIGNED(T, U, LEAST, MOST)                                                                      \
    T add_sat_##T(T x, T y) {                                                                                \
        T sum = (T)((U)x + (U)y);                                                                            \
        return ((x ^ sum) & (y ^ sum)) < 0 ? (x < 0 ? LEAST : MOST) : sum;                                   \
    }                                                                                                        \
    T sub_sat_##T(T x, T y) {                                                                                \
        T difference = (T)((U)x - (U)y);                                                                     \
        return ((x ^ y) & (x ^ difference)) < 0 ? (x < 0 ? LEAST : MOST) : difference;                       \
    }
WIDE_SIGNED(int, uint, INT_MIN, INT_MAX)
WIDE_SIGNED(long, ulong, LONG_MIN, LONG_MAX)

#define WIDE_UNSIGNED(T, MOST)                                                                              \
    T add_sat_##T(T x, T y) { return x > MOST - y ? MOST : x + y; }                                          \
    T sub_sat_##T(T x, T y) { return x < y ? 0 : x - y; }
WIDE_UNSIGNED(uint, UINT_MAX)
WIDE_UNSIGNED(ulong, ULONG_MAX)

uint mul_hi_uint(uint x, uint y) { return (uint)(((ulong)x * (ulong)y) >> 32); }
int mul_hi_int(int x, int y) { return (int)(((long)x * (long)y) >> 32); }

ulong mul_hi_ulong(ulong x, ulong y) {
    ulong low_x = (uint)x, high_x = x >> 32, low_y = (uint)y, high_y = y >> 32;
    ulong low = low_x * low_y;
    ulong middle = high_x * low_y + (low >> 32);
    ulong other = low_x * high_y + (uint)middle;
    return high_x * high_y + (middle >> 32) + (other >> 32);
}
// The product of bit patterns is too large by 2^64 times the other factor where one is negative.
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
    ulong exact = (ulong)x * y + z;
    return exact > UINT_MAX ? UINT_MAX : (uint)exact;
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

uint popcount_uint(uint x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (x * 0x01010101u) >> 24;
}
ulong popcount_ulong(ulong x) { return popcount_uint((uint)x) + popcount_uint((uint)(x >> 32)); }

// Fills every bit below the highest one.
uint clz_uint(uint x) {
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return 32 - popcount_uint(x);
}
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

// Counts of narrow types from those of 32 bits.
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

// Arguments of more than 24 bits have no defined result (OpenCL C 6.15.3), so the whole product will do.
int mul24_int(int x, int y) { return (int)((uint)x * (uint)y); }
uint mul24_uint(uint x, uint y) { return x * y; }
int mad24_int(int x, int y, int z) { return (int)((uint)x * (uint)y + (uint)z); }
uint mad24_uint(uint x, uint y, uint z) { return x * y + z; }

short upsample_char(char high, uchar low) { return (short)(((ushort)(uchar)high << 8) | low); }
ushort upsample_uchar(uchar high, uchar low) { return (ushort)(((ushort)high << 8) | low); }
int upsample_short(short high, ushort low) { return (int)(((uint)(ushort)high << 16) | low); }
uint upsample_ushort(ushort high, ushort low) { return ((uint)high << 16) | low; }
long upsample_int(int high, uint low) { return (long)(((ulong)(uint)high << 32) | low); }
ulong upsample_uint(uint high, uint low) { return ((ulong)high << 32) | low; }

// Products of four signed or unsigned bytes, as unsigned words hold them.
uint dot_4x8packed_uu_uint_uint(uint a, uint b) {
    return (a & 0xff) * (b & 0xff) + ((a >> 8) & 0xff) * ((b >> 8) & 0xff)
         + ((a >> 16) & 0xff) * ((b >> 16) & 0xff) + (a >> 24) * (b >> 24);
}
int dot_4x8packed_ss_int_uint(uint a, uint b) {
    return ((int)(a << 24) >> 24) * ((int)(b << 24) >> 24) + ((int)(a << 16) >> 24) * ((int)(b << 16) >> 24)
         + ((int)(a << 8) >> 24) * ((int)(b << 8) >> 24) + ((int)a >> 24) * ((int)b >> 24);
}
int dot_4x8packed_us_int_uint(uint a, uint b) {
    return (int)(a & 0xff) * ((int)(b << 24) >> 24) + (int)((a >> 8) & 0xff) * ((int)(b << 16) >> 24)
         + (int)((a >> 16) & 0xff) * ((int)(b << 8) >> 24) + (int)(a >> 24) * ((int)b >> 24);
}
int dot_4x8packed_su_int_uint(uint a, uint b) { return dot_4x8packed_us_int_uint(b, a); }

uint dot_acc_sat_4x8packed_uu_uint_uint(uint a, uint b, uint c) {
    return add_sat_uint(dot_4x8packed_uu_uint_uint(a, b), c);
}
int dot_acc_sat_4x8packed_ss_int_uint(uint a, uint b, int c) {
    return add_sat_int(dot_4x8packed_ss_int_uint(a, b), c);
}
int dot_acc_sat_4x8packed_us_int_uint(uint a, uint b, int c) {
    return add_sat_int(dot_4x8packed_us_int_uint(a, b), c);
}
int dot_acc_sat_4x8packed_su_int_uint(uint a, uint b, int c) {
    return add_sat_int(dot_4x8packed_us_int_uint(b, a), c);
}

uint dot_uchar4_uchar4(uchar4 a, uchar4 b) {
    return (uint)a.x * b.x + (uint)a.y * b.y + (uint)a.z * b.z + (uint)a.w * b.w;
}
#define DOT(A, B) \
    int dot_##A##_##B(A a, B b) { return (int)a.x * b.x + (int)a.y * b.y + (int)a.z * b.z + (int)a.w * b.w; }
DOT(char4, char4)
DOT(uchar4, char4)
DOT(char4, uchar4)
uint dot_acc_sat_uchar4_uchar4_uint(uchar4 a, uchar4 b, uint c) { return add_sat_uint(dot_uchar4_uchar4(a, b), c); }
#define DOT_ACC_SAT(A, B) \
    int dot_acc_sat_##A##_##B##_int(A a, B b, int c) { return add_sat_int(dot_##A##_##B(a, b), c); }
DOT_ACC_SAT(char4, char4)
DOT_ACC_SAT(uchar4, char4)
DOT_ACC_SAT(char4, uchar4)

// The same under the names of cl_arm_integer_dot_product_*, and sums of two products of 16 bits.
#define ARM_DOT(T, V, R)                                                                                    \
    R arm_dot_##V##4_##V##4(V##4 a, V##4 b) { return dot_##V##4_##V##4(a, b); }                              \
    R arm_dot_acc_##V##4_##V##4_##R(V##4 a, V##4 b, R c) { return dot_##V##4_##V##4(a, b) + c; }             \
    R arm_dot_acc_sat_##V##4_##V##4_##R(V##4 a, V##4 b, R c) { return dot_acc_sat_##V##4_##V##4_##R(a, b, c); } \
    R arm_dot_acc_##T##2_##T##2_##R(T##2 a, T##2 b, R c) { return (R)a.x * b.x + (R)a.y * b.y + c; }
ARM_DOT(short, char, int)
ARM_DOT(ushort, uchar, uint)

bool __builtin_expect_bool(bool x, bool y) { return x; }
void __builtin_assume_bool(bool x) {}
