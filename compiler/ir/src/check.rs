//! Checks operand and result types as `Op` documents them, one instruction at a time.

use super::{
    Atomic, BinaryOp, CompareKind, Convert, Function, Handle, ImageAction, Inst, Known, Module, Op, Scalar,
    TexelKind, Type, UnaryOp, ValueId,
};
use kiln_vocabulary::opencl::AtomicOp;

/// The problem of an invalid instruction. The caller has checked that its target is an enclosing construct.
pub(super) fn problem(module: &Module, function: &Function, inst: &Inst) -> Option<&'static str> {
    let check = Check { module, function, inst, args: types(function, &inst.args) };
    let results = types(function, &inst.results);
    check.op(&results).err()
}

type Outcome = Result<(), &'static str>;

fn types(function: &Function, values: &[ValueId]) -> Vec<Type> {
    values.iter().filter_map(|&value| Some(function.values.get(value)?.ty)).collect()
}

fn ensure(is_valid: bool, otherwise: &'static str) -> Outcome {
    if is_valid { Ok(()) } else { Err(otherwise) }
}

fn is_int(ty: Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_int)
}

fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

fn is_bool(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::Bool)
}

fn is_number(ty: Type) -> bool {
    is_int(ty) || is_float(ty)
}

/// Whether this is a pointer, or the type that `passes/lower_addresses` or `passes/emulate_int64` lowers it to.
fn is_address(ty: Type) -> bool {
    ty.is_pointer() || ty == Type::I64 || ty == Type::Vector(Scalar::I32, 2)
}

fn is_index(ty: Type) -> bool {
    ty == Type::I32 || ty == Type::I64
}

/// Modules of other compilers have vectors that OpenCL C lacks, until `passes/split_vectors` splits them.
fn is_count(count: u8) -> bool {
    (2..=Type::MAX_COUNT).contains(&count)
}

fn bits(ty: Type) -> u32 {
    ty.scalar().map_or(0, Scalar::bits)
}

struct Check<'a> {
    module: &'a Module,
    function: &'a Function,
    inst: &'a Inst,
    args: Vec<Type>,
}

