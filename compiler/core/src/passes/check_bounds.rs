//! Guards accesses to global and constant memory: only what lies in one of the launch's ranges is touched.
//!
//! The ranges stand in a table of the module's own, a program-scope variable that the launch fills (`Bounds`). An access that lies
//! in none reads zero or writes nothing, and the first such is noted in the table. Only with `Options::bounds_checks`.

use crate::{
    diag::Sink,
    hir::{CompareOp, LoopHints},
    index::Id as _,
    ir::{
        Access, Atomic, BinaryOp, Bounds, Builder, CompareKind, FuncId, Function, InstId, Module, Op, Scalar,
        Type, ValueId, Var, VarId,
    },
    opencl::{AddressSpace, AtomicOp},
    passes::rewrite::rewrite,
    session::Options,
};

pub(super) fn check_bounds(module: &mut Module, options: &Options, _: &mut Sink) {
    if !options.bounds_checks {
        return;
    }
    let Some(span) = module.functions.iter().next().map(|function| function.span) else { return };
    let table = module.vars.push(Var {
        name: "bounds".to_owned(),
        space: AddressSpace::Global,
        size: Bounds::SIZE,
        align: 8,
        init: None,
        argument: None,
        element: None,
        span,
    });
    let mut bounds = Bounds { table, sites: Vec::new(), places: Vec::new() };
    // Addresses as words: not every target passes 64-bit integers.
    let params = [Type::I32; 4];
    let mut checker = Function::new("lies_in_bounds".to_owned(), &params, Some(Type::I32), span);
    let checks = FuncId::from_index(module.functions.len());
    for function in module.functions.iter_mut() {
        rewrite(function, |builder, id, replaced| guard(builder, id, replaced, checks, &mut bounds));
    }
    write_checker(&mut checker, table);
    module.functions.push(checker);
    module.bounds = Some(bounds);
}

/// The global addresses that an instruction touches, and how many bytes from each.
fn touched(function: &Function, id: InstId) -> Vec<(ValueId, u64)> {
    let inst = &function.insts[id];
    let size = |value: ValueId| match function.ty(value) {
        Type::Scalar(scalar) => scalar.size(),
        Type::Vector(scalar, count) => scalar.size() * u64::from(count),
        _ => 8,
    };
    let addresses: &[(usize, u64)] = &match &inst.op {
        Op::Load(_) => vec![(0, size(inst.results[0]))],
        Op::Store(_) => vec![(0, size(inst.args[1]))],
        Op::Zero { size, .. } => vec![(0, *size)],
        Op::Copy { size, .. } => vec![(0, *size), (1, *size)],
        Op::Atomic(atomic) => vec![(0, atomic.ty.size())],
        _ => Vec::new(),
    };
    let is_global = |ty| matches!(ty, Type::Pointer(AddressSpace::Global | AddressSpace::Constant));
    let addresses = addresses.iter().map(|&(index, size)| (inst.args[index], size));
    addresses.filter(|&(value, _)| is_global(function.ty(value))).collect()
}

fn guard(
    builder: &mut Builder<'_>,
    id: InstId,
    replaced: &mut rustc_hash::FxHashMap<ValueId, ValueId>,
    checks: FuncId,
    bounds: &mut Bounds,
) {
    let touched = touched(builder.function, id);
    if touched.is_empty() {
        return builder.insert(id);
    }
    let site = builder.i32(bounds.sites.len() as i32);
    bounds.sites.push(builder.span);
    let mut lies_inside: Option<ValueId> = None;
    for (address, size) in touched {
        let address = builder.value(Op::PointerToInt, &[address], Type::I64);
        let words = builder.bitcast(address, Type::Vector(Scalar::I32, 2));
        let [low, high] = [0, 1].map(|word| builder.extract(words, word));
        let size = builder.i32(i32::try_from(size).unwrap_or(i32::MAX));
        let found = builder.call(checks, &[low, high, size, site], Some(Type::I32)).expect("it has a result");
        lies_inside = Some(match lies_inside {
            None => found,
            Some(before) => builder.binary(BinaryOp::And, before, found),
        });
    }
    let zero = builder.i32(0);
    let condition = lies_inside.expect("something is touched");
    let condition = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, condition, zero);
    let inst = builder.function.insts[id].clone();
    let types: Vec<Type> = inst.results.iter().map(|&result| builder.ty(result)).collect();
    let test = builder.open_if(condition, &types);
    let place = builder.place();
    builder.at_end(test.then);
    // Anew, as the old results are now those of the branch.
    let inner = builder.inst(inst.op, &inst.args, &types);
    let values = builder.function.insts[inner].results.clone();
    builder.exit(test.inst, &values);
    builder.at_end(test.otherwise);
    let zeros: Vec<ValueId> = types.iter().map(|&ty| builder.bits(ty, 0)).collect();
    builder.exit(test.inst, &zeros);
    builder.at(place.0, place.1);
    let joined = builder.function.insts[test.inst].results.clone();
    replaced.extend(inst.results.into_iter().zip(joined));
}

