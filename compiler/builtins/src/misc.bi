# Miscellaneous vector functions (OpenCL C 6.15.13) and printf (6.15.14). vec_step is an operator.
@family misc
@attributes const
@T char uchar short ushort int uint long ulong half float double
@n 2 4 8 16
@m 2 4 8 16
Tn shuffle(Tm, Un) = shuffle
Tn shuffle2(Tm, Tm, Un) = shuffle
@attributes
@when 1.2
int printf(constant const char *, ...) = printf
@attributes const
@when cl_khr_expect_assume
@n 2 3 4 8 16
long __builtin_expect(long, long) = own
@T char uchar short ushort int uint long ulong
Tn __builtin_expect(Tn, Tn) = own
@attributes
void __builtin_assume(bool) = own

# Builtins of GNU C and clang that programs ported from C use: bit operations and overflow checks.
@family misc
@attributes const
int __builtin_popcount|__builtin_parity|__builtin_clz|__builtin_ctz(uint) = own
int __builtin_popcountl|__builtin_parityl|__builtin_clzl|__builtin_ctzl(ulong) = own
int __builtin_popcountll|__builtin_parityll|__builtin_clzll|__builtin_ctzll(ulong) = own
int __builtin_ffs(int) = own
# For the bodies of other functions (`lib/bits.cl`): the index of the highest bit that is set, or -1.
int __kiln_find_msb(uint) = glsl FindUMsb
# The number of bits that are set.
uint __kiln_bit_count(uint) = core
uint __kiln_umul_high(uint, uint) = core
ulong __kiln_umul_high(ulong, ulong) = core
int __builtin_ffsl|__builtin_ffsll(long) = own
ushort __builtin_bswap16(ushort) = own
uint __builtin_bswap32(uint) = own
ulong __builtin_bswap64(ulong) = own
uchar __builtin_rotateleft8|__builtin_rotateright8(uchar, uchar) = own
ushort __builtin_rotateleft16|__builtin_rotateright16(ushort, ushort) = own
uint __builtin_rotateleft32|__builtin_rotateright32(uint, uint) = own
ulong __builtin_rotateleft64|__builtin_rotateright64(ulong, ulong) = own
@attributes
@P any
bool __builtin_sadd_overflow|__builtin_ssub_overflow|__builtin_smul_overflow(int, int, P int *) = own
bool __builtin_saddl_overflow|__builtin_ssubl_overflow|__builtin_smull_overflow(long, long, P long *) = own
bool __builtin_saddll_overflow|__builtin_ssubll_overflow|__builtin_smulll_overflow(long, long, P long *) = own
bool __builtin_uadd_overflow|__builtin_usub_overflow|__builtin_umul_overflow(uint, uint, P uint *) = own
bool __builtin_uaddl_overflow|__builtin_usubl_overflow|__builtin_umull_overflow(ulong, ulong, P ulong *) = own
bool __builtin_uaddll_overflow|__builtin_usubll_overflow|__builtin_umulll_overflow(ulong, ulong, P ulong *) = own
# With operands and a result of any integer types. `sema::overflow` selects the form for operands of several types: both
# as 64 bits, a mask of those that are signed, and the result's type in the name.
@T char uchar short ushort int uint long ulong
bool __builtin_add_overflow|__builtin_sub_overflow|__builtin_mul_overflow(T, T, P T *) = own
bool __kiln_add_overflow_char|__kiln_sub_overflow_char|__kiln_mul_overflow_char(long, long, int, P char *) = own
bool __kiln_add_overflow_uchar|__kiln_sub_overflow_uchar|__kiln_mul_overflow_uchar(long, long, int, P uchar *) = own
bool __kiln_add_overflow_short|__kiln_sub_overflow_short|__kiln_mul_overflow_short(long, long, int, P short *) = own
bool __kiln_add_overflow_ushort|__kiln_sub_overflow_ushort|__kiln_mul_overflow_ushort(long, long, int, P ushort *) = own
bool __kiln_add_overflow_int|__kiln_sub_overflow_int|__kiln_mul_overflow_int(long, long, int, P int *) = own
bool __kiln_add_overflow_uint|__kiln_sub_overflow_uint|__kiln_mul_overflow_uint(long, long, int, P uint *) = own
bool __kiln_add_overflow_long|__kiln_sub_overflow_long|__kiln_mul_overflow_long(long, long, int, P long *) = own
bool __kiln_add_overflow_ulong|__kiln_sub_overflow_ulong|__kiln_mul_overflow_ulong(long, long, int, P ulong *) = own
void __builtin_unreachable() = own
void __builtin_trap() = trap
void __builtin_verbose_trap(constant const char *, constant const char *) = trap

# The address, whether it will be written, and how often it will be used.
@family misc
@P readable
void __builtin_prefetch(P const void *) = prefetch
void __builtin_prefetch(P const void *, int) = prefetch
void __builtin_prefetch(P const void *, int, int) = prefetch

# Builtins of GNU C and clang that copy or set bytes in memory.
@family misc
@P any
@Q readable
void __builtin_memcpy(P void *, Q const void *, size_t) = bytes copy
void __builtin_memmove(P void *, Q const void *, size_t) = bytes move
void __builtin_memset(P void *, int, size_t) = bytes set