impl Check<'_> {
    fn args<const N: usize>(&self) -> Result<[Type; N], &'static str> {
        <[Type; N]>::try_from(self.args.as_slice()).map_err(|_| "it has the wrong number of arguments")
    }

    fn op(&self, results: &[Type]) -> Outcome {
        match (&self.inst.op, results) {
            (Op::Call(_) | Op::Builtin(..), _) => self.call(results),
            (op, _) if op.is_construct() => self.construct(),
            (op, []) if op.is_terminator() => self.terminator(),
            (_, []) => self.effect(),
            (_, &[result]) => self.value(result),
            _ => Err("it has the wrong number of results"),
        }
    }

    fn value(&self, result: Type) -> Outcome {
        match &self.inst.op {
            Op::Unary(op) => {
                let [a] = self.args()?;
                let is_valid = match op {
                    UnaryOp::Neg => is_int(a),
                    UnaryOp::FNeg => is_float(a),
                    UnaryOp::Not => is_int(a) || is_bool(a),
                    UnaryOp::BitCount => a.scalar() == Some(Scalar::I32),
                };
                ensure(is_valid && a == result, "its operand or its result has the wrong type")
            }
            Op::Binary(op) | Op::Exact(op) => {
                let [a, b] = self.args()?;
                ensure(a == b && a == result, "operands and result have different types")?;
                let is_valid = match op {
                    BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => {
                        is_float(a)
                    }
                    BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => is_int(a) || is_bool(a),
                    BinaryOp::UMulHigh => matches!(a.scalar(), Some(Scalar::I32 | Scalar::I64)),
                    _ => is_int(a),
                };
                ensure(is_valid, "its operands have the wrong type")
            }
            Op::Compare(compare) => {
                let [a, b] = self.args()?;
                let is_valid = match compare.kind {
                    CompareKind::Signed => is_int(a),
                    CompareKind::Unsigned => is_int(a) || a.is_pointer(),
                    CompareKind::Float => is_float(a),
                };
                ensure(is_valid && a == b, "its operands have the wrong types")?;
                ensure(result == a.with_bool(), "its result is not a `bool` for each component")
            }
            Op::Select => {
                let [condition, then, otherwise] = self.args()?;
                ensure(then == otherwise && then == result, "operands and result have different types")?;
                ensure(
                    condition == Type::BOOL || condition == then.with_bool(),
                    "its condition is not a `bool`",
                )
            }
            Op::Convert(convert) => self.convert(*convert, result),
            Op::Bitcast => {
                let [a] = self.args()?;
                let is_valid = is_number(a) && is_number(result) && a.size() == result.size();
                ensure(is_valid, "its operand and its result are not numbers of the same size")
            }
            Op::Image(action) => self.image(*action, result),
            Op::Input(input) => {
                self.args::<0>()?;
                let expected = Type::vector(Scalar::I32, input.count());
                ensure(result == expected, "its result has the wrong type")
            }
            Op::Atomic(atomic) => self.atomic(atomic, Some(result)),
            Op::WorkItem(item) => {
                ensure(self.args.is_empty() || self.args == [Type::I32], "its dimension has the wrong type")?;
                ensure(result == item.ty(), "its result has the wrong type")
            }
            Op::Printf(_) => ensure(result == Type::I32, "its result is not an i32"),
            _ => self.vector(result),
        }
    }

    /// An operation that builds or divides a vector, or one on addresses.
    fn vector(&self, result: Type) -> Outcome {
        match &self.inst.op {
            Op::Construct => {
                let count: u32 = self.args.iter().map(|ty| u32::from(ty.count())).sum();
                let is_valid =
                    self.args.iter().all(|ty| ty.scalar().is_some() && ty.scalar() == result.scalar());
                ensure(
                    is_valid && is_count(result.count()),
                    "its parts and its result have different types",
                )?;
                ensure(count == u32::from(result.count()), "its parts have the wrong number of components")
            }
            Op::Extract(component) => {
                let [vector] = self.args()?;
                ensure(*component < vector.count() && vector.is_vector(), "there is no such component")?;
                ensure(result == vector.with_count(1), "its result is not a component")
            }
            Op::ExtractDynamic => {
                let [vector, index] = self.args()?;
                ensure(vector.is_vector() && is_index(index), "its operands have the wrong types")?;
                ensure(result == vector.with_count(1), "its result is not a component")
            }
            Op::Insert(component) => {
                let [vector, scalar] = self.args()?;
                ensure(*component < vector.count() && vector.is_vector(), "there is no such component")?;
                ensure(
                    scalar == vector.with_count(1) && result == vector,
                    "its operands and its result have inconsistent types",
                )
            }
            Op::InsertDynamic => {
                let [vector, scalar, index] = self.args()?;
                ensure(vector.is_vector() && is_index(index), "its operands have the wrong types")?;
                ensure(
                    scalar == vector.with_count(1) && result == vector,
                    "its operands and its result have inconsistent types",
                )
            }
            Op::Shuffle(components) => {
                let [a, b] = self.args()?;
                let is_valid = a.is_vector() && b.is_vector() && a.scalar() == b.scalar();
                ensure(is_valid, "its operands are not vectors of one component type")?;
                let count = u32::from(a.count()) + u32::from(b.count());
                let is_valid = components.iter().all(|&component| u32::from(component) < count);
                ensure(is_valid, "there is no such component")?;
                let is_valid =
                    is_count(components.len() as u8) && result == a.with_count(components.len() as u8);
                ensure(is_valid, "its result has the wrong type")
            }
            Op::Any | Op::All => {
                let [a] = self.args()?;
                ensure(
                    is_bool(a) && a.is_vector() && result == Type::BOOL,
                    "its operand is not a vector of `bool`",
                )
            }
            _ => self.address(result),
        }
    }

    /// An operation on addresses, objects and functions.
    fn address(&self, result: Type) -> Outcome {
        match &self.inst.op {
            Op::Function(function) => {
                self.args::<0>()?;
                let is_there = self.module.functions.get(*function).is_some();
                ensure(is_there && result == Type::Handle(Handle::Function), "it is not a function")
            }
            Op::ModuleVar(var) => {
                self.args::<0>()?;
                let Some(var) = self.module.vars.get(*var) else { return Err("there is no such object") };
                ensure(
                    result == Type::Pointer(var.space) || is_address(result),
                    "its result is not a pointer to the object",
                )
            }
            Op::ElementCount(var) => {
                self.args::<0>()?;
                let is_argument = self.module.vars.get(*var).is_some_and(|var| var.argument.is_some());
                ensure(is_argument && result == Type::I32, "it does not count the elements of an argument")
            }
            Op::PrivateVar(var) => {
                self.args::<0>()?;
                let Some(var) = self.function.vars.get(*var) else { return Err("there is no such object") };
                ensure(result == Type::Pointer(var.space), "its result is not a pointer to the object")
            }
            Op::Offset { .. } => {
                let [pointer, index] = self.args()?;
                ensure(is_address(pointer) && is_index(index), "its operands have the wrong types")?;
                ensure(result == pointer, "its result has a different type from its pointer")
            }
            Op::Element => {
                let [variable, index] = self.args()?;
                let is_valid = variable.is_pointer() && index == Type::I32 && result == variable;
                ensure(is_valid, "its operand or result types are wrong")
            }
            Op::LaunchWord(..) => {
                self.args::<0>()?;
                let is_valid = [Type::I32, Type::I64, Type::Scalar(Scalar::F32)].contains(&result);
                ensure(is_valid, "its result is neither i32 nor i64 nor f32")
            }
            Op::LaunchAddress(_) => {
                self.args::<0>()?;
                ensure(result == Type::I64, "its result is not an i64")
            }
            Op::Descriptor(_) => {
                self.args::<0>()?;
                ensure(
                    matches!(result, Type::Image(_) | Type::Sampler),
                    "its result is not an image or a sampler",
                )
            }
            Op::PointerCast => {
                let [a] = self.args()?;
                ensure(is_address(a) && is_address(result), "its operand or its result is not a pointer")
            }
            Op::PointerToInt => {
                let [a] = self.args()?;
                ensure(a.is_pointer() && result == Type::I64, "it does not convert a pointer to an i64")
            }
            Op::IntToPointer => {
                let [a] = self.args()?;
                ensure(a == Type::I64 && result.is_pointer(), "it does not convert an i64 to a pointer")
            }
            Op::Load(access) => {
                let [pointer] = self.args()?;
                ensure(access.align.is_power_of_two(), "its alignment is not a power of two")?;
                ensure(is_address(pointer) && is_stored(result), "its operand or result types are wrong")
            }
            _ => Err("it has no result"),
        }
    }

    /// The number of coordinates of an image.
    fn image_rank(&self) -> Result<u8, &'static str> {
        match self.args.first() {
            Some(Type::Image(image)) => Ok(image.rank()),
            _ => Err("its first argument is not an image"),
        }
    }

    fn image(&self, action: ImageAction, result: Type) -> Outcome {
        let coordinates = Type::vector(Scalar::I32, self.image_rank()?);
        match action {
            ImageAction::Load(texel) => {
                let (position, level) = match self.args[..] {
                    [_, position] => (position, Type::I32),
                    [_, position, level] => (position, level),
                    _ => return Err("it has the wrong number of arguments"),
                };
                let is_fine = position == coordinates && level == Type::I32 && result == texel.kind.ty();
                ensure(is_fine, "its operand or result types are wrong")
            }
            ImageAction::Sample => {
                let [_, position, sampler, ref detail @ ..] = self.args[..] else {
                    return Err("it has the wrong number of arguments");
                };
                let is_detail = match detail {
                    [] => true,
                    [level] => *level == Type::Scalar(Scalar::F32),
                    [x, y] => x == y && x.scalar() == Some(Scalar::F32),
                    _ => false,
                };
                let is_valid = position == coordinates.with_scalar(Scalar::F32)
                    && is_detail
                    && matches!(sampler, Type::I32 | Type::Sampler);
                ensure(is_valid && result == TexelKind::Float.ty(), "its operand or result types are wrong")
            }
            ImageAction::Store(_) => Err("it has no result"),
            ImageAction::Size => ensure(result == coordinates, "its result has the wrong type"),
            ImageAction::ChannelOrder | ImageAction::ChannelType | ImageAction::Levels => {
                ensure(result == Type::I32, "its result is not an i32")
            }
        }
    }

    fn convert(&self, convert: Convert, result: Type) -> Outcome {
        let [a] = self.args()?;
        ensure(a.count() == result.count(), "its operand has a different number of components")?;
        let is_valid = match convert {
            Convert::Truncate => is_int(a) && is_int(result) && bits(a) > bits(result),
            Convert::SignExtend => is_int(a) && is_int(result) && bits(a) < bits(result),
            Convert::ZeroExtend => (is_int(a) || is_bool(a)) && is_int(result) && bits(a) < bits(result),
            Convert::Number { .. } => is_number(a) && is_number(result),
        };
        ensure(is_valid, "it does not convert between these types")
    }

    fn effect(&self) -> Outcome {
        match &self.inst.op {
            Op::Image(ImageAction::Store(texel)) => {
                let (position, value, level) = match self.args[..] {
                    [_, position, value] => (position, value, Type::I32),
                    [_, position, value, level] => (position, value, level),
                    _ => return Err("it has the wrong number of arguments"),
                };
                let is_position = position == Type::vector(Scalar::I32, self.image_rank()?);
                let is_valid = is_position && value == texel.kind.ty() && level == Type::I32;
                ensure(is_valid, "its operand or result types are wrong")
            }
            Op::Store(access) => {
                let [pointer, value] = self.args()?;
                ensure(access.align.is_power_of_two(), "its alignment is not a power of two")?;
                ensure(is_address(pointer) && is_stored(value), "its operand or result types are wrong")
            }
            Op::Copy { access, .. } => {
                let [destination, source] = self.args()?;
                ensure(access.align.is_power_of_two(), "its alignment is not a power of two")?;
                ensure(is_address(destination) && is_address(source), "its operand or result types are wrong")
            }
            Op::Zero { access, .. } => {
                let [pointer] = self.args()?;
                ensure(access.align.is_power_of_two(), "its alignment is not a power of two")?;
                ensure(is_address(pointer), "its operand type is wrong")
            }
            Op::Atomic(atomic) => self.atomic(atomic, None),
            Op::Fence { flags, order, scope } => {
                self.dynamic(0, &[is_dynamic(flags), is_dynamic(order), is_dynamic(scope)])
            }
            Op::Barrier { flags, scope, .. } => self.dynamic(0, &[is_dynamic(flags), is_dynamic(scope)]),
            Op::Trap(_) => ensure(self.args.is_empty(), "it has arguments"),
            _ => Err("it has no result"),
        }
    }

    /// Checks that the arguments from this index on are those of dynamic operands, each an I32.
    fn dynamic(&self, from: usize, are_dynamic: &[bool]) -> Outcome {
        let count = are_dynamic.iter().filter(|is_dynamic| **is_dynamic).count();
        ensure(self.args.len() == from + count, "it has the wrong number of arguments")?;
        ensure(self.args[from..].iter().all(|&ty| ty == Type::I32), "a dynamic operand is not an i32")
    }

    fn atomic(&self, atomic: &Atomic, result: Option<Type>) -> Outcome {
        let (operands, expected) = match atomic.op {
            AtomicOp::Load => (0, Some(Type::Scalar(atomic.ty))),
            AtomicOp::Store => (1, None),
            AtomicOp::Exchange | AtomicOp::Fetch(_) => (1, Some(Type::Scalar(atomic.ty))),
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => {
                (2, Some(Type::Scalar(atomic.ty)))
            }
            AtomicOp::FlagTestAndSet => (0, Some(Type::BOOL)),
            AtomicOp::FlagClear => (0, None),
        };
        ensure(result == expected, "its result has the wrong type")?;
        let failure = atomic.failure.as_ref().is_some_and(is_dynamic);
        self.dynamic(1 + operands, &[is_dynamic(&atomic.order), failure, is_dynamic(&atomic.scope)])?;
        ensure(is_address(self.args[0]), "its object is not an address")?;
        let is_valid = self.args[1..=operands].iter().all(|&ty| ty == Type::Scalar(atomic.ty));
        ensure(is_valid, "an operand has a different type from the object")
    }

    fn call(&self, results: &[Type]) -> Outcome {
        let Op::Call(callee) = self.inst.op else {
            return ensure(results.len() <= 1, "it has several results");
        };
        let Some(callee) = self.module.functions.get(callee) else { return Err("there is no such function") };
        let is_valid = types(callee, callee.params()) == self.args;
        ensure(is_valid, "its arguments do not have the types of the function's parameters")?;
        ensure(results == callee.result.as_slice(), "its result has a different type from the function's")
    }

    fn construct(&self) -> Outcome {
        match &self.inst.op {
            Op::If { .. } => ensure(self.args == [Type::BOOL], "its condition is not a `bool`"),
            Op::Loop { body, .. } => {
                let is_valid = self.block_params(*body) == self.args;
                ensure(is_valid, "its initial values do not have the types of the body's parameters")
            }
            Op::Switch { cases, .. } => {
                ensure(self.args.len() == 1 && is_index(self.args[0]), "its value is not an i32 or i64")?;
                let mut values: Vec<u64> =
                    cases.iter().flat_map(|case| case.values.iter().copied()).collect();
                let count = values.len();
                values.sort_unstable();
                values.dedup();
                ensure(values.len() == count, "two cases have the same value")
            }
            _ => ensure(self.args.is_empty(), "it has arguments"),
        }
    }

    fn terminator(&self) -> Outcome {
        let expected = match &self.inst.op {
            Op::Exit(target) => types(self.function, &self.function.insts[*target].results),
            Op::Continue(target) | Op::Next(target) => {
                match (&self.inst.op, &self.function.insts[*target].op) {
                    (Op::Continue(_), Op::Loop { continuing, .. }) => self.block_params(*continuing),
                    (_, Op::Loop { body, .. }) => self.block_params(*body),
                    _ => return Err("its target is not a loop"),
                }
            }
            Op::Return => self.function.result.into_iter().collect(),
            _ => Vec::new(),
        };
        ensure(self.args == expected, "its arguments do not have the types that its target requires")
    }

    fn block_params(&self, block: super::BlockId) -> Vec<Type> {
        self.function.blocks.get(block).map_or(Vec::new(), |block| types(self.function, &block.params))
    }
}

/// Whether values of this type can be in memory. Images are in memory only if a block captures them.
fn is_stored(ty: Type) -> bool {
    is_number(ty) || matches!(ty, Type::Pointer(_) | Type::Image(_) | Type::Sampler | Type::Handle(_))
}

const fn is_dynamic<T>(known: &Known<T>) -> bool {
    matches!(known, Known::Dynamic)
}
