//! The contents of modules, and the output of `kiln verify` and `kiln reflect`.

use std::fs;

use kiln_testsuite::{device::Device, module};

use crate::{GOOD, command, folder, kiln, kiln_with};

#[test]
fn modules_are_verified() {
    let folder = folder(&[("good.cl", "kernel void k() { barrier(CLK_LOCAL_MEM_FENCE); }")]);
    for environment in ["opencl", "vulkan"] {
        assert_eq!(kiln(&folder, &["compile", "--env", environment, "good.cl"]).code(), Some(0));
        let found = kiln(&folder, &["verify", "good.spv"]);
        assert_eq!((found.code(), found.text().as_str()), (Some(0), ""), "{environment}");
    }
    let good = fs::read(folder.path().join("good.spv")).unwrap();
    let words = || good.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    // The semantics of the barrier, with Acquire beside AcquireRelease.
    let bad = words().flat_map(|word| if word == 0x6108 { 0x610a } else { word }.to_le_bytes()).collect();
    let swapped: Vec<u8> = words().flat_map(u32::to_be_bytes).collect();
    let half = good[..good.len() - 2].to_vec();
    for (name, bytes, code) in
        [("bad.spv", bad, 1), ("swapped.spv", swapped, 0), ("half.spv", half, 2), ("empty.spv", vec![], 1)]
    {
        fs::write(folder.path().join(name), bytes).unwrap();
        assert_eq!(kiln(&folder, &["verify", name]).code(), Some(code), "{name}");
    }
    let found = kiln(&folder, &["verify", "good.spv", "bad.spv"]).text();
    assert!(found.starts_with("bad.spv: word ") && found.contains(": OpControlBarrier: "), "{found}");
    assert!(found.trim_end().ends_with("[VUID-StandaloneSpirv-MemorySemantics-10865]"), "{found}");
    let found: serde_json::Value =
        serde_json::from_str(&kiln(&folder, &["verify", "--json", "bad.spv"]).text()).unwrap();
    assert_eq!(found["rule"], "VUID-StandaloneSpirv-MemorySemantics-10865");
    assert_eq!(found["byte"].as_u64(), found["word"].as_u64().map(|word| word * 4));
    assert_eq!(kiln(&folder, &["verify", "nowhere.spv"]).code(), Some(2));
    let rules = kiln(&folder, &["verify", "--rules"]).text();
    assert!(rules.contains("VUID-StandaloneSpirv-MemorySemantics-10865: "), "{rules}");
}

/// No device gets a module that `kiln verify` rejects, also not the reference device, which executes kernel modules.
#[test]
fn invalid_modules_are_not_run() {
    let folder = folder(&[("k.cl", "kernel void k(global int *o) { o[0] = 1; }")]);
    for environment in ["opencl", "vulkan"] {
        let compiled = kiln(&folder, &["compile", "--env", environment, "-O0", "k.cl", "-o", "k.spv"]);
        assert_eq!(compiled.code(), Some(0), "{}", compiled.stderr);
        let bytes = fs::read(folder.path().join("k.spv")).unwrap();
        let mut words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        // Stores the pointer in place of the value.
        let store = words.iter().rposition(|word| word & 0xffff == 62).unwrap();
        words[store + 2] = words[store + 1];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(folder.path().join("bad.spv"), bytes).unwrap();
        assert_eq!(kiln(&folder, &["verify", "bad.spv"]).code(), Some(1));
        for device in ["lavapipe", "reference", "vulkan-reference"] {
            let mut run = command(&folder, &["run", "bad.spv", "--global", "1", "--arg", "buf:int[1]"]);
            Device::named(device).expect("a device").only(&mut run).expect("it is installed");
            let found = kiln_with(&mut run, "");
            // A Vulkan module is not a module for the reference device of the OpenCL environment.
            let is_other = environment == "vulkan" && device == "reference";
            let wanted = if is_other { "compile" } else { "[SPIRV-access-type]" };
            assert!(found.code() != Some(0) && found.stderr.contains(wanted), "{device}: {}", found.stderr);
        }
    }
}

