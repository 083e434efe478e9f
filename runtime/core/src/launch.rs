//! Lowers a kernel, its arguments and an index space to dispatches.
//!
//! Owns the values in push constants, argument blocks and specialization constants. Must not depend on what executes
//! the result.

use smallvec::SmallVec;

use crate::backend::{Bound, Dispatch, Launch, Memory, PushConstants, Specialization};
use crate::device_queue::DeviceQueue;
use crate::error::{Error, Result};
use crate::image::Image;
use crate::interface::{
    ArgumentKind, ArgumentLocation, Binding, DataLocation, ImageFactKind, ProgramData, StateValue,
};
use crate::kernel::{ArgValue, Kernel};
use crate::layout::Slot;
use crate::ndrange::{Limits, NdRange, Plan, Region};
use crate::printf::Printing;
use crate::sampler::Sampler;

/// Prepares a launch; `None` if the index space is empty. `queue` is the memory of the queue for device-side
/// enqueue, and the number of the command.
pub(crate) fn prepare(
    kernel: &Kernel,
    range: &NdRange,
    printing: Option<&Printing>,
    queue: Option<(&Memory, u32)>,
) -> Result<Option<Box<Launch>>> {
    let plan = plan(kernel, range)?;
    let mut values = Values::new(kernel);
    values.write_arguments()?;
    values.image_facts();
    values.program_data();
    for value in &kernel.reached {
        if let ArgValue::Buffer(buffer) = value {
            values.keep.push(buffer.memory.clone());
        }
    }
    if let Some(Printing { buffer, printf }) = printing {
        values.pass_buffer(printf.location, buffer, printf.size.into());
    }
    if let Some((memory, number)) = queue {
        let interface = &kernel.program.inner.interface;
        if let Some(offset) = interface.device_queue {
            values.pass_buffer(DataLocation::Address { offset }, memory, 0);
        }
        if let Some(offset) = interface.command {
            values.write_bytes(ArgumentLocation::PushConstants { offset }, &u64::from(number).to_le_bytes());
        }
    }
    let local = values.local_memory + u64::from(kernel.interface().static_local_size);
    let limit = kernel.program.inner.device.capabilities().local_memory;
    if local > limit {
        return Err(launch_error(
            kernel,
            format!("it needs {local} bytes of local memory and the device has {limit}; use less"),
        ));
    }
    if plan.regions.is_empty() {
        return Ok(None);
    }
    let mut dispatches: SmallVec<[Dispatch; 1]> = SmallVec::with_capacity(plan.regions.len());
    for region in &plan.regions {
        let known = dispatches.iter().zip(&plan.regions).find(|(_, other)| other.local == region.local);
        let specialization = match known {
            Some((dispatch, _)) => dispatch.specialization.clone(),
            None => values.verified_specialization(&plan, region)?,
        };
        dispatches.push(Dispatch {
            specialization,
            push_constants: values.push_constants(&plan, region),
            groups: region.groups,
            first_item: [0, 1, 2].map(|d| plan.offset[d] + region.first_item[d]),
        });
    }
    let program = &kernel.program.inner;
    Ok(Some(Box::new(Launch {
        program: program.handle.clone(),
        kernel: kernel.index,
        name: kernel.layout().name.clone(),
        bound: values.bound,
        dispatches,
        _keep: values.keep,
    })))
}

/// The local size that a launch uses.
pub(crate) fn local_size(kernel: &Kernel, range: &NdRange) -> Result<[u32; 3]> {
    plan(kernel, range).map(|plan| plan.local)
}

fn launch_error(kernel: &Kernel, reason: String) -> Error {
    Error::Launch { kernel: kernel.name().to_owned(), reason }
}

/// Partitions the index space, and checks that the module can compute its position in each region.
fn plan(kernel: &Kernel, range: &NdRange) -> Result<Plan> {
    let device = &kernel.program.inner.device;
    let program = &kernel.program.inner.interface;
    let capabilities = device.capabilities();
    let position = program.position;
    let raw = position.raw_global_id || position.raw_group_id || position.raw_num_groups;
    let limits = Limits {
        group_size: capabilities.max_work_group_size,
        item_sizes: capabilities.max_work_item_sizes,
        group_counts: device.backend().max_groups(),
        preferred_multiple: capabilities.sub_groups.as_ref().map_or(1, |groups| groups.max_size),
        required: kernel.interface().required_local_size,
        non_uniform: program.local_size.is_some() && !raw,
    };
    if program.local_size.is_none() && limits.required.is_none() {
        return Err(launch_error(
            kernel,
            "its module does not contain the work-group size; compile it again".to_owned(),
        ));
    }
    let plan = Plan::new(range, &limits).map_err(|reason| launch_error(kernel, reason))?;
    if raw && plan.regions.len() > 1 {
        return Err(launch_error(
            kernel,
            format!(
                "its {:?} groups need several dispatches, which the module does not support",
                plan.groups
            ),
        ));
    }
    if let Some(proved) = program.proved_launch.as_ref().filter(|it| it.kernel == kernel.name()) {
        let sizes = (plan.global, plan.local, plan.offset);
        if sizes != (proved.global, proved.local, [0; 3]) {
            let reason = format!(
                "its synchronization is proved only for the global size {:?} with work-groups of {:?} and without an \
                 offset; compile it without --cheapest",
                proved.global, proved.local
            );
            return Err(launch_error(kernel, reason));
        }
    }
    let passes_offset = program.global_offset.is_some()
        || program.state.iter().any(|field| field.value == StateValue::GlobalOffset);
    if position.raw_global_id && plan.offset != [0; 3] && !passes_offset {
        return Err(launch_error(kernel, "its module was compiled without offsets; use offset 0".to_owned()));
    }
    Ok(plan)
}

