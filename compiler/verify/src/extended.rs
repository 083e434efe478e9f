//! Extended instructions: sets that are imported, and numbers and operands of GLSL.std.450 and OpenCL.std.

use rspirv::{
    grammar::{
        ExtendedInstruction, GLSL_STD_450_INSTRUCTION_TABLE, OPENCL_STD_100_INSTRUCTION_TABLE, OperandKind,
        OperandQuantifier,
    },
    spirv::{GlslStd450Op, Op, OpenclStd100Op, Word},
};
use rustc_hash::FxHashMap;

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
    signatures::check_opencl,
};

pub(super) const RULES: &[Rule] = &[SET, INSTRUCTION, TYPES];

const SET: Rule =
    Rule { id: "SPIRV-OpExtInst-set", text: "OpExtInst names a set that OpExtInstImport imports" };
const INSTRUCTION: Rule = Rule {
    id: "SPIRV-OpExtInst",
    text: "an instruction of GLSL.std.450 or OpenCL.std exists in the set, and has the correct number of operands",
};
const TYPES: Rule = Rule {
    id: "GLSL.std.450-types",
    text: "the operands of a componentwise instruction of GLSL.std.450 have the type of the result",
};

/// A set of extended instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Glsl,
    OpenCl,
    NonSemantic,
    Other,
}

/// The imported sets of a module, by id.
pub(super) struct Sets(FxHashMap<Word, Set>);

impl Sets {
    /// Collects the sets that a module imports.
    pub(super) fn collect(module: &Module<'_>) -> Self {
        let imports = module.preamble().iter().filter(|entry| entry.op() == Op::ExtInstImport);
        let sets = imports.filter_map(|entry| match (entry.result_id, entry.operands()) {
            (Some(id), [Operand::LiteralString(name)]) => {
                let set = match module.text(*name).as_str() {
                    "GLSL.std.450" => Set::Glsl,
                    "OpenCL.std" => Set::OpenCl,
                    name if name.starts_with("NonSemantic.") => Set::NonSemantic,
                    _ => Set::Other,
                };
                Some((id, set))
            }
            _ => None,
        });
        Self(sets.collect())
    }

    /// The set of an instruction. `None` if it names no imported set.
    fn set_of(&self, entry: &Entry<'_>) -> Option<Set> {
        self.0.get(&entry.id(0)?).copied()
    }

    /// The number of operands that are ids. rspirv reads all operands of extended instructions as ids, which is true
    /// only for sets without literals.
    pub(super) fn known_ids(&self, entry: &Entry<'_>) -> usize {
        if entry.op() != Op::ExtInst {
            return usize::MAX;
        }
        match self.set_of(entry) {
            Some(Set::Glsl | Set::NonSemantic) | None => usize::MAX,
            Some(Set::OpenCl) => {
                match entry.literal(1).and_then(|it| OPENCL_STD_100_INSTRUCTION_TABLE.lookup_opcode(it)) {
                    Some(row) => {
                        2 + row
                            .operands
                            .iter()
                            .position(|it| it.kind != OperandKind::IdRef)
                            .unwrap_or(usize::MAX - 2)
                    }
                    None => 1,
                }
            }
            Some(Set::Other) => 1,
        }
    }
}

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    for entry in module.entries.iter().filter(|entry| entry.op() == Op::ExtInst) {
        let Some(set) = context.sets.set_of(entry) else {
            findings.push(entry.finding(&SET, "it names no imported set"));
            continue;
        };
        let number = entry.literal(1).unwrap_or(u32::MAX);
        let row: Option<&ExtendedInstruction<'_>> = match set {
            Set::Glsl => GLSL_STD_450_INSTRUCTION_TABLE.lookup_opcode(number),
            Set::OpenCl => OPENCL_STD_100_INSTRUCTION_TABLE.lookup_opcode(number),
            Set::NonSemantic | Set::Other => continue,
        };
        let Some(row) = row else {
            findings.push(entry.finding(&INSTRUCTION, format!("the set has no instruction {number}")));
            continue;
        };
        let count = entry.operands().len() - 2;
        let min = row.operands.iter().filter(|it| it.quantifier == OperandQuantifier::One).count();
        let is_open = row.operands.iter().any(|it| it.quantifier == OperandQuantifier::ZeroOrMore);
        if count < min || !is_open && count > row.operands.len() {
            findings.push(entry.finding(&INSTRUCTION, format!("{} has {count} operands", row.opname)));
        } else if set == Set::Glsl && is_by_components(number) {
            let mut operands = entry.operands()[2..].iter().filter_map(Operand::id);
            if operands.any(|operand| module.type_of(operand) != entry.result_type) {
                let message = format!("an operand of {} has a different type from the result", row.opname);
                findings.push(entry.finding(&TYPES, message));
            }
        } else if set == Set::OpenCl
            && let Some(op) = OpenclStd100Op::from_u32(number)
        {
            findings.extend(check_opencl(module, entry, op));
        }
    }
}

/// Whether all operands have the type of the result.
fn is_by_components(number: u32) -> bool {
    use GlslStd450Op::*;
    let Some(op) = GlslStd450Op::from_u32(number) else { return false };
    matches!(
        op,
        Round
            | RoundEven
            | Trunc
            | FAbs
            | SAbs
            | FSign
            | SSign
            | Floor
            | Ceil
            | Fract
            | Radians
            | Degrees
            | Sin
            | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Asinh
            | Acosh
            | Atanh
            | Atan2
            | Pow
            | Exp
            | Log
            | Exp2
            | Log2
            | Sqrt
            | InverseSqrt
            | FMin
            | FMax
            | FClamp
            | NMin
            | NMax
            | NClamp
            | FMix
            | Step
            | SmoothStep
            | Fma
    )
}
