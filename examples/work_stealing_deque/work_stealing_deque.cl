/* A deque: one work-item owns one end, and others steal from the other end (Chase and Lev).
 *
 * The owner pushes and takes at `bottom`, thieves steal at `top`. Each writes its end, and then reads the other's. Two
 * sequentially consistent fences are between these steps: without them both could get the same task (store buffering).
 *
 * kiln run --kernel work --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[3]=0 --check got[0]>=0
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[3]=0
 *     got[0]=0 got[1]=7 got[2]=8
 *     got[0]=8 got[1]=0 got[2]=0
 *     got[0]=8 got[1]=0 got[2]=7
 *     got[0]=8 got[1]=7 got[2]=0
 */
int steal(global atomic_int *top, global atomic_int *bottom, global atomic_int *tasks) {
    int first = atomic_load_explicit(top, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    int end = atomic_load_explicit(bottom, memory_order_acquire, memory_scope_device);
    if (first >= end)
        return 0;
    int task = atomic_load_explicit(&tasks[first], memory_order_relaxed, memory_scope_device);
    bool is_mine = atomic_compare_exchange_strong_explicit(
        top, &first, first + 1, memory_order_relaxed, memory_order_relaxed, memory_scope_device);
    return is_mine ? task : 0;
}

kernel void work(global atomic_int *top, global atomic_int *bottom, global atomic_int *tasks,
                 global int *got) {
    if (get_group_id(0) != 0) {
        got[1] = steal(top, bottom, tasks);
        got[2] = steal(top, bottom, tasks);
        return;
    }

    // Push. Only the owner writes `bottom`, so it knows its value.
    for (int end = 0; end < 2; ++end) {
        atomic_store_explicit(&tasks[end], 7 + end, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(bottom, end + 1, memory_order_release, memory_scope_device);
    }

    // Take.
    int end = 1, task = 0;
    atomic_store_explicit(bottom, end, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    int first = atomic_load_explicit(top, memory_order_relaxed, memory_scope_device);
    if (first <= end)
        task = atomic_load_explicit(&tasks[end], memory_order_relaxed, memory_scope_device);
    if (first == end && !atomic_compare_exchange_strong_explicit(
        top, &first, first + 1, memory_order_relaxed, memory_order_relaxed, memory_scope_device))
        task = 0;
    if (first >= end)
        atomic_store_explicit(bottom, end + 1, memory_order_relaxed, memory_scope_device);
    got[0] = task;
}
