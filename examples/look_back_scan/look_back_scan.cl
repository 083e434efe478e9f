/* A scan over all work-groups in one launch (decoupled look-back).
 *
 * Each group publishes the sum of its tile. It looks back at its predecessors and adds their sums, until it finds
 * one that has published the sum of everything before it. Groups draw their numbers from a counter, so all
 * predecessors of a group have started.
 *
 * kiln run --kernel scan --global 4 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[4]=0 --arg buf:int[8]=0 --arg buf:int[4]=1,2,3,4 --arg buf:int[4]=0
 *     --check sums[0..4]=1,3,6,10
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[4]=0 --arg buf:int[2]=1,2 --arg buf:int[2]=0
 *     numbers=2 states[0]=2 states[1]=2 published[0]=1 published[1]=1 published[2]=2 published[3]=3 sums[0]=1 sums[1]=3
 */
enum { EMPTY, TILE, PREFIX };

kernel void scan(global atomic_int *numbers, global atomic_int *states, global int *published,
                 global const int *input, global int *sums) {
    int me = atomic_fetch_add_explicit(numbers, 1, memory_order_relaxed, memory_scope_device);
    int sum = input[me];

    published[2 * me] = sum;
    atomic_store_explicit(&states[me], TILE, memory_order_release, memory_scope_device);

    for (int other = me - 1; other >= 0; --other) {
        int state;
        do {
            state = atomic_load_explicit(&states[other], memory_order_acquire, memory_scope_device);
        } while (state == EMPTY);
        sum += published[2 * other + (state == PREFIX)];
        if (state == PREFIX)
            break;
    }

    published[2 * me + 1] = sum;
    atomic_store_explicit(&states[me], PREFIX, memory_order_release, memory_scope_device);
    sums[me] = sum;
}
