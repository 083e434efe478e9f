//! The OpenCL driver through the system's loader: `kiln-oracle` is an ordinary OpenCL program without knowledge of
//! Kiln.

use std::{fs, path::Path, process::Command};

use kiln_testsuite::{
    device::Device,
    kiln::{self, LIMIT, program},
    nightly,
    process::{self, Finished},
    root,
};

/// Runs a launch on a device, with this driver as the only one.
fn run(device: &str, source: &str, words: &[&str]) -> Finished {
    run_file(device, "kernel.cl", source.as_bytes(), words)
}

/// Runs a launch of a source or a module.
fn run_file(device: &str, name: &str, contents: &[u8], words: &[&str]) -> Finished {
    let folder = tempfile::tempdir().expect("a folder");
    name_driver(folder.path());
    run_with(folder.path(), device, (name, contents), words)
}

/// Makes this driver the only one for programs that read the folder.
fn name_driver(folder: &Path) {
    let driver = kiln::library("libkiln_opencl.so");
    fs::write(folder.join("kiln.icd"), format!("{}\n", driver.display())).expect("a file");
}

/// Compiles a program in C of `testsuite/tests/opencl_driver`.
fn compile(source: &str, to: &Path, words: &[&str]) {
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(to);
    process::succeed(gcc.arg(root().join("testsuite/tests/opencl_driver").join(source)).args(words), LIMIT);
}

/// Runs a launch on a device, with the drivers that the files in a folder name.
fn run_with(vendors: &Path, device: &str, (name, contents): (&str, &[u8]), words: &[&str]) -> Finished {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs::write(&file, contents).expect("a file");
    process::finish(oracle(vendors, device).arg(file).args(["--platform", "Kiln"]).args(words), LIMIT)
}

/// An OpenCL program on a device, with the drivers that the files in a folder name.
fn oracle(vendors: &Path, device: &str) -> Command {
    let mut command = Command::new(program("kiln-oracle"));
    let device = Device::named(device).expect("it is known");
    device.only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
    // Debian's loader reads a folder only if its name ends with a slash.
    command.env("OCL_ICD_VENDORS", format!("{}/", vendors.display()));
    command
}

/// Checks the output of a launch on a Vulkan device and on the reference device.
fn prints(source: &str, words: &[&str], expected: &str) {
    for device in ["lavapipe-25", "reference"] {
        let finished = run(device, source, words);
        assert_eq!(finished.code(), Some(0), "{device}: {}", finished.stderr);
        assert!(finished.text().contains(expected), "{device}: {}{}", finished.text(), finished.stderr);
    }
}

#[test]
fn vectors_are_added() {
    let source = "kernel void add(global const float *a, global const float *b, global float *sum, float bias)\n\
                  { size_t i = get_global_id(0); sum[i] = a[i] + b[i] + bias; }\n";
    let words = ["--kernel", "add", "--global", "100", "--arg", "buf:f32[100]=iota", "--arg"];
    let more =
        ["buf:f32[100]=iota*2", "--arg", "buf:f32[100]", "--arg", "float:0.5", "--print", "sum[97..100]"];
    prints(source, &[&words[..], &more].concat(), "291.5 294.5 297.5");
}

/// The layer of `kiln-bench programs`: the program knows neither it nor events.
#[test]
fn a_layer_times_kernels() {
    let folder = tempfile::tempdir().expect("a folder");
    name_driver(folder.path());
    let [source, times] = ["kernel.cl", "times"].map(|name| folder.path().join(name));
    fs::write(&source, "kernel void work(global int *data) { data[get_global_id(0)] = 7; }\n")
        .expect("a file");
    for device in ["lavapipe-25", "reference"] {
        let mut command = oracle(folder.path(), device);
        command.env("OPENCL_LAYERS", kiln::library("libkiln_timing_layer.so")).env("KILN_TIMES", &times);
        let words = ["--kernel", "work", "--global", "8", "--arg", "buf:i32[8]", "--print", "data[5..8]"];
        let finished = process::finish(command.arg(&source).args(["--platform", "Kiln"]).args(words), LIMIT);
        assert!(finished.text().contains("7 7 7"), "{device}: {}{}", finished.text(), finished.stderr);
        let text = fs::read_to_string(&times).expect("the layer writes it");
        let [name, launches, least, sum] = text.trim_end().split(' ').collect::<Vec<_>>()[..] else {
            panic!("{device}: {text}")
        };
        assert_eq!((name, launches), ("work", "1"), "{device}");
        assert!(least == sum && least.parse::<u64>().is_ok_and(|it| it > 0), "{device}: {text}");
        fs::remove_file(&times).expect("it is there");
    }
}

