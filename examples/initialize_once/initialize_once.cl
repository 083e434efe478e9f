/* Initialization by the first work-item that needs an object (double-checked).
 *
 * kiln run --kernel use --global 4 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[4]=0 --check used[0..4]=7,7,7,7 --check state[0]=2
 *
 * kiln litmus -D SPINS=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0
 *     state=2 object=7 used[0]=7 used[1]=7
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

enum { EMPTY, BUSY, READY };

kernel void use(global atomic_int *state, global int *object, global int *used) {
    int known = EMPTY;

    if (atomic_compare_exchange_strong_explicit(state, &known, BUSY, memory_order_relaxed,
                                                memory_order_relaxed, memory_scope_device)) {
        object[0] = 7;
        atomic_store_explicit(state, READY, memory_order_release, memory_scope_device);
    } else {
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(state, memory_order_acquire, memory_scope_device) != READY) {
        }
    }
    used[get_group_id(0)] = object[0];
}
