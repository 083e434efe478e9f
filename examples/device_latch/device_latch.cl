/* A latch for all work-groups of a launch.
 *
 * Work-group barriers synchronize a single work-group. To continue only after every group has written its part, one
 * work-item of each group increments a counter with acquire-release order and waits until all groups have arrived.
 * The barriers before and after this order the accesses of the other work-items in the group.
 * All groups must be resident at the same time, so launch few. The unroll hint repeats the load in each iteration:
 * a driver that limits the number of iterations (65,535 in Mesa's lavapipe) then waits long enough.
 *
 * kiln run --kernel latch --global 16 --local 8
 *     --arg buf:uint[16]=0 --arg buf:uint[16]=0 --arg buf:uint[1]=0
 *     --print result[0..16] --check result[0..16]=1016..1001 --check arrived[0]=2
 */
kernel void latch(global uint *part, global uint *result, global atomic_uint *arrived) {
    uint gid = get_global_id(0);
    uint size = get_global_size(0);
    uint groups = get_num_groups(0);

    part[gid] = 1000 + gid + 1;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);

    if (get_local_id(0) == 0) {
        atomic_fetch_add_explicit(arrived, 1u, memory_order_acq_rel, memory_scope_device);
        __attribute__((opencl_unroll_hint(64)))
        while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) != groups) {
        }
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);

    result[gid] = part[size - 1 - gid];
}
