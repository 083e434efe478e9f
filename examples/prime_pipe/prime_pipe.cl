/* A producer and a consumer, with a pipe between them.
 *
 * `find` tests numbers for primes. When a work-group has tested its numbers, it reserves one packet for each prime that it
 * found. Every work-item with a prime writes one packet, and the commit makes all packets visible. The work-items of
 * `take` read packets until the pipe is empty.
 *
 * kiln run --kernel find --global 256 --local 8 --arg pipe:uint[64]
 *     then --kernel take --global 8 --local 8
 *     --arg primes --arg buf:uint[2]=0
 *     --print totals[0..2] --check totals[0..2]=54,6081
 */
kernel void find(write_only pipe uint primes) {
    uint number = get_global_id(0);
    int is_prime = number > 1;

    for (uint divisor = 2; divisor * divisor <= number; divisor++) {
        is_prime &= number % divisor != 0;
    }

    uint count = work_group_reduce_add(is_prime);
    uint index = work_group_scan_exclusive_add(is_prime);
    reserve_id_t packets = work_group_reserve_write_pipe(primes, count);

    // Not valid if the pipe is full, or if the work-group found nothing.
    if (is_valid_reserve_id(packets)) {
        if (is_prime) write_pipe(primes, packets, index, &number);
        work_group_commit_write_pipe(primes, packets);
    }
}

kernel void take(read_only pipe uint primes, global atomic_uint *totals) {
    uint prime;

    while (read_pipe(primes, &prime) == 0) {
        atomic_fetch_add_explicit(&totals[0], 1, memory_order_relaxed, memory_scope_device);
        atomic_fetch_add_explicit(&totals[1], prime, memory_order_relaxed, memory_scope_device);
    }
}
