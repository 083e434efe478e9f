//! Splits private objects into parts that are accessed independently (LLVM: SROA).
//!
//! `promote` leaves a whole object in memory if the index of one access is unknown. Here each member, and each range of elements
//! that no access crosses, becomes a variable. Most of them are then indexed by constants only, and `promote` turns them into
//! values. An array of structures becomes an array for each member. The remaining arrays have elements of one type, unless
//! the source accesses the same bytes with several types.

use std::collections::BTreeMap;

use kiln_ir::{Access, Builder, Function, InstId, Op, Type, ValueId, Var, VarId};
use kiln_session::Options;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    offset_set::{Addend, OffsetSet, Term},
    origins::constant_offset,
    ranges::{Range, Rebase, Use},
    rewrite::rewrite_only,
};

/// The maximum number of rounds. A copy between two objects that are both split needs another round.
const ROUNDS: usize = 4;

pub(super) fn split_private_objects(function: &mut Function, options: &Options) {
    // A debugger shows objects as in the source, and a bounds check keeps an access in its object only.
    if options.keep_variables || options.bounds_checks {
        return;
    }
    for _ in 0..ROUNDS {
        if !split_objects(function) {
            break;
        }
    }
}

/// Runs one round. Returns whether it split an object.
fn split_objects(function: &mut Function) -> bool {
    if !function.may_contain(|op: &Op| matches!(op, Op::PrivateVar(_))) {
        return false;
    }
    let pointers = Pointers::find(function);
    let mut taken: FxHashSet<InstId> = FxHashSet::default();
    let mut rewrites: FxHashMap<InstId, Rewrite> = FxHashMap::default();
    for (var, object) in &pointers.objects {
        if !object.is_indexed || object.is_rejected || object.copies.iter().any(|it| taken.contains(it)) {
            continue;
        }
        let Some(parts) = object.parts(function.vars[*var].size) else { continue };
        taken.extend(&object.copies);
        let original = function.vars[*var].clone();
        let mut split = Vec::new();
        for range in parts {
            let shape = (range.size.unwrap_or(original.size), original.align);
            let part = Var::new(&original.name, AddressSpace::Private, shape, original.span);
            split.push(Part { var: function.vars.push(part), range });
        }
        for part in &split {
            for one in &part.range.uses {
                let (inst, arg) = object.accesses[one.number];
                let pointer = pointers.known[&function.insts[inst].args[arg]].moved(&part.range.steps);
                rewrites.insert(inst, Rewrite::Access { arg, var: part.var, pointer });
            }
        }
        for block in &object.blocks {
            let mut pieces: Vec<Piece> = split.iter().filter_map(|part| part.overlap(block)).collect();
            pieces.sort_by_key(|piece| piece.before);
            rewrites.insert(block.inst, Rewrite::Pieces { arg: block.arg, pieces });
        }
    }
    if rewrites.is_empty() {
        return false;
    }
    let is_access = |op: &Op| {
        matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Copy { .. } | Op::Zero { .. })
    };
    rewrite_only(function, is_access, |builder, id, _| match rewrites.get(&id) {
        None => builder.insert(id),
        Some(Rewrite::Access { arg, var, pointer }) => {
            let pointer = pointer.build(builder, *var);
            builder.function.insts[id].args[*arg] = pointer;
            builder.insert(id);
        }
        Some(Rewrite::Pieces { arg, pieces }) => {
            for piece in pieces {
                piece.build(builder, id, *arg);
            }
        }
    });
    true
}

/// How an instruction is rewritten.
enum Rewrite {
    /// The argument with this index points into this variable.
    Access { arg: usize, var: VarId, pointer: Pointer },
    /// A copy or a clear becomes one for each part that it covers. The argument with this index pointed to the object.
    Pieces { arg: usize, pieces: Vec<Piece> },
}

/// A part of an object, and its variable.
struct Part {
    var: VarId,
    range: Range,
}

impl Part {
    /// The piece of a copy or a clear that falls into the part.
    fn overlap(&self, block: &Block) -> Option<Piece> {
        let Some((first, end)) = self.range.bounds() else {
            // An object with folded parts is only cleared, and as a whole.
            return Some(Piece { var: self.var, at: 0, before: 0, size: self.range.size? });
        };
        let start = end - self.range.size?;
        let (low, high) = (first.max(block.offset), end.min(block.offset + block.size));
        (low < high).then(|| Piece {
            var: self.var,
            at: low - start,
            before: low - block.offset,
            size: high - low,
        })
    }
}

/// A piece of a copy or a clear.
struct Piece {
    var: VarId,
    /// Its offset in the variable.
    at: u64,
    /// Its offset in the copy or clear.
    before: u64,
    size: u64,
}

