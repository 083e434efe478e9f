//! Folds OpSpecConstantOp, whose operands are constants.

use std::rc::Rc;

use kiln_ir::{Const, Scalar, Type};
use rspirv::spirv::Op;
use smallvec::SmallVec;

use crate::{
    Reader,
    constants::{Constant, write},
    pointers::Chain,
    problem::{Outcome, Problem},
    types::{Member, Ty},
};

/// The result of an operation on constants.
pub(crate) fn fold(reader: &Reader<'_>, op: Op, ty: u32, operands: &[u32]) -> Outcome<Constant> {
    let operand = |index: usize| {
        let id = operands.get(index).ok_or_else(|| Problem::new("it has too few operands"))?;
        reader.constant(*id)
    };
    match op {
        Op::CompositeExtract => {
            let mut found = operand(0)?.clone();
            for &index in &operands[1..] {
                found = reader.member_of(&found, u64::from(index))?;
            }
            Ok(found)
        }
        Op::CompositeInsert => match operands {
            [part, whole, path @ ..] => {
                inserted(reader, reader.constant(*part)?, reader.constant(*whole)?, ty, path)
            }
            _ => Err(Problem::new("it has too few operands")),
        },
        op if Chain::is_chain(op) => address(reader, op, ty, operands),
        Op::Bitcast | Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::ConvertPtrToU | Op::ConvertUToPtr
            if matches!(operand(0)?, Constant::Address(..)) || reader.types.value(ty)?.is_pointer() =>
        {
            let to = reader.types.value(ty)?;
            match operand(0)? {
                Constant::Address(var, offset, _) if to.size() == Some(8) && !to.is_vector() => {
                    Ok(Constant::Address(*var, *offset, to))
                }
                Constant::Value(_, value) => Ok(Constant::Value(to, value.clone())),
                _ => Err(Problem::new("this conversion of a constant address is not supported")),
            }
        }
        Op::IAdd | Op::ISub
            if operands.iter().any(|&id| matches!(reader.constant(id), Ok(Constant::Address(..)))) =>
        {
            let bits = |id: u32| reader.constant_bits(id).map(|bits| bits as i64);
            match (op, operand(0)?, operand(1)?) {
                (Op::IAdd, Constant::Address(var, offset, ty), _) if bits(operands[1]).is_some() => {
                    let other = bits(operands[1]).unwrap_or(0);
                    Ok(Constant::Address(*var, offset.wrapping_add(other), *ty))
                }
                (Op::IAdd, _, Constant::Address(var, offset, ty)) if bits(operands[0]).is_some() => {
                    let other = bits(operands[0]).unwrap_or(0);
                    Ok(Constant::Address(*var, offset.wrapping_add(other), *ty))
                }
                (Op::ISub, Constant::Address(var, offset, ty), _) if bits(operands[1]).is_some() => {
                    let other = bits(operands[1]).unwrap_or(0);
                    Ok(Constant::Address(*var, offset.wrapping_sub(other), *ty))
                }
                _ => Err(Problem::new("this operation on constant addresses is not supported")),
            }
        }
        Op::Select if reader.types.is_aggregate(ty) => {
            let condition = operands.first().and_then(|id| reader.constant_bits(*id));
            operand(if condition == Some(0) { 2 } else { 1 }).cloned()
        }
        _ => numbers(reader, op, ty, operands),
    }
}

/// The address that an access chain into an object of the module computes.
fn address(reader: &Reader<'_>, op: Op, ty: u32, operands: &[u32]) -> Outcome<Constant> {
    let unsupported = || Problem::new("this constant address is not supported");
    let chain = Chain::new(op, operands)?;
    let pointer = reader.types.value(ty)?;
    let pointee = match chain.pointee {
        Some(ty) => ty,
        None => reader.types.pointee(reader.words.definition(chain.base)?.result_type()?)?,
    };
    let (base, mut offset) = match reader.constant(chain.base)? {
        Constant::Address(var, offset, _) => (Some(*var), *offset),
        Constant::Value(_, value) => (None, value.as_scalar().ok_or_else(unsupported)? as i64),
        _ => return Err(unsupported()),
    };
    let mut member = Member::Type(pointee);
    let mut rest = chain.indices;
    let signed = |id: u32| {
        let bits = reader.constant_bits(id).ok_or_else(unsupported)?;
        let narrow = matches!(reader.constant(id)?, Constant::Value(Type::I32, _));
        Ok::<i64, Problem>(if narrow { i64::from(bits as i32) } else { bits as i64 })
    };
    if chain.has_element {
        let [first, others @ ..] = rest else { return Err(unsupported()) };
        let size = reader.types.layout(pointee)?.0 as i64;
        offset = offset.wrapping_add(signed(*first)?.wrapping_mul(size));
        rest = others;
    }
    for &index in rest {
        let Member::Type(whole) = member else { return Err(unsupported()) };
        // An address may be beyond the last element.
        if let Ty::Array { element, .. } = *reader.types.get(whole)? {
            let size = reader.types.layout(element)?.0 as i64;
            offset = offset.wrapping_add(signed(index)?.wrapping_mul(size));
            member = Member::Type(element);
            continue;
        }
        let (next, at) = reader.types.member(whole, signed(index)? as u64)?;
        offset = offset.wrapping_add(at as i64);
        member = next;
    }
    Ok(match base {
        Some(var) => Constant::Address(var, offset, pointer),
        None => Constant::Value(pointer, Const::scalar(offset as u64)),
    })
}

