/* A lock whose waiting work-items form a queue (Mellor-Crummey and Scott).
 *
 * Each waits for an object of its own, which its predecessor clears. `tail` is the number of the last group in the
 * queue, and 0 if the lock is free.
 *
 * kiln run --kernel count --global 4 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[4]=0 --arg buf:int[4]=0 --arg buf:int[1]=0 --check counter[0]=4
 *
 * kiln litmus -D SPINS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0 --arg buf:int[1]=0
 *     tail=0 next[0]=0 next[1]=0 waits[0]=1 waits[1]=1 counter=2
 *     tail=0 next[0]=0 next[1]=1 waits[0]=0 waits[1]=1 counter=2
 *     tail=0 next[0]=2 next[1]=0 waits[0]=1 waits[1]=0 counter=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

kernel void count(global atomic_int *tail, global atomic_int *next, global atomic_int *waits,
                  global int *counter) {
    int me = get_group_id(0);

    atomic_store_explicit(&waits[me], 1, memory_order_relaxed, memory_scope_device);
    int before = atomic_exchange_explicit(tail, me + 1, memory_order_acquire, memory_scope_device);
    if (before) {
        atomic_store_explicit(&next[before - 1], me + 1, memory_order_release, memory_scope_device);
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(&waits[me], memory_order_acquire, memory_scope_device)) {
        }
    }

    counter[0] += 1;

    int last = me + 1;
    if (!atomic_compare_exchange_strong_explicit(tail, &last, 0, memory_order_release,
                                                 memory_order_relaxed, memory_scope_device)) {
        int after;
        do {
            after = atomic_load_explicit(&next[me], memory_order_acquire, memory_scope_device);
        } while (!after);
        atomic_store_explicit(&waits[after - 1], 0, memory_order_release, memory_scope_device);
    }
}
