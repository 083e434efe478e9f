// A radix sort of 32-bit keys, alone or with 32-bit values. It keeps the order of equal keys. Define the name and include the header, which
// undefines it:
//
//   #define KILN_NAME pairs                   // the prefix of the functions
//   #define KILN_SORT_VALUES                  // if there are values
//   #include <kiln/sort.h>
//
// The work-groups of all launches have the same size, a multiple of the sub-group size, of at least KILN_SORT_DIGITS work-items.
// Sub-groups have at most 32 work-items. A pass sorts by KILN_SORT_BITS bits of the keys: 8, or 4, which needs less local memory where
// sub-groups are small. Define it and KILN_SORT_TILE before the header is first included. Fast on NVIDIA: 384 work-items with 16 keys each, or 256
// with 24. The kernels of a program call, with KILN_SORT_TILE keys for each work-item in the passes:
//
//   1. void kiln_sort_count(const global uint *keys, uint n, global uint *state, uint tiles, local uint *scratch)
//      with any number of work-groups; `tiles` is the number of work-groups of the passes. `scratch` has KILN_SORT_PASSES * KILN_SORT_DIGITS
//      elements.
//   2. void kiln_sort_starts(global uint *state, local uint *scratch)
//      with one work-group. `scratch` has an element for each sub-group.
//   3. void pairs_sort_pass(uint pass, const global uint *keys, global uint *sorted, const global uint *values,
//                           global uint *sorted_values, uint n, global uint *state, local uint *scratch)
//      for the passes 0 to KILN_SORT_PASSES - 1 in order, each from one buffer to another. Without values, these two parameters are missing.
//      `scratch` has KILN_SORT_SCRATCH(local size, sub-groups) elements.
//
// `state` has KILN_SORT_STATE(tiles) elements, all zero before the first sort; later sorts reuse it unchanged. To sort floats or signed integers, convert the keys
// with `kiln_sort_float` or `kiln_sort_int` as the first pass reads them, and back with `kiln_unsort_…`.
//
// Each pass reads and writes each key once: a work-group counts its keys by digit, publishes the counts, and looks back at those of
// the work-groups before it (Adinets, Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022).
#ifndef KILN_SORT_H
#define KILN_SORT_H

// The number of keys of a work-item in a pass.
#ifndef KILN_SORT_TILE
#define KILN_SORT_TILE 16
#endif

// The number of bits of a digit.
#ifndef KILN_SORT_BITS
#define KILN_SORT_BITS 8
#endif

// Private arrays become registers where the loops over them are unrolled.
#ifndef KILN_UNROLL
#define KILN_UNROLL __attribute__((opencl_unroll_hint))
#endif

// The number of earlier tiles whose counts a work-item reads at once.
#ifndef KILN_SORT_LOOKS
#define KILN_SORT_LOOKS 4
#endif

#define KILN_SORT_DIGITS (1 << KILN_SORT_BITS)
#define KILN_SORT_PASSES (32 / KILN_SORT_BITS)
#define KILN_SORT_SCRATCH(items, sub_groups) (KILN_SORT_DIGITS + 4 + (items) * KILN_SORT_TILE + KILN_SORT_DIGITS * (sub_groups))
// For each pass a counter, the counts of all keys, the positions of the first keys, and the counts of each tile.
#define KILN_SORT_STATE(tiles) (KILN_SORT_PASSES * (1 + KILN_SORT_DIGITS * (2 + (tiles))))
#define KILN_SORT_COUNTS KILN_SORT_PASSES
#define KILN_SORT_STARTS (KILN_SORT_PASSES * (1 + KILN_SORT_DIGITS))
#define KILN_SORT_TILES (KILN_SORT_PASSES * (1 + 2 * KILN_SORT_DIGITS))

#define KILN_SORT_PASTE_(a, b) a##b
#define KILN_SORT_PASTE(a, b) KILN_SORT_PASTE_(a, b)

