// --arg buf:uint[192] --arg buf:long[64]=iota --check 0[0..3]=7,2,0 --check 0[189..192]=133,3,63
// Packed and nested structures in memory, bit-fields, 8-, 16- and 64-bit integers, and `sycl::bit_cast`.
#include <sycl/sycl.hpp>

struct __attribute__((packed)) header {
    unsigned char tag;
    unsigned length;
    unsigned short kind;
};

struct fields {
    unsigned low : 3;
    unsigned middle : 10;
    int high : 5;
};

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void
k(unsigned *out, const long *in) {
    auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    header headers[2] = {{1, unsigned(in[i]) * 2, 3}, {4, 5, 6}};
    fields bits{};
    bits.low = (i & 1) + 10;
    bits.middle = i;
    bits.high = -1;
    short small = sycl::bit_cast<short>(headers[1].kind);
    out[3 * i] = headers[0].length + headers[0].tag + small;
    out[3 * i + 1] = bits.low;
    out[3 * i + 2] = bits.high == -1 ? bits.middle : ~0u;
}
