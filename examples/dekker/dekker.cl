/* Dekker's lock for two work-items, which needs only loads and stores.
 *
 * Each announces that it wants to enter, and looks whether the other does. Both could see nothing if these
 * operations were only acquire and release (store buffering), so they are sequentially consistent. `turn` decides
 * who retreats.
 *
 * kiln run --kernel count --global 2 --local 1
 *     --arg buf:int[2]=0 --arg buf:int[1]=0 --arg buf:int[1]=0 --check entered[0]=20
 *
 * kiln litmus -D SPINS=1 -D ROUNDS=1 --iterations 2 --global 2 --local 1
 *     --arg buf:int[2]=0 --arg buf:int[1]=0 --arg buf:int[1]=0
 *     wants[0]=0 wants[1]=0 turn=0 entered=2
 *     wants[0]=0 wants[1]=0 turn=1 entered=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

#ifndef ROUNDS
#define ROUNDS 10
#endif

kernel void count(global atomic_int *wants, global atomic_int *turn, global int *entered) {
    int me = get_group_id(0), other = 1 - me;

    for (int round = 0; round < ROUNDS; ++round) {
        atomic_store_explicit(&wants[me], 1, memory_order_seq_cst, memory_scope_device);
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(&wants[other], memory_order_seq_cst, memory_scope_device)) {
            if (atomic_load_explicit(turn, memory_order_relaxed, memory_scope_device) != me) {
                atomic_store_explicit(&wants[me], 0, memory_order_relaxed, memory_scope_device);
                __attribute__((opencl_unroll_hint(SPINS))) while (atomic_load_explicit(
                    turn, memory_order_relaxed, memory_scope_device) != me) {
                }
                atomic_store_explicit(&wants[me], 1, memory_order_seq_cst, memory_scope_device);
            }
        }
        entered[0] += 1;
        atomic_store_explicit(turn, other, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(&wants[me], 0, memory_order_release, memory_scope_device);
    }
}
