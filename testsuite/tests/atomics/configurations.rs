//! The language versions and targets for which the calls are compiled.

use kiln_compiler::{
    diag::WarningOptions,
    opencl::{Environment, LanguageVersion},
    session::Options,
    target::{Features, Target},
};

use super::rules::Has;

/// A version, a target, and extensions.
pub(crate) struct Configuration {
    /// For messages.
    pub(crate) name: String,
    pub(crate) std: LanguageVersion,
    pub(crate) target: Target,
    extensions: Vec<(String, bool)>,
}

impl Configuration {
    pub(crate) fn options(&self) -> Options {
        Options {
            std: self.std,
            target: self.target.clone(),
            extensions: self.extensions.clone(),
            warnings: WarningOptions { none: true, error_limit: 0, ..WarningOptions::default() },
            ..Options::default()
        }
    }

    /// The available features, by OpenCL C 6.15.12.10 and the options.
    pub(crate) fn has(&self) -> Has {
        let is_on = |name: &str| {
            let switch = self.extensions.iter().rev().find(|(known, _)| known == name);
            switch.is_none_or(|(_, is_on)| *is_on)
        };
        let features = &self.target.features;
        Has {
            features: self.std == LanguageVersion::Cl30,
            acq_rel: is_on("__opencl_c_atomic_order_acq_rel"),
            seq_cst: is_on("__opencl_c_atomic_order_seq_cst"),
            device: is_on("__opencl_c_atomic_scope_device"),
            all_devices: is_on("__opencl_c_atomic_scope_all_devices"),
            sub_groups: features.subgroups,
        }
    }

    /// Whether there are atomic types of this type.
    pub(crate) fn has_type(&self, ty: &str) -> bool {
        let features = &self.target.features;
        let wide = features.int64_global_atomics && features.int64_local_atomics;
        match ty {
            "long" | "ulong" | "intptr_t" | "uintptr_t" | "size_t" | "ptrdiff_t" => wide,
            "double" => wide && features.fp64,
            _ => true,
        }
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Configuration> {
    let (vulkan, opencl) = (Environment::Vulkan, Environment::OpenCl);
    let with = |change: fn(&mut Features)| {
        let mut target = Target::full(vulkan);
        change(&mut target.features);
        target
    };
    let targets = [
        ("vulkan", Target::full(vulkan)),
        ("opencl", Target::full(opencl)),
        ("no-device-scope", with(|it| it.device_scope = false)),
        ("no-chains", with(|it| it.availability_chains = false)),
        ("no-sub-groups", with(|it| it.subgroups = false)),
        (
            "no-int64-atomics",
            with(|it| {
                it.int64_global_atomics = false;
                it.int64_local_atomics = false;
            }),
        ),
        ("no-float-atomics", with(|it| it.float32_atomic_add = false)),
        ("no-variable-pointers", with(|it| it.variable_pointers = false)),
        ("no-int64", with(no_int64)),
        ("swiftshader", with(swiftshader)),
        ("minimal", Target::minimal(vulkan)),
    ];
    let mut all = Vec::new();
    for (name, target) in targets {
        for std in [LanguageVersion::Cl20, LanguageVersion::Cl30] {
            let name = format!("{name} {}", std.spelling());
            all.push(Configuration { name, std, target: target.clone(), extensions: Vec::new() });
        }
    }
    for feature in
        ["atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device", "atomic_scope_all_devices"]
    {
        all.push(Configuration {
            name: format!("without {feature}"),
            std: LanguageVersion::Cl30,
            target: Target::full(vulkan),
            extensions: vec![(format!("__opencl_c_{feature}"), false)],
        });
    }
    all
}

fn no_int64(features: &mut Features) {
    features.int64 = false;
    features.int64_global_atomics = false;
    features.int64_local_atomics = false;
}

/// 32-bit integers and floats, and the whole memory model.
fn swiftshader(features: &mut Features) {
    *features =
        Features { device_scope: true, availability_chains: true, subgroups: true, ..Features::minimal() };
}
