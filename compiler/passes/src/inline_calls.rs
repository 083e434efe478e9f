//! Inlines calls, except to functions that can be kept and are large enough to be worth it. For drivers that keep objects in
//! memory whose pointers are passed (`Tuning::calls_through_memory`), it inlines all calls of small kernels.
//!
//! A function can be kept if no later pass changes the form of its arguments: numbers that the device supports, addresses,
//! and pointers to private and local objects that the function only accesses (`specialize_variable_args` then handles each
//! call). A function is always inlined if it loads pointers from memory, because later passes analyze pointers within one
//! function; if it uses images, `printf` or device-side enqueue, which later passes handle per kernel; or if an order, a scope
//! or flags in it are not constant, because they may be constant in a caller. A function is worth keeping if it is long and
//! called several times. The language has no recursion, so inlining terminates. A module that would become too large is
//! rejected.

use kiln_ir::{
    BlockId, Case, FuncId, Function, Inst, InstId, Module, Op, Scalar, Type, Value, ValueDef, ValueId, VarId,
};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;
use kiln_types::index::{Id as _, Table};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rustc_hash::FxHashMap;

/// The size in instructions from which a function with several calls is kept. Shorter bodies are often cheaper than the
/// call once their arguments are known.
const MIN_KEPT_SIZE: usize = 24;

/// The same limit for functions with pointers to private objects: in an inlined copy, such an object may become a value.
const MIN_KEPT_SIZE_WITH_OBJECTS: usize = 64;

/// The same limit for functions that synchronize: if all of them are inlined into a kernel, `legalize_atomics` sees the order
/// of all operations.
const MIN_KEPT_SIZE_OF_SYNCHRONIZING: usize = 256;

/// The maximum number of instructions of a module after inlining.
pub(super) const MAX_INSTRUCTIONS: usize = 2_000_000;

/// The maximum size in instructions of a kernel whose calls are all inlined. docs/speed-details.md has times of hashcat with it.
const MAX_INLINED_KERNEL: usize = 20_000;

/// The maximum size in instructions of all these kernels of a module, because the driver compiles each of them.
const MAX_INLINED_KERNELS: usize = 200_000;

/// The maximum number of parameters of a function (SPIR-V 2.17).
const MAX_PARAMETERS: usize = 255;

pub(super) fn inline_calls(module: &mut Module, options: &Options, sink: &mut Sink) {
    if options.target.tuning.calls_through_memory && options.optimize && !options.keep_functions {
        inline_small_kernels(module);
    }
    let stays = kept_functions(module, options);
    let is_kept = |id: FuncId, function: &Function| function.kernel.is_some() || stays[id.index()];
    if let Some(largest) = largest_if_too_large(module, is_kept, |callee| !stays[callee.index()]) {
        return report_size(module.functions[largest].span, sink);
    }
    inline_where(module, is_kept, |callee| !stays[callee.index()]);
    retain_functions(module, is_kept);
}

/// Inlines all calls of kernels that are not large then. Private objects whose pointers are passed can become values.
fn inline_small_kernels(module: &mut Module) {
    let sizes = sizes_after_inlining(module, |_| true);
    let mut all = 0;
    let mut is_small = vec![false; sizes.len()];
    for id in module.functions.ids().filter(|&id| module.functions[id].kernel.is_some()) {
        let size = sizes[id.index()];
        if size <= MAX_INLINED_KERNEL && all + size <= MAX_INLINED_KERNELS {
            all += size;
            is_small[id.index()] = true;
        }
    }
    inline_where(module, |id, _| is_small[id.index()], |_| true);
}

/// The size in instructions of each function once these callees are inlined.
fn sizes_after_inlining(module: &Module, is_inlined: impl Fn(FuncId) -> bool) -> Vec<usize> {
    let mut sizes = vec![0usize; module.functions.len()];
    for id in module.callees_first() {
        let function = &module.functions[id];
        let copied =
            function.calls().filter(|&callee| is_inlined(callee)).map(|callee| sizes[callee.index()]);
        sizes[id.index()] = copied.fold(function.inst_order().len(), usize::saturating_add);
    }
    sizes
}

/// Computes the sizes after inlining. Returns the longest kept function if the module would have too many instructions.
fn largest_if_too_large(
    module: &Module,
    is_kept: impl Fn(FuncId, &Function) -> bool,
    is_inlined: impl Fn(FuncId) -> bool,
) -> Option<FuncId> {
    let sizes = sizes_after_inlining(module, is_inlined);
    let kept: Vec<FuncId> = module.functions.ids().filter(|&id| is_kept(id, &module.functions[id])).collect();
    let all = kept.iter().fold(0, |all: usize, id| all.saturating_add(sizes[id.index()]));
    let largest = kept.into_iter().max_by_key(|id| sizes[id.index()]);
    largest.filter(|_| all > MAX_INSTRUCTIONS)
}

