//! Commands: launches and transfers, as recorded in Vulkan command buffers.
//!
//! Owns what each command records. Must not depend on when it runs (`queue.rs`).

use std::any::Any;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use smallvec::{SmallVec, smallvec};

use super::device::Device;
use super::image;
use super::memory::{self, Buffer};
use super::program::{Kernel, Program, descriptor_type};
use crate::backend::{Bound, Command, Dispatch, Launch, Memory};
use crate::error::{Error, Result};
use crate::interface::{Binding, BindingClass};
use crate::rect;

/// A command whose recording cannot fail, with all objects that must live until it is complete.
pub(super) enum PreparedCommand {
    Nothing,
    Launch(Box<ReadyLaunch>),
    Copy {
        source: vk::Buffer,
        target: vk::Buffer,
        regions: SmallVec<[vk::BufferCopy; 1]>,
        _keep: [Memory; 2],
    },
    Image(image::PreparedImageCommand),
    Fill {
        target: vk::Buffer,
        at: u64,
        bytes: u64,
        word: u32,
        _keep: Memory,
    },
}

/// A launch with its bindings.
pub(super) struct ReadyLaunch {
    launch: Box<Launch>,
    layout: vk::PipelineLayout,
    /// One for each dispatch.
    pipelines: SmallVec<[vk::Pipeline; 1]>,
    descriptors: Option<Descriptors>,
    /// Whether it reads uniform blocks.
    uniform: bool,
    /// The copies for images that view buffers.
    exchanges: Vec<image::Exchange>,
}

/// The stages and accesses of a command, from which barriers are derived.
#[derive(Clone, Copy, Default)]
pub(super) struct Accesses {
    pub(super) stages: vk::PipelineStageFlags,
    pub(super) reads: vk::AccessFlags,
    pub(super) writes: vk::AccessFlags,
}

impl Accesses {
    /// The accesses of any command. With `MEMORY_READ` instead, which includes more, the kernels of SHOC's S3D take 8 % longer on an H200
    /// from the first start to the last end.
    pub(super) const ANYTHING: Self = Self {
        stages: vk::PipelineStageFlags::from_raw(
            vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw(),
        ),
        reads: vk::AccessFlags::from_raw(
            vk::AccessFlags::SHADER_READ.as_raw()
                | vk::AccessFlags::UNIFORM_READ.as_raw()
                | vk::AccessFlags::TRANSFER_READ.as_raw(),
        ),
        writes: vk::AccessFlags::from_raw(
            vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
        ),
    };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            stages: self.stages | other.stages,
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
        }
    }

    pub(super) fn is_nothing(self) -> bool {
        self.stages.is_empty()
    }
}

/// The barriers between the commands of a batch.
#[derive(Default)]
pub(super) struct Barriers {
    /// The accesses since the last barrier.
    touched: Accesses,
    /// Whether an ordered command without accesses came after them.
    is_divided: bool,
}

impl Barriers {
    /// The accesses that a barrier before this command must order, if it needs one. A command without accesses gets its
    /// barrier before the next command, so that the last command of a batch, such as that of a wait, needs none.
    pub(super) fn before(
        &mut self,
        accesses: Option<Accesses>,
        is_ordered: bool,
    ) -> Option<(Accesses, Accesses)> {
        let is_ordered = is_ordered && !self.touched.is_nothing();
        let Some(accesses) = accesses else {
            self.is_divided |= is_ordered;
            return None;
        };
        let later = if std::mem::take(&mut self.is_divided) {
            // Commands after the next one are ordered, too.
            Some(Accesses::ANYTHING)
        } else {
            is_ordered.then_some(accesses)
        };
        let barrier = later.map(|later| (std::mem::take(&mut self.touched), later));
        self.touched = self.touched.and(accesses);
        barrier
    }
}

impl PreparedCommand {
    /// Prepares a command.
    pub(super) fn new(device: &Arc<Device>, command: Command) -> Result<Self> {
        Ok(match command {
            Command::Nothing => Self::Nothing,
            Command::Launch(launch) => Self::Launch(Box::new(ReadyLaunch::new(device, launch)?)),
            Command::Copy { source, from, target, to, bytes } => Self::Copy {
                source: memory::buffer(&source)?,
                target: memory::buffer(&target)?,
                regions: smallvec![vk::BufferCopy { src_offset: from, dst_offset: to, size: bytes }],
                _keep: [source, target],
            },
            Command::CopyRect { source, from, target, to, size } => Self::Copy {
                source: memory::buffer(&source)?,
                target: memory::buffer(&target)?,
                regions: rect::parts(from, to, size)
                    .map(|(from, to, size)| vk::BufferCopy { src_offset: from, dst_offset: to, size })
                    .collect(),
                _keep: [source, target],
            },
            Command::Image(command) => Self::Image(image::PreparedImageCommand::new(command)?),
            Command::Fill { target, at, bytes, word } => {
                Self::Fill { target: memory::buffer(&target)?, at, bytes, word, _keep: target }
            }
        })
    }

