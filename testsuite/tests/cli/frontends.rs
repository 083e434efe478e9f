//! Kernel modules of C++ for OpenCL and of HIP in `kiln run`. `cargo xtask frontends` also runs those of other compilers.

use kiln_testsuite::{device::Device, frontends::Frontend};

/// The programs of a language, translated at these levels, are correct on these devices.
fn check(frontend: fn(&'static str) -> Frontend, count: usize) {
    for (level, names) in
        [("-O0", &["lavapipe", "reference"][..]), ("-O2", &["swiftshader", "vulkan-reference"])]
    {
        let devices: Vec<&Device> = names.iter().map(|name| Device::named(name).expect("a device")).collect();
        let frontend = frontend(level);
        let programs = frontend.programs();
        assert_eq!(programs.len(), count);
        for program in programs {
            if let Err(message) = frontend.check(&program, &devices) {
                panic!("{} {level}: {message}", program.display());
            }
        }
    }
}

#[test]
fn cpp_for_opencl_runs_on_every_device() {
    check(Frontend::Translator, 12);
}

#[test]
fn hip_runs_on_every_device() {
    check(Frontend::Hip, 11);
}
