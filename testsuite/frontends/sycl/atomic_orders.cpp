// --arg buf:uint[64] --arg buf:uint[64] --arg buf:uint[64] --check 2[0..3]=150,3200,6400
// `sycl::atomic_ref` and fences with every order and scope: defaults and arguments; global, local and generic address space.
// All work-items share an object of the scopes of work-groups, devices and systems; a sub-group or a work-item has its own.
#include <sycl/sycl.hpp>

using sycl::memory_order;
using sycl::memory_scope;
using sycl::access::address_space;

// The orders that a load and a store can have.
constexpr memory_order load_order(memory_order order) {
    return order == memory_order::acq_rel || order == memory_order::release ? memory_order::acquire : order;
}

constexpr memory_order store_order(memory_order order) {
    return order == memory_order::acq_rel || order == memory_order::acquire ? memory_order::release : order;
}

// Adds 1 in each of two ways.
template <memory_order O, memory_scope S, address_space A> void add(unsigned &object) {
    // The default order cannot be acquire or release.
    constexpr bool is_half = O == memory_order::acquire || O == memory_order::release;
    sycl::atomic_ref<unsigned, is_half ? memory_order::acq_rel : O, S, A> all(object);
    sycl::atomic_ref<unsigned, memory_order::relaxed, memory_scope::system, A> given(object);
    ++all;
    given.fetch_add(1, O, S);
    sycl::atomic_fence(O, S);
}

// Changes an object that no other work-item uses. Returns 3.
template <memory_order O, memory_scope S, address_space A> unsigned change(unsigned &object, unsigned value) {
    sycl::atomic_ref<unsigned, memory_order::relaxed, S, A> own(object);
    own.store(value, store_order(O), S);
    unsigned sum = own.exchange(value + 1, O, S) - value;
    sum += own.fetch_min(value, O, S) - value;
    unsigned expected = value;
    sum += own.compare_exchange_strong(expected, value + 2, O, load_order(O), S);
    sum += !own.compare_exchange_strong(expected, value + 3, O, S);
    return sum + own.load(load_order(O), S) - expected;
}

struct memory {
    sycl::nd_item<1> item;
    unsigned *global, *scratch, *local;
    unsigned found = 0;

    template <memory_order O, memory_scope S> void use() {
        size_t own = item.get_local_id(0);
        size_t part = S == memory_scope::work_item   ? own
                      : S == memory_scope::sub_group ? item.get_sub_group().get_group_id()[0]
                                                     : 0;
        add<O, S, address_space::global_space>(global[part]);
        add<O, S, address_space::local_space>(local[part]);
        add<O, S, address_space::generic_space>(local[part]);
        found += change<O, S, address_space::global_space>(scratch[own], 16);
        found += change<O, S, address_space::local_space>(local[64 + own], 32);
    }

    template <memory_scope S> void use_orders() {
        use<memory_order::relaxed, S>();
        use<memory_order::acquire, S>();
        use<memory_order::release, S>();
        use<memory_order::acq_rel, S>();
        use<memory_order::seq_cst, S>();
        sycl::group_barrier(item.get_group());
    }
};

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(unsigned *global, unsigned *scratch, unsigned *found) {
    auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto &local = *sycl::ext::oneapi::group_local_memory<unsigned[128]>(item.get_group());
    memory all{item, global, scratch, local};
    all.use_orders<memory_scope::work_item>();
    all.use_orders<memory_scope::sub_group>();
    all.use_orders<memory_scope::work_group>();
    all.use_orders<memory_scope::device>();
    all.use_orders<memory_scope::system>();
    if (item.get_local_id(0) == 0) {
        found[0] = all.found;
        for (int i = 0; i < 64; ++i) {
            found[1] += global[i];
            found[2] += local[i];
        }
    }
}
