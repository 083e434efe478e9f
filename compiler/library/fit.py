#!/usr/bin/env python3
"""Prints the minimax polynomials of lib/native.cl and lib/native_double.cl, lowest coefficient first, with the binary
logarithm of their largest error. Remez's exchange algorithm; needs the package mpmath."""

import mpmath as mp

mp.mp.dps = 40
GRID = 600


def remez(function, start, end, degree, weight):
    """The polynomial with the least maximum of |weight(x) (p(x) - function(x))|, and that maximum."""
    points = degree + 2
    middle, half = mp.mpf(start + end) / 2, mp.mpf(end - start) / 2
    nodes = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * points)) for i in range(points)]
    grid = [middle + half * (2 * mp.mpf(k) / GRID - 1) for k in range(GRID + 1)]
    for _ in range(14):
        matrix, values = mp.matrix(points, points), mp.matrix(points, 1)
        for row, x in enumerate(nodes):
            for power in range(degree + 1):
                matrix[row, power] = x**power
            matrix[row, degree + 1] = (-1) ** row / weight(x)
            values[row] = function(x)
        solution = mp.lu_solve(matrix, values)
        coefficients, level = list(solution)[: degree + 1], abs(solution[degree + 1])
        errors = [weight(x) * (mp.polyval(coefficients[::-1], x) - function(x)) for x in grid]
        # The extremum of each run of errors of one sign.
        extrema, best = [], 0
        for k in range(1, GRID + 1):
            if mp.sign(errors[k]) != mp.sign(errors[best]):
                extrema.append(best)
                best = k
            elif abs(errors[k]) > abs(errors[best]):
                best = k
        extrema.append(best)
        largest = max(map(abs, errors))
        if len(extrema) < points or largest < level * mp.mpf(1.01):
            break
        while len(extrema) > points:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        nodes = [grid[k] for k in extrema]
    return coefficients, largest


def tail(function, first, order, at_zero):
    """(function(x) - first x) / x^order, with its value at zero."""
    return lambda x: at_zero if abs(x) < mp.mpf("1e-14") else (function(x) - first * x) / x**order


def odd_tail(function, first, at_zero):
    """(function(s)/s - first)/z of z = s^2."""
    return lambda z: at_zero if z < mp.mpf("1e-20") else (function(mp.sqrt(z)) / mp.sqrt(z) - first) / z


def relative(function, order):
    """Weights an error of x^order p(x) in units of function(x)."""
    return lambda x: x**order / abs(function(x)) if abs(x) > mp.mpf("1e-9") else mp.mpf("1e-9")


def odd_relative(function):
    return lambda z: z * mp.sqrt(z) / function(mp.sqrt(z)) if z > 0 else mp.mpf("1e-9")


def tangent(end):
    """(1 + a z) / (1 + b z + c z^2) for tan(s)/s of z = s^2, as (a, b, c), and the largest relative error."""
    value = lambda z: mp.tan(mp.sqrt(z)) / mp.sqrt(z)
    error = lambda z, a, b, c: (1 + a * z) / ((1 + b * z + c * z * z) * value(z)) - 1
    # The coefficients of Pade's approximation, and the error at its extrema of alternating sign.
    solution = [-mp.mpf(2) / 21, -mp.mpf(3) / 7, mp.mpf(1) / 105, mp.mpf("1e-9")]
    nodes = [end * mp.mpf(part) for part in ("0.25", "0.55", "0.85", "1")]
    for _ in range(8):
        system = lambda a, b, c, e: [error(z, a, b, c) - (-1) ** i * e for i, z in enumerate(nodes)]
        solution = list(mp.findroot(system, solution))
        grid = [end * k / 2000 for k in range(1, 2001)]
        errors = [error(z, *solution[:3]) for z in grid]
        extrema, best = [], 0
        for k in range(1, len(grid)):
            if mp.sign(errors[k]) != mp.sign(errors[best]):
                extrema.append(best)
                best = k
            elif abs(errors[k]) > abs(errors[best]):
                best = k
        nodes = [grid[k] for k in extrema[-3:] + [best]]
    return solution[:3], abs(solution[3])


LN2_HALF = mp.log(2) / 2 * mp.mpf("1.0001")
QUARTER = (mp.pi / 4 * mp.mpf("1.0005")) ** 2
HALF = (mp.pi / 2 * mp.mpf("1.0002")) ** 2
ARTANH = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001")
TWO_OVER_ROOT_PI = 2 / mp.sqrt(mp.pi)
TWO_OVER_LN2 = 2 / mp.log(2)

FITS = [
    ("log_one_plus", tail(mp.log1p, 1, 2, -mp.mpf(1) / 2), 1 / mp.sqrt(2) - 1, mp.sqrt(2) - 1, 7, relative(mp.log1p, 2)),
    ("expm1_float", tail(mp.expm1, 1, 2, mp.mpf(1) / 2), -LN2_HALF, LN2_HALF, 4, relative(mp.expm1, 2)),
    ("sine", odd_tail(mp.sin, 1, -mp.mpf(1) / 6), 0, HALF, 3, odd_relative(mp.sin)),
    (
        "sine_of_turns",
        odd_tail(mp.sinpi, mp.pi, -(mp.pi**3) / 6),
        0,
        mp.mpf(1) / 4,
        3,
        odd_relative(mp.sinpi),
    ),
    ("atan_up_to_one", odd_tail(mp.atan, 1, -mp.mpf(1) / 3), 0, 1, 6, odd_relative(mp.atan)),
    (
        "power_of_normal",
        odd_tail(lambda s: TWO_OVER_LN2 * mp.atanh(s), TWO_OVER_LN2, TWO_OVER_LN2 / 3),
        0,
        ARTANH,
        2,
        lambda z: z / TWO_OVER_LN2,
    ),
    ("arc", odd_tail(mp.asin, 1, mp.mpf(1) / 6), 0, mp.mpf(1) / 4, 4, odd_relative(mp.asin)),
    ("tanh_float", odd_tail(mp.tanh, 1, -mp.mpf(1) / 3), 0, mp.mpf("0.55") ** 2, 3, odd_relative(mp.tanh)),
    (
        "erf_float, below 1",
        lambda z: TWO_OVER_ROOT_PI - 1 if z < mp.mpf("1e-20") else mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        0,
        1,
        5,
        lambda z: mp.mpf(1),
    ),
    (
        "erf_float, exponent",
        lambda x: mp.log(mp.erfc(x), 2),
        1,
        4,
        5,
        lambda x: mp.erfc(x) * mp.log(2) / mp.erf(x),
    ),
    ("sine, double", odd_tail(mp.sin, 1, -mp.mpf(1) / 6), 0, HALF, 7, odd_relative(mp.sin)),
    ("exp_double", tail(mp.expm1, 1, 2, mp.mpf(1) / 2), -LN2_HALF, LN2_HALF, 9, relative(mp.exp, 2)),
    (
        "log_double",
        lambda z: mp.mpf(2) / 3 if z < mp.mpf("1e-20") else (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
        0,
        ARTANH,
        6,
        lambda z: z / 2,
    ),
]

def report(name, coefficients, error):
    print(f"{name}: 2^{float(mp.log(error, 2)):.1f}")
    for coefficient in coefficients:
        print(f"    {mp.nstr(coefficient, 20 if 'double' in name else 10)}")


for name, function, start, end, degree, weight in FITS:
    report(name, *remez(function, start, end, degree, weight))
report("turned_tangent", *tangent(QUARTER))
