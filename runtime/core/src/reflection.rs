//! Reads a program's interface from the `NonSemantic.ClspvReflection` instructions of its module.
//!
//! Owns the format, which `interface.rs` describes. Must not depend on a device or its limits.

mod facts;
mod operands;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kiln_vocabulary::{
    driver_bugs::DriverBug,
    reflection::{ProvedLaunch, clspv, kiln},
};

use crate::error::{Error, Result};
use crate::interface::{
    Argument, ArgumentInfo, ArgumentKind, ArgumentLocation, BindingClass, BoundsSite, DataLocation,
    ImageFact, ImageFactKind, KernelInterface, LiteralSampler, Position, PrintedText, Printf, ProgramData,
    ProgramInterface, Relocation, SamplerFact, SpecId, StateValue, TrapSite, Traps, WrittenLevel,
};
use crate::module::{Instruction, Module, op};
use crate::sampler::Sampler;
use facts::Facts;
use operands::Operands;

/// The type qualifier of a pipe (`CL_KERNEL_ARG_TYPE_PIPE`).
const QUALIFIER_PIPE: u32 = 8;
/// The type of a queue.
const QUEUE_TYPE: &str = "queue_t";
/// The size of a trap record in bytes.
const TRAP_RECORD: u32 = 20;
/// An upper bound on the arguments of any kernel (`CL_DEVICE_MAX_PARAMETER_SIZE` is a few kilobytes).
const MAX_ARGUMENTS: u32 = 4096;

/// Reads the interface of a module.
pub(crate) fn read(module: &Module) -> Result<ProgramInterface> {
    let facts = Facts::gather(module)?;
    let mut reader = Reader {
        facts: &facts,
        kernels: BTreeMap::new(),
        blocks: Vec::new(),
        infos: HashMap::new(),
        read: ProgramInterface::default(),
        printf: None,
        texts: HashMap::new(),
        traps: Traps::default(),
    };
    let import = facts.import.ok_or_else(|| {
        malformed("it does not describe its kernels' arguments (NonSemantic.ClspvReflection is missing)")
    })?;
    for instruction in module.instructions() {
        if instruction.opcode == op::EXT_INST && instruction.operand(2) == Some(import) {
            reader.instruction(&instruction)?;
        }
        if facts.own_import.is_some()
            && instruction.opcode == op::EXT_INST
            && instruction.operand(2) == facts.own_import
        {
            reader.own_instruction(&instruction)?;
        }
    }
    reader.into_interface(module)
}

fn malformed(reason: impl Into<String>) -> Error {
    Error::BadModule { reason: reason.into() }
}

/// Reads the reflection instructions.
struct Reader<'a> {
    facts: &'a Facts,
    /// Keyed by the id of the `Kernel` instruction.
    kernels: BTreeMap<u32, (usize, KernelInterface)>,
    /// The ids of the kernels that are blocks.
    blocks: Vec<u32>,
    /// Keyed by the id of the `ArgumentInfo` instruction.
    infos: HashMap<u32, ArgumentInfo>,
    read: ProgramInterface,
    /// The location and size of the printf buffer.
    printf: Option<(DataLocation, u32)>,
    texts: HashMap<u32, PrintedText>,
    traps: Traps,
}