    /// The name of the kernel that it launches, if any.
    pub(super) fn kernel(&self) -> Option<&Arc<str>> {
        match self {
            Self::Launch(ready) => Some(&ready.launch.name),
            _ => None,
        }
    }

    /// The accesses of the command, if it has any.
    pub(super) fn accesses(&self) -> Option<Accesses> {
        let (stages, reads, writes) = match self {
            Self::Nothing => return None,
            Self::Image(image) if image.is_first() || image.exchanges() => return Some(Accesses::ANYTHING),
            Self::Launch(ready) if !ready.exchanges.is_empty() => return Some(Accesses::ANYTHING),
            Self::Launch(ready) => {
                let blocks =
                    if ready.uniform { vk::AccessFlags::UNIFORM_READ } else { vk::AccessFlags::empty() };
                let (reads, writes) = (vk::AccessFlags::SHADER_READ | blocks, vk::AccessFlags::SHADER_WRITE);
                (vk::PipelineStageFlags::COMPUTE_SHADER, reads, writes)
            }
            Self::Copy { .. } | Self::Fill { .. } | Self::Image(_) => {
                let (reads, writes) = (vk::AccessFlags::TRANSFER_READ, vk::AccessFlags::TRANSFER_WRITE);
                (vk::PipelineStageFlags::TRANSFER, reads, writes)
            }
        };
        Some(Accesses { stages, reads, writes })
    }

    /// Records the command into a command buffer in the recording state; `bound` is the currently bound pipeline.
    pub(super) fn record(&self, raw: &ash::Device, commands: vk::CommandBuffer, bound: &mut vk::Pipeline) {
        match self {
            Self::Nothing => {}
            Self::Launch(ready) => ready.record(raw, commands, bound),
            Self::Copy { source, target, regions, .. } => {
                // SAFETY: the command buffer is being recorded; the regions are within their buffers and do not
                // overlap.
                unsafe { raw.cmd_copy_buffer(commands, *source, *target, regions) };
            }
            Self::Image(command) => command.record(raw, commands),
            Self::Fill { target, at, bytes, word, .. } => {
                // SAFETY: the command buffer is being recorded; the range is within the buffer and consists of whole
                // words.
                unsafe { raw.cmd_fill_buffer(commands, *target, *at, *bytes, *word) };
            }
        }
    }
}

impl ReadyLaunch {
    fn new(device: &Arc<Device>, mut launch: Box<Launch>) -> Result<Self> {
        let program = launch
            .program
            .downcast_ref::<Program>()
            .ok_or_else(|| Error::WrongDevice { object: format!("kernel `{}`", launch.name) })?;
        let kernel = program.kernel(launch.kernel);
        let mut pipelines = SmallVec::new();
        for dispatch in &launch.dispatches {
            pipelines.push(program.pipeline(launch.kernel, &dispatch.specialization)?);
        }
        let exchanges = exchanges(&kernel.bindings, &launch.bound)?;
        let descriptors = match launch.bound.as_slice() {
            [] => None,
            _ => Some(Descriptors::new(device, kernel, std::mem::take(&mut launch.bound))?),
        };
        let uniform = kernel.bindings.iter().any(|binding| binding.class == BindingClass::Uniform);
        Ok(Self { layout: kernel.layout, pipelines, descriptors, uniform, exchanges, launch })
    }

    fn record(&self, raw: &ash::Device, commands: vk::CommandBuffer, bound: &mut vk::Pipeline) {
        let compute = vk::PipelineBindPoint::COMPUTE;
        image::Exchange::load(&self.exchanges, raw, commands);
        // SAFETY: the command buffer is being recorded; pipelines, layout and sets are compatible and live until the
        // command is complete; group counts are within the limits.
        unsafe {
            if let Some(Descriptors { sets, .. }) = &self.descriptors {
                raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, sets, &[]);
            }
            for (Dispatch { push_constants, groups: [x, y, z], .. }, pipeline) in
                self.launch.dispatches.iter().zip(&self.pipelines)
            {
                if *bound != *pipeline {
                    raw.cmd_bind_pipeline(commands, compute, *pipeline);
                    *bound = *pipeline;
                }
                if !push_constants.is_empty() {
                    let stage = vk::ShaderStageFlags::COMPUTE;
                    raw.cmd_push_constants(commands, self.layout, stage, 0, push_constants);
                }
                raw.cmd_dispatch(commands, *x, *y, *z);
            }
        }
        image::Exchange::store(&self.exchanges, raw, commands);
    }
}

/// The copies before and after a launch, for its images that view buffers.
fn exchanges(bindings: &[Binding], bound: &[Bound]) -> Result<Vec<image::Exchange>> {
    let mut found = Vec::new();
    for (binding, bound) in bindings.iter().zip(bound) {
        if let Bound::Image(image) = bound {
            found.extend(image::Exchange::for_command(image, binding.class == BindingClass::StorageImage)?);
        }
    }
    Ok(found)
}

