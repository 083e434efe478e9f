//! Programs and launches that reach a limit or are rejected: of the environment, the stack, the contents of buffers.

use std::fs;

use crate::{GOOD, folder, is_module, kiln};

#[test]
fn sources_without_kernels_need_the_opencl_environment() {
    let folder = folder(&[("h.cl", "int twice(int x) { return 2 * x; }\n")]);
    assert_eq!(kiln(&folder, &["h.cl", "--env", "opencl", "-o", "h.spv"]).code(), Some(0));
    assert!(is_module(&folder.path().join("h.spv")));
    let vulkan = kiln(&folder, &["h.cl", "-o", "v.spv"]);
    assert_eq!(vulkan.code(), Some(1));
    assert!(vulkan.stderr.contains("this program has no kernel"), "{}", vulkan.stderr);
    let source = "static void sq(global float *x) { *x *= *x; }\nvoid add(global float *a) { sq(a + 1); }\n";
    fs::write(folder.path().join("a.cl"), source).expect("a file");
    let forgotten = kiln(&folder, &["--diagnostic-format", "gcc", "a.cl", "-o", "v.spv"]);
    assert_eq!(forgotten.code(), Some(1));
    assert!(
        forgotten.stderr.starts_with("a.cl:2:6: error: this program has no kernel"),
        "{}",
        forgotten.stderr
    );
    assert!(forgotten.stderr.contains("write `kernel` before `void`"), "{}", forgotten.stderr);
}

#[test]
fn launches_have_no_options_of_the_compiler() {
    let folder = folder(&[("k.cl", &format!("// kiln run --cl-std CL2.0 --global 1\n{GOOD}"))]);
    let finished = kiln(&folder, &["run", "--device", "reference", "k.cl"]);
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr.contains("`--cl-std` is an option of the compiler"), "{}", finished.stderr);
}

#[test]
fn buffer_contents_are_bounded() {
    let source = "kernel void k(global int *o) {}\n";
    let folder = folder(&[("k.cl", source), ("nine", "123456789")]);
    let run = |argument: &str| {
        let words =
            ["run", "k.cl", "--device", "reference", "--global", "1", "--arg", argument, "--print", "o"];
        let run = kiln(&folder, &words);
        (run.code(), run.text().to_owned() + &run.stderr)
    };
    assert_eq!(run("buf:int[2]=file:/dev/zero"), (Some(0), "o[0..2] = 0 0\n".to_owned()));
    let wanted = "kiln: error: `nine` has more than the 8 bytes of the buffer\n";
    assert_eq!(run("buf:int[2]=file:nine"), (Some(2), wanted.to_owned()));
    let wanted = "kiln: error: `0..99999999999` has too many numbers; write a formula of `iota`\n";
    assert_eq!(run("buf:int[2]=0..99999999999"), (Some(2), wanted.to_owned()));
    let folder_as_file = "kiln: error: cannot read `.`: Is a directory (os error 21)\n";
    assert_eq!(run("buf:int[2]=file:."), (Some(2), folder_as_file.to_owned()));
}

#[test]
fn cyclic_address_initializers_are_rejected_if_unsupported() {
    let source = "struct node { global struct node *next; };\nextern global struct node a;\n\
                  global struct node b = { &a };\nglobal struct node a = { &b };\n\
                  kernel void k(global int *out) { out[0] = a.next->next == &a; }\n";
    let folder = folder(&[("circle.cl", source)]);
    assert_eq!(kiln(&folder, &["compile", "--env", "vulkan", "circle.cl"]).code(), Some(0));
    let rejected = kiln(&folder, &["compile", "--env", "opencl", "circle.cl"]);
    assert_eq!(rejected.code(), Some(1));
    assert!(rejected.stderr.contains("each other's addresses"), "{}", rejected.stderr);
}

#[test]
fn sums_of_thousands_of_terms_do_not_overflow_the_stack() {
    let sum = |terms: usize| {
        let terms = vec!["a"; terms].join(" + ");
        format!("kernel void k(global int *out) {{ int a = out[0]; out[1] = {terms}; }}\n")
    };
    let folder = folder(&[("long.cl", &sum(1500)), ("endless.cl", &sum(100_000))]);
    for environment in ["vulkan", "opencl"] {
        let words = ["compile", "--env", environment, "long.cl", "-o", "out.spv"];
        assert_eq!(kiln(&folder, &words).code(), Some(0), "{environment}");
        assert!(is_module(&folder.path().join("out.spv")));
    }
    let rejected = kiln(&folder, &["check", "endless.cl"]);
    assert_eq!(rejected.code(), Some(1));
    assert_eq!(rejected.stderr.matches("error[nesting-depth]").count(), 1, "{}", rejected.stderr);
}
