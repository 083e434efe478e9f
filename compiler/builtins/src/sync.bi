# Synchronization (OpenCL C 6.15.8), fences (6.15.9) and address space functions (6.15.10).
@family sync
@attributes convergent
void barrier(cl_mem_fence_flags) = barrier work_group
@when 2.0
void work_group_barrier(cl_mem_fence_flags) = barrier work_group
void work_group_barrier(cl_mem_fence_flags, memory_scope) = barrier work_group
@when 2.0 cl_khr_subgroups | 2.0 __opencl_c_subgroups | cl_intel_subgroups
void sub_group_barrier(cl_mem_fence_flags) = barrier sub_group
@when 2.0 cl_khr_subgroups | 2.0 __opencl_c_subgroups | 2.0 cl_intel_subgroups
void sub_group_barrier(cl_mem_fence_flags, memory_scope) = barrier sub_group
@when
@attributes
void mem_fence(cl_mem_fence_flags) = fence mem
void read_mem_fence(cl_mem_fence_flags) = fence read
void write_mem_fence(cl_mem_fence_flags) = fence write
@when 2.0
void atomic_work_item_fence(cl_mem_fence_flags, memory_order, memory_scope) = fence item

@family space
@attributes const
@when 2.0 __opencl_c_generic_address_space
cl_mem_fence_flags get_fence(generic const void *) = get_fence
cl_mem_fence_flags get_fence(generic void *) = get_fence
global any * to_global(generic const volatile any *) = to_space
local any * to_local(generic const volatile any *) = to_space
private any * to_private(generic const volatile any *) = to_space
