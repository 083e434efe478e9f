//! Disassembles any module, in the syntax of `spirv-dis --raw-id`. `spirv-as --preserve-numeric-ids` assembles the
//! same module again, including reflection and debug information.
//!
//! Independent of how the module was produced.

use std::fmt::Write as _;

use kiln_types::binary16;
use rspirv::{
    binary::{Consumer, Disassemble as _, ParseAction},
    dr::{Instruction, ModuleHeader, Operand},
    grammar::{OperandKind, OperandQuantifier, ext_inst_table},
    spirv::{FPRoundingMode, Op, Word},
};
use rustc_hash::FxHashMap;

/// The column of `=`. Result ids are right-aligned before it.
const INDENT: usize = 12;

/// Disassembles a module to text.
pub fn disassemble(words: &[u32]) -> String {
    let mut assembly = Assembly::default();
    match rspirv::binary::parse_words(words, &mut assembly) {
        Ok(()) => assembly.text,
        Err(error) => format!("; not a module: {error}\n"),
    }
}

#[derive(Default)]
struct Assembly {
    text: String,
    /// Numeric types, by id.
    numbers: FxHashMap<Word, Number>,
    /// Values of numeric types, by id.
    values: FxHashMap<Word, Number>,
    /// Names of extended instruction sets, by id.
    sets: FxHashMap<Word, String>,
}

#[derive(Clone, Copy)]
enum Number {
    Signed(u32),
    Unsigned,
    Float(u32),
}

impl Consumer for Assembly {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        let (major, minor) = header.version();
        let tool = match header.generator >> 16 {
            0 => "Khronos".to_owned(),
            number => format!("Unknown({number})"),
        };
        let version = header.generator & 0xffff;
        self.text = format!(
            "; SPIR-V\n; Version: {major}.{minor}\n; Generator: {tool}; {version}\n; Bound: {}\n; Schema: {}\n",
            header.bound, header.reserved_word
        );
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.record_types_and_names(&instruction);
        let result = instruction.result_id.map(|id| format!("%{id}")).unwrap_or_default();
        let equals = if result.is_empty() { "  " } else { "= " };
        let _ = write!(self.text, "{result:>INDENT$} {equals}Op{}", instruction.class.opname);
        if let Some(ty) = instruction.result_type {
            let _ = write!(self.text, " %{ty}");
        }
        for operand in self.format_operands(&instruction) {
            self.text.push(' ');
            self.text.push_str(&operand);
        }
        self.text.push('\n');
        ParseAction::Continue
    }
}

impl Assembly {
    /// Records types and names for later instructions.
    fn record_types_and_names(&mut self, instruction: &Instruction) {
        let Some(id) = instruction.result_id else { return };
        match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::TypeInt, [Operand::LiteralBit32(width), Operand::LiteralBit32(sign)]) => {
                let number = if *sign == 0 { Number::Unsigned } else { Number::Signed(*width) };
                self.numbers.insert(id, number);
            }
            (Op::TypeFloat, [Operand::LiteralBit32(width), ..]) => {
                self.numbers.insert(id, Number::Float(*width));
            }
            (Op::ExtInstImport, [Operand::LiteralString(name)]) => {
                self.sets.insert(id, name.clone());
            }
            _ => {}
        }
        if let Some(number) = instruction.result_type.and_then(|ty| self.numbers.get(&ty)) {
            self.values.insert(id, *number);
        }
    }

    fn format_operands(&self, instruction: &Instruction) -> Vec<String> {
        let operands = instruction.operands.as_slice();
        match (instruction.class.opcode, operands) {
            (Op::Constant | Op::SpecConstant, _) => {
                let number = instruction.result_type.and_then(|ty| self.numbers.get(&ty));
                operands.iter().map(|operand| format_literal(operand, number)).collect()
            }
            (Op::Switch, [Operand::IdRef(selector), ..]) => {
                operands.iter().map(|operand| format_literal(operand, self.values.get(selector))).collect()
            }
            (Op::ExtInst, [set @ Operand::IdRef(id), Operand::LiteralExtInstInteger(number), rest @ ..]) => {
                let mut all = vec![operand_text(set)];
                all.extend(self.extended_instruction(*id, *number, rest));
                all
            }
            _ => operands.iter().map(operand_text).collect(),
        }
    }

    /// The name and the operands of an extended instruction. Some operands are not ids.
    fn extended_instruction(&self, set: Word, number: Word, operands: &[Operand]) -> Vec<String> {
        // Names in the registry have a version suffix.
        let table = self.sets.get(&set).and_then(|name| {
            let unversioned = name.rsplit_once('.').map_or(name.as_str(), |(name, _)| name);
            ext_inst_table(name).or_else(|| ext_inst_table(unversioned))
        });
        let Some(row) = table.and_then(|table| table.lookup_opcode(number)) else {
            return std::iter::once(number.to_string()).chain(operands.iter().map(operand_text)).collect();
        };
        let last = row.operands.last().filter(|last| last.quantifier == OperandQuantifier::ZeroOrMore);
        let kinds = row.operands.iter().chain(std::iter::repeat_n(last, operands.len()).flatten());
        let texts = operands.iter().zip(kinds).map(|(operand, it)| match (operand, it.kind) {
            (Operand::IdRef(word), OperandKind::LiteralInteger) => word.to_string(),
            (Operand::IdRef(word), OperandKind::FPRoundingMode) => {
                FPRoundingMode::from_u32(*word).map_or_else(|| word.to_string(), |mode| format!("{mode:?}"))
            }
            _ => operand_text(operand),
        });
        std::iter::once(row.opname.to_owned()).chain(texts).collect()
    }
}

