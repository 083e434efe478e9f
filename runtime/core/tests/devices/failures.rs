//! Errors: their messages, and that later commands still work.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use kiln_runtime::{Device, Error, Instance, NdRange, Options, Program, Selector};

use crate::launch;
use crate::module::{self, Parts};

pub(crate) fn missing_kernels_are_named(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let missing = program.kernel("kk").unwrap_err();
    assert_eq!(missing.to_string(), "there is no kernel `kk`; did you mean `k`?");
    assert_eq!(
        program.kernel("histogram").unwrap_err().to_string(),
        "there is no kernel `histogram`; there are k"
    );
}

pub(crate) fn modules_for_other_environments_are_rejected(device: &Device) {
    let load = |words: &[u32]| Program::from_spirv(device, words).unwrap_err();
    assert!(matches!(load(&[]), Error::BadModule { .. }));
    assert!(matches!(load(b"not SPIR-V words".map(u32::from).as_slice()), Error::BadModule { .. }));
    assert!(matches!(Program::from_bytes(device, &[3, 2, 35]), Err(Error::BadModule { .. })));
    let whole = module::copy();
    for length in (0..whole.len()).step_by(3) {
        // A truncated module may be valid by chance, but never makes the runtime panic.
        let _ = kiln_runtime::interface::ProgramInterface::from_spirv(&whole[..length]);
    }
    // Physical64 OpenCL, Kernel: the opencl environment.
    let opencl = [0x0723_0203, 0x0001_0200, 0, 1, 0, 0x0002_0011, 6, 0x0003_000e, 2, 2];
    assert!(load(&opencl).to_string().contains("compile with --env vulkan"));
    let mute = module::assemble(&Parts {
        modes: "OpExecutionMode %main LocalSize 1 1 1",
        push_words: 1,
        ..Parts::default()
    });
    let mute = Program::from_spirv(device, &mute).unwrap();
    assert_eq!(mute.kernel("k").unwrap_err().to_string(), "there is no kernel `k`; the module has none");
    let foreign = [0x0723_0203, 0x0001_0500, 0, 1, 0, 0x0002_0011, 1];
    assert!(load(&foreign).to_string().contains("ClspvReflection is missing"));
    let features = device.features();
    let long = module::assemble(&Parts {
        capabilities: "OpCapability Int64",
        modes: "OpExecutionMode %main LocalSize 1 1 1",
        push_words: 1,
        reflection: "%kernel = OpExtInst %void %reflect Kernel %main %name_k %n0 %n0 %empty",
        ..Parts::default()
    });
    match Program::from_spirv(device, &long) {
        Ok(_) => assert!(features.target.int64),
        Err(error) => {
            assert!(!features.target.int64);
            assert!(error.to_string().contains("64-bit integers (long)"));
        }
    }
}

