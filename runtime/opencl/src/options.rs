//! The options of `clBuildProgram`, `clCompileProgram` and `clLinkProgram` (OpenCL API 5.8.6, 5.8.7).

use kiln_build::flags;
use kiln_compiler::diag::WarningSwitch;
use kiln_compiler::opencl::{LanguageVersion, Overflow};
use kiln_compiler::session::Options;
use kiln_runtime::extensions::Extension;

use crate::device::Device;

/// The parsed options of a build.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The compiler's options.
    pub(crate) options: Options,
    /// Whether work-groups may differ in size at the edges (OpenCL C 2.0 and later).
    pub(crate) has_partial_groups: bool,
    /// `-cl-uniform-work-group-size`
    is_uniform: bool,
    /// `-create-library`
    pub(crate) is_library: bool,
    /// `-enable-link-options`
    has_link_options: bool,
}

impl Parsed {
    /// The options for a module, whose language is not an option: groups may differ in size without `-cl-uniform-work-group-size`.
    pub(crate) fn with_partial_groups(self) -> Self {
        Self { has_partial_groups: !self.is_uniform, ..self }
    }

    /// Whether some of the options are of `clLinkProgram` only.
    pub(crate) fn is_for_linking(&self) -> bool {
        self.is_library || self.has_link_options
    }
}

/// Parses the options for a device; `None` if one of them is unknown or incomplete.
pub(crate) fn parse(text: &str, device: &Device) -> Option<Parsed> {
    let info = device.description();
    let mut options = Options {
        // Programs that choose no version get the newest OpenCL C 1.x (OpenCL API 5.8.6.5).
        std: LanguageVersion::Cl12,
        target: device.target(),
        argument_info: true,
        // The reference device reports source lines.
        debug: info.is_strict,
        ..Options::default()
    };
    // Any image that a kernel writes can be an sRGB image.
    options.extensions.push((Extension::KhrSrgbWrites.name().to_owned(), device.has(Extension::Images)));
    if device.is_reference() {
        options.overflow = Overflow::Marked;
    }
    // Other compilers accept this scope on atomic operations, and these conversions; programs use both.
    for accepted in ["no-error=scope-work-item", "no-error=incompatible-pointers"] {
        options.warnings.switches.push(WarningSwitch::parse(accepted));
    }
    let mut is_uniform = false;
    let (mut is_library, mut has_link_options) = (false, false);
    for word in flags::apply(text, &mut options).ok()? {
        match word.as_str() {
            "-cl-uniform-work-group-size" => is_uniform = true,
            "-create-library" => is_library = true,
            "-enable-link-options" => has_link_options = true,
            "-cl-strict-aliasing" | "-cl-no-subgroup-ifp" => {}
            _ => return None,
        }
    }
    if options.std >= LanguageVersion::Cl31 && device.minor() < 1 {
        return None;
    }
    let has_partial_groups = options.std >= LanguageVersion::Cl20 && !is_uniform;
    Some(Parsed { options, has_partial_groups, is_uniform, is_library, has_link_options })
}

/// Whether all words are options of the linker (OpenCL API 5.8.7).
pub(crate) fn are_linker_options(text: &str) -> bool {
    let known = [
        "-create-library",
        "-enable-link-options",
        "-cl-denorms-are-zero",
        "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only",
        "-cl-fast-relaxed-math",
        "-cl-no-subgroup-ifp",
        "-cl-mad-enable",
    ];
    flags::words(text).is_some_and(|words| {
        let needs = |option: &str| words.iter().any(|word| word == option);
        words.iter().all(|word| known.contains(&word.as_str()))
            && (!needs("-enable-link-options") || needs("-create-library"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_has_few_options() {
        assert!(are_linker_options("-create-library -enable-link-options"));
        assert!(!are_linker_options("-enable-link-options"));
        assert!(!are_linker_options("-D A"));
        assert!(are_linker_options(""));
    }
}
