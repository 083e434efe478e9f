// --arg buf:int[64]=iota --arg buf:int[64] --check 1[0..10]=0,8,16,24,32,40,48,56,1,9
#include "hip.h"

template <int N>
struct Tile {
    int cells[N][N + 1];
    __device__ int &at(int row, int column) { return cells[row][column]; }
};

extern "C" __global__ void k(const int *in, int *out) {
    __shared__ Tile<8> tile;
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    tile.at(row, column) = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile.at(column, row);
}
