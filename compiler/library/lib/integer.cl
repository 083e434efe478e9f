// Integer functions (OpenCL C 6.15.3) of every width: differences, means, and saturating functions. Narrow
// types compute in 32 bits, without overflow.
//
// Defines: abs abs_diff add_sat sub_sat hadd rhadd upsample __builtin_expect __builtin_assume
// Helps: add_sat_int add_sat_uint
#ifndef INTEGER_CL
#define INTEGER_CL

// For every type T with the unsigned type U.
#define EVERY(T, U)                                                                                         \
    U abs_diff_##T(T x, T y) { return x > y ? (U)((U)x - (U)y) : (U)((U)y - (U)x); }                         \
    T hadd_##T(T x, T y) { return (T)((x & y) + ((x ^ y) >> 1)); }                                           \
    T rhadd_##T(T x, T y) { return (T)((x | y) - ((x ^ y) >> 1)); }                                          \
    T __builtin_expect_##T(T x, T y) { return x; }
EVERY(char, uchar)
EVERY(uchar, uchar)
EVERY(short, ushort)
EVERY(ushort, ushort)
EVERY(int, uint)
EVERY(uint, uint)
EVERY(long, ulong)
EVERY(ulong, ulong)

#define SIGNED(T, U) \
    U abs_##T(T x) { return x < 0 ? (U)((U)0 - (U)x) : (U)x; }
SIGNED(char, uchar)
SIGNED(short, ushort)
SIGNED(int, uint)
SIGNED(long, ulong)

#define UNSIGNED(T) \
    T abs_##T(T x) { return x; }
UNSIGNED(uchar)
UNSIGNED(ushort)
UNSIGNED(uint)
UNSIGNED(ulong)

#define NARROW(T, LEAST, MOST)                                                                              \
    T add_sat_##T(T x, T y) { return (T)clamp((int)x + (int)y, (int)LEAST, (int)MOST); }                     \
    T sub_sat_##T(T x, T y) { return (T)clamp((int)x - (int)y, (int)LEAST, (int)MOST); }
NARROW(char, CHAR_MIN, CHAR_MAX)
NARROW(uchar, 0, UCHAR_MAX)
NARROW(short, SHRT_MIN, SHRT_MAX)
NARROW(ushort, 0, USHRT_MAX)

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

short upsample_char(char high, uchar low) { return (short)(((ushort)(uchar)high << 8) | low); }
ushort upsample_uchar(uchar high, uchar low) { return (ushort)(((ushort)high << 8) | low); }
int upsample_short(short high, ushort low) { return (int)(((uint)(ushort)high << 16) | low); }
uint upsample_ushort(ushort high, ushort low) { return ((uint)high << 16) | low; }
long upsample_int(int high, uint low) { return (long)(((ulong)(uint)high << 32) | low); }
ulong upsample_uint(uint high, uint low) { return ((ulong)high << 32) | low; }

bool __builtin_expect_bool(bool x, bool y) { return x; }
void __builtin_assume_bool(bool x) {}

#endif
