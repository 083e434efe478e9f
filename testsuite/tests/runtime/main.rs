//! The runtime with kernels in OpenCL C, on all Vulkan devices and the reference device, each test in a process of its own. The validation
//! layer also checks for hazards between commands; any message of the layer fails the test.

mod checked;
mod execution;
mod host;
mod image_transfers;
mod image_views;
mod images;
mod load;
mod printing;
mod rects;
mod several;
mod svm;
mod traps;

use std::process::{Command, ExitCode};

use kiln_compiler::{
    Artifact, Emit,
    opencl::LanguageVersion,
    session::{NoFiles, Options, Source},
};
use kiln_runtime::{
    Device, Environment, Event, Instance, Kernel, NdRange, Program, Queue, Selector, Validation,
};
use kiln_testsuite::device;
use libtest_mimic::{Arguments, Failed, Trial};

type Test = fn(&Device);

const TESTS: &[(&str, Test)] = &[
    ("random_index_spaces", execution::random_index_spaces),
    ("chosen_local_sizes", execution::chosen_local_sizes),
    ("barriers_in_uneven_groups", execution::barriers_in_uneven_groups),
    ("empty_launches", execution::empty_launches),
    ("many_groups", execution::many_groups),
    ("independent_sub_groups", execution::independent_sub_groups),
    ("program_scope_variables", execution::program_scope_variables),
    ("pointers_to_pointers", execution::pointers_to_pointers),
    ("host_commands_in_order", host::in_order),
    ("host_commands_and_wait_lists", host::wait_lists),
    ("host_commands_that_fail", host::failures),
    ("host_commands_of_many_threads", host::many_threads),
    ("transfers_of_the_callers_memory", host::transfers),
    ("blocking_transfers_of_the_callers_memory", host::blocking_transfers),
    ("writes_of_shared_memory", host::writes_of_shared_memory),
    ("callbacks_for_each_status", host::callbacks),
    ("no_deadlocks", host::no_deadlocks),
    ("timers", host::timers),
    ("boxes", rects::transfers),
    ("misuse_of_boxes", rects::misuse),
    ("fills_of_parts", rects::fills),
    ("images_of_all_shapes", image_transfers::all_shapes),
    ("fills_of_images_convert", image_transfers::fills_convert),
    ("mappings", image_transfers::mappings),
    ("wait_lists_across_devices", several::wait_lists),
    ("buffers_of_several_devices", several::buffers),
    ("images_in_parts", images::parts),
    ("image_formats", images::formats),
    ("images_of_buffers", image_views::of_buffers),
    ("images_viewed_as_srgb", image_views::as_srgb),
    ("images_viewed_as_depth", image_views::as_depth),
    ("writes_of_srgb", image_views::srgb_writes),
    ("writes_of_srgb_without_the_extension", image_views::srgb_writes_without_the_extension),
    ("images_in_order", images::order),
    ("misuse_of_images", images::misuse),
    ("printing_in_order", printing::order),
    ("printing_after_user_events", printing::held_back),
    ("printing_at_the_end", printing::at_the_end),
    ("accesses_outside_objects_are_reported", checked::accesses_outside_objects_are_reported),
    ("local_and_private_objects_are_kept", checked::local_and_private_objects_are_kept),
    ("checked_launches_are_safe", checked::checked_launches_are_safe),
    ("stored_pointers_are_named", checked::stored_pointers_are_named),
    ("traps_fail_launches", traps::launches_fail),
    ("traps_are_errors_of_the_queue", traps::queues_report),
    ("traps_after_user_events", traps::held_back),
    ("traps_before_barriers", traps::barriers),
    ("traps_with_bounds_checks", traps::with_bounds_checks),
    ("many_traps", traps::many_at_once),
    ("linked_lists", svm::linked_lists),
    ("lists_built_by_kernels", svm::lists_built_by_kernels),
    ("fine_grain", svm::fine_grain),
    ("commands_on_shared_memory", svm::commands),
    ("many_launches", load::many_launches),
    ("many_buffers", load::many_buffers),
    ("many_threads", load::many_threads),
    ("programs_of_many_threads", load::programs_of_many_threads),
    ("load_of_all_commands", load::load_of_all_commands),
];

