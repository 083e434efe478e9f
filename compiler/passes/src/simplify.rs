//! Folds constants, removes redundant operations and common subexpressions, and flattens constructs whose branch is
//! decided.
//!
//! Preserves all results, except floating-point operations on constants: a device may round those less accurately
//! than `floats`.

mod floats;
pub(super) mod fold;
mod signs;

use std::hash::{Hash as _, Hasher as _};

use kiln_ir::{BlockId, Builder, Function, Inst, InstId, Op, Replacements, UnaryOp};
use kiln_session::Options;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

pub(super) fn simplify(function: &mut Function, options: &Options) {
    if !options.optimize {
        return;
    }
    // Removing a branch may leave enclosing constructs without a decision.
    while simplify_once(function) {}
}

/// Runs one iteration. Returns whether a branch was removed.
fn simplify_once(function: &mut Function) -> bool {
    let mut exits: FxHashMap<InstId, u32> = FxHashMap::default();
    for id in function.insts_where(|op| matches!(op, Op::Exit(_))) {
        if let Op::Exit(target) = function.insts[id].op {
            *exits.entry(target).or_default() += 1;
        }
    }
    let body = function.body;
    let mut walk = Walk {
        builder: Builder::new(function),
        exits,
        replaced: Replacements::default(),
        known: FxHashMap::default(),
        log: Vec::new(),
        has_dropped: false,
    };
    walk.run(body);
    let Walk { replaced, has_dropped, .. } = walk;
    function.replace_uses(&replaced);
    has_dropped
}

/// A block being processed.
struct Frame {
    block: BlockId,
    /// The remaining instructions, in reverse order.
    rest: Vec<InstId>,
    /// The length of the log when the block started.
    mark: Option<usize>,
}

struct Walk<'f> {
    builder: Builder<'f>,
    /// The number of jumps to the end of each construct.
    exits: FxHashMap<InstId, u32>,
    replaced: Replacements,
    /// Available operations, by a hash of operation and arguments.
    known: FxHashMap<u64, SmallVec<[InstId; 2]>>,
    /// The keys added to `known`, in order.
    log: Vec<u64>,
    /// Whether a branch that is never taken was removed.
    has_dropped: bool,
}

