//! What spirv-val says of the modules that Kiln writes.

use std::path::Path;

use crate::limited::{End, Limits, run};

/// Why spirv-val refuses a module for this environment, if it does.
pub(crate) fn refusal(module: &Path, environment: &str, limits: Limits) -> Result<Option<String>, String> {
    let version = if environment == "vulkan" { "vulkan1.3" } else { "opencl2.2" };
    let refusal = validate(module, version, limits)?;
    Ok(match refusal {
        // It knows OpenCL without extensions; what else is wrong, the plain rules of SPIR-V tell.
        Some(text) if text.contains("Capability Float16 is not allowed by OpenCL") => {
            validate(module, "spv1.2", limits)?
        }
        // A source without kernels makes a module without a beginning.
        Some(text) if text.contains("No OpEntryPoint instruction was found") => None,
        other => other,
    })
}

fn validate(module: &Path, version: &str, limits: Limits) -> Result<Option<String>, String> {
    let words = ["--target-env".as_ref(), version.as_ref(), module.as_os_str()];
    let ended = run(Path::new("spirv-val"), &words, limits)?;
    Ok((ended.end != End::Code(0)).then(|| match ended.text.lines().next() {
        Some(line) => line.to_owned(),
        None => format!("spirv-val ended with {:?}", ended.end),
    }))
}
