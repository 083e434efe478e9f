// --arg buf:int[64]=iota --arg buf:uint[6]=0 --arg buf:int[1]=-5 --check 1=64,2016,0,9,0,1 --check 2=63
#include "hip.h"

extern "C" __global__ void k(const int *in, uint *out, int *largest) {
    uint value = in[threadIdx.x];
    atomicAdd(&out[0], 1u);
    atomicAdd(&out[1], value);
    atomicMin(&out[2], value);
    atomicMax(largest, (int)value);
    atomicXor(&out[4], value);
    atomicExch(&out[5], 1);
    // The largest square of one digit, by compare-exchange.
    uint square = value * value, old = 0;
    if (square >= 10) return;
    while (square > old) {
        uint found = atomicCAS(&out[3], old, square);
        if (found == old) break;
        old = found;
    }
}