// Keys whose order as unsigned integers is that of the numbers.
inline uint kiln_sort_int(int x) { return as_uint(x) ^ 0x80000000u; }
inline int kiln_unsort_int(uint key) { return as_int(key ^ 0x80000000u); }
inline uint kiln_sort_float(float x) { return as_uint(x) ^ (as_int(x) < 0 ? 0xffffffffu : 0x80000000u); }
inline float kiln_unsort_float(uint key) { return as_float(key ^ ((int)key < 0 ? 0x80000000u : 0xffffffffu)); }

// The digit of a key in a pass.
inline uint kiln_sort_digit(uint key, uint pass) { return key >> KILN_SORT_BITS * pass & KILN_SORT_DIGITS - 1u; }
inline uint4 kiln_sort_digits(uint4 key, uint pass) { return key >> KILN_SORT_BITS * pass & KILN_SORT_DIGITS - 1u; }

inline volatile global atomic_uint *kiln_sort_counter(global uint *state, uint pass)
{
    return (volatile global atomic_uint *)(state + pass);
}

// Counts the digits of all keys, and clears the state of the passes.
inline void kiln_sort_count(const global uint *keys, uint n, global uint *state, uint tiles, local uint *scratch)
{
    uint id = (uint)get_global_id(0), step = (uint)get_global_size(0), own = (uint)get_local_id(0);
    for (uint i = own; i < KILN_SORT_PASSES * KILN_SORT_DIGITS; i += (uint)get_local_size(0))
        scratch[i] = 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    local atomic_uint *counts = (local atomic_uint *)scratch;
    uint fours = n / 4;
    for (uint i = id; i < fours; i += step) {
        uint4 key = ((const global uint4 *)keys)[i];
        KILN_UNROLL
        for (uint pass = 0; pass < KILN_SORT_PASSES; pass++) {
            uint4 digit = KILN_SORT_DIGITS * pass + kiln_sort_digits(key, pass);
            atomic_fetch_add_explicit(&counts[digit.x], 1u, memory_order_relaxed, memory_scope_work_group);
            atomic_fetch_add_explicit(&counts[digit.y], 1u, memory_order_relaxed, memory_scope_work_group);
            atomic_fetch_add_explicit(&counts[digit.z], 1u, memory_order_relaxed, memory_scope_work_group);
            atomic_fetch_add_explicit(&counts[digit.w], 1u, memory_order_relaxed, memory_scope_work_group);
        }
    }
    if (id < n - 4 * fours)
        for (uint pass = 0; pass < KILN_SORT_PASSES; pass++) {
            uint digit = KILN_SORT_DIGITS * pass + kiln_sort_digit(keys[4 * fours + id], pass);
            atomic_fetch_add_explicit(&counts[digit], 1u, memory_order_relaxed, memory_scope_work_group);
        }
    for (uint i = id; i < KILN_SORT_PASSES * KILN_SORT_DIGITS * tiles; i += step)
        state[KILN_SORT_TILES + i] = 0;
    if (id < KILN_SORT_PASSES)
        state[id] = 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = own; i < KILN_SORT_PASSES * KILN_SORT_DIGITS; i += (uint)get_local_size(0))
        if (scratch[i] != 0)
            atomic_fetch_add_explicit((volatile global atomic_uint *)(state + KILN_SORT_COUNTS + i), scratch[i], memory_order_relaxed,
                                      memory_scope_device);
}

// The sum of the values of all work-items before this one, and all of them together are at most 2^30.
inline uint kiln_sort_scan(uint x, local uint *sums)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), own = get_sub_group_id();
    uint up_to = x;
    for (uint step = 1; step < size; step *= 2) {
        uint before = sub_group_shuffle_up(up_to, step);
        up_to += lane >= step ? before : 0;
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == size - 1)
        sums[own] = up_to;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint start = up_to - x;
    for (uint i = 0; i < own; i++)
        start += sums[i];
    return start;
}

