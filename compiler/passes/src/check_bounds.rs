//! Guards memory accesses with bounds checks, if `Options::bounds_checks` is set.
//!
//! An access to global or constant memory must lie in one of the launch's ranges. An access to local or private
//! memory must lie in the object that its pointer was derived from. Otherwise it reads zero or writes nothing, and
//! the first such access is recorded.
//!
//! The ranges, the sizes of local arguments and the record are in a table (`Bounds`): a program-scope variable that
//! the launch fills.

use kiln_ir::{
    Access, Atomic, BinaryOp, Bounds, Builder, CompareKind, Const, FuncId, Function, InstId, Module, Op,
    Replacements, Scalar, Type, ValueDef, ValueId, Var, VarId,
};
use kiln_session::{Options, diag::Sink};
use kiln_syntax::Span;
use kiln_types::{
    index::{Id as _, Table},
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp};

use crate::{
    origins::{Object, Origins},
    rewrite::rewrite,
};

pub(super) fn check_bounds(module: &mut Module, options: &Options, _: &mut Sink) {
    if !options.bounds_checks {
        return;
    }
    let Some(span) = module.functions.iter().next().map(|function| function.span) else { return };
    let parameters = module.functions.iter().map(|function| function.params().len()).max().unwrap_or(0);
    let locals = parameters as u64;
    let table = module.vars.push(Var::new("bounds", AddressSpace::Global, (Bounds::size(locals), 8), span));
    let mut bounds = Bounds { table, locals, sites: Vec::new(), positions: Vec::new() };
    // Pass addresses as words: not every target can pass 64-bit integers.
    let [checker, recorder] =
        [("lies_in_bounds", 3, Some(Type::I32)), ("note_outside", 4, None)].map(|(name, params, result)| {
            Function::new(name.to_owned(), &[Type::I32; 4][..params], result, span)
        });
    let first = module.functions.len();
    let checks =
        Checks { table, checker: FuncId::from_index(first), recorder: FuncId::from_index(first + 1) };
    let Module { functions, vars, .. } = module;
    for function in functions.iter_mut() {
        let origins = Origins::find(function, &|var| vars[var].space);
        rewrite(function, |builder, id, replaced| {
            let mut guard = Guard { builder, vars, origins: &origins, checks: &checks };
            guard.guard_instruction(id, replaced, &mut bounds.sites);
        });
    }
    for (mut function, write) in
        [(checker, write_checker as fn(&mut Function, VarId)), (recorder, write_recorder)]
    {
        write(&mut function, table);
        functions.push(function);
    }
    module.bounds = Some(bounds);
}

/// The functions that the guards call.
struct Checks {
    table: VarId,
    /// Checks whether some bytes are in a range of the table.
    checker: FuncId,
    /// Records an out-of-bounds access.
    recorder: FuncId,
}

/// The addresses that an instruction accesses, with the number of bytes.
fn accessed_ranges(function: &Function, id: InstId) -> Vec<(ValueId, u64)> {
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
    addresses.iter().map(|&(index, size)| (inst.args[index], size)).collect()
}

/// Builds the guard of one instruction.
struct Guard<'a, 'f> {
    builder: &'a mut Builder<'f>,
    vars: &'a Table<VarId, Var>,
    origins: &'a Origins,
    checks: &'a Checks,
}

/// When an access is in bounds.
enum InBounds {
    Always,
    /// In bounds if this is true. Otherwise, the guard records the address, in two words, and the names of the expected
    /// objects.
    If {
        condition: ValueId,
        at: ValueId,
        objects: String,
    },
}

impl Guard<'_, '_> {
    fn guard_instruction(
        &mut self,
        id: InstId,
        replaced: &mut Replacements,
        sites: &mut Vec<(Span, String)>,
    ) {
        let inst = self.builder.function.insts[id].clone();
        let mut lies_inside: Option<ValueId> = None;
        let mut violations = Vec::new();
        for (address, size) in accessed_ranges(self.builder.function, id) {
            let InBounds::If { condition, at, objects } = self.check_access(address, size) else { continue };
            violations.push((condition, at, size, sites.len()));
            sites.push((self.builder.span, objects));
            lies_inside = Some(match lies_inside {
                None => condition,
                Some(before) => self.builder.binary(BinaryOp::And, before, condition),
            });
        }
        let Some(condition) = lies_inside else { return self.builder.insert(id) };
        let types: Vec<Type> = inst.results.iter().map(|&result| self.builder.ty(result)).collect();
        let test = self.builder.open_if(condition, &types);
        let after = self.builder.insertion_point();
        self.builder.at_end(test.then);
        // Create a new instruction, because the old results now belong to the branch.
        let inner = self.builder.inst(inst.op, &inst.args, &types);
        let values = self.builder.function.insts[inner].results.clone();
        self.builder.exit(test.inst, &values);
        self.builder.at_end(test.otherwise);
        for (condition, at, size, site) in violations {
            self.record_unless(condition, at, size, site);
        }
        let zeros: Vec<ValueId> = types.iter().map(|&ty| self.builder.bits(ty, 0)).collect();
        self.builder.exit(test.inst, &zeros);
        self.builder.at(after.0, after.1);
        let joined = self.builder.function.insts[test.inst].results.clone();
        replaced.extend(inst.results.into_iter().zip(joined));
    }

