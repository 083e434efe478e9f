//! Emits the kernel interface as `NonSemantic.ClspvReflection` instructions after the last function.
//!
//! The runtime's `interface` module documents how a loader reads them. The instruction numbers are those of the
//! SPIR-V registry.

use std::fmt::Write as _;

use kiln_ir::{
    Argument, ArgumentKind, ArgumentLocation, Bounds, FuncId, ImageAction, ImageFact, LaunchMemory,
    Op as IrOp, State, Trap, Type, WrittenLevels,
};
use kiln_types::ty::{Access, ImageDim, ImageTy};
use kiln_vocabulary::{
    opencl::AddressSpace,
    reflection::{clspv, kiln},
};
use rspirv::{
    dr::{Instruction, Operand},
    spirv::{Op, Word},
};

use super::{
    Emitter,
    globals::{LOCAL_SIZE_IDS, WORK_DIM_ID},
    texel::{LITERAL_SAMPLERS, is_sampled},
};

const SET: &str = "NonSemantic.ClspvReflection.5";
/// The maximum number of bytes in one string: `OpString` holds at most 65,535 bytes with its terminator, and bytes
/// are written in hexadecimal. Longer data is split.
const PIECE: usize = 32_000;

/// An operand of a reflection instruction.
enum Part<'a> {
    Number(u32),
    Text(&'a str),
    Id(Word),
}