/// `clCreateProgramWithIL`: a Vulkan device runs what the driver translates.
#[test]
fn modules_are_programs_on_every_device() {
    let source =
        "kernel void square(global int *data) { size_t i = get_global_id(0); data[i] *= data[i]; }\n";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.cl"), source).expect("a file");
    let mut compile = kiln::command();
    compile.current_dir(folder.path()).args(["compile", "--env", "opencl", "k.cl", "-o", "k.spv"]);
    process::succeed(&mut compile, LIMIT);
    let module = fs::read(folder.path().join("k.spv")).expect("a module");
    let words = ["--kernel", "square", "--global", "8", "--arg", "buf:i32[8]=iota", "--print", "data[5..8]"];
    for device in ["lavapipe-25", "reference"] {
        let finished = run_file(device, "k.spv", &module, &words);
        assert_eq!(finished.code(), Some(0), "{device}: {}", finished.stderr);
        assert!(finished.text().contains("25 36 49"), "{device}: {}{}", finished.text(), finished.stderr);
    }
    // A module with an invalid word is rejected.
    let mut damaged = module.clone();
    damaged[22] = 0xff;
    let finished = run_file("lavapipe-25", "k.spv", &damaged, &words);
    assert_ne!(finished.code(), Some(0));
}

#[test]
fn atomics_have_orders_and_scopes() {
    let source = "kernel void count(global atomic_int *sums, local atomic_int *group)\n{\n\
                  if (get_local_id(0) == 0) atomic_init(group, 0);\n\
                  barrier(CLK_LOCAL_MEM_FENCE);\n\
                  atomic_fetch_add_explicit(group, 1, memory_order_relaxed, memory_scope_work_item);\n\
                  barrier(CLK_LOCAL_MEM_FENCE);\n\
                  if (get_local_id(0) == 0) atomic_fetch_add_explicit(sums, atomic_load(group), memory_order_seq_cst, memory_scope_all_devices);\n\
                  int old = atomic_load_explicit(sums + 1, memory_order_acquire, memory_scope_device);\n\
                  while (!atomic_compare_exchange_weak_explicit(sums + 1, &old, old + 3, memory_order_acq_rel, memory_order_relaxed, memory_scope_device)) { }\n\
                  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);\n\
                  atomic_fetch_max_explicit(sums + 2, (int)get_global_id(0), memory_order_release, memory_scope_device);\n}\n";
    let words = ["--options=-cl-std=CL3.0", "--kernel", "count", "--global", "256", "--local", "32", "--arg"];
    let more = ["buf:i32[3]=0", "--arg", "local:4", "--print", "sums[0..3]"];
    prints(source, &[&words[..], &more].concat(), "256 768 255");
}

#[test]
fn pipes_hold_the_requested_number_of_packets() {
    let source = "kernel void fill(write_only pipe int to, global int *out)\n{\n\
                  out[0] = 0;\n\
                  for (int i = 0; i < 5; i++) out[0] += write_pipe(to, &i) == 0;\n\
                  out[1] = get_pipe_num_packets(to);\n\
                  out[2] = get_pipe_max_packets(to);\n}\n";
    let words = ["--options=-cl-std=CL3.0", "--kernel", "fill", "--global", "1", "--arg", "pipe:i32[3]"];
    prints(source, &[&words[..], &["--arg", "buf:i32[3]=0", "--print", "out[0..3]"]].concat(), "3 3 3");
}

#[test]
fn kernels_enqueue_kernels() {
    let source = "kernel void parent(queue_t queue, global int *out)\n{\n\
                  queue_t standard = get_default_queue();\n\
                  out[0] = enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{ out[2 + get_global_id(0)] = 7; });\n\
                  out[1] = enqueue_kernel(standard, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[6] = 8; });\n}\n";
    let words = ["--options=-cl-std=CL3.0", "--kernel", "parent", "--global", "1", "--arg", "queue:65536"];
    prints(
        source,
        &[&words[..], &["--arg", "buf:i32[7]=1", "--print", "out[0..7]"]].concat(),
        "0 0 7 7 7 7 8",
    );
}