fn inserted(
    reader: &Reader<'_>,
    part: &Constant,
    whole: &Constant,
    ty: u32,
    path: &[u32],
) -> Outcome<Constant> {
    let wrong = || Problem::new("it has no such member");
    if let (Constant::Value(vector, value), [index]) = (whole, path) {
        let index = *index as usize;
        let mut bits: SmallVec<[u64; 2]> = match value {
            Const::Bits(bits) => bits.clone(),
            Const::Undefined => SmallVec::from_elem(0, usize::from(vector.count())),
        };
        let Constant::Value(_, part) = part else { return Err(wrong()) };
        *bits.get_mut(index).ok_or_else(wrong)? = part.as_scalar().unwrap_or(0);
        return Ok(Constant::Value(*vector, Const::Bits(bits)));
    }
    let mut data = match whole {
        Constant::Aggregate(_, data) => (**data).clone(),
        _ => crate::constants::data(reader.types.layout(ty)?.0)?,
    };
    let (mut offset, mut member) = (0, Member::Type(ty));
    for &index in path {
        let Member::Type(whole) = member else { return Err(wrong()) };
        let (next, at) = reader.types.member(whole, u64::from(index))?;
        (offset, member) = (offset + at, next);
    }
    let size = match part {
        Constant::Value(ty, _) | Constant::Address(_, _, ty) => ty.size().unwrap_or(0),
        Constant::Aggregate(ty, _) | Constant::Undefined(ty) => reader.types.layout(*ty)?.0,
    };
    data.relocations.retain(|(at, ..)| !(offset..offset + size).contains(at));
    write(&mut data, offset, part)?;
    Ok(Constant::Aggregate(ty, Rc::new(data)))
}

/// An operation on numbers, componentwise.
fn numbers(reader: &Reader<'_>, op: Op, ty: u32, operands: &[u32]) -> Outcome<Constant> {
    let unsupported = || Problem::new(format!("Op{op:?} of constants is not supported"));
    let result = reader.types.value(ty)?;
    let mut values = Vec::new();
    if op == Op::VectorShuffle {
        return shuffle(reader, result, operands);
    }
    for &id in operands {
        match reader.constant(id)? {
            Constant::Value(_, Const::Undefined) => return Ok(Constant::Value(result, Const::Undefined)),
            Constant::Value(ty, Const::Bits(bits)) => values.push((*ty, bits.clone())),
            _ => return Err(unsupported()),
        }
    }
    if op == Op::Bitcast {
        let [(from, bits)] = &values[..] else { return Err(unsupported()) };
        return cast_bits(*from, bits, result).ok_or_else(unsupported);
    }
    let scalar = result.scalar().ok_or_else(unsupported)?;
    let mut bits: SmallVec<[u64; 2]> = SmallVec::new();
    for index in 0..usize::from(result.count()) {
        let parts: Option<Vec<(Scalar, u64)>> = values
            .iter()
            .map(|(ty, bits)| Some((ty.scalar()?, *bits.get(index).or_else(|| bits.first())?)))
            .collect();
        let part = fold_number(op, scalar, &parts.ok_or_else(unsupported)?).ok_or_else(unsupported)?;
        bits.push(part & scalar.mask());
    }
    Ok(Constant::Value(result, Const::Bits(bits)))
}

