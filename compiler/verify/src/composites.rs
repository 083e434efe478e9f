//! The members of composites, and the objects that access chains point to.

use std::ops::Range;

use rspirv::spirv::{Op, Word};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
};

pub(super) const RULES: &[Rule] = &[MEMBER, CONSTRUCT, SHUFFLE, CHAIN];

const MEMBER: Rule = Rule {
    id: "SPIRV-member",
    text: "an instruction that extracts or replaces a part of a composite names an existing part, and uses its type",
};
const CONSTRUCT: Rule = Rule {
    id: "SPIRV-OpCompositeConstruct",
    text: "a composite has a constituent for each member, of the member's type",
};
const SHUFFLE: Rule = Rule {
    id: "SPIRV-OpVectorShuffle",
    text: "OpVectorShuffle selects existing components of two vectors that have the component type of its result",
};
const CHAIN: Rule = Rule {
    id: "SPIRV-access-chain",
    text: "the indexes of an access chain name existing members, and its result points to the last one",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    for entry in module.functions.iter().flat_map(|function| module.body(function)) {
        let broken = match entry.op() {
            Op::CompositeExtract => (&MEMBER, extract(module, entry)),
            Op::CompositeInsert => (&MEMBER, insert(module, entry)),
            Op::VectorExtractDynamic | Op::VectorInsertDynamic => (&MEMBER, dynamic(module, entry)),
            Op::CompositeConstruct => (&CONSTRUCT, construct(module, entry)),
            Op::VectorShuffle => (&SHUFFLE, shuffle(module, entry)),
            Op::AccessChain | Op::InBoundsAccessChain => (&CHAIN, chain(module, entry, 1)),
            // The first index selects an element of the array that the base points into.
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => (&CHAIN, chain(module, entry, 2)),
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => {
                (&CHAIN, untyped_chain(module, entry, 2))
            }
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => {
                (&CHAIN, untyped_chain(module, entry, 3))
            }
            _ => continue,
        };
        if let (rule, Some(message)) = broken {
            findings.push(entry.finding(rule, message));
        }
    }
}

/// The index of a member.
enum Index {
    Known(u32),
    /// An element that is known only at run time.
    Unknown,
}

/// The type of a member of a composite.
fn member(module: &Module<'_>, ty: Word, index: &Index) -> Option<Word> {
    let entry = module.definition(ty)?;
    let is_below = |count: Option<u32>| match (index, count) {
        (Index::Known(index), Some(count)) => *index < count,
        (Index::Known(_) | Index::Unknown, _) => true,
    };
    match (entry.op(), index) {
        (Op::TypeVector | Op::TypeMatrix, _) => entry.id(0).filter(|_| is_below(entry.literal(1))),
        // The length of an array can be a specialization constant.
        (Op::TypeArray, _) => {
            let length = entry.id(1).and_then(|id| module.definition(id));
            let length = length.filter(|length| length.op() == Op::Constant).and_then(|it| it.literal(0));
            entry.id(0).filter(|_| is_below(length))
        }
        (Op::TypeRuntimeArray, _) => entry.id(0),
        (Op::TypeStruct, Index::Known(index)) => entry.id(*index as usize),
        _ => None,
    }
}

/// The type of the part that literal indexes from this operand on select.
fn part(module: &Module<'_>, entry: &Entry<'_>, ty: Option<Word>, first: usize) -> Option<Word> {
    entry.operands()[first.min(entry.operands().len())..].iter().try_fold(ty?, |ty, index| match index {
        Operand::LiteralBit32(index) => member(module, ty, &Index::Known(*index)),
        _ => None,
    })
}

fn type_of(module: &Module<'_>, entry: &Entry<'_>, operand: usize) -> Option<Word> {
    module.type_of(entry.id(operand)?)
}

fn extract(module: &Module<'_>, entry: &Entry<'_>) -> Option<String> {
    let part = part(module, entry, type_of(module, entry, 0), 1);
    (part.is_none() || part != entry.result_type).then(|| "there is no such part of this type".to_owned())
}

fn insert(module: &Module<'_>, entry: &Entry<'_>) -> Option<String> {
    let part = part(module, entry, entry.result_type, 2);
    if part.is_none() || part != type_of(module, entry, 0) {
        return Some("there is no such part of the type of the object".to_owned());
    }
    let is_same = type_of(module, entry, 1) == entry.result_type;
    (!is_same).then(|| "the composite has a different type from the result".to_owned())
}

fn dynamic(module: &Module<'_>, entry: &Entry<'_>) -> Option<String> {
    let is_extract = entry.op() == Op::VectorExtractDynamic;
    let vector = type_of(module, entry, 0);
    let ty = vector.and_then(|ty| module.definition(ty)).filter(|ty| ty.op() == Op::TypeVector);
    let component = if is_extract { entry.result_type } else { type_of(module, entry, 1) };
    let is_valid = ty.is_some_and(|ty| ty.id(0) == component) && (is_extract || vector == entry.result_type);
    let index = type_of(module, entry, if is_extract { 1 } else { 2 });
    let is_index = index.and_then(|ty| module.definition(ty)).is_some_and(|ty| ty.op() == Op::TypeInt);
    (!(is_valid && is_index))
        .then(|| "an operand is not a vector of that type, or the index is not an integer".to_owned())
}

/// The component type and the number of components of a vector; a scalar has one.
fn components(module: &Module<'_>, ty: Word) -> Option<(Word, u32)> {
    let entry = module.definition(ty)?;
    match entry.op() {
        Op::TypeVector => Some((entry.id(0)?, entry.literal(1)?)),
        _ => Some((ty, 1)),
    }
}

