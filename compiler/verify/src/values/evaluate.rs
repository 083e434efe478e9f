//! Evaluates integer constants, with values for specialization constants.

use super::{FxHashMap, Module, Op, Operand, Word};
use crate::module::Entry;
use rspirv::spirv::Decoration;

/// The specialization constants of a module and what is computed from them. A constant comes after its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Constants {
    rows: Vec<Row>,
    indices: FxHashMap<Word, usize>,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    scalar: ScalarType,
    form: Form,
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScalarType {
    /// 1 for a boolean.
    bits: u32,
    is_signed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// A value that no specialization changes.
    Fixed(i128),
    /// A specialization constant, with its default.
    Specialized {
        spec_id: Option<u32>,
        default: i128,
    },
    Operation {
        op: Op,
        operands: Vec<usize>,
    },
    /// A vector, array or structure.
    Parts(Vec<usize>),
    /// A constant that is not evaluated.
    Unknown,
}

const BOOL: ScalarType = ScalarType { bits: 1, is_signed: false };
const UNKNOWN: Row = Row { scalar: BOOL, form: Form::Unknown };

impl ScalarType {
    fn of_type(module: &Module<'_>, ty: Option<Word>) -> Option<Self> {
        let ty = module.definition(ty?)?;
        match (ty.op(), ty.operands()) {
            (Op::TypeBool, _) => Some(BOOL),
            (Op::TypeInt, [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)]) => {
                Some(Self { bits: *bits, is_signed: *signed != 0 }).filter(|it| matches!(it.bits, 1..=64))
            }
            _ => None,
        }
    }

    /// The value of these bits in the type.
    fn value(self, bits: i128) -> i128 {
        let unsigned = bits & ((1 << self.bits) - 1);
        if self.is_signed { signed(unsigned, self.bits) } else { unsigned }
    }
}

fn signed(value: i128, bits: u32) -> i128 {
    let unsigned = value & ((1 << bits) - 1);
    if unsigned >> (bits - 1) != 0 { unsigned - (1 << bits) } else { unsigned }
}

/// The value of an integer constant that no specialization changes.
pub(super) fn fixed_value(module: &Module<'_>, id: Word) -> Option<i128> {
    let entry = module.definition(id)?;
    let scalar = ScalarType::of_type(module, entry.result_type)?;
    match entry.op() {
        Op::ConstantNull | Op::ConstantFalse => Some(0),
        Op::ConstantTrue => Some(1),
        Op::Constant => Some(scalar.value(literal(module, entry))),
        _ => None,
    }
}

/// The words of a literal after the type and the result.
fn literal(module: &Module<'_>, entry: &Entry<'_>) -> i128 {
    let words = &module.operand_words(entry)[2..];
    words.iter().rev().fold(0, |bits, word| bits << 32 | i128::from(*word))
}

impl Constants {
    /// The constants that specialization can change.
    pub(super) fn of_specialization(module: &Module<'_>) -> Self {
        let mut constants = Self::default();
        let is_one = |entry: &&Entry<'_>| entry.class.opname.starts_with("SpecConstant");
        let mut spec_ids = None;
        for entry in module.preamble().iter().filter(is_one) {
            let spec_ids = spec_ids.get_or_insert_with(|| spec_ids_of(module));
            let spec_id = entry.result_id.and_then(|id| spec_ids.get(&id).copied());
            let row = constants.row(module, entry, spec_id);
            let index = constants.rows.len();
            constants.rows.push(row);
            constants.indices.extend(entry.result_id.map(|id| (id, index)));
        }
        constants
    }

    /// The index of a constant that specialization can change.
    pub(super) fn index(&self, id: Word) -> Option<usize> {
        self.indices.get(&id).copied()
    }

    fn row(&mut self, module: &Module<'_>, entry: &Entry<'_>, spec_id: Option<u32>) -> Row {
        let scalar = ScalarType::of_type(module, entry.result_type);
        let form = match (entry.op(), scalar) {
            (Op::SpecConstantComposite, _) => {
                let parts = entry.operands().iter().filter_map(Operand::id);
                Form::Parts(parts.map(|id| self.operand(module, id)).collect())
            }
            (_, None) => Form::Unknown,
            (Op::SpecConstantTrue, _) => Form::Specialized { spec_id, default: 1 },
            (Op::SpecConstantFalse, _) => Form::Specialized { spec_id, default: 0 },
            (Op::SpecConstant, Some(scalar)) => {
                Form::Specialized { spec_id, default: scalar.value(literal(module, entry)) }
            }
            (Op::SpecConstantOp, _) => self.operation(module, entry),
            _ => Form::Unknown,
        };
        Row { scalar: scalar.unwrap_or(BOOL), form }
    }

    fn operation(&mut self, module: &Module<'_>, entry: &Entry<'_>) -> Form {
        let Some(op) = entry.literal(0).and_then(Op::from_u32) else { return Form::Unknown };
        let operands = &entry.operands()[1..];
        if op == Op::CompositeExtract {
            let (Some(whole), [_, Operand::LiteralBit32(part)]) = (entry.id(1), operands) else {
                return Form::Unknown;
            };
            let whole = self.operand(module, whole);
            return match &self.rows[whole].form {
                Form::Parts(parts) => match parts.get(*part as usize) {
                    // A copy: the parts have the type of the result.
                    Some(part) => Form::Operation { op: Op::CopyObject, operands: vec![*part] },
                    None => Form::Unknown,
                },
                _ => Form::Unknown,
            };
        }
        let ids = operands.iter().filter_map(Operand::id);
        Form::Operation { op, operands: ids.map(|id| self.operand(module, id)).collect() }
    }