fn shuffle(reader: &Reader<'_>, result: Type, operands: &[u32]) -> Outcome<Constant> {
    let wrong = || Problem::new("OpVectorShuffle of these constants is not supported");
    let [a, b, components @ ..] = operands else { return Err(wrong()) };
    let mut all: Vec<u64> = Vec::new();
    for id in [a, b] {
        match reader.constant(*id)? {
            Constant::Value(_, Const::Bits(bits)) => all.extend(bits),
            Constant::Value(ty, Const::Undefined) => all.extend(vec![0; usize::from(ty.count())]),
            _ => return Err(wrong()),
        }
    }
    let pick = |&index: &u32| if index == u32::MAX { Some(0) } else { all.get(index as usize).copied() };
    let bits: Option<SmallVec<[u64; 2]>> = components.iter().map(pick).collect();
    let bits = bits.filter(|bits| bits.len() == usize::from(result.count())).ok_or_else(wrong)?;
    Ok(Constant::Value(result, Const::Bits(bits)))
}

/// Reinterprets the bits of numbers.
fn cast_bits(from: Type, bits: &[u64], to: Type) -> Option<Constant> {
    let (width, new_width) = (from.scalar()?.size() as usize, to.scalar()?.size() as usize);
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(width)).collect();
    let parts = bytes.chunks(new_width);
    let parts = parts.map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
    let parts: SmallVec<[u64; 2]> = parts.collect();
    (parts.len() == usize::from(to.count()) && from.size() == to.size())
        .then_some(Constant::Value(to, Const::Bits(parts)))
}

/// An operation on scalars: the bits of the result, to truncate to its width. `None` if it is not supported or undefined.
fn fold_number(op: Op, result: Scalar, parts: &[(Scalar, u64)]) -> Option<u64> {
    let signed = |(scalar, bits): (Scalar, u64)| {
        let unused = 64 - scalar.bits().max(1);
        ((bits << unused) as i64) >> unused
    };
    let (first, a) = *parts.first()?;
    if first.is_float() || result.is_float() {
        return None;
    }
    if parts.len() == 1 {
        return Some(match op {
            Op::UConvert => a,
            Op::SConvert => signed(parts[0]) as u64,
            Op::SNegate => a.wrapping_neg(),
            Op::Not => !a,
            Op::LogicalNot => a ^ 1,
            _ => return None,
        });
    }
    let (second, b) = *parts.get(1)?;
    if op == Op::Select {
        let (_, c) = *parts.get(2)?;
        return Some(if a == 0 { c } else { b });
    }
    let (sa, sb) = (signed((first, a)), signed((second, b)));
    let shift = u32::try_from(b).ok().filter(|shift| *shift < first.bits());
    let flag = |is_true: bool| Some(u64::from(is_true));
    match op {
        Op::IAdd => Some(a.wrapping_add(b)),
        Op::ISub => Some(a.wrapping_sub(b)),
        Op::IMul => Some(a.wrapping_mul(b)),
        Op::UDiv => a.checked_div(b),
        Op::SDiv => sa.checked_div(sb).map(|quotient| quotient as u64),
        Op::UMod => a.checked_rem(b),
        Op::SRem => sa.checked_rem(sb).map(|rest| rest as u64),
        Op::SMod => sa.checked_rem(sb).map(|rest| {
            let is_other_sign = rest != 0 && (rest < 0) != (sb < 0);
            (if is_other_sign { rest + sb } else { rest }) as u64
        }),
        Op::ShiftLeftLogical => Some(a << shift?),
        Op::ShiftRightLogical => Some(a >> shift?),
        Op::ShiftRightArithmetic => Some((sa >> shift?) as u64),
        Op::BitwiseAnd | Op::LogicalAnd => Some(a & b),
        Op::BitwiseOr | Op::LogicalOr => Some(a | b),
        Op::BitwiseXor | Op::LogicalNotEqual => Some(a ^ b),
        Op::LogicalEqual => Some(a ^ b ^ 1),
        Op::IEqual => flag(a == b),
        Op::INotEqual => flag(a != b),
        Op::ULessThan => flag(a < b),
        Op::ULessThanEqual => flag(a <= b),
        Op::UGreaterThan => flag(a > b),
        Op::UGreaterThanEqual => flag(a >= b),
        Op::SLessThan => flag(sa < sb),
        Op::SLessThanEqual => flag(sa <= sb),
        Op::SGreaterThan => flag(sa > sb),
        Op::SGreaterThanEqual => flag(sa >= sb),
        _ => None,
    }
}