/// Reports that the program would become too large.
pub(super) fn report_size(span: Span, sink: &mut Sink) {
    let message = format!("the program has more than {MAX_INSTRUCTIONS} instructions after inlining");
    let diagnostic = Diagnostic::new(Code::ProgramSize, span, message)
        .label("most of them are in this function")
        .help("replace repeated calls by a loop, or compile for `--env opencl`, where functions are called");
    sink.report(diagnostic);
}

/// Inlines functions with more parameters than a module allows.
pub(super) fn inline_over_parameter_limit(module: &mut Module, _: &Options, sink: &mut Sink) {
    let crowded: Vec<bool> = module.functions.iter().map(exceeds_parameter_limit).collect();
    if !crowded.contains(&true) {
        return;
    }
    let is_own = |function: &Function| function.kernel.is_none() && function.linkage == Linkage::Internal;
    for function in
        module.functions.iter().filter(|function| exceeds_parameter_limit(function) && !is_own(function))
    {
        let what =
            if function.kernel.is_some() { "kernel" } else { "function of another part of the program" };
        let message = format!(
            "this {what} has {} parameters, and a module for OpenCL can have at most {MAX_PARAMETERS}",
            function.params().len()
        );
        let diagnostic = Diagnostic::new(Code::TargetFeature, function.span, message);
        sink.report(diagnostic.help("pass some of them together, as a structure or in memory"));
    }
    inline_where(module, |_, _| true, |callee| crowded[callee.index()]);
    retain_functions(module, |id, function| !crowded[id.index()] || !is_own(function));
}

fn exceeds_parameter_limit(function: &Function) -> bool {
    function.params().len() > MAX_PARAMETERS
}

/// Removes the functions that are not kept, and renumbers the others.
pub(super) fn retain_functions(module: &mut Module, is_kept: impl Fn(FuncId, &Function) -> bool) {
    let mut kept = Table::new();
    let mut renamed = FxHashMap::default();
    for id in module.functions.ids().collect::<Vec<_>>() {
        if is_kept(id, &module.functions[id]) {
            renamed.insert(id, kept.push(take(module, id)));
        }
    }
    for function in kept.iter_mut() {
        for inst in function.insts.iter_mut() {
            // Instructions outside of blocks can reference removed functions.
            if let Op::Call(named) | Op::Function(named) = &mut inst.op
                && let Some(&new) = renamed.get(named)
            {
                *named = new;
            }
        }
    }
    module.functions = kept;
}

/// Reduces the module to this function, with all calls inlined, and returns its new id.
pub(super) fn inline_all(module: &mut Module, wanted: FuncId) -> FuncId {
    inline_where(module, |id, _| id == wanted, |_| true);
    let function = take(module, wanted);
    module.functions = Table::new();
    module.functions.push(function)
}

/// Takes a function out of its module and leaves an empty one.
pub(super) fn take(module: &mut Module, id: FuncId) -> Function {
    let nothing = Function::new(String::new(), &[], None, Span::default());
    std::mem::replace(&mut module.functions[id], nothing)
}

/// Inlines the functions that contain such an instruction, directly or in a callee.
pub(super) fn inline_functions_with(module: &mut Module, predicate: impl Fn(&Op) -> bool) {
    if !module.functions.iter().any(|function| function.may_contain(&predicate)) {
        return;
    }
    let mut has = vec![false; module.functions.len()];
    for id in module.callees_first() {
        let function = &module.functions[id];
        has[id.index()] = function.calls().any(|callee| has[callee.index()])
            || !function.insts_where(&predicate).is_empty();
    }
    inline_where(module, |_, _| true, |callee| has[callee.index()]);
}

/// Inlines callees, with their own callees, directly into the kept functions.
fn inline_where(
    module: &mut Module,
    is_wanted: impl Fn(FuncId, &Function) -> bool,
    is_inlined: impl Fn(FuncId) -> bool,
) {
    let predicate = |inst: &Inst| matches!(inst.op, Op::Call(callee) if is_inlined(callee));
    for id in module.functions.ids().collect::<Vec<_>>() {
        let function = &module.functions[id];
        if !is_wanted(id, function) || !function.insts.iter().any(predicate) {
            continue;
        }
        let mut open = function.inst_order();
        let mut function = take(module, id);
        while let Some(call) = open.pop() {
            let Op::Call(callee) = function.insts[call].op else { continue };
            if is_inlined(callee) {
                let first = function.insts.len();
                inline(&mut function, call, &module.functions[callee]);
                let copied = (first..function.insts.len()).map(InstId::from_index);
                open.extend(copied.filter(|&id| predicate(&function.insts[id])));
            }
        }
        module.functions[id] = function;
    }
}

