//! If-conversion: replaces an `if` that only chooses between values with selections, if both branches are cheap.
//!
//! This avoids divergence among the work-items of a sub-group.

use kiln_ir::{BlockId, Convert, Function, ImageAction, Inst, InstId, Op, Scalar, Type, ValueDef};
use kiln_session::Options;

/// The maximum number of operations that are computed unconditionally.
const MAX_SPECULATED: usize = 4;

pub(super) fn if_to_select(function: &mut Function, options: &Options) {
    if !options.optimize {
        return;
    }
    // Innermost first: after conversion of a nested `if`, the outer one may qualify.
    for block in function.block_order().into_iter().rev() {
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for id in insts {
            match selectable_arms(function, id) {
                Some(arms) => replace_by_selects(function, id, arms, &mut kept),
                None => kept.push(id),
            }
        }
        function.blocks[block].insts = kept;
    }
}

/// The two blocks of an `if` that only chooses between values.
fn selectable_arms(function: &Function, id: InstId) -> Option<[BlockId; 2]> {
    let inst = &function.insts[id];
    let Op::If { then, otherwise } = inst.op else { return None };
    let is_number = |ty| matches!(ty, Type::Scalar(_) | Type::Vector(..));
    let is_choice = inst.results.iter().all(|&result| is_number(function.ty(result)));
    let mut computed = 0;
    for block in [then, otherwise] {
        let (&last, others) = function.blocks[block].insts.split_last()?;
        computed += others.len();
        let is_cheap = others.iter().all(|&other| is_cheap(function, &function.insts[other]));
        if function.insts[last].op != Op::Exit(id) || !is_cheap || computed > MAX_SPECULATED {
            return None;
        }
    }
    is_choice.then_some([then, otherwise])
}

/// Operations that are cheap, have no effects, and are defined for all operands.
pub(super) fn is_cheap(function: &Function, inst: &Inst) -> bool {
    let Inst { op, results, .. } = inst;
    let is_division = op.is_integer_division();
    let is_query = matches!(
        op,
        Op::Image(
            ImageAction::Size | ImageAction::ChannelOrder | ImageAction::ChannelType | ImageAction::Levels
        )
    );
    let is_indexed = matches!(op, Op::ExtractDynamic | Op::InsertDynamic | Op::Element);
    // Undefined if the float does not fit into the integer (SPIR-V 3.52.11, `OpConvertFToS`).
    let is_to_integer = matches!(op, Op::Convert(Convert::Number { .. }))
        && !function.ty(results[0]).scalar().is_some_and(Scalar::is_float);
    // Undefined on overflow.
    let is_exact = matches!(op, Op::Exact(_)) && function.ty(results[0]).scalar().is_some_and(Scalar::is_int);
    op.is_pure() && !is_division && !is_query && !is_indexed && !is_to_integer && !is_exact
}

fn replace_by_selects(function: &mut Function, id: InstId, arms: [BlockId; 2], kept: &mut Vec<InstId>) {
    let [then, otherwise] = arms.map(|block| {
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        let last = insts.pop().expect("a block has a terminator");
        kept.extend(insts);
        function.insts[last].args.clone()
    });
    let condition = function.insts[id].args[0];
    let span = function.insts[id].span;
    for (&result, (&then, &otherwise)) in
        function.insts[id].results.clone().iter().zip(then.iter().zip(&otherwise))
    {
        let selection = function.add_inst(Op::Select, &[condition, then, otherwise], &[], span);
        function.insts[selection].results.push(result);
        function.values[result].def = ValueDef::Result(selection, 0);
        kept.push(selection);
    }
}
