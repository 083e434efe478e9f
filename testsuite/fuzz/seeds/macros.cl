#define EMPTY
#define ID(x) x
#define CAT_(a, b) a ## b
#define CAT(a, b) CAT_(a, b)
#define STR_(...) #__VA_ARGS__
#define STR(...) STR_(__VA_ARGS__)
#define SELF SELF + 1
#define PING PONG
#define PONG PING
#define REAL(T, n) CAT(T, n)
#define LIST(X) X(a, 1) X(b, 2) X(c, 3)
#define FIELD(name, value) int name;
#define DEFER(x) x EMPTY ()
#if defined(cl_khr_fp64) && __OPENCL_VERSION__ >= 120 && !defined UNDEFINED
#   define SCALAR double
#elif (1 << 3) % 5 == 3 || 'a' == 97
#   define SCALAR float
#else
#   error "no scalar"
#endif
#ifdef __ENDIAN_LITTLE__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#include "a.h"
#line 50 "other.cl"
struct All { LIST(FIELD) };
constant char text[] = STR(a "b" '\n' CAT(x, 1));
kernel void CAT(ke, rnel_)(global REAL(float, 4) *out, int n) {
    _Pragma("unroll")
    for (int i = 0; i < MAX(n, __LINE__); ++i) out[i] = ID(ID)(1.0f) + SELF_ (0);
    DEFER(ID)(int PING = 1;)
}
