// --arg buf:float[64]=4 --arg buf:int[64]=iota --arg buf:float[64] --check 2[0..5]=2,3,3,4,3
#include "hip.h"

namespace shapes {
template <class T>
__device__ T length(T x, T y) { return sqrtf(x * x + y * y); }
}

// The length of a vector, and the number of bits of an index.
extern "C" __global__ void k(const float *in, const int *numbers, float *out) {
    int n = numbers[threadIdx.x];
    float root = shapes::length(sqrtf(in[n]), 0.0f);
    out[threadIdx.x] = fmaxf(root, -1.0f) + abs(-__popc(n));
}
