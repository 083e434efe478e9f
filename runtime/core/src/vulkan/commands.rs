//! Commands: launches and transfers, as Vulkan records them.
//!
//! Owns what is recorded for each. It must never know when it runs (`queue.rs` does).

use std::any::Any;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::device::Device;
use super::image;
use super::memory::{self, Buffer};
use super::program::{Kernel, Program, descriptor_type};
use crate::backend::{Bound, Command, Launch, Memory};
use crate::error::{Error, Result};

/// What must live until a command is complete.
pub(super) type Keep = Arc<dyn Any + Send + Sync>;

/// A command whose recording cannot fail any more.
pub(super) enum Ready {
    Nothing,
    Launch { layout: vk::PipelineLayout, sets: Vec<vk::DescriptorSet>, dispatches: Vec<Dispatch> },
    Copy { source: vk::Buffer, target: vk::Buffer, region: vk::BufferCopy },
    Image(image::Ready),
    Fill { target: vk::Buffer, at: u64, bytes: u64, word: u32 },
}

/// Work-groups of one size.
pub(super) struct Dispatch {
    pipeline: vk::Pipeline,
    push_constants: Vec<u8>,
    groups: [u32; 3],
}

impl Ready {
    /// Prepares a command; puts what it uses into `keep`, and gives the kernel's name.
    pub(super) fn new(
        device: &Arc<Device>,
        command: Command,
        keep: &mut Vec<Keep>,
    ) -> Result<(Self, Option<Arc<str>>)> {
        let ready = match command {
            Command::Nothing => Self::Nothing,
            Command::Launch(launch) => {
                let name = launch.name.clone();
                return Ok((Self::launch(device, launch, keep)?, Some(name)));
            }
            Command::Copy { source, from, target, to, bytes } => {
                let region = vk::BufferCopy { src_offset: from, dst_offset: to, size: bytes };
                let ready =
                    Self::Copy { source: memory::buffer(&source)?, target: memory::buffer(&target)?, region };
                keep.extend([source.handle as Keep, target.handle]);
                ready
            }
            Command::Image(command) => Self::Image(image::Ready::new(command, keep)?),
            Command::Fill { target, at, bytes, word } => {
                let ready = Self::Fill { target: memory::buffer(&target)?, at, bytes, word };
                keep.push(target.handle);
                ready
            }
        };
        Ok((ready, None))
    }

    fn launch(device: &Arc<Device>, launch: Launch, keep: &mut Vec<Keep>) -> Result<Self> {
        let program = launch
            .program
            .downcast::<Program>()
            .map_err(|_| Error::WrongDevice { object: format!("kernel `{}`", launch.name) })?;
        let kernel = program.kernel(launch.kernel);
        let layout = kernel.layout;
        let mut dispatches: Vec<Dispatch> = Vec::with_capacity(launch.dispatches.len());
        for dispatch in launch.dispatches {
            let pipeline = program.pipeline(launch.kernel, &dispatch.specialisation)?;
            let (push_constants, groups) = (dispatch.push_constants, dispatch.groups);
            dispatches.push(Dispatch { pipeline, push_constants, groups });
        }
        keep.extend(launch.keep.into_iter().map(|memory: Memory| memory.handle as Keep));
        let mut sets = Vec::new();
        if !launch.bound.is_empty() {
            let descriptors = Descriptors::new(device, kernel, launch.bound)?;
            sets.clone_from(&descriptors.sets);
            keep.push(Arc::new(descriptors));
        }
        keep.push(program);
        Ok(Self::Launch { layout, sets, dispatches })
    }

    /// Records the command. The command buffer is being recorded; `bound` is the pipeline that is bound there.
    pub(super) fn record(&self, raw: &ash::Device, commands: vk::CommandBuffer, bound: &mut vk::Pipeline) {
        match self {
            Self::Nothing => {}
            Self::Launch { layout, sets, dispatches } => {
                let compute = vk::PipelineBindPoint::COMPUTE;
                // SAFETY: the command buffer is being recorded; pipelines, layout and sets fit together and are kept until it
                // is complete; group counts are within the limits.
                unsafe {
                    if !sets.is_empty() {
                        raw.cmd_bind_descriptor_sets(commands, compute, *layout, 0, sets, &[]);
                    }
                    for Dispatch { pipeline, push_constants, groups: [x, y, z] } in dispatches {
                        if *bound != *pipeline {
                            raw.cmd_bind_pipeline(commands, compute, *pipeline);
                            *bound = *pipeline;
                        }
                        if !push_constants.is_empty() {
                            let stage = vk::ShaderStageFlags::COMPUTE;
                            raw.cmd_push_constants(commands, *layout, stage, 0, push_constants);
                        }
                        raw.cmd_dispatch(commands, *x, *y, *z);
                    }
                }
            }
            Self::Copy { source, target, region } => {
                // SAFETY: the command buffer is being recorded; the regions lie in their buffers and do not overlap.
                unsafe { raw.cmd_copy_buffer(commands, *source, *target, &[*region]) };
            }
            Self::Image(command) => command.record(raw, commands),
            Self::Fill { target, at, bytes, word } => {
                // SAFETY: the command buffer is being recorded; the range lies in the buffer and is made of words.
                unsafe { raw.cmd_fill_buffer(commands, *target, *at, *bytes, *word) };
            }
        }
    }
}

/// The descriptor sets of one launch, with its argument blocks.
struct Descriptors {
    device: Arc<Device>,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    _keep: Vec<Keep>,
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
        // From here on, dropping it destroys the pool.
        let mut descriptors = Self { device: device.clone(), pool, sets: Vec::new(), _keep: Vec::new() };
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&kernel.sets);
        // SAFETY: the pool was sized for these sets and nobody else uses it.
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
                    let mut block = Buffer::new(device, size, usage, MemoryLocation::CpuToGpu)?;
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
            };
            update(device, write.buffer_info(&[buffer]));
        }
        Ok(descriptors)
    }
}

/// Writes one descriptor of a set that is not in use yet and whose layout has it.
fn update(device: &Device, write: vk::WriteDescriptorSet<'_>) {
    // SAFETY: the caller's set, binding and kind fit together, and what they name is kept with the set.
    unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: the command that used the sets is complete.
        unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
