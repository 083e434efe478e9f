//! Integer functions on a device against values computed here. Those of floating-point numbers are in `math`.

use std::fs;

use kiln_testsuite::{device, device::Device, kiln};

/// Runs a kernel `k(out, a, b, c)` for every element of the inputs, and gives the numbers it wrote.
fn run(source: &str, out: &str, ty: &str, inputs: &[Vec<u8>], count: usize) -> Vec<String> {
    let scratch = tempfile::tempdir().expect("a folder for files");
    let file = scratch.path().join("k.cl");
    fs::write(&file, source).expect("a file can be written");
    let mut command = kiln::command();
    Device::named("lavapipe").expect("a device").only(&mut command).expect("the driver is installed");
    command.arg("run").arg(&file).args(["-cl-std=CL3.0", "--kernel", "k", "--global", &count.to_string()]);
    command.args(["--arg", &format!("buf:{out}[{count}]")]);
    for (index, bytes) in inputs.iter().enumerate() {
        let path = scratch.path().join(format!("in{index}"));
        fs::write(&path, bytes).expect("a file can be written");
        command.args(["--arg", &format!("buf:{ty}[{count}]=file:{}", path.display())]);
    }
    command.args(["--print", &format!("out[0..{count}]")]);
    let finished = device::launch(&mut command).expect("kiln runs");
    assert!(finished.status.success(), "{}\n{source}", finished.stderr);
    let text = String::from_utf8(finished.stdout).expect("numbers are text");
    let (_, numbers) = text.split_once('=').expect("a line of numbers");
    numbers.split_whitespace().map(str::to_owned).collect()
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A call and its result, of which the low bits count.
type OfIntegers = (&'static str, Box<dyn Fn(i128, i128, i128) -> i128>);

/// The integer types: OpenCL's name, the name in arguments, bits, sign.
const INTEGERS: [(&str, &str, u32, bool); 8] = [
    ("char", "i8", 8, true),
    ("uchar", "u8", 8, false),
    ("short", "i16", 16, true),
    ("ushort", "u16", 16, false),
    ("int", "i32", 32, true),
    ("uint", "u32", 32, false),
    ("long", "i64", 64, true),
    ("ulong", "u64", 64, false),
];

/// A bit pattern as a number of so many bits.
fn number(bits: u64, width: u32, is_signed: bool) -> i128 {
    let shift = 64 - width;
    if is_signed { i128::from((bits << shift) as i64 >> shift) } else { i128::from(bits << shift >> shift) }
}

#[test]
fn integer_functions() {
    const COUNT: usize = 600;
    for (ty, argument, width, is_signed) in INTEGERS {
        let mut random = Random(u64::from(width) + 17 + u64::from(is_signed));
        let mut operand = || -> Vec<u64> {
            (0..COUNT)
                .map(|index| match index % 7 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << (width - 1),
                    3 => (1 << (width - 1)) - 1,
                    _ => random.bits() >> (random.bits() % 60),
                })
                .collect()
        };
        let mut operands = [operand(), operand(), operand()];
        operands[1].rotate_left(1);
        operands[2].rotate_left(3);
        let bytes = operands.each_ref().map(|all| {
            all.iter().flat_map(|bits| bits.to_le_bytes()[..width as usize / 8].to_vec()).collect::<Vec<u8>>()
        });
        let (least, most) = if is_signed {
            (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        } else {
            (0, (1i128 << width) - 1)
        };
        let mask = (1i128 << width) - 1;
        let functions: [OfIntegers; 15] = [
            ("abs(x)", Box::new(|x, _, _| x.abs())),
            ("abs_diff(x, y)", Box::new(|x, y, _| (x - y).abs())),
            ("add_sat(x, y)", Box::new(move |x, y, _| (x + y).clamp(least, most))),
            ("sub_sat(x, y)", Box::new(move |x, y, _| (x - y).clamp(least, most))),
            ("hadd(x, y)", Box::new(|x, y, _| (x + y) >> 1)),
            ("rhadd(x, y)", Box::new(|x, y, _| (x + y + 1) >> 1)),
            ("mul_hi(x, y)", Box::new(move |x, y, _| product_high(x, y, width))),
            ("mad_hi(x, y, z)", Box::new(move |x, y, z| product_high(x, y, width) + z)),
            (
                "mad_sat(x, y, z)",
                Box::new(move |x, y, z| {
                    x.checked_mul(y)
                        .and_then(|product| product.checked_add(z))
                        .unwrap_or(if (x < 0) == (y < 0) { i128::MAX } else { i128::MIN })
                        .clamp(least, most)
                }),
            ),
            (
                "clz(x)",
                Box::new(move |x, _, _| {
                    i128::from(((x & mask) as u128).leading_zeros()) - (128 - i128::from(width))
                }),
            ),
            (
                "ctz(x)",
                Box::new(move |x, _, _| i128::from(((x & mask) as u128 | 1 << width).trailing_zeros())),
            ),
            ("popcount(x)", Box::new(move |x, _, _| i128::from((x & mask).count_ones()))),
            (
                "rotate(x, y)",
                Box::new(move |x, y, _| {
                    let by = y.rem_euclid(i128::from(width));
                    let bits = (x & mask) as u128;
                    (bits << by | bits >> (i128::from(width) - by)) as i128
                }),
            ),
            ("max(x, y)", Box::new(|x, y, _| x.max(y))),
            ("min(x, y)", Box::new(|x, y, _| x.min(y))),
        ];
        for (call, exact) in &functions {
            let source = format!(
                "kernel void k(global {ty} *out, global {ty} *a, global {ty} *b, global {ty} *c) \
                 {{ size_t i = get_global_id(0); {ty} x = a[i], y = b[i], z = c[i]; out[i] = {call}; }}"
            );
            let results = run(&source, argument, argument, &bytes, COUNT);
            for (index, result) in results.iter().enumerate() {
                let [x, y, z] = operands.each_ref().map(|all| number(all[index], width, is_signed));
                let expected = exact(x, y, z) & mask;
                let got = result.parse::<i128>().expect("a number") & mask;
                assert_eq!(got, expected, "{call} of {ty} {x}, {y}, {z}");
            }
        }
    }
}

/// The upper half of a product of numbers of so many bits.
fn product_high(x: i128, y: i128, width: u32) -> i128 {
    // Of two unsigned numbers of 64 bits, the product has 128 without a sign.
    if x >= 0 && y >= 0 { ((x as u128 * y as u128) >> width) as i128 } else { (x * y) >> width }
}
