/* Readers without locks: a writer replaces a version, and reuses the old one when no reader is left (read-copy-
 * update).
 *
 * The reader announces itself and then reads which version is current; the writer publishes a version and then
 * looks for readers. Sequentially consistent fences between these steps make one of them see the other.
 *
 * kiln run --kernel update --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=5,0 --arg buf:int[1]=0
 *     --check versions[0..2]=-1,7 --check seen[0]>=5
 *
 * kiln litmus -D SPINS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=5,0 --arg buf:int[1]=0
 *     current=1 reading=0 versions[0]=4294967295 versions[1]=7 seen=5
 *     current=1 reading=0 versions[0]=4294967295 versions[1]=7 seen=7
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

kernel void update(global atomic_int *current, global atomic_int *reading, global int *versions,
                   global int *seen) {
    if (get_group_id(0) == 0) {
        versions[1] = 7;
        atomic_store_explicit(current, 1, memory_order_release, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(reading, memory_order_acquire, memory_scope_device)) {
        }
        // Nobody reads the old version any more.
        versions[0] = -1;
        return;
    }

    atomic_store_explicit(reading, 1, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    seen[0] = versions[atomic_load_explicit(current, memory_order_acquire, memory_scope_device)];
    atomic_store_explicit(reading, 0, memory_order_release, memory_scope_device);
}
