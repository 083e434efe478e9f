//! Adds the launch of a proof to a module.

use kiln_vocabulary::reflection::{ProvedLaunch, kiln};
use rspirv::spirv::Op;

/// The words of a module of the emitter with an instruction that names the only launch for which it is valid.
pub fn with_proved_launch(words: &[u32], launch: &ProvedLaunch) -> Vec<u32> {
    let instructions = instructions(words);
    let last = |op: Op| instructions.iter().rposition(|it| it[0] & 0xffff == op as u32);
    let defined = |op: Op, rest: &[u32]| {
        let found = instructions.iter().find(|it| it[0] & 0xffff == op as u32 && it[2..] == *rest);
        found.map_or(0, |it| it[1])
    };
    let function = instructions.iter().position(|it| it[0] & 0xffff == Op::Function as u32);
    let places = (last(Op::ExtInstImport), last(Op::String), function);
    // The emitter describes each kernel with strings.
    let (Some(import), Some(string), Some(function)) = places else { return words.to_vec() };
    let (void, word) = (defined(Op::TypeVoid, &[]), defined(Op::TypeInt, &[32, 0]));
    let mut bound = words[3];
    let mut next = || {
        bound += 1;
        bound - 1
    };
    let own = instructions
        .iter()
        .find(|it| it[0] & 0xffff == Op::ExtInstImport as u32 && it[2..] == text(kiln::SET));
    let set = own.map_or_else(&mut next, |it| it[1]);
    let strings = [next(), next()];
    let numbers: Vec<(u32, u32)> =
        launch.global.iter().chain(&launch.local).map(|number| (next(), *number)).collect();
    let (result, lines) = (next(), launch.lines.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    let mut all = words[..5].to_vec();
    for (at, instruction) in instructions.iter().enumerate() {
        if at == function {
            numbers.iter().for_each(|(id, number)| push(&mut all, Op::Constant, &[word, *id, *number]));
        }
        all.extend(*instruction);
        if at == import && own.is_none() {
            push(&mut all, Op::ExtInstImport, &[&[set], &text(kiln::SET)[..]].concat());
        }
        if at == string {
            push(&mut all, Op::String, &[&[strings[0]], &text(&launch.kernel)[..]].concat());
            push(&mut all, Op::String, &[&[strings[1]], &text(&lines)[..]].concat());
        }
    }
    let mut operands = vec![void, result, set, kiln::PROVED_LAUNCH, strings[0], strings[1]];
    operands.extend(numbers.iter().map(|(id, _)| id));
    push(&mut all, Op::ExtInst, &operands);
    all[3] = bound;
    all
}

/// The words of each instruction.
fn instructions(words: &[u32]) -> Vec<&[u32]> {
    let mut rest = words.get(5..).unwrap_or_default();
    let mut all = Vec::new();
    while let Some(&first) = rest.first() {
        let length = ((first >> 16).max(1) as usize).min(rest.len());
        all.push(&rest[..length]);
        rest = &rest[length..];
    }
    all
}

/// The words of a literal string.
fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    bytes.chunks(4).map(|it| it.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte))).collect()
}

fn push(words: &mut Vec<u32>, op: Op, operands: &[u32]) {
    words.push(op as u32 | (operands.len() as u32 + 1) << 16);
    words.extend(operands);
}
