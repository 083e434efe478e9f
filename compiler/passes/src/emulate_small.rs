//! Lowers 8- and 16-bit numbers to 32-bit ones, for devices without them.
//!
//! A small integer is represented by an I32 with the same low bits and zeros above. A half is represented by an I32
//! with its bits; arithmetic converts to F32 and rounds back, which is exact for single operations. Loads and stores
//! access parts of 32-bit words (`memory.rs`).

mod half;
mod memory;

use kiln_builtins::{self as builtins, Arithmetic, BuiltinId, Collective, Lowering};
use kiln_ir::{
    BinaryOp, Builder, BuiltinParam, Compare, CompareKind, Convert, Function, Inst, InstId, Module, Op,
    Scalar, Type, UnaryOp, ValueId,
};
use kiln_session::{Options, diag::Sink};
use kiln_types::{
    index::Id as _,
    ops::{CompareOp, Conversion, Rounding},
    ty,
};
use kiln_vocabulary::{driver_bugs::DriverBug, opencl::AddressSpace, target::Target};
use memory::WordLoad;
use smallvec::SmallVec;

use crate::rewrite::rewrite;

pub(super) fn emulate_small(module: &mut Module, options: &Options, _: &mut Sink) {
    let missing = Missing::for_target(&options.target);
    let word_loads = word_loads(module, missing);
    for (function, word_load) in module.functions.iter_mut().zip(word_loads) {
        if function.values.iter().any(|value| missing.in_memory(value.ty) || missing.in_registers(value.ty)) {
            emulate(function, missing, word_load);
        }
    }
}

/// The word loads of each function: atomic if it runs in a kernel that stores parts of words.
fn word_loads(module: &Module, missing: Missing) -> Vec<WordLoad> {
    let mut loads = vec![WordLoad::Plain; module.functions.len()];
    for (kernel, _) in module.functions.entries().filter(|(_, function)| function.kernel.is_some()) {
        let reachable = module.reachable_from(kernel);
        if reachable.iter().any(|&id| missing.stores_parts(&module.functions[id])) {
            for id in reachable {
                loads[id.index()] = WordLoad::Atomic;
            }
        }
    }
    loads
}

/// The small types that the target lacks, by use.
#[derive(Clone, Copy)]
struct Missing {
    /// Types that the device does not have.
    device: Types,
    /// Types whose values are computed in a wider type.
    registers: Types,
    /// Types for which global memory is accessed by words.
    memory: Types,
}

/// A set of types.
#[derive(Clone, Copy)]
struct Types {
    int8: bool,
    int16: bool,
    fp16: bool,
}

impl Missing {
    fn for_target(target: &Target) -> Self {
        let features = &target.features;
        let device = Types { int8: !features.int8, int16: !features.int16, fp16: !features.fp16 };
        let is_wide = target.workarounds.contains(DriverBug::WidenSmallIntegers);
        Self {
            device,
            registers: Types { int8: device.int8 || is_wide, int16: device.int16 || is_wide, ..device },
            memory: Types {
                int8: device.int8 || !features.storage8,
                int16: device.int16 || !features.storage16,
                fp16: device.fp16 || !features.storage16,
            },
        }
    }

    const fn in_registers(self, ty: Type) -> bool {
        self.registers.contains(ty)
    }

    const fn in_memory(self, ty: Type) -> bool {
        self.memory.contains(ty)
    }

    /// Whether the function stores parts of words of global memory.
    fn stores_parts(self, function: &Function) -> bool {
        function.inst_order().into_iter().map(|id| &function.insts[id]).any(|inst| match inst.op {
            Op::Store(access) => {
                let ty = function.ty(inst.args[1]);
                self.in_memory(ty) && is_address(function.ty(inst.args[0])) && memory::stores_part(ty, access)
            }
            _ => false,
        })
    }
}

impl Types {
    const fn contains(self, ty: Type) -> bool {
        match ty.scalar() {
            Some(Scalar::I8) => self.int8,
            Some(Scalar::I16) => self.int16,
            Some(Scalar::F16) => self.fp16,
            _ => false,
        }
    }
}

