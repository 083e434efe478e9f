//! The types of operands of numeric instructions, and of values that are passed to a block, a function or a caller.

use rspirv::spirv::{Op, StorageClass, Word};

use super::{
    Context, Finding, Rule,
    module::{Entry, Function, Module},
    numeric_type::{Kind, NumericType},
    operand::Operand,
};

pub(super) const RULES: &[Rule] = &[NUMBERS, SELECT, CONDITION, PHI, CALL, RETURN, CAST];

const NUMBERS: Rule = Rule {
    id: "SPIRV-number-types",
    text: "the operands and results of arithmetic, bit, comparison, logical and conversion instructions have the required types",
};
const SELECT: Rule = Rule {
    id: "SPIRV-OpSelect",
    text: "the condition of OpSelect is a Boolean or has a Boolean for each component, and the objects have the type of the result",
};
const CONDITION: Rule = Rule {
    id: "SPIRV-condition",
    text: "the condition of a branch is a Boolean, and the selector of OpSwitch an integer",
};
const PHI: Rule = Rule { id: "SPIRV-OpPhi-type", text: "the values of OpPhi have the type of its result" };
const CALL: Rule = Rule {
    id: "SPIRV-OpFunctionCall",
    text: "OpFunctionCall names a function, and its result and arguments have the types of the function",
};
const RETURN: Rule = Rule {
    id: "SPIRV-return",
    text: "OpReturnValue returns a value of the function's result type, and OpReturn is only in functions without a result",
};

const CAST: Rule = Rule {
    id: "SPIRV-generic-cast",
    text: "casts to and from Generic take and return pointers: one to Generic, one to Workgroup, CrossWorkgroup or Function",
};

/// The required operands and result of a numeric instruction.
struct Form {
    result: Kind,
    /// The kind of each operand.
    operands: &'static [Kind],
    width: Width,
}

/// Which widths must be equal. The numbers of components must be equal in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    /// The widths of the operands and the result.
    All,
    /// The widths of the first operand and the result.
    First,
    /// The widths of the operands.
    Operands,
    /// The operand and the result have different widths.
    Other,
    Any,
}

/// The form of a numeric instruction (SPIR-V 3.49.11, and 3.49.13 to 3.49.15).
fn form_of(op: Op) -> Option<Form> {
    use Kind::{Bool, Float, Int};
    use Op::*;
    let (result, operands, width): (Kind, &[Kind], Width) = match op {
        IAdd | ISub | IMul | UDiv | SDiv | UMod | SRem | SMod | BitwiseOr | BitwiseXor | BitwiseAnd => {
            (Int, &[Int, Int], Width::All)
        }
        SNegate | Not | BitReverse => (Int, &[Int], Width::All),
        ShiftLeftLogical | ShiftRightLogical | ShiftRightArithmetic => (Int, &[Int, Int], Width::First),
        UConvert | SConvert => (Int, &[Int], Width::Other),
        BitCount | SatConvertSToU | SatConvertUToS => (Int, &[Int], Width::Any),
        FAdd | FSub | FMul | FDiv | FRem | FMod => (Float, &[Float, Float], Width::All),
        FNegate => (Float, &[Float], Width::All),
        FConvert => (Float, &[Float], Width::Any),
        ConvertFToU | ConvertFToS => (Int, &[Float], Width::Any),
        ConvertSToF | ConvertUToF => (Float, &[Int], Width::Any),
        IEqual | INotEqual | UGreaterThan | SGreaterThan | UGreaterThanEqual | SGreaterThanEqual
        | ULessThan | SLessThan | ULessThanEqual | SLessThanEqual => (Bool, &[Int, Int], Width::Operands),
        FOrdEqual
        | FUnordEqual
        | FOrdNotEqual
        | FUnordNotEqual
        | FOrdLessThan
        | FUnordLessThan
        | FOrdGreaterThan
        | FUnordGreaterThan
        | FOrdLessThanEqual
        | FUnordLessThanEqual
        | FOrdGreaterThanEqual
        | FUnordGreaterThanEqual
        | LessOrGreater
        | Ordered
        | Unordered => (Bool, &[Float, Float], Width::Operands),
        IsNan | IsInf | IsFinite | IsNormal | SignBitSet => (Bool, &[Float], Width::Any),
        LogicalAnd | LogicalOr | LogicalEqual | LogicalNotEqual => (Bool, &[Bool, Bool], Width::All),
        LogicalNot => (Bool, &[Bool], Width::All),
        _ => return None,
    };
    Some(Form { result, operands, width })
}

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    for function in module.functions {
        for entry in module.body(function) {
            check_entry(module, function, entry, findings);
        }
    }
}

