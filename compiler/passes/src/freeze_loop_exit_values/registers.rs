//! The registers in which a driver may keep block parameters, and the positions of their writes. A conservative model, not
//! of a particular driver.
//!
//! A driver may keep a block parameter and its arguments in one register if their live ranges do not overlap. The
//! register is then written by the jump that passes an argument, or already when the argument is computed.

use kiln_ir::{BlockId, Function, InstId, Op, ValueDef, ValueId};
use kiln_types::index::Id as _;
use rustc_hash::FxHashMap;

use super::BlockParams;

/// A position in the program order of a function.
pub(super) type Position = u32;

/// The registers of a function.
pub(super) struct Registers {
    /// The position of each instruction, by id.
    begins: Vec<Position>,
    /// The position at the end of each instruction; for constructs, after all nested blocks.
    ends: Vec<Position>,
    /// The innermost loop around each instruction.
    loops: Vec<Option<InstId>>,
    /// Union-find: the representative of a value's register, or a value nearer to it.
    parents: FxHashMap<ValueId, ValueId>,
    /// The positions of the writes to each register, in order, by its representative.
    writes: FxHashMap<ValueId, Vec<Position>>,
}

impl Registers {
    /// Assigns registers to the values of a function.
    pub(super) fn find(function: &Function, block_params: &BlockParams) -> Self {
        let positions = vec![0; function.insts.len()];
        let mut registers = Self {
            begins: positions.clone(),
            ends: positions,
            loops: vec![None; function.insts.len()],
            parents: FxHashMap::default(),
            writes: FxHashMap::default(),
        };
        for id in function.inst_order() {
            for (param, value) in param_arguments(function, id) {
                if function.constant(value).is_none() {
                    registers.merge_registers(param, value);
                }
            }
        }
        registers.walk(function, block_params, function.body, None, &mut 0);
        registers
    }

    /// The position of an instruction.
    pub(super) fn begin(&self, id: InstId) -> Position {
        self.begins[id.index()]
    }

    /// The position at the end of an instruction.
    pub(super) fn end(&self, id: InstId) -> Position {
        self.ends[id.index()]
    }

    /// The innermost loop around an instruction.
    pub(super) fn loop_around(&self, id: InstId) -> Option<InstId> {
        self.loops[id.index()]
    }

    /// The position of a value's definition.
    pub(super) fn definition(&self, function: &Function, value: ValueId) -> Position {
        match function.values[value].def {
            ValueDef::Result(id, _) => self.end(id),
            ValueDef::Param(block, _) => self.begin(function.blocks[block].insts[0]) - 1,
            ValueDef::Const(_) => 0,
        }
    }

    /// The position of the next write to a value's register.
    pub(super) fn next_write(&self, value: ValueId, after: Position) -> Position {
        let Some(writes) = self.writes.get(&self.representative(value)) else { return Position::MAX };
        writes.get(writes.partition_point(|&it| it <= after)).copied().unwrap_or(Position::MAX)
    }

    /// The representative of a value's register.
    fn representative(&self, mut value: ValueId) -> ValueId {
        while let Some(&next) = self.parents.get(&value)
            && next != value
        {
            value = next;
        }
        value
    }

    /// Merges two registers, with path compression.
    fn merge_registers(&mut self, one: ValueId, other: ValueId) {
        let representative = self.representative(one);
        for mut value in [one, other] {
            while let Some(next) = self.parents.insert(value, representative)
                && next != value
            {
                value = next;
            }
        }
    }

    fn walk(
        &mut self,
        function: &Function,
        block_params: &BlockParams,
        block: BlockId,
        around: Option<InstId>,
        now: &mut Position,
    ) {
        for &id in &function.blocks[block].insts {
            *now += 1;
            self.begins[id.index()] = *now;
            self.loops[id.index()] = around;
            let inst = &function.insts[id];
            for (param, value) in param_arguments(function, id) {
                if param != value && block_params.sources(function, param).nth(1).is_some() {
                    self.writes.entry(self.representative(param)).or_default().push(*now);
                }
            }
            if inst.op.is_construct() {
                let around = if matches!(inst.op, Op::Loop { .. }) { Some(id) } else { around };
                for nested in inst.op.blocks() {
                    self.walk(function, block_params, nested, around, now);
                }
                *now += 1;
            } else {
                for result in inst.results.iter().filter(|it| self.parents.contains_key(it)) {
                    self.writes.entry(self.representative(*result)).or_default().push(*now);
                }
            }
            self.ends[id.index()] = *now;
        }
    }
}

/// The (block parameter, argument) pairs of an instruction.
fn param_arguments(function: &Function, id: InstId) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
    let inst = &function.insts[id];
    let block_params = match inst.op {
        Op::Loop { body, .. } => &function.blocks[body].params[..],
        Op::Exit(target) => &function.insts[target].results[..],
        Op::Next(target) | Op::Continue(target) => match function.insts[target].op {
            Op::Loop { body, .. } if matches!(inst.op, Op::Next(_)) => &function.blocks[body].params[..],
            Op::Loop { continuing, .. } => &function.blocks[continuing].params[..],
            _ => &[],
        },
        _ => &[],
    };
    block_params.iter().copied().zip(inst.args.iter().copied())
}
