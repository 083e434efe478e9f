//! The loader, the instance, and the validation layer with its messages.
//!
//! Owns the instance. Must not depend on what a device supports (`features.rs`).

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use ash::{ext, khr, vk};

use super::device;
use super::failure;
use super::features;
use crate::backend::Backend;
use crate::cache::Cache;
use crate::capabilities::DeviceInfo;
use crate::device::Validation;
use crate::error::{Error, Result};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The Vulkan implementation of this machine.
pub(crate) struct Instance {
    shared: Arc<Shared>,
}

/// The part that devices share; it lives as long as any device.
pub(super) struct Shared {
    pub(super) raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Boxed, because the layer keeps a pointer to it.
    messages: Box<Messages>,
    physical_devices: Vec<vk::PhysicalDevice>,
    /// Keeps the loader loaded; dropped last.
    entry: ash::Entry,
}

type Messages = Mutex<Vec<String>>;

/// Whether the loader hides MoltenVK unless the instance enables portability.
fn has_portability(entry: &ash::Entry) -> bool {
    // SAFETY: the entry is loaded, and no layer is named.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
    extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(khr::portability_enumeration::NAME))
}

impl Instance {
    pub(crate) fn new(validation: Validation) -> Result<Self> {
        // SAFETY: the library is the system's Vulkan loader, whose initialization has no preconditions.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error::NoLoader { detail: error.to_string() })?;
        let mut layers = Vec::new();
        let mut extensions = Vec::new();
        if validation != Validation::Off {
            // SAFETY: the entry is loaded.
            let available = unsafe { entry.enumerate_instance_layer_properties() }
                .map_err(|result| failure("listing layers", result))?;
            if !available.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
                return Err(Error::NoValidationLayer);
            }
            layers.push(VALIDATION_LAYER.as_ptr());
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        if validation == Validation::Synchronization {
            extensions.push(ext::validation_features::NAME.as_ptr());
        }
        let mut flags = vk::InstanceCreateFlags::empty();
        if cfg!(target_vendor = "apple") && has_portability(&entry) {
            extensions.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut more = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
        let application =
            vk::ApplicationInfo::default().application_name(c"kiln").api_version(vk::API_VERSION_1_3);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if validation == Validation::Synchronization {
            info = info.push_next(&mut more);
        }
        // SAFETY: every name and structure that `info` points to outlives the call.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDriver,
            result => failure("creating an instance", result),
        })?;
        let mut shared =
            Shared { raw, messenger: None, messages: Box::default(), physical_devices: Vec::new(), entry };
        if validation != Validation::Off {
            shared.register_messenger()?;
        }
        // SAFETY: the instance is valid.
        shared.physical_devices = unsafe { shared.raw.enumerate_physical_devices() }
            .map_err(|result| failure("listing devices", result))?;
        if shared.physical_devices.is_empty() {
            return Err(Error::NoDriver);
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn devices(&self) -> Result<Vec<DeviceInfo>> {
        let describe = |(index, physical)| {
            Ok(features::QueriedFeatures::new(&self.shared.raw, physical)?.describe(index))
        };
        self.shared.physical_devices.iter().copied().enumerate().map(describe).collect()
    }

    /// Opens a listed device.
    pub(crate) fn open(&self, info: &DeviceInfo, cache: Option<Cache>) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.open_handle(info, cache)?))
    }

    pub(super) fn open_handle(&self, info: &DeviceInfo, cache: Option<Cache>) -> Result<device::Handle> {
        let physical = self.shared.physical_devices[info.index];
        device::Handle::open(&self.shared, physical, info, cache)
    }

    pub(crate) fn take_messages(&self) -> Vec<String> {
        self.shared.take_messages()
    }

    #[cfg(test)]
    pub(super) fn raw(&self) -> &ash::Instance {
        &self.shared.raw
    }
}

impl Shared {
    fn register_messenger(&mut self) -> Result<()> {
        let debug = ext::debug_utils::Instance::new(&self.entry, &self.raw);
        let messages: *const Messages = &raw const *self.messages;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect))
            .user_data(messages as *mut c_void);
        // SAFETY: `messages` is boxed and outlives the messenger, which `drop` destroys first.
        let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) }
            .map_err(|result| failure("registering for validation messages", result))?;
        self.messenger = Some((debug, messenger));
        Ok(())
    }

    /// Whether the clock of a device with `VK_EXT_calibrated_timestamps` can be compared with others.
    pub(super) fn calibrates(&self, physical: vk::PhysicalDevice) -> bool {
        let api = ext::calibrated_timestamps::Instance::new(&self.entry, &self.raw);
        // SAFETY: the physical device belongs to the instance and has the extension.
        let domains = unsafe { api.get_physical_device_calibrateable_time_domains(physical) };
        domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainEXT::DEVICE))
    }

    pub(super) fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Stores the layer's messages, and forwards them to `tracing`.
unsafe extern "system" fn collect(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid callback data, whose message lives during the call.
    let text = unsafe { data.as_ref().and_then(|data| data.message_as_c_str()) };
    let text = text.map(CStr::to_string_lossy).unwrap_or_default().into_owned();
    tracing::warn!(target: "kiln::validation", "{text}");
    // SAFETY: this is the pointer given in `register_messenger`, valid while the messenger exists.
    if let Some(messages) = unsafe { messages.cast::<Messages>().as_ref() } {
        messages.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
    vk::FALSE
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: devices hold the instance, so none is left; this instance created the messenger.
        unsafe {
            if let Some((debug, messenger)) = self.messenger.take() {
                debug.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}
