//! Outputs other than modules: stages, assembly, interfaces for hosts, dependency files.

use std::fs;

use kiln_testsuite::root;

use crate::{GOOD, folder, is_module, kiln, names, succeed};

#[test]
fn every_stage_can_be_printed() {
    let folder = folder(&[("good.cl", GOOD)]);
    for stage in ["pp", "ast", "hir", "ir", "asm"] {
        let finished = kiln(&folder, &["compile", "good.cl", "--emit", stage]);
        assert_eq!(finished.code(), Some(0), "{stage}\n{}", finished.stderr);
        assert!(!finished.text().trim().is_empty(), "{stage}");
    }
    for stage in ["hir", "ir", "ir-after=dead_code_early"] {
        let finished = kiln(&folder, &["compile", "good.cl", "-g", "--emit", stage]);
        assert!(finished.text().contains("// good.cl:1:"), "{stage}\n{}", finished.text());
    }
    assert_eq!(names(&folder), ["good.cl"], "text goes to standard output");
}

#[test]
fn the_interface_is_emitted_as_json_c_and_rust() {
    let source = "struct pair { char a; float4 b; };\nkernel void k(global struct pair *p, local int *scratch) { p->a = 1; }\n";
    let folder = folder(&[("pairs.cl", source)]);
    let json = kiln(&folder, &["compile", "pairs.cl", "--emit", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["records"][0]["members"][1]["offset"], 16);
    assert_eq!(json["kernels"][0]["parameters"][1]["kind"], "local");
    for (form, name, wanted) in
        [("header", "pairs.h", "KERNEL_K_SCRATCH 1"), ("rust", "pairs.rs", "pub unsafe fn k(")]
    {
        assert_eq!(kiln(&folder, &["compile", "pairs.cl", "--emit", form]).code(), Some(0));
        let text = fs::read_to_string(folder.path().join(name)).expect("a file");
        assert!(text.contains(wanted), "{text}");
    }
    // A C compiler checks the assertions in the header, and reads the module in it.
    let user = "#include \"pairs.h\"\nint main(void) { return pairs_spirv[0] != 0x07230203 || sizeof(struct pair) != 32; }\n";
    fs::write(folder.path().join("user.c"), user).expect("a file");
    let run = |words: &[&str]| succeed(&folder, words);
    run(&["cc", "-std=c11", "-Wall", "-Werror", "user.c", "-o", "user"]);
    run(&["./user"]);
    // The same file is C++.
    fs::copy(folder.path().join("user.c"), folder.path().join("user.cpp")).expect("a file");
    for compiler in ["g++", "clang++-15"] {
        for standard in ["-std=c++11", "-std=c++20"] {
            run(&[compiler, standard, "-Wall", "-Wextra", "-Werror", "user.cpp", "-o", "user"]);
            run(&["./user"]);
        }
    }
    run(&["clang-15", "-std=c17", "-Wall", "-Wextra", "-Werror", "user.c", "-o", "user"]);
}

#[test]
fn dependency_files_have_the_format_of_clang() {
    let source = "#include \"a b.h\"\n#include \"c.h\"\nkernel void k() {}\n";
    let folder = folder(&[("k.cl", source), ("a b.h", "#include \"c.h\"\n"), ("c.h", "#pragma once\n")]);
    let rule = "k.spv: \\\n  k.cl \\\n  a\\ b.h \\\n  c.h\n";
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-M"]).text(), rule);
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-M", "-MFm.d", "-o", "none"]).text(), "");
    assert_eq!(fs::read_to_string(folder.path().join("m.d")).expect("a file"), rule);
    assert!(!folder.path().join("k.spv").exists() && !folder.path().join("none").exists());
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-MD", "-MT", "$(X)", "-MP"]).code(), Some(0));
    let written = fs::read_to_string(folder.path().join("k.d")).expect("a file");
    assert_eq!(written, rule.replace("k.spv", "$(X)") + "a\\ b.h:\nc.h:\n");
    assert!(is_module(&folder.path().join("k.spv")));
    // The output of clang for the same source, except for its name of the target.
    let clang = ["clang-15", "-x", "cl", "-cl-std=CL2.0", "-M", "-MT", "k.spv", "k.cl"];
    let files = |text: &str| {
        let words = text.split_whitespace().filter(|word| *word != "\\" && !word.starts_with('/'));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(files(&succeed(&folder, &clang)), files(rule));
}

/// The assembler of SPIRV-Tools reads the output of `-S` and produces the same module.
#[test]
fn assembly_can_be_assembled() {
    let folder = folder(&[]);
    let odd = "constant float t[] = { INFINITY, -0.0f, 1e-40f, 0.1f, 3e38f, NAN };
        kernel void k(global float *x, global half *h, global double *d, int i, global char *c) {
            x[0] = t[i]; vstore_half_rtz(x[1], 0, h); d[0] = -INFINITY; d[1] = 0.1;
            switch (c[0]) { case -1: x[2] = 1; break; case 5: x[2] = 2; }
            printf(\"%d \\\"x\\\"\\n\", i);
        }\n";
    fs::write(folder.path().join("odd.cl"), odd).expect("written");
    let histogram = root().join("examples/histogram/histogram.cl").to_string_lossy().into_owned();
    for (source, env, version, more) in [
        (&histogram[..], "vulkan", "spv1.5", "-g"),
        (&histogram, "opencl", "spv1.2", "-O2"),
        ("odd.cl", "vulkan", "spv1.5", "-g"),
        ("odd.cl", "opencl", "spv1.2", "-O0"),
    ] {
        let common = ["compile", source, "--env", env, more];
        let text = kiln(&folder, &[&common[..], &["-S", "-o", "a.spvasm"]].concat());
        assert_eq!(text.code(), Some(0), "{}", text.text());
        kiln(&folder, &[&common[..], &["-o", "a.spv"]].concat());
        let assembler = ["spirv-as", "--preserve-numeric-ids", "--target-env", version];
        succeed(&folder, &[&assembler[..], &["a.spvasm", "-o", "b.spv"]].concat());
        // The generator differs, and the bound may differ.
        let words = |name: &str| fs::read(folder.path().join(name)).expect("a module").split_off(20);
        assert!(words("a.spv") == words("b.spv"), "{source} for {env} is a different module");
    }
}
