//! Renumbers blocks, instructions and values in program order and drops unreachable ones. Passes traverse a function
//! many times; this improves their memory locality.

use super::{Block, BlockId, Const, Function, Inst, InstId, Op, Value, ValueDef, ValueId};
use kiln_types::index::{Id, Table};

/// New ids by old ids.
struct IdMap<I>(Vec<Option<I>>);

impl<I: Id> IdMap<I> {
    fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// The new id of a reachable item.
    fn new_id(&self, old: I) -> I {
        self.0[old.index()].unwrap_or_else(|| unreachable!("it is part of the function"))
    }
}

impl Function {
    /// Assigns new ids in program order to everything reachable, and drops the rest.
    pub fn renumber(&mut self) {
        let order = self.block_order();
        let mut blocks = IdMap::<BlockId>::new(self.blocks.len());
        let mut insts = IdMap::<InstId>::new(self.insts.len());
        let mut count = 0;
        for (number, &block) in order.iter().enumerate() {
            blocks.0[block.index()] = Some(BlockId::from_index(number));
            for &inst in &self.blocks[block].insts {
                insts.0[inst.index()] = Some(InstId::from_index(count));
                count += 1;
            }
        }
        let mut names = Renaming {
            names: IdMap::new(self.values.len()),
            // Each reachable instruction has about one result.
            new: Table::with_capacity(self.values.len().min(2 * count)),
            old: std::mem::take(&mut self.values),
            blocks,
            insts,
        };
        let mut old_blocks = std::mem::replace(&mut self.blocks, Table::with_capacity(order.len()));
        let mut old_insts = std::mem::replace(&mut self.insts, Table::with_capacity(count));
        for block in order {
            let Block { mut params, mut insts } = std::mem::take(&mut old_blocks[block]);
            names.values(&mut params);
            for id in &mut insts {
                let old = &mut old_insts[*id];
                let mut inst = Inst {
                    op: std::mem::replace(&mut old.op, Op::Unreachable),
                    args: std::mem::take(&mut old.args),
                    results: std::mem::take(&mut old.results),
                    span: old.span,
                };
                names.op(&mut inst.op);
                names.values(&mut inst.args);
                names.values(&mut inst.results);
                *id = self.insts.push(inst);
            }
            self.blocks.push(Block { params, insts });
        }
        self.values = names.new;
        self.body = names.blocks.new_id(self.body);
    }
}

struct Renaming {
    old: Table<ValueId, Value>,
    new: Table<ValueId, Value>,
    names: IdMap<ValueId>,
    blocks: IdMap<BlockId>,
    insts: IdMap<InstId>,
}

impl Renaming {
    fn values(&mut self, values: &mut [ValueId]) {
        for value in values {
            *value = self.value(*value);
        }
    }

    /// The new id of a value, assigned when it is first seen.
    fn value(&mut self, value: ValueId) -> ValueId {
        if let Some(known) = self.names.0[value.index()] {
            return known;
        }
        let Value { ty, def } = &mut self.old[value];
        let def = match def {
            ValueDef::Result(inst, number) => ValueDef::Result(self.insts.new_id(*inst), *number),
            ValueDef::Param(block, number) => ValueDef::Param(self.blocks.new_id(*block), *number),
            ValueDef::Const(constant) => ValueDef::Const(std::mem::replace(constant, Const::Undefined)),
        };
        let new = self.new.push(Value { ty: *ty, def });
        self.names.0[value.index()] = Some(new);
        new
    }

    fn op(&self, op: &mut Op) {
        match op {
            Op::If { then, otherwise } => {
                (*then, *otherwise) = (self.blocks.new_id(*then), self.blocks.new_id(*otherwise));
            }
            Op::Loop { body, continuing, .. } => {
                (*body, *continuing) = (self.blocks.new_id(*body), self.blocks.new_id(*continuing));
            }
            Op::Switch { cases, default } => {
                for case in cases {
                    case.block = self.blocks.new_id(case.block);
                }
                *default = self.blocks.new_id(*default);
            }
            Op::Block(block) => *block = self.blocks.new_id(*block),
            Op::Exit(target) | Op::Continue(target) | Op::Next(target) => {
                *target = self.insts.new_id(*target)
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, verify};

    #[test]
    fn renumbering_drops_unreachable_items_only() {
        let text = r#"function #0 "f"(%0: i32, %1: ptr<global>) -> i32 {
  %2: i32 = add %0, i32 7
  %3: i32 = mul %0, i32 7
  %4: i32 = loop L0 %2 (%5: i32) {
    %6: bool = compare less signed %5, i32 100
    if L1 %6 {
      continue L0 %5
    } else {
      exit L1
    }
    exit L0 %5
  } continuing (%7: i32) {
    %8: i32 = add %7, i32 1
    next L0 %8
  }
  return %4
}
"#;
        let mut module = parse(text).expect("the text is sound");
        let function = module.functions.iter_mut().next().expect("a function");
        let body = function.body;
        let dropped = function.blocks[body].insts.remove(1);
        assert_eq!(function.insts[dropped].op, Op::Binary(crate::BinaryOp::Mul));
        let before = function.clone();
        function.renumber();
        assert_eq!(function.insts.len(), before.insts.len() - 1);
        assert!(function.values.len() < before.values.len());
        assert_eq!(function.body, BlockId::from_index(0));
        assert_eq!(function.inst_order(), function.insts.ids().collect::<Vec<_>>());
        let after = module.to_string();
        assert_eq!(verify(&module), Vec::<String>::new());
        *module.functions.iter_mut().next().expect("a function") = before;
        assert_eq!(module.to_string(), after);
    }
}
