//! Decodes declarations before the functions: types, constants, variables.

use spirv::{BuiltIn, Op, StorageClass};

use super::{Constant, Decoder, INPUTS};
use crate::{
    Environment, Invalid, alu,
    code::{Comparison, Input, Object, Resource, ResourceLocation},
    interface::is_type,
    memory::Space,
    types::{MAX_SLOTS, Member, TypeId},
    words::Inst,
};

impl Decoder<'_> {
    pub(super) fn global(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        match inst.op {
            op if is_type(op) => {
                let constants = &self.constants;
                let number = |id: u32| match constants.get(&id) {
                    Some((_, Constant::Slots(slots))) => slots.first().copied(),
                    Some((_, Constant::Zero)) => Some(0),
                    _ => None,
                };
                self.types.declare(inst, number)
            }
            Op::Constant | Op::SpecConstant => {
                let (scalar, _) = self.types.lanes(inst.word(0)?)?;
                let high = inst.words.get(3).copied().unwrap_or(0);
                let written = u64::from(inst.word(2)?) | u64::from(high) << 32;
                let bits = self.specialized(inst)?.unwrap_or(written);
                self.define(inst, Constant::Slots(vec![alu::truncated(scalar.size(), bits)]))
            }
            Op::ConstantTrue | Op::SpecConstantTrue | Op::ConstantFalse | Op::SpecConstantFalse => {
                let written = matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let value = self.specialized(inst)?.map_or(written, |bits| bits != 0);
                self.define(inst, Constant::Slots(vec![value.into()]))
            }
            Op::ConstantNull => self.define(inst, Constant::Zero),
            Op::Undef => self.define(inst, Constant::Undefined),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut slots = Vec::new();
                for &part in inst.from(2) {
                    slots.extend(self.slots_of(part)?);
                }
                if slots.len() as u64 != self.types.get(inst.word(0)?)?.slots {
                    return Err(Invalid::new("the parts of a constant do not match its type"));
                }
                self.define(inst, Constant::Slots(slots))
            }
            Op::ConstantSampler => {
                // The bit encoding of OpenCL C's macros (6.15.15.1).
                let [addressing, normalized, filter] = [inst.word(2)?, inst.word(3)?, inst.word(4)?];
                let bits = (addressing & 7) << 1 | normalized & 1 | 0x10 << (filter & 1);
                self.define(inst, Constant::Slots(vec![bits.into()]))
            }
            Op::SpecConstantOp => self.operation(inst),
            Op::Variable => self.variable(inst),
            _ => Ok(()),
        }
    }

    /// The value that the launch specifies for a specialization constant.
    fn specialized(&self, inst: &Inst<'_>) -> Result<Option<u64>, Invalid> {
        let id = self.decorations.get(&inst.word(1)?).and_then(|it| it.spec_id);
        let given = |id| self.specialization.iter().find(|(known, _)| *known == id);
        Ok(id.and_then(given).map(|(_, value)| (*value).into()))
    }

    fn define(&mut self, inst: &Inst<'_>, value: Constant) -> Result<(), Invalid> {
        self.constants.insert(inst.word(1)?, (inst.word(0)?, value));
        Ok(())
    }

    /// The register values of a constant.
    pub(super) fn slots_of(&self, id: u32) -> Result<Vec<u64>, Invalid> {
        let (ty, value) =
            self.constants.get(&id).ok_or_else(|| Invalid::new(format!("id {id} is not a constant")))?;
        match value {
            Constant::Slots(slots) => Ok(slots.clone()),
            Constant::Zero | Constant::Undefined => {
                let slots = self.types.get(*ty)?.slots;
                if slots > MAX_SLOTS * 256 {
                    return Err(Invalid::new("a constant is too large"));
                }
                Ok(vec![0; slots as usize])
            }
        }
    }

    /// The bytes of a constant in memory, and their number; no bytes if all are zero.
    pub(super) fn bytes_of(&self, id: u32) -> Result<(Vec<u8>, u64), Invalid> {
        let (ty, value) =
            self.constants.get(&id).ok_or_else(|| Invalid::new(format!("id {id} is not a constant")))?;
        let size = self.types.get(*ty)?.size;
        let Constant::Slots(slots) = value else { return Ok((Vec::new(), size)) };
        let mut bytes = vec![0; size as usize];
        let mut rest = slots.as_slice();
        self.lay_out(Member::Type(*ty), 0, &mut rest, &mut bytes)?;
        Ok((bytes, size))
    }

    fn lay_out(&self, member: Member, at: u64, slots: &mut &[u64], bytes: &mut [u8]) -> Result<(), Invalid> {
        use crate::types::Ty;
        let mut put = |at: u64, size: u8, slots: &mut &[u64]| {
            let (first, rest) = slots.split_first().ok_or_else(|| Invalid::new("a constant ends"))?;
            *slots = rest;
            let target = bytes.get_mut(at as usize..at as usize + usize::from(size));
            let target = target.ok_or_else(|| Invalid::new("a constant does not fit"))?;
            target.copy_from_slice(&first.to_le_bytes()[..usize::from(size)]);
            Ok::<(), Invalid>(())
        };
        let ty = match member {
            Member::Lane(scalar) => return put(at, scalar.size(), slots),
            Member::Type(ty) => ty,
        };
        let found = self.types.get(ty)?;
        match &found.ty {
            Ty::Array(element, count) => {
                for index in 0..*count {
                    self.lay_out(Member::Type(*element), at + index * found.stride, slots, bytes)?;
                }
            }
            Ty::Struct(members) => {
                for (&member, offset) in members.iter().zip(&found.offsets) {
                    self.lay_out(Member::Type(member), at + offset, slots, bytes)?;
                }
            }
            _ => {
                let (scalar, count) = self.types.lanes(ty)?;
                for index in 0..count {
                    put(at + u64::from(index) * u64::from(scalar.size()), scalar.size(), slots)?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates constant operations: addresses and arithmetic.
    fn operation(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let unknown = || Invalid::new("an operation on constants is unknown");
        let op = Op::from_u32(inst.word(2)?).ok_or_else(unknown)?;
        let operands = inst.from(3);
        let first = *operands.first().ok_or_else(unknown)?;
        let value = match op {
            Op::Bitcast => self.bitcast(first, inst.word(0)?)?,
            Op::CompositeExtract => {
                let ty = self.constants.get(&first).ok_or_else(unknown)?.0;
                let (at, count) = self.types.part(ty, &operands[1..])?;
                let slots = self.slots_of(first)?;
                slots.get(at as usize..(at + count) as usize).ok_or_else(unknown)?.to_vec()
            }
            Op::CompositeInsert => {
                let (at, count) = self.types.part(inst.word(0)?, operands.get(2..).ok_or_else(unknown)?)?;
                let mut slots = self.slots_of(*operands.get(1).ok_or_else(unknown)?)?;
                let replaced = slots.get_mut(at as usize..(at + count) as usize).ok_or_else(unknown)?;
                replaced.iter_mut().zip(self.slots_of(first)?).for_each(|(slot, part)| *slot = part);
                slots
            }
            Op::VectorShuffle => {
                let [_, second, chosen @ ..] = operands else { return Err(unknown()) };
                let both: Vec<u64> =
                    self.slots_of(first)?.into_iter().chain(self.slots_of(*second)?).collect();
                // An index without a component gives any value.
                chosen.iter().map(|&index| both.get(index as usize).copied().unwrap_or(0)).collect()
            }
            Op::SConvert => {
                let (from, _) = self.types.lanes(self.constants.get(&first).ok_or_else(unknown)?.0)?;
                let (to, _) = self.types.lanes(inst.word(0)?)?;
                let wide = |bits: &u64| alu::truncated(to.size(), alu::signed(from.size(), *bits) as u64);
                self.slots_of(first)?.iter().map(wide).collect()
            }
            Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr
            | Op::UConvert => {
                let (scalar, _) = self.types.lanes(inst.word(0)?)?;
                self.slots_of(first)?.iter().map(|&bits| alu::truncated(scalar.size(), bits)).collect()
            }
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let base = self.integer_constant(first).ok_or_else(unknown)?;
                let (ty, _) = *self.constants.get(&first).ok_or_else(unknown)?;
                vec![self.constant_chain(op, ty, base, &operands[1..])?.ok_or_else(unknown)?]
            }
            Op::Select => {
                let [_, yes, no] = operands else { return Err(unknown()) };
                let conditions = self.slots_of(first)?;
                let values = self.slots_of(*yes)?.into_iter().zip(self.slots_of(*no)?);
                // A scalar condition selects all components.
                values
                    .zip(conditions.iter().cycle())
                    .map(|((yes, no), &bit)| if bit == 0 { no } else { yes })
                    .collect()
            }
            _ => {
                let (scalar, _) = self.types.lanes(self.constants.get(&first).ok_or_else(unknown)?.0)?;
                let a = self.slots_of(first)?;
                match operands {
                    [_] => {
                        let f = alu::integer_unary(op, scalar).or_else(|| alu::float_unary(op, scalar));
                        let f = f.ok_or_else(unknown)?;
                        a.into_iter().map(f).collect()
                    }
                    [_, second] => {
                        let f = alu::integer_binary(op, scalar).or_else(|| alu::float_binary(op, scalar));
                        let f = f.ok_or_else(unknown)?;
                        a.into_iter().zip(self.slots_of(*second)?).map(|(a, b)| f(a, b)).collect()
                    }
                    _ => return Err(unknown()),
                }
            }
        };
        self.define(inst, Constant::Slots(value))
    }

    /// The bits of a constant as those of another type. Components of one vector can be parts of the other's components,
    /// lowest first.
    fn bitcast(&self, from: u32, to: TypeId) -> Result<Vec<u64>, Invalid> {
        let unknown = || Invalid::new("an operation on constants is unknown");
        let (scalar, _) = self.types.lanes(self.constants.get(&from).ok_or_else(unknown)?.0)?;
        let (to, _) = self.types.lanes(to)?;
        let bytes = |bits: u64| bits.to_le_bytes().into_iter().take(usize::from(scalar.size()));
        let bytes: Vec<u8> = self.slots_of(from)?.into_iter().flat_map(bytes).collect();
        let number = |part: &[u8]| part.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        Ok(bytes.chunks(usize::from(to.size())).map(number).collect())
    }

    /// Resolves a constant access chain.
    pub(super) fn constant_chain(
        &self,
        op: Op,
        pointer: TypeId,
        base: u64,
        indices: &[u32],
    ) -> Result<Option<u64>, Invalid> {
        let Some(indices) = indices.iter().map(|&id| self.index(id)).collect::<Option<Vec<i64>>>() else {
            return Ok(None);
        };
        let (_, pointee) = self.pointee(pointer)?;
        let (element, rest) = match (op, indices.as_slice()) {
            (Op::PtrAccessChain | Op::InBoundsPtrAccessChain, [element, rest @ ..]) => (*element, rest),
            (_, all) => (0, all),
        };
        let stride = self.element_stride(pointer)? as i64;
        let (bytes, _) = self.path(pointee, rest)?;
        Ok(Some(base.wrapping_add(stride.wrapping_mul(element).wrapping_add(bytes) as u64)))
    }

    /// A module-scope variable: its address is a constant.
    fn variable(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let (class, pointee) = self.pointee(ty)?;
        let found = self.types.get(pointee)?;
        let (size, align) = (found.size, found.align);
        let builtin = self.decorations.get(&id).and_then(|it| it.builtin);
        // Translators declare built-in variables in other classes, too.
        let is_input = class == StorageClass::Input
            || builtin.is_some() && self.types.environment == Environment::OpenCl;
        let address = match class {
            _ if is_input => {
                let unknown = || Invalid::new(format!("built-in variable {builtin:?} is unknown"));
                let input =
                    builtin.and_then(BuiltIn::from_u32).and_then(|it| input(it, self.types.environment));
                let input = input.ok_or_else(unknown)?;
                let number = INPUTS.iter().position(|known| *known == input).ok_or_else(unknown)?;
                Space::Input.address(number as u32)
            }
            StorageClass::Workgroup => {
                self.locals.push(Object { name: self.name(id), size, align });
                Space::Local.address(self.locals.len() as u32 - 1)
            }
            StorageClass::Private => {
                let initial = inst.words.get(3).copied();
                self.privates.push((Object { name: self.name(id), size, align }, initial));
                Space::Private.address(self.privates.len() as u32 - 1)
            }
            StorageClass::PushConstant
            | StorageClass::Uniform
            | StorageClass::StorageBuffer
            | StorageClass::UniformConstant
                if self.types.environment == Environment::Vulkan =>
            {
                self.resource(class, id)
            }
            StorageClass::CrossWorkgroup | StorageClass::UniformConstant => {
                let no_room = || Invalid::new("its variables do not fit into memory");
                let buffer = self.memory.allocate(size).ok_or_else(no_room)?;
                if let Some(&initial) = inst.words.get(3) {
                    let (bytes, length) = self.bytes_of(initial)?;
                    if length > size {
                        return Err(Invalid::new("a variable is smaller than its initial value"));
                    }
                    buffer.write(0, &bytes);
                }
                let address = buffer.address();
                self.globals.push((buffer, self.name(id)));
                address
            }
            _ => return Err(Invalid::new(format!("variables of class {class:?} are not supported"))),
        };
        self.define(inst, Constant::Slots(vec![address]))
    }

    /// The address of a variable that the launch binds.
    fn resource(&mut self, class: StorageClass, id: u32) -> u64 {
        let decorations = self.decorations.get(&id).copied().unwrap_or_default();
        let location = match class {
            StorageClass::PushConstant => ResourceLocation::PushConstants,
            _ => ResourceLocation::Descriptor {
                set: decorations.set.unwrap_or(0),
                binding: decorations.binding.unwrap_or(0),
            },
        };
        self.resources.push(Resource { name: self.name(id), location });
        Space::Resource.address(self.resources.len() as u32 - 1)
    }
}

fn input(builtin: BuiltIn, environment: Environment) -> Option<Input> {
    Some(match builtin {
        BuiltIn::GlobalInvocationId if environment == Environment::Vulkan => Input::DispatchId,
        BuiltIn::WorkgroupId if environment == Environment::Vulkan => Input::DispatchGroupId,
        BuiltIn::NumWorkgroups if environment == Environment::Vulkan => Input::DispatchGroups,
        BuiltIn::GlobalInvocationId => Input::GlobalId,
        BuiltIn::GlobalSize => Input::GlobalSize,
        BuiltIn::GlobalOffset => Input::GlobalOffset,
        BuiltIn::GlobalLinearId => Input::GlobalLinearId,
        BuiltIn::LocalInvocationId => Input::LocalId,
        BuiltIn::LocalInvocationIndex => Input::LocalLinearId,
        BuiltIn::WorkgroupSize => Input::LocalSize,
        BuiltIn::EnqueuedWorkgroupSize => Input::EnqueuedLocalSize,
        BuiltIn::WorkgroupId => Input::GroupId,
        BuiltIn::NumWorkgroups => Input::NumGroups,
        BuiltIn::WorkDim => Input::WorkDim,
        // In Vulkan, a sub-group with fewer invocations has the same size as the others.
        BuiltIn::SubgroupSize if environment == Environment::Vulkan => Input::MaxSubGroupSize,
        BuiltIn::SubgroupSize => Input::SubGroupSize,
        BuiltIn::SubgroupMaxSize => Input::MaxSubGroupSize,
        BuiltIn::NumSubgroups => Input::NumSubGroups,
        BuiltIn::NumEnqueuedSubgroups => Input::EnqueuedNumSubGroups,
        BuiltIn::SubgroupId => Input::SubGroupId,
        BuiltIn::SubgroupLocalInvocationId => Input::SubGroupLocalId,
        BuiltIn::SubgroupEqMask => Input::SubGroupMask(Comparison::Equal),
        BuiltIn::SubgroupGeMask => Input::SubGroupMask(Comparison::GreaterEqual),
        BuiltIn::SubgroupGtMask => Input::SubGroupMask(Comparison::Greater),
        BuiltIn::SubgroupLeMask => Input::SubGroupMask(Comparison::LessEqual),
        BuiltIn::SubgroupLtMask => Input::SubGroupMask(Comparison::Less),
        _ => return None,
    })
}
