// Scans (prefix sums) and reductions of a type and an associative operation: of a sub-group, of a work-group, and of a whole buffer
// in one launch. Define these four and include the header; it undefines them, so that it can be included again:
//
//   #define KILN_NAME sum                     // the prefix of the functions
//   #define KILN_TYPE uint                    // a scalar of four bytes
//   #define KILN_OP(a, b) ((a) + (b))         // associative; it need not be commutative
//   #define KILN_IDENTITY 0u                  // KILN_OP(KILN_IDENTITY, x) is x
//   #include <kiln/scan.h>
//
// It defines, for all work-items of a work-group (whose size is a multiple of the sub-group size) to call together:
//
//   uint sum_work_group_scan(uint x, local uint *scratch, uint *total)
//       The combination of the values of all work-items before this one, and that of all.
//       `scratch` has KILN_SCAN_SCRATCH elements.
//   uint sum_work_group_reduce(uint x, local uint *scratch)
//   void sum_scan_inclusive(const global uint *in, global uint *out, uint n, global ulong *state, local uint *scratch)
//   void sum_scan_exclusive(the same)
//       Scans n elements. Each work-group scans KILN_SCAN_TILE elements for each of its work-items: launch exactly enough work-groups
//       for n elements. `in` and `out` are multiples of 16 bytes, and may be the same buffer.
//   void sum_reduce(const global uint *in, global uint *out, uint n, global ulong *state, local uint *scratch)
//       Combines n elements into *out, with any number of work-groups. The operation must be commutative.
//
// `state` has KILN_SCAN_STATE(groups) elements, all zero before the first launch. Later launches with the same number of work-groups
// reuse it unchanged. A launch reads and writes each element once: a work-group adds up its elements, publishes the sum, and looks back
// at the sums of the work-groups before it (Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016). It
// takes the number of its part from a counter, so that it only waits for work-groups that have started.
#ifndef KILN_SCAN_H
#define KILN_SCAN_H

// The number of elements of a work-item, a multiple of 4.
#ifndef KILN_SCAN_TILE
#define KILN_SCAN_TILE 16
#endif

// Private arrays become registers where the loops over them are unrolled.
#ifndef KILN_UNROLL
#define KILN_UNROLL __attribute__((opencl_unroll_hint))
#endif

// One partial result for each sub-group, and three shared values.
#define KILN_SCAN_SCRATCH 260
#define KILN_SCAN_STATE(groups) (2 + 2 * (groups))

#define KILN_PASTE_(a, b) a##b
#define KILN_PASTE(a, b) KILN_PASTE_(a, b)

// The state of a tile: its sum, the sum up to its end, or nothing yet. It contains the number of the launch for which it is valid.
#define KILN_SCAN_SUM 1u
#define KILN_SCAN_PREFIX 2u

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
// State and value are in one word, so no memory order is needed.
inline void kiln_scan_publish(global ulong *state, uint tile, uint launch, uint status, uint bits)
{
    volatile global atomic_ulong *word = (volatile global atomic_ulong *)(state + 2 + tile);
    ulong packed = (ulong)(launch << 2 | status) << 32 | bits;
    atomic_store_explicit(word, packed, memory_order_relaxed, memory_scope_device);
}

// Returns the status of a tile, or 0.
inline uint kiln_scan_look(global ulong *state, uint tile, uint launch, uint *bits)
{
    volatile global atomic_ulong *word = (volatile global atomic_ulong *)(state + 2 + tile);
    ulong packed = atomic_load_explicit(word, memory_order_relaxed, memory_scope_device);
    *bits = (uint)packed;
    uint status = (uint)(packed >> 32) ^ launch << 2;
    return status <= KILN_SCAN_PREFIX ? status : 0;
}
#else
// The state publishes one of two values.
inline void kiln_scan_publish(global ulong *state, uint tile, uint launch, uint status, uint bits)
{
    global uint *words = (global uint *)(state + 2 + 2 * tile);
    words[status] = bits;
    atomic_store_explicit((volatile global atomic_uint *)words, launch << 2 | status, memory_order_release, memory_scope_device);
}

