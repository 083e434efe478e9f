//! Finds global addresses on Vulkan that are array elements: `base + index * size`, used only as pointers.
//!
//! An access chain computes such an address itself, even with 32-bit indices. The addition, and instructions that
//! only it uses, are then not emitted.

use kiln_ir::{BinaryOp, Convert, Function, InstId, LaunchMemory, Op, Type, ValueId};
use kiln_types::index::Id as _;
use rustc_hash::FxHashMap;

use super::globals::size_of;

/// An address as an element of an array.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) base: ValueId,
    pub(super) index: Index,
    /// The size of an element in bytes.
    pub(super) size: u64,
}

/// The index of the element.
#[derive(Clone, Copy)]
pub(super) enum Index {
    Value(ValueId),
    Constant(i64),
}

/// The array elements of a function.
#[derive(Default)]
pub(super) struct Elements {
    found: FxHashMap<ValueId, Element>,
    /// By instruction: whether its result is only used in access chains, so that it is not emitted.
    is_implied: Vec<bool>,
    /// For addresses that the launch passes and that are only used as pointers: the type of the first access.
    pointers: FxHashMap<ValueId, Type>,
}

impl Elements {
    /// Finds the array elements of a function.
    pub(super) fn find(function: &Function) -> Self {
        let uses = function.use_counts();
        let insts = function.inst_order();
        // For each accessed address: the number of accesses, their size (0 if they differ), and the type of the
        // first.
        let mut accessed: FxHashMap<ValueId, (u32, u64, Type)> = FxHashMap::default();
        for &id in &insts {
            let inst = &function.insts[id];
            let ty = match &inst.op {
                Op::Load(_) => function.ty(inst.results[0]),
                Op::Store(_) => function.ty(inst.args[1]),
                Op::Atomic(atomic) => Type::Scalar(atomic.ty),
                _ => continue,
            };
            if function.ty(inst.args[0]) == Type::I64 {
                let size = size_of(ty);
                let (count, known, _) = accessed.entry(inst.args[0]).or_insert((0, size, ty));
                *count += 1;
                *known = if *known == size { size } else { 0 };
            }
        }
        let mut elements = Self {
            found: FxHashMap::default(),
            is_implied: vec![false; function.insts.len()],
            pointers: FxHashMap::default(),
        };
        // For each implied value, the number of its uses in elements and implied values.
        let mut implied: FxHashMap<ValueId, u32> = FxHashMap::default();
        for &id in insts.iter().rev() {
            let Some(&result) = function.insts[id].results.first() else { continue };
            let total = uses[result.index()];
            let size = accessed.get(&result).filter(|(count, ..)| *count == total).map(|(_, size, _)| *size);
            let folded = if let Some((element, offset)) = size.and_then(|size| as_element(function, id, size))
            {
                elements.found.insert(result, element);
                offset
            } else if implied.get(&result) == Some(&total) {
                let is_product = function.insts[id].op == Op::Binary(BinaryOp::Mul);
                let factor = function.insts[id].args[0];
                (is_product && sign_extended_index(function, factor).is_some()).then_some(factor)
            } else {
                continue;
            };
            elements.is_implied[id.index()] = true;
            if let Some(value) = folded {
                *implied.entry(value).or_default() += 1;
            }
        }
        for (address, element) in &elements.found {
            let (_, size, ty) = accessed[address];
            let (count, ..) = accessed.entry(element.base).or_insert((0, size, ty));
            *count += 1;
        }
        for &id in &insts {
            if let Op::LaunchWord(LaunchMemory::PushConstants, _) = function.insts[id].op
                && let address = function.insts[id].results[0]
                && let Some(&(count, _, ty)) = accessed.get(&address)
                && count == uses[address.index()]
            {
                elements.pointers.insert(address, ty);
            }
        }
        elements
    }

    /// The pointee type of an address that the launch passes, if it is only used as a pointer.
    pub(super) fn pointee(&self, address: ValueId) -> Option<Type> {
        self.pointers.get(&address).copied()
    }

    /// The array element at an address, if it is one.
    pub(super) fn element(&self, address: ValueId) -> Option<Element> {
        self.found.get(&address).copied()
    }

    /// Whether an instruction's result is only used in elements.
    pub(super) fn is_implied(&self, inst: InstId) -> bool {
        self.is_implied.get(inst.index()).copied().unwrap_or_default()
    }
}

/// An addition as an element of this size, and the multiplication or extension that becomes unused.
fn as_element(function: &Function, id: InstId, size: u64) -> Option<(Element, Option<ValueId>)> {
    let inst = &function.insts[id];
    if inst.op != Op::Binary(BinaryOp::Add) || size == 0 {
        return None;
    }
    let (base, offset) = (inst.args[0], inst.args[1]);
    if let Some(bytes) = function.constant_bits(offset) {
        let (bytes, step) = (bytes as i64, size as i64);
        let index = Index::Constant(bytes / step);
        return (bytes % step == 0).then_some((Element { base, index, size }, None));
    }
    let index = if size == 1 { offset } else { scaled_index(function, offset, size)? };
    let short = sign_extended_index(function, index);
    let is_folded = size != 1 || short.is_some();
    let element = Element { base, index: Index::Value(short.unwrap_or(index)), size };
    Some((element, is_folded.then_some(offset)))
}

/// The value that is multiplied by the size.
fn scaled_index(function: &Function, offset: ValueId, size: u64) -> Option<ValueId> {
    let inst = function.def(offset)?;
    let is_scaled =
        inst.op == Op::Binary(BinaryOp::Mul) && function.constant_bits(inst.args[1]) == Some(size);
    is_scaled.then(|| inst.args[0])
}

/// The value that is sign-extended. Indices are signed.
fn sign_extended_index(function: &Function, index: ValueId) -> Option<ValueId> {
    let inst = function.def(index)?;
    let is_extended = inst.op == Op::Convert(Convert::SignExtend) && function.ty(inst.args[0]) == Type::I32;
    is_extended.then(|| inst.args[0])
}
