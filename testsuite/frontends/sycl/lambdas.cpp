// --arg buf:int[64]=iota --check 0[0..4]=1,2,6,10 --check 0[63..64]=2017
// Lambdas and pointers to members, `std::array`, `std::tuple`, `std::pair` and `if constexpr`.
#include <sycl/sycl.hpp>
#include <array>
#include <tuple>
#include <utility>

template <typename... Functions> int fold(int value, std::tuple<Functions...> functions) {
    return std::apply([&](auto... each) { return (each(value) + ... + 0); }, functions);
}

template <typename T> auto twice(T value) {
    if constexpr (std::is_integral_v<T>)
        return value * 2;
    else
        return std::pair(value, value);
}

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(int *data) {
    auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    std::array<int, 4> powers{1, 1, 1, 1};
    for (size_t at = 1; at < powers.size(); ++at)
        powers[at] = powers[at - 1] * data[i];
    auto halves = twice(0.5f);
    auto functions = std::tuple([&](int n) { return n * (n - 1) / 2; }, [](int n) { return n; },
                                [&](int n) { return powers[0] * int(halves.first + halves.second); });
    int sum = fold(int(i), functions);
    data[i] = i == 1 ? twice(1) : i == 2 ? sum + powers[1] : i == 3 ? sum + powers[0] * 3 : sum;
}
