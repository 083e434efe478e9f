//! A small assembler for tests: the syntax of spirv-as, numbers for masks, and `#n` for a constant of type %uint,
//! which is declared at the line `constants`.

use std::{collections::HashMap, fmt::Write, str::FromStr};

use rspirv::{
    grammar::{INSTRUCTION_TABLE, OperandKind},
    spirv::{self, Op},
};

/// The words of a module in this version of SPIR-V.
pub(super) fn assemble(version: (u8, u8), text: &str) -> Vec<u32> {
    let mut ids = HashMap::new();
    let mut words = vec![0x0723_0203, u32::from_be_bytes([0, version.0, version.1, 0]), 0, 0, 0];
    for line in with_constants(text).lines().map(str::trim).filter(|line| !line.is_empty()) {
        instruction(line, &mut ids, &mut words);
    }
    words[3] = ids.len() as u32 + 1;
    words
}

/// The text with the constants that it names.
fn with_constants(text: &str) -> String {
    let mut declared = String::new();
    let mut numbers: Vec<&str> =
        text.split_whitespace().filter_map(|token| token.strip_prefix('#')).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        writeln!(declared, "%constant_{number} = OpConstant %uint {number}").expect("a string");
    }
    text.replace("constants", &declared).replace('#', "%constant_")
}

fn instruction(line: &str, ids: &mut HashMap<String, u32>, words: &mut Vec<u32>) {
    let (result, rest) = match line.split_once(" = ") {
        Some((result, rest)) => (Some(result), rest),
        None => (None, line),
    };
    let mut tokens = rest.split_whitespace();
    let name = tokens.next().and_then(|name| name.strip_prefix("Op")).expect("an instruction");
    let grammar = INSTRUCTION_TABLE.iter().find(|row| row.opname == name).expect("a known instruction");
    let start = words.len();
    words.push(grammar.opcode as u32);
    let typed = grammar.operands.first().is_some_and(|operand| operand.kind == OperandKind::IdResultType);
    if typed {
        words.push(id(tokens.next().expect("a type"), ids));
    }
    if let Some(result) = result {
        words.push(id(result, ids));
    }
    for token in tokens {
        operand(grammar.opcode, token, ids, words);
    }
    words[start] |= ((words.len() - start) as u32) << 16;
}

fn id(token: &str, ids: &mut HashMap<String, u32>) -> u32 {
    assert!(token.starts_with('%'), "{token} is not an id");
    let next = ids.len() as u32 + 1;
    *ids.entry(token.to_owned()).or_insert(next)
}

fn operand(op: Op, token: &str, ids: &mut HashMap<String, u32>, words: &mut Vec<u32>) {
    if token.starts_with('%') {
        words.push(id(token, ids));
    } else if let Some(string) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let mut bytes = string.as_bytes().to_vec();
        bytes.resize(bytes.len() / 4 * 4 + 4, 0);
        words.extend(bytes.chunks(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
    } else if let Some(number) = parse_number(token) {
        words.push(number);
    } else {
        words.push(enumerant(op, token).unwrap_or_else(|| panic!("{token} of Op{op:?}")));
    }
}

fn parse_number(token: &str) -> Option<u32> {
    match token.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}

fn enumerant(op: Op, token: &str) -> Option<u32> {
    fn find<T: FromStr>(token: &str, value: fn(T) -> u32) -> Option<u32> {
        T::from_str(token).ok().map(value)
    }
    match op {
        Op::Capability => find::<spirv::Capability>(token, |value| value as u32),
        Op::MemoryModel => find::<spirv::AddressingModel>(token, |value| value as u32)
            .or_else(|| find::<spirv::MemoryModel>(token, |value| value as u32)),
        Op::EntryPoint => find::<spirv::ExecutionModel>(token, |value| value as u32),
        Op::ExecutionMode | Op::ExecutionModeId => find::<spirv::ExecutionMode>(token, |value| value as u32),
        Op::TypePointer
        | Op::TypeForwardPointer
        | Op::Variable
        | Op::TypeUntypedPointerKHR
        | Op::UntypedVariableKHR => find::<spirv::StorageClass>(token, |value| value as u32),
        Op::Decorate | Op::MemberDecorate => find::<spirv::Decoration>(token, |value| value as u32)
            .or_else(|| find::<spirv::BuiltIn>(token, |value| value as u32)),
        Op::TypeImage => find::<spirv::Dim>(token, |value| value as u32)
            .or_else(|| find::<spirv::ImageFormat>(token, |value| value as u32))
            .or_else(|| find::<spirv::AccessQualifier>(token, |value| value as u32)),
        Op::SpecConstantOp => {
            let row = INSTRUCTION_TABLE.iter().find(|row| row.opname == token)?;
            Some(row.opcode as u32)
        }
        _ => None,
    }
}
