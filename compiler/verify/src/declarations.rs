//! Declarations: types, constants, variables, entry points and the targets of decorations.

use rspirv::spirv::{Capability, Decoration, Op, Word};
use rustc_hash::FxHashSet;

use super::{
    Context, Finding, Rule,
    composites::constituents_differ,
    module::{Entry, Module},
    operand::Operand,
    structure::is_type,
};

pub(super) const RULES: &[Rule] = &[TYPE, VECTOR_SIZE, CONSTANT, LITERAL, ENTRY_POINT, TARGET, VARIABLE];

const TYPE: Rule = Rule {
    id: "SPIRV-type",
    text: "the parts of a type are types, and those of a vector scalars; integers have 8, 16, 32 or 64 bits, and floats 16, 32 or 64",
};
const VECTOR_SIZE: Rule =
    Rule { id: "SPIRV-vector-size", text: "a vector has 2 to 4 components, or 8 or 16 with Vector16" };
const CONSTANT: Rule = Rule {
    id: "SPIRV-constant",
    text: "a constant has a type that its instruction allows, and a composite constant has a constituent for each member",
};
const LITERAL: Rule = Rule {
    id: "SPIRV-literal-bits",
    text: "the unused bits of a literal number are 0, or the sign of a signed integer",
};
const ENTRY_POINT: Rule = Rule {
    id: "SPIRV-OpEntryPoint",
    text: "OpEntryPoint names a function, and an execution mode names an entry point",
};
const TARGET: Rule = Rule {
    id: "SPIRV-decoration-target",
    text: "a decoration has a target that allows it, and a member decoration names an existing member",
};

const VARIABLE: Rule = Rule {
    id: "SPIRV-OpVariable",
    text: "the type of a variable is a pointer with the same storage class, and its initializer is a constant or a variable of the pointee type",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let mut entry_points = FxHashSet::default();
    for entry in module.preamble() {
        let broken = match entry.op() {
            Op::EntryPoint => {
                entry_points.extend(entry.id(1));
                let is_function = entry.id(1).is_some_and(|id| op_of(module, id) == Some(Op::Function));
                (!is_function).then_some((&ENTRY_POINT, "it does not name a function"))
            }
            Op::ExecutionMode | Op::ExecutionModeId => {
                let is_known = entry.id(0).is_some_and(|id| entry_points.contains(&id));
                (!is_known).then_some((&ENTRY_POINT, "it does not name an entry point"))
            }
            Op::Decorate => decorate(module, entry).map(|message| (&TARGET, message)),
            Op::MemberDecorate => {
                let ty = entry.id(0).and_then(|id| module.definition(id));
                let ty = ty.filter(|ty| ty.op() == Op::TypeStruct);
                let members = ty.map_or(0, |ty| ty.operands().len());
                let is_member = entry.literal(1).is_some_and(|member| (member as usize) < members);
                (!is_member).then_some((&TARGET, "there is no such structure or member"))
            }
            _ => constant(module, entry)
                .map(|message| (&CONSTANT, message))
                .or_else(|| ty(module, entry).map(|message| (&TYPE, message)))
                .or_else(|| literal(module, entry).map(|message| (&LITERAL, message)))
                .or_else(|| vector_size(module, entry).map(|message| (&VECTOR_SIZE, message))),
        };
        if let Some((rule, message)) = broken {
            findings.push(entry.finding(rule, message));
        }
    }
    for entry in &module.entries {
        let message = match entry.op() {
            Op::Variable => variable(module, entry),
            Op::UntypedVariableKHR => untyped_variable(module, entry),
            _ => None,
        };
        if let Some(message) = message {
            findings.push(entry.finding(&VARIABLE, message));
        }
    }
}

/// Returns the problem with the type or the initializer of a variable.
fn variable(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    let Some((class, pointee)) = entry.result_type.and_then(|ty| module.pointer(ty)) else {
        return Some("its type is not a pointer");
    };
    if entry.operands().first() != Some(&Operand::StorageClass(class)) {
        return Some("its pointer type has a different storage class");
    }
    initializer(module, entry.id(1)?, pointee)
}

/// Returns the problem with the types or the initializer of an untyped variable.
fn untyped_variable(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    let Some(class) = entry.result_type.and_then(|ty| module.untyped_pointer(ty)) else {
        return Some("its type is not an untyped pointer");
    };
    if entry.operands().first() != Some(&Operand::StorageClass(class)) {
        return Some("its pointer type has a different storage class");
    }
    let ty = entry.id(1)?;
    if !module.definition(ty).is_some_and(is_type) {
        return Some("its data type is not a type");
    }
    initializer(module, entry.id(2)?, ty)
}