    /// Whether this number of bytes at an address is in the objects that it may point into.
    fn check_access(&mut self, address: ValueId, size: u64) -> InBounds {
        let Type::Pointer(space) = self.builder.ty(address) else { return InBounds::Always };
        if matches!(space, AddressSpace::Global | AddressSpace::Constant) {
            let at = self.builder.value(Op::PointerToInt, &[address], Type::I64);
            let condition = self.is_in_ranges(at, size);
            return InBounds::If { condition, at, objects: String::new() };
        }
        let origin = self.origins.origin(address);
        let (mut at, mut condition, mut names) = (None, None, Vec::new());
        for &object in &origin.objects {
            let only = origin.only_object().is_some();
            if only
                && let Some(distance) = constant_distance(self.builder.function, address)
                && self.size_of(object).is_some_and(|whole| distance <= whole && size <= whole - distance)
            {
                return InBounds::Always;
            }
            let Some(whole) = self.size_value(object) else { return InBounds::Always };
            let distance = self.byte_offset(address, object, only);
            let fits = self.fits_in_object(distance, size, whole);
            at.get_or_insert(distance);
            condition = Some(match condition {
                None => fits,
                Some(before) => self.builder.binary(BinaryOp::Or, before, fits),
            });
            names.push(self.name_of(object));
        }
        if origin.is_global || origin.objects.is_empty() {
            let number = self.builder.value(Op::PointerToInt, &[address], Type::I64);
            let found = self.is_in_ranges(number, size);
            at = Some(number);
            condition = Some(match condition {
                None => found,
                Some(before) => self.builder.binary(BinaryOp::Or, before, found),
            });
            names.clear();
        }
        match (condition, at) {
            (Some(condition), Some(at)) => InBounds::If { condition, at, objects: names.join(", ") },
            _ => InBounds::Always,
        }
    }

    /// Whether this number of bytes is in a range of the table.
    fn is_in_ranges(&mut self, address: ValueId, size: u64) -> ValueId {
        let [low, high] = self.split_words(address);
        let size = self.builder.i32(i32::try_from(size).unwrap_or(i32::MAX));
        let found = self.builder.call(self.checks.checker, &[low, high, size], Some(Type::I32));
        let zero = self.builder.i32(0);
        self.builder.compare(
            CompareOp::NotEqual,
            CompareKind::Unsigned,
            found.expect("it has a result"),
            zero,
        )
    }

    fn split_words(&mut self, number: ValueId) -> [ValueId; 2] {
        let words = self.builder.bitcast(number, Type::Vector(Scalar::I32, 2));
        [0, 1].map(|word| self.builder.extract(words, word))
    }

    /// The size of an object in bytes, if the module determines it.
    fn size_of(&self, object: Object) -> Option<u64> {
        match object {
            Object::Module(var) => Some(self.vars[var].size),
            Object::Private(var) => Some(self.builder.function.vars[var].size),
            Object::Param(..) => None,
        }
    }

    /// The size of an object as a value. The launch passes it for local arguments.
    fn size_value(&mut self, object: Object) -> Option<ValueId> {
        let Object::Param(_, number) = object else {
            let size = self.size_of(object)?;
            return Some(self.builder.bits(Type::I64, size));
        };
        self.builder.function.kernel.as_ref()?;
        let base = self.builder.module_var(self.checks.table, AddressSpace::Global);
        let address = self.builder.offset_bytes(base, Bounds::local(number.into()) as i64);
        let access = Access { is_shared: false, align: 4, is_volatile: false };
        let bytes = self.builder.load(address, Type::I32, access);
        Some(self.builder.resize(bytes, Scalar::I64, false))
    }

    fn name_of(&self, object: Object) -> String {
        match object {
            Object::Module(var) => self.vars[var].name.clone(),
            Object::Private(var) => self.builder.function.vars[var].name.clone(),
            Object::Param(_, number) => {
                let kernel = self.builder.function.kernel.as_ref();
                let argument = kernel.and_then(|kernel| kernel.arguments.get(number as usize));
                argument.map(|argument| argument.name.clone()).unwrap_or_default()
            }
        }
    }

