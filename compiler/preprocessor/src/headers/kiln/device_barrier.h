// A barrier of all work-groups of a launch. Every work-item of every group must call it. Writes to global
// memory before the barrier are visible to all work-items after it.
//
//   kernel void k(global atomic_uint *barrier, ...)     // one word, zero before the first launch
//   {
//       ...
//       kiln_device_barrier(barrier);
//
// All work-groups must run at the same time. OpenCL does not promise this: launch no more groups than the device can run
// together, such as one for each compute unit. After each barrier, all bits of the word except the highest are zero again, so
// any number of barriers and launches can use it.
#ifndef KILN_DEVICE_BARRIER_H
#define KILN_DEVICE_BARRIER_H

inline void kiln_device_barrier(volatile global atomic_uint *word)
{
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    if (get_local_linear_id() == 0) {
        uint groups = (uint)(get_num_groups(0) * get_num_groups(1) * get_num_groups(2));
        bool is_first = get_group_id(0) == 0 && get_group_id(1) == 0 && get_group_id(2) == 0;
        // The additions of all groups have the sum 2^31, so the last arrival flips the highest bit.
        uint part = is_first ? 0x80000000u - (groups - 1) : 1u;
        uint before = atomic_fetch_add_explicit(word, part, memory_order_release, memory_scope_device);
        while (((atomic_load_explicit(word, memory_order_acquire, memory_scope_device) ^ before) & 0x80000000u) == 0)
            ;
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
}

#endif
