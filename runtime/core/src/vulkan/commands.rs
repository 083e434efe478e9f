//! Commands: launches and transfers, as Vulkan records them.
//!
//! Owns what is recorded for each. It must never know when it runs (`queue.rs` does).

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::device::Device;
use super::memory::{self, Buffer};
use super::program::{Kernel, Program, descriptor_type};
use super::queue::Queue;
use crate::backend::{BackendQueue, Bound, Completion, Launch, Memory};
use crate::error::{Error, Result};

/// A queue as the rest of the runtime sees it.
pub(super) struct Handle(Arc<Queue>);

type Keep = Vec<Box<dyn Any + Send + Sync>>;

/// A long pattern is written once into this many bytes and copied from there.
const PATTERN_BYTES: u64 = 1 << 20;

impl Handle {
    pub(super) fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self(Arc::new(Queue::new(device)?)))
    }

    fn device(&self) -> &Arc<Device> {
        &self.0.device
    }

    fn submit(
        &self,
        keep: Keep,
        commands: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<Arc<dyn Completion>> {
        Ok(Arc::new(self.0.submit(None, keep, commands)?))
    }

    /// A buffer that the host fills and commands copy from.
    fn staged(&self, size: u64, fill: impl FnOnce(&mut [u8])) -> Result<Buffer> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let mut staging = Buffer::new(self.device(), size, usage, MemoryLocation::CpuToGpu)?;
        fill(&mut staging.bytes_mut()[..size as usize]);
        Ok(staging)
    }
}

impl BackendQueue for Handle {
    fn launch(&self, launch: Launch) -> Result<Arc<dyn Completion>> {
        let program = launch
            .program
            .clone()
            .downcast::<Program>()
            .map_err(|_| Error::WrongDevice { object: format!("kernel `{}`", launch.name) })?;
        let kernel = program.kernel(launch.kernel);
        let layout = kernel.layout;
        let mut dispatches = Vec::with_capacity(launch.dispatches.len());
        for dispatch in launch.dispatches {
            let pipeline = program.pipeline(launch.kernel, &dispatch.specialisation)?;
            dispatches.push((pipeline, dispatch.push_constants, dispatch.groups));
        }
        let mut keep: Keep = launch.keep.into_iter().map(|memory| memory.handle.boxed()).collect();
        let mut sets = Vec::new();
        if !launch.bound.is_empty() {
            let descriptors = Descriptors::new(self.device(), kernel, launch.bound)?;
            sets.clone_from(&descriptors.sets);
            keep.push(Box::new(descriptors));
        }
        keep.push(Box::new(program));
        let completion = self.0.submit(Some(launch.name), keep, |raw, commands| {
            let compute = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is being recorded; pipelines, layout and sets fit together and live until it is
            // complete; group counts are within the limits.
            unsafe {
                if !sets.is_empty() {
                    raw.cmd_bind_descriptor_sets(commands, compute, layout, 0, &sets, &[]);
                }
                for (pipeline, push_constants, [x, y, z]) in &dispatches {
                    raw.cmd_bind_pipeline(commands, compute, *pipeline);
                    if !push_constants.is_empty() {
                        let stage = vk::ShaderStageFlags::COMPUTE;
                        raw.cmd_push_constants(commands, layout, stage, 0, push_constants);
                    }
                    raw.cmd_dispatch(commands, *x, *y, *z);
                }
            }
        })?;
        Ok(Arc::new(completion))
    }

