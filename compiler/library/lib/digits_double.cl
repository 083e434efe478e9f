// The digits of doubles, for functions that compute them in integers and round once.
//
// Helps: is_plain digits
#include "exact.cl"

#define NEGATIVE 0x8000000000000000ul
#define ENDLESS 0x7ff0000000000000ul

bool is_plain(double x) { return (as_ulong(x) & ENDLESS) != ENDLESS && (as_ulong(x) & ~NEGATIVE) != 0; }

ulong digits(double x, int *exponent) {
    ulong fraction = as_ulong(x) & 0xffffffffffffful;
    int biased = (int)(as_ulong(x) >> 52) & 0x7ff;
    int shift = biased == 0 ? (int)clz(fraction) - 11 : 0;
    *exponent = max(biased, 1) - 1075 - shift;
    return biased == 0 ? fraction << shift : fraction | 0x10000000000000ul;
}
