// One kernel for each launch of the headers in <kiln/…> that libraries.rs measures. It defines the sizes.
#include <kiln/histogram.h>
#include <kiln/random.h>

#define KILN_NAME sum
#define KILN_TYPE uint
#define KILN_OP(a, b) ((a) + (b))
#define KILN_IDENTITY 0u
#include <kiln/scan.h>

#define KILN_NAME keys
#include <kiln/sort.h>

#define KILN_NAME pairs
#define KILN_SORT_VALUES
#include <kiln/sort.h>

kernel void copy(const global uint4 *in, global uint4 *out)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}

kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1)))
void scan(const global uint *in, global uint *out, uint n, global ulong *state)
{
    local uint scratch[KILN_SCAN_SCRATCH];
    sum_scan_inclusive(in, out, n, state, scratch);
}

kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1)))
void reduce(const global uint *in, global uint *out, uint n, global ulong *state)
{
    local uint scratch[KILN_SCAN_SCRATCH];
    sum_reduce(in, out, n, state, scratch);
}

kernel __attribute__((reqd_work_group_size(SORT_ITEMS, 1, 1)))
void sort_count(const global uint *keys, uint n, global uint *state, uint tiles)
{
    local uint scratch[KILN_SORT_PASSES * KILN_SORT_DIGITS];
    kiln_sort_count(keys, n, state, tiles, scratch);
}

kernel __attribute__((reqd_work_group_size(SORT_ITEMS, 1, 1)))
void sort_starts(global uint *state)
{
    local uint scratch[SORT_ITEMS];
    kiln_sort_starts(state, scratch);
}

kernel __attribute__((reqd_work_group_size(SORT_ITEMS, 1, 1)))
void sort_keys(uint pass, const global uint *keys, global uint *sorted, uint n, global uint *state, local uint *scratch)
{
    keys_sort_pass(pass, keys, sorted, n, state, scratch);
}

kernel __attribute__((reqd_work_group_size(SORT_ITEMS, 1, 1)))
void sort_pairs(uint pass, const global uint *keys, global uint *sorted, const global uint *values, global uint *sorted_values,
                uint n, global uint *state, local uint *scratch)
{
    pairs_sort_pass(pass, keys, sorted, values, sorted_values, n, state, scratch);
}

kernel void histogram(const global uint *in, uint n, global uint *bins)
{
    local uint counts[KILN_HISTOGRAM_COPIES * 256];
    kiln_histogram_begin(counts, 256);
    for (uint i = get_global_id(0); i < n / 4; i += get_global_size(0)) {
        uint4 four = ((const global uint4 *)in)[i];
        for (uint byte = 0; byte < 32; byte += 8) {
            kiln_histogram_count(counts, 256, four.x >> byte & 255);
            kiln_histogram_count(counts, 256, four.y >> byte & 255);
            kiln_histogram_count(counts, 256, four.z >> byte & 255);
            kiln_histogram_count(counts, 256, four.w >> byte & 255);
        }
    }
    kiln_histogram_end(counts, 256, bins);
}

kernel void random(global uint4 *out)
{
    out[get_global_id(0)] = kiln_philox((uint4)(get_global_id(0), 0, 0, 0), 0);
}