    fn write(&self, target: &Memory, offset: u64, bytes: &[u8]) -> Result<Arc<dyn Completion>> {
        let staging = self.staged(bytes.len() as u64, |staging| staging.copy_from_slice(bytes))?;
        let (source, into) = (staging.raw, memory::buffer(target)?);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: offset, size: bytes.len() as u64 }];
        self.submit(vec![Box::new(staging), target.handle.boxed()], |raw, commands| {
            // SAFETY: the command buffer is being recorded; the region lies in both buffers.
            unsafe { raw.cmd_copy_buffer(commands, source, into, &region) };
        })
    }

    fn read(&self, source: &Memory, offset: u64, into: &mut [u8], timeout: Option<Duration>) -> Result<()> {
        let size = into.len() as u64;
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let staging = Arc::new(Buffer::new(self.device(), size, usage, MemoryLocation::GpuToCpu)?);
        let (from, to) = (memory::buffer(source)?, staging.raw);
        let region = [vk::BufferCopy { src_offset: offset, dst_offset: 0, size }];
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let keep: Keep = vec![Box::new(staging.clone()), source.handle.boxed()];
        let completion = self.submit(keep, |raw, commands| {
            // SAFETY: the command buffer is being recorded; the region lies in both buffers.
            unsafe {
                raw.cmd_copy_buffer(commands, from, to, &region);
                raw.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::TRANSFER,
                    vk::PipelineStageFlags::HOST,
                    vk::DependencyFlags::empty(),
                    &to_host,
                    &[],
                    &[],
                );
            }
        })?;
        completion.wait(timeout)?;
        into.copy_from_slice(&staging.bytes()[..into.len()]);
        Ok(())
    }

    fn copy(
        &self,
        source: &Memory,
        from: u64,
        target: &Memory,
        to: u64,
        bytes: u64,
    ) -> Result<Arc<dyn Completion>> {
        let (src, dst) = (memory::buffer(source)?, memory::buffer(target)?);
        let region = [vk::BufferCopy { src_offset: from, dst_offset: to, size: bytes }];
        self.submit(vec![source.handle.boxed(), target.handle.boxed()], |raw, commands| {
            // SAFETY: the command buffer is being recorded; the regions lie in their buffers and do not overlap.
            unsafe { raw.cmd_copy_buffer(commands, src, dst, &region) };
        })
    }

    fn fill(&self, target: &Memory, offset: u64, bytes: u64, pattern: &[u8]) -> Result<Arc<dyn Completion>> {
        let into = memory::buffer(target)?;
        let word = <[u8; 4]>::try_from(pattern.repeat(4 / pattern.len().min(4))).map(u32::from_ne_bytes);
        if let (Ok(word), true) = (word, offset.is_multiple_of(4) && bytes.is_multiple_of(4)) {
            return self.submit(vec![target.handle.boxed()], |raw, commands| {
                // SAFETY: the command buffer is being recorded; the range lies in the buffer and is made of words.
                unsafe { raw.cmd_fill_buffer(commands, into, offset, bytes, word) };
            });
        }
        let step = bytes.min(PATTERN_BYTES);
        let staging = self.staged(step, |staging| {
            for (byte, value) in staging.iter_mut().zip(pattern.iter().cycle()) {
                *byte = *value;
            }
        })?;
        let source = staging.raw;
        let regions: Vec<_> = (0..bytes)
            .step_by(step as usize)
            .map(|at| vk::BufferCopy { src_offset: 0, dst_offset: offset + at, size: step.min(bytes - at) })
            .collect();
        self.submit(vec![Box::new(staging), target.handle.boxed()], |raw, commands| {
            // SAFETY: the command buffer is being recorded; the regions lie in both buffers.
            unsafe { raw.cmd_copy_buffer(commands, source, into, &regions) };
        })
    }

    fn marker(&self) -> Result<Arc<dyn Completion>> {
        self.submit(Vec::new(), |_, _| {})
    }
}

/// A shared handle as something that a command keeps.
trait Boxed {
    fn boxed(&self) -> Box<dyn Any + Send + Sync>;
}

impl Boxed for Arc<dyn Any + Send + Sync> {
    fn boxed(&self) -> Box<dyn Any + Send + Sync> {
        Box::new(self.clone())
    }
}

/// The descriptor sets of one launch, with its argument blocks.
struct Descriptors {
    device: Arc<Device>,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    _keep: Keep,
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
            let buffer = match bound {
                Bound::Memory { memory, offset, size } => {
                    let buffer = memory::buffer(&memory)?;
                    descriptors._keep.push(memory.handle.boxed());
                    vk::DescriptorBufferInfo { buffer, offset, range: size }
                }
                Bound::Bytes(bytes) => {
                    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
                    let size = bytes.len() as u64;
                    let mut block = Buffer::new(device, size, usage, MemoryLocation::CpuToGpu)?;
                    block.bytes_mut()[..bytes.len()].copy_from_slice(&bytes);
                    let buffer = block.raw;
                    descriptors._keep.push(Box::new(block));
                    vk::DescriptorBufferInfo { buffer, offset: 0, range: size }
                }
            };
            let buffers = [buffer];
            let write = [vk::WriteDescriptorSet::default()
                .dst_set(descriptors.sets[binding.set as usize])
                .dst_binding(binding.binding)
                .descriptor_type(descriptor_type(binding.class))
                .buffer_info(&buffers)];
            // SAFETY: the set is not in use yet, and its layout has this binding.
            unsafe { device.raw.update_descriptor_sets(&write, &[]) };
        }
        Ok(descriptors)
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: the command that used the sets is complete.
        unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