// Returns the status of a tile, or 0.
inline uint kiln_scan_look(global ulong *state, uint tile, uint launch, uint *bits)
{
    global uint *words = (global uint *)(state + 2 + 2 * tile);
    uint status = atomic_load_explicit((volatile global atomic_uint *)words, memory_order_acquire, memory_scope_device);
    status ^= launch << 2;
    status = status <= KILN_SCAN_PREFIX ? status : 0;
    *bits = status == 0 ? 0 : words[status];
    return status;
}
#endif

// Counts a work-group that has written its result. The last one of a launch reads the results of all others.
inline bool kiln_reduce_arrive(global ulong *state, uint groups)
{
    uint before = atomic_fetch_add_explicit((volatile global atomic_uint *)state, 1u, memory_order_acq_rel, memory_scope_device);
    return before % groups == groups - 1;
}

#endif

#if !(defined(KILN_NAME) && defined(KILN_TYPE) && defined(KILN_OP) && defined(KILN_IDENTITY))
#error define KILN_NAME, KILN_TYPE, KILN_OP and KILN_IDENTITY before <kiln/scan.h> is included
#else
#define KILN_FUNCTION(name) KILN_PASTE(KILN_NAME, name)
#define KILN_VECTOR KILN_PASTE(KILN_TYPE, 4)
#define KILN_AS_TYPE KILN_PASTE(as_, KILN_TYPE)

// The combination of the values of this and all earlier work-items of the sub-group.
inline KILN_TYPE KILN_FUNCTION(_sub_group_scan)(KILN_TYPE x)
{
    uint lane = get_sub_group_local_id();
    for (uint step = 1; step < get_sub_group_size(); step *= 2) {
        KILN_TYPE before = sub_group_shuffle_up(x, step);
        x = lane >= step ? KILN_OP(before, x) : x;
    }
    return x;
}

// The value of the work-item before this one.
inline KILN_TYPE KILN_FUNCTION(_before)(KILN_TYPE x)
{
    KILN_TYPE before = sub_group_shuffle_up(x, 1u);
    return get_sub_group_local_id() == 0 ? KILN_IDENTITY : before;
}

inline KILN_TYPE KILN_FUNCTION(_work_group_scan)(KILN_TYPE x, local KILN_TYPE *scratch, KILN_TYPE *total)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), own = get_sub_group_id();
    uint count = get_num_sub_groups();
    KILN_TYPE inclusive = KILN_FUNCTION(_sub_group_scan)(x);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == size - 1)
        scratch[own] = inclusive;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (own == 0) {
        KILN_TYPE carry = KILN_IDENTITY;
        for (uint first = 0; first < count; first += size) {
            KILN_TYPE part = first + lane < count ? scratch[first + lane] : KILN_IDENTITY;
            KILN_TYPE up_to = KILN_FUNCTION(_sub_group_scan)(part);
            KILN_TYPE before = KILN_FUNCTION(_before)(up_to);
            if (first + lane < count)
                scratch[first + lane] = KILN_OP(carry, before);
            carry = KILN_OP(carry, sub_group_broadcast(up_to, size - 1));
        }
        if (lane == 0)
            scratch[256] = carry;
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    *total = scratch[256];
    KILN_TYPE before = KILN_FUNCTION(_before)(inclusive);
    return KILN_OP(scratch[own], before);
}

inline KILN_TYPE KILN_FUNCTION(_work_group_reduce)(KILN_TYPE x, local KILN_TYPE *scratch)
{
    KILN_TYPE total;
    KILN_FUNCTION(_work_group_scan)(x, scratch, &total);
    return total;
}

