/* A lock-free stack, onto which work-items push and from which they pop (Treiber).
 *
 * `head` is the number of the top cell, and 0 if the stack is empty. Each work-item pushes its cell, and then pops
 * one. A cell is pushed only once, so the head never returns to an earlier value (ABA).
 *
 * kiln run --kernel exchange --global 4 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[4]=0 --arg buf:int[4]=0 --check head[0]=0
 *     --check taken[0]>0 --check taken[1]>0 --check taken[2]>0 --check taken[3]>0
 *
 * kiln litmus --iterations 2 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0
 *     head=0 next[0]=0 next[1]=0 taken[0]=1 taken[1]=2
 *     head=0 next[0]=0 next[1]=1 taken[0]=1 taken[1]=2
 *     head=0 next[0]=0 next[1]=1 taken[0]=2 taken[1]=1
 *     head=0 next[0]=2 next[1]=0 taken[0]=1 taken[1]=2
 *     head=0 next[0]=2 next[1]=0 taken[0]=2 taken[1]=1
 */
kernel void exchange(global atomic_int *head, global int *next, global int *taken) {
    int me = get_group_id(0);

    int top = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device);
    do {
        next[me] = top;
    } while (!atomic_compare_exchange_strong_explicit(head, &top, me + 1, memory_order_release,
                                                      memory_order_relaxed, memory_scope_device));

    top = atomic_load_explicit(head, memory_order_acquire, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(head, &top, next[top - 1], memory_order_acquire,
                                                    memory_order_acquire, memory_scope_device)) {
    }
    taken[me] = top;
}
