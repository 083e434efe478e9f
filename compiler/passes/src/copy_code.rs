//! Copies blocks within a function, for passes that unroll loops. The passes select the loops.

use kiln_ir::{BlockId, Builder, Function, InstId, Op, Type, ValueId};
use rustc_hash::FxHashMap;

/// The number of instructions in a block and its nested blocks.
pub(super) fn block_size(function: &Function, block: BlockId) -> usize {
    let mut blocks = vec![block];
    let mut size = 0;
    while let Some(block) = blocks.pop() {
        for &id in &function.blocks[block].insts {
            size += 1;
            blocks.extend(function.insts[id].op.blocks());
        }
    }
    size
}

/// Appends iterations of a loop to `into`: copies of `body` and `continuing`, which are the blocks of the loop or their
/// replacements. Returns the arguments of the next iteration.
pub(super) fn append_iterations(
    function: &mut Function,
    into: BlockId,
    (id, [body, continuing]): (InstId, [BlockId; 2]),
    mut values: Vec<ValueId>,
    count: usize,
) -> Vec<ValueId> {
    let types = |function: &Function, block: BlockId| -> Vec<Type> {
        function.blocks[block].params.iter().map(|&param| function.ty(param)).collect()
    };
    let (in_body, in_continuing) = (types(function, body), types(function, continuing));
    for _ in 0..count {
        values = append_copy(function, into, body, &values, (id, Jump::Continue), &in_continuing);
        values = append_copy(function, into, continuing, &values, (id, Jump::Next), &in_body);
    }
    values
}

/// The jump that continues a loop.
#[derive(Clone, Copy, PartialEq)]
enum Jump {
    Continue,
    Next,
}

/// Appends a copy of a block to `into`, with these values for its parameters. `jump`, which continues the loop, becomes an
/// exit from the copy. Returns the arguments of `jump`.
fn append_copy(
    function: &mut Function,
    into: BlockId,
    block: BlockId,
    values: &[ValueId],
    jump: (InstId, Jump),
    results: &[Type],
) -> Vec<ValueId> {
    let mut builder = Builder::new(function);
    builder.at_end(into);
    builder.span = builder.function.insts[jump.0].span;
    let (around, empty) = builder.open_block(results);
    let params = builder.function.blocks[block].params.clone();
    let values = params.into_iter().zip(values.iter().copied()).collect();
    let mut copy =
        Copy { function, values, insts: FxHashMap::default(), replaced_jump: Some((jump, around)) };
    let made = copy.copy_block(block);
    function.blocks[empty].insts = std::mem::take(&mut function.blocks[made].insts);
    function.insts[around].results.to_vec()
}

/// Appends a copy of a block to `into`, with these values for its parameters.
pub(super) fn copy_into(function: &mut Function, into: BlockId, block: BlockId, values: &[ValueId]) {
    let values = function.blocks[block].params.iter().copied().zip(values.iter().copied()).collect();
    let mut copy = Copy { function, values, insts: FxHashMap::default(), replaced_jump: None };
    let made = copy.copy_block(block);
    let insts = std::mem::take(&mut function.blocks[made].insts);
    function.blocks[into].insts.extend(insts);
}

/// The state of copying within a function, with the new ids.
struct Copy<'f> {
    function: &'f mut Function,
    values: FxHashMap<ValueId, ValueId>,
    insts: FxHashMap<InstId, InstId>,
    /// A jump to replace with an exit from a construct.
    replaced_jump: Option<((InstId, Jump), InstId)>,
}

impl Copy<'_> {
    fn copy_block(&mut self, from: BlockId) -> BlockId {
        let source = self.function.blocks[from].clone();
        let to = self.function.add_block(&[]);
        for param in source.params {
            if !self.values.contains_key(&param) {
                let ty = self.function.ty(param);
                let copy = self.function.add_param(to, ty);
                self.values.insert(param, copy);
            }
        }
        for inst in source.insts {
            let copy = self.copy_inst(inst);
            self.function.blocks[to].insts.push(copy);
        }
        to
    }

    fn copy_inst(&mut self, from: InstId) -> InstId {
        let source = self.function.insts[from].clone();
        let args: Vec<ValueId> =
            source.args.iter().map(|arg| self.values.get(arg).copied().unwrap_or(*arg)).collect();
        let types: Vec<Type> = source.results.iter().map(|&result| self.function.ty(result)).collect();
        let to = self.function.add_inst(Op::Unreachable, &args, &types, source.span);
        self.insts.insert(from, to);
        let results = self.function.insts[to].results.clone();
        self.values.extend(source.results.into_iter().zip(results));
        let op = self.copy_op(source.op);
        self.function.insts[to].op = op;
        to
    }

    fn copy_op(&mut self, mut op: Op) -> Op {
        let jump = match op {
            Op::Continue(target) => Some((target, Jump::Continue)),
            Op::Next(target) => Some((target, Jump::Next)),
            _ => None,
        };
        if let (Some(jump), Some((replaced_jump, around))) = (jump, self.replaced_jump)
            && jump == replaced_jump
        {
            return Op::Exit(around);
        }
        match &mut op {
            Op::If { then, otherwise } => {
                (*then, *otherwise) = (self.copy_block(*then), self.copy_block(*otherwise));
            }
            Op::Loop { body, continuing, .. } => {
                (*body, *continuing) = (self.copy_block(*body), self.copy_block(*continuing));
            }
            Op::Switch { cases, default } => {
                for case in cases {
                    case.block = self.copy_block(case.block);
                }
                *default = self.copy_block(*default);
            }
            Op::Block(body) => *body = self.copy_block(*body),
            // A jump out of the copied code keeps its target.
            Op::Exit(target) | Op::Continue(target) | Op::Next(target) => {
                *target = self.insts.get(target).copied().unwrap_or(*target);
            }
            _ => {}
        }
        op
    }
}
