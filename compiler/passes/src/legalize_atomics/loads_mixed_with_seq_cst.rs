//! Makes a plain load atomic if another work-item can load the same object with seq_cst at the same time (R11).
//!
//! In OpenCL both loads only read, so they are not a data race. On Vulkan the seq_cst load is a read-modify-write (R1), and a
//! plain load at the same time is a race.

use kiln_ir::{Access, Atomic, BinaryOp, Builder, FuncId, InstId, Known, Module, Op, Scalar, Type, ValueId};
use kiln_memory::{MappingRule, Operation, Spaces};
use kiln_session::diag::Sink;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Order, Scope};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    offset_set::{OffsetSet, is_part, may_overlap},
    reach::{Indices, Pointee, Reach, Root},
    rewrite::rewrite_only,
};

/// The memory that an object can be in, and its size.
type Kind = (Spaces, u64);

/// The seq_cst loads of a module, and the compare-exchanges that read again if they fail (R5).
#[derive(Default)]
struct Reads {
    /// The bytes that these operations can read in each known object.
    known: FxHashMap<Root, FxHashSet<(OffsetSet, Kind)>>,
    /// The objects that the kernel of each function reads.
    near: FxHashMap<FuncId, FxHashSet<Kind>>,
    /// The objects that the kernel of each function reads through pointers that can point to any object.
    near_unknown: FxHashMap<FuncId, FxHashSet<Kind>>,
}

impl Reads {
    fn find(module: &Module, found: &[(FuncId, InstId)], reach: &Reach) -> Self {
        let mut reads = Self::default();
        let kernels = module.roots();
        let mut functions: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
        let mut noted = FxHashSet::default();
        for &(id, inst) in found {
            let function = &module.functions[id];
            let Op::Atomic(atomic) = &function.insts[inst].op else {
                unreachable!("only these were collected")
            };
            let kind = (function.object_spaces(inst), atomic.ty.size());
            for pointee in reach.pointees(id, function.insts[inst].args[0]) {
                let is_unknown = pointee.root == Root::Unknown;
                match pointee.root {
                    Root::Private(_) => continue,
                    Root::Unknown => {}
                    root => {
                        reads.known.entry(root).or_default().insert((pointee.offsets.clone(), kind));
                    }
                }
                for &kernel in &kernels[id.index()] {
                    if noted.insert((kernel, kind, is_unknown)) {
                        let functions =
                            functions.entry(kernel).or_insert_with(|| module.reachable_from(kernel));
                        reads.note_near(functions, kind, is_unknown);
                    }
                }
            }
        }
        reads
    }

    fn note_near(&mut self, functions: &[FuncId], kind: Kind, is_unknown: bool) {
        for &function in functions {
            self.near.entry(function).or_default().insert(kind);
            if is_unknown {
                self.near_unknown.entry(function).or_default().insert(kind);
            }
        }
    }

    /// The sizes of the objects that a plain load in this function can also read. A load of narrower pieces must be a part of
    /// the object: otherwise, the load of the whole word would race with stores to its other bytes. Only a character type or
    /// a union could access a part (C99 6.5p7).
    fn sizes_beside(
        &self,
        function: FuncId,
        (pointees, spaces): (&[Pointee], Spaces),
        (size, piece): (u64, u64),
    ) -> SmallVec<[u64; 4]> {
        let mut sizes = SmallVec::new();
        let mut add = |(memory, word): Kind, may_be: &dyn Fn() -> bool| {
            if !sizes.contains(&word) && !memory.intersection(spaces).is_empty() && may_be() {
                sizes.push(word);
            }
        };
        for pointee in pointees {
            // Arguments of two kernels can be one buffer, but a kernel does not contain the loads of another.
            let near = match pointee.root {
                Root::Private(_) => continue,
                Root::Unknown => &self.near,
                _ => &self.near_unknown,
            };
            for &kind in near.get(&function).into_iter().flatten() {
                add(kind, &|| kind.1 <= piece);
            }
            for (offsets, kind) in self.known.get(&pointee.root).into_iter().flatten() {
                let is_read = if kind.1 <= piece { may_overlap } else { is_part };
                add(*kind, &|| is_read((&pointee.offsets, size), (offsets, kind.1)));
            }
        }
        sizes
    }
}

/// Makes the loads of a module atomic, and records the rule.
pub(super) fn make_atomic(module: &mut Module, sink: &mut Sink) {
    let found = seq_cst_loads(module);
    if found.is_empty() {
        return;
    }
    let reach = Reach::find(module, Indices::Limited);
    let reads = Reads::find(module, &found, &reach);
    for id in module.functions.ids().collect::<Vec<_>>() {
        let function = &mut module.functions[id];
        rewrite_only(
            function,
            |op| matches!(op, Op::Load(_)),
            |builder, load, replaced| {
                let inst = &builder.function.insts[load];
                let Op::Load(access) = inst.op else { return builder.insert(load) };
                let (pointer, result) = (inst.args[0], inst.results[0]);
                let ty = builder.ty(result);
                let spaces = builder.function.object_spaces(load);
                let size = ty.scalar().map_or(8, Scalar::size) * u64::from(ty.count());
                let pointees = (reach.pointees(id, pointer), spaces);
                let sizes = (size, piece_size(ty, access));
                let sizes = reads.sizes_beside(id, pointees, sizes);
                match atomic_load_size(ty, &sizes).and_then(|word| atomic_load(builder, load, (word, access)))
                {
                    Some(value) => {
                        let span = builder.function.insts[load].span;
                        sink.record_mapping(span, &[MappingRule::AtomicLoads]);
                        replaced.insert(result, value);
                    }
                    None => builder.insert(load),
                }
            },
        );
    }
}