/// Every function that loads a module verifies it, except the `unsafe` one: no driver sees an invalid module.
pub(crate) fn invalid_modules_are_rejected(device: &Device) {
    let valid = module::copy();
    let interface = kiln_runtime::interface::ProgramInterface::from_spirv(&valid).unwrap();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // The first module has an id bound that no id is below, the second a block that ends twice.
    let mut bound = valid.clone();
    bound[3] = 1;
    for (words, wanted) in [(&bound, "SPIRV-id-bound"), (&with_two_returns(&valid), "SPIRV-block")] {
        for result in [
            Program::from_spirv(device, words),
            Program::from_bytes(device, &bytes(words)),
            Program::with_interface(device, words, interface.clone()),
        ] {
            match result {
                Err(error @ Error::InvalidModule { rule, .. }) => {
                    assert_eq!(rule, wanted);
                    assert!(error.to_string().contains(&format!("[{wanted}]")), "{error}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(kiln_runtime::VerifiedModule::new(words.clone(), None).is_err());
    }
    let verified = kiln_runtime::VerifiedModule::new(valid, None).unwrap();
    assert_eq!(Program::from_verified(device, &verified).unwrap().kernels().len(), 1);
    #[allow(unsafe_code, reason = "the module is valid")]
    // SAFETY: it was verified, and the runtime's other tests run it.
    let unchecked = unsafe { Program::from_spirv_unchecked(device, verified.words()) };
    assert_eq!(unchecked.unwrap().kernels().len(), 1);
}

/// A module whose array is one element shorter than the work-group: with groups of one work-item, it would have no elements.
pub(crate) fn invalid_specializations_are_rejected(device: &Device) {
    let types = "
%size_x = OpSpecConstant %uint 2
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%length = OpSpecConstantOp %uint ISub %size_x %n1
%array = OpTypeArray %uint %length
%ptr_array = OpTypePointer Workgroup %array
%shared = OpVariable %ptr_array Workgroup
";
    let words = module::assemble(&Parts {
        variables: "%shared",
        decorations: module::SIZE_DECORATIONS,
        push_words: 1,
        types,
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n0 %n0 %empty
%r0 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
",
        ..Parts::default()
    });
    let kernel = Program::from_spirv(device, &words).unwrap().kernel("k").unwrap();
    let queue = device.queue().unwrap();
    let groups_of = |local: usize| launch(&queue, &kernel, NdRange::from(4).local(local));
    groups_of(2).unwrap().wait().unwrap();
    let error = groups_of(1).unwrap_err().to_string();
    assert!(
        error.contains("make the module invalid") && error.contains("[SPIRV-OpTypeArray-length]"),
        "{error}"
    );
}

/// The module with its first OpReturn twice.
fn with_two_returns(words: &[u32]) -> Vec<u32> {
    const RETURN: u32 = 1 << 16 | 253;
    let mut changed = words[..5].to_vec();
    let mut rest = &words[5..];
    let mut is_done = false;
    while let Some(first) = rest.first() {
        let (instruction, behind) = rest.split_at((first >> 16) as usize);
        changed.extend(instruction);
        if *first == RETURN && !is_done {
            changed.push(RETURN);
            is_done = true;
        }
        rest = behind;
    }
    assert!(is_done);
    changed
}

pub(crate) fn impossible_launches_are_rejected(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let queue = device.queue().unwrap();
    let buffer = device.buffer_from(&[0u32; 4]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &buffer).unwrap().set(1, &buffer).unwrap().set(2, 0u32).unwrap();
    let rejected = |range: NdRange| match launch(&queue, &kernel, range) {
        Err(Error::Launch { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let max = device.capabilities().max_work_group_size as usize;
    assert!(rejected(NdRange::from(4).local(0)).contains("at least 1"));
    assert!(rejected(NdRange::from([max, 2]).local([max, 2])).contains("smaller local size"));
    assert!(rejected(NdRange::from(usize::MAX)).contains("32 bits"));
    assert!(rejected(NdRange::from(4).local([2, 2])).contains("same number"));
    launch(&queue, &kernel, 0).unwrap().wait().unwrap();
    // More groups than one dispatch takes: the kernel does nothing for a count of 0.
    launch(&queue, &kernel, NdRange::from(70_000).local(1)).unwrap().wait().unwrap();
}

pub(crate) fn slow_kernels_are_reported(device: &Device) {
    let program = Program::from_spirv(device, &module::spin()).unwrap();
    let queue = device.queue().unwrap();
    let counter = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &counter).unwrap().set(1, 1000u32).unwrap();
    let event = launch(&queue, &kernel, 50_000).unwrap();
    let after = Duration::from_millis(1);
    let overdue = event.wait_for(after).unwrap_err();
    assert_eq!(overdue, Error::Timeout { kernel: Some("k".to_owned()), after });
    assert!(overdue.to_string().contains("kernel `k` did not finish within 1ms"));
    // The kernel was only slow: the event can be waited for again.
    event.wait().unwrap();
    assert_eq!(queue.read(&counter).unwrap(), [50_000_000]);
}

/// Names the device on which a child process is to hang.
pub(crate) const HANG: &str = "KILN_TEST_HANG";

/// A kernel that never ends is an error that names it, and the process can still exit normally.
pub(crate) fn hanging_kernels_do_not_block_other_processes(device: &Device) {
    let program = std::env::current_exe().unwrap();
    let started = Instant::now();
    let output = Command::new(program).env(HANG, device.info().index.to_string()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("kernel `k` did not finish within"), "{text}");
    assert!(output.status.success(), "{output:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// The child process.
pub(crate) fn hang(device: &str) -> ExitCode {
    let instance = kiln_runtime::Instance::new(crate::options()).unwrap();
    let device = instance.device(&Selector::from(device)).unwrap();
    let program = Program::from_spirv(&device, &module::spin()).unwrap();
    let queue = device.queue().unwrap();
    let counter = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &counter).unwrap().set(1, 0u32).unwrap();
    let event = launch(&queue, &kernel, 100_000).unwrap();
    println!("{}", event.wait_for(Duration::from_millis(50)).unwrap_err());
    ExitCode::SUCCESS
}

/// On the reference device the watchdog ends a kernel that never does, during the launch.
pub(crate) fn endless_kernels_end_at_the_deadline(device: &Device) {
    let after = Duration::from_millis(50);
    let options = Options { watchdog: Some(after), ..crate::options() };
    let device = Instance::new(options).unwrap().device(&Selector::Index(device.info().index)).unwrap();
    let program = Program::from_spirv(&device, &module::spin()).unwrap();
    let queue = device.queue().unwrap();
    let counter = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &counter).unwrap().set(1, 0u32).unwrap();
    let started = Instant::now();
    let ended = launch(&queue, &kernel, 4).and_then(|event| event.wait()).unwrap_err();
    assert_eq!(ended, Error::Timeout { kernel: Some("k".to_owned()), after });
    assert!(started.elapsed() < Duration::from_secs(60));
    // The device still works.
    kernel.set(1, 5u32).unwrap();
    queue.fill(&counter, 0u32).unwrap();
    launch(&queue, &kernel, 4).unwrap().wait().unwrap();
    assert_eq!(queue.read(&counter).unwrap(), [20]);
}

/// A module of another compiler, whose interface the user supplies.
pub(crate) fn foreign_modules_run_with_an_interface(device: &Device) {
    let words = module::copy();
    let mut interface = kiln_runtime::interface::ProgramInterface::from_spirv(&words).unwrap();
    for argument in &mut interface.kernels[0].arguments {
        argument.info = None;
    }
    let program = Program::with_interface(device, &words, interface.clone()).unwrap();
    let queue = device.queue().unwrap();
    let buffers = [device.buffer_from(&[8u32; 4]).unwrap(), device.buffer_from(&[0u32; 4]).unwrap()];
    let mut kernel = program.kernel("k").unwrap();
    assert!(matches!(kernel.set_named("n", 4u32), Err(Error::NoSuchArgument { .. })));
    kernel.set(0, &buffers[0]).unwrap().set(1, &buffers[1]).unwrap().set(2, 4u32).unwrap();
    launch(&queue, &kernel, 4).unwrap();
    assert_eq!(queue.read(&buffers[1]).unwrap(), [8; 4]);
    // An interface with parts that the module does not have.
    interface.kernels[0].name = "other".to_owned();
    let claimed = Program::with_interface(device, &words, interface).unwrap_err();
    assert!(claimed.to_string().contains("kernel `other` has no entry point"));
}

/// Names the folder in which a child process keeps kernels until it is killed.
pub(crate) const WRITER: &str = "KILN_TEST_WRITER";

/// Cached kernels run after processes were killed while they wrote the cache, several at a time, and if files are damaged.
pub(crate) fn kernels_are_kept_on_disk(device: &Device) {
    let folder = tempfile::tempdir().unwrap();
    let files =
        || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let run = || run_copy(folder.path(), device.info().index);
    run();
    let kept = files();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let intact = fs::read(&kept[0]).unwrap();
    run();
    let damages: [&[u8]; 4] = [b"", b"kilnpc01", &intact[..intact.len() - 1], &[0xff; 5000]];
    for damage in damages {
        fs::write(&kept[0], damage).unwrap();
        run();
        assert_ne!(fs::read(&kept[0]).unwrap(), damage);
    }
    for _ in 0..3 {
        let mut writers = [0; 3].map(|_| {
            let program = std::env::current_exe().unwrap();
            let mut command = Command::new(program);
            command.env(WRITER, folder.path()).env(WRITER_DEVICE, device.info().index.to_string());
            command.stdout(Stdio::piped()).spawn().unwrap()
        });
        for writer in &mut writers {
            // Waits until the writer has begun.
            let mut begun = [0];
            writer.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
        for writer in &mut writers {
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        run();
    }
    let read_only = Path::new("/proc/kiln");
    run_copy(read_only, device.info().index);
}

/// Names the device of a child process.
const WRITER_DEVICE: &str = "KILN_TEST_WRITER_DEVICE";

fn run_copy(folder: &Path, index: usize) {
    let options = Options { cache: Some(folder.to_owned()), ..crate::options() };
    let device = Instance::new(options).unwrap().device(&Selector::Index(index)).unwrap();
    let program = Program::from_spirv(&device, &module::copy()).unwrap();
    let queue = device.queue().unwrap();
    let buffers = [device.buffer_from(&[3u32; 8]).unwrap(), device.buffer_from(&[0u32; 8]).unwrap()];
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &buffers[0]).unwrap().set(1, &buffers[1]).unwrap().set(2, 8u32).unwrap();
    launch(&queue, &kernel, 8).unwrap();
    assert_eq!(queue.read(&buffers[1]).unwrap(), [3; 8]);
}

/// The child process. It removes the files of the cache, so that the driver writes them again each time.
pub(crate) fn write_until_killed(folder: &Path) -> ExitCode {
    let index = std::env::var(WRITER_DEVICE).unwrap().parse().unwrap();
    loop {
        run_copy(folder, index);
        println!();
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "bin") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

pub(crate) fn objects_of_other_devices_are_rejected(device: &Device) {
    let instance = kiln_runtime::Instance::new(crate::options()).unwrap();
    let other = instance.device(&Selector::Index(device.info().index)).unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    let foreign = other.buffer_from(&[0u32]).unwrap();
    assert!(matches!(kernel.set(0, &foreign), Err(Error::WrongDevice { .. })));
    let queue = device.queue().unwrap();
    assert!(matches!(queue.read(&foreign), Err(Error::WrongDevice { .. })));
    let launched = launch(&other.queue().unwrap(), &kernel, 1);
    assert!(matches!(launched, Err(Error::WrongDevice { .. })));
    let nowhere = instance.device(&Selector::Name("no such device".to_owned()));
    assert!(nowhere.unwrap_err().to_string().contains(device.name()));
    assert!(matches!(instance.device(&Selector::Index(99)), Err(Error::NoSuchDevice { .. })));
    let by_name = instance.device(&Selector::from(device.name().to_uppercase().as_str())).unwrap();
    assert_eq!(by_name.name(), device.name());
}