/// The descriptor sets of one launch, with its argument blocks.
struct Descriptors {
    device: Arc<Device>,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    _keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Descriptors {
    fn new(device: &Arc<Device>, kernel: &Kernel, bound: Vec<Bound>) -> Result<Self> {
        let failed = |result| device.failure("binding arguments", result, 0);
        let sizes: Vec<_> = kernel
            .bindings
            .iter()
            .map(|binding| vk::DescriptorPoolSize { ty: descriptor_type(binding.class), descriptor_count: 1 })
            .collect();
        let info =
            vk::DescriptorPoolCreateInfo::default().max_sets(kernel.sets.len() as u32).pool_sizes(&sizes);
        // SAFETY: the device is valid, and there is at least one set and one size.
        let pool = unsafe { device.raw.create_descriptor_pool(&info, None) }.map_err(failed)?;
        // From here on, dropping `descriptors` destroys the pool.
        let mut descriptors = Self { device: device.clone(), pool, sets: Vec::new(), _keep: Vec::new() };
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&kernel.sets);
        // SAFETY: the pool was sized for these sets and is not shared.
        descriptors.sets = unsafe { device.raw.allocate_descriptor_sets(&info) }.map_err(failed)?;
        for (binding, bound) in kernel.bindings.iter().zip(bound) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(descriptors.sets[binding.set as usize])
                .dst_binding(binding.binding)
                .descriptor_type(descriptor_type(binding.class));
            let buffer = match bound {
                Bound::Memory { memory, offset, size } => {
                    let buffer = memory::buffer(&memory)?;
                    descriptors._keep.push(memory.handle);
                    vk::DescriptorBufferInfo { buffer, offset, range: size }
                }
                Bound::Bytes(bytes) => {
                    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
                    let size = bytes.len() as u64;
                    let mut block = Buffer::passing(device, size, usage, MemoryLocation::CpuToGpu)?;
                    block.bytes_mut()[..bytes.len()].copy_from_slice(&bytes);
                    let buffer = block.raw;
                    descriptors._keep.push(Arc::new(block));
                    vk::DescriptorBufferInfo { buffer, offset: 0, range: size }
                }
                Bound::Image(image) => {
                    match image::descriptor(&image, binding.class)? {
                        image::Descriptor::Image(info) => update(device, write.image_info(&[info])),
                        image::Descriptor::View(view) => {
                            update(device, write.descriptor_count(1).texel_buffer_view(&[view]));
                        }
                    }
                    descriptors._keep.push(image.handle);
                    continue;
                }
                Bound::Sampler(sampler) => {
                    let info = vk::DescriptorImageInfo::default().sampler(device.sampler(sampler)?);
                    update(device, write.image_info(&[info]));
                    continue;
                }
            };
            update(device, write.buffer_info(&[buffer]));
        }
        Ok(descriptors)
    }
}

/// Writes one descriptor of a set that is not yet in use and whose layout contains it.
fn update(device: &Device, write: vk::WriteDescriptorSet<'_>) {
    // SAFETY: the caller's set, binding and kind match, and the resource lives as long as the set.
    unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: the command that used the sets is complete.
        unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stages: vk::PipelineStageFlags) -> Accesses {
        Accesses { stages, reads: vk::AccessFlags::MEMORY_READ, writes: vk::AccessFlags::MEMORY_WRITE }
    }

    /// The stages of the barriers before commands with these stages.
    fn barriers(
        commands: &[(Option<vk::PipelineStageFlags>, bool)],
    ) -> Vec<Option<[vk::PipelineStageFlags; 2]>> {
        let mut barriers = Barriers::default();
        let before = |&(stages, ordered): &(Option<_>, bool)| {
            let (earlier, later) = barriers.before(stages.map(of), ordered)?;
            Some([earlier.stages, later.stages])
        };
        commands.iter().map(before).collect()
    }

    #[test]
    fn only_ordered_commands_have_barriers() {
        let (compute, transfer) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::TRANSFER);
        let (launch, copy) = (Some(compute), Some(transfer));
        let in_order = [(launch, true), (launch, true), (copy, true)];
        assert_eq!(barriers(&in_order), [None, Some([compute, compute]), Some([compute, transfer])]);
        let unordered = [(launch, false), (copy, false), (launch, true)];
        assert_eq!(barriers(&unordered), [None, None, Some([compute | transfer, compute])]);
    }

    #[test]
    fn commands_without_accesses_have_no_barriers_of_their_own() {
        let (compute, transfer) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::TRANSFER);
        let (launch, copy, any) = (Some(compute), Some(transfer), Accesses::ANYTHING.stages);
        // The last command of a batch is usually a wait.
        assert_eq!(barriers(&[(launch, true), (None, true)]), [None, None]);
        // An OpenCL barrier orders all later commands of an unordered queue.
        let barrier = [(launch, false), (None, true), (copy, false), (launch, false)];
        assert_eq!(barriers(&barrier), [None, None, Some([compute, any]), None]);
        // A marker whose wait list is complete orders nothing.
        assert_eq!(barriers(&[(launch, false), (None, false), (copy, false)]), [None; 3]);
        assert_eq!(barriers(&[(None, true), (launch, true)]), [None; 2]);
    }
}
