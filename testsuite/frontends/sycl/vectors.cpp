// --arg buf:float[256]=iota --arg buf:int[64] --check 0[0..4]=3,2,1,0 --check 0[252..256]=255,254,253,252 --check 1[0..3]=6,22,38
// `sycl::vec` and `sycl::marray`: swizzles, conversions, comparisons and geometric functions.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(float *data, int *sums) {
    auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    sycl::vec<float, 4> own;
    own.load(i, sycl::global_ptr<const float>(data));
    sycl::vec<float, 4> turned = own.swizzle<3, 2, 1, 0>();
    turned.store(i, sycl::global_ptr<float>(data));
    sycl::marray<int, 4> whole;
    for (int at = 0; at < 4; ++at)
        whole[at] = own.convert<int, sycl::rounding_mode::rte>()[at];
    whole = whole * 2;
    int sum = 0;
    for (int value : whole)
        sum += value / 2;
    auto is_less = own < turned;
    float dot = sycl::dot(own, sycl::float4(1.0f));
    sums[i] = dot == sum && is_less.x() != 0 && is_less.w() == 0 ? sum : -1;
}