impl Piece {
    fn build(&self, builder: &mut Builder<'_>, id: InstId, arg: usize) {
        let inst = builder.function.insts[id].clone();
        let var = builder.private_var(self.var);
        let own = builder.offset_bytes(var, self.at as i64);
        match inst.op {
            Op::Zero { access, .. } => {
                let access = access.at_offset(self.before);
                builder.inst(Op::Zero { size: self.size, access }, &[own], &[]);
            }
            Op::Copy { access, .. } => {
                let other = builder.offset_bytes(inst.args[1 - arg], self.before as i64);
                let args = if arg == 0 { [own, other] } else { [other, own] };
                let access = access.at_offset(self.before);
                builder.inst(Op::Copy { size: self.size, access }, &args, &[]);
            }
            _ => unreachable!("only copies and clears have pieces"),
        }
    }
}

/// A pointer into a private object: constant bytes, and steps of unknown indices.
#[derive(Clone)]
struct Pointer {
    var: VarId,
    offset: i64,
    indices: SmallVec<[Index; 2]>,
    /// All offsets that it can have.
    offsets: OffsetSet,
    /// The step past the end of the array whose element it points to (C99 6.5.6).
    past_end: Option<Term>,
}

/// A step of a pointer.
#[derive(Clone, Copy)]
struct Index {
    value: ValueId,
    stride: u64,
    /// The length of the array.
    count: Option<u32>,
}

impl Pointer {
    fn advanced(&self, function: &Function, index: ValueId, stride: u64, count: Option<u32>) -> Self {
        let mut next = Self { past_end: None, ..self.clone() };
        let step = if let Some(bytes) = constant_offset(function, index, stride) {
            next.offset = next.offset.saturating_add(bytes);
            Addend::Bytes(bytes)
        } else {
            next.indices.push(Index { value: index, stride, count });
            next.past_end = count.map(|_| Term { stride, count: Some(2) });
            Addend::Index(Term { stride, count: count.map(u64::from) })
        };
        next.offsets = self.offsets.advanced(step, self.past_end);
        next
    }

    /// Converts the pointer to a pointer into the part of the object that these steps lead to.
    fn moved(&self, steps: &[Rebase]) -> Self {
        let mut moved = self.clone();
        for step in steps {
            match *step {
                Rebase::Skip(bytes) => moved.offset -= bytes as i64,
                Rebase::Fold { period, start, length } => {
                    let whole = moved.offset.div_euclid(period as i64);
                    let inside = moved.offset.rem_euclid(period as i64);
                    moved.offset = whole * length as i64 + inside - start as i64;
                    for index in &mut moved.indices {
                        if index.stride.is_multiple_of(period) {
                            index.stride = index.stride / period * length;
                        }
                    }
                }
            }
        }
        moved
    }

    fn build(&self, builder: &mut Builder<'_>, var: VarId) -> ValueId {
        let mut pointer = builder.private_var(var);
        let ty = builder.ty(pointer);
        for &Index { value, stride, count } in &self.indices {
            pointer = builder.value(Op::Offset { stride, count }, &[pointer, value], ty);
        }
        builder.offset_bytes(pointer, self.offset)
    }
}

/// The uses of a private object.
#[derive(Default)]
struct Object {
    /// Its accesses, except for `blocks`: the instruction, and which argument points to the object.
    accesses: Vec<(InstId, usize)>,
    /// The offsets and sizes of `accesses`, in the same order.
    uses: Vec<Use>,
    /// Copies and clears at known offsets.
    blocks: Vec<Block>,
    /// All copies.
    copies: Vec<InstId>,
    /// Whether an index is unknown.
    is_indexed: bool,
    /// Whether there are uses that need the whole object.
    is_rejected: bool,
}

/// A copy or a clear of a part of an object.
struct Block {
    inst: InstId,
    /// The index of the argument that points to the object.
    arg: usize,
    is_copy: bool,
    offset: u64,
    size: u64,
}

impl Object {
    /// The parts of the object, if there are several.
    fn parts(&self, size: u64) -> Option<Vec<Range>> {
        let whole = Range { steps: SmallVec::new(), size: Some(size), uses: self.uses.clone() };
        // Pieces of a copy are contiguous, but a folded part is not contiguous in the object.
        let has_copies = self.blocks.iter().any(|block| block.is_copy);
        let is_cleared_whole = self.blocks.iter().all(|block| block.offset == 0 && block.size == size);
        let may_fold = !has_copies && is_cleared_whole;
        let mut parts = whole.split(may_fold, |_| true);
        if parts.len() == 1 {
            return None;
        }
        if self.blocks.iter().any(|block| block.is_copy && block.arg == 1) {
            parts.extend(gaps_between(&parts, size));
        }
        Some(parts)
    }
}

