//! Recognizes loops whose counter approaches a bound by the same step in each iteration, for passes that unroll loops. The passes
//! select the loops.

use kiln_ir::{
    BinaryOp, BlockId, Builder, Compare, CompareKind, Convert, Function, Inst, InstId, Op, Scalar, Type,
    ValueDef, ValueId,
};
use kiln_types::ops::CompareOp;
use rustc_hash::FxHashSet;

use crate::{
    if_to_select::is_cheap,
    limit::{limit, maximum},
};

/// A loop that begins with a test of its counter.
pub(super) struct CountedLoop {
    /// The number of the counter among the parameters of the body.
    pub(super) counter: usize,
    /// What each iteration adds to the counter.
    pub(super) step: Step,
    /// The loop continues if the counter compares like this with the bound.
    pub(super) compare: Compare,
    /// A value from outside the loop, or from the `invariants` of its body.
    pub(super) bound: ValueId,
    /// The `if` that leaves the loop. The instructions before it are pure.
    pub(super) test: InstId,
}

/// What each iteration of a loop adds to its counter.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// A constant, as a signed number.
    Constant(i64),
    /// A value that is the same in all iterations, such as `get_global_size(0)`. A 64-bit value is truncated for a 32-bit counter.
    Value(ValueId),
}

impl CountedLoop {
    /// The loop of this instruction, if its iterations are counted.
    pub(super) fn find(function: &Function, id: InstId) -> Option<Self> {
        let Op::Loop { body, continuing, .. } = function.insts[id].op else { return None };
        let test = *function.blocks[body].insts.iter().find(|&&it| !function.insts[it].op.is_pure())?;
        let Op::If { then, otherwise } = function.insts[test].op else { return None };
        let only = |block: BlockId| match function.blocks[block].insts[..] {
            [only] => Some(&function.insts[only]),
            _ => None,
        };
        let (stays, leaves) = (only(then)?, only(otherwise)?);
        let is_test = stays.op == Op::Exit(test) && leaves.op == Op::Exit(id);
        let condition = function.def(function.insts[test].args[0])?;
        let Op::Compare(mut compare) = condition.op else { return None };
        let (mut counter, mut bound) = (condition.args[0], condition.args[1]);
        if position(function, body, counter).is_none() {
            (counter, bound) = (bound, counter);
            compare.op = mirrored(compare.op);
        }
        let counter = position(function, body, counter)?;
        let step = step(function, id, (body, continuing), counter)?;
        let is_up = match compare.op {
            CompareOp::Less | CompareOp::LessEqual => true,
            CompareOp::Greater | CompareOp::GreaterEqual => false,
            CompareOp::Equal | CompareOp::NotEqual => return None,
        };
        let is_integer = matches!(function.ty(bound), Type::Scalar(Scalar::I32 | Scalar::I64));
        let is_counted = is_test
            && is_integer
            && function.insts[test].results.is_empty()
            && match step {
                Step::Constant(step) => (step > 0) == is_up && step.unsigned_abs() < 1 << 16,
                Step::Value(step) => {
                    is_up && is_repeatable(function, &values_inside(function, id), step, DEPTH)
                }
            }
            && is_invariant(function, body, bound);
        is_counted.then_some(Self { counter, step, compare, bound, test })
    }

    /// A copy of the body without the test, as the source of iterations.
    pub(super) fn untested_body(&self, function: &mut Function, body: BlockId) -> BlockId {
        let untested = function.blocks.push(function.blocks[body].clone());
        function.blocks[untested].insts.retain(|&it| it != self.test);
        untested
    }

