// --arg buf:uint[65]=0 --check 0[64]=0 --check 0[0..3]=1,2,3
#include "hip.h"

// Each thread publishes a value with a fence, and reads what it published.
extern "C" __global__ void k(uint *data) {
    uint i = threadIdx.x;
    data[i] = i + 1;
    __threadfence();
    atomicAdd(&data[64], 1u);
    __syncthreads();
    if (i == 0 && data[64] == blockDim.x * gridDim.x) data[64] = 0;
}
