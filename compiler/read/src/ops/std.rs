//! The extended instructions of OpenCL.std, which become calls of built-in functions or their lowered form.

use kiln_ir::{Access, BinaryOp, Builder, CompareKind, Convert, Op as IrOp, Scalar, Type, ValueId};
use kiln_types::ops::{CompareOp, Conversion, Rounding};
use rspirv::{
    grammar::OPENCL_STD_100_INSTRUCTION_TABLE,
    spirv::{FPRoundingMode, OpenclStd100Op},
};

use super::{Lowered, Operation, call, none, one};

/// The instruction with this number. The operands of `operation` are those after the number.
pub(crate) fn extended(builder: &mut Builder<'_>, operation: &Operation, number: u32) -> Lowered {
    use OpenclStd100Op as Std;
    let Some(op) = Std::from_u32(number) else {
        return Err(format!("OpenCL.std has no instruction {number}"));
    };
    match op {
        Std::vloadn => load(builder, operation, VectorFormat::PLAIN),
        Std::vload_half | Std::vload_halfn => load(builder, operation, VectorFormat::HALF),
        Std::vloada_halfn => load(builder, operation, VectorFormat::ALIGNED_HALF),
        Std::vstoren => store(builder, operation, VectorFormat::PLAIN),
        Std::vstore_half | Std::vstore_half_r | Std::vstore_halfn | Std::vstore_halfn_r => {
            store(builder, operation, VectorFormat::HALF)
        }
        Std::vstorea_halfn | Std::vstorea_halfn_r => store(builder, operation, VectorFormat::ALIGNED_HALF),
        Std::shuffle | Std::shuffle2 => shuffle(builder, operation),
        Std::select => select(builder, operation),
        Std::bitselect => bit_select(builder, operation),
        Std::prefetch => prefetch(builder, operation),
        Std::printf => Err("the format of `printf` is not a constant".to_owned()),
        _ => function(builder, operation, number),
    }
}

/// Prints, with a format that the caller has found (OpenCL C 6.15.14).
pub(crate) fn print(
    builder: &mut Builder<'_>,
    format: &[u8],
    args: &[ValueId],
    result: Option<Type>,
) -> Lowered {
    let printed = builder.value(IrOp::Printf(format.into()), args, Type::I32);
    match result.and_then(Type::scalar) {
        Some(scalar) => one(builder.resize(printed, scalar, true)),
        None => none(),
    }
}

/// A function of the table.
fn function(builder: &mut Builder<'_>, operation: &Operation, number: u32) -> Lowered {
    let name = OPENCL_STD_100_INSTRUCTION_TABLE.iter().find(|it| u32::from(it.opcode) == number);
    let name = name.map_or("", |instruction| instruction.opname);
    let operands = call::operands(builder, &operation.args, &operation.pointees, None);
    let found = kiln_builtins::overload_of_instruction(name, &operands)
        .ok_or_else(|| format!("OpenCL.std's `{name}` has no form for these operands"))?;
    let value = call::emit(builder, &found, &operation.args, operation.result);
    value.map_or_else(none, one)
}

/// A prefetch is only a hint. Keeps it if its element type is known.
fn prefetch(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [pointer, count] = operation.args()?;
    if operation.pointee(0).is_some() {
        let count = builder.resize(count, Scalar::I64, false);
        call::call(builder, "prefetch", &[pointer, count], &operation.pointees, None, None)?;
    }
    none()
}

/// The vector in memory of a vector load or store.
#[derive(Clone, Copy)]
struct VectorFormat {
    /// `half` in memory, `float` or `double` as a value.
    is_half: bool,
    /// Whole vectors, where 3 components occupy the memory of 4.
    is_aligned: bool,
}

impl VectorFormat {
    const PLAIN: Self = Self { is_half: false, is_aligned: false };
    const HALF: Self = Self { is_half: true, is_aligned: false };
    const ALIGNED_HALF: Self = Self { is_half: true, is_aligned: true };
}

/// The address of the vector with this index, and its alignment (OpenCL C 6.15.7).
fn address(
    builder: &mut Builder<'_>,
    format: VectorFormat,
    [index, pointer]: [ValueId; 2],
    stored: Type,
) -> Result<(ValueId, Access), String> {
    let element = stored.scalar().map_or(1, Scalar::size);
    let count = u64::from(stored.count());
    let whole = element * count.next_power_of_two();
    let (stride, align) = if format.is_aligned { (whole, whole) } else { (element * count, element) };
    if !builder.ty(pointer).is_pointer() {
        return Err("its operand is not a pointer".to_owned());
    }
    let access = Access { is_shared: false, align: align as u32, is_volatile: false };
    if builder.function.constant_bits(index) == Some(0) {
        return Ok((pointer, access));
    }
    let index = builder.resize(index, Scalar::I64, false);
    Ok((builder.offset(pointer, index, stride), access))
}

