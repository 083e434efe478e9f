//! A launch on plain Vulkan, as a program written for this launch only would do it: the baseline for the runtime.
//!
//! Owns one device, one buffer, one pipeline. They live as long as the process, so nothing is released.

use std::ptr;

use ash::vk;
use kiln_runtime::interface::{ArgumentKind, ArgumentLocation, ProgramInterface};

/// An open device with the benchmark's kernel.
pub(crate) struct Raw {
    device: ash::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    timeline: vk::Semaphore,
    reached: u64,
    kernel: Kernel,
    data: vk::Buffer,
    upload: (vk::Buffer, *mut u8),
    download: (vk::Buffer, *mut u8),
    /// Keeps the driver loaded.
    _instance: (ash::Entry, ash::Instance),
}

/// The kernel, and the push constants with its argument.
struct Kernel {
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    push_constants: Vec<u8>,
}

fn text(result: vk::Result) -> String {
    result.to_string()
}

impl Raw {
    /// Opens the device at this index, with buffers of `bytes`, and a kernel whose only argument is a pointer. The
    /// queue is of this family, if one is given.
    pub(crate) fn new(
        index: usize,
        family: Option<u32>,
        words: &[u32],
        local: u32,
        bytes: u64,
    ) -> Result<Self, String> {
        // SAFETY: the calls follow the specification: every structure outlives the call that takes it, and every
        // object belongs to this device. Tests run under the validation layer.
        unsafe {
            let entry = ash::Entry::load().map_err(|e| e.to_string())?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None).map_err(text)?;
            let physical = instance.enumerate_physical_devices().map_err(text)?[index];
            let (device, family) = open_device(&instance, physical, family)?;
            let queue = device.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = device.create_command_pool(&info, None).map_err(text)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).map_err(text)?[0];
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            let timeline = device.create_semaphore(&info, None).map_err(text)?;

            let memory = instance.get_physical_device_memory_properties(physical);
            let buffer = |usage, properties| buffer(&device, &memory, bytes, usage, properties);
            let on_device = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST;
            let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let (data, _) = buffer(on_device, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            let (up, memory_up) = buffer(vk::BufferUsageFlags::TRANSFER_SRC, seen)?;
            let (down, memory_down) =
                buffer(vk::BufferUsageFlags::TRANSFER_DST, seen | vk::MemoryPropertyFlags::HOST_CACHED)?;
            let map = |memory| {
                device.map_memory(memory, 0, bytes, vk::MemoryMapFlags::empty()).map(<*mut _>::cast::<u8>)
            };
            let upload = (up, map(memory_up).map_err(text)?);
            let download = (down, map(memory_down).map_err(text)?);
            let info = vk::BufferDeviceAddressInfo::default().buffer(data);
            let address = device.get_buffer_device_address(&info);

            let kernel = Kernel::new(&device, words, local, address)?;
            let _instance = (entry, instance);
            Ok(Self {
                device,
                queue,
                commands,
                timeline,
                reached: 0,
                kernel,
                data,
                upload,
                download,
                _instance,
            })
        }
    }

    /// Launches `count` kernels of `groups` work-groups, each after the previous one, and waits.
    pub(crate) fn launch(&mut self, count: usize, groups: u32) -> Result<(), String> {
        self.submit(|raw| {
            let stages = vk::PipelineStageFlags::COMPUTE_SHADER;
            let barrier = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)];
            let (device, commands) = (&raw.device, raw.commands);
            // SAFETY: the command buffer is being recorded; pipeline and layout are compatible.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, raw.kernel.pipeline);
                for _ in 0..count {
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(commands, stages, stages, none, &barrier, &[], &[]);
                    let stage = vk::ShaderStageFlags::COMPUTE;
                    device.cmd_push_constants(
                        commands,
                        raw.kernel.layout,
                        stage,
                        0,
                        &raw.kernel.push_constants,
                    );
                    device.cmd_dispatch(commands, groups, 1, 1);
                }
            }
        })
    }

    /// Writes to the start of the buffer, blocking.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: the caller stays within the size of the buffer, and no command is running.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.upload.1, bytes.len()) };
        self.submit(|raw| raw.copy(raw.upload.0, raw.data, bytes.len()))
    }

    /// Reads from the start of the buffer, blocking.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.submit(|raw| {
            raw.copy(raw.data, raw.download.0, bytes.len());
            let stages = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            let barrier = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            let none = vk::DependencyFlags::empty();
            // SAFETY: the command buffer is being recorded.
            unsafe {
                raw.device.cmd_pipeline_barrier(raw.commands, stages.0, stages.1, none, &barrier, &[], &[]);
            }
        })?;
        // SAFETY: as above; the copy is complete.
        unsafe { ptr::copy_nonoverlapping(self.download.1, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn copy(&self, from: vk::Buffer, to: vk::Buffer, bytes: usize) {
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: bytes as u64 }];
        // SAFETY: the command buffer is being recorded; the region is within both buffers.
        unsafe { self.device.cmd_copy_buffer(self.commands, from, to, &region) };
    }

    fn submit(&mut self, record: impl FnOnce(&Self)) -> Result<(), String> {
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: no command is running, so the command buffer may be recorded again.
        unsafe { self.device.begin_command_buffer(self.commands, &begin) }.map_err(text)?;
        record(self);
        self.reached += 1;
        let (commands, semaphores, values) = ([self.commands], [self.timeline], [self.reached]);
        let mut signal = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let submit = [vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut signal)];
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the command buffer is recorded, the semaphore is a timeline, and the queue is not used
        // concurrently.
        unsafe {
            self.device.end_command_buffer(self.commands).map_err(text)?;
            self.device.queue_submit(self.queue, &submit, vk::Fence::null()).map_err(text)?;
            self.device.wait_semaphores(&wait, u64::MAX).map_err(text)
        }
    }
}

