//! Reads a program's interface from the `NonSemantic.ClspvReflection` instructions of its module.
//!
//! Owns the format, which `interface.rs` describes. Must not depend on a device or its limits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kiln_vocabulary::faults::Fault;

use crate::error::{Error, Result};
use crate::interface::{
    Argument, ArgumentInfo, ArgumentKind, ArgumentLocation, Binding, BindingClass, BoundsSite, DataLocation,
    ImageFact, ImageFactKind, KernelInterface, LiteralSampler, Position, PrintedText, Printf, ProgramData,
    ProgramInterface, Relocation, SamplerFact, SpecId, StateField, StateValue, TrapSite, Traps, WrittenLevel,
};
use crate::module::{Instruction, Module, op};
use crate::sampler::Sampler;

const IMPORT: &str = "NonSemantic.ClspvReflection.";
const NEWEST: u32 = 7;
/// The instruction set that only Kiln's modules use.
const OWN_IMPORT: &str = "NonSemantic.Kiln.1";
/// A flag of the `Kernel` instruction.
const MAY_USE_PRINTF: u32 = 1;
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
        bad("it does not describe its kernels' arguments (NonSemantic.ClspvReflection is missing)")
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
    reader.finish(module)
}

fn bad(reason: impl Into<String>) -> Error {
    Error::BadModule { reason: reason.into() }
}

/// What the reader needs from the rest of the module.
#[derive(Default)]
struct Facts {
    import: Option<u32>,
    own_import: Option<u32>,
    strings: HashMap<u32, String>,
    constants: HashMap<u32, u32>,
    spec_ids: HashMap<u32, SpecId>,
    spec_defaults: HashMap<u32, u32>,
    entry_points: HashMap<String, Vec<u32>>,
    position: Position,
}

impl Facts {
    fn gather(module: &Module) -> Result<Self> {
        let mut facts = Self::default();
        for instruction in module.instructions() {
            let Some(first) = instruction.operand(0) else { continue };
            match instruction.opcode {
                op::EXT_INST_IMPORT if instruction.text(1) == OWN_IMPORT => facts.own_import = Some(first),
                op::EXT_INST_IMPORT => {
                    if let Some(version) = instruction.text(1).strip_prefix(IMPORT) {
                        if !version.parse().is_ok_and(|version| (1..=NEWEST).contains(&version)) {
                            return Err(bad(format!("its reflection has the unknown version {version}")));
                        }
                        facts.import = Some(first);
                    }
                }
                op::STRING => drop(facts.strings.insert(first, instruction.text(1))),
                op::CONSTANT => {
                    if let &[_, id, value] = instruction.operands {
                        facts.constants.insert(id, value);
                    }
                }
                op::SPEC_CONSTANT => {
                    if let &[_, id, value] = instruction.operands {
                        facts.spec_defaults.insert(id, value);
                    }
                }
                op::DECORATE => facts.decoration(instruction.operands),
                op::ENTRY_POINT => {
                    let name = instruction.text(2);
                    facts.entry_points.insert(name, instruction.after_text(2).to_vec());
                }
                _ => {}
            }
        }
        Ok(facts)
    }

    fn decoration(&mut self, operands: &[u32]) {
        const SPEC_ID: u32 = 1;
        const BUILT_IN: u32 = 11;
        const NUM_WORKGROUPS: u32 = 24;
        const WORKGROUP_ID: u32 = 26;
        const GLOBAL_INVOCATION_ID: u32 = 28;
        match *operands {
            [target, SPEC_ID, id] => drop(self.spec_ids.insert(target, SpecId(id))),
            [_, BUILT_IN, NUM_WORKGROUPS] => self.position.raw_num_groups = true,
            [_, BUILT_IN, WORKGROUP_ID] => self.position.raw_group_id = true,
            [_, BUILT_IN, GLOBAL_INVOCATION_ID] => self.position.raw_global_id = true,
            _ => {}
        }
    }