impl Walk<'_> {
    /// Processes blocks in program order, with the operations that are available before each.
    fn run(&mut self, body: BlockId) {
        let mut stack = vec![self.open_frame(body)];
        while let Some(frame) = stack.last_mut() {
            frame.mark.get_or_insert(self.log.len());
            let Some(id) = frame.rest.pop() else {
                let mark = frame.mark.unwrap_or_default();
                stack.pop();
                self.pop_scope(mark);
                continue;
            };
            let block = frame.block;
            self.builder.at_end(block);
            self.builder.span = self.builder.function.insts[id].span;
            self.resolve_args(id);
            self.remove_negated_condition(id);
            if let Some(inside) = self.flatten_construct(id) {
                // Flatten the construct: its results are the arguments of the jump to its end.
                frame.rest.extend(inside.into_iter().rev());
                continue;
            }
            let inst = &self.builder.function.insts[id];
            if inst.op.is_construct() {
                let nested = inst.op.blocks();
                self.builder.insert(id);
                stack.extend(nested.into_iter().rev().map(|it| self.open_frame(it)));
            } else if inst.results.is_empty() {
                self.builder.insert(id);
            } else {
                self.simplify_inst(id);
            }
        }
    }

    fn open_frame(&mut self, block: BlockId) -> Frame {
        let insts = &mut self.builder.function.blocks[block].insts;
        let capacity = insts.len();
        let mut rest = std::mem::replace(insts, Vec::with_capacity(capacity));
        rest.reverse();
        Frame { block, rest, mark: None }
    }

    fn pop_scope(&mut self, mark: usize) {
        for key in self.log.drain(mark..).rev() {
            if let Some(insts) = self.known.get_mut(&key) {
                insts.pop();
            }
        }
    }

    fn resolve_args(&mut self, id: InstId) {
        for arg in &mut self.builder.function.insts[id].args {
            *arg = self.replaced.resolve(*arg);
        }
    }

    /// Replaces an `if` on a negated condition with one on the condition.
    fn remove_negated_condition(&mut self, id: InstId) {
        let function = &mut *self.builder.function;
        if let Op::If { then, otherwise } = function.insts[id].op
            && let Some(Inst { op: Op::Unary(UnaryOp::Not), args, .. }) =
                function.def(function.insts[id].args[0])
        {
            let condition = args[0];
            function.insts[id].op = Op::If { then: otherwise, otherwise: then };
            function.insts[id].args[0] = condition;
        }
    }

    /// The instructions that replace a construct that executes only one block, once, to its end.
    fn flatten_construct(&mut self, id: InstId) -> Option<Vec<InstId>> {
        let function = &mut *self.builder.function;
        if let Op::If { then, otherwise } = function.insts[id].op
            && let Some(condition) = function.constant_bits(function.insts[id].args[0])
        {
            let (taken, dropped) = if condition != 0 { (then, otherwise) } else { (otherwise, then) };
            // Only a branch without other exits can replace the `if`: unlike an `if`, a remaining block would obstruct
            // jumps out of it.
            let own = function.blocks[dropped].terminator();
            let from_dropped = own.is_some_and(|last| function.insts[last].op == Op::Exit(id));
            let rest = self.exits.get(&id).copied().unwrap_or(0).checked_sub(u32::from(from_dropped));
            let last = function.blocks[taken].terminator()?;
            if function.insts[last].op != Op::Exit(id) || rest != Some(1) {
                return None;
            }
            self.drop_exits(dropped);
            self.has_dropped = true;
            let inst = &mut self.builder.function.insts[id];
            inst.op = Op::Block(taken);
            inst.args.clear();
        }
        let function = &mut *self.builder.function;
        if let Op::Exit(target) = function.insts[id].op {
            // The end of a construct that was flattened.
            if self.exits.get(&target) == Some(&u32::MAX) {
                let inst = &function.insts[id];
                let results = function.insts[target].results.iter().copied();
                self.replaced.extend(results.zip(inst.args.iter().copied()));
                return Some(Vec::new());
            }
            return None;
        }
        let Op::Block(body) = function.insts[id].op else { return None };
        let last = function.blocks[body].terminator()?;
        if function.insts[last].op != Op::Exit(id) || self.exits.get(&id) != Some(&1) {
            return None;
        }
        self.exits.insert(id, u32::MAX);
        Some(std::mem::take(&mut function.blocks[body].insts))
    }

    /// Removes the jumps of a deleted block from the counts.
    fn drop_exits(&mut self, block: BlockId) {
        let function = &*self.builder.function;
        let mut blocks = vec![block];
        while let Some(block) = blocks.pop() {
            for &id in &function.blocks[block].insts {
                blocks.extend(function.insts[id].op.blocks());
                if let Op::Exit(target) = function.insts[id].op
                    && let Some(count) = self.exits.get_mut(&target)
                {
                    *count -= 1;
                }
            }
        }
    }

    fn simplify_inst(&mut self, id: InstId) {
        // Folding adds instructions to the function.
        let inst = std::mem::replace(&mut self.builder.function.insts[id], Inst::placeholder());
        let folded = fold::fold(&mut self.builder, &inst);
        self.builder.function.insts[id] = inst;
        let inst = &self.builder.function.insts[id];
        if let Some(value) = folded {
            self.replaced.insert(inst.results[0], value);
            return;
        }
        if !(inst.op.is_pure() && inst.results.len() == 1) {
            return self.builder.insert(id);
        }
        let key = self.operation_hash(inst);
        let found = self.known.get(&key).into_iter().flatten().copied().find(|&other| {
            let function = &*self.builder.function;
            let other = &function.insts[other];
            other.op == inst.op
                && other.args == inst.args
                && function.ty(other.results[0]) == function.ty(inst.results[0])
        });
        match found {
            Some(other) => {
                let value = self.builder.function.result(other);
                self.replaced.insert(self.builder.function.result(id), value);
            }
            None => {
                self.known.entry(key).or_default().push(id);
                self.log.push(key);
                self.builder.insert(id);
            }
        }
    }

    fn operation_hash(&self, inst: &Inst) -> u64 {
        let mut hasher = FxHasher::default();
        std::mem::discriminant(&inst.op).hash(&mut hasher);
        match &inst.op {
            Op::Unary(op) => op.hash(&mut hasher),
            Op::Binary(op) | Op::Exact(op) => op.hash(&mut hasher),
            Op::Compare(compare) => compare.hash(&mut hasher),
            Op::Extract(component) | Op::Insert(component) => component.hash(&mut hasher),
            Op::Shuffle(components) => components.hash(&mut hasher),
            Op::ModuleVar(var) | Op::PrivateVar(var) => var.hash(&mut hasher),
            Op::Offset { stride, .. } => stride.hash(&mut hasher),
            Op::LaunchWord(memory, word) => (memory, word).hash(&mut hasher),
            Op::Input(input) => input.hash(&mut hasher),
            Op::LaunchAddress(state) => state.hash(&mut hasher),
            Op::Descriptor(number) => number.hash(&mut hasher),
            Op::Image(action) => action.hash(&mut hasher),
            Op::WorkItem(item) => item.hash(&mut hasher),
            // Other operations are distinguished by their arguments.
            _ => {}
        }
        inst.args.hash(&mut hasher);
        self.builder.function.ty(inst.results[0]).hash(&mut hasher);
        hasher.finish()
    }
}