/// Whether so many bytes from an address lie in a range of the table: 1, or 0 with a note of it.
fn write_checker(function: &mut Function, table: VarId) {
    let params = function.blocks[function.body].params.clone();
    let [low, high, size, site] = params[..] else { unreachable!("it has four parameters") };
    let body = function.body;
    let mut builder = Builder::new(function);
    builder.at_end(body);
    let words = builder.construct(&[low, high], Type::Vector(Scalar::I32, 2));
    let address = builder.bitcast(words, Type::I64);
    let access = |align| Access { is_shared: false, align, is_volatile: false };
    let base = builder.module_var(table, AddressSpace::Global);
    let count = builder.load(base, Type::I32, access(8));
    let (zero, one) = (builder.i32(0), builder.i32(1));
    let open = builder.open_loop(&[zero], &[Type::I32], &[Type::I32], LoopHints::default());
    let after = builder.place();

    builder.at_end(open.body);
    let index = builder.function.blocks[open.body].params[0];
    let is_left = builder.compare(CompareOp::Less, CompareKind::Unsigned, index, count);
    let test = builder.open_if(is_left, &[]);
    builder.unreachable();
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &[zero]);
    builder.at_end(test.then);
    let ranges = builder.offset_bytes(base, Bounds::HEADER as i64);
    let range = builder.offset(ranges, index, 16);
    let start = builder.load(range, Type::I64, access(8));
    let end = builder.offset_bytes(range, 8);
    let end = builder.load(end, Type::I64, access(8));
    let begins = builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, start, address);
    let precedes = builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, address, end);
    let room = builder.binary(BinaryOp::Sub, end, address);
    let wide = builder.resize(size, Scalar::I64, false);
    let fits = builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, wide, room);
    let inside = builder.binary(BinaryOp::And, begins, precedes);
    let inside = builder.binary(BinaryOp::And, inside, fits);
    let found = builder.open_if(inside, &[]);
    builder.unreachable();
    builder.at_end(found.then);
    builder.exit(open.inst, &[one]);
    builder.at_end(found.otherwise);
    builder.continue_loop(open.inst, &[index]);
    builder.at_end(open.continuing);
    let index = builder.function.blocks[open.continuing].params[0];
    let next = builder.binary_bits(BinaryOp::Add, index, 1);
    builder.next(open.inst, &[next]);

    builder.at(after.0, after.1);
    let lies_inside = builder.function.insts[open.inst].results[0];
    let is_outside = builder.compare(CompareOp::Equal, CompareKind::Unsigned, lies_inside, zero);
    let fault = builder.open_if(is_outside, &[]);
    let after = builder.place();
    builder.at_end(fault.then);
    let flag = builder.offset_bytes(base, 4);
    let first = Op::Atomic(Atomic::counting(AtomicOp::Exchange));
    let before = builder.value(first, &[flag, one], Type::I32);
    let is_first = builder.compare(CompareOp::Equal, CompareKind::Unsigned, before, zero);
    let note = builder.open_if(is_first, &[]);
    let end_of_fault = builder.place();
    builder.at_end(note.then);
    for (at, value, align) in [(8, address, 8), (16, size, 4), (20, site, 4)] {
        let place = builder.offset_bytes(base, at);
        builder.store(place, value, access(align));
    }
    builder.exit(note.inst, &[]);
    builder.at_end(note.otherwise);
    builder.exit(note.inst, &[]);
    builder.at(end_of_fault.0, end_of_fault.1);
    builder.exit(fault.inst, &[]);
    builder.at_end(fault.otherwise);
    builder.exit(fault.inst, &[]);
    builder.at(after.0, after.1);
    builder.ret(Some(lies_inside));
}
