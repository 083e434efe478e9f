/* A lock-free queue (Michael and Scott).
 *
 * Cell 0 is the first dummy. A producer links its cell after the last one, and then moves `tail`, unless another
 * producer has moved it. A consumer moves `head` to the next cell, which becomes the dummy.
 *
 * kiln run --kernel pass --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[3]=0 --arg buf:int[3]=0 --arg buf:int[1]=0
 *     --check got[0]=7 --check head[0]=1 --check tail[0]=1
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0 --arg buf:int[1]=0
 *     head=1 tail=1 next[0]=1 next[1]=0 value[1]=7 got=7
 */
kernel void pass(global atomic_int *head, global atomic_int *tail, global atomic_int *next,
                 global int *value, global int *got) {
    if (get_group_id(0) == 0) {
        int cell = 1;
        value[cell] = 7;
        int last = atomic_load_explicit(tail, memory_order_relaxed, memory_scope_device), link = 0;
        while (!atomic_compare_exchange_strong_explicit(&next[last], &link, cell,
                                                        memory_order_release, memory_order_relaxed,
                                                        memory_scope_device)) {
            // Another producer has not moved the tail yet.
            atomic_compare_exchange_strong_explicit(tail, &last, link, memory_order_relaxed,
                                                    memory_order_relaxed, memory_scope_device);
            last = atomic_load_explicit(tail, memory_order_relaxed, memory_scope_device);
            link = 0;
        }
        atomic_compare_exchange_strong_explicit(tail, &last, cell, memory_order_relaxed,
                                                memory_order_relaxed, memory_scope_device);
        return;
    }

    int first = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device), cell;
    do {
        cell = atomic_load_explicit(&next[first], memory_order_acquire, memory_scope_device);
    } while (cell == 0 || !atomic_compare_exchange_strong_explicit(
        head, &first, cell, memory_order_relaxed, memory_order_relaxed, memory_scope_device));
    got[0] = value[cell];
}
