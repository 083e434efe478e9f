//! Every example compiles to valid modules for both environments, and passes its checks on every device, without messages
//! of the validation layers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kiln_testsuite::{
    device::{self, Device},
    kiln, module, root,
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Examples that use features that a device lacks, and the device that must report that.
const LACKING: &[(&str, &str)] = &[];

/// Examples with undefined behavior, which the reference devices report.
const UNDEFINED: &[&str] = &["lost_update"];

/// Work-groups of some examples wait for each other. lavapipe aborts a loop after 65,535 iterations; on a busy machine
/// the other work-group may not have started by then. A launch that fails with this message is repeated.
const TRIES: usize = 20;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let sources = sources();
    let mut trials = vec![Trial::test("examples::there-are-eight", {
        let count = sources.len();
        move || {
            if count >= 8 { Ok(()) } else { Err(Failed::from(format!("only {count} examples are found"))) }
        }
    })];
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for environment in ["vulkan", "opencl"] {
            let source = source.clone();
            trials.push(Trial::test(format!("examples::{name}::compiles-for-{environment}"), move || {
                Ok(compiles(&source, environment)?)
            }));
        }
        for device in device::with_current() {
            let (source, lacks) = (source.clone(), LACKING.contains(&(name.as_str(), device.name)));
            trials.push(Trial::test(format!("examples::{name}::runs-on-{}", device.name), move || {
                Ok(run_example(&source, device, lacks)?)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// `examples/NAME/NAME.cl`
fn sources() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("examples")).into_iter().flatten().filter_map(Result::ok);
    let mut sources: Vec<PathBuf> = entries
        .map(|entry| entry.path().join(entry.file_name()).with_extension("cl"))
        .filter(|source| source.is_file())
        .collect();
    sources.sort();
    sources
}

fn compiles(source: &Path, environment: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let output = scratch.path().join("module.spv");
    let mut command = kiln::command();
    command.arg("compile").arg(source).args(["-Wall", "--env", environment, "-o"]).arg(&output);
    let finished = kiln::run(&mut command)?;
    if !finished.status.success() || !finished.stderr.is_empty() {
        return Err(format!("kiln ended with {}:\n{}", finished.status, finished.stderr));
    }
    module::check(&output, environment)?;
    if environment == "vulkan" {
        holds_no_workaround(source, &output)?;
    }
    let uses_the_model =
        capabilities(&module::words(&output)?).any(|capability| capability == VULKAN_MEMORY_MODEL);
    if uses_the_model != (environment == "vulkan") {
        return Err(format!("the module for {environment} has the wrong memory model"));
    }
    Ok(())
}

/// A module that is compiled for no particular device has no workarounds: it equals the module of `--workarounds none`,
/// and differs from that of `--workarounds all`.
fn holds_no_workaround(source: &Path, module: &Path) -> Result<(), String> {
    let compiled = |workarounds: &str| {
        let output = module.with_extension(workarounds);
        let mut command = kiln::command();
        command.arg("compile").arg(source).args(["--workarounds", workarounds, "-o"]).arg(&output);
        kiln::run(&mut command)?;
        fs::read(&output).map_err(|e| format!("`{}`: {e}", output.display()))
    };
    let default = fs::read(module).map_err(|e| e.to_string())?;
    if default != compiled("none")? {
        return Err("the default is not `--workarounds none`".to_owned());
    }
    if default == compiled("all")? {
        return Err("the module does not say which workarounds it has".to_owned());
    }
    let mut command = kiln::command();
    let reflected = kiln::run(command.args(["reflect", "--json"]).arg(module))?.text();
    if !reflected.contains("\"workarounds\":[]") {
        return Err(format!("the default module has workarounds: {reflected}"));
    }
    Ok(())
}

const VULKAN_MEMORY_MODEL: u32 = 5345;

/// The operands of OpCapability, the first instructions of a module.
fn capabilities(words: &[u32]) -> impl Iterator<Item = u32> {
    const CAPABILITY: u32 = 2 << 16 | 17;
    words[5..].chunks_exact(2).take_while(|pair| pair[0] == CAPABILITY).map(|pair| pair[1])
}

fn run_example(source: &Path, device: &Device, lacks: bool) -> Result<(), String> {
    let mut command = kiln::command();
    command.args(["run", "--validate"]).arg(source);
    device.only(&mut command)?;
    let mut finished = device::launch(&mut command)?;
    for _ in 1..TRIES {
        if finished.status.success() || !device::names_a_driver_bug(&finished.stderr) {
            break;
        }
        finished = device::launch(&mut command)?;
    }
    let stderr = device::without_greetings(&finished.stderr);
    if device.is_strict() && UNDEFINED.iter().any(|name| source.ends_with(format!("{name}.cl"))) {
        let rejected = !finished.status.success() && stderr.contains("[data-race]");
        return if rejected { Ok(()) } else { Err("undefined behavior is not rejected".to_owned()) };
    }
    if lacks {
        let is_rejected = !finished.status.success() && device::lacks_a_feature(&stderr);
        return if is_rejected {
            Ok(())
        } else {
            Err(format!("expected an error that names the missing feature, found\n{stderr}"))
        };
    }
    if !finished.status.success() || !stderr.is_empty() {
        return Err(format!("kiln ended with {}:\n{stderr}\n{}", finished.status, finished.text()));
    }
    Ok(())
}
