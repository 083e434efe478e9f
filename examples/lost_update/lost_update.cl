/* Why `x += 1` is not atomic, and how to fix it.
 *
 * `racy` reads, adds and writes in three steps: work-items that read the same value write the same value, and
 * updates are lost. This is a data race, so the behavior is undefined; the test checks only that updates are
 * lost. `repaired` uses one atomic operation and counts correctly.
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
