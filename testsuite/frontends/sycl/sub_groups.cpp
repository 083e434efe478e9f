// --arg buf:uint[64] --check 0[0..3]=3,3,3 --check 0[63..64]=3
// Sub-groups: shuffles by exchange and by index, a vote and a scan, whatever the size is.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(unsigned *out) {
    auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto sub = item.get_sub_group();
    unsigned i = item.get_local_id(0), lane = sub.get_local_linear_id(), size = sub.get_local_linear_range();
    unsigned other = sycl::permute_group_by_xor(sub, lane, 1);
    unsigned first = sycl::select_from_group(sub, i, 0);
    unsigned last = sycl::exclusive_scan_over_group(sub, 1u, sycl::plus<>());
    bool all = sycl::all_of_group(sub, first == i - lane);
    out[i] = (other == (lane ^ 1)) + 2 * (last == lane && all && size > 1);
}
