// --arg buf:float[4] --arg buf:float[64]=iota --check 0[0..4]=2016,63,0,64
// `sycl::atomic_ref` of floats: sums, minima and maxima in global and local memory, and an operator.
#include <sycl/sycl.hpp>

using sycl::access::address_space;
template <address_space A>
using atomic_float = sycl::atomic_ref<float, sycl::memory_order::relaxed, sycl::memory_scope::device, A>;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(float *results, const float *in) {
    auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto &most = *sycl::ext::oneapi::group_local_memory<float>(item.get_group(), 0.0f);
    float own = in[item.get_global_id(0)];
    atomic_float<address_space::global_space>(results[0]).fetch_add(own);
    atomic_float<address_space::local_space>(most).fetch_max(own);
    atomic_float<address_space::global_space>(results[2]).fetch_min(own);
    atomic_float<address_space::generic_space> count(results[3]);
    count += 1.0f;
    sycl::group_barrier(item.get_group());
    if (item.get_group().leader())
        results[1] = most;
}
