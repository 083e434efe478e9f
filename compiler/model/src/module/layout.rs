//! Sizes and scalars of types, constants, and pointers.

use smallvec::{SmallVec, smallvec};
use spirv::{BuiltIn, Op};

use super::{Module, Unsupported, alu, interface::Bound};

/// A value: its scalars, in order.
pub(super) type Value = SmallVec<[u64; 2]>;

/// A scalar of a type: its byte offset, and its size in bytes.
pub(super) type Leaf = (u64, u64);

fn unsupported(what: &str) -> Unsupported {
    Unsupported::Other(what.to_owned())
}

impl Module {
    /// The storage class and pointee of a pointer type.
    pub(super) fn pointer(&self, ty: u32) -> Result<(u32, u32), Unsupported> {
        let definition = self.definition(ty)?;
        match definition.op {
            Op::TypePointer => Ok((definition.word(1), definition.word(2))),
            Op::TypeUntypedPointerKHR => Ok((definition.word(1), 0)),
            op => Err(Unsupported::Other(format!("Op{op:?} {ty} is not a pointer type"))),
        }
    }

    /// The width of a scalar type in bits; the width of its components for a vector.
    pub(super) fn width(&self, ty: u32) -> Result<u32, Unsupported> {
        let definition = self.definition(ty)?;
        match definition.op {
            Op::TypeBool => Ok(1),
            Op::TypeInt | Op::TypeFloat => Ok(definition.word(1)),
            Op::TypeVector => self.width(definition.word(1)),
            Op::TypePointer | Op::TypeUntypedPointerKHR => Ok(64),
            _ => Err(unsupported("a value of this type has no width")),
        }
    }

    /// The size and alignment of a type.
    fn size_and_align(&self, ty: u32, bound: &Bound) -> Result<(u64, u64), Unsupported> {
        let definition = self.definition(ty)?;
        Ok(match definition.op {
            Op::TypeVector => {
                let (size, _) = self.size_and_align(definition.word(1), bound)?;
                let count = u64::from(definition.word(2));
                let count = if count == 3 && !self.is_vulkan { 4 } else { count };
                (size * count, size * count)
            }
            Op::TypeArray => {
                let (_, align) = self.size_and_align(definition.word(1), bound)?;
                (self.stride(ty, bound)? * self.length(definition.word(2), bound)?, align)
            }
            Op::TypeRuntimeArray => (0, self.size_and_align(definition.word(1), bound)?.1),
            Op::TypeStruct => {
                let (mut end, mut largest) = (0, 1);
                for (index, member) in definition.words[1..].iter().enumerate() {
                    let (size, align) = self.size_and_align(*member, bound)?;
                    end = self.offset(ty, index as u32, bound)? + size;
                    largest = largest.max(align);
                }
                (end.next_multiple_of(largest), largest)
            }
            _ => {
                let size = u64::from(self.width(ty)?.div_ceil(8));
                (size, size)
            }
        })
    }

    /// The size of a type.
    pub(super) fn size(&self, ty: u32, bound: &Bound) -> Result<u64, Unsupported> {
        Ok(self.size_and_align(ty, bound)?.0)
    }

    /// The number of bytes from an element of an array to the next.
    pub(super) fn stride(&self, ty: u32, bound: &Bound) -> Result<u64, Unsupported> {
        match self.strides.get(&ty) {
            Some(stride) => Ok(u64::from(*stride)),
            None => self.size(self.definition(ty)?.word(1), bound),
        }
    }

    /// The offset of a member of a struct.
    pub(super) fn offset(&self, ty: u32, member: u32, bound: &Bound) -> Result<u64, Unsupported> {
        if let Some(offset) = self.offsets.get(&(ty, member)) {
            return Ok(u64::from(*offset));
        }
        let members = self.definition(ty)?.words.get(1..).unwrap_or_default();
        let mut end = 0;
        for (index, other) in members.iter().enumerate() {
            let (size, align) = self.size_and_align(*other, bound)?;
            end = u64::next_multiple_of(end, align.max(1));
            if index as u32 == member {
                return Ok(end);
            }
            end += size;
        }
        Err(unsupported("a struct has no such member"))
    }

    fn length(&self, id: u32, bound: &Bound) -> Result<u64, Unsupported> {
        let length = self.constant(id, bound)?.first().copied().unwrap_or_default();
        if length > 1 << 20 { Err(unsupported("an array is too long to explore")) } else { Ok(length) }
    }