    /// An upper bound of the number of iterations. `None` if the step is not constant, or if the counter or the bound may be
    /// negative.
    pub(super) fn max_iterations(&self, function: &Function, id: InstId) -> Option<u64> {
        let Step::Constant(step) = self.step else { return None };
        let start = function.insts[id].args[self.counter];
        let (low, high) = if step > 0 { (start, self.bound) } else { (self.bound, start) };
        let may_be_negative = [low, high].iter().any(|&it| limit(function, it).is_none());
        if self.compare.kind == CompareKind::Signed && may_be_negative {
            return None;
        }
        let distance = maximum(function, high).saturating_sub(function.constant_bits(low).unwrap_or(0));
        let steps = distance / step.unsigned_abs();
        let is_end_included = matches!(self.compare.op, CompareOp::LessEqual | CompareOp::GreaterEqual);
        let has_rest = !distance.is_multiple_of(step.unsigned_abs());
        steps.checked_add(u64::from(is_end_included || has_rest))
    }

    /// The number of iterations, if it is known and at most `limit`.
    pub(super) fn iterations(&self, function: &Function, id: InstId, limit: usize) -> Option<usize> {
        let Step::Constant(step) = self.step else { return None };
        let bits = function.ty(self.bound).scalar()?.bits();
        let number = |bits_of: u64| {
            let unused = 64 - bits;
            match self.compare.kind {
                CompareKind::Signed => i128::from(((bits_of << unused) as i64) >> unused),
                _ => i128::from(bits_of),
            }
        };
        let mut counter = number(function.constant_bits(function.insts[id].args[self.counter])?);
        let bound = number(function.constant_bits(self.bound)?);
        for count in 0..=limit {
            let is_inside = match self.compare.op {
                CompareOp::Less => counter < bound,
                CompareOp::LessEqual => counter <= bound,
                CompareOp::Greater => counter > bound,
                CompareOp::GreaterEqual => counter >= bound,
                CompareOp::Equal | CompareOp::NotEqual => return None,
            };
            if !is_inside {
                return Some(count);
            }
            counter += i128::from(step);
            // A counter that wraps around starts again.
            let range = match self.compare.kind {
                CompareKind::Signed => -(1i128 << (bits - 1))..1i128 << (bits - 1),
                _ => 0..1i128 << bits,
            };
            if !range.contains(&counter) {
                return None;
            }
        }
        None
    }
}

/// The number of a value among the parameters of a block.
fn position(function: &Function, block: BlockId, value: ValueId) -> Option<usize> {
    match function.values[value].def {
        ValueDef::Param(of, number) if of == block => Some(number as usize),
        _ => None,
    }
}

const fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        CompareOp::Equal | CompareOp::NotEqual => op,
    }
}

/// What each iteration adds to a parameter of the body.
fn step(
    function: &Function,
    id: InstId,
    (body, continuing): (BlockId, BlockId),
    counter: usize,
) -> Option<Step> {
    let next = &function.insts[function.blocks[continuing].terminator()?];
    if next.op != Op::Next(id) {
        return None;
    }
    let mut blocks = vec![body];
    let mut found = None;
    // All jumps to the next iteration must add the same.
    while let Some(block) = blocks.pop() {
        for &it in &function.blocks[block].insts {
            let inst = &function.insts[it];
            blocks.extend(inst.op.blocks());
            if inst.op == Op::Continue(id) {
                let resolve = |value: ValueId| match position(function, continuing, value) {
                    Some(number) => inst.args[number],
                    None => value,
                };
                let sum = resolve(next.args[counter]);
                let added = summand(function, sum, resolve, |it| {
                    position(function, body, resolve(it)) == Some(counter)
                })?;
                if *found.get_or_insert(added) != added {
                    return None;
                }
            }
        }
    }
    found
}

