//! Options, and where they come from: the command line, files of arguments, `kiln.toml`.

use std::fs;

use crate::{GOOD, WARNED, folder, is_module, kiln};

#[test]
fn macros_are_defined_and_undefined_in_order() {
    let source = "#ifndef N\n#error no N\n#endif\n#if N != 3\n#error a different N\n#endif\n";
    let folder = folder(&[("a.cl", &format!("{source}{GOOD}"))]);
    for (options, code) in [
        (&["-DN=3"][..], 0),
        (&["-D", "N=3"], 0),
        (&["-DN"], 1),
        (&[], 1),
        (&["-DN=3", "-UN"], 1),
        (&["-UN", "-DN=3"], 0),
        (&["-DN=3", "-U", "N", "-DN=3"], 0),
    ] {
        let finished = kiln(&folder, &[&["check", "a.cl"], options].concat());
        assert_eq!(finished.code(), Some(code), "{options:?}\n{}", finished.stderr);
    }
}

#[test]
fn includes_are_searched_beside_the_source_and_in_include_folders() {
    let folder =
        folder(&[("a.cl", &format!("#include \"beside.h\"\n#include <far.h>\n{GOOD}")), ("beside.h", "")]);
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    fs::write(folder.path().join("inc/far.h"), "\n").expect("a file");
    assert_eq!(kiln(&folder, &["check", "a.cl"]).code(), Some(1));
    for options in [&["-Iinc"][..], &["-I", "inc"], &["-Inowhere", "-I", "inc"]] {
        let finished = kiln(&folder, &[&["check", "a.cl"], options].concat());
        assert_eq!(finished.code(), Some(0), "{options:?}\n{}", finished.stderr);
    }
}

#[test]
fn language_versions_have_the_spelling_of_opencl() {
    let folder = folder(&[("a.cl", "#if __OPENCL_C_VERSION__ != WANTED\n#error\n#endif\n")]);
    for (std, version) in [("CL1.2", "120"), ("CL2.0", "200"), ("CL3.0", "300"), ("CL3.1", "310")] {
        let finished =
            kiln(&folder, &["check", "a.cl", &format!("-cl-std={std}"), &format!("-DWANTED={version}")]);
        assert_eq!(finished.code(), Some(0), "{std}\n{}", finished.stderr);
    }
    assert_eq!(kiln(&folder, &["check", "a.cl", "-DWANTED=200"]).code(), Some(0), "2.0 is the default");
}

#[test]
fn warnings_can_be_disabled() {
    let folder = folder(&[("warned.cl", WARNED)]);
    for (options, seen) in [(&[][..], true), (&["-w"], false), (&["-Wno-macro-redefined"], false)] {
        let finished = kiln(&folder, &[&["check", "warned.cl"], options].concat());
        assert_eq!(finished.stderr.contains("macro-redefined"), seen, "{options:?}\n{}", finished.stderr);
        assert_eq!(finished.code(), Some(0));
    }
}

#[test]
fn the_last_of_repeated_options_applies() {
    let folder = folder(&[(
        "std.cl",
        "#if __OPENCL_C_VERSION__ != 300\n#error version\n#endif\nkernel void k(void) {}\n",
    )]);
    let given =
        ["check", "-w", "-w", "-O2", "-O0", "-cl-std=CL1.2", "-cl-std=CL3.0", "-DA=1", "-DB=2", "std.cl"];
    let finished = kiln(&folder, &given);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
}

#[test]
fn arguments_can_be_in_a_file() {
    let folder = folder(&[
        ("k.cl", "kernel void k(global int *out) { out[0] = N; }\n"),
        ("args", "-D N=1\n-cl-std=CL3.0 'k.cl'\n"),
    ]);
    assert_eq!(kiln(&folder, &["check", "@args"]).code(), Some(0));
    let missing = kiln(&folder, &["check", "@missing"]);
    assert_eq!(missing.code(), Some(2));
    assert!(missing.stderr.contains("missing"), "{}", missing.stderr);
}