// Computes the position of the first key with each digit, and clears the counts for the next sort.
inline void kiln_sort_starts(global uint *state, local uint *scratch)
{
    uint id = (uint)get_local_id(0);
    for (uint pass = 0; pass < KILN_SORT_PASSES; pass++) {
        global uint *counts = state + KILN_SORT_COUNTS + KILN_SORT_DIGITS * pass;
        uint start = kiln_sort_scan(id < KILN_SORT_DIGITS ? counts[id] : 0, scratch);
        if (id < KILN_SORT_DIGITS) {
            state[KILN_SORT_STARTS + KILN_SORT_DIGITS * pass + id] = start;
            counts[id] = 0;
        }
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// The state of a count: it is of this tile, or of all tiles up to this one.
#define KILN_SORT_OWN 0x40000000u
#define KILN_SORT_ALL 0x80000000u
#define KILN_SORT_VALUE 0x3fffffffu

// Publishes the count of a digit in a tile, or in all tiles up to this one.
inline void kiln_sort_publish(global uint *counts, uint tile, uint digit, uint count, uint status)
{
    volatile global atomic_uint *word = (volatile global atomic_uint *)(counts + digit + KILN_SORT_DIGITS * tile);
    atomic_store_explicit(word, count | status, memory_order_relaxed, memory_scope_device);
}

// The count of a digit in all tiles before this one. Reads the states of several tiles at once.
inline uint kiln_sort_look_back(global uint *counts, uint tile, uint digit)
{
    volatile global atomic_uint *word = (volatile global atomic_uint *)(counts + digit);
    uint sum = 0;
    for (uint before = tile; before != 0;) {
        uint found[KILN_SORT_LOOKS];
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_LOOKS; i++)
            found[i] = atomic_load_explicit(word + KILN_SORT_DIGITS * (before - 1 - min(i, before - 1)), memory_order_relaxed,
                                            memory_scope_device);
        bool is_known = true;
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_LOOKS; i++) {
            is_known = is_known && found[i] != 0;
            sum += is_known ? found[i] & KILN_SORT_VALUE : 0;
            before = is_known ? (found[i] & KILN_SORT_ALL) != 0 ? 0 : before - 1 : before;
            is_known = is_known && before != 0;
        }
    }
    return sum;
}

// Counts the keys of a sub-group by digit.
inline void kiln_sort_count_tile(const uint *key, uint pass, local atomic_uint *counts)
{
    KILN_UNROLL
    for (uint i = 0; i < KILN_SORT_TILE; i++)
        atomic_fetch_add_explicit(&counts[kiln_sort_digit(key[i], pass)], 1u, memory_order_relaxed, memory_scope_work_group);
}

// Returns the position of a key, and advances the position for the digit. `all` has a bit for each work-item of the sub-group.
inline uint kiln_sort_position(uint key, uint pass, uint all, local atomic_uint *positions)
{
    uint lane = get_sub_group_local_id(), digit = kiln_sort_digit(key, pass);
    // The work-items with the same digit. The last one reserves the positions for all of them.
    uint same = all;
    KILN_UNROLL
    for (uint bit = 0; bit < KILN_SORT_BITS; bit++) {
        uint is_set = -(digit >> bit & 1u);
        same &= ~(sub_group_ballot((int)is_set).x ^ is_set);
    }
    // Wait until the positions of the earlier keys are reserved.
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint last = 31u - clz(same), count = popcount(same & (2u << lane) - 1u);
    uint position = 0;
    if (lane == last)
        position = atomic_fetch_add_explicit(&positions[digit], count, memory_order_relaxed, memory_scope_work_group);
    return sub_group_shuffle(position, last) + count - 1;
}

#endif

#ifndef KILN_NAME
#error define KILN_NAME before <kiln/sort.h> is included
#else
#define KILN_SORT_FUNCTION(name) KILN_SORT_PASTE(KILN_NAME, name)

