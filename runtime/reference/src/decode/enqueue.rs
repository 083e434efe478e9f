//! Device-side enqueue.

use spirv::Op as Inst_;

use super::body::Body;
use crate::{
    Invalid,
    code::{Enqueue, Enqueued, Op, Operands, Slot},
    execute::MAX_GROUP_SIZE,
    types::{Part, Ty},
    words::Inst,
};

/// The registers of an index space, in the order of `OpBuildNDRange`: dimensions, offset, local and global sizes.
pub(crate) const INDEX_SPACE: u32 = 10;
/// Memory operands for byte accesses at any address.
const BYTES: Operands = Operands { align: 1, is_shared: true };

impl Body<'_, '_> {
    pub(super) fn enqueue(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        match inst.op {
            Inst_::EnqueueKernel => self.enqueue_kernel(inst)?,
            Inst_::EnqueueMarker => {
                let [queue, count, wait, event] = self.words(inst, 2)?;
                let to = self.define(inst)?;
                self.enqueue_op(Enqueue::Marker { to, queue, count, wait, event });
            }
            Inst_::BuildNDRange => self.build_index_space(inst)?,
            Inst_::GetDefaultQueue => self.set_constant(inst, 1)?,
            Inst_::GetKernelWorkGroupSize => self.set_constant(inst, MAX_GROUP_SIZE.into())?,
            Inst_::GetKernelPreferredWorkGroupSizeMultiple | Inst_::GetKernelNDrangeMaxSubGroupSize => {
                self.set_constant(inst, crate::SUB_GROUP_SIZE.into())?;
            }
            Inst_::GetKernelMaxNumSubgroups => {
                self.set_constant(inst, (MAX_GROUP_SIZE / crate::SUB_GROUP_SIZE).into())?;
            }
            Inst_::GetKernelLocalSizeForSubgroupCount => {
                let [count] = self.words(inst, 2)?;
                let to = self.define(inst)?;
                self.enqueue_op(Enqueue::LocalSize { to, count });
            }
            Inst_::GetKernelNDrangeSubGroupCount => {
                let space = self.index_space(inst.word(2)?)?;
                let to = self.define(inst)?;
                self.enqueue_op(Enqueue::SubGroups { to, space });
            }
            Inst_::CreateUserEvent => {
                let to = self.define(inst)?;
                self.enqueue_op(Enqueue::UserEvent { to });
            }
            Inst_::IsValidEvent => {
                let [event] = self.words(inst, 2)?;
                let to = self.define(inst)?;
                self.enqueue_op(Enqueue::IsValid { to, event });
            }
            Inst_::RetainEvent | Inst_::ReleaseEvent => {
                let [event] = self.words(inst, 0)?;
                let by = if inst.op == Inst_::RetainEvent { 1 } else { -1 };
                self.enqueue_op(Enqueue::Count { event, by });
            }
            Inst_::SetUserEventStatus => {
                let [event, status] = self.words(inst, 0)?;
                self.enqueue_op(Enqueue::Status { event, status });
            }
            Inst_::CaptureEventProfilingInfo => {
                let [event, _, pointer] = self.words(inst, 0)?;
                self.enqueue_op(Enqueue::Profile { event, pointer });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn enqueue_op(&mut self, op: Enqueue) {
        self.decoder.tables.enqueues.push(op);
        self.emit(Op::Enqueue(self.decoder.tables.enqueues.len() as u32 - 1));
    }

    /// The registers of scalar operands, from this index.
    fn words<const N: usize>(&mut self, inst: &Inst<'_>, from: usize) -> Result<[Slot; N], Invalid> {
        let mut slots = [0; N];
        for (index, slot) in slots.iter_mut().enumerate() {
            let (found, _, count) = self.lanes(inst.word(from + index)?)?;
            if count != 1 {
                return Err(Invalid::new("an operand of an enqueue function is not a scalar"));
            }
            *slot = found;
        }
        Ok(slots)
    }

    /// Sets the result to a constant.
    fn set_constant(&mut self, inst: &Inst<'_>, number: u64) -> Result<(), Invalid> {
        let from = self.literal(number)?;
        let to = self.define(inst)?;
        self.emit(Op::Copy { to, from, count: 1 });
        Ok(())
    }

    /// The registers of an index space, which is passed by value or, in modules translated from clang's output, by
    /// pointer.
    fn index_space(&mut self, id: u32) -> Result<Slot, Invalid> {
        let (slot, ty) = self.value(id)?;
        match self.decoder.types.get(ty)?.ty {
            Ty::Pointer(_, pointee) if self.decoder.types.slots(pointee)? == INDEX_SPACE => {
                let parts: Vec<Part> = self.decoder.types.parts(pointee)?;
                self.decoder.tables.parts.push(parts);
                let parts = self.decoder.tables.parts.len() as u32 - 1;
                let to = self.allocate_registers(INDEX_SPACE)?;
                self.emit(Op::LoadParts { to, pointer: slot, parts, how: BYTES });
                Ok(to)
            }
            Ty::Struct(_) if self.decoder.types.slots(ty)? == INDEX_SPACE => Ok(slot),
            _ => Err(Invalid::new("the type of an index space is not the result type of OpBuildNDRange")),
        }
    }

    /// Decodes global size, local size and offset: scalars, or arrays of two or three.
    fn build_index_space(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        if self.decoder.types.slots(inst.word(0)?)? != INDEX_SPACE {
            return Err(Invalid::new("an index space has a dimension and three times three sizes"));
        }
        let mut dims = 1;
        let mut parts = Vec::new();
        for at in [4, 3, 2] {
            let (slot, ty) = self.value(inst.word(at)?)?;
            dims = self.decoder.types.slots(ty)?;
            if !(1..=3).contains(&dims) {
                return Err(Invalid::new("an index space has more than three dimensions"));
            }
            parts.push((slot, dims));
        }
        let to = self.define(inst)?;
        let [count, zero] = [self.literal(dims.into())?, self.literal(0)?];
        self.emit(Op::Copy { to, from: count, count: 1 });
        for (index, (slot, count)) in parts.into_iter().enumerate() {
            let to = to + 1 + 3 * index as u32;
            self.emit(Op::Copy { to, from: slot, count });
            for lane in count..3 {
                self.emit(Op::Copy { to: to + lane, from: zero, count: 1 });
            }
        }
        Ok(())
    }

    fn enqueue_kernel(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let [queue, flags] = self.words(inst, 2)?;
        let space = self.index_space(inst.word(4)?)?;
        let [count, wait, event] = self.words(inst, 5)?;
        let unknown = || Invalid::new("an enqueued object is not a function");
        let function = self.decoder.signatures.get(&inst.word(8)?).ok_or_else(unknown)?.index;
        let [literal, size] = self.words(inst, 9)?;
        let mut locals = Vec::new();
        for &id in inst.from(12) {
            let (slot, ty) = self.value(id)?;
            // Modules translated from clang's output pass pointers to the sizes.
            locals.push(match self.decoder.types.get(ty)?.ty {
                Ty::Pointer(_, pointee) => {
                    let (scalar, _) = self.decoder.types.lanes(pointee)?;
                    let to = self.allocate_registers(1)?;
                    self.emit(Op::Load { to, pointer: slot, size: scalar.size(), count: 1, how: BYTES });
                    to
                }
                _ => slot,
            });
        }
        let to = self.define(inst)?;
        let block = self.decoder.block(function, locals.len());
        let enqueued = Enqueued { to, queue, flags, space, count, wait, event, block, literal, size, locals };
        self.enqueue_op(Enqueue::Kernel(Box::new(enqueued)));
        Ok(())
    }
}
