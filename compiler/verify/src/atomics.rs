//! The objects of atomic instructions: their storage class, their type, and the capabilities of their width.

use rspirv::spirv::{Capability, Op, StorageClass};

use super::{Context, Finding, Rule, module::Entry};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[VK_CLASS, CL_CLASS, POINTER, TYPE, MATCH, INT64, INT16, FLOAT, FLAG];

const VK_CLASS: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04686",
    text: "atomic objects are in Uniform, Workgroup, Image, StorageBuffer, PhysicalStorageBuffer or \
           TaskPayloadWorkgroupEXT memory",
};
const CL_CLASS: Rule = Rule {
    id: "OpenCL-atomic-storage-class",
    text: "atomic objects are in Workgroup, CrossWorkgroup or Function memory, or in Generic memory with \
           GenericPointer; in Function memory the behavior is undefined",
};
const POINTER: Rule =
    Rule { id: "SPIRV-atomic-pointer", text: "the first operand of an atomic is a pointer" };
const TYPE: Rule = Rule {
    id: "SPIRV-atomic-type",
    text: "the object of an atomic is an integer of 32 bits or more, or a float for loads, stores, exchanges and the \
           floating-point atomics",
};
const MATCH: Rule =
    Rule { id: "SPIRV-atomic-match", text: "result, value and comparator have the type of the object" };
const INT64: Rule =
    Rule { id: "SPIRV-Int64Atomics", text: "atomics of 64-bit integers need the Int64Atomics capability" };
const INT16: Rule =
    Rule { id: "SPIRV-narrow-atomics", text: "there are no atomics of 8- and 16-bit integers" };
const FLOAT: Rule = Rule {
    id: "SPIRV-float-atomics",
    text: "floating-point addition, minimum and maximum need the capability of their width",
};
const FLAG: Rule = Rule {
    id: "SPIRV-OpAtomicFlag",
    text: "OpAtomicFlagTestAndSet and OpAtomicFlagClear take a 32-bit integer",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.module.entries {
        if entry.class.opname.starts_with("Atomic") {
            check_entry(context, entry, findings);
        }
    }
}

fn check_entry(context: &Context<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let pointer = entry.id(0).and_then(|id| module.type_of(id));
    let (class, object) = match pointer.and_then(|ty| module.pointer(ty)) {
        Some((class, object)) => (class, Some(object)),
        None => match pointer.and_then(|ty| module.untyped_pointer(ty)) {
            // The result or the stored value determines the type of the object.
            Some(class) => {
                (class, entry.result_type.or_else(|| entry.id(3).and_then(|value| module.type_of(value))))
            }
            None => {
                findings.push(entry.finding(&POINTER, "the object is not a pointer"));
                return;
            }
        },
    };
    check_class(context, entry, class, findings);
    let is_flag = matches!(entry.op(), Op::AtomicFlagTestAndSet | Op::AtomicFlagClear);
    if is_flag && pointer.is_some_and(|ty| module.untyped_pointer(ty).is_some()) {
        return;
    }
    let Some((object, ty)) = object.and_then(|object| Some((object, module.definition(object)?))) else {
        return;
    };
    if is_flag {
        if ty.op() != Op::TypeInt || ty.literal(0) != Some(32) {
            findings.push(entry.finding(&FLAG, format!("the flag is {}", module.name(object))));
        }
        return;
    }
    check_object(context, entry, (object, ty), findings);
    check_operands(context, entry, object, findings);
}

/// Checks the storage class of the object.
fn check_class(context: &Context<'_>, entry: &Entry<'_>, class: StorageClass, findings: &mut Vec<Finding>) {
    use StorageClass::*;
    let (rule, is_allowed) = match context.environment {
        Environment::Vulkan => {
            let is_allowed = matches!(
                class,
                Uniform | Workgroup | Image | StorageBuffer | PhysicalStorageBuffer | TaskPayloadWorkgroupEXT
            );
            (&VK_CLASS, is_allowed)
        }
        Environment::OpenCl => {
            let is_allowed = matches!(class, Workgroup | CrossWorkgroup)
                || class == Generic && context.module.has(Capability::GenericPointer);
            (&CL_CLASS, is_allowed)
        }
    };
    if !is_allowed {
        findings.push(entry.finding(rule, format!("the object is in {class:?} memory")));
    }
}

/// Checks the type of the object, and the capabilities that its width needs.
fn check_object(
    context: &Context<'_>,
    entry: &Entry<'_>,
    (object, ty): (u32, &Entry<'_>),
    findings: &mut Vec<Finding>,
) {
    let module = context.module;
    let mut report = |rule, message: String| findings.push(entry.finding(rule, message));
    let width = ty.literal(0);
    let is_float = ty.op() == Op::TypeFloat;
    let is_int = ty.op() == Op::TypeInt;
    match entry.op() {
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
            if !is_float {
                report(&TYPE, format!("the object's type is {}", module.name(object)));
            } else if float_capability(entry.op(), width).is_none_or(|needed| !module.has(needed)) {
                report(&FLOAT, format!("the object has {} bits", width.unwrap_or(0)));
            }
        }
        Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange if is_float => {}
        _ if !is_int => report(&TYPE, format!("the object's type is {}", module.name(object))),
        _ if matches!(width, Some(8 | 16)) => {
            report(&INT16, format!("the object has {} bits", width.unwrap_or(0)));
        }
        _ => {}
    }
    if is_int && width == Some(64) && !module.has(Capability::Int64Atomics) {
        report(&INT64, "the object has 64 bits, but the capability is not declared".to_owned());
    }
}

/// Checks that the operands and the result have the type of the object.
fn check_operands(context: &Context<'_>, entry: &Entry<'_>, object: u32, findings: &mut Vec<Finding>) {
    let module = context.module;
    let values = match entry.op() {
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => [entry.id(4), entry.id(5)],
        _ => [entry.id(3), None],
    };
    let types = values.into_iter().flatten().filter_map(|value| module.type_of(value));
    for other in types.chain(entry.result_type).filter(|ty| *ty != object) {
        let message =
            format!("an operand has type {}, but the object {}", module.name(other), module.name(object));
        findings.push(entry.finding(&MATCH, message));
    }
}

/// SPV_EXT_shader_atomic_float_add, SPV_EXT_shader_atomic_float16_add, SPV_EXT_shader_atomic_float_min_max.
fn float_capability(op: Op, width: Option<u32>) -> Option<Capability> {
    match (op, width) {
        (Op::AtomicFAddEXT, Some(16)) => Some(Capability::AtomicFloat16AddEXT),
        (Op::AtomicFAddEXT, Some(32)) => Some(Capability::AtomicFloat32AddEXT),
        (Op::AtomicFAddEXT, Some(64)) => Some(Capability::AtomicFloat64AddEXT),
        (_, Some(16)) => Some(Capability::AtomicFloat16MinMaxEXT),
        (_, Some(32)) => Some(Capability::AtomicFloat32MinMaxEXT),
        (_, Some(64)) => Some(Capability::AtomicFloat64MinMaxEXT),
        _ => None,
    }
}
