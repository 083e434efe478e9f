//! Expands copies and clears into loads and stores that the target has: unrolled if short, otherwise as loops.
//! Vectors of 8 and 16 components are moved in parts. Accesses keep their known alignment, so that `vectorize_accesses`
//! can combine them.

use kiln_ir::{Access, BinaryOp, Builder, CompareKind, Function, Op, Scalar, Type, ValueId, VarId};
use kiln_session::Options;
use kiln_types::ops::{CompareOp, LoopHints};
use rustc_hash::FxHashMap;

use crate::{origins::start, rewrite::rewrite_only, split_vectors::is_wide};

/// The maximum number of unrolled accesses of a clear.
const MAX_UNROLLED_CLEAR: u64 = 16;

/// The maximum number of unrolled accesses of a copy. Larger than for a clear, because a structure that is only copied to
/// a variable and back then needs no memory.
const MAX_UNROLLED_COPY: u64 = 64;

/// The size of the largest piece in bytes, unless all elements of a private object are larger.
const MAX_WORD: u64 = 4;

/// The maximum number of unrolled pieces that are loaded before the first is stored: 64 bytes, in few registers.
const MAX_LIVE_PIECES: usize = 16;

/// The number of scalars that a loop iteration moves, as one vector. Unrolled accesses are scalar, so that `promote` can
/// turn their variables into values. It cannot promote variables that a loop accesses.
const ACCESSES_PER_ROUND: u64 = 4;

pub(super) fn expand_memory(function: &mut Function, _: &Options) {
    let elements = narrowest_elements(function);
    let is_access = |op: &Op| matches!(op, Op::Copy { .. } | Op::Zero { .. } | Op::Load(_) | Op::Store(_));
    rewrite_only(function, is_access, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        match inst.op {
            Op::Copy { size, access } => {
                let read = |builder: &mut Builder<'_>, piece: Piece| {
                    let from = builder.offset(inst.args[1], piece.index, piece.stride);
                    builder.load(from, piece.ty, piece.access)
                };
                store_pieces(builder, (size, access, MAX_WORD), MAX_UNROLLED_COPY, read, inst.args[0]);
            }
            Op::Zero { size, access } => {
                let zero = |builder: &mut Builder<'_>, piece: Piece| builder.bits(piece.ty, 0);
                let object = private_object(builder.function, inst.args[0]);
                let widest = object.and_then(|var| elements.get(&var)).copied().unwrap_or(MAX_WORD);
                store_pieces(builder, (size, access, widest), MAX_UNROLLED_CLEAR, zero, inst.args[0]);
            }
            Op::Load(access) if is_wide(builder.ty(inst.results[0])) => {
                let ty = builder.ty(inst.results[0]);
                let parts: Vec<ValueId> = vector_parts(ty, access)
                    .map(|(_, offset, part, access)| {
                        let address = builder.offset_bytes(inst.args[0], offset);
                        builder.load(address, part, access)
                    })
                    .collect();
                replaced.insert(inst.results[0], builder.construct(&parts, ty));
            }
            Op::Store(access) if is_wide(builder.ty(inst.args[1])) => {
                let (value, ty) = (inst.args[1], builder.ty(inst.args[1]));
                for (first, offset, _, access) in vector_parts(ty, access) {
                    let part = builder.shuffle(value, value, &[first, first + 1, first + 2, first + 3]);
                    let address = builder.offset_bytes(inst.args[0], offset);
                    builder.store(address, part, access);
                }
            }
            _ => builder.insert(id),
        }
    });
}

/// For each private object that is cleared, the size of the narrowest scalar in it that is loaded or stored: a clear with
/// other pieces would write parts of its elements, or several at once.
fn narrowest_elements(function: &Function) -> FxHashMap<VarId, u64> {
    let mut narrowest = FxHashMap::default();
    if !function.may_contain(|op: &Op| matches!(op, Op::Zero { .. })) {
        return narrowest;
    }
    for id in function.inst_order() {
        let inst = &function.insts[id];
        let ty = match inst.op {
            Op::Load(_) => function.ty(inst.results[0]),
            Op::Store(_) => function.ty(inst.args[1]),
            _ => continue,
        };
        if let Some(var) = private_object(function, inst.args[0]) {
            let size = ty.scalar().map_or(MAX_WORD, Scalar::size);
            narrowest.entry(var).and_modify(|known: &mut u64| *known = size.min(*known)).or_insert(size);
        }
    }
    narrowest
}