fn stored(ty: Type, format: VectorFormat) -> Type {
    if format.is_half { ty.with_scalar(Scalar::F16) } else { ty }
}

fn converted(builder: &mut Builder<'_>, value: ValueId, to: Type, rounding: Option<Rounding>) -> ValueId {
    if builder.ty(value) == to {
        return value;
    }
    let conversion = Conversion { rounding, saturate: false };
    builder.convert(Convert::Number { conversion, from_signed: false, to_signed: false }, value, to)
}

fn load(builder: &mut Builder<'_>, operation: &Operation, format: VectorFormat) -> Lowered {
    let [index, pointer] = operation.args()?;
    let result = operation.result()?;
    let stored = stored(result, format);
    let (pointer, access) = address(builder, format, [index, pointer], stored)?;
    let value = builder.load(pointer, stored, access);
    one(converted(builder, value, result, None))
}

fn store(builder: &mut Builder<'_>, operation: &Operation, format: VectorFormat) -> Lowered {
    let [data, index, pointer] = operation.args()?;
    let rounding = operation.literals.first().map(|&mode| rounding(mode)).transpose()?;
    let stored = stored(builder.ty(data), format);
    let (pointer, access) = address(builder, format, [index, pointer], stored)?;
    let value = converted(builder, data, stored, rounding);
    builder.store(pointer, value, access);
    none()
}

/// A rounding mode by its number.
pub(crate) fn rounding(mode: u32) -> Result<Rounding, String> {
    Ok(match FPRoundingMode::from_u32(mode) {
        Some(FPRoundingMode::RTE) => Rounding::ToEven,
        Some(FPRoundingMode::RTZ) => Rounding::ToZero,
        Some(FPRoundingMode::RTP) => Rounding::ToPositive,
        Some(FPRoundingMode::RTN) => Rounding::ToNegative,
        None => return Err(format!("there is no rounding mode {mode}")),
    })
}

/// `shuffle(x, mask)`, `shuffle2(x, y, mask)`: ignores the mask bits that are not needed to index the components
/// (OpenCL C 6.15.13).
fn shuffle(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let (&mask, sources) = operation.args.split_last().ok_or("it has no mask")?;
    let &first = sources.first().ok_or("it has no operand")?;
    let last = sources[sources.len() - 1];
    let count = u64::from(builder.ty(first).count());
    let all = count * sources.len() as u64 - 1;
    let width = builder.ty(mask).count();
    if let Some(kiln_ir::Const::Bits(bits)) = builder.function.constant(mask) {
        let components: Vec<u8> = bits.iter().map(|bits| (bits & all) as u8).collect();
        return one(builder.shuffle(first, last, &components));
    }
    let ty = builder.ty(first).with_count(1);
    let mut parts = Vec::new();
    for component in 0..width {
        let index = builder.extract(mask, component);
        let index = builder.resize(index, Scalar::I32, false);
        let inside = builder.binary_bits(BinaryOp::And, index, count - 1);
        let mut part = builder.value(IrOp::ExtractDynamic, &[first, inside], ty);
        if sources.len() > 1 {
            let second = builder.value(IrOp::ExtractDynamic, &[last, inside], ty);
            let which = builder.binary_bits(BinaryOp::And, index, count);
            let zero = builder.i32(0);
            let is_first = builder.compare(CompareOp::Equal, CompareKind::Unsigned, which, zero);
            part = builder.select(is_first, part, second);
        }
        parts.push(part);
    }
    one(builder.construct(&parts, ty.with_count(width)))
}

/// `c ? b : a`. For vectors, selects by the most significant bit of each component (OpenCL C 6.15.6).
fn select(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b, c] = operation.args()?;
    let ty = builder.ty(c);
    let condition = if ty.is_vector() {
        builder.is_negative(c)
    } else {
        let zero = builder.bits(ty, 0);
        builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, c, zero)
    };
    one(builder.select(condition, b, a))
}

fn bit_select(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b, c] = operation.args()?;
    one(builder.bit_select(a, b, c))
}
