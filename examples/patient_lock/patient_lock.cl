/* A lock that is read before it is taken (test and test-and-set).
 *
 * Waiting work-items only read, which does not take the cache line from the owner. Only the successful exchange
 * orders memory.
 *
 * kiln run --kernel count --global 32 --local 8
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --check counter[0]=40
 *
 * kiln litmus -D SPINS=1 -D ROUNDS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0
 *     lock=0 counter=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

#ifndef ROUNDS
#define ROUNDS 10
#endif

kernel void count(global atomic_int *lock, global int *counter) {
    if (get_local_id(0) != 0)
        return;

    for (int round = 0; round < ROUNDS; ++round) {
        do {
            __attribute__((opencl_unroll_hint(SPINS)))
            while (atomic_load_explicit(lock, memory_order_relaxed, memory_scope_device)) {
            }
        } while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device));
        counter[0] += 1;
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
    }
}