inline void KILN_SORT_FUNCTION(_sort_pass)(uint pass, const global uint *keys, global uint *sorted,
#ifdef KILN_SORT_VALUES
                                           const global uint *values, global uint *sorted_values,
#endif
                                           uint n, global uint *state, local uint *scratch)
{
    uint id = (uint)get_local_id(0), items = (uint)get_local_size(0);
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), own = get_sub_group_id(), sub_groups = get_num_sub_groups();
    local uint *starts = scratch, *shared = scratch + KILN_SORT_DIGITS, *positions = shared + 4;
    local uint *ordered = positions + KILN_SORT_DIGITS * sub_groups;
    local atomic_uint *own_positions = (local atomic_uint *)(positions + KILN_SORT_DIGITS * own);
    global uint *counts = state + KILN_SORT_TILES + KILN_SORT_DIGITS * pass * (uint)get_num_groups(0);

    for (uint i = id; i < KILN_SORT_DIGITS * sub_groups; i += items)
        positions[i] = 0;
    if (id == 0)
        shared[0] = atomic_fetch_add_explicit(kiln_sort_counter(state, pass), 1u, memory_order_relaxed, memory_scope_device);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint tile = shared[0], begin = tile * items * KILN_SORT_TILE, end = min(n, begin + items * KILN_SORT_TILE);
    bool is_whole = end - begin == items * KILN_SORT_TILE;

    // The keys of a sub-group are adjacent, so that equal keys keep their order. Those beyond the end sort last.
    uint first = begin + own * size * KILN_SORT_TILE + lane;
    uint key[KILN_SORT_TILE];
    if (is_whole) {
        const global uint *from = keys + first;
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_TILE; i++)
            key[i] = from[i * size];
    } else {
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_TILE; i++)
            key[i] = first + i * size < n ? keys[first + i * size] : 0xffffffffu;
    }
    kiln_sort_count_tile(key, pass, own_positions);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    // The count of each digit, published without the keys beyond the end, and the position of the first key with it in the tile.
    uint count = 0;
    if (id < KILN_SORT_DIGITS)
        for (uint i = 0; i < sub_groups; i++)
            count += positions[KILN_SORT_DIGITS * i + id];
    uint published = count - (id == KILN_SORT_DIGITS - 1 ? begin + items * KILN_SORT_TILE - end : 0);
    if (id < KILN_SORT_DIGITS)
        kiln_sort_publish(counts, tile, id, published, tile == 0 ? KILN_SORT_ALL : KILN_SORT_OWN);
    uint start = kiln_sort_scan(count, starts);
    if (id < KILN_SORT_DIGITS) {
        uint position = start;
        for (uint i = 0; i < sub_groups; i++) {
            uint part = positions[KILN_SORT_DIGITS * i + id];
            positions[KILN_SORT_DIGITS * i + id] = position;
            position += part;
        }
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    // The keys in the order of their digits.
    uint all = sub_group_ballot(1).x, local_position[KILN_SORT_TILE];
    KILN_UNROLL
    for (uint i = 0; i < KILN_SORT_TILE; i++) {
        local_position[i] = kiln_sort_position(key[i], pass, all, own_positions);
        ordered[local_position[i]] = key[i];
    }
    // The distance of each digit from its position in the result.
    if (id < KILN_SORT_DIGITS) {
        uint before = kiln_sort_look_back(counts, tile, id);
        if (tile != 0)
            kiln_sort_publish(counts, tile, id, before + published, KILN_SORT_ALL);
        starts[id] = state[KILN_SORT_STARTS + KILN_SORT_DIGITS * pass + id] + before - start;
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint position[KILN_SORT_TILE];
    if (is_whole) {
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_TILE; i++) {
            uint x = ordered[id + i * items];
            position[i] = starts[kiln_sort_digit(x, pass)] + id + i * items;
            sorted[position[i]] = x;
        }
    } else {
        KILN_UNROLL
        for (uint i = 0; i < KILN_SORT_TILE; i++) {
            uint x = ordered[id + i * items];
            position[i] = starts[kiln_sort_digit(x, pass)] + id + i * items;
            if (id + i * items < end - begin)
                sorted[position[i]] = x;
        }
    }
#ifdef KILN_SORT_VALUES
    uint value[KILN_SORT_TILE];
    KILN_UNROLL
    for (uint i = 0; i < KILN_SORT_TILE; i++)
        value[i] = is_whole || first + i * size < n ? values[first + i * size] : 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    KILN_UNROLL
    for (uint i = 0; i < KILN_SORT_TILE; i++)
        ordered[local_position[i]] = value[i];
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    KILN_UNROLL
    for (uint i = 0; i < KILN_SORT_TILE; i++)
        if (is_whole || id + i * items < end - begin)
            sorted_values[position[i]] = ordered[id + i * items];
#endif
}

#undef KILN_SORT_FUNCTION
#undef KILN_NAME
#undef KILN_SORT_VALUES
#endif