/// The bytes outside of all parts, which only copies read.
fn gaps_between(parts: &[Range], size: u64) -> Vec<Range> {
    let mut covered: Vec<(u64, u64)> = parts.iter().filter_map(Range::bounds).collect();
    covered.push((size, size));
    covered.sort_unstable();
    let (mut gaps, mut end) = (Vec::new(), 0);
    for (low, high) in covered {
        if low > end {
            let steps = std::iter::once(Rebase::Skip(end)).filter(|_| end > 0).collect();
            gaps.push(Range { steps, size: Some(low - end), uses: Vec::new() });
        }
        end = end.max(high);
    }
    gaps
}

/// The pointers into private objects, and the uses of the objects.
#[derive(Default)]
struct Pointers {
    known: FxHashMap<ValueId, Pointer>,
    objects: BTreeMap<VarId, Object>,
}

impl Pointers {
    fn find(function: &Function) -> Self {
        let mut pointers = Self::default();
        for id in function.inst_order() {
            let inst = &function.insts[id];
            match inst.op {
                // The caller can observe variables that it passes.
                Op::PrivateVar(var) if function.vars[var].parameter.is_none() => {
                    let offsets = OffsetSet::start();
                    let start = Pointer { var, offset: 0, indices: SmallVec::new(), offsets, past_end: None };
                    pointers.known.insert(inst.results[0], start);
                }
                Op::Offset { stride, count } => {
                    if let Some(base) = pointers.known.get(&inst.args[0]) {
                        let next = base.advanced(function, inst.args[1], stride, count);
                        pointers.known.insert(inst.results[0], next);
                    }
                }
                Op::PointerCast => {
                    if let Some(base) = pointers.known.get(&inst.args[0]).cloned() {
                        pointers.known.insert(inst.results[0], base);
                    }
                }
                Op::Load(access) => {
                    pointers.record_access(id, inst.args[0], function.ty(inst.results[0]), access.align);
                }
                Op::Store(access) => {
                    pointers.record_access(id, inst.args[0], function.ty(inst.args[1]), access.align);
                    pointers.reject_object(inst.args[1]);
                }
                Op::Atomic(ref atomic) => {
                    let ty = Type::Scalar(atomic.ty);
                    pointers.record_access(id, inst.args[0], ty, atomic.ty.size() as u32);
                    inst.args[1..].iter().for_each(|&arg| pointers.reject_object(arg));
                }
                Op::Zero { size, access } => {
                    pointers.record_block((id, 0, false), inst.args[0], size, access)
                }
                Op::Copy { size, access } => {
                    let var = |arg: usize| Some(pointers.known.get(&inst.args[arg])?.var);
                    if var(0) == var(1) {
                        pointers.reject_object(inst.args[0]);
                    }
                    for arg in 0..2 {
                        pointers.record_block((id, arg, true), inst.args[arg], size, access);
                    }
                }
                _ if inst.op.is_numeric() => {}
                _ => inst.args.iter().for_each(|&arg| pointers.reject_object(arg)),
            }
        }
        pointers
    }

    /// Records a load, a store or an atomic operation.
    fn record_access(&mut self, inst: InstId, pointer: ValueId, ty: Type, align: u32) {
        let scalar = ty.scalar().map_or(8, |scalar| scalar.size());
        self.record_use((inst, 0), pointer, scalar * u64::from(ty.count()), u64::from(align).min(scalar));
    }

    /// Records a copy or a clear.
    fn record_block(&mut self, at: (InstId, usize, bool), pointer: ValueId, size: u64, access: Access) {
        let (inst, arg, is_copy) = at;
        let Some(known) = self.known.get(&pointer) else { return };
        let object = self.objects.entry(known.var).or_default();
        if is_copy {
            object.copies.push(inst);
        }
        match u64::try_from(known.offset) {
            Ok(offset) if known.indices.is_empty() => {
                object.blocks.push(Block { inst, arg, is_copy, offset, size });
            }
            _ => self.record_use((inst, arg), pointer, size, u64::from(access.align).min(8)),
        }
    }

    fn record_use(&mut self, at: (InstId, usize), pointer: ValueId, size: u64, widest: u64) {
        let Some(known) = self.known.get(&pointer) else { return };
        let object = self.objects.entry(known.var).or_default();
        object.is_indexed |= !known.indices.is_empty();
        let number = object.accesses.len();
        object.uses.push(Use { number, offsets: known.offsets.clone(), size, widest });
        object.accesses.push(at);
    }

    fn reject_object(&mut self, value: ValueId) {
        if let Some(known) = self.known.get(&value) {
            self.objects.entry(known.var).or_default().is_rejected = true;
        }
    }
}