/// The values shared by all regions.
struct Values<'a> {
    kernel: &'a Kernel,
    push_constants: PushConstants,
    bound: Vec<Bound>,
    /// Values of the constants that size arrays in local memory.
    counts: Specialization,
    local_memory: u64,
    keep: SmallVec<[Memory; 4]>,
}

impl<'a> Values<'a> {
    fn new(kernel: &'a Kernel) -> Self {
        let layout = kernel.layout();
        let bound = layout
            .slots
            .iter()
            .map(|(_, slot)| match slot {
                Slot::Block { size } => Bound::Bytes(vec![0; *size as usize]),
                // Filled in below: every argument is set, and program data exists if it is bound.
                Slot::Argument(_) | Slot::Level(_) | Slot::Variables | Slot::Constants | Slot::Printf => {
                    Bound::Bytes(Vec::new())
                }
                Slot::Sampler(sampler) => Bound::Sampler(*sampler),
            })
            .collect();
        Self {
            kernel,
            push_constants: PushConstants::from_slice(&layout.blank),
            bound,
            counts: SmallVec::new(),
            local_memory: 0,
            keep: SmallVec::new(),
        }
    }

    fn write_arguments(&mut self) -> Result<()> {
        let kernel = self.kernel;
        for (index, (taken, value)) in kernel.interface().arguments.iter().zip(&kernel.arguments).enumerate()
        {
            let Some(value) = value else {
                if taken.kind == ArgumentKind::Unused {
                    continue;
                }
                return Err(Error::ArgumentNotSet {
                    kernel: kernel.name().to_owned(),
                    index,
                    name: taken.name().map(str::to_owned),
                });
            };
            match (taken.kind, value) {
                (ArgumentKind::Pointer(location), ArgValue::Buffer(buffer)) => {
                    self.write_bytes(location, &buffer.address().to_le_bytes());
                    self.keep.push(buffer.memory.clone());
                }
                (ArgumentKind::Pointer(location), ArgValue::Pointer(address)) => {
                    self.write_bytes(location, &address.to_le_bytes());
                }
                (ArgumentKind::Pipe(location), ArgValue::Pipe(pipe)) => {
                    self.write_bytes(location, &pipe.memory.address.to_le_bytes());
                    self.keep.push(pipe.memory.clone());
                }
                (ArgumentKind::Queue(location), ArgValue::Queue(_)) => {
                    self.write_bytes(location, &DeviceQueue::HANDLE.to_le_bytes());
                }
                (ArgumentKind::Value { location, .. }, ArgValue::Bytes(bytes)) => {
                    self.write_bytes(location, bytes)
                }
                (ArgumentKind::Local { count, element_size }, ArgValue::Local(bytes)) => {
                    let elements = (*bytes as u64).div_ceil(u64::from(element_size));
                    self.local_memory =
                        self.local_memory.saturating_add(elements.saturating_mul(u64::from(element_size)));
                    self.counts.push((count, u32::try_from(elements).unwrap_or(u32::MAX)));
                }
                (ArgumentKind::Buffer(binding), ArgValue::Buffer(buffer)) => {
                    self.bind_memory(binding, &buffer.memory, buffer.offset, buffer.bytes());
                }
                (ArgumentKind::Image(binding), ArgValue::Image(image)) => {
                    self.fill_binding(binding, Bound::Image(image.memory.at_level(0)));
                    self.bind_written_levels(index, image);
                }
                (ArgumentKind::Sampler(binding), ArgValue::Bytes(bytes)) => {
                    self.bind_sampler(index, binding, bytes)
                }
                // `set` rejects arguments of other kinds.
                _ => {}
            }
        }
        Ok(())
    }

    /// Binds the levels of an image that the kernel writes. One that the image does not have must not be written, so any
    /// level represents it.
    fn bind_written_levels(&mut self, argument: usize, image: &Image) {
        let kernel = self.kernel;
        for written in &kernel.interface().written_levels {
            if written.argument as usize == argument {
                let level = written.level.min(image.desc().levels - 1);
                self.fill_binding(written.binding, Bound::Image(image.memory.at_level(level)));
            }
        }
    }

    /// Writes the image properties that the kernel reads.
    fn image_facts(&mut self) {
        let kernel = self.kernel;
        for fact in &kernel.interface().image_facts {
            let Some(Some(ArgValue::Image(image))) = kernel.arguments.get(fact.argument as usize) else {
                continue;
            };
            let format = image.desc().format;
            let number = match fact.what {
                ImageFactKind::ChannelOrder => format.order.number(),
                ImageFactKind::ChannelType => format.channel.number(),
            };
            self.write_bytes(fact.location, &number.to_le_bytes());
        }
    }

