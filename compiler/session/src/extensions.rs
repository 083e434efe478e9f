//! The extensions and features of a compilation, as defined in `kiln_vocabulary::extensions`, and conditions on them.

pub use kiln_vocabulary::extensions::{Extension, Extensions};

use kiln_vocabulary::opencl::LanguageVersion;

use crate::Options;

/// The extensions and features of a compilation.
pub fn enabled(options: &Options) -> Extensions {
    Extensions::enabled_for(options.std, &options.target, &options.extensions)
}

/// Whether this names a vendor extension, or a Khronos extension of the host API. Programs enable those without testing
/// for them, so an unknown one is not an error.
pub fn is_foreign(name: &str) -> bool {
    const VENDORS: [&str; 13] = [
        "amd", "nv", "intel", "arm", "apple", "APPLE", "qcom", "img", "pocl", "altera", "xilinx", "ti",
        "clang",
    ];
    const HOST: [&str; 13] = [
        "cl_khr_gl_sharing",
        "cl_khr_gl_event",
        "cl_khr_gl_depth_images",
        "cl_khr_d3d10_sharing",
        "cl_khr_d3d11_sharing",
        "cl_khr_dx9_media_sharing",
        "cl_khr_egl_image",
        "cl_khr_egl_event",
        "cl_khr_icd",
        "cl_khr_il_program",
        "cl_khr_spir",
        "cl_khr_priority_hints",
        "cl_khr_initialize_memory",
    ];
    let vendor = name.strip_prefix("cl_").and_then(|rest| rest.split_once('_')).map(|(vendor, _)| vendor);
    HOST.contains(&name) || vendor.is_some_and(|vendor| VENDORS.contains(&vendor))
}

/// A condition for availability: a range of language versions and a set of extensions. All parts must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The first version.
    pub since: Option<LanguageVersion>,
    /// The first version that no longer satisfies the condition.
    pub before: Option<LanguageVersion>,
    /// Requires all of these.
    pub with: Extensions,
    /// Requires none of these.
    pub without: Extensions,
}

impl Condition {
    /// The condition that always holds.
    pub const ALWAYS: Self =
        Self { since: None, before: None, with: Extensions::NONE, without: Extensions::NONE };

    /// From this version on.
    pub const fn since(version: LanguageVersion) -> Self {
        Self { since: Some(version), ..Self::ALWAYS }
    }

    /// The condition with this extension added.
    pub const fn with(mut self, extension: Extension) -> Self {
        self.with.insert(extension);
        self
    }

    /// Whether the condition holds.
    pub fn holds(&self, version: LanguageVersion, extensions: Extensions) -> bool {
        self.since.is_none_or(|since| version >= since)
            && self.before.is_none_or(|before| version < before)
            && extensions.contains(self.with)
            && extensions.is_disjoint(self.without)
    }

    /// The missing requirements, for a message: "OpenCL C 2.0 and cl_khr_fp64".
    pub fn missing(&self, version: LanguageVersion, extensions: Extensions) -> Vec<String> {
        let mut missing = Vec::new();
        let name = |version: LanguageVersion| format!("OpenCL C {}", &version.spelling()[2..]);
        missing.extend(self.since.filter(|since| version < *since).map(name));
        missing.extend(
            self.before
                .filter(|before| version >= *before)
                .map(|it| format!("a version before {}", name(it))),
        );
        missing.extend(self.with.without(extensions).iter().map(|it| it.name().to_owned()));
        missing
    }
}

/// The shortest list of missing requirements among alternative conditions. `None` if one of them holds.
pub fn missing(
    conditions: &[Condition],
    version: LanguageVersion,
    extensions: Extensions,
) -> Option<Vec<String>> {
    if conditions.iter().any(|condition| condition.holds(version, extensions)) {
        return None;
    }
    conditions.iter().map(|condition| condition.missing(version, extensions)).min_by_key(Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use LanguageVersion::{Cl12, Cl20};

    #[test]
    fn extensions_of_others_are_known() {
        assert!(
            is_foreign("cl_amd_printf_x") && is_foreign("cl_khr_gl_sharing") && !is_foreign("cl_khr_none")
        );
    }

    #[test]
    fn shortest_list_of_missing_requirements() {
        let conditions = [
            Condition::since(Cl20).with(Extension::KhrFp64).with(Extension::KhrDepthImages),
            Condition::since(Cl20).with(Extension::KhrFp16),
        ];
        let none = Extensions::NONE;
        assert_eq!(missing(&conditions, Cl12, none).unwrap(), ["OpenCL C 2.0", "cl_khr_fp16"]);
        assert_eq!(missing(&conditions, Cl20, none).unwrap(), ["cl_khr_fp16"]);
        assert_eq!(missing(&conditions, Cl20, Extensions::all(Cl20)), None);
    }
}
