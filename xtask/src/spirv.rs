//! Validates Kiln's modules with spirv-val.

use std::path::Path;

use crate::limited::{End, Limits, run};

/// Why spirv-val rejects a module for this environment, if it does.
pub(crate) fn rejection(module: &Path, environment: &str, limits: Limits) -> Result<Option<String>, String> {
    let version = if environment == "vulkan" { "vulkan1.3" } else { "opencl2.2" };
    let rejection = validate(module, version, limits)?;
    Ok(match rejection {
        // spirv-val supports OpenCL 2.2 without extensions; a second run checks the universal rules.
        Some(text) if environment == "opencl" && exceeds_spirv_val(&text) => {
            validate(module, "spv1.5", limits)?
        }
        // A source without kernels produces a module without entry points.
        Some(text) if text.contains("No OpEntryPoint instruction was found") => None,
        other => other,
    })
}

/// Whether spirv-val rejects a module only because it does not support OpenCL 3.0 and its extensions: half arithmetic,
/// 64-bit atomics, and the sub-group operations of SPIR-V 1.3.
fn exceeds_spirv_val(rejection: &str) -> bool {
    let unsupported = [
        "Capability Float16 is not allowed",
        "Capability Int64Atomics is not allowed",
        "Invalid SPIR-V binary version",
    ];
    unsupported.iter().any(|text| rejection.contains(text))
}

fn validate(module: &Path, version: &str, limits: Limits) -> Result<Option<String>, String> {
    let words = ["--target-env".as_ref(), version.as_ref(), module.as_os_str()];
    let ended = run(Path::new("spirv-val"), &words, limits)?;
    Ok((ended.end != End::Code(0)).then(|| match ended.text.lines().next() {
        Some(line) => line.to_owned(),
        None => format!("spirv-val ended with {:?}", ended.end),
    }))
}