impl<'f> Reader<'f> {
    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let operands = self.operands(instruction)?;
        match operands.number {
            clspv::KERNEL => self.kernel(&operands),
            clspv::ARGUMENT_INFO => self.argument_info(&operands),
            clspv::STORAGE_BUFFER..=clspv::WORKGROUP
            | clspv::POINTER_PUSH_CONSTANT
            | clspv::POINTER_UNIFORM
            | clspv::STORAGE_TEXEL_BUFFER
            | clspv::UNIFORM_TEXEL_BUFFER => self.argument_location(&operands),
            clspv::REQUIRED_WORKGROUP_SIZE => self.required_size(&operands),
            clspv::SPEC_CONSTANT_WORKGROUP_SIZE..=clspv::REGION_GROUP_OFFSET
            | clspv::SPEC_CONSTANT_SUBGROUP_MAX_SIZE => self.launch_state(&operands),
            clspv::CONSTANTS_STORAGE_BUFFER
            | clspv::CONSTANTS_UNIFORM
            | clspv::VARIABLES_STORAGE_BUFFER
            | clspv::VARIABLE_RELOCATION
            | clspv::CONSTANTS_POINTER
            | clspv::VARIABLES_POINTER => self.program_data(&operands),
            clspv::LITERAL_SAMPLER
            | clspv::CHANNEL_ORDER_PUSH_CONSTANT..=clspv::CHANNEL_TYPE_UNIFORM
            | clspv::SAMPLER_PUSH_CONSTANT => self.image_or_sampler_fact(&operands),
            clspv::PRINTF_INFO..=clspv::PRINTF_BUFFER_POINTER => self.printf(&operands),
            clspv::WORKGROUP_VARIABLE_SIZE => {
                // Checked for form only: `Facts::local_size` computes the size of local variables from the module itself.
                operands.id(0)?;
                operands.constant(1).map(drop)
            }
            number => Err(malformed(format!("reflection instruction {number} is unknown"))),
        }
    }

    fn operands<'i>(&self, instruction: &'i Instruction<'_>) -> Result<Operands<'i>>
    where
        'f: 'i,
    {
        let (&[_, id, _, number], ids) = instruction
            .operands
            .split_first_chunk()
            .ok_or_else(|| malformed("it has a truncated reflection instruction"))?;
        Ok(Operands { facts: self.facts, number, id, ids })
    }

    fn argument_info(&mut self, operands: &Operands<'_>) -> Result<()> {
        let info = ArgumentInfo {
            name: operands.text(0)?.to_owned(),
            type_name: operands.optional_text(1)?.to_owned(),
            address: operands.optional_number(2)?,
            access: operands.optional_number(3)?,
            type_qualifier: operands.optional_number(4)?,
        };
        self.infos.insert(operands.id, info);
        Ok(())
    }

    /// Reads the location of an argument.
    fn argument_location(&mut self, operands: &Operands<'_>) -> Result<()> {
        let push_constants = || Ok(ArgumentLocation::PushConstants { offset: operands.constant(2)? });
        let block = |class| {
            let (binding, offset) = (operands.binding(2, class)?, operands.constant(4)?);
            Ok(ArgumentLocation::Block { binding, offset })
        };
        let (kind, info) = match operands.number {
            clspv::STORAGE_BUFFER => (ArgumentKind::Buffer(operands.binding(2, BindingClass::Storage)?), 4),
            clspv::UNIFORM_BUFFER => (ArgumentKind::Buffer(operands.binding(2, BindingClass::Uniform)?), 4),
            clspv::POD_STORAGE_BUFFER => {
                let location = block(BindingClass::Storage)?;
                (ArgumentKind::Value { location, size: operands.constant(5)? }, 6)
            }
            clspv::POD_UNIFORM => {
                let location = block(BindingClass::Uniform)?;
                (ArgumentKind::Value { location, size: operands.constant(5)? }, 6)
            }
            clspv::POD_PUSH_CONSTANT => {
                let location = push_constants()?;
                (ArgumentKind::Value { location, size: operands.constant(3)? }, 4)
            }
            clspv::SAMPLER => (ArgumentKind::Sampler(operands.binding(2, BindingClass::Sampler)?), 4),
            clspv::WORKGROUP => {
                let (count, element_size) = (SpecId(operands.constant(2)?), operands.constant(3)?);
                (ArgumentKind::Local { count, element_size }, 4)
            }
            clspv::POINTER_PUSH_CONSTANT => {
                operands.pointer_size(3)?;
                (ArgumentKind::Pointer(push_constants()?), 4)
            }
            clspv::POINTER_UNIFORM => {
                operands.pointer_size(5)?;
                (ArgumentKind::Pointer(block(BindingClass::Uniform)?), 6)
            }
            number => {
                let class = match number {
                    clspv::SAMPLED_IMAGE => BindingClass::SampledImage,
                    clspv::STORAGE_IMAGE => BindingClass::StorageImage,
                    clspv::STORAGE_TEXEL_BUFFER => BindingClass::StorageTexels,
                    _ => BindingClass::UniformTexels,
                };
                (ArgumentKind::Image(operands.binding(2, class)?), 4)
            }
        };
        self.argument(operands, info, kind)
    }

    fn required_size(&mut self, operands: &Operands<'_>) -> Result<()> {
        let size = [operands.constant(1)?, operands.constant(2)?, operands.constant(3)?];
        let kernel = self.of_kernel(operands)?;
        kernel.required_local_size = Some(size);
        if kernel.attributes.is_empty() {
            let [x, y, z] = size;
            kernel.attributes = format!("reqd_work_group_size({x},{y},{z})");
        }
        Ok(())
    }

    /// Reads the location of a value that describes the launch, the same for all kernels.
    fn launch_state(&mut self, operands: &Operands<'_>) -> Result<()> {
        let read = &mut self.read;
        let value = match operands.number {
            clspv::SPEC_CONSTANT_WORKGROUP_SIZE => {
                read.local_size = Some(operands.spec_ids()?);
                return Ok(());
            }
            clspv::SPEC_CONSTANT_GLOBAL_OFFSET => {
                read.global_offset = Some(operands.spec_ids()?);
                return Ok(());
            }
            clspv::SPEC_CONSTANT_WORK_DIM => {
                read.work_dim = Some(SpecId(operands.constant(0)?));
                return Ok(());
            }
            clspv::SPEC_CONSTANT_SUBGROUP_MAX_SIZE => {
                read.sub_group_size = Some(SpecId(operands.constant(0)?));
                return Ok(());
            }
            clspv::GLOBAL_OFFSET => StateValue::GlobalOffset,
            clspv::ENQUEUED_LOCAL_SIZE => StateValue::EnqueuedLocalSize,
            clspv::GLOBAL_SIZE => StateValue::GlobalSize,
            clspv::REGION_OFFSET => StateValue::RegionOffset,
            clspv::NUM_WORKGROUPS => StateValue::NumGroups,
            _ => StateValue::RegionGroupOffset,
        };
        read.state.push(operands.state(value)?);
        Ok(())
    }

    /// Reads the location and contents of program-scope variables.
    fn program_data(&mut self, operands: &Operands<'_>) -> Result<()> {
        let read = &mut self.read;
        let location = match operands.number {
            clspv::VARIABLE_RELOCATION => {
                operands.pointer_size(2)?;
                let (object, pointer) = (operands.constant(0)?, operands.constant(1)?);
                read.relocations.push(Relocation { object, pointer });
                return Ok(());
            }
            clspv::CONSTANTS_POINTER | clspv::VARIABLES_POINTER => {
                operands.pointer_size(1)?;
                DataLocation::Address { offset: operands.constant(0)? }
            }
            clspv::CONSTANTS_UNIFORM => DataLocation::Bound(operands.binding(0, BindingClass::Uniform)?),
            _ => DataLocation::Bound(operands.binding(0, BindingClass::Storage)?),
        };
        let data = match operands.number {
            clspv::VARIABLES_STORAGE_BUFFER | clspv::VARIABLES_POINTER => &mut read.variables,
            _ => &mut read.constants,
        };
        append_hex(data, location, operands.text(2)?)
    }

    fn image_or_sampler_fact(&mut self, operands: &Operands<'_>) -> Result<()> {
        match operands.number {
            clspv::LITERAL_SAMPLER => {
                let (binding, mask) = (operands.binding(0, BindingClass::Sampler)?, operands.constant(2)?);
                let sampler = Sampler::from_bits(mask).ok_or_else(|| {
                    malformed(format!("it has a literal sampler with the invalid bits {mask:#x}"))
                })?;
                self.read.samplers.push(LiteralSampler { binding, sampler });
                Ok(())
            }
            clspv::SAMPLER_PUSH_CONSTANT => {
                let (argument, offset) = (operands.constant(1)?, operands.constant(2)?);
                let location = ArgumentLocation::PushConstants { offset };
                match operands.constant(3)? {
                    4 => self.of_kernel(operands)?.sampler_facts.push(SamplerFact { argument, location }),
                    size => {
                        return Err(malformed(format!(
                            "it has the bits of a sampler in {size} bytes, not 4"
                        )));
                    }
                }
                Ok(())
            }
            clspv::CHANNEL_ORDER_PUSH_CONSTANT | clspv::CHANNEL_TYPE_PUSH_CONSTANT => {
                let location = ArgumentLocation::PushConstants { offset: operands.constant(2)? };
                self.image_fact(operands, location, operands.constant(3)?)
            }
            _ => {
                let binding = operands.binding(2, BindingClass::Uniform)?;
                let location = ArgumentLocation::Block { binding, offset: operands.constant(4)? };
                self.image_fact(operands, location, operands.constant(5)?)
            }
        }
    }

    fn printf(&mut self, operands: &Operands<'_>) -> Result<()> {
        match operands.number {
            clspv::PRINTF_INFO => {
                let sizes =
                    (2..operands.ids.len()).map(|index| operands.constant(index)).collect::<Result<_>>()?;
                let text = PrintedText { text: operands.text(1)?.as_bytes().to_vec(), sizes };
                self.texts.insert(operands.constant(0)?, text);
                Ok(())
            }
            clspv::PRINTF_BUFFER_STORAGE_BUFFER => {
                let location = DataLocation::Bound(operands.binding(0, BindingClass::Storage)?);
                self.printf_buffer(location, operands.constant(2)?)
            }
            _ => {
                operands.pointer_size(1)?;
                let location = DataLocation::Address { offset: operands.constant(0)? };
                self.printf_buffer(location, operands.constant(2)?)
            }
        }
    }

    fn printf_buffer(&mut self, location: DataLocation, size: u32) -> Result<()> {
        if size < 8 || !size.is_multiple_of(4) {
            return Err(malformed(format!("it has a printf buffer of {size} bytes")));
        }
        self.printf = Some((location, size));
        Ok(())
    }

    fn image_fact(&mut self, operands: &Operands<'_>, location: ArgumentLocation, size: u32) -> Result<()> {
        let what = match operands.number {
            clspv::CHANNEL_ORDER_PUSH_CONSTANT | clspv::CHANNEL_ORDER_UNIFORM => ImageFactKind::ChannelOrder,
            _ => ImageFactKind::ChannelType,
        };
        if size != 4 {
            return Err(malformed(format!("it has a number of {size} bytes for an image's format, not 4")));
        }
        let argument = operands.constant(1)?;
        self.of_kernel(operands)?.image_facts.push(ImageFact { argument, what, location });
        Ok(())
    }

    /// Reads an instruction of Kiln's own set (`interface.rs`: bounds checks, traps, workarounds).
    fn own_instruction(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let operands = self.operands(instruction)?;
        match operands.number {
            kiln::BOUNDS => {
                let bounds = self.read.bounds.get_or_insert_default();
                (bounds.offset, bounds.ranges) = (operands.constant(0)?, operands.constant(1)?);
                bounds.arguments = operands.constant(2)?;
            }
            kiln::BOUNDS_SITE => {
                let (location, objects) = (operands.text(0)?.to_owned(), operands.text(1)?.to_owned());
                self.read.bounds.get_or_insert_default().sites.push(BoundsSite { location, objects });
            }
            kiln::TRAPS => self.traps.offset = operands.constant(0)?,
            kiln::TRAP => {
                let (location, message) = (operands.text(0)?.to_owned(), operands.text(1)?.to_owned());
                self.traps.sites.push(TrapSite { location, message });
            }
            kiln::WORKAROUND => {
                if let Some(bug) = DriverBug::parse(operands.text(0)?) {
                    self.read.workarounds = self.read.workarounds.with(bug);
                }
            }
            kiln::PROVED_LAUNCH => {
                let sizes = |first: usize| -> Result<[u32; 3]> {
                    Ok([
                        operands.constant(first)?,
                        operands.constant(first + 1)?,
                        operands.constant(first + 2)?,
                    ])
                };
                self.read.proved_launch = Some(ProvedLaunch {
                    kernel: operands.text(0)?.to_owned(),
                    lines: operands.text(1)?.split(' ').filter_map(|line| line.parse().ok()).collect(),
                    global: sizes(2)?,
                    local: sizes(5)?,
                });
            }
            kiln::SAMPLER_UNIFORM => {
                let binding = operands.binding(2, BindingClass::Uniform)?;
                let (argument, location) = (
                    operands.constant(1)?,
                    ArgumentLocation::Block { binding, offset: operands.constant(4)? },
                );
                self.of_kernel(&operands)?.sampler_facts.push(SamplerFact { argument, location });
            }
            kiln::UNUSED_ARGUMENT => self.argument(&operands, 2, ArgumentKind::Unused)?,
            kiln::WRITTEN_LEVEL => {
                let binding = operands.binding(2, BindingClass::StorageImage)?;
                let (argument, level) = (operands.constant(1)?, operands.constant(4)?);
                self.of_kernel(&operands)?.written_levels.push(WrittenLevel { argument, level, binding });
            }
            kiln::DEVICE_QUEUE => self.read.device_queue = Some(operands.constant(0)?),
            kiln::USES_QUEUE => self.of_kernel(&operands)?.uses_queue = true,
            kiln::COMMAND => self.read.command = Some(operands.constant(0)?),
            kiln::BLOCK => {
                self.of_kernel(&operands)?;
                self.blocks.push(operands.id(0)?);
            }
            number => return Err(malformed(format!("instruction {number} of {} is unknown", kiln::SET))),
        }
        Ok(())
    }

    fn kernel(&mut self, operands: &Operands<'_>) -> Result<()> {
        let name = operands.text(1)?.to_owned();
        let count = operands.optional_number(2)?.unwrap_or(0);
        if count > MAX_ARGUMENTS {
            return Err(malformed(format!("kernel `{name}` has {count} arguments")));
        }
        let kernel = KernelInterface {
            name,
            arguments: vec![Argument { info: None, kind: ArgumentKind::Unused }; count as usize],
            required_local_size: None,
            attributes: operands.optional_text(4)?.to_owned(),
            // Versions before 5 have no flags.
            prints: operands.optional_number(3)?.is_none_or(|flags| flags & clspv::MAY_USE_PRINTF != 0),
            uses_queue: false,
            static_local_size: 0,
            image_facts: Vec::new(),
            sampler_facts: Vec::new(),
            written_levels: Vec::new(),
        };
        let index = self.kernels.len();
        self.kernels.insert(operands.id, (index, kernel));
        Ok(())
    }

    fn of_kernel(&mut self, operands: &Operands<'_>) -> Result<&mut KernelInterface> {
        let id = operands.id(0)?;
        self.kernels
            .get_mut(&id)
            .map(|(_, kernel)| kernel)
            .ok_or_else(|| malformed("its reflection names a kernel that is not declared before"))
    }

    fn argument(&mut self, operands: &Operands<'_>, info: usize, kind: ArgumentKind) -> Result<()> {
        let ordinal = operands.constant(1)? as usize;
        let info = match operands.ids.get(info) {
            Some(id) => Some(
                self.infos
                    .get(id)
                    .cloned()
                    .ok_or_else(|| malformed("an argument's information is not declared before it"))?,
            ),
            None => None,
        };
        let is_pipe =
            |info: &ArgumentInfo| info.type_qualifier.is_some_and(|bits| bits & QUALIFIER_PIPE != 0);
        let kind = match kind {
            ArgumentKind::Pointer(location) if info.as_ref().is_some_and(is_pipe) => {
                ArgumentKind::Pipe(location)
            }
            ArgumentKind::Value { location, size: 8 }
                if info.as_ref().is_some_and(|info| info.type_name == QUEUE_TYPE) =>
            {
                ArgumentKind::Queue(location)
            }
            kind => kind,
        };
        let kernel = self.of_kernel(operands)?;
        // Versions before 5 do not contain the number of arguments.
        if ordinal >= kernel.arguments.len() {
            if ordinal >= MAX_ARGUMENTS as usize {
                return Err(malformed(format!("kernel `{}` has an argument {ordinal}", kernel.name)));
            }
            kernel.arguments.resize(ordinal + 1, Argument { info: None, kind: ArgumentKind::Unused });
        }
        kernel.arguments[ordinal] = Argument { info, kind };
        Ok(())
    }

    fn into_interface(self, module: &Module) -> Result<ProgramInterface> {
        let mut read = self.read;
        let (texts, traps) = (self.texts, self.traps);
        let room = self.printf.map_or(0, |(_, size)| size);
        if !traps.sites.is_empty() && traps.offset.checked_add(TRAP_RECORD).is_none_or(|end| end > room) {
            return Err(malformed("its trap record is outside its printf buffer"));
        }
        read.printf = self.printf.map(|(location, size)| Arc::new(Printf { location, size, texts, traps }));
        let mut kernels: Vec<_> = self.kernels.into_iter().collect();
        kernels.sort_by_key(|(_, (index, _))| *index);
        for (id, (_, kernel)) in kernels {
            let is_block = self.blocks.contains(&id);
            if (is_block || kernel.uses_queue) && read.device_queue.is_none() {
                return Err(malformed(format!(
                    "kernel `{}` uses a queue, which the module does not declare",
                    kernel.name
                )));
            }
            if is_block { read.blocks.push(kernel) } else { read.kernels.push(kernel) }
        }
        for kernel in read.kernels.iter_mut().chain(&mut read.blocks) {
            let counts: Vec<SpecId> = kernel
                .arguments
                .iter()
                .filter_map(|argument| match argument.kind {
                    ArgumentKind::Local { count, .. } => Some(count),
                    _ => None,
                })
                .collect();
            kernel.static_local_size = self.facts.local_size(module, &kernel.name, &counts);
        }
        let has = |value| read.state.iter().any(|field| field.value == value);
        read.position = Position {
            raw_global_id: self.facts.position.raw_global_id && !has(StateValue::RegionOffset),
            raw_group_id: self.facts.position.raw_group_id && !has(StateValue::RegionGroupOffset),
            raw_num_groups: self.facts.position.raw_num_groups && !has(StateValue::NumGroups),
        };
        Ok(read)
    }
}

/// Appends hexadecimal bytes to the data at this location.
fn append_hex(data: &mut Option<ProgramData>, location: DataLocation, text: &str) -> Result<()> {
    let data = data.get_or_insert_with(|| ProgramData { location, bytes: Vec::new() });
    if data.location != location {
        return Err(malformed("its program-scope data is declared twice"));
    }
    let digit = |c: u8| (c as char).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(malformed("its program-scope data has half a byte"));
    }
    for &[high, low] in pairs {
        let (Some(high), Some(low)) = (digit(high), digit(low)) else {
            return Err(malformed("its program-scope data is not hexadecimal"));
        };
        data.bytes.push(high << 4 | low);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
