//! Renumbers blocks, instructions and values in program order and drops unreachable ones. Passes traverse a function
//! many times; this improves their memory locality.

use super::{Block, BlockId, Function, Inst, InstId, Op, Value, ValueDef, ValueId};
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
            old: std::mem::take(&mut self.values),
            new: Table::new(),
            names: IdMap::new(0),
            blocks,
            insts,
        };
        names.names = IdMap::new(names.old.len());
        let mut old_blocks = std::mem::take(&mut self.blocks);
        let mut old_insts = std::mem::take(&mut self.insts);
        for block in order {
            let Block { params, insts } = std::mem::take(&mut old_blocks[block]);
            let params = params.into_iter().map(|param| names.value(param)).collect();
            let mut renamed = Vec::with_capacity(insts.len());
            for id in insts {
                let old = &mut old_insts[id];
                let inst = Inst {
                    op: names.op(std::mem::replace(&mut old.op, Op::Unreachable)),
                    args: old.args.iter().map(|&arg| names.value(arg)).collect(),
                    results: old.results.iter().map(|&result| names.value(result)).collect(),
                    span: old.span,
                };
                renamed.push(self.insts.push(inst));
            }
            self.blocks.push(Block { params, insts: renamed });
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
    /// The new id of a value, assigned when it is first seen.
    fn value(&mut self, value: ValueId) -> ValueId {
        if let Some(known) = self.names.0[value.index()] {
            return known;
        }
        let Value { ty, def } = &mut self.old[value];
        let def = match def {
            ValueDef::Result(inst, number) => ValueDef::Result(self.insts.new_id(*inst), *number),
            ValueDef::Param(block, number) => ValueDef::Param(self.blocks.new_id(*block), *number),
            ValueDef::Const(constant) => ValueDef::Const(constant.clone()),
        };
        let new = self.new.push(Value { ty: *ty, def });
        self.names.0[value.index()] = Some(new);
        new
    }

    fn op(&self, mut op: Op) -> Op {
        match &mut op {
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
        op
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