/// The other operand of a sum with a value that satisfies the predicate.
fn summand(
    function: &Function,
    sum: ValueId,
    resolve: impl Fn(ValueId) -> ValueId,
    is_counter: impl Fn(ValueId) -> bool,
) -> Option<Step> {
    let mut inst = function.def(sum)?;
    // In `i += get_global_size(0)`, an `int` is extended, and the sum is truncated.
    let is_wide = inst.op == Op::Convert(Convert::Truncate);
    if is_wide {
        inst = function.def(inst.args[0])?;
    }
    let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return None };
    let narrow = |value: ValueId| match function.def(value) {
        Some(Inst { op: Op::Convert(Convert::SignExtend | Convert::ZeroExtend), args, .. }) if is_wide => {
            args[0]
        }
        _ => value,
    };
    let is_first = is_counter(narrow(inst.args[0]));
    let other = resolve(inst.args[usize::from(is_first)]);
    if !is_first && !is_counter(narrow(inst.args[1])) {
        return None;
    }
    let constant = function.constant_bits(other).map(|bits| match function.ty(sum) == Type::I32 {
        true => i64::from(bits as i32),
        false => bits as i64,
    });
    match (op, constant) {
        (BinaryOp::Add, Some(constant)) => Some(Step::Constant(constant)),
        (BinaryOp::Add, None) => Some(Step::Value(other)),
        (BinaryOp::Sub, Some(constant)) if is_first => constant.checked_neg().map(Step::Constant),
        _ => None,
    }
}

/// The values that a loop defines.
fn values_inside(function: &Function, id: InstId) -> FxHashSet<ValueId> {
    let mut found = FxHashSet::default();
    let mut blocks = function.insts[id].op.blocks();
    while let Some(block) = blocks.pop() {
        found.extend(&function.blocks[block].params);
        for &it in &function.blocks[block].insts {
            found.extend(&function.insts[it].results);
            blocks.extend(function.insts[it].op.blocks());
        }
    }
    found
}

/// The maximum depth of a computation that is repeated before a loop.
const DEPTH: u32 = 4;

/// Whether a value can be computed before a loop that defines these values, even if the loop has no iteration.
fn is_repeatable(function: &Function, inside: &FxHashSet<ValueId>, value: ValueId, depth: u32) -> bool {
    !inside.contains(&value)
        || depth > 0
            && function.def(value).is_some_and(|inst| {
                is_cheap(function, inst)
                    && inst.args.iter().all(|&arg| is_repeatable(function, inside, arg, depth - 1))
            })
}

/// Computes the step of a loop before it.
pub(super) fn step_before(builder: &mut Builder<'_>, id: InstId, step: ValueId, ty: Type) -> ValueId {
    let inside = values_inside(builder.function, id);
    let value = repeat(builder, &inside, step);
    if builder.ty(value) == ty { value } else { builder.convert(Convert::Truncate, value, ty) }
}

fn repeat(builder: &mut Builder<'_>, inside: &FxHashSet<ValueId>, value: ValueId) -> ValueId {
    match builder.function.def(value).cloned() {
        Some(inst) if inside.contains(&value) => {
            let args: Vec<ValueId> = inst.args.iter().map(|&arg| repeat(builder, inside, arg)).collect();
            let ty = builder.ty(value);
            builder.value(inst.op, &args, ty)
        }
        _ => value,
    }
}

/// Whether a value is the same in all iterations of a loop, if the body compares with it before its first construct.
fn is_invariant(function: &Function, body: BlockId, value: ValueId) -> bool {
    match function.values[value].def {
        ValueDef::Const(_) => true,
        ValueDef::Param(block, _) => block != body,
        ValueDef::Result(inst, _) => {
            !function.blocks[body].insts.contains(&inst) || invariants(function, body).contains(&inst)
        }
    }
}

/// The instructions before the test of a loop that compute the same in all iterations, in their order: they are pure, and
/// their operands come from outside the loop or from each other.
pub(super) fn invariants(function: &Function, body: BlockId) -> Vec<InstId> {
    let mut found = Vec::new();
    let mut variable: FxHashSet<ValueId> = function.blocks[body].params.iter().copied().collect();
    for &it in function.blocks[body].insts.iter().take_while(|&&it| function.insts[it].op.is_pure()) {
        let inst = &function.insts[it];
        if inst.args.iter().any(|arg| variable.contains(arg)) {
            variable.extend(&inst.results);
        } else {
            found.push(it);
        }
    }
    found
}
