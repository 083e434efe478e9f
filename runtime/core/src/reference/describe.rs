//! The properties of the two reference devices.

use kiln_vocabulary::target;

use super::image;
use crate::capabilities::{
    Capabilities, DeviceInfo, DeviceKind, Environment, Features, Identity, Scope, SubGroups, orders, scopes,
};

const LOCAL_MEMORY: u32 = 64 << 10;
const MAX_WORK_GROUP_SIZE: u32 = 1024;
const MAX_MEMORY: u64 = 16 << 30;
const MAX_PARAMETER_SIZE: u32 = 8192;
/// The maximum size of execution state and arguments.
const MAX_ARGUMENT_BYTES: u32 = 16384;
/// The minimum that Vulkan guarantees, so that kernels with many arguments use a uniform buffer here too.
pub(super) const PUSH_CONSTANTS: u32 = 128;

const SUB_GROUP_EXTENSIONS: &[&str] = &[
    "cl_khr_subgroups",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce",
];

/// The size of global memory: a quarter of the host's memory, because programs have copies of their buffers.
fn global_memory() -> u64 {
    #[cfg(target_os = "linux")]
    let host = {
        let info = rustix::system::sysinfo();
        // Words of the system's size.
        #[allow(clippy::useless_conversion, reason = "the size depends on the target")]
        u64::from(info.totalram).saturating_mul(info.mem_unit.into())
    };
    #[cfg(not(target_os = "linux"))]
    let host = u64::MAX;
    (host / 4).min(MAX_MEMORY)
}

/// The name that selects a device.
const fn name(environment: Environment) -> &'static str {
    match environment {
        Environment::OpenCl => "Kiln reference device",
        Environment::Vulkan => "Kiln vulkan-reference device",
    }
}

/// Whether a selector with this part of a name means a reference device: it also has to contain the word that no driver
/// uses.
pub(crate) fn is_part_of_name(part: &str) -> bool {
    let part = part.to_lowercase();
    let names =
        [Environment::OpenCl, Environment::Vulkan].map(|environment| name(environment).to_lowercase());
    part.contains("reference") && names.iter().any(|name| name.contains(&part))
}

/// The start of a text, which identifies a device or a driver.
fn identifier(text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(text.bytes()).for_each(|(byte, letter)| *byte = letter);
    bytes
}

/// The entry in the device list.
pub(crate) fn describe(index: usize, environment: Environment) -> DeviceInfo {
    let target = target::Features {
        push_constant_size: match environment {
            Environment::OpenCl => MAX_ARGUMENT_BYTES,
            Environment::Vulkan => PUSH_CONSTANTS,
        },
        read_images: image::MAX_BOUND,
        written_images: image::MAX_BOUND,
        float_controls_denorm_preserve32: true,
        float_controls_denorm_preserve16: true,
        float_controls_denorm_preserve64: true,
        float_controls_rte32: true,
        float_controls_rte16: true,
        float_controls_rte64: true,
        ..target::Features::full()
    };
    let features = Features {
        target,
        spirv: (1, 6),
        subgroup_vote: true,
        subgroup_arithmetic: true,
        subgroup_ballot: true,
        subgroup_shuffle: true,
        subgroup_shuffle_relative: true,
        subgroup_clustered: true,
        subgroup_extended_types: true,
        local_memory: LOCAL_MEMORY,
    };
    let extensions = features.extensions(environment);
    let (orders, scopes) = (orders(extensions), scopes(extensions));
    DeviceInfo {
        index,
        name: name(environment).to_owned(),
        driver: format!("in this process, {}", env!("CARGO_PKG_VERSION")),
        kind: DeviceKind::Other,
        identity: Identity {
            device: identifier(name(environment)),
            driver: identifier(concat!("Kiln ", env!("CARGO_PKG_VERSION"))),
            local: None,
        },
        environment,
        is_strict: true,
        capabilities: Capabilities {
            atomic_orders: orders.clone(),
            atomic_scopes: scopes.clone(),
            fence_orders: orders,
            fence_scopes: [vec![Scope::WorkItem], scopes].concat(),
            int64_global_atomics: true,
            int64_local_atomics: true,
            float_atomic_add: true,
            int64: true,
            fp16: true,
            fp64: true,
            sub_groups: Some(SubGroups {
                max_size: kiln_reference::SUB_GROUP_SIZE,
                extensions: match environment {
                    Environment::OpenCl => vec!["cl_khr_subgroups"],
                    Environment::Vulkan => SUB_GROUP_EXTENSIONS.to_vec(),
                },
            }),
            images: Some(image::LIMITS),
            max_work_group_size: MAX_WORK_GROUP_SIZE,
            max_work_item_sizes: [MAX_WORK_GROUP_SIZE; 3],
            local_memory: LOCAL_MEMORY.into(),
            global_memory: global_memory(),
            max_allocation: global_memory(),
            max_parameter_size: MAX_PARAMETER_SIZE,
            unified_memory: true,
            host_memory_alignment: None,
            // The host does not run concurrently with kernels: each command runs synchronously.
            svm_atomics: false,
            // A launch with checks runs on one thread.
            compute_units: Some(1),
            timer_resolution: 1.0,
        },
        features,
        known_driver: None,
        lacks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Instance, Options, Selector};

    /// How many devices an instance for this device has, other than the reference devices.
    fn drivers_devices(selector: &str) -> usize {
        let instance =
            Instance::for_device(Options::default(), &Selector::from(selector)).expect("an instance");
        instance.devices().iter().filter(|info| !info.is_strict).count()
    }

    #[test]
    fn reference_devices_need_no_driver() {
        for selector in ["reference", "Vulkan-Reference", "kiln reference device"] {
            assert_eq!(drivers_devices(selector), 0, "{selector}");
        }
        let all = Instance::new(Options::default()).expect("an instance").devices().len() - 2;
        for selector in ["kiln", "0", "reference 2"] {
            assert_eq!(drivers_devices(selector), all, "{selector}");
        }
    }
}
