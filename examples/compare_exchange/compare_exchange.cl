/* A stack that any number of work-items push on without a lock.
 *
 * `head` holds the number of the top cell, plus one; each cell names the one below it. A push writes its cell,
 * then swings the head to it if the head is still what the cell was linked to; the weak compare-exchange may also fail
 * for no reason, and the loop tries again with the value it saw. Release publishes the cell together with the head.
 * `walk` then follows the links and adds up what it finds: every cell once.
 *
 * kiln run --kernel push --global 256 --local 8
 *     --arg buf:int[1]=0 --arg buf:int[256]=0
 *     --check head[0]>=1 --check head[0]<=256
 *     then --kernel walk --global 1
 *     --arg head --arg next --arg buf:int[2]=0
 *     --print totals[0..2] --check totals[0..2]=256,32896
 */
kernel void push(global atomic_int *head, global int *next) {
    int me = get_global_id(0) + 1;
    int top = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device);

    do {
        next[me - 1] = top;
    } while (!atomic_compare_exchange_weak_explicit(head, &top, me, memory_order_release, memory_order_relaxed,
                                                    memory_scope_device));
}

kernel void walk(global atomic_int *head, global const int *next, global int *totals) {
    int cells = 0;
    int sum = 0;

    for (int at = atomic_load_explicit(head, memory_order_acquire, memory_scope_device); at != 0; at = next[at - 1]) {
        cells += 1;
        sum += at;
    }
    totals[0] = cells;
    totals[1] = sum;
}