/// Opens a device with one queue: of this family or, as in Kiln, of one without graphics if there is one.
fn open_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: Option<u32>,
) -> Result<(ash::Device, u32), String> {
    // SAFETY: the physical device belongs to the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let usual = (0..)
        .zip(&families)
        .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
        .min_by_key(|(_, family)| family.queue_flags.contains(vk::QueueFlags::GRAPHICS))
        .map(|(index, _)| index);
    let family = family.or(usual).ok_or("no family for compute")?;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let mut features = vk::PhysicalDeviceVulkan12Features::default()
        .vulkan_memory_model(true)
        .buffer_device_address(true)
        .timeline_semaphore(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
    // SAFETY: the device has the family, and the structures outlive the call.
    let device = unsafe { instance.create_device(physical, &info, None) }.map_err(text)?;
    Ok((device, family))
}

impl Kernel {
    /// The only kernel of a module, with this address as its argument, in work-groups of this size.
    fn new(device: &ash::Device, words: &[u32], local: u32, address: u64) -> Result<Self, String> {
        let interface = ProgramInterface::from_spirv(words).map_err(|e| e.to_string())?;
        let ArgumentKind::Pointer(ArgumentLocation::PushConstants { offset }) =
            interface.kernels[0].arguments[0].kind
        else {
            return Err("the kernel's argument is not a pointer".to_owned());
        };
        let mut push_constants = vec![0; offset as usize + 8];
        push_constants[offset as usize..].copy_from_slice(&address.to_le_bytes());
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: push_constants.len().next_multiple_of(16) as u32,
        }];
        let layout_info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        let module_info = vk::ShaderModuleCreateInfo::default().code(words);
        let sizes = [local, 1, 1];
        let ids = interface.local_size.ok_or("the work-group's size is fixed")?;
        let entries = [0, 1, 2].map(|d| vk::SpecializationMapEntry {
            constant_id: ids[d].0,
            offset: 4 * d as u32,
            size: 4,
        });
        let constants =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&sizes));
        let name = std::ffi::CString::new(&*interface.kernels[0].name).map_err(|e| e.to_string())?;
        // SAFETY: every structure outlives the call that takes it, and every object belongs to this device.
        unsafe {
            let layout = device.create_pipeline_layout(&layout_info, None).map_err(text)?;
            let module = device.create_shader_module(&module_info, None).map_err(text)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&name)
                .specialization_info(&constants);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &info, None)
                .map_err(|(_, result)| text(result))?[0];
            Ok(Self { layout, pipeline, push_constants })
        }
    }
}

/// Creates a buffer with its own memory.
fn buffer(
    device: &ash::Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    bytes: u64,
    usage: vk::BufferUsageFlags,
    properties: vk::MemoryPropertyFlags,
) -> Result<(vk::Buffer, vk::DeviceMemory), String> {
    let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
    // SAFETY: the device is valid, and the objects created here are compatible.
    unsafe {
        let buffer = device.create_buffer(&info, None).map_err(text)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let fits = |index: &u32| {
            let kind = memory.memory_types[*index as usize];
            needs.memory_type_bits & 1 << index != 0 && kind.property_flags.contains(properties)
        };
        let index = (0..memory.memory_type_count).find(fits).ok_or("no memory of this kind")?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            info = info.push_next(&mut flags);
        }
        let memory = device.allocate_memory(&info, None).map_err(text)?;
        device.bind_buffer_memory(buffer, memory, 0).map_err(text)?;
        Ok((buffer, memory))
    }
}
