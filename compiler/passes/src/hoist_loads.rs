//! Moves loads of global memory above stores to other bytes of the same object and above small branches, so that several loads
//! are under way at a time. For drivers that do not overlap loads themselves (`Tuning::overlaps_few_loads`).

use kiln_ir::{BlockId, Function, InstId, Op, ValueDef};
use kiln_session::Options;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::addresses::{Addresses, Effect, Range};

/// The maximum number of stores and branches that a load is moved above. Measured on an H100 with statements `a[i] *= b`: groups
/// of 16 loads take 0.9 of the time of groups of 8.
const PASSED: usize = 16;
/// The maximum number of instructions that a load is moved above, without those in branches.
const DISTANCE: usize = 256;
/// The maximum number of instructions in a branch that a load is moved above.
const BRANCH: usize = 64;

/// The stores and branches above which loads may move, with the bytes that they store to.
type Passable = FxHashMap<InstId, SmallVec<[Range; 1]>>;

pub(super) fn hoist_loads(function: &mut Function, options: &Options) {
    let is_passable = |op: &Op| matches!(op, Op::Store(_) | Op::If { .. } | Op::Switch { .. } | Op::Block(_));
    if !options.optimize || !options.target.tuning.overlaps_few_loads || !function.may_contain(is_passable) {
        return;
    }
    let mut addresses = Addresses::default();
    for block in function.block_order() {
        let insts = &function.blocks[block].insts;
        if insts.iter().any(|&id| is_passable(&function.insts[id].op)) {
            let insts = hoisted(function, block, &mut addresses);
            function.blocks[block].insts = insts;
        }
    }
}

/// The instructions of the block in their new order.
fn hoisted(function: &Function, block: BlockId, addresses: &mut Addresses) -> Vec<InstId> {
    let mut insts: Vec<InstId> = Vec::new();
    let mut passable = Passable::default();
    // Instructions that no load is moved above.
    let mut obstacles: FxHashSet<InstId> = FxHashSet::default();
    for &id in &function.blocks[block].insts {
        let inst = &function.insts[id];
        if !inst.op.blocks().is_empty() {
            match stores_of_branch(function, id, addresses) {
                Some(stores) => drop(passable.insert(id, stores)),
                None => drop(obstacles.insert(id)),
            }
            insts.push(id);
            continue;
        }
        match addresses.effect(function, inst) {
            Effect::Load(range) => {
                move_up(function, &mut insts, id, &range, &passable, &obstacles);
                continue;
            }
            Effect::Store(range) => {
                passable.insert(id, [range].into());
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

/// What a small branch stores to. `None` for loops, for branches that do more with memory, and for those that may leave the code
/// around them: a load after them would be executed although the program does not reach it.
fn stores_of_branch(
    function: &Function,
    branch: InstId,
    addresses: &mut Addresses,
) -> Option<SmallVec<[Range; 1]>> {
    let mut stores = SmallVec::new();
    let mut constructs = vec![branch];
    let mut size = 0;
    let mut next = 0;
    while let Some(&construct) = constructs.get(next) {
        next += 1;
        if matches!(function.insts[construct].op, Op::Loop { .. }) {
            return None;
        }
        for block in function.insts[construct].op.blocks() {
            for &id in &function.blocks[block].insts {
                let inst = &function.insts[id];
                size += 1;
                match &inst.op {
                    Op::Exit(target) if constructs.contains(target) => continue,
                    op if op.is_terminator() || size > BRANCH => return None,
                    op if !op.blocks().is_empty() => {
                        constructs.push(id);
                        continue;
                    }
                    _ => {}
                }
                match addresses.effect(function, inst) {
                    Effect::Store(range) => stores.push(range),
                    Effect::None | Effect::Load(_) => {}
                    Effect::Any => return None,
                }
            }
        }
    }
    Some(stores)
}

/// Inserts a load, with the computation of its address, before the first of the stores and branches above which it can
/// move.
fn move_up(
    function: &Function,
    insts: &mut Vec<InstId>,
    load: InstId,
    range: &Range,
    passable: &Passable,
    obstacles: &FxHashSet<InstId>,
) {
    let mut needed: FxHashSet<InstId> = operands(function, load).collect();
    // The instructions to move, in reverse order.
    let mut moved = vec![load];
    // The topmost of them so far: its index, and the number of `moved` instructions after it.
    let mut best = None;
    let mut passed = 0;
    for (at, &id) in insts.iter().enumerate().rev().take(DISTANCE) {
        if needed.contains(&id) {
            if !function.insts[id].op.is_pure() {
                break;
            }
            needed.extend(operands(function, id));
            moved.push(id);
        } else if let Some(stores) = passable.get(&id) {
            if passed == PASSED || !stores.iter().all(|stored| stored.is_apart(range)) {
                break;
            }
            passed += 1;
            best = Some((at, moved.len()));
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
