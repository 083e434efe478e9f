//! Makes plain loads atomic that can read an object while another work-item loads it with seq_cst (R11).
//!
//! In OpenCL the two only read, so they are not a data race. On Vulkan the seq_cst load is a read-modify-write (R1), and a
//! plain load beside it is a race.

use kiln_ir::{Access, Atomic, BinaryOp, Builder, FuncId, InstId, Known, Module, Op, Scalar, Type, ValueId};
use kiln_memory::{Operation, Spaces};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Order, Scope};

use crate::{
    extent::{is_part, may_overlap},
    reach::{Indices, Pointee, Reach, Root},
    rewrite::rewrite_only,
};

/// A seq_cst load, or a compare-exchange that reads again if it fails (R5).
struct Read<'a> {
    /// The functions of its kernel.
    functions: Vec<FuncId>,
    /// The memory that its object can be in.
    spaces: Spaces,
    /// The bytes that its pointer can point to.
    pointees: &'a [Pointee],
    /// The size of its object.
    size: u64,
}

impl Read<'_> {
    /// Whether a plain load in this function can read the same object. A load of narrower pieces must be a part of the object:
    /// otherwise, the load of the whole word would race with stores to its other bytes. Only a character type or a union
    /// could access a part (C99 6.5p7).
    fn may_alias(
        &self,
        function: FuncId,
        (pointees, spaces): (&[Pointee], Spaces),
        (size, piece): (u64, u64),
    ) -> bool {
        let (is_whole, is_near) = (self.size <= piece, self.functions.contains(&function));
        !self.spaces.intersection(spaces).is_empty()
            && pointees.iter().any(|one| {
                self.pointees.iter().any(|other| match (one.root, other.root) {
                    (Root::Private(_), _) | (_, Root::Private(_)) => false,
                    // Arguments of two kernels can be one buffer, but a kernel does not contain the loads of another.
                    (Root::Unknown, _) | (_, Root::Unknown) => is_near && is_whole,
                    (one_root, other_root) => {
                        let is_read = if is_whole { may_overlap } else { is_part };
                        one_root == other_root && is_read((&one.extent, size), (&other.extent, self.size))
                    }
                })
            })
    }
}

/// Makes the loads of a module atomic.
pub(super) fn make_atomic(module: &mut Module) {
    let found = seq_cst_loads(module);
    if found.is_empty() {
        return;
    }
    let reach = Reach::find(module, Indices::Limited);
    let reads: Vec<Read<'_>> = found
        .into_iter()
        .map(|(id, inst)| {
            let function = &module.functions[id];
            let Op::Atomic(atomic) = &function.insts[inst].op else {
                unreachable!("only these were collected")
            };
            let pointees = reach.pointees(id, function.insts[inst].args[0]);
            let (spaces, size) = (function.object_spaces(inst), atomic.ty.size());
            // Functions that synchronize have been inlined into their kernels. Otherwise all count as one kernel.
            let functions = match function.kernel {
                Some(_) => module.reachable_from(id),
                None => module.functions.ids().collect(),
            };
            Read { functions, spaces, pointees, size }
        })
        .collect();
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
                let beside = reads.iter().filter(|read| read.may_alias(id, pointees, sizes));
                let sizes: Vec<u64> = beside.map(|read| read.size).collect();
                match word(ty, &sizes).and_then(|word| atomic_load(builder, load, (word, access))) {
                    Some(value) => {
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

/// The size of the atomic loads for a load of this type, beside atomic operations on objects of these sizes.
fn word(ty: Type, sizes: &[u64]) -> Option<u64> {
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

/// Loads a word with a relaxed atomic load, with the widest scope of its memory as every load beside a seq_cst operation (R3).
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
