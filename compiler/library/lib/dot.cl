// Dot products of integers: cl_khr_integer_dot_product and cl_arm_integer_dot_product_*.
//
// Defines: dot dot_acc_sat dot_4x8packed_uu_uint dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int
// Defines: dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int
// Defines: dot_acc_sat_4x8packed_su_int arm_dot arm_dot_acc arm_dot_acc_sat
#include "integer.cl"

// Dot products of four signed or unsigned bytes, packed in unsigned words.
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

// The same with the names of cl_arm_integer_dot_product_*, and sums of two 16-bit products.
#define ARM_DOT(T, V, R)                                                                                    \
    R arm_dot_##V##4_##V##4(V##4 a, V##4 b) { return dot_##V##4_##V##4(a, b); }                              \
    R arm_dot_acc_##V##4_##V##4_##R(V##4 a, V##4 b, R c) { return dot_##V##4_##V##4(a, b) + c; }             \
    R arm_dot_acc_sat_##V##4_##V##4_##R(V##4 a, V##4 b, R c) { return dot_acc_sat_##V##4_##V##4_##R(a, b, c); } \
    R arm_dot_acc_##T##2_##T##2_##R(T##2 a, T##2 b, R c) { return (R)a.x * b.x + (R)a.y * b.y + c; }
ARM_DOT(short, char, int)
ARM_DOT(ushort, uchar, uint)
