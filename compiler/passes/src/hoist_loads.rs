//! Moves loads of global memory above stores to other bytes of the same object, so that several loads are under way at a time.
//! For drivers that do not overlap loads themselves (`Tuning::overlaps_few_loads`).

use kiln_ir::{BlockId, Function, InstId, Op, ValueDef};
use kiln_session::Options;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::addresses::{Addresses, Effect, Range};

/// The maximum number of stores that a load is moved above. Measured on an H100 with statements `a[i] *= b`: groups of 16 loads
/// take 0.9 of the time of groups of 8.
const STORES: usize = 16;
/// The maximum number of instructions that a load is moved above.
const DISTANCE: usize = 256;

pub(super) fn hoist_loads(function: &mut Function, options: &Options) {
    let is_store = |op: &Op| matches!(op, Op::Store(_));
    if !options.optimize || !options.target.tuning.overlaps_few_loads || !function.may_contain(is_store) {
        return;
    }
    let mut addresses = Addresses::default();
    for block in function.block_order() {
        let insts = &function.blocks[block].insts;
        if insts.iter().any(|&id| is_store(&function.insts[id].op)) {
            let insts = hoisted(function, block, &mut addresses);
            function.blocks[block].insts = insts;
        }
    }
}

/// The instructions of the block in their new order.
fn hoisted(function: &Function, block: BlockId, addresses: &mut Addresses) -> Vec<InstId> {
    let mut insts: Vec<InstId> = Vec::new();
    let mut stores: FxHashMap<InstId, Range> = FxHashMap::default();
    // Instructions that no load is moved above.
    let mut obstacles: FxHashSet<InstId> = FxHashSet::default();
    for &id in &function.blocks[block].insts {
        let inst = &function.insts[id];
        match addresses.effect(function, inst) {
            Effect::Load(range) => {
                move_up(function, &mut insts, id, &range, &stores, &obstacles);
                continue;
            }
            Effect::Store(range) => {
                stores.insert(id, range);
            }
            Effect::None => {}
            Effect::Any => {
                obstacles.insert(id);
            }
        }
        insts.push(id);
    }
    insts
}

/// Inserts a load, with the computation of its address, before the first of the stores above which it can move.
fn move_up(
    function: &Function,
    insts: &mut Vec<InstId>,
    load: InstId,
    range: &Range,
    stores: &FxHashMap<InstId, Range>,
    obstacles: &FxHashSet<InstId>,
) {
    let mut needed: FxHashSet<InstId> = operands(function, load).collect();
    // The instructions to move, in reverse order.
    let mut moved = vec![load];
    // The topmost such store so far: its index, and the number of `moved` instructions after it.
    let mut best = None;
    let mut passed = 0;
    for (at, &id) in insts.iter().enumerate().rev().take(DISTANCE) {
        if let Some(stored) = stores.get(&id) {
            if passed == STORES || !stored.is_apart(range) {
                break;
            }
            passed += 1;
            best = Some((at, moved.len()));
        } else if needed.contains(&id) {
            if !function.insts[id].op.is_pure() {
                break;
            }
            needed.extend(operands(function, id));
            moved.push(id);
        } else if obstacles.contains(&id) {
            break;
        }
    }
    let Some((at, count)) = best else {
        insts.push(load);
        return;
    };
    moved.truncate(count);
    let rest: Vec<InstId> = insts.drain(at..).filter(|id| !moved.contains(id)).collect();
    insts.extend(moved.into_iter().rev());
    insts.extend(rest);
}

/// The instructions that compute the operands of an instruction.
fn operands(function: &Function, id: InstId) -> impl Iterator<Item = InstId> + '_ {
    function.insts[id].args.iter().filter_map(|&arg| match function.values[arg].def {
        ValueDef::Result(inst, _) => Some(inst),
        _ => None,
    })
}
