// --arg buf:int[64]=iota --arg buf:int[64] --check 1[0..2]=2016,2016
#include "hip.h"

template <class T, int N>
__device__ T sum(T (&tile)[N], T value) {
    uint l = threadIdx.x;
    tile[l] = value;
    for (int s = N / 2; s > 0; s /= 2) {
        __syncthreads();
        if (l < s) tile[l] += tile[l + s];
    }
    __syncthreads();
    return tile[0];
}

extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int tile[64];
    out[threadIdx.x] = sum(tile, in[threadIdx.x]);
}
