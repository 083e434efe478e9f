// C = A B for square matrices whose size is a multiple of 64; 16 by 16 work-items make 64 by 64 elements.
#define TILE 64
#define DEPTH 16

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matrix_product(global const float *a, global const float *b, global float *c, uint size) {
    local float as[DEPTH][TILE];
    local float bs[DEPTH][TILE];
    uint x = get_local_id(0), y = get_local_id(1), lid = y * 16 + x;
    uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    float sum[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++)
            sum[i][j] = 0.0f;
    for (uint depth = 0; depth < size; depth += DEPTH) {
        for (uint i = lid; i < TILE * DEPTH; i += 256) {
            as[i % DEPTH][i / DEPTH] = a[(row + i / DEPTH) * size + depth + i % DEPTH];
            bs[i / TILE][i % TILE] = b[(depth + i / TILE) * size + column + i % TILE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < DEPTH; k++) {
            float left[4], right[4];
            for (uint i = 0; i < 4; i++) {
                left[i] = as[k][y * 4 + i];
                right[i] = bs[k][x + 16 * i];
            }
            for (uint i = 0; i < 4; i++)
                for (uint j = 0; j < 4; j++)
                    sum[i][j] += left[i] * right[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++)
            c[(row + y * 4 + i) * size + column + x + 16 * j] = sum[i][j];
}
