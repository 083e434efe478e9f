//! Device-side enqueue, for the OpenCL environment.
//!
//! Passes index spaces and sizes of local memory by pointer, as clang and SPIRV-LLVM-Translator do: consumers rely on
//! that and accept no values.

use kiln_builtins::Enqueue;
use kiln_ir::{Handle, Inst, Scalar, Type, ValueId};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::{
    dr::Operand,
    spirv::{Capability, Op, Word},
};

use super::{Emitter, body::Body};

impl Emitter<'_> {
    /// The result type of `OpBuildNDRange`: dimensions, offset, global and local sizes.
    fn ndrange_type(&mut self) -> Word {
        let (int, long) = (self.scalar(Scalar::I32), self.scalar(Scalar::I64));
        let array = self.array_type(long, 3);
        let members = [int, array, array, array].map(Operand::IdRef).to_vec();
        self.writer.interned(Op::TypeStruct, None, members)
    }
}

impl Body<'_, '_> {
    /// A function of OpenCL C 6.15.19. `name` determines the dimensions of an index space.
    pub(super) fn enqueue(&mut self, inst: &Inst, enqueue: Enqueue, name: &str) {
        self.emitter.writer.require(Capability::DeviceEnqueue);
        let op = match enqueue {
            Enqueue::NdRange => return self.build_ndrange(inst, name),
            Enqueue::Kernel => Op::EnqueueKernel,
            Enqueue::Marker => Op::EnqueueMarker,
            Enqueue::WorkGroupSize => Op::GetKernelWorkGroupSize,
            Enqueue::PreferredMultiple => Op::GetKernelPreferredWorkGroupSizeMultiple,
            Enqueue::SubGroupCount => Op::GetKernelNDrangeSubGroupCount,
            Enqueue::MaxSubGroupSize => Op::GetKernelNDrangeMaxSubGroupSize,
            Enqueue::CreateUserEvent => Op::CreateUserEvent,
            Enqueue::RetainEvent => Op::RetainEvent,
            Enqueue::ReleaseEvent => Op::ReleaseEvent,
            Enqueue::IsValidEvent => Op::IsValidEvent,
            Enqueue::SetUserEventStatus => Op::SetUserEventStatus,
            Enqueue::CaptureProfilingInfo => Op::CaptureEventProfilingInfo,
            Enqueue::DefaultQueue => Op::GetDefaultQueue,
        };
        let operands = inst.args.iter().enumerate();
        let operands =
            operands.map(|(index, &arg)| Operand::IdRef(self.enqueue_operand(enqueue, index, arg)));
        let operands = operands.collect();
        match inst.results.first() {
            Some(_) => self.result(inst, op, operands),
            None => self.effect(op, operands),
        }
    }

    fn enqueue_operand(&mut self, enqueue: Enqueue, index: usize, arg: ValueId) -> Word {
        let is_index_space = match enqueue {
            Enqueue::Kernel => index == 2,
            Enqueue::SubGroupCount | Enqueue::MaxSubGroupSize => index == 0,
            _ => false,
        };
        let is_event = match enqueue {
            Enqueue::Kernel => matches!(index, 4 | 5),
            Enqueue::Marker => matches!(index, 2 | 3),
            _ => false,
        };
        if is_index_space {
            let ty = self.emitter.ndrange_type();
            self.pointer_to(arg, ty)
        } else if is_event {
            self.pointer_or_null(arg, Type::Handle(Handle::DeviceEvent))
        } else if enqueue == Enqueue::Kernel && index >= Enqueue::FIXED_ARGUMENTS {
            self.pointer(arg, Type::I64)
        } else {
            self.value(arg)
        }
    }

    /// A pointer. A constant null pointer is emitted as such.
    fn pointer_or_null(&mut self, arg: ValueId, pointee: Type) -> Word {
        if self.function.constant_bits(arg) != Some(0) {
            return self.pointer(arg, pointee);
        }
        let pointee = self.emitter.ty(pointee);
        let class = self.emitter.storage_class(AddressSpace::Generic);
        let ty = self.emitter.pointer_type(class, pointee);
        self.emitter.writer.interned(Op::ConstantNull, Some(ty), Vec::new())
    }

    /// The target, and the global size, local size and offset: numbers, or pointers to two or three of them.
    fn build_ndrange(&mut self, inst: &Inst, name: &str) {
        let size = self.emitter.scalar(Scalar::I64);
        let sizes = match name {
            "ndrange_1D" => None,
            _ => Some(self.emitter.array_type(size, if name == "ndrange_2D" { 2 } else { 3 })),
        };
        let mut operands = Vec::new();
        for &arg in &inst.args[1..] {
            let word = match sizes {
                None => self.value(arg),
                Some(array) if self.function.constant_bits(arg) == Some(0) => {
                    self.emitter.writer.interned(Op::ConstantNull, Some(array), Vec::new())
                }
                Some(array) => {
                    let pointer = self.pointer_to(arg, array);
                    self.typed(
                        Op::Load,
                        array,
                        [Operand::IdRef(pointer)].into_iter().chain(aligned_access()).collect(),
                    )
                }
            };
            operands.push(Operand::IdRef(word));
        }
        let ty = self.emitter.ndrange_type();
        let made = self.typed(Op::BuildNDRange, ty, operands);
        let address = self.pointer_to(inst.args[0], ty);
        let operands = [address, made].map(Operand::IdRef).into_iter().chain(aligned_access()).collect();
        self.effect(Op::Store, operands);
    }
}

/// The memory operands of an access to sizes.
fn aligned_access() -> [Operand; 2] {
    [Operand::MemoryAccess(rspirv::spirv::MemoryAccess::ALIGNED), Operand::LiteralBit32(8)]
}
