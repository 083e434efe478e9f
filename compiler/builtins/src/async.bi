# Work-group copies and prefetch (OpenCL C 6.15.11).
@family async
@attributes convergent
@T char uchar short ushort int uint long ulong half float double
@n 1 2 3 4 8 16
@P default
event_t async_work_group_copy(local Tn *, global const Tn *, size_t, event_t) = async copy
event_t async_work_group_copy(global Tn *, local const Tn *, size_t, event_t) = async copy
event_t async_work_group_strided_copy(local Tn *, global const Tn *, size_t, size_t, event_t) = async strided
event_t async_work_group_strided_copy(global Tn *, local const Tn *, size_t, size_t, event_t) = async strided
void wait_group_events(int, P event_t *) = async wait
@attributes
void prefetch(global const Tn *, size_t) = async prefetch
@attributes convergent
@when cl_khr_async_work_group_copy_fence
void async_work_group_copy_fence(cl_mem_fence_flags) = async fence
@when cl_khr_extended_async_copies
event_t async_work_group_copy_2D2D(local void *, size_t, global const void *, size_t, size_t, size_t, size_t, size_t, size_t, event_t) = async copy_2d
event_t async_work_group_copy_2D2D(global void *, size_t, local const void *, size_t, size_t, size_t, size_t, size_t, size_t, event_t) = async copy_2d
event_t async_work_group_copy_3D3D(local void *, size_t, global const void *, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, event_t) = async copy_3d
event_t async_work_group_copy_3D3D(global void *, size_t, local const void *, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, event_t) = async copy_3d
