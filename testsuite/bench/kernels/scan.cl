// Inclusive prefix sums in three steps: of blocks, of the blocks' sums, and those added to the blocks.
#define ITEMS 4

static uint scan_group(uint value, local uint *part) {
    uint lid = get_local_id(0);
    part[lid] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < get_local_size(0); step *= 2) {
        uint before = lid >= step ? part[lid - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[lid] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[lid];
}

kernel void scan_blocks(global const uint4 *data, global uint4 *out, global uint *sums, local uint *part) {
    uint4 v = data[get_global_id(0)];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    uint end = scan_group(v.w, part);
    out[get_global_id(0)] = v + (end - v.w);
    if (get_local_id(0) == get_local_size(0) - 1)
        sums[get_group_id(0)] = end;
}

kernel void scan_sums(global uint *sums, uint count, local uint *part) {
    uint carry = 0;
    for (uint base = 0; base < count; base += get_local_size(0)) {
        uint i = base + get_local_id(0);
        uint end = scan_group(i < count ? sums[i] : 0, part);
        if (i < count)
            sums[i] = carry + end;
        carry += part[get_local_size(0) - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void add_sums(global uint4 *out, global const uint *sums) {
    uint group = get_group_id(0);
    if (group > 0)
        out[get_global_id(0)] += sums[group - 1];
}
