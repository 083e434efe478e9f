// --arg buf:int[64]=iota*37 --check 0[0..3]=0,37,74 --check 0[63..64]=2331
// A bitonic sort in local memory, with a comparison as a template argument, after a reversal.
#include <sycl/sycl.hpp>

struct greater {
    bool operator()(int a, int b) const { return a > b; }
};

template <typename Compare> void sort(sycl::group<1> group, int *values, Compare compare) {
    int i = group.get_local_id(0);
    for (int size = 2; size <= 64; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            int other = i ^ step;
            if (other > i && compare(values[i], values[other]) == ((i & size) == 0)) {
                int kept = values[i];
                values[i] = values[other];
                values[other] = kept;
            }
            sycl::group_barrier(group);
        }
    }
}

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(int *data) {
    auto group = sycl::ext::oneapi::this_work_item::get_work_group<1>();
    auto &values = *sycl::ext::oneapi::group_local_memory_for_overwrite<int[64]>(group);
    int i = group.get_local_id(0);
    values[63 - i] = data[i];
    sycl::group_barrier(group);
    sort(group, values, greater());
    data[i] = values[i];
}
