/* A lock-free stack. Any number of work-items can push at the same time.
 *
 * `head` is the index of the top cell plus one; each cell contains the link to the cell below. A push writes its cell and
 * then replaces the head if it is still equal to the cell's link. The weak compare-exchange may also fail spuriously;
 * the loop then retries with the value that it read. Release order publishes the cell together with the head.
 * `walk` follows the links and adds up the values: it visits every cell once.
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
