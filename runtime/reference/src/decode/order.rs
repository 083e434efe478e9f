//! The control-flow graph: block successors and the block order.
//!
//! Must not depend on the instructions within blocks.

use std::collections::HashMap;

use spirv::Op;

use super::Decoder;
use crate::{Invalid, words::Inst};

/// The reachable blocks, each after its dominators. Not every producer emits them in that order (SPIR-V 2.16.1).
pub(super) fn in_order<'i, 'w>(
    decoder: &Decoder<'_>,
    insts: &'i [Inst<'w>],
) -> Result<Vec<&'i [Inst<'w>]>, Invalid> {
    let starts: Vec<usize> = (0..insts.len()).filter(|&at| insts[at].op == Op::Label).collect();
    let ends = starts.iter().skip(1).copied().chain([insts.len()]);
    let blocks: Vec<&[Inst<'_>]> = starts.iter().zip(ends).map(|(&start, end)| &insts[start..end]).collect();
    let mut numbers = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        numbers.insert(block[0].word(0)?, number);
    }
    let successors = |block: usize| -> Vec<usize> {
        let jump = blocks[block]
            .iter()
            .rfind(|inst| matches!(inst.op, Op::Branch | Op::BranchConditional | Op::Switch));
        let labels = jump.map_or_else(Vec::new, |jump| match jump.op {
            Op::Branch => jump.words.to_vec(),
            Op::BranchConditional => jump.words.iter().skip(1).take(2).copied().collect(),
            _ => {
                let is_wide = jump.word(0).is_ok_and(|selector| is_wide(decoder, insts, selector));
                let cases = cases(jump, is_wide).map(|(_, label)| label);
                jump.words.get(1).copied().into_iter().chain(cases).collect()
            }
        });
        labels.iter().filter_map(|label| numbers.get(label).copied()).collect()
    };
    // Depth-first search in postorder: a block is placed after all its successors.
    let mut seen = vec![false; blocks.len()];
    let mut order = Vec::new();
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    if !blocks.is_empty() {
        seen[0] = true;
        path.push((0, successors(0)));
    }
    while let Some((block, left)) = path.last_mut() {
        match left.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                path.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(blocks[*block]);
                path.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}

/// The cases of a switch: literals and labels. A 64-bit literal takes two words.
pub(super) fn cases(switch: &Inst<'_>, is_wide: bool) -> impl Iterator<Item = (u64, u32)> {
    let width = if is_wide { 2 } else { 1 };
    switch.from(2).chunks_exact(width + 1).map(move |case| {
        let high = if is_wide { case[1] } else { 0 };
        (u64::from(case[0]) | u64::from(high) << 32, case[width])
    })
}

/// Whether a value has 64 bits. Its instruction may not be decoded yet.
fn is_wide(decoder: &Decoder<'_>, insts: &[Inst<'_>], value: u32) -> bool {
    let is_long = |ty: u32| decoder.types.lanes(ty).is_ok_and(|(scalar, _)| scalar.size() == 8);
    match decoder.constant(value) {
        Some(&(ty, _)) => is_long(ty),
        None => insts.iter().any(|inst| inst.words.get(1) == Some(&value) && is_long(inst.words[0])),
    }
}