/// An operand in assembler syntax.
fn operand_text(operand: &Operand) -> String {
    match operand {
        Operand::LiteralString(text) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        }
        other => other.disassemble(),
    }
}

/// A literal of this numeric type. Other literals are printed unchanged.
fn format_literal(operand: &Operand, number: Option<&Number>) -> String {
    let bits = match operand {
        Operand::LiteralBit32(bits) => u64::from(*bits),
        Operand::LiteralBit64(bits) => *bits,
        other => return operand_text(other),
    };
    match number {
        None | Some(Number::Unsigned) => bits.to_string(),
        Some(Number::Signed(64)) => (bits as i64).to_string(),
        // Narrow integers are sign-extended (SPIR-V 2.2.1).
        Some(Number::Signed(_)) => (bits as i32).to_string(),
        Some(Number::Float(16)) => format_float(binary16::to_f64(bits as u16), bits & 0x3ff, 10),
        Some(Number::Float(64)) => format_float(f64::from_bits(bits), bits & ((1 << 52) - 1), 52),
        Some(Number::Float(_)) => {
            let value = f32::from_bits(bits as u32);
            // The shortest decimal that round-trips as a float has fewer digits than that of the same number as a double.
            let digits = value.is_normal().then(|| format!("{value:e}")).and_then(|text| text.parse().ok());
            format_float(digits.unwrap_or(value.into()), bits & ((1 << 23) - 1), 23)
        }
    }
}

/// A floating-point number. Infinities and NaNs are printed as hexadecimal floats, with a significand of `width` bits.
fn format_float(value: f64, fraction: u64, width: u32) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let above = match width {
        10 => 16,
        23 => 128,
        _ => 1024,
    };
    if value.is_infinite() {
        format!("{sign}0x1p+{above}")
    } else if value.is_nan() {
        let digits = width.div_ceil(4);
        let fraction = fraction << (4 * digits - width);
        format!("{sign}0x1.{fraction:0>width$x}p+{above}", width = digits as usize)
    } else if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_assembler_reads_them() {
        let operand_text = |bits, number| format_literal(&Operand::LiteralBit32(bits), Some(&number));
        assert_eq!(operand_text(u32::MAX, Number::Unsigned), "4294967295");
        assert_eq!(operand_text(u32::MAX, Number::Signed(16)), "-1");
        assert_eq!(operand_text(0.1_f32.to_bits(), Number::Float(32)), "0.1");
        assert_eq!(operand_text(1e30_f32.to_bits(), Number::Float(32)), "1e30");
        assert_eq!(operand_text((-0.0_f32).to_bits(), Number::Float(32)), "-0");
        assert_eq!(operand_text(0xff80_0000, Number::Float(32)), "-0x1p+128");
        assert_eq!(operand_text(0x7fc0_0000, Number::Float(32)), "0x1.800000p+128");
        assert_eq!(operand_text(0x3c00, Number::Float(16)), "1");
        assert_eq!(operand_text(0x7e01, Number::Float(16)), "0x1.804p+16");
        assert_eq!(operand_text(0x7f80_0001, Number::Float(32)), "0x1.000002p+128");
        let wide = Operand::LiteralBit64(0x7ff8_0000_0000_0001);
        assert_eq!(format_literal(&wide, Some(&Number::Float(64))), "0x1.8000000000001p+1024");
    }

    #[test]
    fn text_keeps_its_characters() {
        assert_eq!(operand_text(&Operand::LiteralString("a\"\\\n".to_owned())), "\"a\\\"\\\\\n\"");
    }
}
