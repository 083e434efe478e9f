# Integer functions (OpenCL C 6.15.3).
@family integer
@attributes const
@T char uchar short ushort int uint long ulong
@n 1 2 3 4 8 16
Un abs(Tn) = std ?* own
Un abs_diff(Tn, Tn) = std ?* own
Tn add_sat|hadd|rhadd|sub_sat|mul_hi(Tn, Tn) = std ?* own
Tn mad_hi|mad_sat(Tn, Tn, Tn) = std ?* own
Tn clz(Tn) = std * own
Tn rotate(Tn, Tn) = std * own
Tn max(Tn, Tn) = std ?* glsl ?Max
Tn min(Tn, Tn) = std ?* glsl ?Min
Tn clamp(Tn, Tn, Tn) = std ?* glsl ?Clamp
@n 2 3 4 8 16
Tn max(Tn, T) = std ?* glsl ?Max
Tn min(Tn, T) = std ?* glsl ?Min
Tn clamp(Tn, T, T) = std ?* glsl ?Clamp
@n 1 2 3 4 8 16
@when 1.2
Tn popcount(Tn) = std * core
@when 2.0
Tn ctz(Tn) = std * own
@when
@T int uint
Tn mad24(Tn, Tn, Tn) = std ?* own
Tn mul24(Tn, Tn) = std ?* own
@T char uchar short ushort int uint
Wn upsample(Tn, Un) = std ?* own

# cl_khr_extended_bit_ops
@when cl_khr_extended_bit_ops
@T char uchar short ushort int uint long ulong
Tn bitfield_insert(Tn, Tn, uint, uint) = core
In bitfield_extract_signed(Tn, uint, uint) = core
Un bitfield_extract_unsigned(Tn, uint, uint) = core
Tn bit_reverse(Tn) = core

# cl_khr_integer_dot_product
@when cl_khr_integer_dot_product __opencl_c_integer_dot_product_input_4x8bit
uint dot(uchar4, uchar4) = own
int dot(char4, char4) = own
int dot(uchar4, char4) = own
int dot(char4, uchar4) = own
uint dot_acc_sat(uchar4, uchar4, uint) = own
int dot_acc_sat(char4, char4, int) = own
int dot_acc_sat(uchar4, char4, int) = own
int dot_acc_sat(char4, uchar4, int) = own
@when cl_khr_integer_dot_product __opencl_c_integer_dot_product_input_4x8bit_packed
uint dot_4x8packed_uu_uint(uint, uint) = own
int dot_4x8packed_ss_int|dot_4x8packed_us_int|dot_4x8packed_su_int(uint, uint) = own
uint dot_acc_sat_4x8packed_uu_uint(uint, uint, uint) = own
int dot_acc_sat_4x8packed_ss_int|dot_acc_sat_4x8packed_us_int(uint, uint, int) = own
int dot_acc_sat_4x8packed_su_int(uint, uint, int) = own
