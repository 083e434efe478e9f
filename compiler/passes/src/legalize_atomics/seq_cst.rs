//! Builds the replacement selected by `memory::replacement` for every operation of a module (rules R1 to R7).

use super::hidden_word;
use kiln_ir::{
    Atomic, BlockId, Builder, CompareKind, FuncId, Function, InstId, Known, Module, Op, Scalar, Type,
    ValueId, VarId,
};
use kiln_memory::{self as memory, Access, Operation, Replacement, Spaces, Surroundings, Sync};
use kiln_types::{
    index::Id as _,
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Environment, FetchKey, Order, Scope};
use rustc_hash::FxHashMap;

use crate::rewrite::rewrite_only;

/// Rewrites every operation of the module.
pub(super) fn construct(module: &mut Module) {
    let program = Program::survey(module);
    let word = program.has_seq_cst_fence.then(|| hidden_word(module));
    for function_id in module.functions.ids().collect::<Vec<_>>() {
        rewrite_only(&mut module.functions[function_id], Op::synchronizes, |builder, id, replaced| {
            let object = builder.function.object_spaces(id);
            let op = &builder.function.insts[id].op;
            let Some((operation, sync)) = op.synchronization(object) else { return builder.insert(id) };
            let around = program.around((function_id, id), operation, sync);
            let result = builder.function.insts[id].results.first().copied();
            match memory::replacement(Environment::Vulkan, operation, sync, &around) {
                Replacement::Same(sync) => {
                    builder.function.insts[id].op.set_synchronization(sync);
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
                    builder.inst(Op::fence(before), &[], &[]);
                    add_zero(builder, word.expect("a fence was found"), on_word);
                    builder.inst(Op::fence(after), &[], &[]);
                }
            }
        });
    }
}

/// The synchronizing operations of a module, from which `Surroundings` is computed. Conservative.
#[derive(Default)]
struct Program {
    /// The object and the position of each atomic operation.
    objects: FxHashMap<(FuncId, InstId), (Object, Site)>,
    /// The objects of seq_cst operations.
    seq_cst: Vec<Object>,
    releases: Vec<Release>,
    has_seq_cst_fence: bool,
    /// Whether each operation is in its kernel, so that its position is known.
    is_inlined: bool,
}

/// A release or seq_cst write.
struct Release {
    object: Object,
    /// The memory that it orders.
    ordered: Spaces,
    site: Site,
}

/// The object of an atomic operation.
#[derive(Clone, Copy)]
struct Object {
    /// The kernel that the operation is in.
    kernel: FuncId,
    /// The memory that it can be in.
    spaces: Spaces,
    /// The variable, if known.
    var: Option<VarId>,
}

impl Object {
    fn of(function: &Function, kernel: FuncId, id: InstId) -> Self {
        let mut base = function.insts[id].args.first().copied();
        let mut var = None;
        while let Some(inst) = base.and_then(|it| function.def(it)) {
            base = match inst.op {
                Op::Offset { .. } | Op::PointerCast => inst.args.first().copied(),
                Op::ModuleVar(id) => {
                    var = Some(id);
                    None
                }
                _ => None,
            };
        }
        Self { kernel, spaces: function.object_spaces(id), var }
    }

    /// Whether both operations can access the same object. Kernels do not share local memory.
    fn may_alias(&self, other: &Self) -> bool {
        let common = self.spaces.intersection(other.spaces);
        let is_same_kernel = self.kernel == other.kernel;
        let is_shared = if is_same_kernel { !common.is_empty() } else { common.contains(Spaces::GLOBAL) };
        is_shared && (self.var.is_none() || other.var.is_none() || self.var == other.var)
    }
}

/// The position of an operation in its kernel.
#[derive(Clone, Default)]
struct Site {
    /// Its number in program order.
    number: usize,
    /// The constructs around it, from the outermost, with the block that it is in.
    around: Vec<Around>,
}

#[derive(Clone, Copy)]
struct Around {
    construct: InstId,
    block: BlockId,
    is_loop: bool,
}

impl Site {
    /// Whether a work-item can execute this operation before the other.
    fn may_precede(&self, other: &Self) -> bool {
        for (one, two) in self.around.iter().zip(&other.around) {
            if one.construct != two.construct {
                break;
            }
            if one.is_loop {
                return true;
            }
            // Only one of the blocks is executed.
            if one.block != two.block {
                return false;
            }
        }
        self.number < other.number
    }
}

