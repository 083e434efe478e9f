//! The functions: their calls, their error bounds (OpenCL C 7.4, cl_khr_fp16), and their exact values.

use rug::{
    Float, Integer,
    float::{Constant, Special},
    ops::Pow as _,
};

use super::number::{Kind, PRECISION};

/// A function, or one of the two results of one.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// An expression of `x`, `y`, `z`, an integer `n` from the last operand's bits, and results `p` of the type and `i`.
    pub(crate) call: &'static str,
    /// Units in the last place of half, float, double; negative where the type has no such function.
    bounds: [f64; 3],
    pub(crate) exact: fn(&Arguments) -> Float,
    /// The result is an integer.
    pub(crate) gives_integer: bool,
    /// Whether a zero of either sign is correct.
    pub(crate) any_zero: bool,
    /// Errors are measured in units of at least one: OpenCL specifies no bound, and exact results can be zero.
    pub(crate) is_absolute: bool,
}

/// The operands of a point.
pub(crate) struct Arguments {
    kind: Kind,
    bits: Vec<u64>,
    x: Float,
    y: Float,
    z: Float,
    n: i32,
}

impl Arguments {
    pub(crate) fn new(kind: Kind, bits: &[u64]) -> Self {
        let number = |index: usize| bits.get(index).map_or_else(nan, |&it| kind.decode(it));
        Self {
            kind,
            bits: bits.to_vec(),
            x: number(0),
            y: number(1),
            z: number(2),
            n: small(bits[bits.len() - 1]),
        }
    }
}

/// The integer operand: small in three of four cases.
fn small(bits: u64) -> i32 {
    let low = bits as u32 as u16 as i16;
    match low & 3 {
        0 => i32::from(low >> 2) * 40_503,
        1 => i32::from(low >> 13),
        _ => i32::from(low >> 5),
    }
}

/// The function above in OpenCL C.
const SMALL: &str = "int small(uint bits) { short low = (short)bits; return (low & 3) == 0 ? (low >> 2) * 40503 \
                     : (low & 3) == 1 ? low >> 13 : low >> 5; }\n";

impl Function {
    pub(crate) fn exists_for(&self, kind: Kind) -> bool {
        self.bound(kind) >= 0.0
    }

    pub(crate) const fn bound(&self, kind: Kind) -> f64 {
        self.bounds[kind as usize]
    }

    pub(crate) fn arity(&self) -> usize {
        let has = |name: &str| self.call.split(|it: char| !it.is_alphanumeric()).any(|word| word == name);
        if has("z") {
            3
        } else if has("y") || has("n") {
            2
        } else {
            1
        }
    }

    /// A kernel that calls it for every point.
    pub(crate) fn kernel(&self, kind: Kind, number: usize, operands: usize) -> String {
        let (ty, bits) = (kind.name(), kind.bits_name());
        let parameters: String =
            ["a", "b", "c"][..operands].iter().map(|name| format!(", global {ty} *{name}")).collect();
        let others: String =
            ["y = b[j]", "z = c[j]"][..operands - 1].iter().map(|it| format!(", {it}")).collect();
        let last = ["a", "b", "c"][operands - 1];
        let call = self.call.replace('T', ty).replace('U', bits);
        let as_bits =
            if self.gives_integer { format!("({bits})({})", kind.int_name()) } else { format!("as_{bits}") };
        let prelude = if number == 0 { SMALL } else { "" };
        format!(
            "{prelude}kernel void k{number}(global {bits} *out{parameters}) {{\n    size_t j = get_global_id(0);\n    \
             {ty} x = a[j]{others}, p = 0;\n    int n = small((uint)as_{bits}({last}[j])), i = 0;\n    \
             out[j] = {as_bits}({call});\n}}\n"
        )
    }
}

fn nan() -> Float {
    Float::with_val(PRECISION, Special::Nan)
}

fn to_float(value: f64) -> Float {
    Float::with_val(PRECISION, value)
}

fn infinity() -> Float {
    Float::with_val(PRECISION, Special::Infinity)
}

fn pi() -> Float {
    Float::with_val(PRECISION, Constant::Pi)
}

fn is_odd(value: &Float) -> bool {
    value.is_integer() && value.to_integer().is_some_and(|whole: Integer| whole.is_odd())
}

/// x modulo 2, which decides functions of half turns.
fn modulo_two(x: &Float) -> Float {
    Float::with_val(PRECISION, x % 2u32)
}

fn sinpi(x: &Float) -> Float {
    if !x.is_finite() {
        return nan();
    }
    if x.is_integer() {
        return to_float(0.0).copysign(x);
    }
    (modulo_two(x) * pi()).sin()
}