fn emulate(function: &mut Function, missing: Missing, word_load: WordLoad) {
    let types: Vec<Type> = function.values.iter().map(|value| value.ty).collect();
    for id in function.values.ids().collect::<Vec<_>>() {
        let ty = function.ty(id);
        if missing.in_registers(ty) && function.constant(id).is_none() {
            function.values[id].ty = ty.with_scalar(Scalar::I32);
        }
    }
    if let Some(result) = function.result.filter(|&ty| missing.in_registers(ty)) {
        function.result = Some(result.with_scalar(Scalar::I32));
    }
    let small = SmallLowering { missing, types, word_load };
    rewrite(function, |builder, id, replaced| {
        if let Some(value) = small.inst(builder, id) {
            replaced.insert(builder.function.insts[id].results[0], value);
        }
    });
}

struct SmallLowering {
    missing: Missing,
    /// The original types of values.
    types: Vec<Type>,
    word_load: WordLoad,
}

impl SmallLowering {
    /// The original type of a value.
    fn ty(&self, value: ValueId) -> Type {
        self.types[value.index()]
    }

    fn is_small(&self, value: ValueId) -> bool {
        self.missing.in_registers(self.ty(value))
    }

    fn is_wide_in_registers_only(&self, value: ValueId) -> bool {
        self.is_small(value) && !self.missing.device.contains(self.ty(value))
    }

    /// Lowers an instruction. Returns the replacement of its result.
    fn inst(&self, builder: &mut Builder<'_>, id: InstId) -> Option<ValueId> {
        let old = builder.function.insts[id].clone();
        let moved = match old.op {
            Op::Load(_) => old.results.first(),
            Op::Store(_) => old.args.get(1),
            _ => None,
        };
        let is_word_access =
            moved.is_some_and(|&it| self.missing.in_memory(self.ty(it))) && is_address(self.ty(old.args[0]));
        let is_any_small = old.args.iter().chain(&old.results).any(|&it| self.is_small(it));
        if !is_any_small && !is_word_access {
            builder.insert(id);
            return None;
        }
        for (index, &arg) in old.args.iter().enumerate() {
            if let (true, Some(constant)) = (self.is_small(arg), builder.function.constant(arg).cloned()) {
                let ty = self.ty(arg).with_scalar(Scalar::I32);
                builder.function.insts[id].args[index] = builder.constant(ty, constant);
            }
        }
        let inst = builder.function.insts[id].clone();
        match (&inst.op, is_word_access) {
            (Op::Load(access), true) => {
                let ty = self.ty(inst.results[0]);
                let bits = memory::load(builder, inst.args[0], ty, *access, self.word_load);
                return Some(self.from_bits(builder, bits, ty));
            }
            (Op::Store(access), true) => {
                let ty = self.ty(old.args[1]);
                let bits = self.to_bits(builder, inst.args[1], ty);
                memory::store(builder, inst.args[0], bits, ty, *access);
                return None;
            }
            // The device has the type, but values are wider.
            (Op::Load(access), false) if self.is_wide_in_registers_only(inst.results[0]) => {
                let ty = self.ty(inst.results[0]);
                let narrow = builder.load(inst.args[0], ty, *access);
                return Some(builder.resize(narrow, Scalar::I32, false));
            }
            (Op::Store(access), false) if self.is_wide_in_registers_only(old.args[1]) => {
                let scalar = self.ty(old.args[1]).scalar().unwrap_or(Scalar::I32);
                let narrow = builder.resize(inst.args[1], scalar, false);
                builder.store(inst.args[0], narrow, *access);
                return None;
            }
            _ => {}
        }
        let value = self.compute(builder, &inst, &old.args);
        if value.is_none() {
            builder.insert(id);
        }
        value
    }

