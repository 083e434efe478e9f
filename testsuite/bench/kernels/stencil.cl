// One step of heat conduction: nine points through a tile in local memory with a border of one.
#define W 32
#define H 8

kernel __attribute__((reqd_work_group_size(W, H, 1)))
void stencil(global const float *in, global float *out, uint width, uint height) {
    local float tile[H + 2][W + 2];
    int x = get_global_id(0), y = get_global_id(1);
    int left = get_group_id(0) * W - 1, top = get_group_id(1) * H - 1;
    for (uint i = get_local_id(1) * W + get_local_id(0); i < (W + 2) * (H + 2); i += W * H) {
        int tx = clamp(left + (int)(i % (W + 2)), 0, (int)width - 1);
        int ty = clamp(top + (int)(i / (W + 2)), 0, (int)height - 1);
        tile[i / (W + 2)][i % (W + 2)] = in[ty * width + tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
    float near = tile[ly - 1][lx] + tile[ly + 1][lx] + tile[ly][lx - 1] + tile[ly][lx + 1];
    float far = tile[ly - 1][lx - 1] + tile[ly - 1][lx + 1] + tile[ly + 1][lx - 1] + tile[ly + 1][lx + 1];
    out[y * width + x] = 0.5f * tile[ly][lx] + 0.1f * near + 0.025f * far;
}