#[test]
fn response_files_contain_arguments() {
    let files = [
        ("k.cl", GOOD),
        ("words", "'-DNAME=a b' @more\n"),
        ("more", "k.cl -o k.spv\n"),
        ("cycle", "@cycle"),
        ("open", "'k.cl"),
    ];
    let folder = folder(&files);
    assert_eq!(kiln(&folder, &["compile", "@words"]).code(), Some(0));
    assert!(is_module(&folder.path().join("k.spv")));
    let fails = |word| {
        let run = kiln(&folder, &["compile", word]);
        assert_eq!(run.code(), Some(2), "{word}");
        run.stderr
    };
    assert_eq!(fails("@cycle"), "error: response files are nested more than 16 deep: `cycle`\n");
    assert_eq!(fails("@open"), "error: the response file `open` has an unmatched quotation mark\n");
    assert!(fails("@none").starts_with("error: the response file `none` cannot be read: "));
}

#[test]
fn a_source_after_two_dashes_is_not_an_option() {
    let folder = folder(&[("-MD.cl", GOOD)]);
    assert_eq!(kiln(&folder, &["compile", "-o", "k.spv", "--", "-MD.cl"]).code(), Some(0));
    assert!(is_module(&folder.path().join("k.spv")));
}

#[test]
fn short_options_preprocess_and_assemble() {
    let folder = folder(&[("k.cl", "#define N 5\nkernel void k(global int *out) { out[0] = N; }\n")]);
    assert!(kiln(&folder, &["compile", "-E", "k.cl"]).text().contains("out[0] = 5;"));
    assert!(kiln(&folder, &["compile", "-S", "k.cl"]).text().contains("OpEntryPoint"));
}

#[test]
fn options_of_clang_are_accepted() {
    let folder = folder(&[("k.cl", "#include <far.h>\nkernel void k(global int *out) { out[0] = N; }\n")]);
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    fs::write(folder.path().join("inc/far.h"), "#define N __OPENCL_C_VERSION__\n").expect("a file");
    let line = "-x cl -std=CL2.0 -isystem inc -Wall -Wextra -pedantic -Os -g -g0 -ffast-math k.cl -o k.spv";
    let words: Vec<&str> = line.split(' ').collect();
    let finished = kiln(&folder, &words);
    assert_eq!((finished.code(), finished.stderr.as_str()), (Some(0), ""));
    assert!(is_module(&folder.path().join("k.spv")));
    assert!(kiln(&folder, &["-E", "-std=CL3.0", "-isystem", "inc", "k.cl"]).text().contains("out[0] = 300;"));
    let finished = kiln(&folder, &["-c", "-fPIC", "-Iinc", "k.cl"]);
    assert_eq!(finished.code(), Some(0));
    assert_eq!(finished.stderr, "kiln: note: `-fPIC` has no effect here\n");
    assert!(folder.path().join("k.o").exists());
    let finished = kiln(&folder, &["-emit-llvm", "-Iinc", "k.cl"]);
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr.contains("write `-S` for SPIR-V assembly"), "{}", finished.stderr);
}

