//! Relational, common and geometric functions (OpenCL C 6.15.4 to 6.15.6), and the vector forms of all numeric functions,
//! which must equal the scalar ones.

use kiln_testsuite::{
    launch::{Input, Job, launch},
    nightly,
    random::Random,
};

use crate::{Device, FLOAT, Scalar};

/// Numbers of a type: special ones, and some of all sizes.
fn numbers(ty: Scalar, flushes: bool) -> Vec<u64> {
    let digits = match ty.bits {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let sign = 1u64 << (ty.bits - 1);
    let infinity = (sign - 1) >> digits << digits;
    let one = ty.bits_of(1.0);
    let mut sizes =
        vec![0, infinity, infinity | 1 << (digits - 1), infinity - 1, 1 << digits, one, one + 1, one - 1];
    if !flushes {
        sizes.extend([1, (1 << digits) - 1]);
    }
    let mut random = Random::new(5);
    while sizes.len() < 24 {
        let bits = random.wide() & (sign - 1);
        if bits >= 1 << digits {
            sizes.push(bits);
        }
    }
    sizes.into_iter().flat_map(|size| [size, size | sign]).collect()
}

type Relation = (&'static str, fn(f64, f64) -> bool);

const RELATIONS: &[Relation] = &[
    ("isequal(x, y)", |x, y| x == y),
    ("isnotequal(x, y)", |x, y| x != y),
    ("isgreater(x, y)", |x, y| x > y),
    ("isgreaterequal(x, y)", |x, y| x >= y),
    ("isless(x, y)", |x, y| x < y),
    ("islessequal(x, y)", |x, y| x <= y),
    ("islessgreater(x, y)", |x, y| x != y && !x.is_nan() && !y.is_nan()),
    ("isordered(x, y)", |x, y| !x.is_nan() && !y.is_nan()),
    ("isunordered(x, y)", |x, y| x.is_nan() || y.is_nan()),
    ("isfinite(x)", |x, _| x.is_finite()),
    ("isinf(x)", |x, _| x.is_infinite()),
    ("isnan(x)", |x, _| x.is_nan()),
];

pub(crate) fn relations(device: Device) {
    for &ty in device.reals() {
        let own = numbers(ty, device.flushes);
        let left: Vec<u64> = own.iter().flat_map(|&bits| vec![bits; own.len()]).collect();
        let right: Vec<u64> = own.iter().copied().cycle().take(left.len()).collect();
        let (name, signed) = (ty.name, ty.signed());
        // True is 1 for scalars and -1 for vectors. `signbit` and `isnormal` are computed from the bits.
        let mut body = String::new();
        let mut width = 0;
        let min = ty.real(
            1 << (match ty.bits {
                16 => 10,
                32 => 23,
                _ => 52u32,
            }),
        );
        for (text, _) in RELATIONS {
            let wide = text.replace('x', "v").replace('y', "w").replace("isnev", "isnex");
            let wide = wide.replace("islevs", "isless");
            body += &format!("    out[j * N + {width}] = ({signed})({text});\n");
            body += &format!("    out[j * N + {}] = ({wide}).s1;\n", width + 1);
            width += 2;
        }
        for text in ["signbit(x)", "isnormal(x)", "signbit(v).s1", "isnormal(v).s1"] {
            body += &format!("    out[j * N + {width}] = ({signed})({text});\n");
            width += 1;
        }
        body += &format!("    out[j * N + {width}] = as_{signed}(select(x, y, ({signed})(j & 1)));\n");
        body += &format!(
            // The sign of x chooses. (The mask is not constant, because lavapipe folds 64-bit signs of constants incorrectly.)
            "    out[j * N + {}] = as_{signed}(select(v, w, ({signed}2)(0, as_{signed}(x))).s1);\n",
            width + 1
        );
        body += &format!(
            "    out[j * N + {}] = as_{signed}(bitselect(x, y, as_{name}(({signed})0x5a)));\n",
            width + 2
        );
        width += 3;
        let kernel = format!(
            "kernel void k0(global {signed} *out, global {name} *a, global {name} *b) {{\n    size_t j = get_global_id(0);\n    \
             {name} x = a[j], y = b[j];\n    {name}2 v = ({name}2)(0, x), w = ({name}2)(1, y);\n{}}}\n",
            body.replace("* N", &format!("* {width}"))
        );
        let jobs = [Job { kernel, out: ty.argument(), per_item: width, local: None }];
        let inputs = [&left, &right].map(|values| Input::new(ty.argument(), ty.size(), values));
        let results = launch(device.device, &[], device.pragmas(), &jobs, &inputs);
        for (index, results) in results[0].chunks(width).enumerate() {
            let (a, b) = (left[index], right[index]);
            let (x, y) = (ty.real(a), ty.real(b));
            let mut expected = Vec::new();
            for (_, holds) in RELATIONS {
                let holds = u64::from(holds(x, y));
                expected.extend([holds, holds.wrapping_neg() & ty.mask()]);
            }
            let sign = a >> (ty.bits - 1) & 1;
            let normal = u64::from(x.is_finite() && x.abs() >= min);
            expected.extend([
                sign,
                normal,
                sign.wrapping_neg() & ty.mask(),
                normal.wrapping_neg() & ty.mask(),
            ]);
            let chosen = if index & 1 != 0 { b } else { a };
            let by_sign = if sign != 0 { b } else { a };
            expected.extend([chosen, by_sign, (a & !0x5a) | (b & 0x5a)]);
            assert_eq!(results, expected, "{name} {x:e}, {y:e} on {}", device.name);
        }
    }
}

/// A call, its allowed relative error, and its result.
type Common = (&'static str, f64, fn(f64, f64, f64) -> f64);

fn smooth(x: f64, from: f64, to: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

const COMMON: &[Common] = &[
    ("clamp(x, fmin(y, z), fmax(y, z))", 0.0, |x, y, z| x.clamp(y.min(z), y.max(z))),
    ("max(x, y)", 0.0, |x, y, _| x.max(y)),
    ("min(x, y)", 0.0, |x, y, _| x.min(y)),
    ("mix(x, y, fract(z, &p))", 4.0, |x, y, z| x + (y - x) * (z - z.floor())),
    ("smoothstep((T)-1, (T)2, x)", 8.0, |x, _, _| smooth(x, -1.0, 2.0)),
    ("step(y, x)", 0.0, |x, y, _| if x < y { 0.0 } else { 1.0 }),
    ("mad(x, y, z)", 4.0, |x, y, z| x * y + z),
];

pub(crate) fn common(device: Device) {
    const COUNT: usize = 1000;
    let mut random = Random::new(11);
    for &ty in device.reals() {
        // Numbers that every type has.
        let operands: [Vec<f64>; 3] = std::array::from_fn(|_| {
            (0..COUNT).map(|_| f64::from(random.bits() % 2048) / 256.0 - 4.0).collect()
        });
        let inputs = operands.each_ref().map(|values| {
            let bits: Vec<u64> = values.iter().map(|&it| ty.bits_of(it)).collect();
            Input::new(ty.argument(), ty.size(), &bits)
        });
        let (name, unsigned) = (ty.name, ty.unsigned());
        let jobs: Vec<Job> = COMMON
            .iter()
            .enumerate()
            .map(|(number, (text, _, _))| {
                let text = text.replace('T', name);
                let kernel = format!(
                    "kernel void k{number}(global {unsigned} *out, global {name} *a, global {name} *b, global {name} *c) {{\n    \
                     size_t j = get_global_id(0);\n    {name} x = a[j], y = b[j], z = c[j], p;\n    \
                     out[j] = as_{unsigned}({text});\n}}\n"
                );
                Job { kernel, out: ty.argument(), per_item: 1, local: None }
            })
            .collect();
        let results = launch(device.device, &[], device.pragmas(), &jobs, &inputs);
        let unit = 2f64.powi(match ty.bits {
            16 => -10,
            32 => -23,
            _ => -52,
        });
        for ((text, bound, exact), results) in COMMON.iter().zip(&results) {
            for (index, &got) in results.iter().enumerate() {
                let [x, y, z] = operands.each_ref().map(|values| values[index]);
                let (got, exact) = (ty.real(got), exact(x, y, z));
                // Operands are below 32, so cancellation leaves at least their last bits.
                let off =
                    (got - exact).abs() / (exact.abs().max(16.0 * f64::from(*bound > 0.0)).max(1.0) * unit);
                assert!(
                    off <= *bound,
                    "{text} of {name} {x}, {y}, {z} on {}: {got} and not {exact}",
                    device.name
                );
            }
        }
    }
}

/// Geometric functions of vectors of all sizes, without overflow of intermediate results.
pub(crate) fn geometry(device: Device) {
    const COUNT: usize = 400;
    let reals: Vec<Scalar> = device.reals().copied().filter(|ty| ty.bits > 16).collect();
    for ty in reals {
        for width in 1..=4usize {
            let mut random = Random::new(width as u64);
            let scales: &[i32] = if ty == FLOAT { &[0, 0, 100, -90] } else { &[0, 0, 900, -900] };
            let values: Vec<f64> = (0..COUNT * width)
                .map(|index| {
                    let scale = scales[index / width % scales.len()];
                    f64::from(random.bits() as i32 >> 8) * 2f64.powi(scale - 20)
                })
                .collect();
            let bits: Vec<u64> = values.iter().map(|&it| ty.bits_of(it)).collect();
            let (name, unsigned) = (ty.name, ty.unsigned());
            let vector = if width == 1 { name.to_owned() } else { format!("{name}{width}") };
            let load = if width == 1 { "a[j]".to_owned() } else { format!("vload{width}(j, a)") };
            let parts: String = (0..width)
                .map(|part| {
                    let part_of = if width == 1 { "n".to_owned() } else { format!("n.s{part}") };
                    format!("    out[j * {} + {}] = as_{unsigned}({part_of});\n", width + 3, 3 + part)
                })
                .collect();
            let kernel = format!(
                "kernel void k0(global {unsigned} *out, global {name} *all) {{\n    size_t j = get_global_id(0);\n    \
                 global {name} *a = all;\n    {vector} x = {load}, n = normalize(x);\n    \
                 out[j * {per} + 0] = as_{unsigned}(length(x));\n    \
                 out[j * {per} + 1] = as_{unsigned}(distance(x, -x));\n    \
                 out[j * {per} + 2] = as_{unsigned}(dot(n, n));\n{parts}}}\n",
                per = width + 3
            );
            // The buffer has a value for each component, so it has more items than are checked.
            let kernel = kernel.replace(
                "size_t j = get_global_id(0);",
                &format!("size_t j = get_global_id(0);\n    if (j >= {COUNT}) return;"),
            );
            let jobs = [Job { kernel, out: ty.argument(), per_item: width + 3, local: None }];
            let results = launch(
                device.device,
                &[],
                device.pragmas(),
                &jobs,
                &[Input::new(ty.argument(), ty.size(), &bits)],
            );
            let unit = 2f64.powi(if ty == FLOAT { -23 } else { -52 });
            for (index, results) in results[0].chunks(width + 3).take(COUNT).enumerate() {
                let x = &values[index * width..][..width];
                let largest = x.iter().fold(0.0f64, |max, it| max.max(it.abs()));
                if largest == 0.0 {
                    continue;
                }
                let length = largest * x.iter().map(|it| (it / largest).powi(2)).sum::<f64>().sqrt();
                let near = |got: u64, exact: f64, bound: f64| {
                    let got = ty.real(got);
                    let off = (got - exact).abs() / (exact.abs() * unit);
                    assert!(
                        off <= bound || got == exact,
                        "{vector} {x:?} on {}: {got} and not {exact}",
                        device.name
                    );
                };
                near(results[0], length, 2.75 + 0.5 * width as f64);
                near(results[1], 2.0 * length, 4.0 + 2.0 * width as f64);
                near(results[2], 1.0, 8.0 + 4.0 * width as f64);
                for (&got, part) in results[3..].iter().zip(x) {
                    if part.abs() > length * 1e-6 {
                        near(got, part / length, 2.0 + width as f64);
                    }
                }
            }
        }
    }
}

/// Functions of one, two and three numbers whose vector forms are compared with the scalar ones.
const WIDE: &[&str] = &[
    "sin(X)",
    "exp(X)",
    "log(X)",
    "tan(X)",
    "erf(X)",
    "cbrt(X)",
    "sqrt(X)",
    "floor(X)",
    "round(X)",
    "sinpi(X)",
    "pow(X, Y)",
    "atan2(X, Y)",
    "fmod(X, Y)",
    "hypot(X, Y)",
    "fmax(X, Y)",
    "copysign(X, Y)",
    "nextafter(X, Y)",
    "fma(X, Y, X)",
    "mad(X, Y, Y)",
    "clamp(X, min(X, Y), max(X, Y))",
    "step(X, Y)",
    "smoothstep(-fabs(X), fabs(Y), X)",
    "degrees(X)",
    "sign(X)",
    "step(y0, X)",
    "fmin(X, y0)",
    "mix(X, Y, y0)",
    "ldexp(X, 3)",
    "native_exp2(X)",
    "half_sqrt(X)",
];

pub(crate) fn vectors(device: Device) {
    let mut random = Random::new(23);
    let bits: Vec<u64> =
        (0..64).map(|_| FLOAT.bits_of(f64::from(random.bits() as i32) * 2f64.powi(-29))).collect();
    let tests_all = nightly::tests_all("2 of 5 widths of vectors in functions of floating-point numbers");
    let widths: &[usize] = if tests_all { &[2, 3, 4, 8, 16] } else { &[3, 8] };
    for calls in WIDE.chunks(5) {
        let mut jobs = Vec::new();
        for call in calls {
            for &width in widths {
                let mut body = String::new();
                for part in 0..width {
                    let one =
                        call.replace('X', &format!("x.s{part:x}")).replace('Y', &format!("y.s{part:x}"));
                    body += &format!(
                        "    bad += as_uint(({call_wide}).s{part:x}) != as_uint({one}) && !isnan({one});\n",
                        call_wide = call.replace('X', "x").replace('Y', "y"),
                    );
                }
                let number = jobs.len();
                jobs.push(Job {
                    kernel: format!(
                        "kernel void k{number}(global uint *out, global float *a) {{\n    size_t j = get_global_id(0);\n    \
                         float{width} x = vload{width}(j % 4, a), y = vload{width}((j + 1) % 4, a);\n    float y0 = y.s0;\n    \
                         uint bad = 0;\n{body}    out[j] = bad;\n}}\n"
                    ),
                    out: "u32",
                    per_item: 1,
                    local: None,
                });
            }
        }
        let results = launch(device.device, &[], "", &jobs, &[Input::new("f32", 4, &bits)]);
        for (number, results) in results.iter().enumerate() {
            let (call, width) = (calls[number / widths.len()], widths[number % widths.len()]);
            let bad: u64 = results.iter().sum();
            assert_eq!(bad, 0, "{call} of float{width} on {} differs from the scalar form", device.name);
        }
    }
}
