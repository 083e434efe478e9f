# Functions of vendor extensions that real programs use.

# cl_intel_subgroups: shuffles, and block reads and writes by the whole sub-group.
@family vendor
@attributes convergent
@when cl_intel_subgroups
@n 1 2 3 4 8 16
@T int uint float
Tn intel_sub_group_shuffle(Tn, uint) = sub_group shuffle
Tn intel_sub_group_shuffle_xor(Tn, uint) = sub_group shuffle_xor
Tn intel_sub_group_shuffle_up(Tn, Tn, uint) = sub_group shuffle_up_pair
Tn intel_sub_group_shuffle_down(Tn, Tn, uint) = sub_group shuffle_down_pair
@T long ulong half double
@n 1
Tn intel_sub_group_shuffle(Tn, uint) = sub_group shuffle
Tn intel_sub_group_shuffle_xor(Tn, uint) = sub_group shuffle_xor
Tn intel_sub_group_shuffle_up(Tn, Tn, uint) = sub_group shuffle_up_pair
Tn intel_sub_group_shuffle_down(Tn, Tn, uint) = sub_group shuffle_down_pair
@X ro rw image2d_t
uint intel_sub_group_block_read|intel_sub_group_block_read_ui(global const uint *) = sub_group block_read
uint intel_sub_group_block_read|intel_sub_group_block_read_ui(X, int2) = sub_group block_read
void intel_sub_group_block_write|intel_sub_group_block_write_ui(global uint *, uint) = sub_group block_write
uint2 intel_sub_group_block_read2|intel_sub_group_block_read_ui2(global const uint *) = sub_group block_read
uint2 intel_sub_group_block_read2|intel_sub_group_block_read_ui2(X, int2) = sub_group block_read
void intel_sub_group_block_write2|intel_sub_group_block_write_ui2(global uint *, uint2) = sub_group block_write
uint4 intel_sub_group_block_read4|intel_sub_group_block_read_ui4(global const uint *) = sub_group block_read
uint4 intel_sub_group_block_read4|intel_sub_group_block_read_ui4(X, int2) = sub_group block_read
void intel_sub_group_block_write4|intel_sub_group_block_write_ui4(global uint *, uint4) = sub_group block_write
uint8 intel_sub_group_block_read8|intel_sub_group_block_read_ui8(global const uint *) = sub_group block_read
uint8 intel_sub_group_block_read8|intel_sub_group_block_read_ui8(X, int2) = sub_group block_read
void intel_sub_group_block_write8|intel_sub_group_block_write_ui8(global uint *, uint8) = sub_group block_write
@X wo rw image2d_t
void intel_sub_group_block_write|intel_sub_group_block_write_ui(X, int2, uint) = sub_group block_write
void intel_sub_group_block_write2|intel_sub_group_block_write_ui2(X, int2, uint2) = sub_group block_write
void intel_sub_group_block_write4|intel_sub_group_block_write_ui4(X, int2, uint4) = sub_group block_write
void intel_sub_group_block_write8|intel_sub_group_block_write_ui8(X, int2, uint8) = sub_group block_write

