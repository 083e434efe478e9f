# Device-side enqueue (OpenCL C 6.15.18); what takes blocks is resolved by `special`.
@family enqueue
@when 2.0 __opencl_c_device_enqueue
@P default
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

# Pipes (OpenCL C 6.15.17); what takes a pipe is resolved by `special`.
@family pipe
@attributes const
@when 2.0 __opencl_c_pipes
bool is_valid_reserve_id(reserve_id_t) = pipe is_valid
