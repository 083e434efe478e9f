//! Plain loads and stores: alignment of physical accesses, and the rules of the Vulkan memory model.

use rspirv::spirv::{Capability, Decoration, MemoryAccess, Op, StorageClass, Word};
use rustc_hash::FxHashSet;

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
};

pub(super) const RULES: &[Rule] =
    &[ALIGNED, ALIGNMENT, POWER, CONVERT, MODEL, NON_PRIVATE, DIRECTION, DECORATION, TYPES];

const ALIGNED: Rule = Rule {
    id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708",
    text: "accesses through physical pointers have the Aligned operand",
};
const ALIGNMENT: Rule = Rule {
    id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314",
    text: "Aligned is a multiple of the size of the largest scalar in the pointed-to type",
};
const POWER: Rule = Rule { id: "SPIRV-Aligned", text: "the operand of Aligned is a power of two" };
const CONVERT: Rule = Rule {
    id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710",
    text: "OpConvertUToPtr and OpConvertPtrToU use 64-bit integers",
};
const MODEL: Rule = Rule {
    id: "SPIRV-MemoryAccess-VulkanMemoryModel",
    text: "NonPrivatePointer, MakePointerAvailable and MakePointerVisible need the VulkanMemoryModel capability",
};
const NON_PRIVATE: Rule = Rule {
    id: "SPIRV-MemoryAccess-NonPrivatePointer",
    text: "MakePointerAvailable and MakePointerVisible require NonPrivatePointer",
};
const DIRECTION: Rule = Rule {
    id: "SPIRV-MemoryAccess-direction",
    text: "a load does not make memory available, and a store does not make memory visible",
};
const DECORATION: Rule = Rule {
    id: "SPIRV-Coherent-VulkanMemoryModel",
    text: "under the Vulkan memory model, no object is decorated Coherent or Volatile",
};
const TYPES: Rule = Rule {
    id: "SPIRV-access-type",
    text: "the value of OpLoad or OpStore has the type that the pointer points to",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let vulkan_model = module.has(Capability::VulkanMemoryModel);
    for entry in &module.entries {
        match entry.op() {
            Op::Load | Op::Store | Op::CopyMemory | Op::CopyMemorySized => {
                types(module, entry, findings);
                operands(module, entry, findings);
            }
            Op::ConvertUToPtr | Op::ConvertPtrToU => convert(module, entry, findings),
            Op::Decorate | Op::MemberDecorate if vulkan_model => {
                let banned = entry.operands().iter().find_map(|operand| match operand {
                    Operand::Decoration(word @ (Decoration::Coherent | Decoration::Volatile)) => Some(word),
                    _ => None,
                });
                if let Some(word) = banned {
                    findings.push(entry.finding(&DECORATION, format!("it is decorated {word:?}")));
                }
            }
            _ => {}
        }
    }
}

fn types(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let value = match entry.op() {
        Op::Load => entry.result_type,
        Op::Store => entry.id(1).and_then(|value| module.type_of(value)),
        _ => return,
    };
    let ty = entry.id(0).and_then(|id| module.type_of(id));
    let op = ty.and_then(|ty| module.definition(ty)).map(Entry::op);
    if !matches!(op, Some(Op::TypePointer | Op::TypeUntypedPointerKHR)) {
        findings.push(entry.finding(&TYPES, "the first operand is not a pointer"));
    }
    let pointee = ty.and_then(|ty| module.pointer(ty));
    if let (Some(value), Some((_, pointee))) = (value, pointee)
        && value != pointee
    {
        let message = format!(
            "the value has type {}, but the pointer points to {}",
            module.name(value),
            module.name(pointee)
        );
        findings.push(entry.finding(&TYPES, message));
    }
}

