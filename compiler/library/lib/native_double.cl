// Functions of double for drivers whose Fma rounds once (kiln_vocabulary::precision). Each replaces the function with the
// same name in another file.
//
// Types: double
#include "exact_double.cl"
#include "math_double.cl"

double2 two_product(double a, double b) {
    double product = a * b;
    return (double2)(product, fma(a, b, -product));
}

// Scales the operand by an even power of two, so that a float estimate is possible. Each Goldschmidt step doubles its bits;
// the last one has an exact remainder.
double sqrt_double(double x) {
    if (!(x > 0.0 && as_ulong(x) < INFINITE)) return x < 0.0 ? QUIET_NAN : x;
    bool is_small = x < 0x1p-1022;
    ulong bits = as_ulong(is_small ? x * 0x1p54 : x);
    long exponent = ((long)(bits >> 52) - 1023) & ~1l;
    double m = as_double(bits - ((ulong)exponent << 52));
    double inverse = (double)native_rsqrt((float)m);
    double root = m * inverse, half_inverse = 0.5 * inverse;
    double rest = fma(-half_inverse, root, 0.5);
    root = fma(root, rest, root);
    half_inverse = fma(half_inverse, rest, half_inverse);
    rest = fma(-half_inverse, root, 0.5);
    root = fma(root, rest, root);
    half_inverse = fma(half_inverse, rest, half_inverse);
    root = fma(fma(-root, root, m), half_inverse, root);
    root = as_double(as_ulong(root) + ((ulong)(exponent >> 1) << 52));
    return is_small ? root * 0x1p-27 : root;
}

// Cody and Waite's reduction, as for float.
double2 reduce_circle(double x, uint *quadrant) {
    if (!(fabs(x) <= 1e5)) return reduce_circle_exactly(x, quadrant);
    double n = rint(x * 0.63661977236758138);
    double r = fma(n, -0x1.921fb54442d18p+0, x);
    double2 product = two_product(n, -0x1.1a62633145c07p-54);
    double2 sum = two_sum(r, product.x);
    *quadrant = (uint)(int)n & 3;
    return (double2)(sum.x, sum.y + (product.y + n * 0x1.f1976b7ed8fbcp-110));
}
