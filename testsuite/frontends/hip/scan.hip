// --arg buf:int[64]=1 --arg buf:int[64] --check 1[60..64]=61,62,63,64
#include "hip.h"

extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int sums[2][64];
    int l = threadIdx.x, from = 0;
    sums[0][l] = in[l];
    for (int distance = 1; distance < 64; distance *= 2) {
        __syncthreads();
        int own = sums[from][l];
        sums[1 - from][l] = l >= distance ? own + sums[from][l - distance] : own;
        from = 1 - from;
    }
    out[l] = sums[from][l];
}