    /// The types of the parts of a composite type; none for a scalar.
    pub(super) fn parts(&self, ty: u32, bound: &Bound) -> Result<Vec<u32>, Unsupported> {
        let definition = self.definition(ty)?;
        Ok(match definition.op {
            Op::TypeStruct => definition.words[1..].to_vec(),
            Op::TypeVector => vec![definition.word(1); definition.word(2) as usize],
            Op::TypeArray => vec![definition.word(1); self.length(definition.word(2), bound)? as usize],
            _ => Vec::new(),
        })
    }

    /// The scalars of a type.
    pub(super) fn leaves(&self, ty: u32, bound: &Bound) -> Result<Vec<Leaf>, Unsupported> {
        let parts = self.parts(ty, bound)?;
        if parts.is_empty() && self.definition(ty)?.op != Op::TypeArray {
            return Ok(vec![(0, u64::from(self.width(ty)?.div_ceil(8)))]);
        }
        let mut leaves = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let at = match self.definition(ty)?.op {
                Op::TypeStruct => self.offset(ty, index as u32, bound)?,
                Op::TypeArray => index as u64 * self.stride(ty, bound)?,
                _ => index as u64 * self.size(*part, bound)?,
            };
            leaves.extend(self.leaves(*part, bound)?.into_iter().map(|(offset, size)| (at + offset, size)));
        }
        Ok(leaves)
    }

    /// The range of the scalars of a part of a composite value.
    pub(super) fn range(
        &self,
        ty: u32,
        indices: &[u32],
        bound: &Bound,
    ) -> Result<(usize, usize), Unsupported> {
        let Some((&index, rest)) = indices.split_first() else {
            return Ok((0, self.leaves(ty, bound)?.len()));
        };
        let parts = self.parts(ty, bound)?;
        let Some(&part) = parts.get(index as usize) else {
            return Err(unsupported("a value has no such part"));
        };
        let mut before = 0;
        for part in &parts[..index as usize] {
            before += self.leaves(*part, bound)?.len();
        }
        let (first, count) = self.range(part, rest, bound)?;
        Ok((before + first, count))
    }

    /// The values of all constants by id. `None` for other ids, and for constants without a value.
    pub(super) fn constants(&self, bound: &Bound) -> Vec<Option<Value>> {
        let is_constant = |id: u32| self.definition(id).is_ok_and(|it| is_constant(it.op));
        (0..self.definitions.len() as u32)
            .map(|id| if is_constant(id) { self.constant(id, bound).ok() } else { None })
            .collect()
    }

    /// The value of a constant.
    pub(super) fn constant(&self, id: u32, bound: &Bound) -> Result<Value, Unsupported> {
        let definition = self.definition(id)?;
        let number = || definition.words[2..].iter().rev().fold(0, |all, word| all << 32 | u64::from(*word));
        if self.built_ins.get(&id) == Some(&(BuiltIn::WorkgroupSize as u32)) {
            return Ok(Value::from_slice(&bound.launch.local.map(u64::from)));
        }
        if matches!(definition.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse)
            && let bytes = bound.bytes(id)
            && !bytes.is_empty()
        {
            return Ok(smallvec![bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))]);
        }
        if let Some(value) = self.spec_ids.get(&id).and_then(|spec| bound.specialized.get(spec)) {
            return Ok(smallvec![*value]);
        }
        match definition.op {
            Op::Constant => {
                let width = self.width(definition.word(0))?;
                Ok(smallvec![alu::narrow(number(), width)])
            }
            Op::SpecConstant => Ok(smallvec![number()]),
            Op::ConstantTrue | Op::SpecConstantTrue => Ok(smallvec![1]),
            Op::ConstantFalse | Op::SpecConstantFalse => Ok(smallvec![0]),
            Op::ConstantNull | Op::Undef => Ok(smallvec![0; self.leaves(definition.word(0), bound)?.len()]),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut all = Value::new();
                for part in &definition.words[2..] {
                    all.extend(self.constant(*part, bound)?);
                }
                Ok(all)
            }
            Op::SpecConstantOp => {
                let op = Op::from_u32(definition.word(2)).unwrap_or(Op::Nop);
                let operand = |index: usize| {
                    Ok(self.constant(definition.word(index), bound)?.first().copied().unwrap_or_default())
                };
                let widths =
                    (self.width(definition.word(0))?, self.width(self.type_of(definition.word(3))?)?);
                let (a, b) = (operand(3)?, if definition.words.len() > 4 { operand(4)? } else { 0 });
                alu::compute(op, widths, a, b)
                    .map(|value| smallvec![value])
                    .ok_or_else(|| Unsupported::Instruction(format!("Op{op:?} of constants")))
            }
            op => Err(Unsupported::Instruction(format!("Op{op:?} as a constant"))),
        }
    }
}

fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::Constant
            | Op::ConstantTrue
            | Op::ConstantFalse
            | Op::ConstantNull
            | Op::ConstantComposite
            | Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
    )
}
