// --arg buf:int[64]=iota --arg buf:int[64] --check 0[0..3]=0,1,3 --check 0[63..64]=2016 --check 1[0..5]=2016,63,1,1,10
// Algorithms of groups: scans, reductions, predicates and broadcasts, with function objects.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(int *data, int *results) {
    auto group = sycl::ext::oneapi::this_work_item::get_work_group<1>();
    int i = group.get_local_id(0);
    int own = data[i];
    int sum = sycl::reduce_over_group(group, own, sycl::plus<>());
    int most = sycl::reduce_over_group(group, own, sycl::maximum<>());
    bool any = sycl::any_of_group(group, own == 7);
    bool none = sycl::none_of_group(group, own > 63);
    int tenth = sycl::group_broadcast(group, own, 10);
    int scanned = sycl::inclusive_scan_over_group(group, own, sycl::plus<int>());
    int before = sycl::exclusive_scan_over_group(group, own, 0, sycl::plus<int>());
    data[i] = scanned - own == before ? scanned : -1;
    if (group.leader()) {
        int all[] = {sum, most, any, none, tenth};
        for (int at = 0; at < 5; ++at)
            results[at] = all[at];
    }
}
