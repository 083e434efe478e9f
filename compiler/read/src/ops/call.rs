//! Calls of built-in functions. A module names a function, or has its number in the set `OpenCL.std`.

use kiln_builtins::{Element, MatchedOverload, Operand, Parameter};
use kiln_ir::{Builder, BuiltinParam, Op, Scalar, Type, ValueId};

/// Calls the function with this name. `signed` is the sign of integers among the arguments, if that matters.
pub(super) fn call(
    builder: &mut Builder<'_>,
    name: &str,
    args: &[ValueId],
    pointees: &[Option<Type>],
    signed: Option<bool>,
    result: Option<Type>,
) -> Result<Option<ValueId>, String> {
    let operands = operands(builder, args, pointees, signed);
    let found = kiln_builtins::overload_of_name(name, &operands);
    let found = found.ok_or_else(|| format!("OpenCL C's `{name}` has no form for these operands"))?;
    Ok(emit(builder, &found, args, result))
}

/// Calls a function that has a result, and only numbers as arguments.
pub(super) fn value(
    builder: &mut Builder<'_>,
    name: &str,
    args: &[ValueId],
    signed: Option<bool>,
    result: Type,
) -> Result<ValueId, String> {
    let value = call(builder, name, args, &[], signed, Some(result))?;
    value.ok_or_else(|| format!("OpenCL C's `{name}` has no result"))
}

/// The operands as the table of built-in functions compares them.
pub(super) fn operands(
    builder: &Builder<'_>,
    args: &[ValueId],
    pointees: &[Option<Type>],
    signed: Option<bool>,
) -> Vec<Operand> {
    let operand = |(index, &arg): (usize, &ValueId)| match builder.ty(arg) {
        Type::Scalar(scalar) => Operand::Number(element(scalar, signed), 1),
        Type::Vector(scalar, count) => Operand::Number(element(scalar, signed), count),
        Type::Pointer(_) => {
            let pointee = pointees.get(index).copied().flatten();
            let number = pointee.and_then(|ty| Some((element(ty.scalar()?, signed), ty.count())));
            Operand::Pointer(number)
        }
        Type::Image(image) => Operand::Image(image),
        Type::Sampler | Type::Handle(_) => Operand::Opaque,
    };
    args.iter().enumerate().map(operand).collect()
}

fn element(scalar: Scalar, signed: Option<bool>) -> Element {
    let is_float = scalar.is_float();
    Element { size: scalar.size(), is_float, is_signed: signed.filter(|_| !is_float) }
}

/// Emits the call of an overload.
pub(super) fn emit(
    builder: &mut Builder<'_>,
    found: &MatchedOverload,
    args: &[ValueId],
    result: Option<Type>,
) -> Option<ValueId> {
    let params = found.parameters.iter().map(|parameter| match *parameter {
        Parameter::Value(scalar, count) => BuiltinParam::Value(scalar, count),
        Parameter::Pointer(scalar, count) => BuiltinParam::Pointer(scalar, count),
        Parameter::Other => BuiltinParam::Other,
    });
    let op = Op::Builtin(found.builtin, params.collect());
    let inst = builder.inst(op, args, result.as_slice());
    builder.function.insts[inst].results.first().copied()
}

/// Calls `each` with the components of the arguments, and builds a vector of the results.
pub(super) fn componentwise(
    builder: &mut Builder<'_>,
    args: &[ValueId],
    mut each: impl FnMut(&mut Builder<'_>, &[ValueId]) -> Result<ValueId, String>,
) -> Result<ValueId, String> {
    let counts = args.iter().map(|&arg| builder.ty(arg)).filter(|ty| ty.is_vector()).map(Type::count);
    let Some(count) = counts.max() else { return each(builder, args) };
    let mut results = Vec::new();
    for component in 0..count {
        let parts: Vec<ValueId> = args
            .iter()
            .map(|&arg| if builder.ty(arg).is_vector() { builder.extract(arg, component) } else { arg })
            .collect();
        results.push(each(builder, &parts)?);
    }
    let ty = builder.ty(results[0]).with_count(count);
    Ok(builder.construct(&results, ty))
}