fn check_entry(module: &Module<'_>, function: &Function, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let numeric = |index| NumericType::of_value(module, entry.id(index));
    match entry.op() {
        Op::Select => select(module, entry, findings),
        Op::Phi => {
            let mut values = entry.operands().iter().step_by(2).filter_map(Operand::id);
            if values.any(|value| module.type_of(value) != entry.result_type) {
                findings.push(entry.finding(&PHI, "a value has a different type"));
            }
        }
        Op::BranchConditional if numeric(0) != Some(NumericType { kind: Kind::Bool, bits: 1, count: 1 }) => {
            findings.push(entry.finding(&CONDITION, "the condition is not a Boolean"));
        }
        Op::Switch if !numeric(0).is_some_and(|it| it.kind == Kind::Int && it.count == 1) => {
            findings.push(entry.finding(&CONDITION, "the selector is not an integer"));
        }
        Op::FunctionCall => call(module, entry, findings),
        Op::Bitcast => {
            if let Some(message) = wrong_bitcast(module, entry) {
                findings.push(entry.finding(&NUMBERS, message));
            }
        }
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit => {
            let class = |ty: Option<Word>| {
                let ty = ty?;
                module.pointer(ty).map(|(class, _)| class).or_else(|| module.untyped_pointer(ty))
            };
            let [from, to] = [entry.id(0).and_then(|id| module.type_of(id)), entry.result_type].map(class);
            let (generic, own) = if entry.op() == Op::PtrCastToGeneric { (to, from) } else { (from, to) };
            use StorageClass::{CrossWorkgroup, Function, Generic, Workgroup};
            if generic != Some(Generic) || !matches!(own, Some(Workgroup | CrossWorkgroup | Function)) {
                findings.push(entry.finding(&CAST, "a pointer has another storage class"));
            }
        }
        Op::Return | Op::ReturnValue => {
            let result = module.body(function)[0].result_type;
            let is_void =
                result.and_then(|ty| module.definition(ty)).is_some_and(|ty| ty.op() == Op::TypeVoid);
            match entry.id(0) {
                Some(value) if module.type_of(value) != result || is_void => {
                    findings.push(entry.finding(&RETURN, "the value has a different type from the function"));
                }
                None if !is_void => findings.push(entry.finding(&RETURN, "the function has a result")),
                _ => {}
            }
        }
        op => {
            if let Some(form) = form_of(op)
                && let Some(message) = wrong_number(module, entry, &form)
            {
                findings.push(entry.finding(&NUMBERS, message));
            }
        }
    }
}

/// Returns the problem with a bitcast. It keeps the bits of a number, or converts between pointers, or between pointers and
/// numbers.
fn wrong_bitcast(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    let (from, to) = (module.type_of(entry.id(0)?), entry.result_type);
    let types = [from, to].map(|ty| ty.and_then(|ty| NumericType::of_type(module, ty)));
    let is_pointer = |ty: Option<Word>| {
        let op = ty.and_then(|ty| module.definition(ty)).map(Entry::op);
        matches!(op, Some(Op::TypePointer | Op::TypeUntypedPointerKHR))
    };
    let is_value =
        |ty, numeric: Option<NumericType>| numeric.map_or(is_pointer(ty), |it| it.kind != Kind::Bool);
    if !is_value(from, types[0]) || !is_value(to, types[1]) {
        return Some("the operand or the result is neither a number nor a pointer");
    }
    let size_of = |numeric: NumericType| u64::from(numeric.bits) * u64::from(numeric.count);
    match types {
        [Some(from), Some(to)] if size_of(from) != size_of(to) => {
            Some("the operand and the result have different sizes")
        }
        _ => None,
    }
}

/// Returns the problem with the types of a numeric instruction.
fn wrong_number(module: &Module<'_>, entry: &Entry<'_>, form: &Form) -> Option<String> {
    let name = |kind| match kind {
        Kind::Bool => "a Boolean",
        Kind::Int => "an integer",
        Kind::Float => "a float",
    };
    let result = entry.result_type.and_then(|ty| NumericType::of_type(module, ty));
    let Some(result) = result.filter(|numeric| numeric.kind == form.result) else {
        return Some(format!("the result is not {} or a vector", name(form.result)));
    };
    let mut width = match form.width {
        Width::All | Width::First => Some(result.bits),
        Width::Operands | Width::Other | Width::Any => None,
    };
    for (index, kind) in form.operands.iter().enumerate() {
        let operand = NumericType::of_value(module, entry.id(index)).filter(|numeric| numeric.kind == *kind);
        let Some(operand) = operand else {
            return Some(format!("operand {} is not {} or a vector", index + 1, name(*kind)));
        };
        if operand.count != result.count {
            return Some(format!(
                "operand {} has a different number of components from the result",
                index + 1
            ));
        }
        let is_same = form.width == Width::Other && operand.bits == result.bits;
        if is_same || width.is_some_and(|width| width != operand.bits) {
            return Some(format!("operand {} has the wrong width", index + 1));
        }
        width = match form.width {
            Width::All => width,
            Width::Operands => Some(operand.bits),
            Width::First | Width::Other | Width::Any => None,
        };
    }
    None
}

fn select(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let result = entry.result_type.and_then(|ty| NumericType::of_type(module, ty));
    let condition = NumericType::of_value(module, entry.id(0)).filter(|it| it.kind == Kind::Bool);
    let counts = condition.map(|it| it.count);
    if counts != Some(1) && !(counts.is_some() && counts == result.map(|it| it.count)) {
        findings.push(
            entry.finding(&SELECT, "the condition is not a Boolean, or has the wrong number of components"),
        );
    }
    if (1..3).any(|index| entry.id(index).and_then(|id| module.type_of(id)) != entry.result_type) {
        findings.push(entry.finding(&SELECT, "an object has a different type from the result"));
    }
}

fn call(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let callee = entry.id(0).and_then(|id| module.definition(id)).filter(|it| it.op() == Op::Function);
    let ty = callee.and_then(|callee| module.definition(callee.id(1)?));
    let (Some(callee), Some(ty)) = (callee, ty) else {
        findings.push(entry.finding(&CALL, "the callee is not a function"));
        return;
    };
    let arguments =
        (1..entry.operands().len()).map(|index| entry.id(index).and_then(|id| module.type_of(id)));
    let parameters = (1..ty.operands().len()).map(|index| ty.id(index));
    if callee.result_type != entry.result_type || !arguments.eq(parameters) {
        findings.push(entry.finding(&CALL, "its arguments or its result differ from those of the function"));
    }
}