/// The private object that a pointer points into, if only arithmetic leads to it.
fn private_object(function: &Function, pointer: ValueId) -> Option<VarId> {
    match function.def(start(function, pointer))?.op {
        Op::PrivateVar(var) => Some(var),
        _ => None,
    }
}

/// The parts of a wide vector in memory: the first component, byte offset, type and access of each.
fn vector_parts(ty: Type, access: Access) -> impl Iterator<Item = (u8, i64, Type, Access)> {
    let part = ty.with_count(4);
    let size = part.size().unwrap_or(4);
    (0..ty.count() / 4).map(move |number| {
        let offset = size * u64::from(number);
        (4 * number, offset as i64, part, access.at_offset(offset))
    })
}

/// A piece of a memory range.
#[derive(Clone, Copy)]
struct Piece {
    index: ValueId,
    ty: Type,
    /// The stride of the index in bytes.
    stride: u64,
    access: Access,
}

/// Stores the result of `read` for each piece of a memory range. Reads several unrolled pieces before it stores them, which
/// is correct because the ranges of a copy are disjoint or equal.
fn store_pieces(
    builder: &mut Builder<'_>,
    (size, access, widest): (u64, Access, u64),
    max_unrolled: u64,
    read: impl Fn(&mut Builder<'_>, Piece) -> ValueId,
    to: ValueId,
) {
    let store = |builder: &mut Builder<'_>, piece: Piece, value: ValueId| {
        let address = builder.offset(to, piece.index, piece.stride);
        builder.store(address, value, piece.access);
    };
    let mut done = 0;
    for step in [8, 4, 2, 1] {
        if step > widest || u64::from(access.align) % step != 0 {
            continue;
        }
        let ty = Type::Scalar(Scalar::int_of_size(step));
        let count = (size - done) / step;
        if count > max_unrolled {
            let rounds = count / ACCESSES_PER_ROUND;
            repeat(builder, rounds, |builder, index| {
                let stride = step * ACCESSES_PER_ROUND;
                let ty = ty.with_count(ACCESSES_PER_ROUND as u8);
                let piece = Piece { index, ty, stride, access: access.at_offset(stride) };
                let value = read(builder, piece);
                store(builder, piece, value);
            });
            done += rounds * ACCESSES_PER_ROUND * step;
        }
        let pieces: Vec<Piece> = (done / step..size / step)
            .map(|number| {
                let index = builder.i32(number as i32);
                Piece { index, ty, stride: step, access: access.at_offset(number * step) }
            })
            .collect();
        for pieces in pieces.chunks(MAX_LIVE_PIECES) {
            let values: Vec<ValueId> = pieces.iter().map(|&piece| read(builder, piece)).collect();
            pieces.iter().zip(values).for_each(|(&piece, value)| store(builder, piece, value));
        }
        done = size / step * step;
    }
}

/// Builds a loop with this number of iterations, at least one.
fn repeat(builder: &mut Builder<'_>, rounds: u64, round: impl FnOnce(&mut Builder<'_>, ValueId)) {
    let first = builder.i32(0);
    let open = builder.open_loop(&[first], &[Type::I32], &[], LoopHints::default());
    let after = builder.insertion_point();
    let index = builder.function.blocks[open.body].params[0];
    builder.at_end(open.body);
    round(builder, index);
    let one = builder.i32(1);
    let next = builder.binary(BinaryOp::Add, index, one);
    let limit = builder.i32(rounds as i32);
    let more = builder.compare(CompareOp::Less, CompareKind::Unsigned, next, limit);
    let test = builder.open_if(more, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    builder.continue_loop(open.inst, &[next]);
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &[]);
    builder.close_loop(&open, after);
}
