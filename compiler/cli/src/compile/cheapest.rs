//! `kiln compile --cheapest`: gives the operations of the module the cheapest forms that are proved for the launch in the source's
//! leading comment.

use kiln_compiler::{
    Artifact, Emit, Output, ProvedLaunch,
    interface::Interface,
    opencl::Environment,
    session::{Options, Source},
    target::Target,
    verify::VerifiedModule,
    with_proved_launch,
};
use kiln_memory_model::{
    Launch, Model, Module,
    cheapen::{Cheapest, Unchanged, cheapest, objection},
    explore,
};

use crate::{
    arguments::LaunchArguments,
    exit::{Failure, failure},
    files::Files,
    litmus,
    run::bytes,
};

/// The maximum number of iterations of a loop, as in `kiln litmus`.
const MAX_ITERATIONS: u32 = 3;

/// Changes the module. Returns what was done, or why nothing was, as a message.
pub(super) fn change(
    source: &Source,
    output: &mut Output,
    options: &Options,
    files: &Files,
) -> Result<Result<String, String>, Failure> {
    if options.target.environment != Environment::Vulkan {
        return failure("--cheapest needs a module for Vulkan");
    }
    let (Some(Artifact::Module(module)), Some(interface)) = (&output.artifact, &output.interface) else {
        return failure("--cheapest needs a module");
    };
    let launch = launch(source, interface)?;
    let plain = Options { target: Target::full(Environment::OpenCl), optimize: false, ..options.clone() };
    let Some(opencl) = compiled(source, plain, files) else {
        return failure("--cheapest cannot compile the source for OpenCL");
    };
    let opencl = Module::new(&opencl);
    if Module::new(module.words()).uses_sub_groups() {
        return failure("--cheapest: the kernel uses sub-groups, whose size depends on the device");
    }
    let model = match options.target.features.availability_chains {
        true => Model::Vulkan,
        false => Model::VulkanWithoutChains,
    };
    let bounds = explore::Options { budget: litmus::BUDGET, ..explore::Options::default() };
    let found = match cheapest(&opencl, module.words(), &launch, model, bounds) {
        Ok(found) => found,
        Err(why @ Unchanged::Unsound(_)) => return Err(Failure(format!("internal error: {why}"))),
        Err(why) => return Ok(Err(format!("kiln: error: --cheapest changes nothing: {why}\n"))),
    };
    let proved = ProvedLaunch {
        kernel: interface_kernel(&launch, interface),
        global: launch.global,
        local: launch.local,
        lines: changed_lines(&found, source, options, files),
    };
    let words = with_proved_launch(&found.words, &proved);
    let module = VerifiedModule::new(words, Some(&options.target))
        .map_err(|invalid| Failure(format!("internal error: the cheaper module is invalid: {invalid}")))?;
    // The words that are written, from the start.
    match objection(&opencl, &Module::new(module.words()), &launch, model, bounds) {
        Ok(None) => {}
        found => return Err(Failure(format!("internal error: the cheaper module is not proved: {found:?}"))),
    }
    output.artifact = Some(Artifact::Module(module));
    let changed = found.operations.iter().filter(|it| it.is_changed()).count();
    let [global, local] = [proved.global, proved.local].map(|[x, y, z]| format!("{x} × {y} × {z}"));
    Ok(Ok(format!(
        "kiln: note: {changed} of {} operations of kernel `{}` are cheaper; it is valid only for {global} work-items in \
         groups of {local}, and the arguments in the source's leading comment\n",
        found.operations.len(),
        proved.kernel
    )))
}

/// The launch in the leading comment.
fn launch(source: &Source, interface: &Interface) -> Result<Launch, Failure> {
    let text = String::from_utf8_lossy(&source.text);
    let given = bytes::launch(&LaunchArguments::default(), &text).map_err(|_| {
        Failure(
            "--cheapest needs one launch: a `// kiln run …` line with one kernel in the source's leading comment"
                .to_owned(),
        )
    })?;
    let launch = bytes::bytes(&given, interface)?.launch;
    Ok(Launch { max_iterations: MAX_ITERATIONS, sub_group: 1, ..launch })
}

fn interface_kernel(launch: &Launch, interface: &Interface) -> String {
    match (launch.kernel.is_empty(), interface.kernels.as_slice()) {
        (true, [only]) => only.name.clone(),
        _ => launch.kernel.clone(),
    }
}

fn compiled(source: &Source, options: Options, files: &Files) -> Option<Vec<u32>> {
    let options = Options { debug: true, strip: false, ..options };
    let output = super::output(source.clone(), &options, files, &Emit::Spirv)?;
    match output.artifact {
        Some(Artifact::Module(module)) => Some(module.into_words()),
        _ => None,
    }
}

/// The lines of the operations that have changed, from a module with lines and the same operations.
fn changed_lines(found: &Cheapest, source: &Source, options: &Options, files: &Files) -> Vec<u32> {
    let words = compiled(source, options.clone(), files).unwrap_or_default();
    let lines = Module::new(&words).synchronization();
    let is_same = lines.len() == found.operations.len();
    let changed = found.operations.iter().zip(&lines).filter(|(it, _)| is_same && it.is_changed());
    let mut lines: Vec<u32> = changed.map(|(_, at)| at.line).filter(|line| *line != 0).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
