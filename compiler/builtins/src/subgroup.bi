# Functions of sub-groups (OpenCL C 6.15.20).
@family subgroup
@attributes const
@when 2.0 cl_khr_subgroups | 2.0 __opencl_c_subgroups | cl_intel_subgroups
uint get_sub_group_size() = workitem SubGroupSize
uint get_max_sub_group_size() = workitem MaxSubGroupSize
uint get_num_sub_groups() = workitem NumSubGroups
uint get_sub_group_id() = workitem SubGroupId
uint get_sub_group_local_id() = workitem SubGroupLocalId
@when 2.0 cl_khr_subgroups | 2.0 __opencl_c_subgroups | 2.0 cl_intel_subgroups
uint get_enqueued_num_sub_groups() = workitem EnqueuedNumSubGroups
@attributes convergent
@when 2.0 cl_khr_subgroups | 2.0 __opencl_c_subgroups | cl_intel_subgroups
int sub_group_all|sub_group_any(int) = sub_group
@T int uint long ulong half float double
T sub_group_broadcast(T, uint) = sub_group
T sub_group_reduce_add|sub_group_reduce_min|sub_group_reduce_max(T) = sub_group
T sub_group_scan_exclusive_add|sub_group_scan_exclusive_min|sub_group_scan_exclusive_max(T) = sub_group
T sub_group_scan_inclusive_add|sub_group_scan_inclusive_min|sub_group_scan_inclusive_max(T) = sub_group

# cl_khr_subgroup_extended_types
@when 2.0 cl_khr_subgroup_extended_types
@T char uchar short ushort
T sub_group_broadcast(T, uint) = sub_group
T sub_group_reduce_add|sub_group_reduce_min|sub_group_reduce_max(T) = sub_group
T sub_group_scan_exclusive_add|sub_group_scan_exclusive_min|sub_group_scan_exclusive_max(T) = sub_group
T sub_group_scan_inclusive_add|sub_group_scan_inclusive_min|sub_group_scan_inclusive_max(T) = sub_group
@T char uchar short ushort int uint long ulong half float double
@n 2 3 4 8 16
Tn sub_group_broadcast(Tn, uint) = sub_group

# cl_khr_subgroup_non_uniform_vote
@when 2.0 cl_khr_subgroup_non_uniform_vote
int sub_group_elect() = sub_group
int sub_group_non_uniform_all|sub_group_non_uniform_any(int) = sub_group
int sub_group_non_uniform_all_equal(T) = sub_group

# cl_khr_subgroup_ballot
@when 2.0 cl_khr_subgroup_ballot
@n 1 2 3 4 8 16
Tn sub_group_non_uniform_broadcast(Tn, uint) = sub_group
T sub_group_broadcast_first(T) = sub_group
uint4 sub_group_ballot(int) = sub_group
int sub_group_inverse_ballot(uint4) = sub_group
int sub_group_ballot_bit_extract(uint4, uint) = sub_group
uint sub_group_ballot_bit_count(uint4) = sub_group
uint sub_group_ballot_inclusive_scan|sub_group_ballot_exclusive_scan(uint4) = sub_group
uint sub_group_ballot_find_lsb|sub_group_ballot_find_msb(uint4) = sub_group
uint4 get_sub_group_eq_mask() = sub_group mask_eq
uint4 get_sub_group_ge_mask() = sub_group mask_ge
uint4 get_sub_group_gt_mask() = sub_group mask_gt
uint4 get_sub_group_le_mask() = sub_group mask_le
uint4 get_sub_group_lt_mask() = sub_group mask_lt

# cl_khr_subgroup_non_uniform_arithmetic
@when 2.0 cl_khr_subgroup_non_uniform_arithmetic
T sub_group_non_uniform_reduce_add|sub_group_non_uniform_reduce_mul|sub_group_non_uniform_reduce_min|sub_group_non_uniform_reduce_max(T) = sub_group
T sub_group_non_uniform_scan_exclusive_add|sub_group_non_uniform_scan_exclusive_mul|sub_group_non_uniform_scan_exclusive_min|sub_group_non_uniform_scan_exclusive_max(T) = sub_group
T sub_group_non_uniform_scan_inclusive_add|sub_group_non_uniform_scan_inclusive_mul|sub_group_non_uniform_scan_inclusive_min|sub_group_non_uniform_scan_inclusive_max(T) = sub_group
int sub_group_non_uniform_reduce_logical_and|sub_group_non_uniform_reduce_logical_or|sub_group_non_uniform_reduce_logical_xor(int) = sub_group
int sub_group_non_uniform_scan_exclusive_logical_and|sub_group_non_uniform_scan_exclusive_logical_or|sub_group_non_uniform_scan_exclusive_logical_xor(int) = sub_group
int sub_group_non_uniform_scan_inclusive_logical_and|sub_group_non_uniform_scan_inclusive_logical_or|sub_group_non_uniform_scan_inclusive_logical_xor(int) = sub_group
@T char uchar short ushort int uint long ulong
T sub_group_non_uniform_reduce_and|sub_group_non_uniform_reduce_or|sub_group_non_uniform_reduce_xor(T) = sub_group
T sub_group_non_uniform_scan_exclusive_and|sub_group_non_uniform_scan_exclusive_or|sub_group_non_uniform_scan_exclusive_xor(T) = sub_group
T sub_group_non_uniform_scan_inclusive_and|sub_group_non_uniform_scan_inclusive_or|sub_group_non_uniform_scan_inclusive_xor(T) = sub_group

# cl_khr_subgroup_shuffle
@when 2.0 cl_khr_subgroup_shuffle
@T char uchar short ushort int uint long ulong half float double
T sub_group_shuffle|sub_group_shuffle_xor(T, uint) = sub_group

# cl_khr_subgroup_shuffle_relative
@when 2.0 cl_khr_subgroup_shuffle_relative
T sub_group_shuffle_up|sub_group_shuffle_down(T, uint) = sub_group

# cl_khr_subgroup_clustered_reduce
@when 2.0 cl_khr_subgroup_clustered_reduce
T sub_group_clustered_reduce_add|sub_group_clustered_reduce_mul|sub_group_clustered_reduce_min|sub_group_clustered_reduce_max(T, uint) = sub_group
int sub_group_clustered_reduce_logical_and|sub_group_clustered_reduce_logical_or(int, uint) = sub_group
int sub_group_clustered_reduce_logical_xor(int, uint) = sub_group
@T char uchar short ushort int uint long ulong
T sub_group_clustered_reduce_and|sub_group_clustered_reduce_or|sub_group_clustered_reduce_xor(T, uint) = sub_group

# cl_khr_subgroup_rotate
@when 2.0 cl_khr_subgroup_rotate
@T char uchar short ushort int uint long ulong half float double
T sub_group_rotate(T, int) = sub_group
T sub_group_clustered_rotate(T, int, uint) = sub_group
