//! Builds the replacement selected by `memory::replacement` for every operation of a module (rules R1 to R7).

use super::{Known, Op, Spaces, Sync, fence_op, hidden_word, object_of, set, synchronisation, synchronises};
use kiln_ir::{Atomic, Builder, CompareKind, InstId, Module, Scalar, Type, ValueId, VarId};
use kiln_memory::{self as memory, Access, Operation, Replacement, Surroundings};
use kiln_types::ops::{CompareOp, LoopHints};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Environment, FetchKey, Order};

use crate::rewrite::rewrite_only;

/// Rewrites every operation of the module.
pub(super) fn construct(module: &mut Module) {
    let program = Program::survey(module);
    let word = program.has_seq_cst_fence.then(|| hidden_word(module));
    for function in module.functions.iter_mut() {
        rewrite_only(function, synchronises, |builder, id, replaced| {
            let object = object_of(builder.function, id);
            let op = &builder.function.insts[id].op;
            let Some((operation, sync)) = synchronisation(op, object) else { return builder.insert(id) };
            let around = program.around(operation);
            let result = builder.function.insts[id].results.first().copied();
            match memory::replacement(Environment::Vulkan, operation, sync, &around) {
                Replacement::Same(sync) => {
                    set(&mut builder.function.insts[id].op, sync);
                    builder.insert(id);
                }
                Replacement::LoadAsModify(sync) => {
                    let value = reread(builder, id, sync);
                    replaced.extend(result.map(|result| (result, value)));
                }
                Replacement::StoreAsExchange(sync) => store_as_exchange(builder, id, sync),
                Replacement::CompareExchange { attempt, reread } => {
                    let value = compare_exchange(builder, id, attempt, reread);
                    replaced.extend(result.map(|result| (result, value)));
                }
                Replacement::FenceThroughWord { before, word: on_word, after } => {
                    builder.inst(fence_op(before), &[], &[]);
                    touch(builder, word.expect("a fence was found"), on_word);
                    builder.inst(fence_op(after), &[], &[]);
                }
            }
        });
    }
}

/// Facts about the whole module, by address space, from which `Surroundings` is computed. Conservative.
#[derive(Default)]
struct Program {
    /// The memory that objects of seq_cst operations can be in.
    seq_cst: Spaces,
    has_seq_cst_fence: bool,
    /// The memory ordered by release and seq_cst writes, for global and for local objects.
    released: [Spaces; 2],
}

impl Program {
    fn survey(module: &Module) -> Self {
        let mut program = Self::default();
        for function in module.functions.iter() {
            for id in function.inst_order() {
                let object = object_of(function, id);
                let found = synchronisation(&function.insts[id].op, object);
                if let Some((operation, sync)) = found {
                    program.note(operation, sync);
                }
            }
        }
        program
    }

    fn note(&mut self, operation: Operation, sync: Sync) {
        let is_seq_cst = sync.order == Order::SeqCst || sync.failure == Some(Order::SeqCst);
        match operation {
            Operation::Atomic(access, object) => {
                if is_seq_cst {
                    self.seq_cst = self.seq_cst.union(object);
                }
                // R1 also turns a seq_cst load into a releasing write, but it starts no release sequence in OpenCL.
                if access != Access::Load && sync.order.releases() {
                    for (own, released) in [Spaces::GLOBAL, Spaces::LOCAL].into_iter().zip(&mut self.released)
                    {
                        if object.contains(own) {
                            *released = released.union(sync.ordered());
                        }
                    }
                }
            }
            Operation::Fence => self.has_seq_cst_fence |= is_seq_cst,
            Operation::WorkGroupBarrier | Operation::SubGroupBarrier => {}
        }
    }

    fn around(&self, operation: Operation) -> Surroundings {
        let object = match operation {
            Operation::Atomic(_, object) => object,
            Operation::Fence | Operation::WorkGroupBarrier | Operation::SubGroupBarrier => Spaces::NONE,
        };
        let released = [Spaces::GLOBAL, Spaces::LOCAL]
            .into_iter()
            .zip(self.released)
            .filter(|(own, _)| object.contains(*own))
            .fold(Spaces::NONE, |all, (_, released)| all.union(released));
        Surroundings {
            seq_cst_on_object: !self.seq_cst.intersection(object).is_empty(),
            released,
            seq_cst_in_both: self.seq_cst.contains(Spaces::BOTH),
        }
    }
}

/// A read-modify-write that changes nothing: `or` with 0.
fn reread(builder: &mut Builder<'_>, id: InstId, sync: Sync) -> ValueId {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(atomic) = inst.op else { unreachable!("only atomic operations read") };
    let ty = Type::Scalar(atomic.ty);
    let zero = builder.bits(ty, 0);
    let mut op = Op::Atomic(Atomic { op: AtomicOp::Fetch(FetchKey::Or), failure: None, ..atomic });
    set(&mut op, sync);
    builder.value(op, &[inst.args[0], zero], ty)
}

fn store_as_exchange(builder: &mut Builder<'_>, id: InstId, sync: Sync) {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(atomic) = inst.op else { unreachable!("only atomic operations store") };
    let ty = Type::Scalar(atomic.ty);
    let mut op = Op::Atomic(Atomic { op: AtomicOp::Exchange, ..atomic });
    set(&mut op, sync);
    builder.inst(op, &inst.args, &[ty]);
}

/// R5: after a failure, reads again with an ordered read. If that returns the expected value, a strong compare-exchange starts
/// over. A weak one could fail spuriously, but it would have to return a value that differs from the expected one, so it also
/// starts over.
fn compare_exchange(builder: &mut Builder<'_>, id: InstId, attempt: Sync, again: Sync) -> ValueId {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(atomic) = &inst.op else { unreachable!("only atomic operations exchange") };
    let ty = Type::Scalar(atomic.ty);
    let open = builder.open_loop(&[], &[], &[ty], LoopHints::default());
    let place = builder.place();
    builder.at_end(open.body);
    let mut op = Op::Atomic(Atomic { op: AtomicOp::CompareExchangeStrong, ..atomic.clone() });
    set(&mut op, attempt);
    let old = builder.value(op, &inst.args, ty);
    let expected = inst.args[2];
    let same = builder.compare(CompareOp::Equal, CompareKind::Unsigned, old, expected);
    let test = builder.open_if(same, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    builder.exit(open.inst, &[old]);
    builder.at_end(test.otherwise);
    let seen = reread(builder, id, again);
    let same = builder.compare(CompareOp::Equal, CompareKind::Unsigned, seen, expected);
    let retry = builder.open_if(same, &[]);
    builder.unreachable();
    builder.at_end(retry.then);
    builder.continue_loop(open.inst, &[]);
    builder.at_end(retry.otherwise);
    builder.exit(open.inst, &[seen]);
    builder.close_loop(&open, place);
    builder.function.insts[open.inst].results[0]
}

/// An addition of 0 to the hidden word.
fn touch(builder: &mut Builder<'_>, word: VarId, sync: Sync) {
    let pointer = builder.module_var(word, AddressSpace::Global);
    let zero = builder.i32(0);
    let mut op = Op::Atomic(Atomic {
        op: AtomicOp::Fetch(FetchKey::Add),
        ty: Scalar::I32,
        is_signed: false,
        order: Known::Constant(sync.order),
        failure: None,
        scope: Known::Constant(sync.scope),
        spaces: None,
        is_volatile: false,
    });
    set(&mut op, sync);
    builder.inst(op, &[pointer, zero], &[Type::I32]);
}