#[test]
fn diagnostics_are_the_build_log() {
    let finished = run(
        "lavapipe-25",
        "kernel void k(global int *p) { *p = q; }\n",
        &["--kernel", "k", "--global", "1", "--arg", "buf:i32[1]=0"],
    );
    assert_ne!(finished.code(), Some(0));
    assert!(
        finished.stderr.contains("error[undeclared") && finished.stderr.contains("q"),
        "{}",
        finished.stderr
    );
}

#[test]
fn races_are_reported_with_their_lines() {
    let source = "kernel void race(global int *p)\n{\n    p[0] = (int)get_global_id(0);\n}\n";
    let words =
        ["--kernel", "race", "--global", "64", "--local", "8", "--arg", "buf:i32[1]=0", "--print", "p[0..1]"];
    let finished = run("reference", source, &words);
    let report = &finished.stderr;
    assert!(report.contains("race") && report.contains("program.cl:3"), "{report}");
}

const ONE: &str = "kernel void one(global int *p) { *p = 1; }\n";
const ONE_WORDS: [&str; 8] =
    ["--kernel", "one", "--global", "1", "--arg", "buf:i32[1]=0", "--print", "p[0..1]"];

#[test]
fn an_installed_driver_is_found() {
    let (built, prefix) = (kiln::built(), tempfile::tempdir().expect("a folder"));
    let mut install = Command::new(program("xtask"));
    install.arg("install").arg("--prefix").arg(prefix.path()).arg("--from").arg(built.path());
    process::succeed(&mut install, LIMIT);
    // Installs again, over the existing files.
    process::succeed(&mut install, LIMIT);
    let at = |path: &str| prefix.path().join(path);
    let finished =
        run_with(&at("etc/OpenCL/vendors"), "reference", ("kernel.cl", ONE.as_bytes()), &ONE_WORDS);
    assert!(finished.text().contains("p[0..1] = 1"), "{}{}", finished.text(), finished.stderr);
    let text = |path: &str| fs::read_to_string(at(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(text("share/man/man1/kiln-run.1").contains("kiln"));
    assert!(text("share/bash-completion/completions/kiln").contains("kiln"));
    // CMake finds the installed kiln next to the package.
    let project = tempfile::tempdir().expect("a folder");
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(Kiln 0.1 CONFIG REQUIRED)\n\
                 message(STATUS \"kiln is ${Kiln_EXECUTABLE}\")\n";
    fs::write(project.path().join("CMakeLists.txt"), lists).expect("a file");
    let mut cmake = Command::new("cmake");
    cmake.current_dir(project.path()).args(["-B", "build"]);
    cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display()));
    let finished = process::finish(&mut cmake, LIMIT);
    let expected = format!("kiln is {}", fs::canonicalize(at("bin/kiln")).expect("it is there").display());
    assert!(finished.text().contains(&expected), "{}{}", finished.text(), finished.stderr);
}

/// Runs a program of `opencl_driver`, which exits with 0 if all results are correct.
fn program_succeeds(name: &str) {
    program_succeeds_on(name, &["lavapipe-25", "reference"], &[]);
}

/// The same, on these devices and with these variables. With lavapipe, the platform has the reference device too, as a custom
/// device.
fn program_succeeds_on(name: &str, devices: &[&str], environment: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    name_driver(folder.path());
    let path = folder.path().join(name);
    compile(&format!("{name}.c"), &path, &["-lOpenCL"]);
    for device in devices {
        let mut command = Command::new(&path);
        Device::named(device).expect("it is known").only(&mut command).expect("it is there");
        command.env("OCL_ICD_VENDORS", format!("{}/", folder.path().display()));
        command.envs(environment.iter().copied());
        let finished = process::finish(&mut command, LIMIT);
        assert_eq!(finished.code(), Some(0), "{device}: {}{}", finished.text(), finished.stderr);
    }
}

#[test]
fn commands_form_a_graph() {
    program_succeeds("commands");
}

#[test]
fn devices_share_memory_objects() {
    program_succeeds_on("devices", &["lavapipe-25"], &[]);
}

#[test]
fn details_follow_the_specification() {
    program_succeeds("details");
}

#[test]
fn programs_can_lack_kernels() {
    program_succeeds("programs");
}

#[test]
fn mappings_have_the_contents_of_their_buffers() {
    program_succeeds("maps");
}

/// On lavapipe, whose buffers have memory of their own then.
#[test]
fn devices_copy_to_mappings() {
    program_succeeds_on("maps", &["lavapipe-25"], &[("KILN_HOST_BUFFERS", "0")]);
}

/// The OpenCL program `opencl_driver/scenario.c` on lavapipe, with the Vulkan layer `opencl_driver/faults.c`.
fn scenario(folder: &Path, words: &[&str]) -> Finished {
    let mut command = Command::new(folder.join("scenario"));
    Device::named("lavapipe-25").expect("it is known").only(&mut command).expect("it is there");
    command.env("OCL_ICD_VENDORS", format!("{}/", folder.display()));
    command.env("VK_LAYER_PATH", folder).env("VK_INSTANCE_LAYERS", "VK_LAYER_KILN_faults");
    command.env("KILN_CACHE", "off").arg(folder.join("libfaults.so")).args(words);
    process::finish(&mut command, 10 * LIMIT)
}

/// Every Vulkan call that can fail does so once: it lacks memory, or the device is lost.
#[test]
fn failures_of_vulkan_are_error_codes() {
    // The test opens the device a hundred times.
    if !nightly::tests_all("0 of 250 Vulkan calls that fail below the OpenCL driver") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    compile("faults.c", &at("libfaults.so"), &["-fPIC", "-shared", "-fvisibility=hidden"]);
    compile("scenario.c", &at("scenario"), &["-lOpenCL", "-ldl"]);
    let layer = serde_json::json!({ "file_format_version": "1.1.2", "layer": {
        "name": "VK_LAYER_KILN_faults", "type": "GLOBAL", "library_path": at("libfaults.so"),
        "api_version": "1.3.0", "implementation_version": "1", "description": "fails on request",
    } });
    fs::write(at("layer.json"), layer.to_string()).expect("a file");
    name_driver(folder.path());
    let finished = scenario(folder.path(), &["memory"]);
    assert_eq!(finished.code(), Some(0), "{}{}", finished.text(), finished.stderr);
    for number in 0..1000 {
        let finished = scenario(folder.path(), &["lost", &number.to_string()]);
        if finished.code() == Some(3) {
            assert!(number > 50, "only {number} calls can lose the device");
            return;
        }
        assert_eq!(finished.code(), Some(0), "{number}: {}{}", finished.text(), finished.stderr);
    }
    panic!("the program makes too many calls");
}

#[test]
fn a_debian_package_has_the_driver() {
    // Compression takes half a minute.
    if !nightly::tests_all("0 of 1 Debian packages") {
        return;
    }
    let (built, output) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    // Debian's packages have no debug information.
    let libraries = ["libkiln_opencl.so", "libkiln.so", "libkiln.a"].map(kiln::library);
    for file in libraries.into_iter().chain([program("kiln")]) {
        let stripped = built.path().join(file.file_name().expect("a file"));
        process::succeed(Command::new("strip").arg("--strip-debug").arg("-o").arg(stripped).arg(file), LIMIT);
    }
    let mut deb = Command::new(program("xtask"));
    process::succeed(
        deb.arg("deb").arg("--output").arg(output.path()).arg("--from").arg(built.path()),
        LIMIT,
    );
    let mut files = fs::read_dir(output.path()).expect("a folder");
    let package = files.next().expect("a package").expect("a file").path();
    let root = output.path().join("root");
    process::succeed(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&root), LIMIT);
    let named = fs::read_to_string(root.join("etc/OpenCL/vendors/kiln.icd")).expect("a file");
    let installed = root.join(named.trim().trim_start_matches('/'));
    let vendors = output.path().join("vendors");
    fs::create_dir(&vendors).expect("a folder");
    fs::write(vendors.join("kiln.icd"), installed.display().to_string()).expect("a file");
    let finished = run_with(&vendors, "reference", ("kernel.cl", ONE.as_bytes()), &ONE_WORDS);
    assert!(finished.text().contains("p[0..1] = 1"), "{}{}", finished.text(), finished.stderr);
}
