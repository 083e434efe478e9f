//! Compiles the sources of a `kiln run` command to kernel modules, with clang-15 and llvm-spirv-15 or with `kiln compile`.
//!
//! Owns the calls of clang-15 and llvm-spirv-15. A source that they cannot compile counts as unsupported by the device.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Duration,
};

use crate::{
    kiln,
    process::{self, Finished},
};

/// The environment variable that selects kernel modules of `clang` or `kiln`.
pub(crate) const WANTED: &str = "KILN_TEST_CLANG";
/// The message for a source that the compilers cannot compile.
pub(crate) const LACKS: &str = "the compiler cannot compile this source to a kernel module";

/// Parts of Kiln's messages for modules that llvm-spirv writes incorrectly. They call functions that it does not support, or
/// are invalid: they contain vectors of bits, indices beyond a vector, unknown linkage, types that are declared twice, or, for
/// the reference device, constants in the wrong order.
const MISSING: [&str; 8] = [
    "[missing-function]",
    "the SPIR-V module cannot be used",
    "components are not supported",
    "there is no such part of this type",
    "its operand and its result have different sizes",
    "is not a valid LinkageType",
    "[SPIRV-id-defined]",
    "[SPIRV-type-once]",
];

/// Runs a `kiln run` command with clang's module instead of Kiln's.
pub(crate) fn launch(command: &mut Command, limit: Duration) -> Result<Finished, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let arguments: Vec<OsString> = command.get_args().map(OsString::from).collect();
    let folder = command.get_current_dir().map(Path::to_path_buf);
    let is_own =
        command.get_envs().any(|(name, value)| name == WANTED && value.is_some_and(|it| it == "kiln"));
    let made = if is_own {
        kiln_module(&arguments, folder.as_deref(), scratch.path())?
    } else {
        module(&arguments, folder.as_deref(), scratch.path())?
    };
    match made {
        Ok(module) => {
            let mut given = Command::new(command.get_program());
            let then = arguments.iter().position(|word| word == "then").unwrap_or(arguments.len());
            given.args(&arguments[..then]).arg("--module").arg(module).args(&arguments[then..]);
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => given.env(name, value),
                    None => given.env_remove(name),
                };
            }
            if let Some(folder) = folder {
                given.current_dir(folder);
            }
            let mut finished = process::run(&mut given, b"", limit)?;
            if MISSING.iter().any(|missing| finished.stderr.contains(missing)) {
                finished.stderr.insert_str(0, &format!("{LACKS} that can be executed:\n"));
            }
            Ok(finished)
        }
        Err(CompilerFailure { status, text }) => {
            Ok(Finished { status, stdout: Vec::new(), stderr: format!("{LACKS}:\n{text}") })
        }
    }
}

/// The module that Kiln compiles for the OpenCL environment.
fn kiln_module(
    arguments: &[OsString],
    folder: Option<&Path>,
    scratch: &Path,
) -> Result<Result<PathBuf, CompilerFailure>, String> {
    let module = scratch.join("k.spv");
    let mut command = kiln::command();
    command.args(["compile", "--env", "opencl", "-g", "-o"]).arg(&module);
    command.args(arguments.iter().filter(|word| *word == "-O0"));
    let extensions: Vec<OsString> = ["-Xclang", "-cl-ext=+all"].map(OsString::from).to_vec();
    command.args(options(arguments).into_iter().filter(|word| !extensions.contains(word)));
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let finished = process::run(&mut command, b"", kiln::LIMIT)?;
    if !finished.status.success() {
        return Ok(Err(CompilerFailure { status: finished.status, text: finished.stderr }));
    }
    Ok(Ok(module))
}

/// The exit status and messages of a compiler that failed.
struct CompilerFailure {
    status: ExitStatus,
    text: String,
}

/// The module of the source among these arguments, optimized unless they contain `-O0`. If the translator does not support a
/// type, such as a 2-bit integer from clang's optimizer, compiles again without optimization.
fn module(
    arguments: &[OsString],
    folder: Option<&Path>,
    scratch: &Path,
) -> Result<Result<PathBuf, CompilerFailure>, String> {
    match arguments.iter().any(|word| word == "-O0") {
        true => optimized("-O0", arguments, folder, scratch),
        false => match optimized("-O2", arguments, folder, scratch)? {
            Err(_) => optimized("-O0", arguments, folder, scratch),
            made => Ok(made),
        },
    }
}

fn optimized(
    level: &str,
    arguments: &[OsString],
    folder: Option<&Path>,
    scratch: &Path,
) -> Result<Result<PathBuf, CompilerFailure>, String> {
    let [bitcode, module] = ["k.bc", "k.spv"].map(|name| scratch.join(name));
    let mut clang = Command::new("clang-15");
    // Parameter names and lines, and no vectors of widths that SPIR-V lacks.
    clang.args([
        "-x",
        "cl",
        "--target=spir64",
        level,
        "-gline-tables-only",
        "-fno-discard-value-names",
        "-fno-slp-vectorize",
        "-w",
    ]);
    clang.args(["-c", "-emit-llvm", "-o"]).arg(&bitcode).args(options(arguments));
    let mut translator = Command::new("llvm-spirv-15");
    translator.arg("--spirv-ext=+all,-SPV_INTEL_arbitrary_precision_integers");
    translator.arg(&bitcode).arg("-o").arg(&module);
    for mut command in [clang, translator] {
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let finished = process::run(&mut command, b"", kiln::LIMIT)?;
        if !finished.status.success() {
            return Ok(Err(CompilerFailure { status: finished.status, text: finished.stderr }));
        }
    }
    Ok(Ok(module))
}

/// The arguments of `kiln run` that clang needs: the source and the compiler options.
fn options(arguments: &[OsString]) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut version = "CL3.0".to_owned();
    let mut words = arguments.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if let Some(std) = text.strip_prefix("-cl-std=") {
            version = std.to_owned();
        } else if matches!(&*text, "-D" | "-U" | "-I") {
            options.push(word.clone());
            options.extend(words.next().cloned());
        } else if text.ends_with(".cl")
            || ["-D", "-U", "-I"].iter().any(|it| text.starts_with(it))
            || text.starts_with("-cl-") && !text.starts_with("-cl-ext")
        {
            options.push(word.clone());
        } else if text.starts_with("--")
            && !text.contains('=')
            && !matches!(&*text, "--validate" | "--no-checks")
        {
            // Its value.
            words.next();
        }
    }
    let all = ["-Xclang", "-cl-ext=+all"].map(OsString::from);
    options.push(format!("-cl-std={version}").into());
    options.extend(all);
    options
}
