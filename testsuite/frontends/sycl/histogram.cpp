// --arg buf:uchar[256]=iota --arg buf:uint[8] --check 1[0..3]=32,32,32 --check 1[7..8]=32
// A histogram with counters in local memory, loops with steps, and a `sycl::multi_ptr`.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(const unsigned char *data, unsigned *counts) {
    auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto local = sycl::ext::oneapi::group_local_memory_for_overwrite<unsigned[8]>(item.get_group());
    auto &bins = *local;
    if (item.get_local_id(0) < 8)
        bins[item.get_local_id(0)] = 0;
    sycl::group_barrier(item.get_group());
    for (size_t at = item.get_local_id(0); at < 256; at += item.get_local_range(0)) {
        sycl::atomic_ref<unsigned, sycl::memory_order::relaxed, sycl::memory_scope::work_group> bin(bins[data[at] % 8]);
        ++bin;
    }
    sycl::group_barrier(item.get_group());
    if (item.get_local_id(0) < 8)
        counts[item.get_local_id(0)] = bins[item.get_local_id(0)];
}