impl Emitter<'_> {
    /// Emits the interface of a Vulkan module. OpenCL loaders read it from the functions.
    pub(super) fn reflection(&mut self) {
        if !self.is_vulkan() {
            return;
        }
        let module = self.module;
        self.writer.extension("SPV_KHR_non_semantic_info");
        for (id, locations) in &module.interface.arguments {
            self.kernel_reflection(*id, locations);
        }
        if self.has_local_size() {
            self.reflect(clspv::SPEC_CONSTANT_WORKGROUP_SIZE, &LOCAL_SIZE_IDS.map(Part::Number));
        }
        if self.uses_work_dim() {
            self.reflect(clspv::SPEC_CONSTANT_WORK_DIM, &[Part::Number(WORK_DIM_ID)]);
        }
        for &(state, word) in &module.interface.state {
            self.reflect_state(state, 4 * word);
        }
        for (number, (bits, _)) in (0..).zip(self.globals.literal_samplers.clone()) {
            self.reflect(clspv::LITERAL_SAMPLER, &[LITERAL_SAMPLERS, number, bits].map(Part::Number));
        }
        self.reflect_bounds();
        for bug in self.target.workarounds.iter() {
            self.reflect_in(kiln::SET, kiln::WORKAROUND, &[Part::Text(bug.name())]);
        }
    }

    fn reflect_bounds(&mut self) {
        let module = self.module;
        let Some(bounds) = &module.bounds else { return };
        let Some((_, offset)) = module.interface.offsets.iter().find(|(var, _)| *var == bounds.table) else {
            return;
        };
        let numbers = [*offset, Bounds::RANGES, bounds.locals]
            .map(|it| Part::Number(u32::try_from(it).unwrap_or(u32::MAX)));
        self.reflect_in(kiln::SET, kiln::BOUNDS, &numbers);
        for (position, (_, objects)) in bounds.positions.iter().zip(&bounds.sites) {
            self.reflect_in(kiln::SET, kiln::BOUNDS_SITE, &[Part::Text(position), Part::Text(objects)]);
        }
    }

    fn kernel_reflection(&mut self, id: FuncId, locations: &[ArgumentLocation]) {
        let module = self.module;
        let function = &module.functions[id];
        let Some(kernel) = &function.kernel else { return };
        let count = u32::try_from(kernel.arguments.len()).unwrap_or(u32::MAX);
        let mut parts = vec![
            Part::Id(self.globals.functions[&id]),
            Part::Text(&function.name),
            Part::Number(count),
            Part::Number(if self.reads_address(id, State::Printf) { clspv::MAY_USE_PRINTF } else { 0 }),
        ];
        // Attributes are usually empty or follow from the required size.
        let implied = kernel.required_size.map(|[x, y, z]| format!("reqd_work_group_size({x},{y},{z})"));
        if self.argument_info || kernel.attributes != implied.unwrap_or_default() {
            parts.push(Part::Text(&kernel.attributes));
        }
        let declaration = self.reflect(clspv::KERNEL, &parts);
        if let Some([x, y, z]) = kernel.required_size {
            let parts = [Part::Id(declaration), Part::Number(x), Part::Number(y), Part::Number(z)];
            self.reflect(clspv::REQUIRED_WORKGROUP_SIZE, &parts);
        }
        if self.reads_address(id, State::Queue) {
            self.reflect_in(kiln::SET, kiln::USES_QUEUE, &[Part::Id(declaration)]);
        }
        if kernel.is_block() {
            self.reflect_in(kiln::SET, kiln::BLOCK, &[Part::Id(declaration)]);
        }
        for (ordinal, (argument, location)) in (0..).zip(kernel.arguments.iter().zip(locations)) {
            self.reflect_argument(declaration, ordinal, argument, *location);
        }
        for fact in module.interface.image_facts.iter().filter(|fact| fact.kernel == id) {
            self.image_fact(declaration, fact);
        }
        for levels in module.interface.written_levels.iter().filter(|levels| levels.kernel == id) {
            for level in 1..WrittenLevels::COUNT {
                let numbers = [levels.argument, 0, levels.descriptor + level, level].map(Part::Number);
                let parts: Vec<Part<'_>> = [Part::Id(declaration)].into_iter().chain(numbers).collect();
                self.reflect_in(kiln::SET, kiln::WRITTEN_LEVEL, &parts);
            }
        }
        for fact in module.interface.sampler_facts.iter().filter(|fact| fact.kernel == id) {
            let mut parts = vec![Part::Id(declaration), Part::Number(fact.argument)];
            if fact.memory == LaunchMemory::Uniform {
                parts.extend([0, 0, fact.byte].map(Part::Number));
                self.reflect_in(kiln::SET, kiln::SAMPLER_UNIFORM, &parts);
            } else {
                parts.extend([fact.byte, 4].map(Part::Number));
                self.reflect(clspv::SAMPLER_PUSH_CONSTANT, &parts);
            }
        }
    }

    fn image_fact(&mut self, kernel: Word, fact: &ImageFact) {
        let is_order = fact.what == ImageAction::ChannelOrder;
        let mut parts = vec![Part::Id(kernel), Part::Number(fact.argument)];
        let number = match (fact.memory, is_order) {
            (LaunchMemory::PushConstants, true) => clspv::CHANNEL_ORDER_PUSH_CONSTANT,
            (LaunchMemory::PushConstants, false) => clspv::CHANNEL_TYPE_PUSH_CONSTANT,
            (LaunchMemory::Uniform, true) => clspv::CHANNEL_ORDER_UNIFORM,
            (LaunchMemory::Uniform, false) => clspv::CHANNEL_TYPE_UNIFORM,
        };
        if fact.memory == LaunchMemory::Uniform {
            parts.extend([Part::Number(0), Part::Number(0)]);
        }
        parts.extend([Part::Number(fact.byte), Part::Number(4)]);
        self.reflect(number, &parts);
    }

    /// Whether a kernel reads an address that the launch passes. Functions that do so are inlined.
    fn reads_address(&self, id: FuncId, address: State) -> bool {
        let module = self.module;
        let Some(word) = module.interface.first_word(address) else { return false };
        let function = &module.functions[id];
        let read = IrOp::LaunchWord(LaunchMemory::PushConstants, word);
        function.inst_order().into_iter().any(|inst| function.insts[inst].op == read)
    }

    fn reflect_argument(
        &mut self,
        kernel: Word,
        ordinal: u32,
        argument: &Argument,
        location: ArgumentLocation,
    ) {
        let is_used = match location {
            ArgumentLocation::Nowhere => false,
            ArgumentLocation::Local(var) => self.globals.local_arguments.contains_key(&var),
            ArgumentLocation::Descriptor(_) | ArgumentLocation::Bytes(..) => true,
        };
        let info = self.argument_info_id(argument, is_used);
        if !is_used {
            // An unused argument has no location, but `clGetKernelArgInfo` describes it.
            let parts = [Part::Id(kernel), Part::Number(ordinal), Part::Id(info)];
            self.reflect_in(kiln::SET, kiln::UNUSED_ARGUMENT, &parts);
            return;
        }
        let mut parts = vec![Part::Id(kernel), Part::Number(ordinal)];
        let is_pointer = matches!(argument.kind, ArgumentKind::Pointer { .. } | ArgumentKind::Pipe { .. });
        let number = match location {
            ArgumentLocation::Nowhere => return,
            ArgumentLocation::Descriptor(binding) => {
                parts.extend([Part::Number(0), Part::Number(binding)]);
                match argument.kind {
                    ArgumentKind::Image(image) => match (is_sampled(image), image.dim) {
                        (true, ImageDim::Buffer) => clspv::UNIFORM_TEXEL_BUFFER,
                        (false, ImageDim::Buffer) => clspv::STORAGE_TEXEL_BUFFER,
                        (true, _) => clspv::SAMPLED_IMAGE,
                        (false, _) => clspv::STORAGE_IMAGE,
                    },
                    _ => clspv::SAMPLER,
                }
            }
            ArgumentLocation::Local(var) => {
                let Some(&spec_id) = self.globals.local_arguments.get(&var) else { return };
                let element = self.module.vars[var].element.unwrap_or(Type::Scalar(kiln_ir::Scalar::I32));
                let size = u32::try_from(super::globals::size_of(element)).unwrap_or(4);
                parts.extend([Part::Number(spec_id), Part::Number(size)]);
                clspv::WORKGROUP
            }
            ArgumentLocation::Bytes(memory, offset) => {
                if memory == LaunchMemory::Uniform {
                    parts.extend([Part::Number(0), Part::Number(0)]);
                }
                parts.extend([Part::Number(offset), Part::Number(argument.kind.passed_size())]);
                match (memory, is_pointer) {
                    (LaunchMemory::PushConstants, true) => clspv::POINTER_PUSH_CONSTANT,
                    (LaunchMemory::PushConstants, false) => clspv::POD_PUSH_CONSTANT,
                    (LaunchMemory::Uniform, true) => clspv::POINTER_UNIFORM,
                    (LaunchMemory::Uniform, false) => clspv::POD_UNIFORM,
                }
            }
        };
        parts.push(Part::Id(info));
        self.reflect(number, &parts);
    }

    /// `ArgumentInfo`, with the values of `clGetKernelArgInfo` (OpenCL API 5.9.4). Equal ones are shared.
    fn argument_info_id(&mut self, argument: &Argument, is_used: bool) -> Word {
        const ADDRESS_GLOBAL: u32 = 0x119B;
        const ADDRESS_LOCAL: u32 = 0x119C;
        const ADDRESS_CONSTANT: u32 = 0x119D;
        const ADDRESS_PRIVATE: u32 = 0x119E;
        const ACCESS_READ_ONLY: u32 = 0x11A0;
        const ACCESS_WRITE_ONLY: u32 = 0x11A1;
        const ACCESS_READ_WRITE: u32 = 0x11A2;
        const ACCESS_NONE: u32 = 0x11A3;
        let access = match argument.kind {
            ArgumentKind::Image(ImageTy { access: Access::ReadOnly, .. })
            | ArgumentKind::Pipe { is_written: false } => ACCESS_READ_ONLY,
            ArgumentKind::Image(ImageTy { access: Access::WriteOnly, .. })
            | ArgumentKind::Pipe { is_written: true } => ACCESS_WRITE_ONLY,
            ArgumentKind::Image(ImageTy { access: Access::ReadWrite, .. }) => ACCESS_READ_WRITE,
            _ => ACCESS_NONE,
        };
        let address = match argument.kind {
            ArgumentKind::Pointer { space: AddressSpace::Constant, .. } => ADDRESS_CONSTANT,
            ArgumentKind::Pointer { .. } => ADDRESS_GLOBAL,
            ArgumentKind::Local { .. } => ADDRESS_LOCAL,
            ArgumentKind::Value { .. }
            | ArgumentKind::Aggregate { .. }
            | ArgumentKind::Captures { .. }
            | ArgumentKind::Sampler
            | ArgumentKind::Queue => ADDRESS_PRIVATE,
            ArgumentKind::Image(_) | ArgumentKind::Pipe { .. } => ADDRESS_GLOBAL,
        };
        let qualifier = u32::from(argument.is_const)
            | u32::from(argument.is_restrict) << 1
            | u32::from(argument.is_volatile) << 2
            | u32::from(matches!(argument.kind, ArgumentKind::Pipe { .. })) << 3;
        let numbers = [address, access, qualifier];
        let key = (argument.name.clone(), argument.type_name.clone(), numbers);
        if let Some(&known) = self.globals.argument_infos.get(&key) {
            return known;
        }
        let mut parts = vec![Part::Text(&argument.name), Part::Text(&argument.type_name)];
        // These values usually follow from the instruction of the argument. Readers require all three or none.
        let is_plain = is_used && access == ACCESS_NONE && qualifier == 0 && address != ADDRESS_CONSTANT;
        if self.argument_info || !is_plain {
            parts.extend(numbers.map(Part::Number));
        }
        let word = self.reflect(clspv::ARGUMENT_INFO, &parts);
        self.globals.argument_infos.insert(key, word);
        word
    }

    fn reflect_state(&mut self, state: State, offset: u32) {
        let number = match state {
            State::GlobalOffset => clspv::GLOBAL_OFFSET,
            State::GlobalSize => clspv::GLOBAL_SIZE,
            State::EnqueuedLocalSize => clspv::ENQUEUED_LOCAL_SIZE,
            State::NumGroups => clspv::NUM_WORKGROUPS,
            State::RegionOffset => clspv::REGION_OFFSET,
            State::RegionGroupOffset => clspv::REGION_GROUP_OFFSET,
            State::Variables => return self.reflect_variables(offset),
            State::Printf => return self.reflect_printf_buffer(offset),
            State::Queue | State::Command => {
                let is_queue = state == State::Queue;
                let number = if is_queue { kiln::DEVICE_QUEUE } else { kiln::COMMAND };
                self.reflect_in(kiln::SET, number, &[Part::Number(offset)]);
                return;
            }
        };
        self.reflect(number, &[Part::Number(offset), Part::Number(12)]);
    }

    fn reflect_variables(&mut self, offset: u32) {
        let module = self.module;
        let data = &module.interface.variables;
        for piece in data.bytes.chunks(PIECE) {
            let mut text = String::with_capacity(2 * piece.len());
            for byte in piece {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            let parts = [Part::Number(offset), Part::Number(8), Part::Text(&text)];
            self.reflect(clspv::VARIABLES_POINTER, &parts);
        }
        for &(at, target, addend) in &data.relocations {
            let base = module.interface.offsets.iter().find(|(var, _)| *var == target).map_or(0, |it| it.1);
            let object = base.wrapping_add_signed(addend);
            let [object, at] = [object, at].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            let parts = [Part::Number(object), Part::Number(at), Part::Number(8)];
            self.reflect(clspv::VARIABLE_RELOCATION, &parts);
        }
    }

    /// The printf buffer, and the strings for it.
    fn reflect_printf_buffer(&mut self, offset: u32) {
        let module = self.module;
        for (number, format) in (0..).zip(&module.interface.formats) {
            let text = String::from_utf8_lossy(&format.text);
            let mut parts = vec![Part::Number(number), Part::Text(&text)];
            parts.extend(format.sizes.iter().map(|&size| Part::Number(size)));
            self.reflect(clspv::PRINTF_INFO, &parts);
        }
        let interface = &module.interface;
        let record = if interface.traps.is_empty() { 0 } else { Trap::RECORD };
        let parts = [offset, 8, interface.printed + record].map(Part::Number);
        self.reflect(clspv::PRINTF_BUFFER_POINTER, &parts);
        if record == 0 {
            return;
        }
        self.reflect_in(kiln::SET, kiln::TRAPS, &[Part::Number(interface.printed)]);
        for trap in &interface.traps {
            self.reflect_in(kiln::SET, kiln::TRAP, &[Part::Text(&trap.position), Part::Text(&trap.message)]);
        }
    }

    fn reflect(&mut self, number: u32, parts: &[Part<'_>]) -> Word {
        self.reflect_in(SET, number, parts)
    }

    fn reflect_in(&mut self, set: &'static str, number: u32, parts: &[Part<'_>]) -> Word {
        let set = self.writer.import_set(set);
        let void = self.void();
        let mut operands = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(number)];
        for part in parts {
            operands.push(Operand::IdRef(match part {
                Part::Number(value) => self.u32(*value),
                Part::Text(text) => self.writer.string(text),
                Part::Id(id) => *id,
            }));
        }
        let id = self.writer.id();
        self.writer.append_trailer(Instruction::new(Op::ExtInst, Some(void), Some(id), operands));
        id
    }
}