    /// The size in bytes of an entry point's local variables. Arrays that a local argument sizes count as 0.
    fn local_size(&self, module: &Module, entry_point: &str, arguments: &[SpecId]) -> u32 {
        const WORKGROUP: u32 = 4;
        let listed = self.entry_points.get(entry_point).map(Vec::as_slice).unwrap_or_default();
        // Size and alignment of each type that has a known layout.
        let mut types: HashMap<u32, (u64, u64)> = HashMap::new();
        let mut pointees = HashMap::new();
        let mut total = 0u64;
        for instruction in module.instructions() {
            match (instruction.opcode, instruction.operands) {
                (op::TYPE_INT | op::TYPE_FLOAT, &[id, width, ..]) => {
                    let bytes = u64::from(width / 8);
                    types.insert(id, (bytes, bytes.max(1)));
                }
                (op::TYPE_VECTOR, &[id, element, count]) => {
                    let (size, align) = types.get(&element).copied().unwrap_or((0, 1));
                    types.insert(id, (size * u64::from(count), align));
                }
                (op::TYPE_ARRAY, &[id, element, length]) => {
                    let (size, align) = types.get(&element).copied().unwrap_or((0, 1));
                    let sized_at_launch = self.spec_ids.get(&length).is_some_and(|id| arguments.contains(id));
                    let count = match self.constants.get(&length).or_else(|| self.spec_defaults.get(&length))
                    {
                        Some(count) if !sized_at_launch => u64::from(*count),
                        _ => 0,
                    };
                    types.insert(id, (size.saturating_mul(count), align));
                }
                (op::TYPE_STRUCT, [id, members @ ..]) => {
                    let (mut end, mut largest) = (0u64, 1);
                    for member in members {
                        let (size, align) = types.get(member).copied().unwrap_or((0, 1));
                        end = end.next_multiple_of(align).saturating_add(size);
                        largest = largest.max(align);
                    }
                    types.insert(*id, (end.next_multiple_of(largest), largest));
                }
                (op::TYPE_POINTER, &[id, WORKGROUP, pointee]) => drop(pointees.insert(id, pointee)),
                (op::VARIABLE, &[pointer, id, WORKGROUP, ..])
                    if !module.entry_points_list_all() || listed.contains(&id) =>
                {
                    let pointee = pointees.get(&pointer).and_then(|pointee| types.get(pointee));
                    total = total.saturating_add(pointee.map_or(0, |(size, _)| *size));
                }
                _ => {}
            }
        }
        u32::try_from(total).unwrap_or(u32::MAX)
    }
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

/// The operands of one reflection instruction.
struct Operands<'a> {
    facts: &'a Facts,
    number: u32,
    id: u32,
    ids: &'a [u32],
}

impl Operands<'_> {
    fn id(&self, index: usize) -> Result<u32> {
        self.ids
            .get(index)
            .copied()
            .ok_or_else(|| bad(format!("reflection instruction {} has no operand {index}", self.number)))
    }

    fn constant(&self, index: usize) -> Result<u32> {
        let id = self.id(index)?;
        self.facts.constants.get(&id).copied().ok_or_else(|| {
            bad(format!("operand {index} of reflection instruction {} is not a constant", self.number))
        })
    }

    fn optional_number(&self, index: usize) -> Result<Option<u32>> {
        if index < self.ids.len() { self.constant(index).map(Some) } else { Ok(None) }
    }

    fn text(&self, index: usize) -> Result<&str> {
        let id = self.id(index)?;
        self.facts.strings.get(&id).map(String::as_str).ok_or_else(|| {
            bad(format!("operand {index} of reflection instruction {} is not a string", self.number))
        })
    }

    fn optional_text(&self, index: usize) -> Result<&str> {
        if index < self.ids.len() { self.text(index) } else { Ok("") }
    }

    fn spec_ids(&self) -> Result<[SpecId; 3]> {
        Ok([SpecId(self.constant(0)?), SpecId(self.constant(1)?), SpecId(self.constant(2)?)])
    }

    fn binding(&self, at: usize, class: BindingClass) -> Result<Binding> {
        Ok(Binding { set: self.constant(at)?, binding: self.constant(at + 1)?, class })
    }

    /// The three words of an execution state value.
    fn state(&self, value: StateValue) -> Result<StateField> {
        match self.constant(1)? {
            12 => Ok(StateField { value, offset: self.constant(0)? }),
            size => Err(bad(format!("its execution state has a value of {size} bytes, not 12"))),
        }
    }

    fn pointer_size(&self, index: usize) -> Result<()> {
        match self.constant(index)? {
            8 => Ok(()),
            size => Err(bad(format!("it has an address of {size} bytes, not 8"))),
        }
    }
}

