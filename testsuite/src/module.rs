//! What must be true of every module: our verifier finds nothing, and spirv-val agrees.

use std::{fs, path::Path, process::Command};

use kiln_compiler::{opencl::Environment, target::Target, verify};

use crate::{kiln::LIMIT, process};

/// Checks a module that was written for this environment, `vulkan` or `opencl`.
pub fn check(path: &Path, environment: &str) -> Result<(), String> {
    let (kind, version) = match environment {
        "vulkan" => (Environment::Vulkan, "vulkan1.3"),
        "opencl" => (Environment::OpenCl, "opencl2.2"),
        other => return Err(format!("there is no environment `{other}`")),
    };
    let findings = verify::verify(&words(path)?, Some(&Target::full(kind)));
    if !findings.is_empty() {
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        return Err(format!("the module for {environment} is wrong:\n{}", list.join("\n")));
    }
    let mut validator = Command::new("spirv-val");
    validator.args(["--target-env", version]).arg(path);
    let finished = process::run(&mut validator, b"", LIMIT)
        .map_err(|e| format!("{e} (`cargo xtask setup --tests` installs it)"))?;
    if !finished.status.success() || !finished.stderr.is_empty() {
        let text = finished.text();
        return Err(format!("spirv-val refuses the module for {environment}:\n{}{text}", finished.stderr));
    }
    Ok(())
}

/// The words of a module in a file.
pub fn words(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    if !bytes.len().is_multiple_of(4) {
        return Err(format!("a module of {} bytes is not made of words", bytes.len()));
    }
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
