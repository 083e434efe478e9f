//! Gives every jump a form that SPIR-V's structured control flow has.
//!
//! A construct may be left by a jump to its own end from the `if`s inside it; a loop also from the switches and
//! blocks inside it. Any other way out goes step by step: a private variable says where to, the construct in
//! between is left, and behind it the variable is asked. Runs before variables become values, so that the carried
//! results can be variables too.

use crate::{
    diag::Sink,
    hir::CompareOp,
    ir::{Access, BlockId, Builder, CompareKind, Function, InstId, Module, Op, Type, ValueId, Var, VarId},
    opencl::AddressSpace,
    session::Options,
};

pub(super) fn structure_exits(module: &mut Module, _: &Options, _: &mut Sink) {
    for function in module.functions.iter_mut() {
        while let Some(jump) = find(function) {
            reroute(function, &jump);
        }
    }
}

/// A jump that is not allowed: the construct to leave instead is the innermost one that is left by a jump.
struct Jump {
    block: BlockId,
    inst: InstId,
    /// The construct around the jump that is to be left natively.
    step: InstId,
    /// The block that `step` stands in.
    around: BlockId,
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    If,
    Breakable,
    Loop,
}

fn find(function: &Function) -> Option<Jump> {
    find_in(function, function.body, &mut Vec::new())
}

fn find_in(function: &Function, block: BlockId, stack: &mut Vec<(InstId, Sort, BlockId)>) -> Option<Jump> {
    for &id in &function.blocks[block].insts {
        let op = &function.insts[id].op;
        let sort = match op {
            Op::If { .. } => Sort::If,
            Op::Switch { .. } | Op::Block(_) => Sort::Breakable,
            Op::Loop { .. } => Sort::Loop,
            Op::Exit(target) | Op::Continue(target) => {
                let is_exit = matches!(op, Op::Exit(_));
                if let Some((step, around)) = obstacle(stack, *target, is_exit) {
                    return Some(Jump { block, inst: id, step, around });
                }
                continue;
            }
            _ => continue,
        };
        stack.push((id, sort, block));
        for nested in op.blocks() {
            let found = find_in(function, nested, stack);
            if found.is_some() {
                return found;
            }
        }
        stack.pop();
    }
    None
}

/// What stands between a jump and its target, if it may not be jumped over: what must be left first.
fn obstacle(stack: &[(InstId, Sort, BlockId)], target: InstId, is_exit: bool) -> Option<(InstId, BlockId)> {
    let position = stack.iter().rposition(|(id, ..)| *id == target)?;
    let between = &stack[position + 1..];
    let target_sort = stack[position].1;
    // An `if` is left only by its own blocks; a block or switch also from `if`s inside, a loop from all but loops.
    let blocks = |sort: Sort| match (target_sort, is_exit) {
        (Sort::If, _) => true,
        (Sort::Breakable, _) => sort != Sort::If,
        (Sort::Loop, _) => sort == Sort::Loop,
    };
    between.iter().any(|(_, sort, _)| blocks(*sort)).then(|| {
        // Leave the innermost construct that is no `if`, or, inside an `if` only, that `if`.
        let &(step, _, around) = between
            .iter()
            .rev()
            .find(|(_, sort, _)| *sort != Sort::If)
            .or(between.last())
            .expect("something stands between");
        (step, around)
    })
}

/// The jump leaves `step` with a note of where it goes on to, and behind `step` it goes on if the note says so.
fn reroute(function: &mut Function, jump: &Jump) {
    let going_on = function.insts[jump.inst].clone();
    let span = going_on.span;
    let carried: Vec<(VarId, Type)> = going_on
        .args
        .iter()
        .map(|&arg| {
            let ty = function.ty(arg);
            (variable(function, "carried", ty), ty)
        })
        .collect();
    let note = variable(function, "leaving", Type::I32);
    let mut builder = Builder::new(function);
    builder.span = span;

    // In place of the jump.
    builder.function.blocks[jump.block].insts.pop();
    builder.at_end(jump.block);
    let yes = builder.i32(1);
    put(&mut builder, note, yes);
    for (&(var, _), &value) in carried.iter().zip(&going_on.args) {
        put(&mut builder, var, value);
    }
    let results: Vec<Type> =
        builder.function.insts[jump.step].results.iter().map(|&result| builder.function.ty(result)).collect();
    let nothing: Vec<ValueId> = results.into_iter().map(|ty| builder.undefined(ty)).collect();
    builder.exit(jump.step, &nothing);

    // Before the construct that is left, the note is cleared; behind it, it is read.
    let insts = &builder.function.blocks[jump.around].insts;
    let at = insts.iter().position(|&id| id == jump.step).expect("the construct stands in its block");
    builder.at(jump.around, at);
    let no = builder.i32(0);
    put(&mut builder, note, no);
    let (block, at) = builder.place();
    builder.at(block, at + 1);
    let noted = get(&mut builder, note, Type::I32);
    let is_noted = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, noted, no);
    let test = builder.open_if(is_noted, &[]);
    builder.at_end(test.otherwise);
    builder.exit(test.inst, &[]);
    builder.at_end(test.then);
    let values: Vec<ValueId> = carried.iter().map(|&(var, ty)| get(&mut builder, var, ty)).collect();
    builder.inst(going_on.op, &values, &[]);
}

fn variable(function: &mut Function, name: &str, ty: Type) -> VarId {
    let size = ty.size().unwrap_or(8).next_power_of_two();
    function.vars.push(Var {
        name: name.to_owned(),
        space: AddressSpace::Private,
        size,
        align: size,
        init: None,
        argument: None,
        element: None,
        span: function.span,
    })
}

fn put(builder: &mut Builder<'_>, var: VarId, value: ValueId) {
    let access = access(builder, value);
    let pointer = builder.private_var(var);
    builder.store(pointer, value, access);
}

fn get(builder: &mut Builder<'_>, var: VarId, ty: Type) -> ValueId {
    let pointer = builder.private_var(var);
    let align = builder.function.vars[var].align as u32;
    builder.load(pointer, ty, Access { is_shared: false, align, is_volatile: false })
}

fn access(builder: &Builder<'_>, value: ValueId) -> Access {
    let align = builder.ty(value).size().unwrap_or(8).next_power_of_two() as u32;
    Access { is_shared: false, align, is_volatile: false }
}
