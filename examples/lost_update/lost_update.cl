/* Why `x += 1` is not enough, and what is.
 *
 * `racy` reads, adds and writes in three steps: work-items that read the same value write the same value, and
 * updates are lost. It is a data race, so the language promises nothing; what is checked is only that the
 * damage shows. `repaired` is the same with one indivisible step, and counts right.
 *
 * kiln run --kernel racy --global 4096 --local 64
 *     --arg buf:int[1]=0 --print counter[0] --check counter[0]<4096
 *
 * kiln run --kernel repaired --global 4096 --local 64
 *     --arg buf:int[1]=0 --print counter[0] --check counter[0]=4096
 */
kernel void racy(global volatile int *counter) {
    *counter += 1;
}

kernel void repaired(global atomic_int *counter) {
    atomic_fetch_add(counter, 1);
}
