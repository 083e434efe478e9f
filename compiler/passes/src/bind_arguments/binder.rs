//! Gives the arguments of a kernel their locations in launch memory, or their descriptors.

use kiln_ir::{
    Argument, ArgumentKind, ArgumentLocation, Builder, FuncId, InstId, Interface, LaunchMemory, Op,
    SamplerFact, Type, ValueId, Var, VarId, WrittenLevels,
};
use kiln_types::index::Table;
use kiln_vocabulary::{opencl::AddressSpace, target::Features};

use super::{
    load::{Source, load_aggregate, load_number, load_pointer},
    local_argument,
};

/// Gives the arguments of a kernel their locations, in order.
pub(super) struct Binder<'a, 'f> {
    pub(super) kernel: FuncId,
    pub(super) builder: Builder<'f>,
    pub(super) vars: &'a mut Table<VarId, Var>,
    pub(super) interface: &'a mut Interface,
    /// Whether the device has 64-bit integers.
    pub(super) has_wide: bool,
    pub(super) blocks: ArgumentBlocks,
    /// The last descriptor in use. 0 is the uniform buffer.
    pub(super) descriptors: u32,
    /// Reads with samplers of the device.
    pub(super) samples: Vec<InstId>,
    /// The images that the kernel writes to at a level.
    pub(super) written: Vec<ValueId>,
}

impl Binder<'_, '_> {
    /// The location of an argument, and the value that replaces its parameter.
    pub(super) fn bind(
        &mut self,
        number: u32,
        argument: &Argument,
        param: ValueId,
    ) -> (ArgumentLocation, ValueId) {
        let size = argument.kind.passed_size();
        let ty = self.builder.ty(param);
        match argument.kind {
            ArgumentKind::Local { element_size, align } => {
                self.bind_local(number, argument, (element_size, align))
            }
            ArgumentKind::Captures { .. } if size == 0 => {
                (ArgumentLocation::Nowhere, self.builder.undefined(ty))
            }
            ArgumentKind::Image(_) => self.bind_image(number, param, ty),
            ArgumentKind::Sampler if self.is_sampled_with(param) => self.bind_sampler(number, param, ty),
            ArgumentKind::Pointer { .. } | ArgumentKind::Pipe { .. } => {
                let (source, byte) = self.next(size, 8);
                let value = load_pointer(&mut self.builder, source, byte / 4, ty);
                (ArgumentLocation::Bytes(source.memory, byte), value)
            }
            ArgumentKind::Queue => self.bind_number(size, 8, ty),
            ArgumentKind::Value { .. } | ArgumentKind::Sampler => self.bind_number(size, 4, ty),
            ArgumentKind::Aggregate { size: bytes, align } => {
                self.bind_aggregate(argument, size, (bytes, align))
            }
            ArgumentKind::Captures { align, .. } => self.bind_aggregate(argument, size, (size.into(), align)),
        }
    }

    /// Reserves memory for an argument of this size.
    fn next(&mut self, size: u32, align: u32) -> (Source, u32) {
        let (memory, byte) = self.blocks.next(size, align);
        self.blocks.occupy(memory, byte + size);
        (Source { memory, has_wide: self.has_wide }, byte)
    }

    fn bind_number(&mut self, size: u32, align: u32, ty: Type) -> (ArgumentLocation, ValueId) {
        let (source, byte) = self.next(size, align);
        let value = load_number(&mut self.builder, source, byte / 4, ty);
        (ArgumentLocation::Bytes(source.memory, byte), value)
    }

    /// A private copy of a structure of this size and alignment.
    fn bind_aggregate(
        &mut self,
        argument: &Argument,
        size: u32,
        layout: (u64, u64),
    ) -> (ArgumentLocation, ValueId) {
        let (source, byte) = self.next(size, 4);
        let copy = load_aggregate(&mut self.builder, source, byte / 4, layout, &argument.name);
        (ArgumentLocation::Bytes(source.memory, byte), copy)
    }

    fn bind_local(
        &mut self,
        number: u32,
        argument: &Argument,
        element: (u64, u64),
    ) -> (ArgumentLocation, ValueId) {
        let known = self.builder.function.objects.iter().find(|(known, _)| *known == number);
        let var = known.map_or_else(
            || self.vars.push(local_argument(argument, number, element, self.builder.span)),
            |(_, var)| *var,
        );
        (ArgumentLocation::Local(var), self.builder.module_var(var, AddressSpace::Local))
    }

    /// An image, with a descriptor for each level if the kernel writes to levels.
    fn bind_image(&mut self, number: u32, param: ValueId, ty: Type) -> (ArgumentLocation, ValueId) {
        let descriptor = self.descriptors + 1;
        self.descriptors = descriptor;
        if self.written.contains(&param) {
            let kernel = self.kernel;
            self.interface.written_levels.push(WrittenLevels { kernel, argument: number, descriptor });
            self.descriptors += WrittenLevels::COUNT - 1;
        }
        (ArgumentLocation::Descriptor(descriptor), self.builder.value(Op::Descriptor(descriptor), &[], ty))
    }

    fn is_sampled_with(&self, param: ValueId) -> bool {
        self.samples.iter().any(|&id| self.builder.function.insts[id].args[2] == param)
    }

    /// A sampler of the device. The kernel also reads its bits.
    fn bind_sampler(&mut self, number: u32, param: ValueId, ty: Type) -> (ArgumentLocation, ValueId) {
        self.descriptors += 1;
        let bound = self.builder.value(Op::Descriptor(self.descriptors), &[], Type::Sampler);
        for &id in &self.samples {
            let used = &mut self.builder.function.insts[id].args[2];
            *used = if *used == param { bound } else { *used };
        }
        let (source, byte) = self.next(ArgumentKind::Sampler.passed_size(), 4);
        let (kernel, memory) = (self.kernel, source.memory);
        self.interface.sampler_facts.push(SamplerFact { kernel, argument: number, memory, byte });
        let bits = load_number(&mut self.builder, source, byte / 4, ty);
        (ArgumentLocation::Descriptor(self.descriptors), bits)
    }
}

/// The memory that a launch passes arguments in: the push constants, and the uniform buffer when they are full.
pub(super) struct ArgumentBlocks {
    /// The ends of the occupied parts, in bytes.
    push_constants: u32,
    uniform: u32,
    push_constant_size: u32,
}

impl ArgumentBlocks {
    /// `start` is the number of bytes of push constants that are not arguments.
    pub(super) fn new(start: u32, features: &Features) -> Self {
        Self { push_constants: start, uniform: 0, push_constant_size: features.push_constant_size }
    }

    /// The position of the next argument of this size. `occupy` reserves it.
    pub(super) fn next(&self, size: u32, align: u32) -> (LaunchMemory, u32) {
        let byte = self.push_constants.next_multiple_of(align);
        if byte + size <= self.push_constant_size {
            (LaunchMemory::PushConstants, byte)
        } else {
            (LaunchMemory::Uniform, self.uniform.next_multiple_of(align))
        }
    }

    pub(super) fn occupy(&mut self, memory: LaunchMemory, end: u32) {
        match memory {
            LaunchMemory::PushConstants => self.push_constants = end,
            LaunchMemory::Uniform => self.uniform = end,
        }
    }
}