#[test]
fn a_project_file_configures_the_sources_below_it() {
    let source = "#include <n.h>\nkernel void k(global int *out) { out[0] = N; }\n";
    let folder = folder(&[
        (
            "kiln.toml",
            "define = [\"BASE=7\"]\ninclude = [\"inc\"]\nflags = [\"-pedantic\"]\nenv = \"opencl\"\n",
        ),
        ("k.cl", source),
    ]);
    for (name, text) in [
        ("inc/n.h", "#define N BASE\n"),
        ("inner/kiln.toml", "define = [\"N=5\"]\n"),
        ("inner/n.h", ""),
        ("inner/k.cl", "#include \"n.h\"\nkernel void k(global int *out) { out[0] = N; }\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let text = |words: &[&str]| {
        let finished = kiln(&folder, words);
        assert_eq!(finished.code(), Some(0), "{words:?}: {}", finished.stderr);
        finished.text()
    };
    assert!(text(&["-E", "k.cl"]).contains("out[0] = 7;"));
    assert!(text(&["-E", "-DBASE=9", "-w", "k.cl"]).contains("out[0] = 9;"));
    assert!(text(&["-S", "k.cl"]).contains("OpMemoryModel Physical64 OpenCL"));
    assert!(text(&["-S", "--env", "vulkan", "k.cl"]).contains("Vulkan"));
    let both = text(&["-E", "k.cl", "inner/k.cl"]);
    assert!(both.contains("out[0] = 7;") && both.contains("out[0] = 5;"), "{both}");
    let launch = ["--device", "reference", "--global", "1", "--arg", "buf:int[1]", "--check", "out[0]=5"];
    text(&[&["run", "inner/k.cl"], &launch[..]].concat());
    text(&["k.cl", "-MD"]);
    let rule = fs::read_to_string(folder.path().join("k.d")).expect("the rule");
    assert_eq!(rule, "k.spv: \\\n  k.cl \\\n  inc/n.h \\\n  kiln.toml\n");
    assert_eq!(kiln(&folder, &["check", "--no-config", "k.cl"]).code(), Some(1));
    for (content, message) in [
        ("std = \"CL2.0\"\ninclud = []\n", "kiln.toml:2: there is no key `includ`"),
        ("flags = [\"--nosuch\"]\n", "kiln.toml: unexpected argument '--nosuch' found"),
    ] {
        fs::write(folder.path().join("kiln.toml"), content).expect("a file");
        let finished = kiln(&folder, &["check", "k.cl"]);
        assert_eq!(finished.code(), Some(2));
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
        assert!(!finished.stderr.contains("Usage"), "{}", finished.stderr);
    }
}

#[test]
fn unknown_warning_options_are_reported() {
    let folder = folder(&[("good.cl", GOOD)]);
    let check = |word| {
        let run = kiln(&folder, &["check", "-c", "-x", "cl", word, "good.cl"]);
        (run.code(), run.stderr)
    };
    let wanted = "kiln: warning: unknown warning `unused-variabel`; did you mean `unused-variable`?\n";
    assert_eq!(check("-Wunused-variabel"), (Some(0), wanted.to_owned()));
    for word in ["-Wno-unheard-of", "-Wall", "-Wextra", "-Wpedantic", "-Werror=unused-variable"] {
        assert_eq!(check(word), (Some(0), String::new()), "{word}");
    }
}

#[test]
fn unknown_extensions_are_reported() {
    let folder = folder(&[("good.cl", GOOD)]);
    let check = |list: &str| {
        let run = kiln(&folder, &["check", "-cl-ext", list, "good.cl"]);
        (run.code(), run.stderr)
    };
    let wanted = "kiln: warning: unknown extension `cl_khr_int64_base_atomic`; did you mean `cl_khr_int64_base_atomics`?\n";
    assert_eq!(check("+cl_khr_int64_base_atomic,-cl_khr_none"), (Some(0), wanted.to_owned()));
    assert_eq!(check("all,+cl_khr_fp16,+cl_amd_fp64"), (Some(0), String::new()));
}

#[test]
fn completions_and_manual_pages_contain_the_commands() {
    let folder = folder(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(kiln(&folder, &["completions", shell]).text().contains("diagnostic-format"), "{shell}");
    }
    assert_eq!(kiln(&folder, &["man", "pages"]).code(), Some(0));
    let page = fs::read_to_string(folder.path().join("pages/kiln-compile.1")).expect("a page");
    assert!(page.contains(".TH kiln-compile 1  \"kiln ") && page.contains("cl\\-std"), "{page}");
}
