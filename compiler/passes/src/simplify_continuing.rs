//! Moves the `continuing` block of a loop to the end of its body if it contains control flow or may contain some later.
//!
//! In SPIR-V, it is the continue construct, whose back-edge block post-dominates the continue target (2.11.1): a function in
//! `i += f()`, inlined there, must not leave the kernel at a trap, and no merge block in it may be unreachable.
//!
//! After `inline_calls`. Before `terminate_at_traps`, which adds jumps out of the kernel, and the passes that replace operations by
//! loops. Blocks without control flow stay, because other passes recognize counters by them.

use kiln_ir::{BinaryOp, BlockId, Function, InstId, Op, Replacements, Type, ValueDef, ValueId};
use kiln_session::Options;

pub(super) fn simplify_continuing(function: &mut Function, _: &Options) {
    let mut replaced = Replacements::default();
    // Inner loops first: an inner loop can be in the `continuing` block of an outer one.
    for id in function.insts_where(|op| matches!(op, Op::Loop { .. })).into_iter().rev() {
        let Op::Loop { body, continuing, .. } = function.insts[id].op else { continue };
        if function.blocks[continuing].insts.iter().any(|&it| !is_simple(function, it)) {
            move_to_body(function, id, (body, continuing), &mut replaced);
        }
    }
    function.replace_uses(&replaced);
}

/// Whether an instruction has no control flow, and gets none.
fn is_simple(function: &Function, id: InstId) -> bool {
    match &function.insts[id].op {
        // Some devices compute with halves of 64 bits, and divide in a loop.
        Op::Binary(op) | Op::Exact(op) => {
            !matches!(op, BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem)
        }
        Op::Load(_) | Op::Store(_) | Op::Next(_) => true,
        op => op.is_pure(),
    }
}

/// Moves the instructions of `continuing` to the end of the body.
fn move_to_body(
    function: &mut Function,
    id: InstId,
    (body, continuing): (BlockId, BlockId),
    replaced: &mut Replacements,
) {
    let jumps = jumps_to_continuing(function, id, body);
    let params = function.blocks[continuing].params.clone();
    match jumps[..] {
        [only] if function.blocks[body].insts.last() == Some(&only) => {
            function.blocks[body].insts.pop();
            replaced.extend(params.into_iter().zip(function.insts[only].args.iter().copied()));
        }
        // The instructions come after a block that the jumps leave.
        _ => enclose(function, id, body, &jumps, params),
    }
    let mut moved = std::mem::take(&mut function.blocks[continuing].insts);
    let Some(next) = moved.pop() else { return };
    function.blocks[body].insts.extend(moved);
    let args: Vec<ValueId> = function.insts[next].args.to_vec();
    let types: Vec<Type> = args.iter().map(|&arg| function.ty(arg)).collect();
    let span = function.insts[next].span;
    let jump = function.add_inst(Op::Continue(id), &args, &[], span);
    function.blocks[body].insts.push(jump);
    let emptied = function.add_block(&types);
    let values = function.blocks[emptied].params.clone();
    function.insts[next].args = values.into_iter().collect();
    function.blocks[emptied].insts.push(next);
    if let Op::Loop { continuing, .. } = &mut function.insts[id].op {
        *continuing = emptied;
    }
}

/// The jumps from the body of a loop to its `continuing` block.
fn jumps_to_continuing(function: &Function, id: InstId, body: BlockId) -> Vec<InstId> {
    let mut blocks = vec![body];
    let mut found = Vec::new();
    while let Some(block) = blocks.pop() {
        for &it in &function.blocks[block].insts {
            match &function.insts[it].op {
                Op::Continue(target) if *target == id => found.push(it),
                op => blocks.extend(op.blocks()),
            }
        }
    }
    found
}

/// Puts the instructions of the body into a block, which the jumps leave. Its results are the parameters of `continuing`.
fn enclose(function: &mut Function, id: InstId, body: BlockId, jumps: &[InstId], params: Vec<ValueId>) {
    let inside = function.add_block(&[]);
    function.blocks[inside].insts = std::mem::take(&mut function.blocks[body].insts);
    let span = function.insts[id].span;
    let block = function.add_inst(Op::Block(inside), &[], &[], span);
    for (number, &param) in (0..).zip(&params) {
        function.values[param].def = ValueDef::Result(block, number);
    }
    function.insts[block].results = params.into_iter().collect();
    function.blocks[body].insts.push(block);
    for &jump in jumps {
        function.insts[jump].op = Op::Exit(block);
    }
}
