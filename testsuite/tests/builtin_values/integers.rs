//! Integer functions (OpenCL C 6.15.3), extended bit operations and dot products: exact results.

use kiln_testsuite::{
    launch::{Input, Job, launch},
    random::Random,
};

use crate::{Device, INTEGERS, Kind, Scalar};

/// A call and its result, of which the low bits count.
struct Call {
    text: String,
    exact: Box<dyn Fn(i128, i128, i128) -> i128>,
}

fn call(text: &str, exact: impl Fn(i128, i128, i128) -> i128 + 'static) -> Call {
    Call { text: text.to_owned(), exact: Box::new(exact) }
}

const COUNT: usize = 600;

pub(crate) fn integers(device: Device) {
    for ty in INTEGERS {
        let mut random = Random::new(u64::from(ty.bits) + 17 + u64::from(ty.kind == Kind::Signed));
        let mut operand = || -> Vec<u64> {
            (0..COUNT)
                .map(|index| match index % 7 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << (ty.bits - 1),
                    3 => (1 << (ty.bits - 1)) - 1,
                    _ => random.wide() >> (random.bits() % 60),
                })
                .collect()
        };
        let mut operands = [operand(), operand(), operand()];
        operands[1].rotate_left(1);
        operands[2].rotate_left(3);
        let inputs = operands.each_ref().map(|all| Input::new(ty.argument(), ty.size(), all));
        let mut calls = calls(ty);
        calls.retain(|call| device.has(&call.text));
        for calls in calls.chunks(8) {
            let jobs: Vec<Job> = calls
                .iter()
                .enumerate()
                .map(|(number, call)| Job {
                    kernel: kernel(ty, number, &call.text),
                    out: ty.argument(),
                    per_item: 1,
                    local: None,
                })
                .collect();
            let results = launch(device.device, &[], "", &jobs, &inputs);
            for (call, results) in calls.iter().zip(&results) {
                for (index, &got) in results.iter().enumerate() {
                    let [x, y, z] = operands.each_ref().map(|all| ty.integer(all[index]));
                    let expected = (call.exact)(x, y, z) as u64 & ty.mask();
                    let text = &call.text;
                    assert_eq!(got, expected, "{text} of {} {x}, {y}, {z} on {}", ty.name, device.name);
                }
            }
        }
    }
}

fn kernel(ty: Scalar, number: usize, text: &str) -> String {
    let (name, unsigned, bits) = (ty.name, ty.unsigned(), ty.bits);
    format!(
        "kernel void k{number}(global {unsigned} *out, global {name} *a, global {name} *b, global {name} *c) {{\n    \
         size_t j = get_global_id(0);\n    {name} x = a[j], y = b[j], z = c[j];\n    \
         uint o = (uint)({unsigned})z & {}, n = (uint)({unsigned})y % ({bits} - o + 1);\n    \
         out[j] = ({unsigned})({text});\n}}\n",
        bits - 1
    )
}

/// The offset and size of a bit field, as the kernel computes them.
fn field(ty: Scalar, y: i128, z: i128) -> (u32, u32) {
    let mask = u128::from(ty.mask());
    let offset = (z as u128 & mask) as u32 & (ty.bits - 1);
    let low = (y as u128 & mask) as u32;
    (offset, low % (ty.bits - offset + 1))
}

fn ones(count: u32) -> i128 {
    (1i128 << count) - 1
}

/// The last 24 bits with their sign.
fn low_24_bits(ty: Scalar, x: i128) -> i128 {
    let low = x & ones(24);
    if ty.kind == Kind::Signed && low >> 23 != 0 { low - (1 << 24) } else { low }
}

/// The byte of a word, with a sign or without.
fn byte(x: i128, index: u32, is_signed: bool) -> i128 {
    let byte = (x >> (8 * index)) as u8;
    if is_signed { i128::from(byte as i8) } else { i128::from(byte) }
}

fn dot(x: i128, y: i128, signs: [bool; 2]) -> i128 {
    (0..4).map(|index| byte(x, index, signs[0]) * byte(y, index, signs[1])).sum()
}

