//! Recognizes loops whose counter approaches a bound by a constant step, for passes that unroll loops. The passes select the
//! loops.

use kiln_ir::{
    BinaryOp, BlockId, Compare, CompareKind, Function, Inst, InstId, Op, Scalar, Type, ValueDef, ValueId,
};
use kiln_types::ops::CompareOp;
use rustc_hash::FxHashSet;

use crate::limit::{limit, maximum};

/// A loop that begins with a test of its counter.
pub(super) struct CountedLoop {
    /// The number of the counter among the parameters of the body.
    pub(super) counter: usize,
    /// What each iteration adds to the counter, as a signed number.
    pub(super) step: i64,
    /// The loop continues if the counter compares like this with the bound.
    pub(super) compare: Compare,
    /// A value from outside the loop, or from the `invariants` of its body.
    pub(super) bound: ValueId,
    /// The `if` that leaves the loop. The instructions before it are pure.
    pub(super) test: InstId,
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
            && (step > 0) == is_up
            && step.unsigned_abs() < 1 << 16
            && is_invariant(function, body, bound);
        is_counted.then_some(Self { counter, step, compare, bound, test })
    }

    /// A copy of the body without the test, as the source of iterations.
    pub(super) fn untested_body(&self, function: &mut Function, body: BlockId) -> BlockId {
        let untested = function.blocks.push(function.blocks[body].clone());
        function.blocks[untested].insts.retain(|&it| it != self.test);
        untested
    }

    /// An upper bound of the number of iterations. `None` if the counter or the bound may be negative.
    pub(super) fn max_iterations(&self, function: &Function, id: InstId) -> Option<u64> {
        let start = function.insts[id].args[self.counter];
        let (low, high) = if self.step > 0 { (start, self.bound) } else { (self.bound, start) };
        let may_be_negative = [low, high].iter().any(|&it| limit(function, it).is_none());
        if self.compare.kind == CompareKind::Signed && may_be_negative {
            return None;
        }
        let distance = maximum(function, high).saturating_sub(function.constant_bits(low).unwrap_or(0));
        let steps = distance / self.step.unsigned_abs();
        let is_end_included = matches!(self.compare.op, CompareOp::LessEqual | CompareOp::GreaterEqual);
        let has_rest = !distance.is_multiple_of(self.step.unsigned_abs());
        steps.checked_add(u64::from(is_end_included || has_rest))
    }

    /// The number of iterations, if it is known and at most `limit`.
    pub(super) fn iterations(&self, function: &Function, id: InstId, limit: usize) -> Option<usize> {
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
            counter += i128::from(self.step);
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

/// The constant that each iteration adds to a parameter of the body.
fn step(
    function: &Function,
    id: InstId,
    (body, continuing): (BlockId, BlockId),
    counter: usize,
) -> Option<i64> {
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
                let sum = function.def(resolve(next.args[counter]))?;
                let added = constant_summand(function, sum, |it| {
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

/// The constant in a sum with a value that satisfies the predicate.
fn constant_summand(function: &Function, sum: &Inst, is_counter: impl Fn(ValueId) -> bool) -> Option<i64> {
    let (Op::Binary(op) | Op::Exact(op)) = sum.op else { return None };
    let (value, bits) = (sum.args[0], function.constant_bits(sum.args[1])?);
    if !is_counter(value) {
        return None;
    }
    let constant = if function.ty(value) == Type::I32 { i64::from(bits as i32) } else { bits as i64 };
    match op {
        BinaryOp::Add => Some(constant),
        BinaryOp::Sub => constant.checked_neg(),
        _ => None,
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