    /// Lowers an operation. `None` if it needs no change.
    fn compute(&self, builder: &mut Builder<'_>, inst: &Inst, old: &[ValueId]) -> Option<ValueId> {
        let result = *inst.results.first()?;
        let to = self.ty(result);
        let from = old.first().map_or(to, |&it| self.ty(it));
        let arg = |index: usize| inst.args[index];
        Some(match &inst.op {
            Op::Unary(UnaryOp::FNeg) => builder.binary_bits(BinaryOp::Xor, arg(0), 0x8000),
            Op::Unary(op) => {
                let value = builder.unary(*op, arg(0));
                mask_to_width(builder, value, to)
            }
            Op::Binary(_) | Op::Exact(_) if is_half(to) => {
                let [left, right] = [0, 1].map(|index| half::to_float(builder, arg(index)));
                let value = builder.value(inst.op.clone(), &[left, right], to.with_scalar(Scalar::F32));
                half::from_float(builder, value, None)
            }
            Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::LShr)
            | Op::Binary(BinaryOp::UDiv | BinaryOp::URem) => return None,
            Op::Binary(op @ (BinaryOp::AShr | BinaryOp::SDiv | BinaryOp::SRem)) => {
                let left = sign_extend(builder, arg(0), to);
                let right = if *op == BinaryOp::AShr { arg(1) } else { sign_extend(builder, arg(1), to) };
                let value = builder.binary(*op, left, right);
                mask_to_width(builder, value, to)
            }
            Op::Binary(op) => {
                let value = builder.binary(*op, arg(0), arg(1));
                mask_to_width(builder, value, to)
            }
            Op::Compare(Compare { op, kind }) => {
                let operands = [0, 1].map(|index| match kind {
                    CompareKind::Unsigned => arg(index),
                    CompareKind::Signed => sign_extend(builder, arg(index), from),
                    CompareKind::Float => half::to_float(builder, arg(index)),
                });
                builder.compare(*op, *kind, operands[0], operands[1])
            }
            Op::Convert(convert) => self.convert(builder, arg(0), *convert, from, to),
            Op::Bitcast => self.bitcast(builder, arg(0), from, to),
            Op::Builtin(builtin, narrow) => {
                let (args, params) = self.builtin_args(builder, inst, narrow);
                let is_float = is_half(to);
                let ty = to.with_scalar(if is_float { Scalar::F32 } else { Scalar::I32 });
                let ty = if self.missing.in_registers(to) { ty } else { to };
                let value = builder.value(Op::Builtin(*builtin, params), &args, ty);
                match (self.missing.in_registers(to), is_float) {
                    (false, _) => value,
                    (true, true) => half::from_float(builder, value, None),
                    (true, false) => {
                        let value = with_narrow_identity(builder, value, *builtin, narrow);
                        mask_to_width(builder, value, to)
                    }
                }
            }
            _ => return None,
        })
    }

    fn convert(
        &self,
        builder: &mut Builder<'_>,
        value: ValueId,
        convert: Convert,
        from: Type,
        to: Type,
    ) -> ValueId {
        let is_small = |ty: Type| self.missing.in_registers(ty);
        let wide = |ty: Type| match (is_small(ty), is_half(ty)) {
            (true, true) => ty.with_scalar(Scalar::F32),
            (true, false) => ty.with_scalar(Scalar::I32),
            (false, _) => ty,
        };
        let Convert::Number { conversion, from_signed, to_signed } = convert else {
            // Between integers: extend to 32 bits, then truncate.
            let is_signed = convert == Convert::SignExtend;
            let source = if is_small(from) && is_signed { sign_extend(builder, value, from) } else { value };
            let target = wide(to).scalar().unwrap_or(Scalar::I32);
            let resized = match builder.ty(source).scalar() {
                Some(Scalar::Bool) => builder.convert(Convert::ZeroExtend, source, to.with_scalar(target)),
                _ => builder.resize(source, target, is_signed),
            };
            return if is_small(to) { mask_to_width(builder, resized, to) } else { resized };
        };
        let source = match (is_small(from), is_half(from)) {
            (false, _) => value,
            (true, true) => half::to_float(builder, value),
            (true, false) if from_signed => sign_extend(builder, value, from),
            (true, false) => value,
        };
        if !is_small(to) {
            if builder.ty(source) == to {
                return source;
            }
            return builder.convert(convert, source, to);
        }
        let target = wide(to);
        if is_half(to) {
            let float = match builder.ty(source) == target {
                true => source,
                false => {
                    let conversion = Conversion { rounding: None, saturate: false };
                    let plain = Convert::Number { conversion, from_signed, to_signed };
                    builder.convert(plain, source, target)
                }
            };
            return half::from_float(builder, float, conversion.rounding);
        }
        // Convert through I32, which represents all values in range.
        let convert = Convert::Number { conversion, from_signed, to_signed: true };
        let number = match builder.ty(source).scalar().is_some_and(Scalar::is_int) {
            true => builder.resize(source, Scalar::I32, from_signed),
            false => builder.convert(convert, source, target),
        };
        mask_to_width(builder, number, to)
    }

    fn builtin_args(
        &self,
        builder: &mut Builder<'_>,
        inst: &Inst,
        params: &[BuiltinParam],
    ) -> (Vec<ValueId>, SmallVec<[BuiltinParam; 4]>) {
        let mut args = Vec::new();
        let mut wide = SmallVec::new();
        for (&arg, &param) in inst.args.iter().zip(params) {
            let BuiltinParam::Value(scalar, count) = param else {
                args.push(arg);
                wide.push(param);
                continue;
            };
            let (ty, is_signed) = match scalar {
                ty::Scalar::Char | ty::Scalar::UChar => (Type::I8, scalar == ty::Scalar::Char),
                ty::Scalar::Short | ty::Scalar::UShort => {
                    (Type::Scalar(Scalar::I16), scalar == ty::Scalar::Short)
                }
                ty::Scalar::Half => (Type::Scalar(Scalar::F16), false),
                _ => (Type::I32, false),
            };
            if !self.missing.in_registers(ty) {
                args.push(arg);
                wide.push(param);
            } else if is_half(ty) {
                args.push(half::to_float(builder, arg));
                wide.push(BuiltinParam::Value(ty::Scalar::Float, count));
            } else if is_signed {
                args.push(sign_extend(builder, arg, ty));
                wide.push(BuiltinParam::Value(ty::Scalar::Int, count));
            } else {
                args.push(arg);
                wide.push(BuiltinParam::Value(ty::Scalar::UInt, count));
            }
        }
        (args, wide)
    }

    /// Converts a small value to its bits, as one I32 for each component.
    fn to_bits(&self, builder: &mut Builder<'_>, value: ValueId, ty: Type) -> ValueId {
        if self.missing.in_registers(ty) {
            return value;
        }
        let int = ty.scalar().map_or(Scalar::I8, |scalar| Scalar::int_of_size(scalar.size()));
        let value = builder.bitcast(value, ty.with_scalar(int));
        builder.resize(value, Scalar::I32, false)
    }

    /// Converts bits to a small value.
    fn from_bits(&self, builder: &mut Builder<'_>, bits: ValueId, ty: Type) -> ValueId {
        if self.missing.in_registers(ty) {
            return bits;
        }
        let int = ty.scalar().map_or(Scalar::I8, |scalar| Scalar::int_of_size(scalar.size()));
        let value = builder.resize(bits, int, false);
        builder.bitcast(value, ty)
    }

    /// Reinterprets the bits as components of another size.
    fn bitcast(&self, builder: &mut Builder<'_>, value: ValueId, from: Type, to: Type) -> ValueId {
        let (from_size, to_size) = (size_of(from), size_of(to));
        if from_size == to_size {
            let bits = if from_size < 4 { self.to_bits(builder, value, from) } else { value };
            return if to_size < 4 { self.from_bits(builder, bits, to) } else { builder.bitcast(bits, to) };
        }
        let piece = from_size.min(to_size).min(4);
        let bits = if from_size < 4 { self.to_bits(builder, value, from) } else { value };
        let mut pieces = Vec::new();
        for component in components(builder, bits) {
            pieces.extend(split_component(builder, component, from_size, piece));
        }
        let joined: Vec<ValueId> = pieces
            .chunks((to_size / piece) as usize)
            .map(|pieces| join_pieces(builder, pieces, piece, to_size, to))
            .collect();
        let ty = if to_size < 4 { to.with_scalar(Scalar::I32) } else { to };
        let value = if to.is_vector() { builder.construct(&joined, ty) } else { joined[0] };
        if to_size < 4 { self.from_bits(builder, value, to) } else { value }
    }
}