fn calls(ty: Scalar) -> Vec<Call> {
    let width = ty.bits;
    let mask = i128::from(ty.mask());
    let (min, max) = match ty.kind {
        Kind::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, mask),
    };
    let saturated = move |x: i128, y: i128, z: i128| {
        x.checked_mul(y)
            .and_then(|product| product.checked_add(z))
            .unwrap_or(if (x < 0) == (y < 0) { i128::MAX } else { i128::MIN })
            .clamp(min, max)
    };
    let mut calls =
        vec![
            call("abs(x)", |x, _, _| x.abs()),
            call("abs_diff(x, y)", |x, y, _| (x - y).abs()),
            call("add_sat(x, y)", move |x, y, _| (x + y).clamp(min, max)),
            call("sub_sat(x, y)", move |x, y, _| (x - y).clamp(min, max)),
            call("hadd(x, y)", |x, y, _| (x + y) >> 1),
            call("rhadd(x, y)", |x, y, _| (x + y + 1) >> 1),
            call("mul_hi(x, y)", move |x, y, _| product_high(x, y, width)),
            call("mad_hi(x, y, z)", move |x, y, z| product_high(x, y, width) + z),
            call("mad_sat(x, y, z)", saturated),
            call("clz(x)", move |x, _, _| {
                i128::from(((x & mask) as u128).leading_zeros()) - (128 - i128::from(width))
            }),
            call("ctz(x)", move |x, _, _| i128::from(((x & mask) as u128 | 1 << width).trailing_zeros())),
            call("popcount(x)", move |x, _, _| i128::from((x & mask).count_ones())),
            call("rotate(x, y)", move |x, y, _| {
                let by = y.rem_euclid(i128::from(width));
                let bits = (x & mask) as u128;
                (bits << by | bits >> (i128::from(width) - by)) as i128
            }),
            call("max(x, y)", |x, y, _| x.max(y)),
            call("min(x, y)", |x, y, _| x.min(y)),
            call("clamp(x, min(y, z), max(y, z))", |x, y, z| x.clamp(y.min(z), y.max(z))),
            call("bit_reverse(x)", move |x, _, _| {
                ((x & mask) as u128).reverse_bits().wrapping_shr(128 - width) as i128
            }),
            call("bitfield_insert(x, y, o, n)", move |x, y, z| {
                let (offset, count) = field(ty, y, z);
                x & !(ones(count) << offset) | (y & ones(count)) << offset
            }),
            call("bitfield_extract_unsigned(x, o, n)", move |x, y, z| {
                let (offset, count) = field(ty, y, z);
                (x & mask) >> offset & ones(count)
            }),
            call("bitfield_extract_signed(x, o, n)", move |x, y, z| {
                let (offset, count) = field(ty, y, z);
                let value = (x & mask) >> offset & ones(count);
                if count > 0 && value >> (count - 1) != 0 { value - (1 << count) } else { value }
            }),
            call("select(x, y, (SIGNED)z)".replace("SIGNED", ty.signed()).as_str(), |x, y, z| {
                if z != 0 { y } else { x }
            }),
            call("bitselect(x, y, z)", |x, y, z| x & !z | y & z),
        ];
    if width == 32 {
        calls.extend(calls_of_32_bits(ty));
        calls.extend(calls_of_saturated_dot_products(ty));
    }
    if width == 64 {
        calls.push(call("upsample((uint)x, (uint)y)", |x, y, _| (x & ones(32)) << 32 | y & ones(32)));
        calls.push(call("upsample((int)x, (uint)y)", |x, y, _| (x & ones(32)) << 32 | y & ones(32)));
    }
    if width == 16 {
        calls.push(call("upsample((uchar)x, (uchar)y)", |x, y, _| (x & 0xff) << 8 | y & 0xff));
        calls.push(call("upsample((char)x, (uchar)y)", |x, y, _| (x & 0xff) << 8 | y & 0xff));
    }
    calls
}

/// The functions of 32-bit integers only.
fn calls_of_32_bits(ty: Scalar) -> Vec<Call> {
    let mine = ty.name;
    vec![
        call("mul24(x << 8 >> 8, y << 8 >> 8)", move |x, y, _| low_24_bits(ty, x) * low_24_bits(ty, y)),
        call("mad24(x << 8 >> 8, y << 8 >> 8, z)", move |x, y, z| {
            low_24_bits(ty, x) * low_24_bits(ty, y) + z
        }),
        call(
            "upsample((TYPE)x, (ushort)y)"
                .replace("TYPE", if mine == "int" { "short" } else { "ushort" })
                .as_str(),
            |x, y, _| (x & 0xffff) << 16 | y & 0xffff,
        ),
        call("dot(as_uchar4(x), as_uchar4(y))", |x, y, _| dot(x, y, [false, false])),
        call("dot(as_char4(x), as_char4(y))", |x, y, _| dot(x, y, [true, true])),
        call("dot(as_uchar4(x), as_char4(y))", |x, y, _| dot(x, y, [false, true])),
        call("dot(as_char4(x), as_uchar4(y))", |x, y, _| dot(x, y, [true, false])),
        call("dot_4x8packed_uu_uint((uint)x, (uint)y)", |x, y, _| dot(x, y, [false, false])),
        call("dot_4x8packed_ss_int((uint)x, (uint)y)", |x, y, _| dot(x, y, [true, true])),
        call("dot_4x8packed_us_int((uint)x, (uint)y)", |x, y, _| dot(x, y, [false, true])),
        call("dot_4x8packed_su_int((uint)x, (uint)y)", |x, y, _| dot(x, y, [true, false])),
    ]
}

fn calls_of_saturated_dot_products(ty: Scalar) -> Vec<Call> {
    if ty.kind == Kind::Signed {
        let limited = |value: i128| value.clamp(i32::MIN.into(), i32::MAX.into());
        vec![
            call("dot_acc_sat(as_char4(x), as_char4(y), z)", move |x, y, z| {
                limited(dot(x, y, [true, true]) + z)
            }),
            call("dot_acc_sat_4x8packed_us_int((uint)x, (uint)y, z)", move |x, y, z| {
                limited(dot(x, y, [false, true]) + z)
            }),
            call("dot_acc_sat_4x8packed_su_int((uint)x, (uint)y, z)", move |x, y, z| {
                limited(dot(x, y, [true, false]) + z)
            }),
            call("dot_acc_sat_4x8packed_ss_int((uint)x, (uint)y, z)", move |x, y, z| {
                limited(dot(x, y, [true, true]) + z)
            }),
        ]
    } else {
        vec![
            call("dot_acc_sat(as_uchar4(x), as_uchar4(y), z)", |x, y, z| {
                (dot(x, y, [false, false]) + z).min(u32::MAX.into())
            }),
            call("dot_acc_sat_4x8packed_uu_uint(x, y, z)", |x, y, z| {
                (dot(x, y, [false, false]) + z).min(u32::MAX.into())
            }),
        ]
    }
}

/// The upper half of a product of numbers of this width.
fn product_high(x: i128, y: i128, width: u32) -> i128 {
    // The product of two unsigned 64-bit numbers needs 128 unsigned bits.
    if x >= 0 && y >= 0 { ((x as u128 * y as u128) >> width) as i128 } else { (x * y) >> width }
}
