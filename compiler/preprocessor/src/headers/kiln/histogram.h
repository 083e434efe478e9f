// Histograms: counts of values in few bins. Each work-group counts in local memory, and adds its counts to those in global memory.
//
//   kernel void k(const global uchar *pixels, uint n, global uint *bins)      // `bins` is zero before the launch
//   {
//       local uint counts[KILN_HISTOGRAM_COPIES * 256];
//       kiln_histogram_begin(counts, 256);
//       for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//           kiln_histogram_count(counts, 256, pixels[i]);
//       kiln_histogram_end(counts, 256, bins);
//   }
//
// All work-items of a work-group must call the first and the last function. If many values are equal, several copies of the
// counts reduce waiting: define KILN_HISTOGRAM_COPIES before the header is included.
#ifndef KILN_HISTOGRAM_H
#define KILN_HISTOGRAM_H

#ifndef KILN_HISTOGRAM_COPIES
#define KILN_HISTOGRAM_COPIES 1
#endif

// Clears the counts.
inline void kiln_histogram_begin(local uint *counts, uint bins)
{
    uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    for (uint i = (uint)get_local_linear_id(); i < KILN_HISTOGRAM_COPIES * bins; i += items)
        counts[i] = 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
}

// Counts a value, which is less than `bins`.
inline void kiln_histogram_count(local uint *counts, uint bins, uint value)
{
    uint copy = (uint)get_local_linear_id() % KILN_HISTOGRAM_COPIES;
    atomic_fetch_add_explicit((volatile local atomic_uint *)(counts + copy * bins + value), 1u, memory_order_relaxed,
                              memory_scope_work_group);
}

// Adds the counts to those in global memory.
inline void kiln_histogram_end(local uint *counts, uint bins, global uint *total)
{
    uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_linear_id(); i < bins; i += items) {
        uint sum = 0;
        for (uint copy = 0; copy < KILN_HISTOGRAM_COPIES; copy++)
            sum += counts[copy * bins + i];
        if (sum != 0)
            atomic_fetch_add_explicit((volatile global atomic_uint *)(total + i), sum, memory_order_relaxed, memory_scope_device);
    }
}

#endif
