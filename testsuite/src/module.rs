//! Validates modules with Kiln's verifier and with spirv-val.

use std::{fs, path::Path, process::Command};

use kiln_compiler::{opencl::Environment, target::Target, verify};

use crate::{kiln::LIMIT, process};

/// SPIR-V 1.2, the version of OpenCL 2.2, as encoded in a module's second word.
const OPENCL_22: u32 = 0x0001_0200;

/// Checks a module for this environment, `vulkan` or `opencl`.
pub fn check(path: &Path, environment: &str) -> Result<(), String> {
    let (kind, version) = match environment {
        "vulkan" => (Environment::Vulkan, "vulkan1.3"),
        "opencl" => (Environment::OpenCl, "opencl2.2"),
        other => return Err(format!("there is no environment `{other}`")),
    };
    let words = words(path)?;
    // OpenCL 2.2 allows SPIR-V 1.2; later versions, for OpenCL 3.0, are checked against the universal rules of that
    // version.
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
    // A module without kernels has no entry point, and spirv-val stops there.
    if finding.lines().next().is_some_and(|line| line.contains("No OpEntryPoint instruction was found")) {
        return Ok(());
    }
    if finding.is_empty() {
        return Ok(());
    }
    if is_beyond(&finding) {
        let universal = spirv_val(path, "spv1.5")?;
        // spirv-val of Debian 12 allows no levels in writes, which ImageMipmap has.
        if universal.is_empty() || universal.contains("OpImageWrite") && universal.contains("Operand Lod") {
            return Ok(());
        }
    }
    Err(format!("spirv-val rejects the module for {environment}:\n{finding}"))
}

/// The errors that spirv-val reports; empty if the module is valid.
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

/// Whether spirv-val rejects a module only because it does not support OpenCL's extensions.
fn is_beyond(finding: &str) -> bool {
    let of_extensions = ["Float16", "ImageMipmap", "Int64Atomics"];
    of_extensions
        .iter()
        .any(|name| finding.contains(&format!("Capability {name} is not allowed by OpenCL 2.2")))
}

/// The positions of the first words of a module's instructions.
pub fn instructions(words: &[u32]) -> impl Iterator<Item = usize> {
    let next = |at: usize| (at < words.len()).then_some(at);
    std::iter::successors(next(5), move |&at| next(at + (words[at] >> 16).max(1) as usize))
}

/// The opcode of the instruction at a position.
pub fn opcode(words: &[u32], at: usize) -> u32 {
    words[at] & 0xffff
}

/// The words of a module file.
pub fn words(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    if !bytes.len().is_multiple_of(4) {
        return Err(format!("the size of the module, {} bytes, is not a multiple of 4", bytes.len()));
    }
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
