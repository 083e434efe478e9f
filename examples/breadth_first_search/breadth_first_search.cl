/* A breadth-first search on the device: each level enqueues the next one.
 *
 * `search` starts with one vertex. At each level, one kernel visits the vertices that the previous level found. A second
 * kernel waits for its event, reads the number of new vertices, and enqueues the next level with one work-item for each
 * of them. The host launches only `search`, which is complete when the last level is complete.
 *
 * kiln run --kernel connect --global 1000 --arg buf:uint[2000] --arg uint:1000
 *     then --kernel search --global 1
 *     --arg edges --arg uint:1000 --arg buf:uint[1000] --arg buf:uint[2000] --arg buf:uint[64]=0
 *     --print sizes[0..14] --check sizes[0..14]=1,2,4,8,16,31,59,104,177,251,223,108,16,0
 */
#define UNSEEN 0xffffffffu

/* Two edges from each vertex. */
kernel void connect(global uint *edges, uint count) {
    uint vertex = get_global_id(0);
    edges[2 * vertex] = (3 * vertex + 1) % count;
    edges[2 * vertex + 1] = (7 * vertex + 2) % count;
}

/* Visits the `size` vertices at this distance. One half of `frontier` contains them; the other half receives the new ones. */
void visit(uint depth, uint size, global const uint *edges, uint count, global atomic_uint *distances,
           global uint *frontier, global atomic_uint *sizes) {
    queue_t queue = get_default_queue();
    clk_event_t visited;

    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(size), 0, NULL, &visited, ^{
        uint vertex = frontier[depth % 2 * count + get_global_id(0)];
        for (uint i = 0; i < 2; i++) {
            uint next = edges[2 * vertex + i], expected = UNSEEN;
            if (atomic_compare_exchange_strong_explicit(&distances[next], &expected, depth + 1, memory_order_relaxed,
                                                        memory_order_relaxed, memory_scope_device)) {
                uint index = atomic_fetch_add_explicit(&sizes[depth + 1], 1, memory_order_relaxed, memory_scope_device);
                frontier[(depth + 1) % 2 * count + index] = next;
            }
        }
    });
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &visited, NULL, ^{
        uint found = atomic_load_explicit(&sizes[depth + 1], memory_order_relaxed, memory_scope_device);
        if (found > 0) visit(depth + 1, found, edges, count, distances, frontier, sizes);
    });
    release_event(visited);
}

kernel void search(global const uint *edges, uint count, global atomic_uint *distances, global uint *frontier,
                   global atomic_uint *sizes) {
    for (uint vertex = 1; vertex < count; vertex++) atomic_init(&distances[vertex], UNSEEN);
    atomic_init(&distances[0], 0);
    atomic_init(&sizes[0], 1);
    frontier[0] = 0;
    visit(0, 1, edges, count, distances, frontier, sizes);
}
