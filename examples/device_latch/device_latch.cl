/* A latch for all work-groups of a launch.
 *
 * Work-group barriers synchronize a single work-group. To continue only after every group has written its part, one
 * work-item of each group increments a counter with release order and waits, with acquire loads, until all have arrived.
 * The barriers before and after this order the accesses of the other work-items in the group.
 * All groups must be resident at the same time, so launch few. The unroll hint repeats the load in each iteration:
 * a driver that limits the number of iterations (65,535 in Mesa's lavapipe) then waits long enough.
 *
 * kiln run --kernel latch --global 16 --local 8
 *     --arg buf:uint[16]=0 --arg buf:uint[16]=0 --arg buf:uint[1]=0
 *     --print result[0..16] --check result[0..16]=1016..1001 --check arrived[0]=2
 *
 * kiln litmus -D SPINS=1 --global 4 --local 2
 *     --arg buf:uint[4]=0 --arg buf:uint[4]=0 --arg buf:uint[1]=0
 *     result[0]=1004 result[1]=1003 result[2]=1002 result[3]=1001 arrived=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

kernel void latch(global uint *part, global uint *result, global atomic_uint *arrived) {
    uint gid = get_global_id(0);
    uint size = get_global_size(0);
    uint groups = get_num_groups(0);

    part[gid] = 1000 + gid + 1;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);

    if (get_local_id(0) == 0) {
        atomic_fetch_add_explicit(arrived, 1u, memory_order_release, memory_scope_device);
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) != groups) {
        }
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);

    result[gid] = part[size - 1 - gid];
}
