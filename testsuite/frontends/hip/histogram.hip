// --arg buf:int[64]=iota --arg buf:uint[8]=0 --check 1=8,8,8,8,8,8,8,8
#include "hip.h"

extern "C" __global__ void k(const int *in, uint *out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd_block(&bins[in[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], (uint)bins[threadIdx.x]);
}
