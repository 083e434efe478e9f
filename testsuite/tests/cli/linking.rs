//! `kiln compile -c` and `kiln link`: programs in parts, in both environments, and their mistakes.

use std::fs;

use crate::{folder, is_module, kiln};

const HEADER: &str = "typedef struct { int a; float b; } pair;\n\
                      int half_of(int x);\nextern constant int table[];\nextern global int counter;\nfloat sum(pair p);\n";
const FIRST: &str = "#include \"a.h\"\nint half_of(int x) { return x / 2; }\n\
                     constant int table[] = {10, 20, 30};\nglobal int counter = 5;\n\
                     static int helper(int x) { return x + 1; }\n\
                     float sum(pair p) { return p.a + p.b + helper(0); }\n\
                     kernel void first(global int *out) { out[get_global_id(0)] = helper(3); }\n";
const SECOND: &str = "#include \"a.h\"\nstatic int helper(int x) { return x - 1; }\nkernel void second(global int *out) {\n\
                      pair p = {2, 0.5f};\n\
                      out[get_global_id(0)] = half_of(9) + table[1] + counter + (int)(2 * sum(p)) + helper(0);\n}\n";

#[test]
fn parts_become_programs() {
    let folder = folder(&[("a.h", HEADER), ("a.cl", FIRST), ("b.cl", SECOND)]);
    for env in ["vulkan", "opencl"] {
        let on = |words: &[&str]| {
            let finished = kiln(&folder, &[words, &["--env", env]].concat());
            assert_eq!((finished.code(), finished.stderr.as_str()), (Some(0), ""), "{words:?} for {env}");
        };
        on(&["compile", "-c", "a.cl", "b.cl"]);
        let part = fs::read_to_string(folder.path().join("a.o")).expect("a part is text");
        assert!(part.starts_with("kiln-part 1 ") && part.contains("\"half_of\" exported"), "{part}");
        on(&["link", "a.o", "b.o", "-o", "linked.spv"]);
        on(&["link", "a.cl", "b.o", "-o", "mixed.spv"]);
        on(&["link", "--library", "a.o", "-o", "library.o"]);
        on(&["link", "library.o", "b.o", "-o", "again.spv"]);
        let bytes = |name: &str| fs::read(folder.path().join(name)).expect("a module");
        assert!(is_module(&folder.path().join("linked.spv")));
        assert!(bytes("linked.spv") == bytes("mixed.spv") && bytes("linked.spv") == bytes("again.spv"));
        assert_eq!(kiln(&folder, &["verify", "linked.spv"]).code(), Some(0));
        let printed = kiln(&folder, &["reflect", "linked.spv"]).text();
        assert!(printed.contains("kernel first") && printed.contains("kernel second"), "{printed}");
        let device = if env == "vulkan" { "vulkan-reference" } else { "kiln reference" };
        let run = ["run", "linked.spv", "--device", device, "--kernel", "second", "--global", "2"];
        let run = kiln(&folder, &[&run[..], &["--arg", "buf:int[2]", "--print", "out"]].concat());
        assert_eq!((run.code(), run.text().as_str()), (Some(0), "out[0..2] = 35 35\n"), "{}", run.stderr);
    }
}

