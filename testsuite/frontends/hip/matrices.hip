// --arg buf:float[64]=iota --arg buf:float[64] --check 1[0..3]=1120,1148,1176
#include "hip.h"

template <class T, int N>
struct Matrix {
    T *cells;
    __device__ T &operator()(int row, int column) { return cells[row * N + column]; }
};

extern "C" __global__ void k(float *in, float *out) {
    Matrix<float, 8> a{in}, product{out};
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum = fmaf(a(row, i), a(i, column), sum);
    product(row, column) = sum;
}