/// Whether each function is kept.
fn kept_functions(module: &Module, options: &Options) -> Vec<bool> {
    let order = module.callees_first();
    let calls: Vec<Vec<FuncId>> =
        module.functions.iter().map(|function| function.calls().collect()).collect();
    let mut may_stay = vec![false; module.functions.len()];
    let mut is_plain = vec![false; module.functions.len()];
    let mut synchronizes = vec![false; module.functions.len()];
    let mut sizes = vec![0; module.functions.len()];
    for &id in &order {
        let (function, callees, index) = (&module.functions[id], &calls[id.index()], id.index());
        synchronizes[index] = function.may_contain(Op::synchronizes)
            || callees.iter().any(|callee| synchronizes[callee.index()]);
        is_plain[index] = callees.iter().all(|callee| is_plain[callee.index()])
            && function.inst_order().into_iter().all(|inst| is_plain_inst(function, &function.insts[inst]));
        let copied = callees.iter().map(|callee| match may_stay[callee.index()] {
            true => MIN_KEPT_SIZE,
            false => sizes[callee.index()],
        });
        sizes[index] = copied.fold(function.inst_order().len(), usize::saturating_add);
        may_stay[index] = is_plain[index]
            && function.kernel.is_none()
            && is_passable(function, options)
            && (options.keep_functions || sizes[index] >= min_kept_size(function, synchronizes[index]));
    }
    // The number of calls of each function, given the functions that are kept.
    let mut stays = vec![false; module.functions.len()];
    let mut uses = vec![0usize; module.functions.len()];
    for &id in order.iter().rev() {
        let index = id.index();
        stays[index] = may_stay[index] && (options.keep_functions || uses[index] > 1);
        let copies = match module.functions[id].kernel.is_some() || stays[index] {
            true => 1,
            false => uses[index],
        };
        for callee in &calls[index] {
            uses[callee.index()] = uses[callee.index()].saturating_add(copies);
        }
    }
    stays
}

/// The size in instructions from which a function with several calls is kept.
fn min_kept_size(function: &Function, synchronizes: bool) -> usize {
    let is_private = |ty: Type| matches!(ty, Type::Pointer(AddressSpace::Private | AddressSpace::Generic));
    let takes_private = function.params().iter().any(|&param| is_private(function.ty(param)));
    match (synchronizes, takes_private) {
        (true, _) => MIN_KEPT_SIZE_OF_SYNCHRONIZING,
        (false, true) => MIN_KEPT_SIZE_WITH_OBJECTS,
        (false, false) => MIN_KEPT_SIZE,
    }
}

/// Whether a function has parameters that point to private or local objects.
pub(super) fn takes_objects(function: &Function) -> bool {
    function.kernel.is_none()
        && function.params().iter().any(|&param| may_point_to_object(function.ty(param)))
}

/// Whether this is a pointer that can point to a private or local object.
pub(super) const fn may_point_to_object(ty: Type) -> bool {
    matches!(ty, Type::Pointer(AddressSpace::Private | AddressSpace::Local | AddressSpace::Generic))
}

/// Whether later passes keep the form of the arguments, except for pointers.
fn is_passable(function: &Function, options: &Options) -> bool {
    let features = &options.target.features;
    let is_passable = |ty: Type| match ty {
        Type::Scalar(scalar) | Type::Vector(scalar, 2..=4) => match scalar {
            Scalar::I8 => features.int8,
            Scalar::I16 => features.int16,
            Scalar::F16 => features.fp16,
            Scalar::I64 => features.int64,
            Scalar::Bool | Scalar::I32 | Scalar::F32 | Scalar::F64 => true,
        },
        Type::Pointer(AddressSpace::Global | AddressSpace::Constant) => features.int64,
        _ => false,
    };
    let mut params = function.params().iter().map(|&param| function.ty(param));
    // A private object takes two parameters: the variable and an index into it. Checks need the variable's size.
    2 * function.params().len() <= MAX_PARAMETERS
        && params.all(|ty| is_passable(ty) || may_point_to_object(ty) && !options.bounds_checks)
        && function.result.is_none_or(is_passable)
}