# cl_intel_subgroups_short
@when cl_intel_subgroups_short
@T short ushort
@n 1 2 3 4 8 16
Tn intel_sub_group_shuffle(Tn, uint) = sub_group shuffle
Tn intel_sub_group_shuffle_xor(Tn, uint) = sub_group shuffle_xor
Tn intel_sub_group_shuffle_up(Tn, Tn, uint) = sub_group shuffle_up_pair
Tn intel_sub_group_shuffle_down(Tn, Tn, uint) = sub_group shuffle_down_pair
Tn intel_sub_group_broadcast(Tn, uint) = sub_group broadcast
T intel_sub_group_reduce_add(T) = sub_group reduce_add
T intel_sub_group_reduce_min(T) = sub_group reduce_min
T intel_sub_group_reduce_max(T) = sub_group reduce_max
T intel_sub_group_scan_exclusive_add(T) = sub_group scan_exclusive_add
T intel_sub_group_scan_exclusive_min(T) = sub_group scan_exclusive_min
T intel_sub_group_scan_exclusive_max(T) = sub_group scan_exclusive_max
T intel_sub_group_scan_inclusive_add(T) = sub_group scan_inclusive_add
T intel_sub_group_scan_inclusive_min(T) = sub_group scan_inclusive_min
T intel_sub_group_scan_inclusive_max(T) = sub_group scan_inclusive_max
@X ro rw image2d_t
ushort intel_sub_group_block_read_us(global const ushort *) = sub_group block_read
ushort intel_sub_group_block_read_us(X, int2) = sub_group block_read
void intel_sub_group_block_write_us(global ushort *, ushort) = sub_group block_write
ushort2 intel_sub_group_block_read_us2(global const ushort *) = sub_group block_read
ushort2 intel_sub_group_block_read_us2(X, int2) = sub_group block_read
void intel_sub_group_block_write_us2(global ushort *, ushort2) = sub_group block_write
ushort4 intel_sub_group_block_read_us4(global const ushort *) = sub_group block_read
ushort4 intel_sub_group_block_read_us4(X, int2) = sub_group block_read
void intel_sub_group_block_write_us4(global ushort *, ushort4) = sub_group block_write
ushort8 intel_sub_group_block_read_us8(global const ushort *) = sub_group block_read
ushort8 intel_sub_group_block_read_us8(X, int2) = sub_group block_read
void intel_sub_group_block_write_us8(global ushort *, ushort8) = sub_group block_write
@X wo rw image2d_t
void intel_sub_group_block_write_us(X, int2, ushort) = sub_group block_write
void intel_sub_group_block_write_us2(X, int2, ushort2) = sub_group block_write
void intel_sub_group_block_write_us4(X, int2, ushort4) = sub_group block_write
void intel_sub_group_block_write_us8(X, int2, ushort8) = sub_group block_write

# cl_intel_subgroups_char
@when cl_intel_subgroups_char
@T char uchar
@n 1 2 3 4 8 16
Tn intel_sub_group_shuffle(Tn, uint) = sub_group shuffle
Tn intel_sub_group_shuffle_xor(Tn, uint) = sub_group shuffle_xor
Tn intel_sub_group_shuffle_up(Tn, Tn, uint) = sub_group shuffle_up_pair
Tn intel_sub_group_shuffle_down(Tn, Tn, uint) = sub_group shuffle_down_pair
Tn intel_sub_group_broadcast(Tn, uint) = sub_group broadcast
T intel_sub_group_reduce_add(T) = sub_group reduce_add
T intel_sub_group_reduce_min(T) = sub_group reduce_min
T intel_sub_group_reduce_max(T) = sub_group reduce_max
T intel_sub_group_scan_exclusive_add(T) = sub_group scan_exclusive_add
T intel_sub_group_scan_exclusive_min(T) = sub_group scan_exclusive_min
T intel_sub_group_scan_exclusive_max(T) = sub_group scan_exclusive_max
T intel_sub_group_scan_inclusive_add(T) = sub_group scan_inclusive_add
T intel_sub_group_scan_inclusive_min(T) = sub_group scan_inclusive_min
T intel_sub_group_scan_inclusive_max(T) = sub_group scan_inclusive_max
@X ro rw image2d_t
uchar intel_sub_group_block_read_uc(global const uchar *) = sub_group block_read
uchar intel_sub_group_block_read_uc(X, int2) = sub_group block_read
void intel_sub_group_block_write_uc(global uchar *, uchar) = sub_group block_write
uchar2 intel_sub_group_block_read_uc2(global const uchar *) = sub_group block_read
uchar2 intel_sub_group_block_read_uc2(X, int2) = sub_group block_read
void intel_sub_group_block_write_uc2(global uchar *, uchar2) = sub_group block_write
uchar4 intel_sub_group_block_read_uc4(global const uchar *) = sub_group block_read
uchar4 intel_sub_group_block_read_uc4(X, int2) = sub_group block_read
void intel_sub_group_block_write_uc4(global uchar *, uchar4) = sub_group block_write
uchar8 intel_sub_group_block_read_uc8(global const uchar *) = sub_group block_read
uchar8 intel_sub_group_block_read_uc8(X, int2) = sub_group block_read
void intel_sub_group_block_write_uc8(global uchar *, uchar8) = sub_group block_write
uchar16 intel_sub_group_block_read_uc16(global const uchar *) = sub_group block_read
uchar16 intel_sub_group_block_read_uc16(X, int2) = sub_group block_read
void intel_sub_group_block_write_uc16(global uchar *, uchar16) = sub_group block_write
@X wo rw image2d_t
void intel_sub_group_block_write_uc(X, int2, uchar) = sub_group block_write
void intel_sub_group_block_write_uc2(X, int2, uchar2) = sub_group block_write
void intel_sub_group_block_write_uc4(X, int2, uchar4) = sub_group block_write
void intel_sub_group_block_write_uc8(X, int2, uchar8) = sub_group block_write
void intel_sub_group_block_write_uc16(X, int2, uchar16) = sub_group block_write

