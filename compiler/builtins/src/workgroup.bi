# Work-group collective functions (OpenCL C 6.15.16).
@family workgroup
@attributes convergent
@when 2.0 __opencl_c_work_group_collective_functions
int work_group_all|work_group_any(int) = work_group
@T half int uint long ulong float double
T work_group_broadcast(T, size_t) = work_group
T work_group_broadcast(T, size_t, size_t) = work_group
T work_group_broadcast(T, size_t, size_t, size_t) = work_group
T work_group_reduce_add|work_group_reduce_min|work_group_reduce_max(T) = work_group
T work_group_scan_exclusive_add|work_group_scan_exclusive_min|work_group_scan_exclusive_max(T) = work_group
T work_group_scan_inclusive_add|work_group_scan_inclusive_min|work_group_scan_inclusive_max(T) = work_group

# cl_khr_work_group_uniform_arithmetic
@when 2.0 cl_khr_work_group_uniform_arithmetic
int work_group_reduce_logical_and|work_group_reduce_logical_or|work_group_reduce_logical_xor(int) = work_group
int work_group_scan_exclusive_logical_and|work_group_scan_exclusive_logical_or|work_group_scan_exclusive_logical_xor(int) = work_group
int work_group_scan_inclusive_logical_and|work_group_scan_inclusive_logical_or|work_group_scan_inclusive_logical_xor(int) = work_group
T work_group_reduce_mul(T) = work_group
T work_group_scan_exclusive_mul(T) = work_group
T work_group_scan_inclusive_mul(T) = work_group
@T int uint long ulong
T work_group_reduce_and|work_group_reduce_or|work_group_reduce_xor(T) = work_group
T work_group_scan_exclusive_and|work_group_scan_exclusive_or|work_group_scan_exclusive_xor(T) = work_group
T work_group_scan_inclusive_and|work_group_scan_inclusive_or|work_group_scan_inclusive_xor(T) = work_group
