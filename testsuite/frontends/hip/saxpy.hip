// --arg buf:float[64]=iota --arg buf:float[64]=1 --arg float:2 --check 1[0..4]=1,3,5,7
#include "hip.h"

extern "C" __global__ void k(const float *x, float *y, float a) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = fmaf(a, x[i], y[i]);
}
