// Error and gamma functions of double (OpenCL C 6.15.2), by the methods of `gamma.cl`. The polynomials are Chebyshev's.
//
// Defines: erf erfc tgamma lgamma lgamma_r
// Types: double
#include "arc_double.cl"

// erf(x) for |x| <= 1
double erf_part(double x) {
    double z = x * x;
    double sum = 5.9571761477489114044e-11;
    sum = mul_add(sum, z, -1.137284885679167367e-9);
    sum = mul_add(sum, z, 1.4659775274047435814e-8);
    sum = mul_add(sum, z, -1.6350312701054695011e-7);
    sum = mul_add(sum, z, 1.6461000484121368033e-6);
    sum = mul_add(sum, z, -0.000014925595266831181565);
    sum = mul_add(sum, z, 0.00012055331111642710923);
    sum = mul_add(sum, z, -0.00085483269808337899052);
    sum = mul_add(sum, z, 0.0052239776248180144673);
    sum = mul_add(sum, z, -0.026866170645076793248);
    sum = mul_add(sum, z, 0.11283791670954878666);
    sum = mul_add(sum, z, -0.37612638903183748056);
    sum = mul_add(sum, z, 1.1283791670955125738);
    return x * sum;
}
// erfc(x) for 0.9 <= x <= 27.3: e^(-x^2)/(x + 1) times a smooth function of (x - 4)/(x + 4)
double erfc_part(double x) {
    double t = (x - 4.0) / (x + 4.0);
    double sum = -1.1830667196460479056e-8;
    sum = mul_add(sum, t, 3.6679299501250129206e-8);
    sum = mul_add(sum, t, 5.5958728342220937521e-8);
    sum = mul_add(sum, t, -3.5605360544091629381e-7);
    sum = mul_add(sum, t, -1.0850737169766996159e-9);
    sum = mul_add(sum, t, 2.6466581957442302376e-6);
    sum = mul_add(sum, t, -4.1356724308931763185e-6);
    sum = mul_add(sum, t, -0.000013150168040834042127);
    sum = mul_add(sum, t, 0.000064031881087671880914);
    sum = mul_add(sum, t, -0.000060136931914162829347);
    sum = mul_add(sum, t, -0.00038976732817706182468);
    sum = mul_add(sum, t, 0.002116421600079858406);
    sum = mul_add(sum, t, -0.0060687352371864668481);
    sum = mul_add(sum, t, 0.012161784752008512403);
    sum = mul_add(sum, t, -0.017515654645429434711);
    sum = mul_add(sum, t, 0.015312509679338552334);
    sum = mul_add(sum, t, 0.0039620556812553684805);
    sum = mul_add(sum, t, -0.048080381221308621062);
    sum = mul_add(sum, t, 0.11704966551044291021);
    sum = mul_add(sum, t, -0.19934458280036707525);
    sum = mul_add(sum, t, 0.68499728812530694851);
    double2 square = two_product(x, x);
    double n = rint(square.x * -1.4426950408889634074);
    double power = exp_part(((-square.x - n * LN2_HIGH) - n * LN2_LOW) - square.y);
    return ldexp_double((1.0 + power) * (sum / (x + 1.0)), (int)n);
}
double erf_double(double x) {
    double size = fabs(x);
    if (isnan(x)) return x;
    if (size <= 1.0) return erf_part(x);
    return copysign_double(size > 6.0 ? 1.0 : 1.0 - erfc_part(size), x);
}
double erfc_double(double x) {
    if (isnan(x)) return x;
    if (x > 27.25) return 0.0;
    if (x < -6.0) return 2.0;
    if (x < -1.0) return 2.0 - erfc_part(-x);
    return x <= 0.92 ? 1.0 - erf_part(x) : erfc_part(x);
}

