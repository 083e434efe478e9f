/* A quicksort that enqueues itself: a work-group partitions a part of the array, and enqueues a work-group for each half.
 *
 * The depth of the recursion depends on the data, so the host cannot launch the right kernels in advance. It launches one
 * work-item, and this launch is complete when the array is sorted.
 *
 * kiln run --kernel quicksort --global 1 --arg buf:uint[2000]=random(7)%1000 --arg buf:uint[2000] --arg uint:2000
 *     then --kernel count_descents --global 1999 --arg data --arg buf:uint[1]=0
 *     --print data[0..4] --check descents[0..1]=0
 */
#define ITEMS 64

void partition(global uint *data, global uint *scratch, uint count);

/* Enqueues a work-group that sorts the data. */
void sort(global uint *data, global uint *scratch, uint count) {
    if (count < 2) return;
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(ITEMS, ITEMS), ^{
        partition(data, scratch, count);
    });
}

/* Moves smaller numbers before the pivot and larger ones after it. All work-items of a work-group call it. */
void partition(global uint *data, global uint *scratch, uint count) {
    uint item = get_local_id(0), pivot = data[count / 2];
    uint smaller = 0, larger = 0;

    for (uint start = 0; start < count; start += ITEMS) {
        uint number = start + item < count ? data[start + item] : pivot;
        uint is_smaller = number < pivot, is_larger = number > pivot;
        uint first = smaller + work_group_scan_exclusive_add(is_smaller);
        uint last = larger + work_group_scan_exclusive_add(is_larger);
        if (is_smaller) scratch[first] = number;
        if (is_larger) scratch[count - 1 - last] = number;
        smaller += work_group_reduce_add(is_smaller);
        larger += work_group_reduce_add(is_larger);
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);

    for (uint at = item; at < count; at += ITEMS) {
        data[at] = at < smaller || at >= count - larger ? scratch[at] : pivot;
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);

    if (item == 0) {
        sort(data, scratch, smaller);
        sort(data + count - larger, scratch + count - larger, larger);
    }
}

kernel void quicksort(global uint *data, global uint *scratch, uint count) { sort(data, scratch, count); }

kernel void count_descents(global const uint *data, global atomic_uint *descents) {
    uint i = get_global_id(0);
    if (data[i] > data[i + 1]) atomic_fetch_add_explicit(descents, 1, memory_order_relaxed, memory_scope_device);
}