fn cospi(x: &Float) -> Float {
    if !x.is_finite() {
        return nan();
    }
    let t = modulo_two(x).abs();
    if t == 0.5 || t == 1.5 { to_float(0.0) } else { (t * pi()).cos() }
}

/// Special cases: OpenCL C 7.5.1.
fn tanpi(x: &Float) -> Float {
    if !x.is_finite() {
        return nan();
    }
    if x.is_integer() {
        let zero = to_float(0.0).copysign(x);
        return if is_odd(x) { -zero } else { zero };
    }
    let t = modulo_two(x);
    let floor = Float::with_val(PRECISION, x).floor();
    if Float::with_val(PRECISION, x - &floor) == 0.5 {
        return if is_odd(&floor) { -infinity() } else { infinity() };
    }
    (t * pi()).tan()
}

fn powr(x: &Float, y: &Float) -> Float {
    if x.is_nan() || y.is_nan() || *x < 0 {
        return nan();
    }
    if y.is_zero() && (x.is_zero() || x.is_infinite()) || *x == 1 && y.is_infinite() {
        return nan();
    }
    Float::with_val(PRECISION, x.clone().abs().pow(y))
}

fn rootn(x: &Float, n: i32) -> Float {
    if n == 0 {
        return nan();
    }
    x.clone().root_i(n)
}

/// The number of the type next to x in the direction of y.
fn nextafter(it: &Arguments) -> Float {
    let Arguments { kind, bits, x, y, .. } = it;
    if x.is_nan() || y.is_nan() {
        return nan();
    }
    if x == y {
        return y.clone();
    }
    if x.is_zero() {
        return kind.decode(bits[1] & kind.sign_bit() | 1);
    }
    let grows = (y > x) == (*x > 0);
    kind.decode(if grows { bits[0] + 1 } else { bits[0] - 1 })
}

/// A correctly rounded result has an error of at most half a unit.
const ROUNDED: [f64; 3] = [0.5; 3];
const EXACT: [f64; 3] = [0.0; 3];
/// The bound where OpenCL specifies none, in units in the last place: detects only gross errors.
const NONE: [f64; 3] = [-1.0; 3];

const fn function(
    name: &'static str,
    call: &'static str,
    bounds: [f64; 3],
    exact: fn(&Arguments) -> Float,
) -> Function {
    Function { name, call, bounds, exact, gives_integer: false, any_zero: false, is_absolute: false }
}

const fn integer(name: &'static str, call: &'static str, exact: fn(&Arguments) -> Float) -> Function {
    Function { gives_integer: true, ..function(name, call, EXACT, exact) }
}

const fn any_zero(of: Function) -> Function {
    Function { any_zero: true, ..of }
}

const fn absolute(of: Function) -> Function {
    Function { is_absolute: true, any_zero: true, ..of }
}

const fn float_only(
    name: &'static str,
    call: &'static str,
    bound: f64,
    exact: fn(&Arguments) -> Float,
) -> Function {
    let mut bounds = NONE;
    bounds[Kind::Float as usize] = bound;
    function(name, call, bounds, exact)
}

