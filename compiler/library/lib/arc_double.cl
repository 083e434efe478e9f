// Inverse circular and hyperbolic functions of double, and those in units of pi (OpenCL C 6.15.2, special
// cases 7.5.1), by the methods of `arc.cl`, `hyperbolic.cl` and `trig.cl`. The polynomials are Chebyshev's.
//
// Defines: asin acos atan atan2 asinpi acospi atanpi atan2pi asinh acosh atanh sinpi cospi tanpi
// Types: double
// Helps: sinpi_double
#include "math_double.cl"

#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 6.1232339957367658861e-17
#define PI_HIGH 0x1.921fb54442d18p+1
#define PI_LOW 1.2246467991473531772e-16
#define QUARTER_PI_HIGH 0x1.921fb54442d18p-1
#define QUARTER_PI_LOW 3.0616169978683829431e-17
#define OVER_PI 0.31830988618379067154

// asin(x)/x - 1, of z = x^2 up to 1/4
double asin_tail(double z) {
    double tail = 0.030847799050952491253;
    tail = mul_add(tail, z, -0.024237970440672095232);
    tail = mul_add(tail, z, 0.02271687170811214879);
    tail = mul_add(tail, z, 0.00030875187141667106931);
    tail = mul_add(tail, z, 0.0088157827739334862783);
    tail = mul_add(tail, z, 0.0081317273076948642552);
    tail = mul_add(tail, z, 0.0097933184222105312771);
    tail = mul_add(tail, z, 0.011549031536254848955);
    tail = mul_add(tail, z, 0.013965013648991507392);
    tail = mul_add(tail, z, 0.017352757308090713732);
    tail = mul_add(tail, z, 0.022372159284683779552);
    tail = mul_add(tail, z, 0.030381944441275777312);
    tail = mul_add(tail, z, 0.044642857142884208551);
    tail = mul_add(tail, z, 0.074999999999999908962);
    tail = mul_add(tail, z, 0.16666666666666666672);
    return tail * z;
}
double asin_double(double x) {
    double size = fabs(x);
    if (!(size <= 1.0)) return QUIET_NAN;
    if (size < 0x1p-27) return x;
    if (size < 0.5) return x + x * asin_tail(x * x);
    double z = 0.5 * (1.0 - size);
    if (z == 0.0) return copysign_double(HALF_PI_HIGH, x);
    double2 s = pair_sqrt(z);
    double2 sum = two_sum(HALF_PI_HIGH, -2.0 * s.x);
    return copysign_double(sum.x + (sum.y + (HALF_PI_LOW - 2.0 * (s.y + s.x * asin_tail(z)))), x);
}
double acos_double(double x) {
    double size = fabs(x);
    if (!(size <= 1.0)) return QUIET_NAN;
    if (size < 0.5) {
        double2 sum = two_sum(HALF_PI_HIGH, -x);
        return sum.x + (sum.y + (HALF_PI_LOW - x * asin_tail(x * x)));
    }
    double z = 0.5 * (1.0 - size);
    if (z == 0.0) return x > 0.0 ? 0.0 : PI_HIGH;
    double2 s = pair_sqrt(z);
    double rest = 2.0 * (s.y + s.x * asin_tail(z));
    if (x > 0.0) return 2.0 * s.x + rest;
    double2 sum = two_sum(PI_HIGH, -2.0 * s.x);
    return sum.x + (sum.y + (PI_LOW - rest));
}
double asinpi_double(double x) { return asin_double(x) * OVER_PI; }
double acospi_double(double x) { return acos_double(x) * OVER_PI; }

