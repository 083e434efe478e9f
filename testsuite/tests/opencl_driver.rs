//! The OpenCL driver through the system's loader: `kiln-oracle` is an OpenCL program that does not know Kiln.

use std::{env, fs, path::PathBuf, process::Command};

use kiln_testsuite::{
    device::Device,
    kiln::{LIMIT, program},
    process::{self, Finished},
};

/// The driver, which Cargo builds beside this test as one of its dependencies.
fn library() -> PathBuf {
    let this = env::current_exe().expect("a program knows where it is");
    let library = this.with_file_name("libkiln_opencl.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}

/// Runs a launch on a device, with this driver as the only one.
fn run(device: &str, source: &str, words: &[&str]) -> Finished {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("kernel.cl", source);
    write("kiln.icd", &format!("{}\n", library().display()));
    let mut command = Command::new(program("kiln-oracle"));
    let device = Device::named(device).expect("it is known");
    device.only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
    // Debian's loader reads a folder only if its name ends with a slash.
    command.env("OCL_ICD_VENDORS", format!("{}/", folder.path().display()));
    command.arg(folder.path().join("kernel.cl")).args(["--platform", "Kiln"]).args(words);
    process::run(&mut command, b"", LIMIT).unwrap_or_else(|reason| panic!("{reason}"))
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