impl Program {
    fn survey(module: &Module) -> Self {
        // Functions that synchronize have been inlined into their kernels. Otherwise all count as one kernel.
        let is_inlined =
            module.functions.iter().all(|it| it.kernel.is_some() || !it.may_contain(Op::synchronizes));
        let mut program = Self { is_inlined, ..Self::default() };
        for (id, function) in module.functions.entries() {
            let mut survey = Survey {
                program: &mut program,
                function,
                id,
                kernel: if is_inlined { id } else { FuncId::from_index(0) },
                site: Site::default(),
            };
            survey.block(function.body);
        }
        program
    }

    fn around(&self, (function, id): (FuncId, InstId), operation: Operation, sync: Sync) -> Surroundings {
        let fences = if self.has_seq_cst_fence { Spaces::BOTH } else { Spaces::NONE };
        let in_both = self.seq_cst.iter().fold(fences, |all, it| all.union(it.spaces));
        let seq_cst_in_both = in_both.contains(Spaces::BOTH);
        let Some((object, site)) = self.objects.get(&(function, id)) else {
            return Surroundings { seq_cst_in_both, ..Surroundings::default() };
        };
        // A store with a narrow scope and an operation of another work-group on the same object have no inclusive scopes:
        // without a race, one happens before the other. This is not so for loads: two loads never race, but R1 makes
        // writes of seq_cst loads.
        let is_store = matches!(operation, Operation::Atomic(Access::Store, _));
        let only_own = is_store && matches!(sync.scope, Scope::SubGroup | Scope::WorkGroup);
        let is_near = |it: &Object| !only_own || it.kernel == object.kernel;
        let released = self
            .releases
            .iter()
            .filter(|it| it.object.kernel == object.kernel && it.object.may_alias(object))
            .filter(|it| !self.is_inlined || it.site.may_precede(site))
            .fold(Spaces::NONE, |all, it| all.union(it.ordered));
        Surroundings {
            seq_cst_on_object: self.seq_cst.iter().any(|it| is_near(it) && it.may_alias(object)),
            released,
            seq_cst_in_both,
        }
    }
}

/// Collects the operations of a kernel.
struct Survey<'a> {
    program: &'a mut Program,
    function: &'a Function,
    id: FuncId,
    kernel: FuncId,
    site: Site,
}

impl Survey<'_> {
    fn block(&mut self, block: BlockId) {
        for &id in &self.function.blocks[block].insts {
            let op = &self.function.insts[id].op;
            for nested in op.blocks() {
                let is_loop = matches!(op, Op::Loop { .. });
                self.site.around.push(Around { construct: id, block: nested, is_loop });
                self.block(nested);
                self.site.around.pop();
            }
            self.record(id);
        }
    }

    fn record(&mut self, id: InstId) {
        let object = Object::of(self.function, self.kernel, id);
        let Some((operation, sync)) = self.function.insts[id].op.synchronization(object.spaces) else {
            return;
        };
        self.site.number += 1;
        let is_seq_cst = sync.order == Order::SeqCst || sync.failure == Some(Order::SeqCst);
        match operation {
            Operation::Atomic(access, _) => {
                let site = self.site.clone();
                // R1 also turns a seq_cst load into a releasing write, but it starts no release sequence in OpenCL.
                if access != Access::Load && sync.order.releases() {
                    let release = Release { object, ordered: sync.ordered(), site: site.clone() };
                    self.program.releases.push(release);
                }
                self.program.objects.insert((self.id, id), (object, site));
                if is_seq_cst {
                    self.program.seq_cst.push(object);
                }
            }
            Operation::Fence => self.program.has_seq_cst_fence |= is_seq_cst,
            Operation::Barrier(_) => {}
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
    op.set_synchronization(sync);
    builder.value(op, &[inst.args[0], zero], ty)
}

fn store_as_exchange(builder: &mut Builder<'_>, id: InstId, sync: Sync) {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(atomic) = inst.op else { unreachable!("only atomic operations store") };
    let ty = Type::Scalar(atomic.ty);
    let mut op = Op::Atomic(Atomic { op: AtomicOp::Exchange, ..atomic });
    op.set_synchronization(sync);
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
    let after = builder.insertion_point();
    builder.at_end(open.body);
    let mut op = Op::Atomic(Atomic { op: AtomicOp::CompareExchangeStrong, ..atomic.clone() });
    op.set_synchronization(attempt);
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
    builder.close_loop(&open, after);
    builder.function.insts[open.inst].results[0]
}

/// An addition of 0 to the hidden word.
fn add_zero(builder: &mut Builder<'_>, word: VarId, sync: Sync) {
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
    op.set_synchronization(sync);
    builder.inst(op, &[pointer, zero], &[Type::I32]);
}
