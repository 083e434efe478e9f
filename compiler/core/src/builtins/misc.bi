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