impl Reader<'_> {
    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let (&[_, id, _, number], ids) = instruction
            .operands
            .split_first_chunk()
            .ok_or_else(|| bad("it has a truncated reflection instruction"))?;
        let o = Operands { facts: self.facts, number, id, ids };
        let read = &mut self.read;
        match number {
            1 => self.kernel(&o)?,
            2 => drop(self.infos.insert(
                o.id,
                ArgumentInfo {
                    name: o.text(0)?.to_owned(),
                    type_name: o.optional_text(1)?.to_owned(),
                    address: o.optional_number(2)?,
                    access: o.optional_number(3)?,
                    type_qualifier: o.optional_number(4)?,
                },
            )),
            3 => self.argument(&o, 4, ArgumentKind::Buffer(o.binding(2, BindingClass::Storage)?))?,
            4 => self.argument(&o, 4, ArgumentKind::Buffer(o.binding(2, BindingClass::Uniform)?))?,
            5 | 6 => {
                let class = if number == 5 { BindingClass::Storage } else { BindingClass::Uniform };
                let location =
                    ArgumentLocation::Block { binding: o.binding(2, class)?, offset: o.constant(4)? };
                self.argument(&o, 6, ArgumentKind::Value { location, size: o.constant(5)? })?;
            }
            7 => {
                let location = ArgumentLocation::PushConstants { offset: o.constant(2)? };
                self.argument(&o, 4, ArgumentKind::Value { location, size: o.constant(3)? })?;
            }
            8 | 9 | 34 | 35 => {
                let class = match number {
                    8 => BindingClass::SampledImage,
                    9 => BindingClass::StorageImage,
                    34 => BindingClass::StorageTexels,
                    _ => BindingClass::UniformTexels,
                };
                self.argument(&o, 4, ArgumentKind::Image(o.binding(2, class)?))?;
            }
            10 => self.argument(&o, 4, ArgumentKind::Sampler(o.binding(2, BindingClass::Sampler)?))?,
            11 => {
                let kind =
                    ArgumentKind::Local { count: SpecId(o.constant(2)?), element_size: o.constant(3)? };
                self.argument(&o, 4, kind)?;
            }
            26 => {
                o.pointer_size(3)?;
                let location = ArgumentLocation::PushConstants { offset: o.constant(2)? };
                self.argument(&o, 4, ArgumentKind::Pointer(location))?;
            }
            27 => {
                o.pointer_size(5)?;
                let location = ArgumentLocation::Block {
                    binding: o.binding(2, BindingClass::Uniform)?,
                    offset: o.constant(4)?,
                };
                self.argument(&o, 6, ArgumentKind::Pointer(location))?;
            }
            12 => read.local_size = Some(o.spec_ids()?),
            13 => read.global_offset = Some(o.spec_ids()?),
            14 => read.work_dim = Some(SpecId(o.constant(0)?)),
            25 => read.sub_group_size = Some(SpecId(o.constant(0)?)),
            15 => read.state.push(o.state(StateValue::GlobalOffset)?),
            16 => read.state.push(o.state(StateValue::EnqueuedLocalSize)?),
            17 => read.state.push(o.state(StateValue::GlobalSize)?),
            18 => read.state.push(o.state(StateValue::RegionOffset)?),
            19 => read.state.push(o.state(StateValue::NumGroups)?),
            20 => read.state.push(o.state(StateValue::RegionGroupOffset)?),
            21 | 22 => {
                let class = if number == 21 { BindingClass::Storage } else { BindingClass::Uniform };
                let location = DataLocation::Bound(o.binding(0, class)?);
                extend(&mut read.constants, location, o.text(2)?)?;
            }
            28 => {
                let location = DataLocation::Bound(o.binding(0, BindingClass::Storage)?);
                extend(&mut read.variables, location, o.text(2)?)?;
            }
            36 | 37 => {
                o.pointer_size(1)?;
                let location = DataLocation::Address { offset: o.constant(0)? };
                let data = if number == 36 { &mut read.constants } else { &mut read.variables };
                extend(data, location, o.text(2)?)?;
            }
            24 => {
                let size = [o.constant(1)?, o.constant(2)?, o.constant(3)?];
                let kernel = self.of_kernel(&o)?;
                kernel.required_local_size = Some(size);
                if kernel.attributes.is_empty() {
                    let [x, y, z] = size;
                    kernel.attributes = format!("reqd_work_group_size({x},{y},{z})");
                }
            }
            29 => {
                o.pointer_size(2)?;
                read.relocations.push(Relocation { object: o.constant(0)?, pointer: o.constant(1)? });
            }
            // Checked for form only: `Facts::local_size` computes the size of local variables from the module itself.
            42 => drop((o.id(0)?, o.constant(1)?)),
            23 => {
                let (binding, mask) = (o.binding(0, BindingClass::Sampler)?, o.constant(2)?);
                let sampler = Sampler::from_bits(mask).ok_or_else(|| {
                    bad(format!("it has a literal sampler with the invalid bits {mask:#x}"))
                })?;
                read.samplers.push(LiteralSampler { binding, sampler });
            }
            30 | 31 => self.image_fact(
                &o,
                ArgumentLocation::PushConstants { offset: o.constant(2)? },
                o.constant(3)?,
            )?,
            32 | 33 => {
                let binding = o.binding(2, BindingClass::Uniform)?;
                self.image_fact(
                    &o,
                    ArgumentLocation::Block { binding, offset: o.constant(4)? },
                    o.constant(5)?,
                )?;
            }
            41 => {
                let (argument, location) =
                    (o.constant(1)?, ArgumentLocation::PushConstants { offset: o.constant(2)? });
                match o.constant(3)? {
                    4 => self.of_kernel(&o)?.sampler_facts.push(SamplerFact { argument, location }),
                    size => return Err(bad(format!("it has the bits of a sampler in {size} bytes, not 4"))),
                }
            }
            38 => {
                let sizes = (2..o.ids.len()).map(|index| o.constant(index)).collect::<Result<_>>()?;
                let text = PrintedText { text: o.text(1)?.as_bytes().to_vec(), sizes };
                self.texts.insert(o.constant(0)?, text);
            }
            39 => {
                let location = DataLocation::Bound(o.binding(0, BindingClass::Storage)?);
                self.printf_buffer(location, o.constant(2)?)?;
            }
            40 => {
                o.pointer_size(1)?;
                self.printf_buffer(DataLocation::Address { offset: o.constant(0)? }, o.constant(2)?)?;
            }
            _ => return Err(bad(format!("reflection instruction {number} is unknown"))),
        }
        Ok(())
    }

    fn printf_buffer(&mut self, location: DataLocation, size: u32) -> Result<()> {
        if size < 8 || !size.is_multiple_of(4) {
            return Err(bad(format!("it has a printf buffer of {size} bytes")));
        }
        self.printf = Some((location, size));
        Ok(())
    }

    fn image_fact(&mut self, o: &Operands<'_>, location: ArgumentLocation, size: u32) -> Result<()> {
        let what = match o.number {
            30 | 32 => ImageFactKind::ChannelOrder,
            _ => ImageFactKind::ChannelType,
        };
        if size != 4 {
            return Err(bad(format!("it has a number of {size} bytes for an image's format, not 4")));
        }
        let argument = o.constant(1)?;
        self.of_kernel(o)?.image_facts.push(ImageFact { argument, what, location });
        Ok(())
    }

    /// Reads an instruction of Kiln's own set (`interface.rs`: bounds checks, traps, workarounds).
    fn own_instruction(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let (&[_, id, _, number], ids) = instruction
            .operands
            .split_first_chunk()
            .ok_or_else(|| bad("it has a truncated reflection instruction"))?;
        let o = Operands { facts: self.facts, number, id, ids };
        match number {
            1 => {
                let bounds = self.read.bounds.get_or_insert_default();
                (bounds.offset, bounds.ranges) = (o.constant(0)?, o.constant(1)?);
                bounds.arguments = o.constant(2)?;
            }
            2 => {
                let (location, objects) = (o.text(0)?.to_owned(), o.text(1)?.to_owned());
                self.read.bounds.get_or_insert_default().sites.push(BoundsSite { location, objects });
            }
            3 => self.traps.offset = o.constant(0)?,
            4 => {
                let (location, message) = (o.text(0)?.to_owned(), o.text(1)?.to_owned());
                self.traps.sites.push(TrapSite { location, message });
            }
            5 => {
                if let Some(fault) = Fault::parse(o.text(0)?) {
                    self.read.workarounds = self.read.workarounds.with(fault);
                }
            }
            6 => {
                let binding = o.binding(2, BindingClass::Uniform)?;
                let (argument, location) =
                    (o.constant(1)?, ArgumentLocation::Block { binding, offset: o.constant(4)? });
                self.of_kernel(&o)?.sampler_facts.push(SamplerFact { argument, location });
            }
            7 => self.argument(&o, 2, ArgumentKind::Unused)?,
            12 => {
                let binding = o.binding(2, BindingClass::StorageImage)?;
                let level = WrittenLevel { argument: o.constant(1)?, level: o.constant(4)?, binding };
                self.of_kernel(&o)?.written_levels.push(level);
            }
            8 => self.read.device_queue = Some(o.constant(0)?),
            9 => self.of_kernel(&o)?.uses_queue = true,
            11 => self.read.command = Some(o.constant(0)?),
            10 => {
                self.of_kernel(&o)?;
                self.blocks.push(o.id(0)?);
            }
            _ => return Err(bad(format!("instruction {number} of {OWN_IMPORT} is unknown"))),
        }
        Ok(())
    }

    fn kernel(&mut self, o: &Operands<'_>) -> Result<()> {
        let name = o.text(1)?.to_owned();
        let count = o.optional_number(2)?.unwrap_or(0);
        if count > MAX_ARGUMENTS {
            return Err(bad(format!("kernel `{name}` has {count} arguments")));
        }
        let kernel = KernelInterface {
            name,
            arguments: vec![Argument { info: None, kind: ArgumentKind::Unused }; count as usize],
            required_local_size: None,
            attributes: o.optional_text(4)?.to_owned(),
            // Versions before 5 have no flags.
            prints: o.optional_number(3)?.is_none_or(|flags| flags & MAY_USE_PRINTF != 0),
            uses_queue: false,
            static_local_size: 0,
            image_facts: Vec::new(),
            sampler_facts: Vec::new(),
            written_levels: Vec::new(),
        };
        let index = self.kernels.len();
        self.kernels.insert(o.id, (index, kernel));
        Ok(())
    }

    fn of_kernel(&mut self, o: &Operands<'_>) -> Result<&mut KernelInterface> {
        let id = o.id(0)?;
        self.kernels
            .get_mut(&id)
            .map(|(_, kernel)| kernel)
            .ok_or_else(|| bad("its reflection names a kernel that is not declared before"))
    }

    fn argument(&mut self, o: &Operands<'_>, info: usize, kind: ArgumentKind) -> Result<()> {
        let ordinal = o.constant(1)? as usize;
        let info = match o.ids.get(info) {
            Some(id) => Some(
                self.infos
                    .get(id)
                    .cloned()
                    .ok_or_else(|| bad("an argument's information is not declared before it"))?,
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
        let kernel = self.of_kernel(o)?;
        // Versions before 5 do not contain the number of arguments.
        if ordinal >= kernel.arguments.len() {
            if ordinal >= MAX_ARGUMENTS as usize {
                return Err(bad(format!("kernel `{}` has an argument {ordinal}", kernel.name)));
            }
            kernel.arguments.resize(ordinal + 1, Argument { info: None, kind: ArgumentKind::Unused });
        }
        kernel.arguments[ordinal] = Argument { info, kind };
        Ok(())
    }

    fn finish(self, module: &Module) -> Result<ProgramInterface> {
        let mut read = self.read;
        let (texts, traps) = (self.texts, self.traps);
        let room = self.printf.map_or(0, |(_, size)| size);
        if !traps.sites.is_empty() && traps.offset.checked_add(TRAP_RECORD).is_none_or(|end| end > room) {
            return Err(bad("its trap record is outside its printf buffer"));
        }
        read.printf = self.printf.map(|(location, size)| Arc::new(Printf { location, size, texts, traps }));
        let mut kernels: Vec<_> = self.kernels.into_iter().collect();
        kernels.sort_by_key(|(_, (index, _))| *index);
        for (id, (_, kernel)) in kernels {
            let is_block = self.blocks.contains(&id);
            if (is_block || kernel.uses_queue) && read.device_queue.is_none() {
                return Err(bad(format!(
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
fn extend(data: &mut Option<ProgramData>, location: DataLocation, text: &str) -> Result<()> {
    let data = data.get_or_insert_with(|| ProgramData { location, bytes: Vec::new() });
    if data.location != location {
        return Err(bad("its program-scope data is declared twice"));
    }
    let digit = |c: u8| (c as char).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bad("its program-scope data has half a byte"));
    }
    for &[high, low] in pairs {
        let (Some(high), Some(low)) = (digit(high), digit(low)) else {
            return Err(bad("its program-scope data is not hexadecimal"));
        };
        data.bytes.push(high << 4 | low);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u32> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((bytes.len() + 4) / 4 * 4, 0);
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    fn instruction(opcode: u16, operands: &[u32]) -> Vec<u32> {
        [&[(operands.len() as u32 + 1) << 16 | u32::from(opcode)], operands].concat()
    }

    /// A module with the strings "k" (1) and "0aff" (2), the constants 0 to 4 (10 to 14), 8 (18) and 12 (22), and
    /// these reflection instructions, whose ids start at 100.
    fn read(import: &str, reflection: &[&[u32]]) -> Result<ProgramInterface> {
        let mut all = vec![0x0723_0203, 0x0001_0500, 0, 200, 0];
        all.extend(instruction(op::EXT_INST_IMPORT, &[&[50], words(import).as_slice()].concat()));
        all.extend(instruction(op::STRING, &[&[1], words("k").as_slice()].concat()));
        all.extend(instruction(op::STRING, &[&[2], words("0aff").as_slice()].concat()));
        for value in [0, 1, 2, 3, 4, 8, 12] {
            all.extend(instruction(op::CONSTANT, &[60, 10 + value, value]));
        }
        for (id, operands) in (100..).zip(reflection) {
            all.extend(instruction(op::EXT_INST, &[&[61, id, 50], *operands].concat()));
        }
        super::read(&Module::new(&all)?)
    }

    fn refusal(reflection: &[&[u32]]) -> String {
        read("NonSemantic.ClspvReflection.5", reflection).expect_err("a bad reflection").to_string()
    }

    /// `Kernel(function, "k", 1 argument)`
    const KERNEL: &[u32] = &[1, 90, 1, 11];

    #[test]
    fn arguments_are_parsed() {
        let read = read(
            "NonSemantic.ClspvReflection.7",
            &[
                KERNEL,
                &[2, 1],
                &[26, 100, 10, 18, 18, 101],
                &[37, 10, 18, 2],
                &[37, 10, 18, 2],
                &[18, 10, 22],
            ],
        )
        .expect("a good reflection");
        let kernel = &read.kernels[0];
        assert_eq!(kernel.argument("k"), Some(0));
        assert_eq!(
            kernel.arguments[0].kind,
            ArgumentKind::Pointer(ArgumentLocation::PushConstants { offset: 8 })
        );
        let variables = read.variables.expect("there are variables");
        assert_eq!(variables.bytes, [0x0a, 0xff, 0x0a, 0xff]);
        assert_eq!(variables.location, DataLocation::Address { offset: 0 });
        assert_eq!(read.state, [StateField { value: StateValue::RegionOffset, offset: 0 }]);
    }

    #[test]
    fn bindings_of_clspv_are_parsed() {
        let read = read(
            "NonSemantic.ClspvReflection.7",
            &[KERNEL, &[10, 100, 10, 11, 12], &[39, 10, 13, 18], &[41, 100, 10, 14, 14], &[42, 90, 18]],
        )
        .expect("a good reflection");
        let bound = |set, binding, class| Binding { set, binding, class };
        let kernel = &read.kernels[0];
        assert_eq!(kernel.arguments[0].kind, ArgumentKind::Sampler(bound(1, 2, BindingClass::Sampler)));
        assert_eq!(
            kernel.sampler_facts,
            [SamplerFact { argument: 0, location: ArgumentLocation::PushConstants { offset: 4 } }]
        );
        let printf = read.printf.expect("a buffer to print to");
        assert_eq!(
            (printf.location, printf.size),
            (DataLocation::Bound(bound(0, 3, BindingClass::Storage)), 8)
        );
    }

    #[test]
    fn invalid_reflection_is_rejected() {
        assert!(refusal(&[&[1, 90]]).contains("no operand 1"));
        assert!(refusal(&[&[1, 90, 10]]).contains("not a string"));
        assert!(refusal(&[&[7, 100, 10, 10, 14]]).contains("not declared before"));
        assert!(refusal(&[KERNEL, &[7, 100, 1, 10, 14]]).contains("not a constant"));
        assert!(refusal(&[KERNEL, &[26, 100, 10, 10, 14]]).contains("4 bytes, not 8"));
        assert!(refusal(&[KERNEL, &[7, 100, 10, 10, 14, 77]]).contains("not declared before it"));
        assert!(refusal(&[&[18, 10, 18]]).contains("8 bytes, not 12"));
        assert!(refusal(&[&[36, 10, 18, 1]]).contains("half a byte"));
        assert!(refusal(&[&[36, 10, 18, 2], &[36, 18, 18, 2]]).contains("declared twice"));
        assert!(refusal(&[&[23, 10, 11, 12]]).contains("bits 0x2"));
        assert!(refusal(&[KERNEL, &[41, 100, 10, 10, 18]]).contains("8 bytes, not 4"));
        assert!(refusal(&[&[39, 10, 11, 14]]).contains("printf buffer of 4 bytes"));
        assert!(refusal(&[&[42, 90]]).contains("no operand 1"));
        assert!(refusal(&[&[99]]).contains("99 is unknown"));
        assert!(read("NonSemantic.ClspvReflection.8", &[]).is_err());
        assert!(read("GLSL.std.450", &[]).is_err());
    }
}
