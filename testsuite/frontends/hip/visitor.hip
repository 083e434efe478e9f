// --arg buf:int[64]=iota --arg buf:int[64] --check 1[0..6]=1,3,16,4,12,625
#include "hip.h"

struct Triple {
    __device__ int operator()(int x) const { return 3 * x; }
};
struct Power {
    int exponent;
    __device__ int operator()(int x) const {
        int result = 1;
        for (int i = 0; i < exponent; ++i) result *= x;
        return result;
    }
};

// Calls the visitor with this number.
template <class F, class... Rest>
__device__ int visit(int number, int x, const F &f, const Rest &...rest) {
    if constexpr (sizeof...(rest) > 0) {
        if (number > 0) return visit(number - 1, x, rest...);
    }
    return f(x);
}

extern "C" __global__ void k(const int *in, int *out) {
    int x = in[threadIdx.x], step = 1;
    out[threadIdx.x] = visit(x % 3, x, [step](int y) { return y + step; }, Triple(), Power{4});
}
