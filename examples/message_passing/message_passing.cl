/* Message passing between two work-groups, in two ways.
 *
 * The first group writes a message to non-atomic memory and sets a flag; the second waits for the flag and reads.
 * `by_order` orders the flag accesses themselves: a release store and acquire loads. `by_fence` uses relaxed accesses
 * and a fence on each side. In both cases the message is complete when the flag is visible. The unroll hint repeats the
 * load in each iteration of the waiting loop, for drivers that limit the number of iterations.
 *
 * kiln run --kernel by_order --global 16 --local 8
 *     --arg buf:int[8]=0 --arg buf:int[1]=0 --arg buf:int[8]=0
 *     --print received[0..8] --check received[0..8]=100..107
 *
 * kiln run --kernel by_fence --global 16 --local 8
 *     --arg buf:int[8]=0 --arg buf:int[1]=0 --arg buf:int[8]=0
 *     --print received[0..8] --check received[0..8]=100..107
 *
 * kiln litmus -D SPINS=1 --kernel by_order --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[1]=0
 *     message=100 flag=1 received=100
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

kernel void by_order(global int *message, global atomic_int *flag, global int *received) {
    int lid = get_local_id(0);

    if (get_group_id(0) == 0) {
        message[lid] = 100 + lid;
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (lid == 0)
            atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else {
        if (lid == 0) {
            __attribute__((opencl_unroll_hint(SPINS)))
            while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 0) {
            }
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        received[lid] = message[lid];
    }
}

kernel void by_fence(global int *message, global atomic_int *flag, global int *received) {
    int lid = get_local_id(0);

    if (get_group_id(0) == 0) {
        message[lid] = 100 + lid;
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (lid == 0) {
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
            atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
        }
    } else {
        if (lid == 0) {
            __attribute__((opencl_unroll_hint(SPINS)))
            while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) == 0) {
            }
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        received[lid] = message[lid];
    }
}