    /// The row of an operand; a new one for a value that specialization does not change.
    fn operand(&mut self, module: &Module<'_>, id: Word) -> usize {
        if let Some(known) = self.index(id) {
            return known;
        }
        let scalar = module.definition(id).and_then(|entry| ScalarType::of_type(module, entry.result_type));
        let fixed = fixed_value(module, id).zip(scalar);
        self.rows.push(fixed.map_or(UNKNOWN, |(value, scalar)| Row { scalar, form: Form::Fixed(value) }));
        self.rows.len() - 1
    }

    /// The value of each constant; `None` if it is not an integer, or is undefined.
    pub(super) fn evaluate(&self, values: &[(u32, u32)]) -> Vec<Option<i128>> {
        let mut evaluated: Vec<Option<i128>> = Vec::with_capacity(self.rows.len());
        for Row { scalar, form } in &self.rows {
            let value = match form {
                Form::Fixed(value) => Some(*value),
                Form::Specialized { spec_id, default } => {
                    let given = values.iter().find(|(id, _)| Some(*id) == *spec_id);
                    Some(match (given, *scalar) {
                        (Some((_, bits)), BOOL) => i128::from(*bits != 0),
                        (Some((_, bits)), scalar) => scalar.value((*bits).into()),
                        (None, _) => *default,
                    })
                }
                Form::Operation { op, operands } => self
                    .operand_values(operands, &evaluated)
                    .and_then(|known| result(*op, &known))
                    .map(|value| scalar.value(value)),
                Form::Parts(_) | Form::Unknown => None,
            };
            evaluated.push(value);
        }
        evaluated
    }

    /// The values of operands, with their types.
    fn operand_values(
        &self,
        operands: &[usize],
        evaluated: &[Option<i128>],
    ) -> Option<Vec<(i128, ScalarType)>> {
        let values = operands.iter().map(|&index| Some(((*evaluated.get(index)?)?, self.rows[index].scalar)));
        values.collect()
    }
}

fn spec_ids_of(module: &Module<'_>) -> FxHashMap<Word, u32> {
    let decorations = module.preamble().iter().filter(|entry| entry.op() == Op::Decorate);
    let ids = decorations.filter_map(|entry| match entry.operands() {
        [Operand::IdRef(id), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(spec_id)] => {
            Some((*id, *spec_id))
        }
        _ => None,
    });
    ids.collect()
}

/// The result of an operation; `None` if it is undefined, or not of integers. Its bits beyond the type do not count.
fn result(op: Op, operands: &[(i128, ScalarType)]) -> Option<i128> {
    use Op::*;
    let as_unsigned = |(value, scalar): (i128, ScalarType)| value & ((1 << scalar.bits) - 1);
    let as_signed = |(value, scalar): (i128, ScalarType)| signed(value, scalar.bits);
    let truth = |value: bool| Some(i128::from(value));
    match *operands {
        [a] => match op {
            CopyObject | Bitcast => Some(a.0),
            UConvert => Some(as_unsigned(a)),
            SConvert => Some(as_signed(a)),
            SNegate => Some(-a.0),
            Not => Some(!a.0),
            LogicalNot => truth(a.0 == 0),
            _ => None,
        },
        [a, b] => {
            let (ua, ub, sa, sb) = (as_unsigned(a), as_unsigned(b), as_signed(a), as_signed(b));
            let shift = u32::try_from(ub).ok().filter(|count| *count < a.1.bits);
            match op {
                IAdd => Some(ua + ub),
                ISub => Some(ua - ub),
                // Both have at most 64 bits; the low ones are correct.
                IMul => Some(ua.wrapping_mul(ub)),
                UDiv => ua.checked_div(ub),
                UMod => ua.checked_rem(ub),
                SDiv => sa.checked_div(sb),
                SRem => sa.checked_rem(sb),
                SMod => sa.checked_rem(sb).map(|rest| {
                    let differs = rest != 0 && (rest < 0) != (sb < 0);
                    if differs { rest + sb } else { rest }
                }),
                ShiftLeftLogical => shift.map(|count| ua << count),
                ShiftRightLogical => shift.map(|count| ua >> count),
                ShiftRightArithmetic => shift.map(|count| sa >> count),
                BitwiseOr | LogicalOr => Some(ua | ub),
                BitwiseAnd | LogicalAnd => Some(ua & ub),
                BitwiseXor => Some(ua ^ ub),
                IEqual | LogicalEqual => truth(ua == ub),
                INotEqual | LogicalNotEqual => truth(ua != ub),
                ULessThan => truth(ua < ub),
                ULessThanEqual => truth(ua <= ub),
                UGreaterThan => truth(ua > ub),
                UGreaterThanEqual => truth(ua >= ub),
                SLessThan => truth(sa < sb),
                SLessThanEqual => truth(sa <= sb),
                SGreaterThan => truth(sa > sb),
                SGreaterThanEqual => truth(sa >= sb),
                _ => None,
            }
        }
        [condition, a, b] if op == Select => Some(if condition.0 != 0 { a.0 } else { b.0 }),
        _ => None,
    }
}
