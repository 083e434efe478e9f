/* A lock that serves work-groups in the order of their arrival.
 *
 * A work-item draws a ticket and waits until its number is called. Only the call orders memory: the draw can be
 * relaxed.
 *
 * kiln run --kernel count --global 32 --local 8
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[1]=0 --check counter[0]=40
 *
 * kiln litmus -D SPINS=1 -D ROUNDS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[1]=0
 *     next=2 called=2 counter=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

#ifndef ROUNDS
#define ROUNDS 10
#endif

kernel void count(global atomic_int *next, global atomic_int *called, global int *counter) {
    if (get_local_id(0) != 0)
        return;

    for (int round = 0; round < ROUNDS; ++round) {
        int ticket = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(called, memory_order_acquire, memory_scope_device) != ticket) {
        }
        counter[0] += 1;
        atomic_store_explicit(called, ticket + 1, memory_order_release, memory_scope_device);
    }
}
