//! Runs every test on every device of this machine, in a separate process and with the validation layer enabled: any
//! message of the layer fails the test.
//!
//! Without `VK_DRIVER_FILES`, the devices are the two software drivers of Debian, and a missing driver is a failure.
//! `KILN_TEST_DEVICE=NAME,…` selects devices by parts of their names instead.

mod arguments;
mod clspv;
mod execution;
mod failures;
mod module;
mod ordering;
mod transfers;
mod workarounds;

use std::path::Path;
use std::process::{Command, ExitCode};

use kiln_runtime::{
    Device, DeviceInfo, Environment, Event, Instance, Kernel, NdRange, Options, Queue, Selector, Validation,
};
use libtest_mimic::{Arguments, Failed, Trial};

/// lavapipe of mesa-vulkan-drivers, SwiftShader of chromium-common.
const DRIVERS: [&str; 2] =
    ["/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "/usr/lib/chromium/vk_swiftshader_icd.json"];

/// Names the device of this machine to test.
const WANTED: &str = "KILN_TEST_DEVICE";
/// The devices that are not tested on this machine.
const USUAL: [&str; 5] = ["", "lavapipe", "swiftshader", "reference", "clang"];

type Test = fn(&Device);

const TESTS: &[(&str, Test)] = &[
    ("buffers_keep_their_contents", transfers::buffers_keep_their_contents),
    ("fills_repeat_their_pattern", transfers::fills_repeat_their_pattern),
    ("copies_and_parts", transfers::copies_and_parts),
    ("transfers_out_of_bounds_are_rejected", transfers::transfers_out_of_bounds_are_rejected),
    ("impossible_buffers_are_rejected", transfers::impossible_buffers_are_rejected),
    ("large_transfers_are_complete", transfers::large_transfers_are_complete),
    ("memory_of_the_host", transfers::memory_of_the_host),
    ("transfers_of_memory_of_the_device", transfers::transfers_of_memory_of_the_device),
    ("mapped_buffers_are_written_back", transfers::mapped_buffers_are_written_back),
    ("foreign_modules_run_with_an_interface", failures::foreign_modules_run_with_an_interface),
    ("copy_kernel", execution::copy_kernel),
    ("ids_sizes_offsets", execution::ids_sizes_offsets),
    ("local_arguments", execution::local_arguments),
    ("commands_are_ordered", execution::commands_are_ordered),
    ("required_sizes", execution::required_sizes),
    ("in_order_commands_see_earlier_writes", ordering::in_order_commands_see_earlier_writes),
    ("in_order_commands_follow_each_other", ordering::in_order_commands_follow_each_other),
    ("wait_lists_order_unordered_commands", ordering::wait_lists_order_unordered_commands),
    ("wait_lists_reach_other_queues", ordering::wait_lists_reach_other_queues),
    ("commands_wait_for_the_whole_wait_list", ordering::commands_wait_for_the_whole_wait_list),
    ("markers_follow_everything", ordering::markers_follow_everything),
    ("markers_do_not_delay_commands", ordering::markers_do_not_delay_commands),
    ("barriers_separate_commands", ordering::barriers_separate_commands),
    ("barriers_wait_for_their_wait_list", ordering::barriers_wait_for_their_wait_list),
    ("user_events_delay_commands", ordering::user_events_delay_commands),
    ("failures_follow_wait_lists", ordering::failures_follow_wait_lists),
    ("blocking_commands_block", ordering::blocking_commands_block),
    ("completion_makes_writes_visible", ordering::completion_makes_writes_visible),
    ("argument_blocks", arguments::argument_blocks),
    ("bound_buffers", arguments::bound_buffers),
    ("program_scope_variables", arguments::program_scope_variables),
    ("wrong_arguments_are_rejected", arguments::wrong_arguments_are_rejected),
    ("samplers_are_bound", clspv::samplers_are_bound),
    ("sampler_parameters_are_reflected", clspv::sampler_parameters_are_reflected),
    ("printf_buffers_are_bound", clspv::printf_buffers_are_bound),
    ("program_data_is_bound", clspv::program_data_is_bound),
    ("missing_kernels_are_named", failures::missing_kernels_are_named),
    ("missing_workarounds_are_warned_of_once", workarounds::missing_workarounds_are_warned_of_once),
    ("modules_for_other_environments_are_rejected", failures::modules_for_other_environments_are_rejected),
    ("invalid_modules_are_rejected", failures::invalid_modules_are_rejected),
    ("invalid_specializations_are_rejected", failures::invalid_specializations_are_rejected),
    ("impossible_launches_are_rejected", failures::impossible_launches_are_rejected),
    ("objects_of_other_devices_are_rejected", failures::objects_of_other_devices_are_rejected),
];

/// Tests of devices that execute commands concurrently with the host and keep compiled kernels. The reference device does neither: a
/// launch returns when it is complete.
const DRIVER_TESTS: &[(&str, Test)] = &[
    ("kernels_are_kept_on_disk", failures::kernels_are_kept_on_disk),
    ("flushed_commands_complete", ordering::flushed_commands_complete),
    ("slow_kernels_are_reported", failures::slow_kernels_are_reported),
    ("hanging_kernels_do_not_block_other_processes", failures::hanging_kernels_do_not_block_other_processes),
];

/// Tests of the reference device.
const STRICT_TESTS: &[(&str, Test)] = &[
    ("launches_are_complete_when_they_return", ordering::launches_are_complete_when_they_return),
    ("endless_kernels_end_at_the_deadline", failures::endless_kernels_end_at_the_deadline),
];

fn main() -> ExitCode {
    let wanted = std::env::var(WANTED).unwrap_or_default().to_lowercase();
    let wanted: Vec<&str> = wanted.split(',').filter(|name| !USUAL.contains(name)).collect();
    if wanted.is_empty() && std::env::var_os("VK_DRIVER_FILES").is_none() {
        return again_with_drivers();
    }
    if let Some(device) = std::env::var_os(failures::HANG) {
        return failures::hang(&device.to_string_lossy());
    }
    if let Some(folder) = std::env::var_os(failures::WRITER) {
        return failures::write_until_killed(Path::new(&folder));
    }
    let arguments = Arguments::from_args();
    if let Some(index) = std::env::var_os(ONE_ON) {
        let wanted = arguments.filter.unwrap_or_default();
        let mut tests = TESTS.iter().chain(DRIVER_TESTS).chain(STRICT_TESTS);
        let (_, test) = tests.find(|(name, _)| *name == wanted).expect("a test of that name");
        run(index.to_string_lossy().parse().expect("an index"), *test).expect("a silent validation layer");
        return ExitCode::SUCCESS;
    }
    let instance = match Instance::new(options()) {
        Ok(instance) => instance,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    // The modules of these tests are Vulkan's.
    let is_tested = |info: &&DeviceInfo| {
        let name = info.name.to_lowercase();
        info.environment == Environment::Vulkan
            && (wanted.is_empty() || wanted.iter().any(|part| name.contains(part)))
    };
    for info in instance.devices().iter().filter(is_tested) {
        let others = if info.is_strict { STRICT_TESTS } else { DRIVER_TESTS };
        for (name, _) in TESTS.iter().chain(others) {
            let index = info.index;
            trials
                .push(Trial::test(format!("{}::{name}", short(&info.name)), move || in_process(index, name)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Names the device in a process that runs one test only.
const ONE_ON: &str = "KILN_TEST_ONE";

/// Runs a test in a separate process: a crash is its failure alone, and the validation layer of Debian 12 (1.3.239)
/// crashes if several devices are opened and used at the same time.
fn in_process(index: usize, name: &str) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?).arg(name).env(ONE_ON, index.to_string()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// Runs these tests again with the software drivers.
fn again_with_drivers() -> ExitCode {
    if let Some(missing) = DRIVERS.iter().find(|driver| !Path::new(driver).exists()) {
        eprintln!(
            "{missing} is missing: install mesa-vulkan-drivers and chromium-common, or set VK_DRIVER_FILES"
        );
        return ExitCode::FAILURE;
    }
    let program = std::env::current_exe().expect("the path of this program");
    let status = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env("VK_DRIVER_FILES", DRIVERS.join(":"))
        .status()
        .expect("this program runs again");
    if status.code().is_none() {
        eprintln!("the process that runs the tests crashed: {status}");
    }
    ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}

/// `KILN_TEST_VALIDATION=0` leaves the layer out, for tools that look at the process as a whole.
pub(crate) fn options() -> Options {
    let without = std::env::var_os("KILN_TEST_VALIDATION").is_some_and(|value| value == "0");
    let validation = if without { Validation::Off } else { Validation::Synchronization };
    Options { validation, ..Options::default() }
}

fn run(index: usize, test: Test) -> Result<(), Failed> {
    let instance = Instance::new(options())?;
    test(&instance.device(&Selector::Index(index))?);
    // The device is gone. The layer would also report leaked objects.
    match instance.validation_messages() {
        messages if messages.is_empty() => Ok(()),
        messages => Err(messages.join("\n").into()),
    }
}

/// The same physical device, opened again.
pub(crate) fn same_device(device: &Device) -> Device {
    Instance::new(options()).unwrap().device(&Selector::Index(device.info().index)).unwrap()
}

/// Launches a kernel of these tests.
#[allow(unsafe_code, reason = "a launch trusts its kernel")]
pub(crate) fn launch(
    queue: &Queue,
    kernel: &Kernel,
    range: impl Into<NdRange>,
) -> kiln_runtime::Result<Event> {
    // SAFETY: the kernels of these tests stay within the buffers that the tests pass.
    unsafe { queue.launch(kernel, range) }
}

/// Shortens `llvmpipe (LLVM 15.0.6, 256 bits)` to `llvmpipe`.
fn short(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or("unnamed")
}
