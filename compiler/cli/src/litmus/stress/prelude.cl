// The ids of a work-item in its instance of the launch. KILN_X, KILN_Y and KILN_Z are the sizes of a work-group of an
// instance, KILN_GROUPS_X and so on their number, and KILN_ITEMS is the number of work-items in one. A work-group of the
// device contains the same work-group of several instances.

uint kiln_litmus_item(void) {
#if KILN_ADJACENT
    return (uint)get_local_id(0) % KILN_ITEMS;
#else
    return (uint)get_local_id(0) / ((uint)get_local_size(0) / KILN_ITEMS);
#endif
}

size_t kiln_litmus_local_size(uint d) { return d == 0 ? KILN_X : d == 1 ? KILN_Y : d == 2 ? KILN_Z : 1; }
size_t kiln_litmus_num_groups(uint d) {
    return d == 0 ? KILN_GROUPS_X : d == 1 ? KILN_GROUPS_Y : d == 2 ? KILN_GROUPS_Z : 1;
}
size_t kiln_litmus_local_id(uint d) {
    uint item = kiln_litmus_item();
    return d == 0 ? item % KILN_X : d == 1 ? item / KILN_X % KILN_Y : d == 2 ? item / (KILN_X * KILN_Y) : 0;
}
size_t kiln_litmus_group_id(uint d) {
    uint group = (uint)get_group_id(0);
    return d == 0   ? group % KILN_GROUPS_X
           : d == 1 ? group / KILN_GROUPS_X % KILN_GROUPS_Y
           : d == 2 ? group / (KILN_GROUPS_X * KILN_GROUPS_Y)
                    : 0;
}
size_t kiln_litmus_global_size(uint d) { return kiln_litmus_num_groups(d) * kiln_litmus_local_size(d); }
size_t kiln_litmus_global_id(uint d) {
    return d > 2 ? 0 : kiln_litmus_group_id(d) * kiln_litmus_local_size(d) + kiln_litmus_local_id(d);
}
size_t kiln_litmus_global_offset(uint d) { return 0; }
size_t kiln_litmus_local_linear_id(void) { return kiln_litmus_item(); }
size_t kiln_litmus_global_linear_id(void) {
    return (kiln_litmus_global_id(2) * kiln_litmus_global_size(1) + kiln_litmus_global_id(1)) * kiln_litmus_global_size(0) +
           kiln_litmus_global_id(0);
}
uint kiln_litmus_work_dim(void) { return KILN_Z * KILN_GROUPS_Z > 1 ? 3 : KILN_Y * KILN_GROUPS_Y > 1 ? 2 : 1; }

// Memory traffic: relaxed accesses to memory that no test uses, which order nothing.
void kiln_litmus_add_traffic(global atomic_uint *scratch, uint chance, uint count) {
    uint sum = 0;
    for (uint i = 0; i < count; i++) {
        global atomic_uint *word = scratch + (chance >> i % 16 & 15) * 16;
        if (chance >> i % 31 & 1)
            sum += atomic_fetch_add_explicit(word, 1, memory_order_relaxed, memory_scope_device);
        else
            sum += atomic_load_explicit(word, memory_order_relaxed, memory_scope_device);
    }
    // Uses the sum, so that the loads are not removed.
    if (sum == 0x9e3779b9u)
        atomic_fetch_add_explicit(scratch, sum, memory_order_relaxed, memory_scope_device);
}

#define get_work_dim kiln_litmus_work_dim
#define get_global_size kiln_litmus_global_size
#define get_global_id kiln_litmus_global_id
#define get_local_size kiln_litmus_local_size
#define get_enqueued_local_size kiln_litmus_local_size
#define get_local_id kiln_litmus_local_id
#define get_num_groups kiln_litmus_num_groups
#define get_group_id kiln_litmus_group_id
#define get_global_offset kiln_litmus_global_offset
#define get_global_linear_id kiln_litmus_global_linear_id
#define get_local_linear_id kiln_litmus_local_linear_id
