# Work-item functions (OpenCL C 6.15.1).
@family workitem
@attributes const
uint get_work_dim() = workitem WorkDim
size_t get_global_size(uint) = workitem GlobalSize
size_t get_global_id(uint) = workitem GlobalId
size_t get_local_size(uint) = workitem LocalSize
size_t get_local_id(uint) = workitem LocalId
size_t get_num_groups(uint) = workitem NumGroups
size_t get_group_id(uint) = workitem GroupId
size_t get_global_offset(uint) = workitem GlobalOffset
@when 2.0
size_t get_enqueued_local_size(uint) = workitem EnqueuedLocalSize
size_t get_global_linear_id() = workitem GlobalLinearId
size_t get_local_linear_id() = workitem LocalLinearId

# cl_khr_kernel_clock. Reads are never merged.
@family workitem
@attributes
@when 2.0 cl_khr_kernel_clock __opencl_c_kernel_clock_scope_device
ulong clock_read_device() = clock device
uint2 clock_read_hilo_device() = clock device
@when 2.0 cl_khr_kernel_clock __opencl_c_kernel_clock_scope_work_group
ulong clock_read_work_group() = clock work_group
uint2 clock_read_hilo_work_group() = clock work_group
@when 2.0 cl_khr_kernel_clock __opencl_c_kernel_clock_scope_sub_group
ulong clock_read_sub_group() = clock sub_group
uint2 clock_read_hilo_sub_group() = clock sub_group