// The gamma function at 1.5 + u, |u| <= 1/2
double gamma_part(double u) {
    double sum = 0.0001736585029100638062;
    sum = mul_add(sum, u, -0.00026048686591686528311);
    sum = mul_add(sum, u, 0.00014109398017592399643);
    sum = mul_add(sum, u, -0.0002116366966022488046);
    sum = mul_add(sum, u, 0.00047346567646026992216);
    sum = mul_add(sum, u, -0.00071017102374146080385);
    sum = mul_add(sum, u, 0.0010096053142759128548);
    sum = mul_add(sum, u, -0.0015142364392563074165);
    sum = mul_add(sum, u, 0.0022833622890860636161);
    sum = mul_add(sum, u, -0.0034239612838414227595);
    sum = mul_add(sum, u, 0.0051315685396957617735);
    sum = mul_add(sum, u, -0.0076900989210571516531);
    sum = mul_add(sum, u, 0.011522520042662803158);
    sum = mul_add(sum, u, -0.017222450088851329174);
    sum = mul_add(sum, u, 0.02583760628007812875);
    sum = mul_add(sum, u, -0.038001935291348343082);
    sum = mul_add(sum, u, 0.058610303820854540839);
    sum = mul_add(sum, u, -0.077523052305371573652);
    sum = mul_add(sum, u, 0.14464535904458606848);
    sum = mul_add(sum, u, -0.10729480456471899992);
    sum = mul_add(sum, u, 0.41481345368830126914);
    sum = mul_add(sum, u, 0.032338397448884862468);
    sum = mul_add(sum, u, 0.88622692545275801365);
    return sum;
}
double tgamma_double(double x) {
    if (isnan(x) || as_ulong(x) == INFINITE) return x;
    if (x == 0.0) return copysign_double(as_double(INFINITE), x);
    if (x < 0.0 && x == trunc(x)) return QUIET_NAN;
    if (x > 171.7) return as_double(INFINITE);
    if (x < -185.0) return ((long)fmax(trunc(x), -0x1p62) & 1) != 0 ? 0.0 : -0.0;
    // Drivers may flush a denormal divisor.
    if (fabs(x) < 0x1p-54) return 0x1p54 * (1.0 / (x * 0x1p54));
    // Steps to the interval [1, 2]; their product is an unevaluated sum.
    int scale = x < 0.0 ? -250 : -60;
    double2 product = (double2)(x < 0.0 ? 0x1p-250 : 0x1p-60, 0.0);
    double at = x;
    if (x >= 1.0) {
        while (at > 2.0) {
            at -= 1.0;
            double2 next = two_product(product.x, at);
            product = fast_two_sum(next.x, next.y + product.y * at);
        }
        return gamma_part(at - 1.5) * (product.x + product.y) * 0x1p60;
    }
    int steps = 0;
    while (at < 1.0) {
        double2 next = two_product(product.x, at);
        product = fast_two_sum(next.x, next.y + product.y * at);
        steps += 1;
        at = x + (double)steps;
    }
    double quotient = gamma_part(at - 1.5) / (product.x + product.y);
    return ldexp_double(quotient, scale);
}

// The logarithm of the gamma function at x above zero.
double lgamma_positive(double x) {
    if (x >= 16.0) {
        if (x > 0x1p1000) {
            double result = x * (log_double(x) - 1.0);
            return isnan(result) ? as_double(INFINITE) : result;
        }
        double inverse = 1.0 / x, z = inverse * inverse;
        double tail = 0.0064102564102564102564;
        tail = mul_add(tail, z, -0.0019175269175269175269);
        tail = mul_add(tail, z, 0.00084175084175084175084);
        tail = mul_add(tail, z, -0.00059523809523809523810);
        tail = mul_add(tail, z, 0.00079365079365079365079);
        tail = mul_add(tail, z, -0.0027777777777777777778);
        tail = mul_add(tail, z, 0.083333333333333333333);
        return (x - 0.5) * (log_double(x) - 1.0) + (0.41893853320467274178 + tail * inverse);
    }
    double at = x, product = 1.0;
    while (at > 2.5) {
        at -= 1.0;
        product *= at;
    }
    // Reduces to at + whole in [1, 2]. The logarithm is 0 at both ends, and the distance to them is exact.
    double sum = 0.0, whole = 0.0;
    if (at > 2.0) {
        at -= 1.0;
        product *= at;
    } else if (at < 1.0) {
        sum = -log_double(at);
        whole = 1.0;
    }
    double u = at - (1.5 - whole);
    double part = -7.7606601525134468118e-6;
    part = part * u + 0.000012140008083973406845;
    part = part * u - 8.3550758697952728235e-6;
    part = part * u + 0.000013186019073996833906;
    part = part * u - 0.000027201673025504751982;
    part = part * u + 0.000043027681497650298193;
    part = part * u - 0.000066141360223464143082;
    part = part * u + 0.00010535512483785591662;
    part = part * u - 0.00016891782155248981555;
    part = part * u + 0.0002713137386144692758;
    part = part * u - 0.00043799307479613916213;
    part = part * u + 0.00071151906751529593439;
    part = part * u - 0.0011644145847310124176;
    part = part * u + 0.001922916312790516038;
    part = part * u - 0.0032120740737152811673;
    part = part * u + 0.0054464578391260646433;
    part = part * u - 0.0094256224485257977967;
    part = part * u + 0.016797098631274160293;
    part = part * u - 0.031308487501010647937;
    part = part * u + 0.06291140107456439203;
    part = part * u - 0.1459598959143060826;
    part = part * u + 0.48312895054098088995;
    return (at - (1.0 - whole)) * (at - (2.0 - whole)) * part + (sum + log_double(product));
}
double lgamma_r_double(double x, int *sign) {
    *sign = 1;
    if (isnan(x)) return x;
    if (isinf(x)) return as_double(INFINITE);
    if (is_zero(x)) {
        *sign = as_ulong(x) >> 63 != 0 ? -1 : 1;
        return as_double(INFINITE);
    }
    if (x > 0.0) return lgamma_positive(x);
    if (x == trunc(x)) {
        *sign = 0;
        return as_double(INFINITE);
    }
    // gamma(x) gamma(1 - x) sin(pi x) = pi, and gamma(1 - x) is positive.
    double sine = sinpi_double(x);
    *sign = sine < 0.0 ? -1 : 1;
    if (x > -0x1p-50) return -log_double(-x);
    return log_double(3.1415926535897932385 / fabs(sine * x)) - lgamma_positive(-x);
}
double lgamma_double(double x) {
    int sign;
    return lgamma_r_double(x, &sign);
}
