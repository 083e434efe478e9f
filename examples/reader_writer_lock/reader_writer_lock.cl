/* A lock for many readers or one writer.
 *
 * `state` is the number of readers, or -1 while there is a writer. A reader that sees one half of an update would
 * store 1 in `torn`.
 *
 * kiln run --kernel share --global 4 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[1]=0 --check state[0]=0 --check pair[0..2]=2,2 --check torn[0]=0
 *
 * kiln litmus --iterations 1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[1]=0
 *     state=0 pair[0]=1 pair[1]=1
 */
kernel void share(global atomic_int *state, global int *pair, global int *torn) {
    if (get_group_id(0) % 2 == 0) {
        int free = 0;
        while (!atomic_compare_exchange_strong_explicit(state, &free, -1, memory_order_acquire,
                                                        memory_order_relaxed, memory_scope_device))
            free = 0;
        pair[0] += 1;
        pair[1] += 1;
        atomic_store_explicit(state, 0, memory_order_release, memory_scope_device);
        return;
    }

    int readers = 0;
    while (!atomic_compare_exchange_strong_explicit(state, &readers, readers + 1,
                                                    memory_order_acquire, memory_order_relaxed,
                                                    memory_scope_device))
        readers = max(readers, 0);
    if (pair[0] != pair[1])
        torn[0] = 1;
    atomic_fetch_sub_explicit(state, 1, memory_order_release, memory_scope_device);
}
