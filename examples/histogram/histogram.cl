/* A histogram in two steps.
 *
 * Each work-group counts its part of the input in local memory, where atomics are cheap, then adds its counts to
 * the result. Counting needs only atomicity and no order: relaxed is enough. The barriers make the local counts visible
 * to the other work-items of the group; the device-scope atomic additions combine the counts of the work-groups.
 * The input is 0, 1, 2 …, so every bin ends with the same count.
 *
 * kiln run --kernel histogram --global 65536 --local 256
 *     --arg buf:uint[65536]=iota --arg uint:65536 --arg buf:uint[16]=0
 *     --print bins[0..16] --check bins[0..16]=4096
 *
 * kiln litmus -D BINS=2 --global 4 --local 2
 *     --arg buf:uint[4]=0 --arg uint:4 --arg buf:uint[2]=0
 *     bins[0]=4 bins[1]=0
 */
#ifndef BINS
#define BINS 16
#endif

kernel void histogram(global const uint *data, uint count, global atomic_uint *bins) {
    local atomic_uint mine[BINS];
    uint lid = get_local_id(0);

    for (uint i = lid; i < BINS; i += get_local_size(0))
        atomic_init(&mine[i], 0u);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_fetch_add_explicit(&mine[data[i] % BINS], 1u, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = lid; i < BINS; i += get_local_size(0)) {
        uint n = atomic_load_explicit(&mine[i], memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_add_explicit(&bins[i], n, memory_order_relaxed, memory_scope_device);
    }
}
