/* A spin lock made of an atomic_flag.
 *
 * One work-item of each group acquires the lock, changes non-atomic memory and releases the lock. The acquire
 * synchronizes with the previous release, so the counters need not be atomic. Only one work-item per group may
 * compete: the work-items of a sub-group may run in lockstep, and a spinning work-item could block the owner of the lock.
 *
 * kiln run --kernel count --global 64 --local 8
 *     --arg buf:int[1]=0 --arg buf:int[2]=0
 *     --print counters[0..2] --check counters[0..2]=80,-80
 *
 * kiln litmus -D ROUNDS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0
 *     lock=0 counters[0]=2 counters[1]=4294967294
 */
#ifndef ROUNDS
#define ROUNDS 10
#endif

kernel void count(global atomic_flag *lock, global int *counters) {
    if (get_local_id(0) != 0)
        return;

    for (int round = 0; round < ROUNDS; ++round) {
        while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire, memory_scope_device)) {
        }
        counters[0] += 1;
        counters[1] -= 1;
        atomic_flag_clear_explicit(lock, memory_order_release, memory_scope_device);
    }
}