    fn program_data(&mut self) {
        let program = &self.kernel.program.inner;
        for (buffer, data) in [
            (&program.variables, &program.interface.variables),
            (&program.constants, &program.interface.constants),
        ] {
            let (Some(buffer), Some(ProgramData { location, .. })) = (buffer, data) else { continue };
            self.pass_buffer(*location, &buffer.memory, buffer.bytes());
        }
    }

    /// Binds a device sampler, and writes its bits if the kernel reads them.
    fn bind_sampler(&mut self, argument: usize, binding: Binding, bytes: &[u8]) {
        // `set` checked the bits.
        let Some(mut sampler) = Sampler::from_bytes(bytes) else { return };
        let kernel = self.kernel;
        for fact in &kernel.interface().sampler_facts {
            if fact.argument as usize == argument {
                self.write_bytes(fact.location, bytes);
                sampler.normalized = true;
            }
        }
        self.fill_binding(binding, Bound::Sampler(sampler));
    }

    /// Writes the address of a buffer, or binds the buffer.
    fn pass_buffer(&mut self, location: DataLocation, memory: &Memory, size: u64) {
        match location {
            DataLocation::Address { offset } => {
                self.write_bytes(ArgumentLocation::PushConstants { offset }, &memory.address.to_le_bytes());
                self.keep.push(memory.clone());
            }
            DataLocation::Bound(binding) => self.bind_memory(binding, memory, 0, size),
        }
    }

    fn bind_memory(&mut self, binding: Binding, memory: &Memory, offset: u64, size: u64) {
        self.fill_binding(binding, Bound::Memory { memory: memory.clone(), offset, size });
    }

    fn fill_binding(&mut self, binding: Binding, bound: Bound) {
        let slot = self.kernel.layout().slots.iter().position(|(other, _)| *other == binding);
        if let Some(slot) = slot {
            self.bound[slot] = bound;
        }
    }

    /// Writes bytes at an offset that the layout reserved.
    fn write_bytes(&mut self, location: ArgumentLocation, bytes: &[u8]) {
        let (target, offset): (&mut [u8], u32) = match location {
            ArgumentLocation::PushConstants { offset } => (&mut self.push_constants, offset),
            ArgumentLocation::Block { binding, offset } => {
                let slots = &self.kernel.layout().slots;
                let slot = slots.iter().position(|(other, _)| *other == binding);
                match slot.map(|slot| &mut self.bound[slot]) {
                    Some(Bound::Bytes(block)) => (block, offset),
                    _ => return,
                }
            }
        };
        target[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    /// The specialization constants of a region. The module is valid with these values.
    fn verified_specialization(&self, plan: &Plan, region: &Region) -> Result<Specialization> {
        let specialization = self.specialization(plan, region);
        let values: SmallVec<[(u32, u32); 8]> =
            specialization.iter().map(|(id, value)| (id.0, *value)).collect();
        match self.kernel.program.inner.value_rules.violations(&values).first() {
            None => Ok(specialization),
            Some(finding) => Err(launch_error(
                self.kernel,
                format!("its specialization constants make the module invalid: {finding}"),
            )),
        }
    }

    /// The specialization constants of a region.
    fn specialization(&self, plan: &Plan, region: &Region) -> Specialization {
        let program = &self.kernel.program.inner.interface;
        let device = &self.kernel.program.inner.device;
        let mut values = self.counts.clone();
        if let Some(ids) = program.local_size {
            values.extend(ids.into_iter().zip(region.local));
        }
        if let Some(ids) = program.global_offset {
            values.extend(ids.into_iter().zip(plan.offset));
        }
        if let Some(id) = program.work_dim {
            values.push((id, plan.dims));
        }
        if let Some(id) = program.sub_group_size {
            values.push((id, device.capabilities().sub_groups.as_ref().map_or(1, |groups| groups.max_size)));
        }
        values.sort_unstable();
        values.dedup_by_key(|(id, _)| *id);
        values
    }

    /// The push constants of a region.
    fn push_constants(&self, plan: &Plan, region: &Region) -> PushConstants {
        let mut bytes = PushConstants::from_slice(&self.push_constants);
        for field in &self.kernel.program.inner.interface.state {
            let value = match field.value {
                StateValue::GlobalOffset => plan.offset,
                StateValue::GlobalSize => plan.global,
                StateValue::EnqueuedLocalSize => plan.local,
                StateValue::NumGroups => plan.groups,
                StateValue::RegionOffset => [0, 1, 2].map(|d| plan.offset[d] + region.first_item[d]),
                StateValue::RegionGroupOffset => region.first_group,
            };
            let target = &mut bytes[field.offset as usize..];
            for (word, target) in value.into_iter().zip(target.as_chunks_mut::<4>().0) {
                *target = word.to_le_bytes();
            }
        }
        bytes
    }
}
