/* Readers that never stop the writer: they read again if a sequence number has changed (seqlock).
 *
 * The number is odd during an update. The data are relaxed atomics, because a reader may see them while they
 * change; two fences order them with the number.
 *
 * kiln run --kernel share --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0 --check number[0]=2 --check pair[0..2]=7,7
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0
 *     number=2 pair[0]=7 pair[1]=7 seen[0]=0 seen[1]=0
 *     number=2 pair[0]=7 pair[1]=7 seen[0]=7 seen[1]=7
 */
kernel void share(global atomic_int *number, global atomic_int *pair, global int *seen) {
    if (get_group_id(0) == 0) {
        atomic_store_explicit(number, 1, memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(&pair[0], 7, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(&pair[1], 7, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(number, 2, memory_order_release, memory_scope_device);
        return;
    }

    int before, after, first, second;
    do {
        before = atomic_load_explicit(number, memory_order_acquire, memory_scope_device);
        first = atomic_load_explicit(&pair[0], memory_order_relaxed, memory_scope_device);
        second = atomic_load_explicit(&pair[1], memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        after = atomic_load_explicit(number, memory_order_relaxed, memory_scope_device);
    } while (before != after || before % 2 != 0);
    seen[0] = first;
    seen[1] = second;
}
