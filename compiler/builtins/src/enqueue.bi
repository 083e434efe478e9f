# Device-side enqueue (OpenCL C 6.15.19). The type checker checks the parameters of blocks, and the local memory sizes
# after a block.
@family enqueue
@when 2.0 __opencl_c_device_enqueue
@P default
int enqueue_kernel(queue_t, kernel_enqueue_flags_t, ndrange_t, block, ...) = enqueue kernel
int enqueue_kernel(queue_t, kernel_enqueue_flags_t, ndrange_t, uint, P const clk_event_t *, P clk_event_t *, block, ...) = enqueue kernel
uint get_kernel_work_group_size(block) = enqueue work_group_size
uint get_kernel_preferred_work_group_size_multiple(block) = enqueue preferred_multiple
int enqueue_marker(queue_t, uint, P const clk_event_t *, P clk_event_t *) = enqueue marker
queue_t get_default_queue() = enqueue default_queue
clk_event_t create_user_event() = enqueue create_event
void retain_event(clk_event_t) = enqueue retain_event
void release_event(clk_event_t) = enqueue release_event
bool is_valid_event(clk_event_t) = enqueue is_valid_event
void set_user_event_status(clk_event_t, int) = enqueue set_event_status
void capture_event_profiling_info(clk_event_t, clk_profiling_info, global void *) = enqueue profiling_info
ndrange_t ndrange_1D(size_t) = enqueue ndrange
ndrange_t ndrange_1D(size_t, size_t) = enqueue ndrange
ndrange_t ndrange_1D(size_t, size_t, size_t) = enqueue ndrange
ndrange_t ndrange_2D|ndrange_3D(P const size_t *) = enqueue ndrange
ndrange_t ndrange_2D|ndrange_3D(P const size_t *, P const size_t *) = enqueue ndrange
ndrange_t ndrange_2D|ndrange_3D(P const size_t *, P const size_t *, P const size_t *) = enqueue ndrange
@when 2.0 __opencl_c_device_enqueue cl_khr_subgroups | 2.0 __opencl_c_device_enqueue __opencl_c_subgroups
uint get_kernel_sub_group_count_for_ndrange(ndrange_t, block) = enqueue sub_group_count
uint get_kernel_max_sub_group_size_for_ndrange(ndrange_t, block) = enqueue max_sub_group_size

# Pipes (OpenCL C 6.15.18). `any` is the packet type.
@family pipe
@P default
@when 2.0 __opencl_c_pipes
int read_pipe(ro pipe, P any *) = pipe read
int read_pipe(ro pipe, reserve_id_t, uint, P any *) = pipe read
int write_pipe(wo pipe, P const any *) = pipe write
int write_pipe(wo pipe, reserve_id_t, uint, P const any *) = pipe write
reserve_id_t reserve_read_pipe(ro pipe, uint) = pipe reserve_read
reserve_id_t reserve_write_pipe(wo pipe, uint) = pipe reserve_write
void commit_read_pipe(ro pipe, reserve_id_t) = pipe commit_read
void commit_write_pipe(wo pipe, reserve_id_t) = pipe commit_write
uint get_pipe_num_packets(ro pipe) = pipe num_packets
uint get_pipe_num_packets(wo pipe) = pipe num_packets
uint get_pipe_max_packets(ro pipe) = pipe max_packets
uint get_pipe_max_packets(wo pipe) = pipe max_packets
bool is_valid_reserve_id(reserve_id_t) = pipe is_valid
@attributes convergent
reserve_id_t work_group_reserve_read_pipe(ro pipe, uint) = pipe reserve_read
reserve_id_t work_group_reserve_write_pipe(wo pipe, uint) = pipe reserve_write
void work_group_commit_read_pipe(ro pipe, reserve_id_t) = pipe commit_read
void work_group_commit_write_pipe(wo pipe, reserve_id_t) = pipe commit_write
@when 2.0 __opencl_c_pipes cl_khr_subgroups | 2.0 __opencl_c_pipes __opencl_c_subgroups
reserve_id_t sub_group_reserve_read_pipe(ro pipe, uint) = pipe reserve_read
reserve_id_t sub_group_reserve_write_pipe(wo pipe, uint) = pipe reserve_write
void sub_group_commit_read_pipe(ro pipe, reserve_id_t) = pipe commit_read
void sub_group_commit_write_pipe(wo pipe, reserve_id_t) = pipe commit_write