/// The pointers of the instruction with their memory operands. One set of operands can apply to both pointers of a
/// copy.
fn operands(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let operands = entry.operands();
    let mut masks = operands.iter().enumerate().filter_map(|(index, operand)| match operand {
        Operand::MemoryAccess(mask) => {
            let alignment = mask.contains(MemoryAccess::ALIGNED).then(|| entry.literal(index + 1)).flatten();
            Some((*mask, alignment))
        }
        _ => None,
    });
    let (first, second) = (masks.next(), masks.next());
    let mut check = |pointer: Option<Word>, operand, direction| {
        let pointer = pointer.and_then(|id| module.type_of(id)).and_then(|ty| module.pointer(ty));
        access(module, entry, pointer, operand, direction, findings);
    };
    // The source and the target.
    match (entry.op(), second) {
        (Op::Load, _) => check(entry.id(0), first, Direction::Read),
        (Op::Store, _) => check(entry.id(0), first, Direction::Write),
        (_, Some(second)) => {
            check(entry.id(0), first, Direction::Write);
            check(entry.id(1), Some(second), Direction::Read);
        }
        (_, None) => {
            check(entry.id(0), first, Direction::Both);
            check(entry.id(1), first, Direction::Both);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
    Both,
}

fn access(
    module: &Module<'_>,
    entry: &Entry<'_>,
    pointer: Option<(StorageClass, Word)>,
    operand: Option<(MemoryAccess, Option<u32>)>,
    direction: Direction,
    findings: &mut Vec<Finding>,
) {
    let mut report = |rule, message: String| findings.push(entry.finding(rule, message));
    let (mask, alignment) = operand.unwrap_or((MemoryAccess::NONE, None));
    if let Some(alignment) = alignment.filter(|alignment| !alignment.is_power_of_two()) {
        report(&POWER, format!("the alignment is {alignment}"));
    }
    if let Some((StorageClass::PhysicalStorageBuffer, pointee)) = pointer {
        let needed = largest_scalar(module, pointee);
        match alignment {
            None => {
                report(&ALIGNED, "it accesses memory through a physical pointer without Aligned".to_owned())
            }
            Some(alignment) if needed > 0 && alignment % needed != 0 => report(
                &ALIGNMENT,
                format!("the alignment is {alignment}, but the largest scalar has {needed} bytes"),
            ),
            Some(_) => {}
        }
    }
    let available = mask.contains(MemoryAccess::MAKE_POINTER_AVAILABLE);
    let visible = mask.contains(MemoryAccess::MAKE_POINTER_VISIBLE);
    let non_private = mask.contains(MemoryAccess::NON_PRIVATE_POINTER);
    if (available || visible || non_private) && !module.has(Capability::VulkanMemoryModel) {
        report(&MODEL, "it has operands of the Vulkan memory model without the capability".to_owned());
    }
    if (available || visible) && !non_private {
        report(&NON_PRIVATE, "it makes private memory available or visible".to_owned());
    }
    if available && direction == Direction::Read || visible && direction == Direction::Write {
        report(&DIRECTION, "a load makes memory available, or a store makes it visible".to_owned());
    }
}

/// The size of the largest scalar in a type in bytes; 0 if it has no known scalar. Visits each type once, so that a
/// malformed module cannot make this slow.
fn largest_scalar(module: &Module<'_>, ty: Word) -> u32 {
    // Most types are numbers or vectors of numbers.
    let element = module.definition(ty).filter(|it| it.op() == Op::TypeVector).and_then(|it| it.id(0));
    let number = module.definition(element.unwrap_or(ty));
    if let Some(number) = number.filter(|it| matches!(it.op(), Op::TypeInt | Op::TypeFloat)) {
        return number.literal(0).unwrap_or(0) / 8;
    }
    let mut seen = FxHashSet::default();
    let mut open = vec![ty];
    let mut largest = 0;
    while let Some(ty) = open.pop() {
        let Some(entry) = module.definition(ty).filter(|_| seen.insert(ty)) else { continue };
        match entry.op() {
            Op::TypeInt | Op::TypeFloat => largest = largest.max(entry.literal(0).unwrap_or(0) / 8),
            Op::TypePointer => largest = largest.max(8),
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => {
                open.extend(entry.id(0));
            }
            Op::TypeStruct => open.extend((0..entry.operands().len()).filter_map(|index| entry.id(index))),
            _ => {}
        }
    }
    largest
}

fn convert(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let ty = match entry.op() {
        Op::ConvertPtrToU => entry.result_type,
        _ => entry.id(0).and_then(|id| module.type_of(id)),
    };
    let physical = module.has(Capability::PhysicalStorageBufferAddresses);
    let width = ty.and_then(|ty| module.definition(ty)).and_then(|ty| ty.literal(0));
    if physical && width != Some(64) {
        findings.push(entry.finding(&CONVERT, format!("the integer has {} bits", width.unwrap_or(0))));
    }
}
