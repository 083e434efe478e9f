/* A ring buffer with one producer and one consumer.
 *
 * The producer waits for a free place, and the consumer for a full one. Only the producer writes `written`, and only
 * the consumer writes `taken`. One work-item of each group takes part.
 *
 * kiln run --kernel pass --global 16 --local 8
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0 --arg buf:int[2]=0 --check got[0..2]=1,2
 *
 * kiln litmus -D SPINS=1 -D PLACES=1 --global 2 --local 1
 *     --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0
 *     written=2 taken=2 places=2 got[0]=1 got[1]=2
 */
#ifndef SPINS
// The number of loads in each iteration of a waiting loop: some drivers limit the number of iterations.
#define SPINS 64
#endif

#ifndef PLACES
#define PLACES 2
#endif
#define COUNT 2

kernel void pass(global atomic_int *written, global atomic_int *taken, global int *places,
                 global int *got) {
    if (get_local_id(0) != 0)
        return;

    if (get_group_id(0) == 0) {
        for (int number = 0; number < COUNT; ++number) {
            __attribute__((opencl_unroll_hint(SPINS))) while (number - atomic_load_explicit(
                taken, memory_order_acquire, memory_scope_device) == PLACES) {
            }
            places[number % PLACES] = number + 1;
            atomic_store_explicit(written, number + 1, memory_order_release, memory_scope_device);
        }
        return;
    }

    for (int number = 0; number < COUNT; ++number) {
        __attribute__((opencl_unroll_hint(SPINS)))
        while (atomic_load_explicit(written, memory_order_acquire, memory_scope_device) == number) {
        }
        got[number] = places[number % PLACES];
        atomic_store_explicit(taken, number + 1, memory_order_release, memory_scope_device);
    }
}
