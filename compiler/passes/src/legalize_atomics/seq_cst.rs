//! Builds the replacement selected by `memory::replacement` for every operation of a module (rules R1 to R7).

use super::hidden_word;
use kiln_ir::{
    Atomic, BlockId, Builder, CompareKind, FuncId, Function, InstId, Known, Module, Op, Scalar, Type,
    ValueId, VarId,
};
use kiln_memory::{self as memory, Access, Operation, ProgramFacts, Replacement, Spaces, Sync};
use kiln_session::diag::Sink;
use kiln_types::{
    index::Id as _,
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Environment, FetchKey, Order, Scope};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::rewrite::rewrite_only;

/// Replaces every operation of the module, and records the rules.
pub(super) fn replace_operations(module: &mut Module, sink: &mut Sink) {
    let program = Program::collect_operations(module);
    let word = program.has_seq_cst_fence.then(|| hidden_word(module));
    for function_id in module.functions.ids().collect::<Vec<_>>() {
        rewrite_only(&mut module.functions[function_id], Op::synchronizes, |builder, id, replaced| {
            let object = builder.function.object_spaces(id);
            let op = &builder.function.insts[id].op;
            let Some((operation, sync)) = op.synchronization(object) else { return builder.insert(id) };
            let facts = program.facts_for((function_id, id), operation, sync);
            let result = builder.function.insts[id].results.first().copied();
            let (replacement, rules) =
                memory::explained_replacement(Environment::Vulkan, operation, sync, &facts);
            sink.record_mapping(builder.function.insts[id].span, &rules);
            match replacement {
                Replacement::Same(sync) => {
                    builder.function.insts[id].op.set_synchronization(sync);
                    builder.insert(id);
                }
                Replacement::LoadAsModify(sync) => {
                    let value = read_by_or(builder, id, sync);
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

/// The synchronizing operations of a module, from which `ProgramFacts` is computed. Conservative.
#[derive(Default)]
struct Program {
    /// The atomic operations.
    operations: FxHashMap<(FuncId, InstId), AtomicOperation>,
    /// The objects of the seq_cst operations of all kernels.
    seq_cst: Objects,
    /// The objects of the seq_cst operations of each kernel.
    own_seq_cst: FxHashMap<FuncId, Objects>,
    /// The release and seq_cst writes of each kernel, with the memory that they order.
    releases: FxHashMap<FuncId, Objects>,
    /// The release and seq_cst writes in each outermost loop, with the memory that they order.
    loop_releases: FxHashMap<(FuncId, InstId), Objects>,
    has_seq_cst_access: bool,
    has_seq_cst_fence: bool,
    /// The memory that operations order, and that of the objects of all seq_cst operations.
    ordered: Spaces,
    /// The kernels that can execute each function.
    kernels: Vec<Vec<FuncId>>,
    /// Whether the order of all operations that precede those of each function is known: it is a kernel, and all
    /// functions that synchronize have been inlined into it.
    has_order: Vec<bool>,
}

/// An atomic operation.
struct AtomicOperation {
    object: Object,
    /// The memory that earlier writes in its kernel order, if they can release its object.
    released: Spaces,
    /// The outermost loop around it, which can repeat later writes before it.
    outer_loop: Option<InstId>,
}

/// The object of an atomic operation.
#[derive(Clone, Copy)]
struct Object {
    /// The memory that it can be in.
    spaces: Spaces,
    /// The variable, if known.
    var: Option<VarId>,
}

/// The objects that a fact is about, restricted to one kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// All objects.
    Any(Spaces),
    /// The objects that are not known variables.
    Unknown(Spaces),
    /// This variable.
    Var(Spaces, VarId),
}

/// Facts about the objects of operations. A fact is the memory that operations on the object order.
#[derive(Default)]
struct Objects(FxHashMap<Key, Spaces>);

/// A change of `Objects`: the key, and the facts before and after it.
type Change = (Key, Spaces, Spaces);

impl Objects {
    /// Adds a fact about an object. Returns what changed.
    fn add(&mut self, object: &Object, fact: Spaces) -> SmallVec<[Change; 4]> {
        let mut changes = SmallVec::new();
        for space in [Spaces::GLOBAL, Spaces::LOCAL, Spaces::IMAGE] {
            if !object.spaces.contains(space) {
                continue;
            }
            let own = object.var.map_or(Key::Unknown(space), |var| Key::Var(space, var));
            for key in [Key::Any(space), own] {
                let known = self.0.entry(key).or_insert(Spaces::NONE);
                let (before, after) = (*known, known.union(fact));
                if before != after {
                    *known = after;
                    changes.push((key, before, after));
                }
            }
        }
        changes
    }

    /// The facts about all objects that can be this object, which is in one of these memories.
    fn facts_about(&self, object: &Object, spaces: Spaces) -> Spaces {
        let mut all = Spaces::NONE;
        for space in [Spaces::GLOBAL, Spaces::LOCAL, Spaces::IMAGE] {
            if !spaces.contains(space) {
                continue;
            }
            let keys = match object.var {
                Some(var) => [Key::Var(space, var), Key::Unknown(space)],
                None => [Key::Any(space); 2],
            };
            let facts = keys.iter().filter_map(|key| self.0.get(key));
            all = facts.fold(all, |all, fact| all.union(*fact));
        }
        all
    }
}

impl Program {
    fn collect_operations(module: &Module) -> Self {
        let kernels = module.roots();
        let mut has_order: Vec<bool> =
            (0..).zip(&kernels).map(|(index, of)| *of == [FuncId::from_index(index)]).collect();
        for (id, _) in module.functions.entries().filter(|(_, it)| it.may_contain(Op::synchronizes)) {
            for kernel in kernels[id.index()].iter().filter(|kernel| **kernel != id) {
                has_order[kernel.index()] = false;
            }
        }
        let mut program = Self { kernels, has_order, ..Self::default() };
        for (id, function) in module.functions.entries() {
            let mut survey = Survey {
                program: &mut program,
                function,
                id,
                outer_loop: None,
                released: Objects::default(),
                changes: Vec::new(),
                bases: FxHashMap::default(),
            };
            survey.block(function.body);
        }
        program
    }

    /// The facts about the program that the replacement of an operation depends on.
    fn facts_for(&self, (function, id): (FuncId, InstId), operation: Operation, sync: Sync) -> ProgramFacts {
        let orders_both =
            self.has_seq_cst_fence || (self.has_seq_cst_access && self.ordered.contains(Spaces::BOTH));
        let Some(AtomicOperation { object, released, outer_loop }) = self.operations.get(&(function, id))
        else {
            return ProgramFacts { orders_both, ..ProgramFacts::default() };
        };
        let about = |facts: Option<&Objects>| {
            facts.map_or(Spaces::NONE, |facts| facts.facts_about(object, object.spaces))
        };
        let of_kernels = |facts: &FxHashMap<FuncId, Objects>| {
            let kernels = self.kernels[function.index()].iter();
            kernels.fold(Spaces::NONE, |all, kernel| all.union(about(facts.get(kernel))))
        };
        // A store with a narrow scope and an operation of another work-group on the same object do not have inclusive
        // scopes, so one happens before the other, or they race. Loads are different: two loads never race, but R1 turns
        // seq_cst loads into writes.
        let is_store = matches!(operation, Operation::Atomic(Access::Store, _));
        let only_own = is_store && matches!(sync.scope, Scope::SubGroup | Scope::WorkGroup);
        let own = of_kernels(&self.own_seq_cst);
        // Kernels do not share local memory.
        let shared = object.spaces.intersection(Spaces::GLOBAL);
        let others = if only_own { Spaces::NONE } else { self.seq_cst.facts_about(object, shared) };
        let again = outer_loop.and_then(|outer| self.loop_releases.get(&(function, outer)));
        let released = match self.has_order[function.index()] {
            true => released.union(about(again)),
            false => of_kernels(&self.releases),
        };
        ProgramFacts { seq_cst_on_object: !own.union(others).is_empty(), released, orders_both }
    }
}

/// Collects the operations of a kernel.
struct Survey<'a> {
    program: &'a mut Program,
    function: &'a Function,
    id: FuncId,
    /// The outermost loop around the position.
    outer_loop: Option<InstId>,
    /// The releases that can precede the position.
    released: Objects,
    /// What has changed `released`, in program order.
    changes: Vec<Change>,
    /// The variables that pointers point into, if known.
    bases: FxHashMap<ValueId, Option<VarId>>,
}

impl Survey<'_> {
    fn block(&mut self, block: BlockId) {
        for &id in &self.function.blocks[block].insts {
            let op = &self.function.insts[id].op;
            let (start, outer) = (self.changes.len(), self.outer_loop);
            let is_loop = matches!(op, Op::Loop { .. });
            if is_loop {
                self.outer_loop = outer.or(Some(id));
            }
            let mut blocks = op.blocks().into_iter().peekable();
            while let Some(nested) = blocks.next() {
                let begin = self.changes.len();
                self.block(nested);
                // A loop executes all its blocks. Other constructs execute only one: releases in it do not precede the
                // operations in the others.
                if !is_loop && blocks.peek().is_some() {
                    for (key, before, _) in self.changes[begin..].iter().rev() {
                        self.released.0.insert(*key, *before);
                    }
                }
            }
            self.outer_loop = outer;
            if !is_loop {
                for (key, _, after) in &self.changes[start..] {
                    let known = self.released.0.entry(*key).or_insert(Spaces::NONE);
                    *known = known.union(*after);
                }
            }
            self.record_operation(id);
        }
    }

    fn record_operation(&mut self, id: InstId) {
        let spaces = self.function.object_spaces(id);
        let inst = &self.function.insts[id];
        let Some((operation, sync)) = inst.op.synchronization(spaces) else { return };
        let is_seq_cst = sync.order == Order::SeqCst || sync.failure == Some(Order::SeqCst);
        let ordered = if is_seq_cst { spaces } else { sync.ordered() };
        self.program.ordered = self.program.ordered.union(ordered);
        match operation {
            Operation::Atomic(access, _) => {
                let var = inst.args.first().and_then(|&pointer| self.base_var(pointer));
                let object = Object { spaces, var };
                let released = self.released.facts_about(&object, object.spaces);
                let position = AtomicOperation { object, released, outer_loop: self.outer_loop };
                self.program.operations.insert((self.id, id), position);
                // R1 also turns a seq_cst load into a releasing write, but it starts no release sequence in OpenCL.
                if access != Access::Load && sync.order.releases() {
                    self.record_release(&object, sync.ordered());
                }
                if is_seq_cst {
                    let program = &mut *self.program;
                    program.seq_cst.add(&object, Spaces::BOTH);
                    for &kernel in &program.kernels[self.id.index()] {
                        program.own_seq_cst.entry(kernel).or_default().add(&object, Spaces::BOTH);
                    }
                    program.has_seq_cst_access = true;
                }
            }
            Operation::Fence => self.program.has_seq_cst_fence |= is_seq_cst,
            Operation::Barrier(_) => {}
        }
    }

    /// The variable that a pointer points into, if known.
    fn base_var(&mut self, pointer: ValueId) -> Option<VarId> {
        let (mut steps, mut next, mut var) = (Vec::new(), Some(pointer), None);
        while let Some(value) = next {
            if let Some(&known) = self.bases.get(&value) {
                var = known;
                break;
            }
            steps.push(value);
            let Some(inst) = self.function.def(value) else {
                var = self.parameter_object(value);
                break;
            };
            next = match inst.op {
                Op::Offset { .. } | Op::PointerCast => inst.args.first().copied(),
                Op::ModuleVar(id) => {
                    var = Some(id);
                    None
                }
                _ => None,
            };
        }
        self.bases.extend(steps.into_iter().map(|value| (value, var)));
        var
    }

    /// The local object that a parameter points into, if known.
    fn parameter_object(&self, value: ValueId) -> Option<VarId> {
        let number = self.function.params().iter().position(|&param| param == value)?;
        let mut objects = self.function.objects.iter();
        objects.find(|(known, _)| *known as usize == number).map(|(_, var)| *var)
    }

    fn record_release(&mut self, object: &Object, ordered: Spaces) {
        self.changes.extend(self.released.add(object, ordered));
        let Program { kernels, releases, .. } = &mut *self.program;
        for &kernel in &kernels[self.id.index()] {
            releases.entry(kernel).or_default().add(object, ordered);
        }
        if let Some(outer) = self.outer_loop {
            self.program.loop_releases.entry((self.id, outer)).or_default().add(object, ordered);
        }
    }
}

/// A read-modify-write that changes nothing: `or` with 0.
fn read_by_or(builder: &mut Builder<'_>, id: InstId, sync: Sync) -> ValueId {
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

/// R5: after a failure, reads again with an ordered read. If that returns the expected value, the operation starts over, even
/// if it is weak: a failure returns a value that differs from the expected one.
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
    let seen = read_by_or(builder, id, again);
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