/// Both positions of a mistake are shown, in the sources of the parts.
#[test]
fn mistakes_of_programs_are_located() {
    let folder = folder(&[
        ("f.cl", "int f(int x) { return x; }\nglobal int v = 1;\n"),
        ("same.cl", "\nint f(int x) { return 2 * x; }\nglobal int v;\n"),
        (
            "user.cl",
            "float f(float x);\nint missing(int x);\nextern global int nowhere;\nint g(int x);\n\
             int h(int x) { return g(x); }\n\
             kernel void k(global int *p) { p[0] = f(1) + missing(2) + nowhere + h(3); }\n",
        ),
        ("circle.cl", "int h(int x);\n#line 70 \"told.cl\"\nint g(int x) { return h(x); }\n"),
        ("alone.cl", "int missing(int x);\nkernel void k(global int *p) { p[0] = missing(2); }\n"),
        ("unused.cl", "int missing(int x);\nint f(int x) { return missing(x); }\nkernel void k() {}\n"),
    ]);
    let names = ["f", "same", "user", "circle", "alone", "unused"];
    for name in names {
        let finished = kiln(&folder, &["compile", "-c", &format!("{name}.cl")]);
        assert_eq!((finished.code(), finished.stderr.as_str()), (Some(0), ""), "{name}");
    }
    // The sources are in the parts.
    names.iter().for_each(|name| fs::remove_file(folder.path().join(format!("{name}.cl"))).unwrap());
    let link = |parts: &[&str]| {
        let finished =
            kiln(&folder, &[&["link", "--diagnostic-format", "gcc", "-o", "out.spv"], parts].concat());
        (finished.code(), finished.stderr)
    };
    for (parts, expected) in [
        (
            &["f.o", "same.o"][..],
            &[
                "same.cl:2:5: error: `f` is defined in two parts of the program",
                "f.cl:1:5: note: first defined here",
                "same.cl:3:12: error: `v` is defined in two parts of the program",
            ][..],
        ),
        (
            &["user.o", "f.o"],
            &["user.cl:1:7: error: `f` has a different type here", "f.cl:1:5: note: the other part"],
        ),
        (
            &["alone.o"],
            &["alone.cl:2:39: error: no part of the program defines `missing`", "alone.cl:1:5: note: "],
        ),
        (&["user.o", "circle.o"], &["`g` calls `h`, which calls `g` again", "told.cl:70:23: error: "]),
    ] {
        let (code, found) = link(parts);
        assert_eq!(code, Some(1), "{parts:?}");
        for part in expected {
            assert!(found.contains(part), "`{part}` in\n{found}");
        }
    }
    assert!(link(&["user.o"]).1.contains("no part of the program defines `nowhere`"));
    // Functions that no kernel calls may be undefined.
    assert_eq!(link(&["unused.o"]), (Some(0), String::new()));
}

#[test]
fn unusable_parts_are_rejected() {
    let folder = folder(&[("a.cl", "int f(int x) { return x; }\nkernel void k() {}\n")]);
    assert_eq!(kiln(&folder, &["compile", "-c", "a.cl"]).code(), Some(0));
    assert_eq!(kiln(&folder, &["compile", "a.cl"]).code(), Some(0));
    let part = fs::read_to_string(folder.path().join("a.o")).expect("a part");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("damaged.o", &part.replace("return", "retern"));
    write("half.o", &part[..part.len() / 2]);
    write("old.o", &part.replace("kiln-part 1 ", "kiln-part 0 "));
    for (words, expected) in [
        (&["damaged.o"][..], "damaged.o: the part is damaged: compile it again"),
        (&["half.o"], "half.o: the part is damaged"),
        (&["old.o"], "the part has version 0, and this Kiln links version 1"),
        (&["a.spv"], "a.spv: it is a SPIR-V module, not a part"),
        (
            &["a.o", "--env", "opencl"],
            "the part `a.cl` was compiled for Vulkan, and the program is for OpenCL",
        ),
        (&["no.o"], "cannot read `no.o`"),
    ] {
        let finished = kiln(&folder, &[&["link", "-o", "out.spv"], words].concat());
        assert_eq!(finished.code(), Some(2), "{words:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "`{expected}` in\n{}", finished.stderr);
    }
    let finished = kiln(&folder, &["link", "a.o", "-o", "a.o"]);
    assert!(finished.stderr.contains("would replace an input"), "{}", finished.stderr);
    // Objects with linkage attributes are for other linkers, and for OpenCL only.
    let object = ["compile", "--emit", "object", "--env", "opencl", "a.cl", "-o", "object.o"];
    assert_eq!(kiln(&folder, &object).code(), Some(0));
    assert!(is_module(&folder.path().join("object.o")));
    for words in [&["compile", "-c", "-S", "a.cl"][..], &["compile", "--emit", "object", "a.cl"]] {
        let finished = kiln(&folder, words);
        assert_eq!(finished.code(), Some(2));
        assert!(finished.stderr.contains("is a complete program"), "{}", finished.stderr);
    }
}