// The arc tangent of a sum from 0 to 1, as a sum: the arc tangent of (t - 1)/(t + 1) is smaller by pi/4.
double2 atan_pair(double2 t) {
    bool is_far = t.x > 0.41421356237309504880;
    if (is_far) {
        double2 above = two_sum(t.x, 1.0), below = two_sum(t.x, -1.0);
        double quotient = below.x / above.x;
        double2 product = two_product(quotient, above.x);
        double rest = (below.x - product.x) - product.y + (below.y + t.y) - quotient * (above.y + t.y);
        t = fast_two_sum(quotient, rest / above.x);
    }
    double z = t.x * t.x;
    double tail = -0.013905374533113233897;
    tail = mul_add(tail, z, 0.030622995553735514673);
    tail = mul_add(tail, z, -0.041038875468626871964);
    tail = mul_add(tail, z, 0.047192591882420923804);
    tail = mul_add(tail, z, -0.052580202726567583391);
    tail = mul_add(tail, z, 0.058819230561140225622);
    tail = mul_add(tail, z, -0.066666418691311826727);
    tail = mul_add(tail, z, 0.076923067291948968002);
    tail = mul_add(tail, z, -0.090909090668160809014);
    tail = mul_add(tail, z, 0.11111111110751481039);
    tail = mul_add(tail, z, -0.142857142857114906);
    tail = mul_add(tail, z, 0.19999999999999991448);
    tail = mul_add(tail, z, -0.33333333333333333329);
    double low = t.x * z * tail + t.y;
    if (!is_far) return fast_two_sum(t.x, low);
    double2 sum = fast_two_sum(QUARTER_PI_HIGH, t.x);
    return fast_two_sum(sum.x, sum.y + (QUARTER_PI_LOW + low));
}
// high + low - a
double complement(double high, double low, double2 a) {
    double2 sum = two_sum(high, -a.x);
    return sum.x + (sum.y + (low - a.y));
}
double atan_double(double x) {
    if (isnan(x)) return x;
    double size = fabs(x);
    if (size < 0x1p-27) return x;
    if (size > 0x1p55) return copysign_double(HALF_PI_HIGH, x);
    if (size <= 1.0) return copysign_double(atan_pair((double2)(size, 0.0)).x, x);
    return copysign_double(complement(HALF_PI_HIGH, HALF_PI_LOW, atan_pair(pair_quotient(1.0, size))), x);
}
double atan2_double(double y, double x) {
    if (isnan(x) || isnan(y)) return QUIET_NAN;
    bool is_left = as_ulong(x) >> 63 != 0;
    double width = fabs(x), height = fabs(y);
    bool is_steep = height > width;
    double less = is_steep ? width : height, more = is_steep ? height : width;
    double2 angle;
    if (more == 0.0) angle = (double2)(0.0, 0.0);
    else if (isinf(more)) angle = isinf(less) ? (double2)(0.5 * HALF_PI_HIGH, 0.5 * HALF_PI_LOW) : (double2)(0.0, 0.0);
    else {
        double scale = more > 0x1p500 ? 0x1p-500 : more < 0x1p-400 ? 0x1p700 : 1.0;
        less *= scale;
        more *= scale;
        // Below this, angle and tangent are the same, and the remainder would underflow.
        // Scaled, because drivers may flush a denormal quotient.
        if (less < 0x1p-100 * more) angle = (double2)(0x1p200 * less / more * 0x1p-200, 0.0);
        else angle = atan_pair(pair_quotient(less, more));
    }
    double result;
    if (is_steep) {
        double2 sum = two_sum(HALF_PI_HIGH, is_left ? angle.x : -angle.x);
        result = sum.x + (sum.y + (HALF_PI_LOW + (is_left ? angle.y : -angle.y)));
    } else result = is_left ? complement(PI_HIGH, PI_LOW, angle) : angle.x + angle.y;
    return copysign_double(result, y);
}
double atanpi_double(double x) { return atan_double(x) * OVER_PI; }
double atan2pi_double(double y, double x) { return atan2_double(y, x) * OVER_PI; }

double asinh_double(double x) {
    double size = fabs(x);
    if (is_endless(x) || size < 0x1p-27) return x;
    if (size > 0x1p28) return copysign_double(log_double(size) + 0.69314718055994530942, x);
    double square = size * size;
    return copysign_double(log1p_double(size + square / (1.0 + sqrt_double(square + 1.0))), x);
}
double acosh_double(double x) {
    if (isnan(x) || x < 1.0) return QUIET_NAN;
    if (x > 0x1p28) return log_double(x) + 0.69314718055994530942;
    double above = x - 1.0;
    return log1p_double(above + sqrt_double(2.0 * above + above * above));
}
double atanh_double(double x) {
    double size = fabs(x);
    if (!(size <= 1.0)) return QUIET_NAN;
    if (size == 1.0) return copysign_double(as_double(INFINITE), x);
    if (size < 0x1p-27) return x;
    double twice = 2.0 * size;
    double argument = size < 0.5 ? twice + twice * size / (1.0 - size) : twice / (1.0 - size);
    return copysign_double(0.5 * log1p_double(argument), x);
}

// r = pi (x - n/2) as a sum for a finite x, and n modulo 4.
double2 reduce_half_turns(double x, uint *quadrant) {
    x -= 2.0 * trunc(0.5 * x);
    double n = rint(2.0 * x);
    x -= 0.5 * n;
    *quadrant = (uint)(int)n & 3;
    double2 r = two_product(x, PI_HIGH);
    return fast_two_sum(r.x, r.y + x * PI_LOW);
}
double sinpi_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    if (x == trunc(x)) return copysign_double(0.0, x);
    if (fabs(x) < 0x1p-200) return x * PI_HIGH;
    uint quadrant;
    double2 r = reduce_half_turns(x, &quadrant);
    return turned_sin(r, quadrant);
}
double cospi_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    double twice = x - 2.0 * trunc(0.5 * x);
    if (fabs(twice) == 0.5 || fabs(twice) == 1.5) return 0.0;
    if (fabs(x) < 0x1p-60) return 1.0;
    uint quadrant;
    double2 r = reduce_half_turns(x, &quadrant);
    return turned_sin(r, quadrant + 1);
}
double tanpi_double(double x) {
    if (is_endless(x)) return QUIET_NAN;
    if (fabs(x) < 0x1p-200) return x * PI_HIGH;
    bool is_odd = fabs(x) < 0x1p53 && ((long)floor(x) & 1) != 0;
    if (x == trunc(x)) return copysign_double(0.0, is_odd ? -x : x);
    if (fabs(x - trunc(x)) == 0.5) return as_double(is_odd ? INFINITE | SIGN_BIT : INFINITE);
    uint quadrant;
    double2 r = reduce_half_turns(x, &quadrant);
    double s = sin_part(r), c = cos_part(r);
    return (quadrant & 1) != 0 ? -c / s : s / c;
}
