//! What must be true of every module: our verifier finds nothing, and spirv-val agrees.

use std::{fs, path::Path, process::Command};

use kiln_compiler::{opencl::Environment, target::Target, verify};

use crate::{kiln::LIMIT, process};

/// The version of SPIR-V that OpenCL 2.2 takes, as a module's second word has it.
const OPENCL_22: u32 = 0x0001_0200;

/// Checks a module that was written for this environment, `vulkan` or `opencl`.
pub fn check(path: &Path, environment: &str) -> Result<(), String> {
    let (kind, version) = match environment {
        "vulkan" => (Environment::Vulkan, "vulkan1.3"),
        "opencl" => (Environment::OpenCl, "opencl2.2"),
        other => return Err(format!("there is no environment `{other}`")),
    };
    let words = words(path)?;
    // OpenCL 2.2 takes SPIR-V 1.2; what OpenCL 3.0 has of later versions is held to that version alone.
    let version = if kind == Environment::OpenCl && words.get(1).is_some_and(|&it| it > OPENCL_22) {
        "spv1.5"
    } else {
        version
    };
    let findings = verify::verify(&words, Some(&Target::full(kind)));
    if !findings.is_empty() {
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        return Err(format!("the module for {environment} is wrong:\n{}", list.join("\n")));
    }
    let finding = spirv_val(path, version)?;
    // Of a source without kernels there is no more to say.
    if finding.lines().next().is_some_and(|line| line.contains("No OpEntryPoint instruction was found")) {
        return Ok(());
    }
    if finding.is_empty() || is_beyond(&finding) && spirv_val(path, "spv1.5")?.is_empty() {
        return Ok(());
    }
    Err(format!("spirv-val refuses the module for {environment}:\n{finding}"))
}

/// What spirv-val has against a module: nothing, if it is valid for this environment.
fn spirv_val(path: &Path, version: &str) -> Result<String, String> {
    let mut validator = Command::new("spirv-val");
    validator.args(["--target-env", version]).arg(path);
    let finished = process::run(&mut validator, b"", LIMIT)
        .map_err(|e| format!("{e} (`cargo xtask setup --tests` installs it)"))?;
    let text = finished.stderr.clone() + &finished.text();
    match (finished.status.success(), text.is_empty()) {
        (true, true) => Ok(String::new()),
        (false, true) => Err(format!("spirv-val ended with {}", finished.status)),
        (_, false) => Ok(text),
    }
}

/// What spirv-val holds against a module only because it does not know the extensions of OpenCL.
fn is_beyond(finding: &str) -> bool {
    let of_extensions = ["Float16", "Int64Atomics"];
    of_extensions
        .iter()
        .any(|name| finding.contains(&format!("Capability {name} is not allowed by OpenCL 2.2")))
}

/// The words of a module in a file.
pub fn words(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    if !bytes.len().is_multiple_of(4) {
        return Err(format!("a module of {} bytes is not made of words", bytes.len()));
    }
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
