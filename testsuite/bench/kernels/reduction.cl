// The sum of all numbers: each work-item adds up some, a tree in local memory adds up the work-group's.
kernel void reduction(global const uint4 *data, uint count, global uint *sums, local uint *part) {
    uint lid = get_local_id(0);
    uint4 sum = 0;
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        sum += data[i];
    part[lid] = sum.x + sum.y + sum.z + sum.w;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (lid < step)
            part[lid] += part[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = part[0];
}

kernel void reduction_of_sums(global const uint *sums, uint count, global uint *total, local uint *part) {
    uint lid = get_local_id(0);
    uint sum = 0;
    for (uint i = lid; i < count; i += get_local_size(0))
        sum += sums[i];
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (lid < step)
            part[lid] += part[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        total[0] = part[0];
}
