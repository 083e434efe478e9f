//! Variables, addresses, loads and stores, atomics and fences.

use spirv::{Op as Inst_, StorageClass};

use super::{Constant, body::Body, input_at};
use crate::{
    Environment, Invalid,
    code::{Action, Atomic, Fence, Input, Known, Object, Op, Operands, Scope, Slot},
    memory::Space,
    types::{Member, Ty, TypeId},
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn memory(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        match inst.op {
            Inst_::Variable => self.variable(inst)?,
            Inst_::Load => self.load(inst)?,
            Inst_::ReadClockKHR => {
                let (scalar, count) = self.decoder.types.lanes(inst.word(0)?)?;
                let (size, count) = (scalar.size(), count as u8);
                let to = self.define(inst)?;
                self.emit(Op::Input { to, input: Input::Clock, component: 0, count, size });
            }
            Inst_::Store => self.store(inst)?,
            Inst_::CopyMemory => {
                let (to, to_type) = self.value(inst.word(0)?)?;
                let (from, _) = self.value(inst.word(1)?)?;
                let (_, pointee) = self.decoder.pointee(to_type)?;
                let size = self.decoder.types.get(pointee)?.size;
                let size = self.literal(size)?;
                let align = alignment(inst, 2, 1);
                self.emit(Op::CopyMemory { to, from, size, align });
            }
            Inst_::CopyMemorySized => {
                let (to, _) = self.value(inst.word(0)?)?;
                let (from, _) = self.value(inst.word(1)?)?;
                let (size, _, _) = self.lanes(inst.word(2)?)?;
                let align = alignment(inst, 3, 1);
                self.emit(Op::CopyMemory { to, from, size, align });
            }
            Inst_::AccessChain
            | Inst_::InBoundsAccessChain
            | Inst_::PtrAccessChain
            | Inst_::InBoundsPtrAccessChain => self.chain(inst)?,
            Inst_::PtrDiff => {
                let (a, ty) = self.value(inst.word(2)?)?;
                let (b, _, _) = self.lanes(inst.word(3)?)?;
                let (_, pointee) = self.decoder.pointee(ty)?;
                let size = self.decoder.types.get(pointee)?.size.max(1);
                let to = self.define(inst)?;
                let size = self.literal(size)?;
                self.emit(Op::Two { f: |a, b| a.wrapping_sub(b), to, a, b, count: 1 });
                self.emit(Op::Two { f: |a, b| (a as i64 / b as i64) as u64, to, a: to, b: size, count: 1 });
            }
            Inst_::SizeOf => {
                let (_, ty) = self.value(inst.word(2)?)?;
                let (_, pointee) = self.decoder.pointee(ty)?;
                let size = self.literal(self.decoder.types.get(pointee)?.size)?;
                let to = self.define(inst)?;
                self.copy(to, size, 1);
            }
            // A hint.
            Inst_::AssumeTrueKHR => {}
            Inst_::LifetimeStart | Inst_::LifetimeStop => {
                let (pointer, ty) = self.value(inst.word(0)?)?;
                let (_, pointee) = self.decoder.pointee(ty)?;
                let known = self.decoder.types.get(pointee)?.size;
                let size = match inst.word(1)? {
                    0 => u32::try_from(known).unwrap_or(0),
                    size => size,
                };
                self.emit(Op::Forget { pointer, size });
            }
            Inst_::GenericCastToPtrExplicit => {
                let (pointer, _, _) = self.lanes(inst.word(2)?)?;
                let space = match StorageClass::from_u32(inst.word(3)?) {
                    Some(StorageClass::CrossWorkgroup) => Space::Global,
                    Some(StorageClass::Workgroup) => Space::Local,
                    Some(StorageClass::Function) => Space::Private,
                    _ => return Err(Invalid::new("a cast to a space that pointers cannot have")),
                };
                let to = self.define(inst)?;
                self.emit(Op::ToSpace { to, pointer, space: (space.address(0) >> 60) as u8 });
            }
            Inst_::GenericPtrMemSemantics => {
                let (pointer, _, _) = self.lanes(inst.word(2)?)?;
                let to = self.define(inst)?;
                self.emit(Op::SpaceSemantics { to, pointer });
            }
            Inst_::MemoryBarrier => {
                let scope = self.known(inst.word(0)?)?;
                let semantics = self.known(inst.word(1)?)?;
                self.decoder.tables.fences.push(Fence { scope, semantics });
                self.emit(Op::Fence(self.decoder.tables.fences.len() as u32 - 1));
            }
            _ => match action(inst.op) {
                Some(action) => self.atomic(inst, action)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn variable(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (_, pointee) = self.decoder.pointee(inst.word(0)?)?;
        let found = self.decoder.types.get(pointee)?;
        let id = inst.word(1)?;
        let decorated = self.decoder.decorations.get(&id).and_then(|it| it.align).unwrap_or(1);
        let align = found.align.max(decorated.min(4096).into());
        let (name, size) = (self.decoder.name(id), found.size);
        self.function.objects.push(Object { name, size, align });
        let object = self.function.objects.len() as u32 - 1;
        let to = self.define(inst)?;
        self.emit(Op::Variable { to, object });
        if let Some(&initial) = inst.words.get(3) {
            let bytes = self.decoder.bytes_of(initial)?;
            self.store_bytes(to, bytes, Operands { align: 1, is_shared: false });
        }
        Ok(())
    }

    fn store_bytes(&mut self, pointer: Slot, bytes: (Vec<u8>, u64), how: Operands) {
        let data = &mut self.decoder.tables.data;
        data.push(bytes);
        let data = data.len() as u32 - 1;
        self.emit(Op::StoreBytes { pointer, data, how });
    }

    fn load(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let ty = inst.word(0)?;
        let pointer_id = inst.word(2)?;
        let built_in = self.decoder.integer_constant(pointer_id).and_then(input_at);
        let to = self.define(inst)?;
        if let Some((input, byte)) = built_in {
            let (scalar, count) = self.decoder.types.lanes(ty)?;
            let (size, count) = (scalar.size(), count as u8);
            let component = (byte / u64::from(size)) as u8;
            self.emit(Op::Input { to, input, component, count, size });
            return Ok(());
        }
        let (pointer, _, _) = self.lanes(pointer_id)?;
        let how = self.operands(inst, 3, ty)?;
        match self.decoder.types.lanes(ty) {
            Ok((scalar, count)) => {
                self.emit(Op::Load { to, pointer, size: scalar.size(), count: count as u8, how });
            }
            Err(_) => {
                let parts = self.parts(ty)?;
                self.emit(Op::LoadParts { to, pointer, parts, how });
            }
        }
        Ok(())
    }

    fn store(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (pointer, _, _) = self.lanes(inst.word(0)?)?;
        let value = inst.word(1)?;
        if let Some(&(ty, ref constant)) = self.decoder.constant(value)
            && self.decoder.types.lanes(ty).is_err()
        {
            let is_undefined = matches!(constant, Constant::Undefined);
            let how = self.operands(inst, 2, ty)?;
            if !is_undefined {
                let bytes = self.decoder.bytes_of(value)?;
                self.store_bytes(pointer, bytes, how);
            }
            return Ok(());
        }
        let (from, ty) = self.value(value)?;
        let how = self.operands(inst, 2, ty)?;
        match self.decoder.types.lanes(ty) {
            Ok((scalar, count)) => {
                self.emit(Op::Store { pointer, from, size: scalar.size(), count: count as u8, how });
            }
            Err(_) => {
                let parts = self.parts(ty)?;
                self.emit(Op::StoreParts { pointer, from, parts, how });
            }
        }
        Ok(())
    }

    /// The memory operands at this index, for an access of this type.
    fn operands(&self, inst: &Inst<'_>, at: usize, ty: TypeId) -> Result<Operands, Invalid> {
        let natural = self.decoder.types.get(ty)?.align.clamp(1, 128) as u8;
        let mask = inst.words.get(at).copied().unwrap_or(0);
        let is_vulkan = self.decoder.types.environment == Environment::Vulkan;
        if is_vulkan && mask & (MAKE_AVAILABLE | MAKE_VISIBLE) != 0 {
            return Err(Invalid::new("availability and visibility of single accesses are not supported"));
        }
        let is_shared = !is_vulkan || mask & NON_PRIVATE != 0;
        Ok(Operands { align: alignment(inst, at, natural), is_shared })
    }

    fn parts(&mut self, ty: TypeId) -> Result<u32, Invalid> {
        let parts = self.decoder.types.parts(ty)?;
        self.decoder.tables.parts.push(parts);
        Ok(self.decoder.tables.parts.len() as u32 - 1)
    }

    /// Decodes an access chain.
    fn chain(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let base_id = inst.word(2)?;
        let indices = inst.from(3);
        if let (Some(base), Some(&(ty, _))) =
            (self.decoder.integer_constant(base_id), self.decoder.constant(base_id))
            && let Some(address) = self.decoder.constant_chain(inst.op, ty, base, indices)?
        {
            let constant = (inst.word(0)?, Constant::Slots(vec![address]));
            self.decoder.constants.insert(inst.word(1)?, constant);
            return Ok(());
        }
        let (mut base, ty) = self.value(base_id)?;
        let (class, pointee) = self.decoder.pointee(ty)?;
        let takes_element = matches!(inst.op, Inst_::PtrAccessChain | Inst_::InBoundsPtrAccessChain);
        let to = self.define(inst)?;
        let mut member = Member::Type(pointee);
        let mut constant = 0i64;
        for (position, &id) in indices.iter().enumerate() {
            let is_element = takes_element && position == 0;
            let known = self.decoder.index(id);
            let (bytes, inner) = if is_element {
                (self.decoder.element_stride(ty)? as i64, member)
            } else {
                self.check_index(inst.op, id, class, member)?;
                match (known, member) {
                    (Some(index), _) => {
                        let (bytes, inner) = self.decoder.resolve_index(member, index)?;
                        constant = constant.wrapping_add(bytes);
                        member = inner;
                        continue;
                    }
                    (None, Member::Type(outer))
                        if matches!(self.decoder.types.get(outer)?.ty, Ty::Struct(_)) =>
                    {
                        return Err(Invalid::new("a structure is indexed by a variable"));
                    }
                    (None, _) => self.decoder.resolve_index(member, 1)?,
                }
            };
            member = inner;
            match known {
                Some(index) => constant = constant.wrapping_add(bytes.wrapping_mul(index)),
                None => {
                    let (index, size, factor) = self.index(id)?;
                    let stride = bytes.wrapping_mul(factor);
                    self.emit(Op::Offset { to, base, index, size, stride });
                    base = to;
                }
            }
        }
        if constant != 0 {
            self.emit(Op::Advance { to, base, bytes: constant });
        } else if base != to {
            self.copy(to, base, 1);
        }
        Ok(())
    }

    fn atomic(&mut self, inst: &Inst<'_>, action: Action) -> Result<(), Invalid> {
        // Without a result, the pointer is the first operand.
        let first = if matches!(action, Action::Store | Action::Clear) { 0 } else { 2 };
        let (pointer, pointer_type) = self.value(inst.word(first)?)?;
        let scope = self.known(inst.word(first + 1)?)?;
        let semantics = self.known(inst.word(first + 2)?)?;
        let mut failure = semantics;
        let (mut value, mut comparator) = (0, 0);
        match action {
            Action::CompareExchange => {
                failure = self.known(inst.word(first + 3)?)?;
                value = self.lanes(inst.word(first + 4)?)?.0;
                comparator = self.lanes(inst.word(first + 5)?)?.0;
            }
            Action::Load | Action::Increment | Action::Decrement | Action::TestAndSet | Action::Clear => {}
            _ => value = self.lanes(inst.word(first + 3)?)?.0,
        }
        let to = if first == 0 { None } else { Some(self.define(inst)?) };
        let (_, pointee) = self.decoder.pointee(pointer_type)?;
        let mut scalar = match action {
            Action::TestAndSet | Action::Clear => crate::types::Scalar::I32,
            Action::Store => self.lanes(inst.word(first + 3)?)?.1,
            _ => self.decoder.types.lanes(inst.word(0)?)?.0,
        };
        // A pointer is exchanged as an integer.
        if let Ok((found, 1)) = self.decoder.types.lanes(pointee)
            && found.is_float()
        {
            scalar = found;
        }
        let atomic = Atomic { action, scalar, to, pointer, value, comparator, scope, semantics, failure };
        self.decoder.tables.atomics.push(atomic);
        self.emit(Op::Atomic(self.decoder.tables.atomics.len() as u32 - 1));
        Ok(())
    }

    /// A scope or memory semantics operand, which may be dynamic.
    pub(super) fn known<T: From<u64>>(&mut self, id: u32) -> Result<Known<T>, Invalid> {
        Ok(match self.decoder.integer_constant(id) {
            // Vulkan ignores CrossWorkgroupMemory (memory model, "Memory Semantics").
            Some(number) if self.decoder.types.environment == Environment::Vulkan => {
                Known::Now((number & !CROSS_WORKGROUP_MEMORY).into())
            }
            Some(number) => Known::Now(number.into()),
            None => Known::Then(self.lanes(id)?.0),
        })
    }

    /// The scope of participants; a dynamic one counts as the widest.
    pub(super) fn scope(&self, id: u32) -> Scope {
        self.decoder.integer_constant(id).map_or(Scope::AllDevices, Scope::from)
    }
}

/// The `CrossWorkgroupMemory` bit of memory semantics.
const CROSS_WORKGROUP_MEMORY: u64 = 0x200;
/// The memory operands `MakePointerAvailable`, `MakePointerVisible` and `NonPrivatePointer`.
const MAKE_AVAILABLE: u32 = 8;
const MAKE_VISIBLE: u32 = 16;
const NON_PRIVATE: u32 = 32;

/// The alignment in the memory operands at this index.
fn alignment(inst: &Inst<'_>, at: usize, natural: u8) -> u8 {
    const ALIGNED: u32 = 2;
    match inst.from(at) {
        [mask, align, ..] if mask & ALIGNED != 0 => (*align).clamp(1, 128) as u8,
        _ => natural,
    }
}

fn action(op: Inst_) -> Option<Action> {
    Some(match op {
        Inst_::AtomicLoad => Action::Load,
        Inst_::AtomicStore => Action::Store,
        Inst_::AtomicExchange => Action::Exchange,
        Inst_::AtomicCompareExchange | Inst_::AtomicCompareExchangeWeak => Action::CompareExchange,
        Inst_::AtomicIIncrement => Action::Increment,
        Inst_::AtomicIDecrement => Action::Decrement,
        Inst_::AtomicIAdd => Action::Add,
        Inst_::AtomicISub => Action::Subtract,
        Inst_::AtomicSMin => Action::SMin,
        Inst_::AtomicUMin => Action::UMin,
        Inst_::AtomicSMax => Action::SMax,
        Inst_::AtomicUMax => Action::UMax,
        Inst_::AtomicAnd => Action::And,
        Inst_::AtomicOr => Action::Or,
        Inst_::AtomicXor => Action::Xor,
        Inst_::AtomicFAddEXT => Action::FAdd,
        Inst_::AtomicFMinEXT => Action::FMin,
        Inst_::AtomicFMaxEXT => Action::FMax,
        Inst_::AtomicFlagTestAndSet => Action::TestAndSet,
        Inst_::AtomicFlagClear => Action::Clear,
        _ => return None,
    })
}
