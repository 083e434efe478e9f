// --arg buf:uint[64] --arg buf:float[64]=iota --check 0[0..4]=31,31,31,31 --check 0[63..64]=31
// Mathematical, integer and common functions, with results that are exact.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(unsigned *out, const float *in) {
    auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    float x = in[i];
    unsigned n = i;
    bool roots = sycl::sqrt(x * x) == x && sycl::fabs(-x) == x && sycl::fma(x, x, 1.0f) == x * x + 1.0f;
    bool rounded = sycl::rint(x + 0.25f) == x && sycl::ceil(x + 0.25f) == x + 1.0f && sycl::trunc(-x) == -x;
    bool counted = sycl::popcount(n) + sycl::popcount(~n) == 32 && sycl::clz(1u << (n & 31)) == 31 - (n & 31);
    bool high = sycl::mul_hi(n << 16, 1u << 16) == n && sycl::sub_sat(n, n + 1) == 0 && sycl::rotate(n, 32u) == n;
    bool common = sycl::clamp(x, 1.0f, 2.0f) == (x < 1.0f ? 1.0f : x > 2.0f ? 2.0f : x) && sycl::sign(-1.0f - x) == -1.0f;
    out[i] = roots | rounded << 1 | counted << 2 | high << 3 | common << 4;
}