// The combination of the sums of all tiles before this one, computed by one sub-group. Each of its work-items reads the state of one
// tile at a time.
inline KILN_TYPE KILN_FUNCTION(_look_back)(global ulong *state, uint tile, uint launch)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    KILN_TYPE sum = KILN_IDENTITY;
    for (uint end = tile; end != 0;) {
        // Work-item 0 reads the nearest tile. The sum of the tiles before the first one is the identity.
        bool is_tile = lane < end;
        uint bits = 0, status;
        do
            status = is_tile ? kiln_scan_look(state, end - 1 - lane, launch, &bits) : KILN_SCAN_PREFIX;
        while (sub_group_any(status == 0));
        KILN_TYPE x = is_tile ? KILN_AS_TYPE(bits) : KILN_IDENTITY;
        // The nearest tile whose state is the sum of all tiles up to its end.
        uint nearest = sub_group_reduce_min(status == KILN_SCAN_PREFIX ? lane : size);
        x = lane > nearest ? KILN_IDENTITY : x;
        for (uint step = 1; step < size; step *= 2) {
            KILN_TYPE farther = sub_group_shuffle_down(x, step);
            x = lane + step < size ? KILN_OP(farther, x) : x;
        }
        sum = KILN_OP(sub_group_broadcast(x, 0u), sum);
        if (nearest < size)
            break;
        end -= size;
    }
    return sum;
}

// Scans the elements of one tile.
inline void KILN_FUNCTION(_scan_tile)(const global KILN_TYPE *in, global KILN_TYPE *out, uint n, global ulong *state,
                                      local KILN_TYPE *scratch, bool is_exclusive)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), own = get_sub_group_id();
    local uint *shared = (local uint *)(scratch + 257);
    if (get_local_id(0) == 0)
        shared[0] = atomic_fetch_add_explicit((volatile global atomic_uint *)state, 1u, memory_order_relaxed, memory_scope_device);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint tiles = (uint)get_num_groups(0);
    uint ticket = shared[0], tile = ticket % tiles, launch = ticket / tiles + 1;

    // The elements of a sub-group are adjacent. In each round, a work-item has four adjacent ones.
    uint first = (tile * (uint)get_local_size(0) + own * size) * KILN_SCAN_TILE + lane * 4;
    KILN_VECTOR x[KILN_SCAN_TILE / 4];
    KILN_TYPE before[KILN_SCAN_TILE / 4];
    bool is_whole = (tile + 1) * (uint)get_local_size(0) * KILN_SCAN_TILE <= n;
    KILN_UNROLL
    for (uint round = 0; round < KILN_SCAN_TILE / 4; round++) {
        uint at = first + round * size * 4;
        if (is_whole)
            x[round] = *(const global KILN_VECTOR *)(in + at);
        else
            x[round] = (KILN_VECTOR)(at < n ? in[at] : KILN_IDENTITY, at + 1 < n ? in[at + 1] : KILN_IDENTITY,
                                     at + 2 < n ? in[at + 2] : KILN_IDENTITY, at + 3 < n ? in[at + 3] : KILN_IDENTITY);
    }
    KILN_TYPE sum = KILN_IDENTITY;
    KILN_UNROLL
    for (uint round = 0; round < KILN_SCAN_TILE / 4; round++) {
        KILN_TYPE half_sum = KILN_OP(x[round].x, x[round].y);
        KILN_TYPE up_to = KILN_FUNCTION(_sub_group_scan)(KILN_OP(half_sum, KILN_OP(x[round].z, x[round].w)));
        KILN_TYPE earlier = KILN_FUNCTION(_before)(up_to);
        before[round] = KILN_OP(sum, earlier);
        sum = KILN_OP(sum, sub_group_broadcast(up_to, size - 1));
    }

    // The sums of the sub-groups, of the tile, and of all tiles before it.
    if (lane == 0)
        scratch[own] = sum;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (own == 0) {
        uint count = get_num_sub_groups();
        KILN_TYPE carry = KILN_IDENTITY;
        for (uint some = 0; some < count; some += size) {
            KILN_TYPE up_to = KILN_FUNCTION(_sub_group_scan)(some + lane < count ? scratch[some + lane] : KILN_IDENTITY);
            KILN_TYPE earlier = KILN_FUNCTION(_before)(up_to);
            if (some + lane < count)
                scratch[some + lane] = KILN_OP(carry, earlier);
            carry = KILN_OP(carry, sub_group_broadcast(up_to, size - 1));
        }
        if (lane == 0)
            kiln_scan_publish(state, tile, launch, tile == 0 ? KILN_SCAN_PREFIX : KILN_SCAN_SUM, as_uint(carry));
        if (tile != 0) {
            KILN_TYPE all_before = KILN_FUNCTION(_look_back)(state, tile, launch);
            if (lane == 0) {
                kiln_scan_publish(state, tile, launch, KILN_SCAN_PREFIX, as_uint(KILN_OP(all_before, carry)));
                scratch[256] = all_before;
            }
        } else if (lane == 0) {
            scratch[256] = KILN_IDENTITY;
        }
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    KILN_TYPE base = KILN_OP(scratch[256], scratch[own]);

    KILN_UNROLL
    for (uint round = 0; round < KILN_SCAN_TILE / 4; round++) {
        uint at = first + round * size * 4;
        KILN_TYPE start = KILN_OP(base, before[round]);
        KILN_VECTOR y;
        y.x = KILN_OP(start, x[round].x);
        y.y = KILN_OP(y.x, x[round].y);
        y.z = KILN_OP(y.y, x[round].z);
        y.w = KILN_OP(y.z, x[round].w);
        if (is_exclusive)
            y = (KILN_VECTOR)(start, y.x, y.y, y.z);
        if (is_whole) {
            *(global KILN_VECTOR *)(out + at) = y;
        } else {
            if (at < n)
                out[at] = y.x;
            if (at + 1 < n)
                out[at + 1] = y.y;
            if (at + 2 < n)
                out[at + 2] = y.z;
            if (at + 3 < n)
                out[at + 3] = y.w;
        }
    }
}

