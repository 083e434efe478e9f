//! Computes the bytes of global and constant memory that an access touches, to compare accesses.
//!
//! An address is a pointer, plus a sum of values times constants, plus a constant. Two addresses with the same pointer and the
//! same values are at a known distance. A sum of 32 bits may wrap around before it is extended; then sums with different
//! constants still differ, by an unknown number of elements.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{BinaryOp, BuiltinParam, Convert, Function, Inst, Op, Type, ValueId};
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::origins::base_and_offset;

/// The maximum number of terms in a sum. A longer sum is one value.
const TERMS: usize = 6;
/// The maximum depth of a sum.
const DEPTH: u32 = 8;

/// Bytes of global or constant memory.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Range {
    /// The number of the pointer with the variable parts.
    base: u32,
    /// The constant part of a 32-bit sum.
    element: u32,
    /// The size of an element, if the sum has 32 bits.
    stride: i64,
    start: i64,
    end: i64,
}

impl Range {
    /// Whether no byte can be in both ranges.
    pub(super) fn is_apart(&self, other: &Self) -> bool {
        let is_inside = |it: &Self| it.start >= 0 && it.end <= it.stride;
        self.base == other.base
            && if self.element == other.element {
                self.end <= other.start || other.end <= self.start
            } else {
                is_inside(self) && is_inside(other)
            }
    }

    /// Whether this range contains all bytes of another.
    pub(super) fn contains(&self, other: &Self) -> bool {
        (self.base, self.element) == (other.base, other.element)
            && self.start <= other.start
            && other.end <= self.end
    }
}

/// What an instruction does to global and constant memory.
pub(super) enum Effect {
    None,
    Load(Range),
    Store(Range),
    /// A volatile access, or any other operation on memory.
    Any,
}

/// The pointers with variable parts of a function, by number.
#[derive(Default)]
pub(super) struct Addresses(FxHashMap<Base, u32>);

/// A pointer with the variable parts of an offset from it.
#[derive(PartialEq, Eq, Hash)]
struct Base {
    pointer: ValueId,
    terms: Terms,
    stride: u64,
    /// Whether a 32-bit sum is sign-extended. `None` for a 64-bit sum.
    extension: Option<bool>,
}

/// Values, each with its factor.
type Terms = SmallVec<[(ValueId, u64); 4]>;

impl Addresses {
    /// The effect of an instruction other than a construct.
    pub(super) fn effect(&mut self, function: &Function, inst: &Inst) -> Effect {
        let (access, ty, is_store) = match &inst.op {
            Op::Load(access) => (access, function.ty(inst.results[0]), false),
            Op::Store(access) => (access, function.ty(inst.args[1]), true),
            op if op.is_pure() || op.is_terminator() || is_arithmetic(op) => return Effect::None,
            _ => return Effect::Any,
        };
        match (function.ty(inst.args[0]), ty.size()) {
            (Type::Pointer(AddressSpace::Global | AddressSpace::Constant), Some(size))
                if !access.is_volatile =>
            {
                let range = self.range(function, inst.args[0], size as i64);
                if is_store { Effect::Store(range) } else { Effect::Load(range) }
            }
            (Type::Pointer(AddressSpace::Local | AddressSpace::Private), _) => Effect::None,
            _ => Effect::Any,
        }
    }

    fn range(&mut self, function: &Function, pointer: ValueId, size: i64) -> Range {
        let (mut pointer, mut start) = base_and_offset(function, pointer);
        let mut base = Base { pointer, terms: Terms::new(), stride: 0, extension: None };
        let mut element = 0;
        if let Some(inst) = function.def(pointer)
            && let Op::Offset { stride, .. } = inst.op
        {
            let (inner, before) = base_and_offset(function, inst.args[0]);
            (pointer, start) = (inner, start.wrapping_add(before));
            let mut index = inst.args[1];
            let mut extension = (function.ty(index) == Type::I32).then_some(true);
            if let Some(Inst {
                op: Op::Convert(convert @ (Convert::SignExtend | Convert::ZeroExtend)),
                args,
                ..
            }) = function.def(index)
                && function.ty(args[0]) == Type::I32
            {
                (index, extension) = (args[0], Some(*convert == Convert::SignExtend));
            }
            let mut sum = Sum { terms: Terms::new(), constant: 0 };
            sum.add(function, index, 1, DEPTH);
            if extension.is_some() {
                sum.terms.iter_mut().for_each(|(_, factor)| *factor &= u64::from(u32::MAX));
                element = sum.constant as u32;
            } else {
                start = start.wrapping_add((sum.constant.wrapping_mul(stride)) as i64);
            }
            sum.terms.retain(|(_, factor)| *factor != 0);
            sum.terms.sort_unstable_by_key(|(value, _)| value.index());
            base = Base { pointer, terms: sum.terms, stride, extension };
        }
        let stride = if base.extension.is_some() { base.stride as i64 } else { 0 };
        let next = self.0.len() as u32;
        let base = *self.0.entry(base).or_insert(next);
        Range { base, element, stride, start, end: start.saturating_add(size) }
    }
}

/// A sum of integers, modulo 2^64.
struct Sum {
    terms: Terms,
    constant: u64,
}

impl Sum {
    fn add(&mut self, function: &Function, value: ValueId, factor: u64, depth: u32) {
        if let Some(bits) = function.constant_bits(value) {
            self.constant = self.constant.wrapping_add(bits.wrapping_mul(factor));
            return;
        }
        if depth > 0
            && self.terms.len() < TERMS
            && let Some(inst) = function.def(value)
            && let Op::Binary(op) | Op::Exact(op) = inst.op
        {
            let constant = |index: usize| function.constant_bits(inst.args[index]);
            match (op, constant(0), constant(1)) {
                (BinaryOp::Add | BinaryOp::Sub, ..) => {
                    let right = if op == BinaryOp::Sub { factor.wrapping_neg() } else { factor };
                    self.add(function, inst.args[0], factor, depth - 1);
                    self.add(function, inst.args[1], right, depth - 1);
                    return;
                }
                (BinaryOp::Mul, None, Some(bits)) => {
                    return self.add(function, inst.args[0], factor.wrapping_mul(bits), depth - 1);
                }
                (BinaryOp::Mul, Some(bits), None) => {
                    return self.add(function, inst.args[1], factor.wrapping_mul(bits), depth - 1);
                }
                (BinaryOp::Shl, None, Some(bits)) if bits < 32 => {
                    return self.add(function, inst.args[0], factor << bits, depth - 1);
                }
                _ => {}
            }
        }
        match self.terms.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known = known.wrapping_add(factor),
            None => self.terms.push((value, factor)),
        }
    }
}

/// Whether this calls a built-in function with only numeric parameters, which therefore accesses no memory.
pub(super) fn is_arithmetic(op: &Op) -> bool {
    let Op::Builtin(id, params) = op else { return false };
    matches!(builtins::row(*id).lowering, Lowering::Library(_))
        && params.iter().all(|param| matches!(param, BuiltinParam::Value(..)))
}
