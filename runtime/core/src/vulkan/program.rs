//! Programs: the shader module, the layouts of its kernels, and their pipelines for each specialization.
//!
//! Owns pipelines. Must not depend on commands.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use rustc_hash::FxHashMap;

use super::bindings::BindingLimits;
use super::device::Device;
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
    known: Vec<u8>,
}

/// The parts of a kernel that do not depend on the specialization.
pub(super) struct Kernel {
    name: CString,
    pub(super) layout: vk::PipelineLayout,
    /// The layouts of sets 0, 1, ….
    pub(super) sets: Vec<vk::DescriptorSetLayout>,
    pub(super) bindings: Vec<Binding>,
    /// The pipelines built so far.
    pipelines: Mutex<FxHashMap<Specialization, vk::Pipeline>>,
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
    fn pipelines(&mut self) -> &mut FxHashMap<Specialization, vk::Pipeline> {
        self.pipelines.get_mut().unwrap_or_else(PoisonError::into_inner)
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
            known: Vec::new(),
        };
        let words = module.stripped();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the structure of the module was checked; the compiler guarantees its validity beyond that.
        program.module = unsafe { device.raw.create_shader_module(&info, None) }.map_err(failed)?;
        program.key = Key::new(&device.identity, &words);
        let known = device.cache.as_ref().and_then(|cache| cache.load(program.key)).unwrap_or_default();
        // Other drivers' data must not reach this driver.
        let known = if known.starts_with(&device.identity) { known } else { Vec::new() };
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&known);
        // SAFETY: the data is empty, or was produced by this driver and is known to be intact.
        program.cache = unsafe { device.raw.create_pipeline_cache(&info, None) }.map_err(failed)?;
        program.known = known;
        for kernel in kernels {
            program.add_kernel(kernel)?;
        }
        Ok(program)
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

    /// The pipeline of a kernel for these constants, built on first use.
    pub(super) fn pipeline(&self, index: usize, specialization: &Specialization) -> Result<vk::Pipeline> {
        let kernel = &self.kernels[index];
        let mut pipelines = kernel.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(specialization) {
            return Ok(*pipeline);
        }
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
            Ok(&[pipeline]) => {
                pipelines.insert(specialization.clone(), pipeline);
                Ok(pipeline)
            }
            Ok(_) => Err(self.build_error(kernel, vk::Result::ERROR_UNKNOWN)),
            Err((_, result)) => Err(self.build_error(kernel, *result)),
        }
    }

    /// Stores the driver's pipeline cache on disk for later processes.
    fn store_cache(&mut self) {
        let built = self.kernels.iter_mut().any(|kernel| !kernel.pipelines().is_empty());
        let Some(cache) = self.device.cache.as_ref().filter(|_| built) else { return };
        // SAFETY: the cache exists if anything was built, and is not in use concurrently.
        match unsafe { self.device.raw.get_pipeline_cache_data(self.cache) } {
            Ok(data) if data != self.known && data.starts_with(&self.device.identity) => {
                cache.store(self.key, &data);
            }
            Ok(_) => {}
            Err(result) => tracing::warn!("the driver does not return the built kernel: {result}"),
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
        self.store_cache();
        let _code = self.device.exclude_submissions();
        let raw = &self.device.raw;
        // SAFETY: commands hold the program until they are complete. Null handles are allowed.
        unsafe {
            for kernel in &mut self.kernels {
                for pipeline in kernel.pipelines().values() {
                    raw.destroy_pipeline(*pipeline, None);
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