fn construct(module: &Module<'_>, entry: &Entry<'_>) -> Option<String> {
    constituents_differ(module, entry)
        .then(|| "the constituents do not have the types of the members".to_owned())
}

/// Whether the constituents do not match the members of the composite's type.
pub(super) fn constituents_differ(module: &Module<'_>, entry: &Entry<'_>) -> bool {
    !entry.result_type.and_then(|ty| has_constituents(module, entry, ty)).unwrap_or(true)
}

/// `None` for a type that has no constituents.
fn has_constituents(module: &Module<'_>, entry: &Entry<'_>, result: Word) -> Option<bool> {
    let ty = module.definition(result)?;
    let count = entry.operands().len();
    match ty.op() {
        Op::TypeVector => {
            let parts = (0..count).map(|index| components(module, type_of(module, entry, index)?));
            let (component, wanted) = components(module, result)?;
            let total = parts.into_iter().try_fold(0u32, |total, part| {
                part.filter(|part| part.0 == component).map(|part| total.saturating_add(part.1))
            });
            Some(total == Some(wanted))
        }
        Op::TypeArray | Op::TypeMatrix | Op::TypeStruct => {
            let members = match ty.op() {
                Op::TypeStruct => Some(ty.operands().len() as u32),
                Op::TypeMatrix => ty.literal(1),
                _ => ty.id(1).and_then(|length| module.constant(length)),
            };
            let matches = |index: usize| {
                let member = member(module, result, &Index::Known(index as u32));
                member.is_some() && member == type_of(module, entry, index)
            };
            Some(members.is_none_or(|members| members as usize == count) && (0..count).all(matches))
        }
        _ => None,
    }
}

fn shuffle(module: &Module<'_>, entry: &Entry<'_>) -> Option<String> {
    let vector = |ty: Option<Word>| {
        let ty = module.definition(ty?).filter(|ty| ty.op() == Op::TypeVector)?;
        Some((ty.id(0)?, ty.literal(1)?))
    };
    let all = [entry.result_type, type_of(module, entry, 0), type_of(module, entry, 1)].map(vector);
    let [Some(result), Some(first), Some(second)] = all else {
        return Some("an operand or the result is not a vector".to_owned());
    };
    if first.0 != result.0 || second.0 != result.0 {
        return Some("a vector has a different component type from the result".to_owned());
    }
    let literals = &entry.operands()[2..];
    let is_taken = |literal: &Operand| match literal {
        // All ones: a component without a source.
        Operand::LiteralBit32(index) => *index < first.1.saturating_add(second.1) || *index == u32::MAX,
        _ => false,
    };
    let is_valid = literals.len() == result.1 as usize && literals.iter().all(is_taken);
    (!is_valid).then(|| "its literals do not select the components of the result".to_owned())
}

fn chain(module: &Module<'_>, entry: &Entry<'_>, first: usize) -> Option<String> {
    let Some((class, base)) = type_of(module, entry, 0).and_then(|ty| module.pointer(ty)) else {
        return Some("the base is not a pointer".to_owned());
    };
    let Some((result_class, result)) = entry.result_type.and_then(|ty| module.pointer(ty)) else {
        return Some("the result is not a pointer".to_owned());
    };
    match indexed(module, entry, base, 1..first) {
        Err(message) => Some(message),
        Ok(target) if target.is_none_or(|target| target == result) && class == result_class => None,
        Ok(_) => Some("the result is a pointer to another type or into other memory".to_owned()),
    }
}

/// The operands of a chain from the index `first` on select members of the type that it names.
fn untyped_chain(module: &Module<'_>, entry: &Entry<'_>, first: usize) -> Option<String> {
    let base = type_of(module, entry, 1);
    let class =
        base.and_then(|ty| module.untyped_pointer(ty).or_else(|| module.pointer(ty).map(|(class, _)| class)));
    let Some(class) = class else { return Some("the base is not a pointer".to_owned()) };
    let Some(result) = entry.result_type.and_then(|ty| module.untyped_pointer(ty)) else {
        return Some("the result is not an untyped pointer".to_owned());
    };
    match indexed(module, entry, entry.id(0)?, 2..first) {
        Err(message) => Some(message),
        Ok(_) if class == result => None,
        Ok(_) => Some("the result is a pointer into other memory".to_owned()),
    }
}

/// The type that the indexes of a chain select; `None` if it is not known. Indexes in `elements` select an element, and
/// those behind them a member.
fn indexed(
    module: &Module<'_>,
    entry: &Entry<'_>,
    base: Word,
    elements: Range<usize>,
) -> Result<Option<Word>, String> {
    let mut target = base;
    for index in elements.start..entry.operands().len() {
        let number = index - elements.start;
        let id = entry.id(index);
        let ty = id.and_then(|id| module.type_of(id)).and_then(|ty| module.definition(ty));
        let Some(id) = id.filter(|_| ty.is_some_and(|ty| ty.op() == Op::TypeInt)) else {
            return Err(format!("index {number} is not an integer"));
        };
        if elements.contains(&index) {
            continue;
        }
        let is_struct = module.definition(target).is_some_and(|ty| ty.op() == Op::TypeStruct);
        // Only a member of a structure must exist: an index into an array can be out of bounds where it is not executed.
        let known = match module.definition(id).filter(|it| is_struct && it.op() == Op::Constant) {
            Some(constant) => match constant.literal(0) {
                Some(index) => Index::Known(index),
                None => return Ok(None),
            },
            None => Index::Unknown,
        };
        target =
            member(module, target, &known).ok_or_else(|| format!("index {number} does not name a member"))?;
    }
    Ok(Some(target))
}
