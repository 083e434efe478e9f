// --arg buf:int[64] --arg buf:int[64] --check 0[0..2]=64,63 --check 0[63..64]=1
// A chain of messages between work-items: each waits for the one before it, by release and acquire.
#include <sycl/sycl.hpp>

using sycl::memory_order;
using flag = sycl::atomic_ref<int, memory_order::acq_rel, sycl::memory_scope::device, sycl::access::address_space::global_space>;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(int *data, int *flags) {
    auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto sub = item.get_sub_group();
    int i = item.get_local_id(0);
    // Rounds with barriers: no work-item spins beside another one of its sub-group.
    for (int round = 0; round < 64; ++round) {
        if (i == 63 - round) {
            int before = i == 63 || flag(flags[i + 1]).load(memory_order::acquire) == 0 ? 0 : data[i + 1];
            data[i] = before + 1;
            sycl::atomic_fence(memory_order::release, sycl::memory_scope::device);
            flag(flags[i]).store(1, memory_order::release);
        }
        sycl::group_barrier(item.get_group());
    }
}