/// Whether this is the type of an address in global memory. The elements of private and local objects have types that the
/// device supports (`lower_to_logical_pointers`).
fn is_address(ty: Type) -> bool {
    let is_logical = matches!(ty, Type::Pointer(AddressSpace::Private | AddressSpace::Local));
    ty == Type::I64 || ty.is_pointer() && !is_logical
}

fn is_half(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::F16)
}

fn size_of(ty: Type) -> u64 {
    ty.scalar().map_or(4, Scalar::size)
}

/// Clears the bits above the width of this type.
fn mask_to_width(builder: &mut Builder<'_>, value: ValueId, ty: Type) -> ValueId {
    builder.binary_bits(BinaryOp::And, value, ty.scalar().map_or(u64::MAX, Scalar::mask))
}

/// The first result of an exclusive scan is the identity of the operation, which for signed minima and maxima depends on the
/// width (OpenCL C 6.15.16). Limits the result to the range of the narrow type.
fn with_narrow_identity(
    builder: &mut Builder<'_>,
    value: ValueId,
    builtin: BuiltinId,
    params: &[BuiltinParam],
) -> ValueId {
    let (min, max) = match params.first() {
        Some(BuiltinParam::Value(ty::Scalar::Char, _)) => (i8::MIN.into(), i8::MAX.into()),
        Some(BuiltinParam::Value(ty::Scalar::Short, _)) => (i16::MIN.into(), i16::MAX.into()),
        _ => return value,
    };
    let Lowering::Collective(_, Collective::ScanExclusive(arithmetic), _) = builtins::row(builtin).lowering
    else {
        return value;
    };
    let (op, limit) = match arithmetic {
        Arithmetic::Min => (CompareOp::Less, max),
        Arithmetic::Max => (CompareOp::Greater, min),
        _ => return value,
    };
    let limit = builder.i32(limit);
    let is_within = builder.compare(op, CompareKind::Signed, value, limit);
    builder.select(is_within, value, limit)
}