/// Tests of behavior in which Vulkan devices differ from the reference device: checks in the code, launches that end
/// when all work-items have reached a trap, formats that only some devices can write.
const OF_VULKAN: &[&str] = &[
    "accesses_outside_objects_are_reported",
    "local_and_private_objects_are_kept",
    "checked_launches_are_safe",
    "stored_pointers_are_named",
    "misuse_of_images",
    "traps_fail_launches",
    "traps_are_errors_of_the_queue",
    "traps_after_user_events",
    "traps_before_barriers",
    "traps_with_bounds_checks",
    "many_traps",
];

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_none() {
        return again_with_drivers();
    }
    let arguments = Arguments::from_args();
    if let Some(index) = std::env::var_os(ONE_ON) {
        let wanted = arguments.filter.unwrap_or_default();
        let (_, test) = TESTS.iter().find(|(name, _)| *name == wanted).expect("a test of that name");
        run(index.to_string_lossy().parse().expect("an index"), *test).expect("a silent validation layer");
        return ExitCode::SUCCESS;
    }
    let instance = Instance::new(options()).expect("there are drivers");
    let mut trials = Vec::new();
    let tested = instance.devices().iter().filter(|info| device::is_tested(&info.name));
    for info in tested {
        let short = info.name.split_whitespace().next().unwrap_or_default().to_lowercase();
        let is_meant = |name: &str| info.environment == Environment::Vulkan || !OF_VULKAN.contains(&name);
        for (name, _) in TESTS.iter().filter(|(name, _)| is_meant(name)) {
            let index = info.index;
            trials.push(Trial::test(format!("{short}::{name}"), move || in_process(index, name)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Set in the child process, which loads the drivers.
const CHILD: &str = "KILN_TEST_RUNTIME";
/// Names the device in a process that runs one test only.
const ONE_ON: &str = "KILN_TEST_ONE";

/// Runs a test in a process of its own: it can measure the resources of the process, a crash is its failure alone, and
/// the validation layer of Debian 12 (1.3.239) crashes if several devices are opened and used at the same time.
fn in_process(index: usize, name: &str) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?).arg(name).env(ONE_ON, index.to_string()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

fn again_with_drivers() -> ExitCode {
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args(std::env::args_os().skip(1)).env(CHILD, "1").env_remove("KILN_DEVICE");
    if let Err(missing) = device::drivers(&mut command) {
        eprintln!("{missing}");
        return ExitCode::FAILURE;
    }
    let status = command.status().expect("this program runs again");
    if status.code().is_none() {
        eprintln!("the process that runs the tests crashed: {status}");
    }
    ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}

/// `KILN_TEST_VALIDATION=0` disables the layer, for tools that examine the whole process.
fn options() -> kiln_runtime::Options {
    let without = std::env::var_os("KILN_TEST_VALIDATION").is_some_and(|value| value == "0");
    let validation = if without { Validation::Off } else { Validation::Synchronization };
    kiln_runtime::Options { validation, ..Default::default() }
}

/// The same physical device, opened again.
fn same_device(device: &Device) -> Device {
    let instance = Instance::new(options()).expect("there are drivers");
    instance.device(&Selector::Index(device.info().index)).expect("the device is still there")
}

fn run(index: usize, test: Test) -> Result<(), Failed> {
    let instance = Instance::new(options())?;
    test(&instance.device(&Selector::Index(index))?);
    // The device is closed. The layer would also report leaked objects.
    match instance.validation_messages() {
        messages if messages.is_empty() => Ok(()),
        messages => Err(messages.join("\n").into()),
    }
}

/// Compiles for a device.
fn compile(device: &Device, source: &str) -> Program {
    compile_with(device, source, |_| {})
}

fn compile_with(device: &Device, source: &str, change: impl FnOnce(&mut Options)) -> Program {
    let mut options = Options {
        std: LanguageVersion::Cl30,
        target: device.info().target(),
        extensions: vec![("all".to_owned(), true)],
        ..Options::default()
    };
    change(&mut options);
    let source = Source { name: "test.cl".to_owned(), text: source.as_bytes().to_vec() };
    let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
    match &output.artifact {
        Some(Artifact::Module(module)) => Program::from_verified(device, module).expect("a good module"),
        _ => panic!("{:?}", output.diagnostics),
    }
}

/// Compiles with bounds checks, and trusts them.
#[allow(unsafe_code, reason = "the module is Kiln's own")]
fn compile_checked(device: &Device, source: &str) -> Program {
    let program = compile_with(device, source, |options| options.bounds_checks = true);
    // SAFETY: Kiln has just compiled it with bounds checks.
    unsafe { program.trust_bounds_checks() }
}

/// Launches a kernel of these tests.
#[allow(unsafe_code, reason = "a launch trusts its kernel")]
fn launch(queue: &Queue, kernel: &Kernel, range: impl Into<NdRange>) -> kiln_runtime::Result<Event> {
    // SAFETY: the kernels of these tests stay within the buffers that the tests pass.
    unsafe { queue.launch(kernel, range) }
}