# cl_intel_subgroups_long
@when cl_intel_subgroups_long
@X ro rw image2d_t
ulong intel_sub_group_block_read_ul(global const ulong *) = sub_group block_read
ulong intel_sub_group_block_read_ul(X, int2) = sub_group block_read
void intel_sub_group_block_write_ul(global ulong *, ulong) = sub_group block_write
ulong2 intel_sub_group_block_read_ul2(global const ulong *) = sub_group block_read
ulong2 intel_sub_group_block_read_ul2(X, int2) = sub_group block_read
void intel_sub_group_block_write_ul2(global ulong *, ulong2) = sub_group block_write
ulong4 intel_sub_group_block_read_ul4(global const ulong *) = sub_group block_read
ulong4 intel_sub_group_block_read_ul4(X, int2) = sub_group block_read
void intel_sub_group_block_write_ul4(global ulong *, ulong4) = sub_group block_write
ulong8 intel_sub_group_block_read_ul8(global const ulong *) = sub_group block_read
ulong8 intel_sub_group_block_read_ul8(X, int2) = sub_group block_read
void intel_sub_group_block_write_ul8(global ulong *, ulong8) = sub_group block_write
@X wo rw image2d_t
void intel_sub_group_block_write_ul(X, int2, ulong) = sub_group block_write
void intel_sub_group_block_write_ul2(X, int2, ulong2) = sub_group block_write
void intel_sub_group_block_write_ul4(X, int2, ulong4) = sub_group block_write
void intel_sub_group_block_write_ul8(X, int2, ulong8) = sub_group block_write

# cl_amd_media_ops
@family vendor
@attributes const
@when cl_amd_media_ops
@n 1 2 3 4 8 16
uintn amd_bitalign|amd_bytealign|amd_lerp|amd_sad|amd_sadhi(uintn, uintn, uintn) = own
uint amd_pack(float4) = own
uint amd_sad4(uint4, uint4, uint) = own
floatn amd_unpack0|amd_unpack1|amd_unpack2|amd_unpack3(uintn) = own

# cl_amd_media_ops2
@when cl_amd_media_ops2
@T int uint float
Tn amd_max3|amd_min3|amd_median3(Tn, Tn, Tn) = own
@T int uint
Tn amd_bfe(Tn, uintn, uintn) = own
uintn amd_bfm(uintn, uintn) = own
uintn amd_msad|amd_sadd|amd_sadw(uintn, uintn, uintn) = own
ulongn amd_mqsad|amd_qsad(ulongn, uintn, ulongn) = own

# cl_arm_integer_dot_product_*
@when cl_arm_integer_dot_product_int8
int arm_dot(char4, char4) = own
uint arm_dot(uchar4, uchar4) = own
@when cl_arm_integer_dot_product_accumulate_int8
int arm_dot_acc(char4, char4, int) = own
uint arm_dot_acc(uchar4, uchar4, uint) = own
@when cl_arm_integer_dot_product_accumulate_int16
int arm_dot_acc(short2, short2, int) = own
uint arm_dot_acc(ushort2, ushort2, uint) = own
@when cl_arm_integer_dot_product_accumulate_saturate_int8
int arm_dot_acc_sat(char4, char4, int) = own
uint arm_dot_acc_sat(uchar4, uchar4, uint) = own

# cl_khr_kernel_clock