/// Whether an instruction can be in any function: it does not print, enqueue or use an image, its order, scope and flags are
/// constant, and it does not store a pointer to private or local memory where another function could load it.
fn is_plain_inst(function: &Function, inst: &Inst) -> bool {
    let is_global = |value: ValueId| match function.ty(value) {
        Type::Pointer(space) => matches!(space, AddressSpace::Global | AddressSpace::Constant),
        _ => true,
    };
    match &inst.op {
        Op::Printf(_) | Op::Trap(_) | Op::LaunchAddress(_) | Op::Image(_) => false,
        Op::Atomic(_) | Op::Fence { .. } | Op::Barrier { .. } => {
            let dynamic = &inst.args[inst.args.len() - inst.op.dynamic_count()..];
            dynamic.iter().all(|&operand| function.constant_bits(operand).is_some())
        }
        Op::Store(_) => is_global(inst.args[1]),
        Op::PointerToInt => is_global(inst.args[0]),
        Op::Load(_) | Op::IntToPointer => is_global(inst.results[0]),
        _ => true,
    }
}

/// Replaces the call by a block with the callee's results. `Return` becomes an exit of the block.
pub(super) fn inline(function: &mut Function, call: InstId, callee: &Function) {
    let arguments = function.insts[call].args.clone();
    let mut values = vec![None; callee.values.len()];
    for (param, argument) in callee.params().iter().zip(arguments) {
        values[param.index()] = Some(argument);
    }
    let insts = vec![None; callee.insts.len()];
    let mut copy = Copy { function, callee, call, values, vars: FxHashMap::default(), insts };
    let body = copy.copy_block(callee.body);
    let inst = &mut function.insts[call];
    inst.op = Op::Block(body);
    inst.args.clear();
}

/// State of copying a function body, with the new id of each copied item, by its index in the callee.
struct Copy<'a> {
    function: &'a mut Function,
    callee: &'a Function,
    call: InstId,
    values: Vec<Option<ValueId>>,
    vars: FxHashMap<VarId, VarId>,
    insts: Vec<Option<InstId>>,
}

impl Copy<'_> {
    fn copy_block(&mut self, from: BlockId) -> BlockId {
        let source = &self.callee.blocks[from];
        let is_body = from == self.callee.body;
        let to = self.function.add_block(&[]);
        for &param in source.params.iter().filter(|_| !is_body) {
            let value = self.function.add_param(to, self.callee.ty(param));
            self.values[param.index()] = Some(value);
        }
        self.function.blocks[to].insts.reserve_exact(source.insts.len());
        for &inst in &source.insts {
            let copy = self.copy_inst(inst);
            self.function.blocks[to].insts.push(copy);
        }
        to
    }

    fn copy_inst(&mut self, from: InstId) -> InstId {
        let source = &self.callee.insts[from];
        let mut args = source.args.clone();
        for arg in &mut args {
            *arg = self.copy_value(*arg);
        }
        let to = self.function.add_inst(Op::Unreachable, &args, &[], source.span);
        self.insts[from.index()] = Some(to);
        for &result in &source.results {
            let copy = self.function.add_result(to, self.callee.ty(result));
            self.values[result.index()] = Some(copy);
        }
        let op = self.copy_op(&source.op);
        self.function.insts[to].op = op;
        to
    }

    fn copy_op(&mut self, op: &Op) -> Op {
        match op {
            Op::Return => Op::Exit(self.call),
            Op::Exit(target) => Op::Exit(self.copied_construct(*target)),
            Op::Continue(target) => Op::Continue(self.copied_construct(*target)),
            Op::Next(target) => Op::Next(self.copied_construct(*target)),
            Op::If { then, otherwise } => {
                Op::If { then: self.copy_block(*then), otherwise: self.copy_block(*otherwise) }
            }
            Op::Loop { body, continuing, hints } => Op::Loop {
                body: self.copy_block(*body),
                continuing: self.copy_block(*continuing),
                hints: *hints,
            },
            Op::Switch { cases, default } => Op::Switch {
                cases: cases
                    .iter()
                    .map(|case| Case { values: case.values.clone(), block: self.copy_block(case.block) })
                    .collect(),
                default: self.copy_block(*default),
            },
            Op::Block(block) => Op::Block(self.copy_block(*block)),
            Op::PrivateVar(var) => Op::PrivateVar(self.copy_var(*var)),
            other => other.clone(),
        }
    }

    /// The copy of a construct that contains the current instruction.
    fn copied_construct(&self, construct: InstId) -> InstId {
        self.insts[construct.index()].expect("a construct is copied before its contents")
    }

    fn copy_var(&mut self, from: VarId) -> VarId {
        let Self { function, callee, vars, .. } = self;
        *vars.entry(from).or_insert_with(|| function.vars.push(callee.vars[from].clone()))
    }

    fn copy_value(&mut self, from: ValueId) -> ValueId {
        let Self { function, callee, values, .. } = self;
        *values[from.index()].get_or_insert_with(|| {
            let Value { ty, def } = callee.values[from].clone();
            debug_assert!(matches!(def, ValueDef::Const(_)), "every other value is copied before its use");
            function.values.push(Value { ty, def })
        })
    }
}