/// OpenCL C 6.15.2 and 6.15.4.
pub(crate) const FUNCTIONS: &[Function] = &[
    function("sin", "sin(x)", [2.0, 4.0, 4.0], |it| it.x.clone().sin()),
    function("cos", "cos(x)", [2.0, 4.0, 4.0], |it| it.x.clone().cos()),
    function("tan", "tan(x)", [2.0, 5.0, 5.0], |it| it.x.clone().tan()),
    function("sincos", "sincos(x, &p)", [2.0, 4.0, 4.0], |it| it.x.clone().sin()),
    function("sincos", "(sincos(x, &p), p)", [2.0, 4.0, 4.0], |it| it.x.clone().cos()),
    function("sinpi", "sinpi(x)", [2.0, 4.0, 4.0], |it| sinpi(&it.x)),
    function("cospi", "cospi(x)", [2.0, 4.0, 4.0], |it| cospi(&it.x)),
    function("tanpi", "tanpi(x)", [2.0, 6.0, 6.0], |it| tanpi(&it.x)),
    function("asin", "asin(x)", [2.0, 4.0, 4.0], |it| it.x.clone().asin()),
    function("acos", "acos(x)", [2.0, 4.0, 4.0], |it| it.x.clone().acos()),
    function("atan", "atan(x)", [2.0, 5.0, 5.0], |it| it.x.clone().atan()),
    function("asinpi", "asinpi(x)", [2.0, 5.0, 5.0], |it| it.x.clone().asin() / pi()),
    function("acospi", "acospi(x)", [2.0, 5.0, 5.0], |it| it.x.clone().acos() / pi()),
    function("atanpi", "atanpi(x)", [2.0, 5.0, 5.0], |it| it.x.clone().atan() / pi()),
    function("sinh", "sinh(x)", [2.0, 4.0, 4.0], |it| it.x.clone().sinh()),
    function("cosh", "cosh(x)", [2.0, 4.0, 4.0], |it| it.x.clone().cosh()),
    function("tanh", "tanh(x)", [2.0, 5.0, 5.0], |it| it.x.clone().tanh()),
    function("asinh", "asinh(x)", [2.0, 4.0, 4.0], |it| it.x.clone().asinh()),
    function("acosh", "acosh(x)", [2.0, 4.0, 4.0], |it| it.x.clone().acosh()),
    function("atanh", "atanh(x)", [2.0, 5.0, 5.0], |it| it.x.clone().atanh()),
    function("exp", "exp(x)", [2.0, 3.0, 3.0], |it| it.x.clone().exp()),
    function("exp2", "exp2(x)", [2.0, 3.0, 3.0], |it| it.x.clone().exp2()),
    function("exp10", "exp10(x)", [2.0, 3.0, 3.0], |it| it.x.clone().exp10()),
    function("expm1", "expm1(x)", [2.0, 3.0, 3.0], |it| it.x.clone().exp_m1()),
    function("log", "log(x)", [2.0, 3.0, 3.0], |it| it.x.clone().ln()),
    function("log2", "log2(x)", [2.0, 3.0, 3.0], |it| it.x.clone().log2()),
    function("log10", "log10(x)", [2.0, 3.0, 3.0], |it| it.x.clone().log10()),
    function("log1p", "log1p(x)", [2.0, 2.0, 2.0], |it| it.x.clone().ln_1p()),
    function("cbrt", "cbrt(x)", [2.0, 2.0, 2.0], |it| it.x.clone().cbrt()),
    function("sqrt", "sqrt(x)", [0.5, 3.0, 0.5], |it| it.x.clone().sqrt()),
    // IEEE 754's rSqrt of a negative zero is negative infinity.
    function("rsqrt", "rsqrt(x)", [1.0, 2.0, 2.0], |it| {
        if it.x.is_zero() { infinity().copysign(&it.x) } else { it.x.clone().recip_sqrt() }
    }),
    function("erf", "erf(x)", [4.0, 16.0, 16.0], |it| it.x.clone().erf()),
    function("erfc", "erfc(x)", [4.0, 16.0, 16.0], |it| it.x.clone().erfc()),
    function("tgamma", "tgamma(x)", [4.0, 16.0, 16.0], |it| it.x.clone().gamma()),
    absolute(function("lgamma", "lgamma(x)", [16.0; 3], |it| it.x.clone().ln_abs_gamma().0)),
    absolute(function("lgamma_r", "lgamma_r(x, &i)", [16.0; 3], |it| it.x.clone().ln_abs_gamma().0)),
    any_zero(integer("lgamma_r", "(lgamma_r(x, &i), x > -20 && x < 20 && x != trunc(x) ? i : 0)", |it| {
        if it.x.is_nan() || it.x.is_integer() || *it.x.as_abs() >= 20 {
            return to_float(0.0);
        }
        let (_, sign) = it.x.clone().ln_abs_gamma();
        to_float(if sign == std::cmp::Ordering::Less { -1.0 } else { 1.0 })
    })),
    // Correctly rounded, or exact.
    function("ceil", "ceil(x)", EXACT, |it| it.x.clone().ceil()),
    function("floor", "floor(x)", EXACT, |it| it.x.clone().floor()),
    function("trunc", "trunc(x)", EXACT, |it| it.x.clone().trunc()),
    function("round", "round(x)", EXACT, |it| it.x.clone().round()),
    function("rint", "rint(x)", EXACT, |it| it.x.clone().round_even()),
    function("fabs", "fabs(x)", EXACT, |it| it.x.clone().abs()),
    function("sign", "sign(x)", EXACT, |it| {
        if it.x.is_nan() {
            to_float(0.0)
        } else if it.x.is_zero() {
            it.x.clone()
        } else {
            to_float(1.0).copysign(&it.x)
        }
    }),
    function("degrees", "degrees(x)", [2.0; 3], |it| it.x.clone() * 180u32 / pi()),
    function("radians", "radians(x)", [2.0; 3], |it| it.x.clone() * pi() / 180u32),
    function("logb", "logb(x)", EXACT, |it| match it.x.get_exp() {
        Some(exponent) => to_float(f64::from(exponent - 1)),
        None if it.x.is_zero() => -infinity(),
        None => it.x.clone().abs(),
    }),
    integer("ilogb", "ilogb(x) < -30000 ? -30000 : ilogb(x) > 30000 ? 30000 : ilogb(x)", |it| {
        to_float(it.x.get_exp().map_or(
            // FP_ILOGB0 and FP_ILOGBNAN are the least of int, or the largest.
            if it.x.is_infinite() || it.x.is_nan() { 30000.0 } else { -30000.0 },
            |exponent| f64::from(exponent - 1),
        ))
    }),
    function("frexp", "frexp(x, &i)", EXACT, |it| match it.x.get_exp() {
        Some(exponent) => it.x.clone() >> exponent,
        None => it.x.clone(),
    }),
    integer("frexp", "(frexp(x, &i), isfinite(x) ? i : 0)", |it| {
        to_float(it.x.get_exp().unwrap_or(0).into())
    }),
    function("modf", "modf(x, &p)", EXACT, |it| {
        if it.x.is_infinite() {
            return to_float(0.0).copysign(&it.x);
        }
        Float::with_val(PRECISION, &it.x - it.x.clone().trunc()).copysign(&it.x)
    }),
    function("modf", "(modf(x, &p), p)", EXACT, |it| it.x.clone().trunc()),
    function("fract", "fract(x, &p)", ROUNDED, |it| {
        if it.x.is_infinite() {
            return to_float(0.0).copysign(&it.x);
        }
        if it.x.is_zero() {
            return it.x.clone();
        }
        let rest = Float::with_val(PRECISION, &it.x - it.x.clone().floor());
        let max = it.kind.decode(it.kind.encode(1.0) - 1);
        if rest.is_nan() { rest } else { rest.min(&max) }
    }),
    function("fract", "(fract(x, &p), p)", EXACT, |it| it.x.clone().floor()),
    function("nan", "nan(as_U(x))", EXACT, |_| nan()),
    // Functions of two numbers.
    function("pow", "pow(x, y)", [4.0, 16.0, 16.0], |it| Float::with_val(PRECISION, (&it.x).pow(&it.y))),
    function("powr", "powr(x, y)", [4.0, 16.0, 16.0], |it| powr(&it.x, &it.y)),
    function("pown", "pown(x, n)", [4.0, 16.0, 16.0], |it| Float::with_val(PRECISION, (&it.x).pow(it.n))),
    function("rootn", "rootn(x, n)", [4.0, 16.0, 16.0], |it| rootn(&it.x, it.n)),
    function("atan2", "atan2(x, y)", [2.0, 6.0, 6.0], |it| it.x.clone().atan2(&it.y)),
    function("atan2pi", "atan2pi(x, y)", [2.0, 6.0, 6.0], |it| it.x.clone().atan2(&it.y) / pi()),
    function("hypot", "hypot(x, y)", [2.0, 4.0, 4.0], |it| it.x.clone().hypot(&it.y)),
    function("copysign", "copysign(x, y)", EXACT, |it| it.x.clone().copysign(&it.y)),
    function("fmod", "fmod(x, y)", EXACT, |it| Float::with_val(3000, &it.x % &it.y)),
    function("remainder", "remainder(x, y)", EXACT, |it| it.x.clone().remainder(&it.y)),
    function("remquo", "remquo(x, y, &i)", EXACT, |it| it.x.clone().remainder(&it.y)),
    any_zero(integer("remquo", "(remquo(x, y, &i), i < 0 ? -(-i & 127) : i & 127)", |it| {
        if !it.x.is_finite() || it.y.is_nan() || it.y.is_zero() || it.y.is_infinite() {
            return to_float(0.0);
        }
        let rest = it.x.clone().remainder(&it.y);
        let whole = Float::with_val(4400, &it.x - &rest) / &it.y;
        let whole = whole.round().to_integer().unwrap_or_default();
        let low = Integer::from(whole.abs_ref()) & 127u32;
        to_float(if whole < 0 { -low.to_f64() } else { low.to_f64() })
    })),
    any_zero(function("fmax", "fmax(x, y)", EXACT, |it| it.x.clone().max(&it.y))),
    any_zero(function("fmin", "fmin(x, y)", EXACT, |it| it.x.clone().min(&it.y))),
    any_zero(function("fdim", "fdim(x, y)", ROUNDED, |it| {
        if it.x.is_nan() || it.y.is_nan() {
            nan()
        } else if it.x > it.y {
            Float::with_val(PRECISION, &it.x - &it.y)
        } else {
            to_float(0.0)
        }
    })),
    any_zero(function("maxmag", "maxmag(x, y)", EXACT, |it| match it.x.cmp_abs(&it.y) {
        Some(std::cmp::Ordering::Greater) => it.x.clone(),
        Some(std::cmp::Ordering::Less) => it.y.clone(),
        _ => it.x.clone().max(&it.y),
    })),
    any_zero(function("minmag", "minmag(x, y)", EXACT, |it| match it.x.cmp_abs(&it.y) {
        Some(std::cmp::Ordering::Less) => it.x.clone(),
        Some(std::cmp::Ordering::Greater) => it.y.clone(),
        _ => it.x.clone().min(&it.y),
    })),
    function("nextafter", "nextafter(x, y)", EXACT, nextafter),
    function("ldexp", "ldexp(x, n)", ROUNDED, |it| it.x.clone() << it.n),
    function("divide", "x / y", [1.0, 2.5, 0.5], |it| Float::with_val(PRECISION, &it.x / &it.y)),
    function("step", "step(x, y)", EXACT, |it| to_float(if it.y < it.x { 0.0 } else { 1.0 })),
    // Functions of three numbers. The product is exact with twice the digits, the sum with the range of all exponents.
    any_zero(function("fma", "fma(x, y, z)", ROUNDED, |it| {
        let product = Float::with_val(PRECISION, &it.x * &it.y);
        Float::with_val(4400, &product + &it.z)
    })),
    // Functions of reduced precision, for float only (6.15.2.1) and arguments up to 2^16.
    float_only("half_exp", "half_exp(isnan(x) ? x : clamp(x, -80.0f, 80.0f))", 8192.0, |it| {
        clamped(&it.x, 80.0).exp()
    }),
    float_only("half_exp2", "half_exp2(isnan(x) ? x : clamp(x, -80.0f, 80.0f))", 8192.0, |it| {
        clamped(&it.x, 80.0).exp2()
    }),
    float_only("half_exp10", "half_exp10(isnan(x) ? x : clamp(x, -30.0f, 30.0f))", 8192.0, |it| {
        clamped(&it.x, 30.0).exp10()
    }),
    float_only("half_sin", "half_sin(isnan(x) ? x : clamp(x, -6e4f, 6e4f))", 8192.0, |it| {
        clamped(&it.x, 6e4).sin()
    }),
    float_only("half_cos", "half_cos(isnan(x) ? x : clamp(x, -6e4f, 6e4f))", 8192.0, |it| {
        clamped(&it.x, 6e4).cos()
    }),
    float_only("half_tan", "half_tan(isnan(x) ? x : clamp(x, -6e4f, 6e4f))", 8192.0, |it| {
        clamped(&it.x, 6e4).tan()
    }),
    float_only("half_log", "half_log(x)", 8192.0, |it| it.x.clone().ln()),
    float_only("half_log2", "half_log2(x)", 8192.0, |it| it.x.clone().log2()),
    float_only("half_log10", "half_log10(x)", 8192.0, |it| it.x.clone().log10()),
    float_only("half_sqrt", "half_sqrt(x)", 8192.0, |it| it.x.clone().sqrt()),
    float_only("half_rsqrt", "half_rsqrt(fabs(x) + 1e-30f)", 8192.0, |it| {
        (it.x.clone().abs() + to_float(f64::from(1e-30f32))).recip_sqrt()
    }),
    // Drivers divide inexactly by numbers above 2^126.
    float_only("half_recip", "half_recip(x)", 8192.0, |it| it.x.clone().recip()),
    float_only(
        "half_divide",
        "isnan(y) ? y : half_divide(x, clamp(fabs(y), 1e-4f, 0x1.fffffep+127f))",
        8192.0,
        |it| if it.y.is_nan() { nan() } else { it.x.clone() / between(&it.y.clone().abs(), 1e-4, f32::MAX) },
    ),
    float_only(
        "half_powr",
        "isnan(x) || isnan(y) ? NAN : half_powr(clamp(x, 0.1f, 50.0f), clamp(y, -9.0f, 9.0f))",
        8192.0,
        |it| {
            if it.x.is_nan() || it.y.is_nan() {
                nan()
            } else {
                between(&it.x, 0.1, 50.0).pow(clamped(&it.y, 9.0))
            }
        },
    ),
];

fn between(x: &Float, min: f32, max: f32) -> Float {
    if x.is_nan() {
        // For a NaN, clamp returns a bound or the NaN, so the kernel's result is not checked.
        return nan();
    }
    x.clone().max(&to_float(min.into())).min(&to_float(max.into()))
}

fn clamped(x: &Float, max: f32) -> Float {
    between(x, -max, max)
}