/// Sign-extends a value of this type.
fn sign_extend(builder: &mut Builder<'_>, value: ValueId, ty: Type) -> ValueId {
    let shift = 32 - 8 * size_of(ty);
    let top = builder.binary_bits(BinaryOp::Shl, value, shift);
    builder.binary_bits(BinaryOp::AShr, top, shift)
}

fn components(builder: &mut Builder<'_>, value: ValueId) -> Vec<ValueId> {
    let ty = builder.ty(value);
    match ty.is_vector() {
        true => (0..ty.count()).map(|index| builder.extract(value, index)).collect(),
        false => vec![value],
    }
}

/// Splits a component of this size into pieces, each in the low bits of an I32.
fn split_component(builder: &mut Builder<'_>, component: ValueId, size: u64, piece: u64) -> Vec<ValueId> {
    let words = match size {
        8 => {
            let words = builder.bitcast(component, Type::Vector(Scalar::I32, 2));
            components(builder, words)
        }
        4 => vec![builder.bitcast(component, Type::I32)],
        _ => vec![component],
    };
    let mut pieces = Vec::new();
    for word in words {
        for number in 0..size.min(4) / piece {
            let low = match number {
                0 => word,
                _ => builder.binary_bits(BinaryOp::LShr, word, 8 * piece * number),
            };
            let mask = Scalar::int_of_size(piece).mask();
            pieces.push(if piece == 4 { low } else { builder.binary_bits(BinaryOp::And, low, mask) });
        }
    }
    pieces
}

/// Joins pieces to a component of this size. A small component is an I32.
fn join_pieces(builder: &mut Builder<'_>, pieces: &[ValueId], piece: u64, size: u64, ty: Type) -> ValueId {
    let words: Vec<ValueId> = pieces
        .chunks((size.min(4) / piece) as usize)
        .filter_map(|pieces| {
            let shifted = pieces.iter().enumerate().map(|(number, &part)| match number {
                0 => part,
                _ => builder.binary_bits(BinaryOp::Shl, part, 8 * piece * number as u64),
            });
            let shifted: Vec<ValueId> = shifted.collect();
            shifted.into_iter().reduce(|left, right| builder.binary(BinaryOp::Or, left, right))
        })
        .collect();
    let scalar = ty.with_count(1);
    match words[..] {
        [low, high] => {
            let pair = builder.construct(&[low, high], Type::Vector(Scalar::I32, 2));
            builder.bitcast(pair, scalar)
        }
        _ if size == 4 => builder.bitcast(words[0], scalar),
        _ => words[0],
    }
}

/// The default rounding mode of conversions to half.
const DEFAULT: Rounding = Rounding::ToEven;
