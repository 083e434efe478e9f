/* A barrier of all work-groups that can be used again (sense-reversing).
 *
 * The last group to arrive resets the counter and begins the next phase, for which the others wait. Every group
 * must be resident, so launch few.
 *
 * kiln run --kernel shift --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=5,9 --check cells[0..2]=9,5 --check phase[0]=2
 *
 * kiln litmus -D SPINS=1 --iterations 1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=5,9
 *     arrived=0 phase=2 cells[0]=9 cells[1]=5
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

#define ROUNDS 1

void wait_for_all(global atomic_int *arrived, global atomic_int *phase, int number) {
    int groups = get_num_groups(0);
    if (atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel,
                                  memory_scope_device) == groups - 1) {
        atomic_store_explicit(arrived, 0, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(phase, number + 1, memory_order_release, memory_scope_device);
    } else {
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(phase, memory_order_acquire, memory_scope_device) <= number) {
        }
    }
}

kernel void shift(global atomic_int *arrived, global atomic_int *phase, global int *cells) {
    int me = get_group_id(0), groups = get_num_groups(0);

    for (int round = 0; round < ROUNDS; ++round) {
        int next = cells[(me + 1) % groups];
        wait_for_all(arrived, phase, 2 * round);
        cells[me] = next;
        wait_for_all(arrived, phase, 2 * round + 1);
    }
}
