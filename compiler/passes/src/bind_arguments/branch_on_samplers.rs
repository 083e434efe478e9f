//! Replaces a read with a sampler that is chosen at run time by a branch with a read for each possible sampler. A launch can
//! bind only samplers that are constants or arguments of the kernel.

use kiln_ir::{Builder, CompareKind, Function, ImageAction, InstId, Op, ValueDef, ValueId};
use kiln_types::ops::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{origins::receivers, rewrite::rewrite_only};

/// Rewrites a kernel.
pub(super) fn branch_on_samplers(function: &mut Function) {
    let is_sample = |op: &Op| *op == Op::Image(ImageAction::Sample);
    if !function.may_contain(is_sample) {
        return;
    }
    let sources = possible_sources(function);
    rewrite_only(function, is_sample, |builder, id, replaced| {
        let sampler = builder.function.insts[id].args[2];
        match candidates(builder.function, &sources, sampler) {
            Some(found) if found.len() > 1 => {
                let texel = select_sampler(builder, id, &found);
                replaced.insert(builder.function.insts[id].results[0], texel);
            }
            _ => builder.insert(id),
        }
    });
}

/// The values that each value can be equal to: the operands of selections, and the arguments of jumps.
fn possible_sources(function: &Function) -> FxHashMap<ValueId, Vec<ValueId>> {
    let mut sources: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
    for id in function.inst_order() {
        let inst = &function.insts[id];
        if inst.op == Op::Select {
            sources.entry(inst.results[0]).or_default().extend(&inst.args[1..]);
        }
        for (&from, to) in inst.args.iter().zip(receivers(function, inst).into_iter().flatten()) {
            sources.entry(to).or_default().push(from);
        }
    }
    sources
}

/// The constants and parameters that a sampler can be. `None` if it can be another value.
fn candidates(
    function: &Function,
    sources: &FxHashMap<ValueId, Vec<ValueId>>,
    sampler: ValueId,
) -> Option<Vec<ValueId>> {
    let (mut open, mut seen, mut found) = (vec![sampler], FxHashSet::default(), Vec::new());
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        let is_argument =
            matches!(function.values[value].def, ValueDef::Param(block, _) if block == function.body);
        if is_argument || function.constant_bits(value).is_some() {
            found.push(value);
        } else {
            open.extend(sources.get(&value)?);
        }
    }
    found.sort_unstable();
    Some(found)
}

/// Builds the branches. They compare the bits of the sampler: samplers with equal bits are equal.
fn select_sampler(builder: &mut Builder<'_>, id: InstId, candidates: &[ValueId]) -> ValueId {
    let inst = builder.function.insts[id].clone();
    let ty = builder.ty(inst.results[0]);
    let read = |builder: &mut Builder<'_>, sampler: ValueId| {
        let mut args = inst.args.clone();
        args[2] = sampler;
        builder.value(inst.op.clone(), &args, ty)
    };
    let [first, rest @ ..] = candidates else { unreachable!("a sampler has a source") };
    if rest.is_empty() {
        return read(builder, *first);
    }
    let is_first = builder.compare(CompareOp::Equal, CompareKind::Unsigned, inst.args[2], *first);
    let choice = builder.open_if(is_first, &[ty]);
    let after = builder.insertion_point();
    builder.at_end(choice.then);
    let texel = read(builder, *first);
    builder.exit(choice.inst, &[texel]);
    builder.at_end(choice.otherwise);
    let texel = select_sampler(builder, id, rest);
    builder.exit(choice.inst, &[texel]);
    builder.at(after.0, after.1);
    builder.function.result(choice.inst)
}
