//! Kernel modules of C++ for OpenCL in `kiln run`. `cargo xtask frontends` also runs those of other compilers.

use kiln_testsuite::{device::Device, frontends::Frontend};

#[test]
fn cpp_for_opencl_runs_on_every_device() {
    for (level, names) in
        [("-O0", &["lavapipe", "reference"][..]), ("-O2", &["swiftshader", "vulkan-reference"])]
    {
        let devices: Vec<&Device> = names.iter().map(|name| Device::named(name).expect("a device")).collect();
        let frontend = Frontend::Translator(level);
        let programs = frontend.programs();
        assert_eq!(programs.len(), 10);
        for program in programs {
            if let Err(message) = frontend.check(&program, &devices) {
                panic!("{} {level}: {message}", program.display());
            }
        }
    }
}