#[test]
fn the_interface_of_modules_is_printed() {
    let source = "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n\
                  void k(global float4 *out, constant int *table, local int *scratch, uint n)\n\
                  { scratch[0] = n; out[0] = table[scratch[0]]; }\n";
    let folder = folder(&[("k.cl", source)]);
    assert_eq!(kiln(&folder, &["compile", "k.cl"]).code(), Some(0));
    assert_eq!(kiln(&folder, &["compile", "--env", "opencl", "k.cl", "-o", "opencl.spv"]).code(), Some(0));
    let printed = kiln(&folder, &["reflect", "k.spv"]).text();
    for part in [
        "kernel k",
        "8 × 1 × 1",
        "0  out",
        "global float4*",
        "4 bytes, push constants + ",
        "elements of 4 bytes",
    ] {
        assert!(printed.contains(part), "`{part}` in\n{printed}");
    }
    let of = |module: &str| -> serde_json::Value {
        serde_json::from_str(&kiln(&folder, &["reflect", "--json", module]).text()).expect("JSON")
    };
    for module in ["k.spv", "opencl.spv"] {
        let kernel = &of(module)["kernels"][0];
        assert_eq!((&kernel["name"], &kernel["reqd_work_group_size"][0]), (&"k".into(), &8.into()));
        let arguments = kernel["arguments"].as_array().expect("arguments");
        let kinds: Vec<_> =
            arguments.iter().map(|argument| argument["kind"].as_str().expect("a word")).collect();
        assert_eq!(kinds, ["buffer", "buffer", "local", "value"], "{module}");
        assert_eq!((&arguments[3]["name"], &arguments[3]["size"]), (&"n".into(), &4.into()));
    }
    assert_eq!(of("k.spv")["kernels"][0]["arguments"][1]["address_space"], "constant");
    fs::write(folder.path().join("bad.spv"), "no module, 19 bytes").expect("a file");
    assert_eq!(kiln(&folder, &["reflect", "bad.spv"]).code(), Some(2));
}

#[test]
fn the_spirv_version_can_be_chosen() {
    let folder = folder(&[("good.cl", GOOD)]);
    for (environment, version, code) in [
        ("vulkan", "1.6", 0),
        ("opencl", "1.0", 0),
        ("opencl", "1.4", 0),
        ("vulkan", "1.3", 2),
        ("opencl", "2.0", 2),
    ] {
        let finished = kiln(
            &folder,
            &["compile", "--env", environment, "--spirv-version", version, "good.cl", "-o", "out.spv"],
        );
        assert_eq!(finished.code(), Some(code), "{environment} {version}: {}", finished.stderr);
        if code == 0 {
            let printed = kiln(&folder, &["reflect", "out.spv"]).text();
            assert!(printed.starts_with(&format!("out.spv: SPIR-V {version}\n")), "{printed}");
        }
    }
}

#[test]
fn a_stripped_module_has_no_names_and_no_interface() {
    let folder = folder(&[(
        "named.cl",
        "kernel void k(global int *remarkable) { local int odd; odd = 1; *remarkable = odd; }\n",
    )]);
    for environment in ["vulkan", "opencl"] {
        let module = |words: &[&str]| {
            let words = [&["compile", "named.cl", "--env", environment, "-o", "out.spv"], words].concat();
            let finished = kiln(&folder, &words);
            assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
            module::check(&folder.path().join("out.spv"), environment)
                .unwrap_or_else(|reason| panic!("{reason}"));
            fs::read(folder.path().join("out.spv")).expect("a module")
        };
        let has = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
        let (whole, stripped) = (module(&[]), module(&["--strip"]));
        assert!(has(&whole, "remarkable") && whole.len() > stripped.len());
        assert!(!has(&stripped, "remarkable") && !has(&stripped, "NonSemantic"));
    }
    assert_eq!(kiln(&folder, &["compile", "named.cl", "--strip", "-g"]).status.code(), Some(2));
}

#[test]
fn debug_information_is_valid_and_independent_of_the_folder() {
    let text = "float f(float x) { for (int i = 0; i < 9; ++i) x = sin(x) * x; return x; }\n\
                kernel void k(global float *o, float4 v, int n) {\n\
                    local float tile[8]; float mine[8];\n\
                    for (int i = 0; i < 8; ++i) mine[(i + n) & 7] = v.x;\n\
                    tile[n & 7] = f(mine[n & 7]) + f(1);\n\
                    o[n] = tile[n];\n\
                }\n";
    let module = |words: &[&str]| {
        let folder = folder(&[("lines.cl", text)]);
        let words = [&["compile", "lines.cl", "-g", "-o", "out.spv"], words].concat();
        let finished = kiln(&folder, &words);
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
        let environment = if words.contains(&"opencl") { "opencl" } else { "vulkan" };
        module::check(&folder.path().join("out.spv"), environment)
            .unwrap_or_else(|reason| panic!("{reason}"));
        fs::read(folder.path().join("out.spv")).expect("a module")
    };
    for words in [&[][..], &["-O0"], &["--env", "opencl"], &["--device-profile", "minimal"]] {
        assert_eq!(module(words), module(words));
    }
    let words: Vec<u32> = module(&[])
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    // OpExtInst is 12, and its fifth word is the number in the set: DebugLocalVariable, DebugGlobalVariable, functions.
    let has = |number: u32| {
        module::instructions(&words).any(|at| module::opcode(&words, at) == 12 && words[at + 4] == number)
    };
    for (number, what) in
        [(1, "unit"), (18, "global"), (20, "function"), (26, "local"), (101, "body"), (103, "line")]
    {
        assert!(has(number), "no {what}");
    }
}
