//! Programs: the shader module, the layouts of its kernels, and their pipelines for each specialization.
//!
//! Owns pipelines. A pipeline is built on first use, or when the program is loaded, if the last such program used it. Must not depend
//! on commands.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use rustc_hash::FxHashMap;

use super::bindings::BindingLimits;
use super::device::Device;
use super::stored::{MAX_USED, Stored};
use crate::backend::{KernelLayout, Specialization};
use crate::cache::Key;
use crate::error::{Error, Result};
use crate::interface::{Binding, BindingClass};
use crate::module::Module;

/// A loaded module.
pub(super) struct Program {
    device: Arc<Device>,
    module: vk::ShaderModule,
    kernels: Vec<Kernel>,
    cache: vk::PipelineCache,
    key: Key,
    /// The contents of the disk cache for this program.
    stored: Mutex<Stored>,
}

/// A pipeline whose build took longer than this is stored at once. Others are stored with the program's end, which few processes
/// reach that do not release their objects.
const SLOW_BUILD: Duration = Duration::from_millis(10);

/// The parts of a kernel that do not depend on the specialization.
pub(super) struct Kernel {
    name: CString,
    pub(super) layout: vk::PipelineLayout,
    /// The layouts of sets 0, 1, ….
    pub(super) sets: Vec<vk::DescriptorSetLayout>,
    pub(super) bindings: Vec<Binding>,
    /// The pipelines built so far.
    pipelines: Mutex<FxHashMap<Specialization, Pipeline>>,
}

pub(super) struct Pipeline {
    handle: vk::Pipeline,
    /// Whether a launch used it.
    is_used: bool,
}

pub(super) fn descriptor_type(class: BindingClass) -> vk::DescriptorType {
    match class {
        BindingClass::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        BindingClass::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BindingClass::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
        BindingClass::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        BindingClass::UniformTexels => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        BindingClass::StorageTexels => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        BindingClass::Sampler => vk::DescriptorType::SAMPLER,
    }
}