    /// The offset of a pointer from the start of an object in bytes. If possible, indices are not truncated to 32
    /// bits.
    fn byte_offset(&mut self, pointer: ValueId, object: Object, only: bool) -> ValueId {
        if only && let ValueDef::Result(id, _) = self.builder.function.values[pointer].def {
            let inst = self.builder.function.insts[id].clone();
            match inst.op {
                Op::Offset { stride, .. } => {
                    let before = self.byte_offset(inst.args[0], object, only);
                    let index = self.builder.resize(inst.args[1], Scalar::I64, true);
                    let bytes = self.builder.binary_bits(BinaryOp::Mul, index, stride);
                    return self.builder.binary(BinaryOp::Add, before, bytes);
                }
                Op::PointerCast => return self.byte_offset(inst.args[0], object, only),
                Op::ModuleVar(_) | Op::PrivateVar(_) => return self.builder.bits(Type::I64, 0),
                _ => {}
            }
        }
        let start = match object {
            Object::Module(var) => self.builder.module_var(var, AddressSpace::Local),
            Object::Private(var) => {
                self.builder.value(Op::PrivateVar(var), &[], Type::Pointer(AddressSpace::Private))
            }
            Object::Param(_, number) => self.builder.function.params()[number as usize],
        };
        if start == pointer {
            return self.builder.bits(Type::I64, 0);
        }
        let [here, start] = [pointer, start].map(|it| self.builder.value(Op::PointerToInt, &[it], Type::I64));
        self.builder.binary(BinaryOp::Sub, here, start)
    }

    /// Whether this number of bytes at an offset fits into an object.
    fn fits_in_object(&mut self, distance: ValueId, size: u64, whole: ValueId) -> ValueId {
        let size = self.builder.bits(Type::I64, size);
        let begins = self.builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, distance, whole);
        let room = self.builder.binary(BinaryOp::Sub, whole, distance);
        let ends = self.builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, size, room);
        self.builder.binary(BinaryOp::And, begins, ends)
    }

    /// Records the access unless this is true.
    fn record_unless(&mut self, unless: ValueId, at: ValueId, size: u64, site: usize) {
        let test = self.builder.open_if(unless, &[]);
        let after = self.builder.insertion_point();
        self.builder.at_end(test.then);
        self.builder.exit(test.inst, &[]);
        self.builder.at_end(test.otherwise);
        let [low, high] = self.split_words(at);
        let [size, site] = [size, site as u64].map(|it| i32::try_from(it).unwrap_or(i32::MAX));
        let [size, site] = [size, site].map(|it| self.builder.i32(it));
        self.builder.call(self.checks.recorder, &[low, high, size, site], None);
        self.builder.exit(test.inst, &[]);
        self.builder.at(after.0, after.1);
    }
}

/// The constant offset of a pointer in its object, if known.
fn constant_distance(function: &Function, pointer: ValueId) -> Option<u64> {
    let ValueDef::Result(id, _) = function.values[pointer].def else {
        return function.params().contains(&pointer).then_some(0);
    };
    let inst = &function.insts[id];
    match inst.op {
        Op::ModuleVar(_) | Op::PrivateVar(_) => Some(0),
        Op::PointerCast => constant_distance(function, inst.args[0]),
        Op::Offset { stride, .. } => {
            let before = constant_distance(function, inst.args[0])?;
            let Some(Const::Bits(bits)) = function.constant(inst.args[1]) else { return None };
            let scalar = function.ty(inst.args[1]).scalar()?;
            let unused = 64 - 8 * scalar.size() as u32;
            let index = (bits[0] << unused) as i64 >> unused;
            before.checked_add_signed(index.checked_mul(i64::try_from(stride).ok()?)?)
        }
        _ => None,
    }
}

/// Writes the function that checks whether some bytes are in a range of the table. Returns 1 or 0.
fn write_checker(function: &mut Function, table: VarId) {
    let params = function.blocks[function.body].params.clone();
    let [low, high, size] = params[..] else { unreachable!("it has three parameters") };
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
    let after = builder.insertion_point();

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
    builder.ret(Some(lies_inside));
}

/// Writes the function that records an out-of-bounds access, if it is the first.
fn write_recorder(function: &mut Function, table: VarId) {
    let params = function.blocks[function.body].params.clone();
    let [low, high, size, site] = params[..] else { unreachable!("it has four parameters") };
    let body = function.body;
    let mut builder = Builder::new(function);
    builder.at_end(body);
    let access = |align| Access { is_shared: false, align, is_volatile: false };
    let base = builder.module_var(table, AddressSpace::Global);
    let [zero, one] = [0, 1].map(|bit| builder.i32(bit));
    let flag = builder.offset_bytes(base, 4);
    let first = Op::Atomic(Atomic::counting(AtomicOp::Exchange));
    let before = builder.value(first, &[flag, one], Type::I32);
    let is_first = builder.compare(CompareOp::Equal, CompareKind::Unsigned, before, zero);
    let record = builder.open_if(is_first, &[]);
    let after = builder.insertion_point();
    builder.at_end(record.then);
    for (at, value) in [(8, low), (12, high), (16, size), (20, site)] {
        let address = builder.offset_bytes(base, at);
        builder.store(address, value, access(4));
    }
    builder.exit(record.inst, &[]);
    builder.at_end(record.otherwise);
    builder.exit(record.inst, &[]);
    builder.at(after.0, after.1);
    builder.ret(None);
}