/// Returns the problem with the initializer of an object of this type.
fn initializer(module: &Module<'_>, id: Word, ty: Word) -> Option<&'static str> {
    let initializer = module.definition(id)?;
    let name = initializer.class.opname;
    let is_constant = name.starts_with("Constant") || name.starts_with("SpecConstant");
    if !is_constant && initializer.op() != Op::Variable && initializer.op() != Op::Undef {
        return Some("its initializer is neither a constant nor a variable");
    }
    (initializer.result_type != Some(ty)).then_some("its initializer has a different type")
}

fn op_of(module: &Module<'_>, id: Word) -> Option<Op> {
    module.definition(id).map(Entry::op)
}

/// Returns the problem with the target of a decoration.
fn decorate(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    use Op::*;
    let [Operand::IdRef(target), Operand::Decoration(decoration), ..] = entry.operands() else { return None };
    let op = op_of(module, *target)?;
    let is_valid = match decoration {
        Decoration::SpecId => matches!(op, SpecConstantTrue | SpecConstantFalse | SpecConstant),
        Decoration::Block | Decoration::BufferBlock => op == TypeStruct,
        // These decorate members.
        Decoration::Offset | Decoration::MatrixStride | Decoration::RowMajor | Decoration::ColMajor => false,
        Decoration::ArrayStride => matches!(op, TypeArray | TypeRuntimeArray | TypePointer),
        Decoration::DescriptorSet | Decoration::Binding => op == Variable,
        Decoration::BuiltIn => {
            matches!(op, Variable | Constant | ConstantComposite | SpecConstant | SpecConstantComposite)
        }
        _ => true,
    };
    (!is_valid && op != DecorationGroup).then_some("the target does not allow the decoration")
}

fn has_all_widths(module: &Module<'_>) -> bool {
    module.has(Capability::ArbitraryPrecisionIntegersINTEL)
}

/// Returns the problem with the number of components of a vector type.
fn vector_size(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    let count = entry.literal(1).filter(|_| entry.op() == Op::TypeVector)?;
    let is_valid = match count {
        2..=4 => true,
        8 | 16 => module.has(Capability::Vector16),
        _ => false,
    };
    (!is_valid).then_some("there are no vectors of this many components")
}

/// Returns the problem with a type.
fn ty(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    use Op::*;
    let names_type = |index: usize| entry.id(index).and_then(|id| module.definition(id)).is_some_and(is_type);
    let is_part = |index: usize| {
        names_type(index) && entry.id(index).and_then(|id| op_of(module, id)) != Some(TypeVoid)
    };
    let parts = |first: usize| (first..entry.operands().len()).all(is_part);
    let is_valid = match entry.op() {
        TypeInt => {
            let is_width = has_all_widths(module) || matches!(entry.literal(0), Some(8 | 16 | 32 | 64));
            is_width && matches!(entry.literal(1), Some(0 | 1))
        }
        // A float with an encoding can have other widths.
        TypeFloat => entry.operands().len() > 1 || matches!(entry.literal(0), Some(16 | 32 | 64)),
        TypeVector => {
            let component = entry.id(0).and_then(|id| op_of(module, id));
            matches!(component, Some(TypeInt | TypeFloat | TypeBool))
        }
        TypeArray | TypeRuntimeArray => is_part(0),
        TypeStruct => parts(0),
        TypePointer => names_type(1),
        TypeFunction => names_type(0) && parts(1),
        _ => true,
    };
    (!is_valid).then_some("its operands are not the required types and numbers")
}

/// Returns the problem with the literal number of a constant (SPIR-V 2.2.1).
fn literal(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    if !matches!(entry.op(), Op::Constant | Op::SpecConstant) {
        return None;
    }
    let ty = entry.result_type.and_then(|ty| module.definition(ty))?;
    let (width, value) = (ty.literal(0)?, entry.literal(0)?);
    let unused = 32_u32.checked_sub(width).filter(|unused| (1..32).contains(unused))?;
    let is_signed = ty.op() == Op::TypeInt && ty.literal(1) == Some(1);
    let extended = match is_signed {
        true => ((value << unused) as i32 >> unused) as u32,
        false => value << unused >> unused,
    };
    (value != extended).then_some("the unused bits of the number are not those that it requires")
}

/// Returns the problem with a constant.
fn constant(module: &Module<'_>, entry: &Entry<'_>) -> Option<&'static str> {
    use Op::*;
    let ty = entry.result_type.and_then(|ty| op_of(module, ty))?;
    let is_valid = match entry.op() {
        ConstantTrue | ConstantFalse | SpecConstantTrue | SpecConstantFalse => ty == TypeBool,
        Constant | SpecConstant => matches!(ty, TypeInt | TypeFloat),
        ConstantComposite | SpecConstantComposite => {
            matches!(ty, TypeVector | TypeMatrix | TypeArray | TypeStruct)
                && !constituents_differ(module, entry)
        }
        _ => true,
    };
    (!is_valid).then_some("its type does not match the instruction or its constituents")
}
