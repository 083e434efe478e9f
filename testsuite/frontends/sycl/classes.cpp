// --arg buf:int[64] --check 0[0..4]=1,4,9,1 --check 0[63..64]=4
// Inheritance, operators, unions, constructors, static members and a list of nodes in private memory.
#include <sycl/sycl.hpp>

struct shape {
    int size;
    constexpr shape(int size) : size(size) {}
};

template <typename Derived> struct measured : shape {
    using shape::shape;
    int area() const { return static_cast<const Derived *>(this)->compute(); }
};

struct square : measured<square> {
    static constexpr int sides = 4;
    using measured::measured;
    int compute() const { return size * size; }
    square operator+(const square &other) const { return square(size + other.size); }
};

struct node {
    square value;
    const node *next;
};

union bits {
    float number;
    unsigned word;
};

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(int *out) {
    auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    node last{square(1), nullptr}, middle{square(1), &last}, first{square(1), &middle};
    square sum(0);
    int left = i % 3;
    for (const node *at = &first; at && left >= 0; at = at->next, --left)
        sum = sum + at->value;
    bits one;
    one.number = 1.0f;
    int is_one = one.word == 0x3f800000 && square::sides == 4;
    out[i] = i == 63 ? square(2).area() * is_one : sum.area() * is_one;
}
