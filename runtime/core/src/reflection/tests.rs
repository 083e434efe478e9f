//! Reflection instructions, valid and invalid ones.

use super::*;
use crate::interface::{Binding, StateField};

fn words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 4) / 4 * 4, 0);
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn instruction(opcode: u16, operands: &[u32]) -> Vec<u32> {
    [&[(operands.len() as u32 + 1) << 16 | u32::from(opcode)], operands].concat()
}

/// A module with the strings "k" (1) and "0aff" (2), the constants 0 to 4 (10 to 14), 8 (18) and 12 (22), and
/// these reflection instructions, whose ids start at 100.
fn read(import: &str, reflection: &[&[u32]]) -> Result<ProgramInterface> {
    let mut all = vec![0x0723_0203, 0x0001_0500, 0, 200, 0];
    all.extend(instruction(op::EXT_INST_IMPORT, &[&[50], words(import).as_slice()].concat()));
    all.extend(instruction(op::STRING, &[&[1], words("k").as_slice()].concat()));
    all.extend(instruction(op::STRING, &[&[2], words("0aff").as_slice()].concat()));
    for value in [0, 1, 2, 3, 4, 8, 12] {
        all.extend(instruction(op::CONSTANT, &[60, 10 + value, value]));
    }
    for (id, operands) in (100..).zip(reflection) {
        all.extend(instruction(op::EXT_INST, &[&[61, id, 50], *operands].concat()));
    }
    super::read(&Module::new(&all)?)
}

fn rejection(reflection: &[&[u32]]) -> String {
    read("NonSemantic.ClspvReflection.5", reflection).expect_err("a bad reflection").to_string()
}

/// `Kernel(function, "k", 1 argument)`
const KERNEL: &[u32] = &[1, 90, 1, 11];

#[test]
fn arguments_are_parsed() {
    let read = read(
        "NonSemantic.ClspvReflection.7",
        &[KERNEL, &[2, 1], &[26, 100, 10, 18, 18, 101], &[37, 10, 18, 2], &[37, 10, 18, 2], &[18, 10, 22]],
    )
    .expect("a good reflection");
    let kernel = &read.kernels[0];
    assert_eq!(kernel.argument("k"), Some(0));
    assert_eq!(
        kernel.arguments[0].kind,
        ArgumentKind::Pointer(ArgumentLocation::PushConstants { offset: 8 })
    );
    let variables = read.variables.expect("there are variables");
    assert_eq!(variables.bytes, [0x0a, 0xff, 0x0a, 0xff]);
    assert_eq!(variables.location, DataLocation::Address { offset: 0 });
    assert_eq!(read.state, [StateField { value: StateValue::RegionOffset, offset: 0 }]);
}

#[test]
fn bindings_of_clspv_are_parsed() {
    let read = read(
        "NonSemantic.ClspvReflection.7",
        &[KERNEL, &[10, 100, 10, 11, 12], &[39, 10, 13, 18], &[41, 100, 10, 14, 14], &[42, 90, 18]],
    )
    .expect("a good reflection");
    let bound = |set, binding, class| Binding { set, binding, class };
    let kernel = &read.kernels[0];
    assert_eq!(kernel.arguments[0].kind, ArgumentKind::Sampler(bound(1, 2, BindingClass::Sampler)));
    assert_eq!(
        kernel.sampler_facts,
        [SamplerFact { argument: 0, location: ArgumentLocation::PushConstants { offset: 4 } }]
    );
    let printf = read.printf.expect("a buffer to print to");
    assert_eq!((printf.location, printf.size), (DataLocation::Bound(bound(0, 3, BindingClass::Storage)), 8));
}

#[test]
fn invalid_reflection_is_rejected() {
    assert!(rejection(&[&[1, 90]]).contains("no operand 1"));
    assert!(rejection(&[&[1, 90, 10]]).contains("not a string"));
    assert!(rejection(&[&[7, 100, 10, 10, 14]]).contains("not declared before"));
    assert!(rejection(&[KERNEL, &[7, 100, 1, 10, 14]]).contains("not a constant"));
    assert!(rejection(&[KERNEL, &[26, 100, 10, 10, 14]]).contains("4 bytes, not 8"));
    assert!(rejection(&[KERNEL, &[7, 100, 10, 10, 14, 77]]).contains("not declared before it"));
    assert!(rejection(&[&[18, 10, 18]]).contains("8 bytes, not 12"));
    assert!(rejection(&[&[36, 10, 18, 1]]).contains("half a byte"));
    assert!(rejection(&[&[36, 10, 18, 2], &[36, 18, 18, 2]]).contains("declared twice"));
    assert!(rejection(&[&[23, 10, 11, 12]]).contains("bits 0x2"));
    assert!(rejection(&[KERNEL, &[41, 100, 10, 10, 18]]).contains("8 bytes, not 4"));
    assert!(rejection(&[&[39, 10, 11, 14]]).contains("printf buffer of 4 bytes"));
    assert!(rejection(&[&[42, 90]]).contains("no operand 1"));
    assert!(rejection(&[&[99]]).contains("99 is unknown"));
    assert!(read("NonSemantic.ClspvReflection.8", &[]).is_err());
    assert!(read("GLSL.std.450", &[]).is_err());
}