/// The operations whose replacement writes although they only read.
fn seq_cst_loads(module: &Module) -> Vec<(FuncId, InstId)> {
    let mut found = Vec::new();
    for (id, function) in module.functions.entries() {
        if !function.may_contain(|op| matches!(op, Op::Atomic(_))) {
            continue;
        }
        for inst in function.inst_order() {
            let object = function.object_spaces(inst);
            let Some((Operation::Atomic(..), sync)) = function.insts[inst].op.synchronization(object) else {
                continue;
            };
            let Op::Atomic(atomic) = &function.insts[inst].op else { continue };
            let writes = match atomic.op {
                AtomicOp::Load => sync.order == Order::SeqCst,
                AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => {
                    sync.order == Order::SeqCst && sync.failure.is_none_or(|order| order == Order::SeqCst)
                }
                _ => false,
            };
            if writes {
                found.push((id, inst));
            }
        }
    }
    found
}

/// The size of the atomic loads for a load of this type that is mixed with atomic operations on objects of these sizes.
fn atomic_load_size(ty: Type, sizes: &[u64]) -> Option<u64> {
    let own = ty.scalar().map_or(8, Scalar::size);
    if sizes.contains(&own) { Some(own) } else { sizes.iter().copied().max() }
}

/// The size of the parts of a value that are aligned to their sizes.
fn piece_size(ty: Type, access: Access) -> u64 {
    ty.scalar().map_or(8, Scalar::size).min(access.align.into())
}

/// Loads a value with relaxed atomic loads of integers of this size. `None` for parts of words in local memory, which
/// `lower_to_logical_pointers` loads atomically.
fn atomic_load(builder: &mut Builder<'_>, load: InstId, (word, access): (u64, Access)) -> Option<ValueId> {
    let inst = &builder.function.insts[load];
    let (pointer, ty) = (inst.args[0], builder.ty(inst.results[0]));
    let scalar = ty.scalar().unwrap_or(Scalar::I64);
    let piece = piece_size(ty, access).min(word);
    if piece < word && builder.ty(pointer) == Type::Pointer(AddressSpace::Local) {
        return None;
    }
    let int = Scalar::int_of_size(scalar.size());
    let mut components = Vec::new();
    for component in 0..u64::from(ty.count()) {
        let mut value = None;
        for byte in (0..scalar.size()).step_by(piece as usize) {
            let address = builder.offset_bytes(pointer, (component * scalar.size() + byte) as i64);
            let part = if piece == word {
                load_word(builder, address, word, access)
            } else {
                load_part(builder, address, (word, piece), access)
            };
            let part = builder.resize(part, int, false);
            value = Some(match value {
                None => part,
                Some(low) => {
                    let high = builder.binary_bits(BinaryOp::Shl, part, 8 * byte);
                    builder.binary(BinaryOp::Or, low, high)
                }
            });
        }
        let value = value?;
        components.push(if ty.is_pointer() { value } else { builder.bitcast(value, Type::Scalar(scalar)) });
    }
    Some(match ty {
        _ if ty.is_pointer() => builder.value(Op::IntToPointer, &components, ty),
        _ if ty.is_vector() => builder.construct(&components, ty),
        _ => components[0],
    })
}

/// Loads a word with a relaxed atomic load, with the widest scope of its memory as every load of an object with seq_cst operations (R3).
fn load_word(builder: &mut Builder<'_>, pointer: ValueId, size: u64, access: Access) -> ValueId {
    let ty = Scalar::int_of_size(size);
    let scope = match builder.ty(pointer) {
        Type::Pointer(AddressSpace::Local) => Scope::WorkGroup,
        _ => Scope::Device,
    };
    let load = Atomic {
        ty,
        scope: Known::Constant(scope),
        is_volatile: access.is_volatile,
        ..Atomic::counting(AtomicOp::Load)
    };
    builder.value(Op::Atomic(load), &[pointer], Type::Scalar(ty))
}

/// Loads a part of a word.
fn load_part(
    builder: &mut Builder<'_>,
    pointer: ValueId,
    (word, part): (u64, u64),
    access: Access,
) -> ValueId {
    let ty = builder.ty(pointer);
    let address = builder.value(Op::PointerToInt, &[pointer], Type::I64);
    let start = builder.binary_bits(BinaryOp::And, address, !(word - 1));
    let start = builder.value(Op::IntToPointer, &[start], ty);
    let whole = load_word(builder, start, word, access);
    let inside = builder.binary_bits(BinaryOp::And, address, word - 1);
    let shift = builder.binary_bits(BinaryOp::Mul, inside, 8);
    let shift = builder.resize(shift, Scalar::int_of_size(word), false);
    let low = builder.binary(BinaryOp::LShr, whole, shift);
    builder.resize(low, Scalar::int_of_size(part), false)
}