impl Kernel {
    pub(super) fn pipelines(&self) -> MutexGuard<'_, FxHashMap<Specialization, Pipeline>> {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program {
    pub(super) fn new(device: &Arc<Device>, module: &Module, kernels: Vec<KernelLayout>) -> Result<Self> {
        let failed = |result| device.failure("loading a module", result, 0);
        let mut program = Self {
            device: device.clone(),
            module: vk::ShaderModule::null(),
            kernels: Vec::new(),
            cache: vk::PipelineCache::null(),
            key: Key::new(&[], &[]),
            stored: Mutex::default(),
        };
        let words = module.stripped();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the structure of the module was checked; the compiler guarantees its validity beyond that.
        program.module = unsafe { device.raw.create_shader_module(&info, None) }.map_err(failed)?;
        program.key = Key::new(&device.identity, &words);
        let entry = device.cache.as_ref().and_then(|cache| cache.load(program.key));
        // Other drivers' data must not reach this driver.
        let is_own = |stored: &Stored| stored.data.starts_with(&device.identity);
        let stored = entry.and_then(|bytes| Stored::from_bytes(&bytes)).filter(is_own).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&stored.data);
        // SAFETY: the data is empty, or was produced by this driver and is known to be intact.
        program.cache = unsafe { device.raw.create_pipeline_cache(&info, None) }.map_err(failed)?;
        for kernel in kernels {
            program.add_kernel(kernel)?;
        }
        program.build_in_advance(&stored);
        program.stored = Mutex::new(stored);
        Ok(program)
    }

    /// Builds the pipelines that the launches of the last such program used.
    fn build_in_advance(&self, stored: &Stored) {
        for (index, specialization) in &stored.used {
            if let Some(kernel) = self.kernels.get(*index as usize) {
                // A launch reports the failure.
                let _ = self.build(kernel, &mut kernel.pipelines(), specialization, false);
            }
        }
    }

    fn add_kernel(&mut self, kernel: KernelLayout) -> Result<()> {
        let bad = |reason: String| Error::BadModule { reason: format!("kernel `{}` {reason}", kernel.name) };
        let raw = &self.device.raw;
        let failed = |result| self.device.failure("preparing a kernel", result, 0);
        BindingLimits::new(&self.device.limits).check(&kernel.bindings).map_err(bad)?;
        let mut by_set: BTreeMap<u32, Vec<vk::DescriptorSetLayoutBinding<'_>>> = BTreeMap::new();
        for binding in &kernel.bindings {
            if binding.set >= self.device.limits.max_bound_descriptor_sets {
                return Err(bad(format!("binds to set {}, which the device does not have", binding.set)));
            }
            by_set.entry(binding.set).or_default().push(
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding.binding)
                    .descriptor_type(descriptor_type(binding.class))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE),
            );
        }
        let count = by_set.keys().last().map_or(0, |set| set + 1);
        let name = CString::new(&*kernel.name).map_err(|_| bad("has a zero in its name".to_owned()))?;
        // From here on, dropping the program destroys what was created.
        self.kernels.push(Kernel {
            name,
            layout: vk::PipelineLayout::null(),
            sets: Vec::new(),
            bindings: kernel.bindings.clone(),
            pipelines: Mutex::default(),
        });
        let last = self.kernels.len() - 1;
        let made = &mut self.kernels[last];
        for set in 0..count {
            let bindings = by_set.get(&set).map(Vec::as_slice).unwrap_or_default();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
            // SAFETY: the bindings outlive the call.
            made.sets.push(unsafe { raw.create_descriptor_set_layout(&info, None) }.map_err(failed)?);
        }
        // Covers all push constants, because a module may declare more than the kernel's own values.
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: self.device.limits.max_push_constants_size,
        }];
        let info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&made.sets).push_constant_ranges(&ranges);
        // SAFETY: the set layouts belong to the device; sizes were checked against its limits.
        made.layout = unsafe { raw.create_pipeline_layout(&info, None) }.map_err(failed)?;
        Ok(())
    }

    pub(super) fn kernel(&self, index: usize) -> &Kernel {
        &self.kernels[index]
    }

    /// The pipeline of a kernel for a launch with these constants.
    pub(super) fn pipeline(&self, index: usize, specialization: &Specialization) -> Result<vk::Pipeline> {
        let kernel = &self.kernels[index];
        let mut pipelines = kernel.pipelines();
        if let Some(pipeline) = pipelines.get_mut(specialization) {
            pipeline.is_used = true;
            return Ok(pipeline.handle);
        }
        let begin = Instant::now();
        let built = self.build(kernel, &mut pipelines, specialization, true)?;
        drop(pipelines);
        if begin.elapsed() > SLOW_BUILD {
            self.store();
        }
        Ok(built)
    }

    /// Builds a pipeline.
    fn build(
        &self,
        kernel: &Kernel,
        pipelines: &mut FxHashMap<Specialization, Pipeline>,
        specialization: &Specialization,
        is_used: bool,
    ) -> Result<vk::Pipeline> {
        let mut data = Vec::with_capacity(4 * specialization.len());
        let mut entries = Vec::with_capacity(specialization.len());
        for (id, value) in specialization.iter() {
            entries.push(vk::SpecializationMapEntry {
                constant_id: id.0,
                offset: data.len() as u32,
                size: size_of::<u32>(),
            });
            data.extend_from_slice(&value.to_ne_bytes());
        }
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(&kernel.name)
            .specialization_info(&constants);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(kernel.layout)];
        let _code = self.device.exclude_submissions();
        // SAFETY: the module has this entry point (reflection checked it), and all that `info` points to outlives the
        // call.
        let built = unsafe { self.device.raw.create_compute_pipelines(self.cache, &info, None) };
        match built.as_deref() {
            Ok(&[handle]) => {
                pipelines.insert(specialization.clone(), Pipeline { handle, is_used });
                Ok(handle)
            }
            Ok(_) => Err(self.build_error(kernel, vk::Result::ERROR_UNKNOWN)),
            Err((_, result)) => Err(self.build_error(kernel, *result)),
        }
    }

    /// The pipelines that launches used, in order.
    fn used(&self) -> Vec<(u32, Specialization)> {
        let mut all = Vec::new();
        for (index, kernel) in self.kernels.iter().enumerate() {
            let pipelines = kernel.pipelines();
            let mut used: Vec<_> = pipelines.iter().filter(|(_, pipeline)| pipeline.is_used).collect();
            used.sort_by_key(|(specialization, _)| *specialization);
            all.extend(used.into_iter().take(MAX_USED).map(|(it, _)| (index as u32, it.clone())));
        }
        all
    }

    /// Stores the pipelines on disk for later processes.
    fn store(&self) {
        let Some(cache) = self.device.cache.as_ref() else { return };
        let used = self.used();
        if used.is_empty() {
            return;
        }
        // SAFETY: the cache exists, because something was built. The driver synchronizes it with builds of other threads.
        let data = match unsafe { self.device.raw.get_pipeline_cache_data(self.cache) } {
            Ok(data) => data,
            Err(result) => return tracing::warn!("the driver does not return the built kernel: {result}"),
        };
        let new = Stored { used, data };
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if *stored != new && new.data.starts_with(&self.device.identity) {
            cache.store(self.key, &new.to_bytes());
            *stored = new;
        }
    }

    fn build_error(&self, kernel: &Kernel, result: vk::Result) -> Error {
        match self.device.failure("building a kernel", result, 0) {
            Error::Driver { detail, .. } => {
                Error::Build { kernel: kernel.name.to_string_lossy().into_owned(), detail }
            }
            error => error,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.store();
        let _code = self.device.exclude_submissions();
        let raw = &self.device.raw;
        // SAFETY: commands hold the program until they are complete. Null handles are allowed.
        unsafe {
            for kernel in &self.kernels {
                for pipeline in kernel.pipelines().values() {
                    raw.destroy_pipeline(pipeline.handle, None);
                }
                raw.destroy_pipeline_layout(kernel.layout, None);
                for set in &kernel.sets {
                    raw.destroy_descriptor_set_layout(*set, None);
                }
            }
            raw.destroy_pipeline_cache(self.cache, None);
            raw.destroy_shader_module(self.module, None);
        }
    }
}