inline void KILN_FUNCTION(_scan_inclusive)(const global KILN_TYPE *in, global KILN_TYPE *out, uint n, global ulong *state,
                                           local KILN_TYPE *scratch)
{
    KILN_FUNCTION(_scan_tile)(in, out, n, state, scratch, false);
}

inline void KILN_FUNCTION(_scan_exclusive)(const global KILN_TYPE *in, global KILN_TYPE *out, uint n, global ulong *state,
                                           local KILN_TYPE *scratch)
{
    KILN_FUNCTION(_scan_tile)(in, out, n, state, scratch, true);
}

// Each work-item combines elements, each work-group combines the results of its work-items, and the last one to finish combines all.
inline void KILN_FUNCTION(_reduce)(const global KILN_TYPE *in, global KILN_TYPE *out, uint n, global ulong *state,
                                   local KILN_TYPE *scratch)
{
    uint id = (uint)get_local_id(0), items = (uint)get_local_size(0), groups = (uint)get_num_groups(0);
    global KILN_TYPE *parts = (global KILN_TYPE *)(state + 2);
    KILN_TYPE sum = KILN_IDENTITY;
    for (uint i = (uint)get_global_id(0); i < n / 4; i += (uint)get_global_size(0)) {
        KILN_VECTOR x = ((const global KILN_VECTOR *)in)[i];
        KILN_TYPE half_sum = KILN_OP(x.x, x.y);
        sum = KILN_OP(sum, KILN_OP(half_sum, KILN_OP(x.z, x.w)));
    }
    for (uint i = n / 4 * 4 + (uint)get_global_id(0); i < n; i += (uint)get_global_size(0))
        sum = KILN_OP(sum, in[i]);
    sum = KILN_FUNCTION(_work_group_reduce)(sum, scratch);
    local uint *shared = (local uint *)(scratch + 257);
    if (id == 0) {
        parts[get_group_id(0)] = sum;
        shared[0] = kiln_reduce_arrive(state, groups);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (shared[0]) {
        KILN_TYPE all = KILN_IDENTITY;
        for (uint some = 0; some < groups; some += items) {
            KILN_TYPE x = some + id < groups ? parts[some + id] : KILN_IDENTITY;
            all = KILN_OP(all, KILN_FUNCTION(_work_group_reduce)(x, scratch));
        }
        if (id == 0)
            *out = all;
    }
}

#undef KILN_NAME
#undef KILN_TYPE
#undef KILN_OP
#undef KILN_IDENTITY
#undef KILN_FUNCTION
#undef KILN_VECTOR
#undef KILN_AS_TYPE
#endif
