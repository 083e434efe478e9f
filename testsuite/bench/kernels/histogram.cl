// Counts bytes: in local memory for each work-group, then at device scope.
kernel void histogram(global const uint *data, uint count, global uint *bins) {
    local uint mine[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        uint word = data[i];
        atomic_inc(&mine[word & 255]);
        atomic_inc(&mine[(word >> 8) & 255]);
        atomic_inc(&mine[(word >> 16) & 255]);
        atomic_inc(&mine[word >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        atomic_add(&bins[i], mine[i]);
}
