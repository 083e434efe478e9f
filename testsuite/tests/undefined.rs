//! Behavior that Vulkan leaves undefined (`testsuite/undefined/*.md`): the reference device reports it in hand-written
//! SPIR-V, and reports nothing for the module that Kiln compiles from a kernel for the same input.

use std::{
    fs,
    process::{Command, ExitCode},
    sync::LazyLock,
};

use kiln_compiler::{
    Artifact, Emit,
    opencl::LanguageVersion,
    session::{NoFiles, Options, Source},
    target::Features,
};
use kiln_runtime::{
    ChannelOrder, ChannelType, Device, Error, ImageDesc, ImageFormat, Instance, NdRange, Program, Results,
    Selector,
};
use kiln_testsuite::{
    module, root,
    undefined::{self, INPUT_WORDS, OUTPUT_WORDS, Row},
};
use libtest_mimic::{Arguments, Trial};
use rspirv::spirv::Op;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("the-page-is-fresh", || Ok(page_is_fresh()?)),
        Trial::test("every-instruction-is-classified", || Ok(every_instruction_is_classified()?)),
        Trial::test("modes-determine-results", || Ok(modes_determine_results()?)),
        Trial::test("texels-that-do-not-fit", || Ok(texels_that_do_not_fit_are_reported()?)),
    ];
    for row in Row::all() {
        let name = format!("{}::{}", row.document, row.name());
        trials.push(Trial::test(name, move || Ok(check(&row)?)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A result that varies unless the module requires a floating-point mode.
struct Mode {
    name: &'static str,
    /// Removes the mode from the features of the target.
    remove: fn(&mut Features),
    /// The result, of the first input words `a` and `b`.
    result: &'static str,
    input: [u32; 2],
}

const MODES: &[Mode] = &[
    Mode {
        name: "rounding of float",
        remove: |features| features.float_controls_rte32 = false,
        result: "as_uint(as_float(a) + as_float(b))",
        input: [0x3f80_0000, 0x3000_0000],
    },
    Mode {
        name: "rounding of half",
        remove: |features| features.float_controls_rte16 = false,
        result: "as_ushort(as_half((ushort)a) * as_half((ushort)b))",
        input: [0x3c01, 0x3c03],
    },
    Mode {
        name: "rounding of double",
        remove: |features| features.float_controls_rte64 = false,
        result: "(uint)as_ulong(1.0 + as_double((ulong)a << 32))",
        input: [0x3000_0000, 0],
    },
    Mode {
        name: "rounding of converted integers",
        remove: |features| features.float_controls_rte32 = false,
        result: "as_uint((float)a)",
        input: [0x0100_0001, 0],
    },
    Mode {
        name: "denormal floats",
        remove: |features| features.float_controls_denorm_preserve32 = false,
        result: "as_uint(as_float(a) * as_float(b))",
        input: [0x0000_0100, 0x4000_0000],
    },
    Mode {
        name: "denormal halves",
        remove: |features| features.float_controls_denorm_preserve16 = false,
        result: "as_ushort(as_half((ushort)a) * as_half((ushort)b))",
        input: [0x0010, 0x4000],
    },
];

/// With the modes that the emitter sets, the least and the greatest result that Vulkan allows are the nearest one. Without one,
/// one of them differs.
fn modes_determine_results() -> Result<(), String> {
    let nearest = Results::Nearest;
    for Mode { name, remove, result, input } in MODES {
        let source = format!(
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\
             kernel void k(global const uint *in, global uint *out) {{ uint a = in[0], b = in[1]; out[0] = {result}; }}\n"
        );
        let run_with = |features: &dyn Fn(&mut Features), results: Results| {
            let words = compile_with(&source, features)?;
            let found = run_on(&device_with(results), &words, 1, input).map_err(|e| e.to_string())?;
            Ok::<u32, String>(found[0])
        };
        let right = run_with(&|_| {}, nearest)?;
        let edges = [Results::Lowest, Results::Highest];
        for edge in edges {
            let found = run_with(&|_| {}, edge)?;
            if found != right {
                return Err(format!("{name}: {found:#x} with {edge:?}, and {right:#x} otherwise"));
            }
        }
        let mut has_varied = false;
        for edge in edges {
            has_varied |= run_with(remove, edge)? != right;
        }
        if !has_varied {
            return Err(format!("{name}: the result does not depend on the mode"));
        }
    }
    Ok(())
}

/// A kernel that writes an integer to an image whose channels are too narrow for it. The module without the clamp is reported.
fn texels_that_do_not_fit_are_reported() -> Result<(), String> {
    let source =
        "kernel void k(write_only image2d_t image) { write_imageui(image, (int2)(0, 0), (uint4)(300)); }";
    let words = compile(source)?;
    launch_on_image(&words).map_err(|e| format!("the guarded kernel: {e}"))?;
    match launch_on_image(&without_clamp(&words, 300)?) {
        Err(Error::Strict(report)) if report.kind == "no-result" => Ok(()),
        other => Err(format!("wanted a report `no-result`, not {other:?}")),
    }
}

/// The module that writes four such constants to the image.
fn without_clamp(words: &[u32], texel: u32) -> Result<Vec<u32>, String> {
    let find = |op: Op, is_it: &dyn Fn(&[u32]) -> bool| {
        let has = |&at: &usize| module::opcode(words, at) == op as u32 && is_it(&words[at..]);
        module::instructions(words).find(has).ok_or(format!("the module has no such Op{op:?}"))
    };
    let id = words[find(Op::Constant, &|inst| inst[3] == texel)? + 2];
    let vector = words[find(Op::ConstantComposite, &|inst| inst[3..7] == [id; 4])? + 2];
    let write = find(Op::ImageWrite, &|_| true)?;
    let mut changed = words.to_vec();
    changed[write + 3] = vector;
    Ok(changed)
}

/// Runs the kernel of a module on an image with channels of 8 bits.
fn launch_on_image(words: &[u32]) -> kiln_runtime::Result<()> {
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint8);
    let image = device().image(&ImageDesc::d2(format, 1, 1))?;
    let mut kernel = Program::from_spirv(device(), words)?.kernel("k")?;
    kernel.set(0, &image)?;
    let queue = device().queue()?;
    // SAFETY: the reference device checks every access.
    #[allow(unsafe_code, reason = "a launch trusts its kernel")]
    unsafe { queue.launch(&kernel, NdRange::from(1)) }?.wait()
}

fn check(row: &Row) -> Result<(), String> {
    let words = assemble(&row.assembly())?;
    let (kind, input) = &row.reported;
    match run(&words, row.items, input) {
        Err(Error::Strict(report)) if report.kind == kind => {}
        other => return Err(format!("wanted a report `{kind}`, not {other:?}")),
    }
    run(&words, row.items, &row.defined).map_err(|e| format!("the defined input is reported: {e}"))?;
    let Some(guarded) = &row.guarded else { return Ok(()) };
    let words = compile(&guarded.source)?;
    for (input, expected) in &guarded.runs {
        let found = run(&words, row.items, input).map_err(|e| format!("the guarded kernel: {e}"))?;
        if found[..expected.len()] != expected[..] {
            return Err(format!("{input:x?} gives {:x?}, not {expected:x?}", &found[..expected.len()]));
        }
    }
    Ok(())
}

/// The words of a valid module; whether its behavior is undefined depends on the input.
fn assemble(text: &str) -> Result<Vec<u32>, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let [source, binary] = ["k.spvasm", "k.spv"].map(|name| scratch.path().join(name));
    fs::write(&source, text).map_err(|e| e.to_string())?;
    let said = |command: &mut Command| {
        let output = command.output().map_err(|e| format!("spirv-tools must be installed: {e}"))?;
        let text =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        if output.status.success() { Ok(()) } else { Err(text) }
    };
    said(Command::new("spirv-as").args(["--target-env", "spv1.5", "-o"]).arg(&binary).arg(&source))?;
    said(Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(&binary))?;
    module::words(&binary)
}

fn compile(source: &str) -> Result<Vec<u32>, String> {
    compile_with(source, &|_| {})
}

/// Compiles for the device with changed features.
fn compile_with(source: &str, change: &dyn Fn(&mut Features)) -> Result<Vec<u32>, String> {
    let mut target = device().info().target();
    change(&mut target.features);
    let options = Options {
        std: LanguageVersion::Cl30,
        target,
        extensions: vec![("all".to_owned(), true)],
        ..Options::default()
    };
    let source = Source { name: "k.cl".to_owned(), text: source.as_bytes().to_vec() };
    let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
    match output.artifact {
        Some(Artifact::Module(module)) => Ok(module.words().to_vec()),
        _ => Err(format!("{:?}", output.diagnostics)),
    }
}

fn device() -> &'static Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(|| device_with(Results::Nearest));
    &DEVICE
}

/// The device, with these results where Vulkan allows several.
fn device_with(results: Results) -> Device {
    let options = kiln_runtime::Options { results, ..kiln_runtime::Options::default() };
    let instance = Instance::new(options).expect("an instance");
    instance.device(&Selector::from("vulkan-reference")).expect("the device is always there")
}

/// Runs the kernel of a module in one work-group and returns its output.
fn run(words: &[u32], items: u32, input: &[u32]) -> kiln_runtime::Result<Vec<u32>> {
    run_on(device(), words, items, input)
}

fn run_on(device: &Device, words: &[u32], items: u32, input: &[u32]) -> kiln_runtime::Result<Vec<u32>> {
    let mut words_in = input.to_vec();
    words_in.resize(INPUT_WORDS, 0);
    let (given, results) = (device.buffer_from(&words_in)?, device.buffer_from(&[0u32; OUTPUT_WORDS])?);
    let mut kernel = Program::from_spirv(device, words)?.kernel("k")?;
    kernel.set(0, &given)?.set(1, &results)?;
    let queue = device.queue()?;
    let range = NdRange::from(items as usize).local(items as usize);
    // SAFETY: the reference device checks every access.
    #[allow(unsafe_code, reason = "a launch trusts its kernel")]
    unsafe { queue.launch(&kernel, range) }?.wait()?;
    queue.read(&results)
}

fn page_is_fresh() -> Result<(), String> {
    let path = root().join("docs/undefined-behavior.md");
    let page = undefined::page();
    if std::env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        return fs::write(path, page).map_err(|e| e.to_string());
    }
    if fs::read_to_string(path).unwrap_or_default() == page {
        Ok(())
    } else {
        Err("docs/undefined-behavior.md is stale: run `cargo xtask bless`".to_owned())
    }
}

/// Every instruction that the emitter names, and every function of GLSL.std.450 in the table of built-in functions, is in one
/// of the documents.
fn every_instruction_is_classified() -> Result<(), String> {
    let classified = undefined::classified();
    let read = |folder: &str, ending: &str| {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of the compiler");
        let files = entries.filter_map(Result::ok).map(|entry| entry.path());
        let files = files.filter(|path| path.extension().is_some_and(|it| it == ending));
        files.map(|path| fs::read_to_string(path).expect("a source")).collect::<String>()
    };
    let (emitter, table) = (read("compiler/spirv/src", "rs"), read("compiler/builtins/src", "bi"));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut missing = Vec::new();
    let mut count = 0;
    let mut want = |name: String| {
        count += 1;
        if !classified.contains(&name) && !missing.contains(&name) {
            missing.push(name);
        }
    };
    for (at, _) in emitter.match_indices("Op::") {
        let name = emitter[at + 4..].split(|c| !is_word(c)).next().unwrap_or_default();
        // `IrOp::` and `UnaryOp::` are the compiler's own.
        if !emitter[..at].ends_with(is_word) && rspirv_knows(name) {
            want(format!("Op{name}"));
        }
    }
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            if !word.starts_with("glsl") && word != "own" {
                continue;
            }
            let Some(name) = words.next() else { break };
            match name.strip_prefix('?') {
                Some(name) => ["S", "U"].iter().for_each(|sign| want(format!("GLSL.std.450 {sign}{name}"))),
                None => want(format!("GLSL.std.450 {name}")),
            }
        }
    }
    if count < 200 {
        return Err(format!("only {count} instructions were found"));
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("no document names {}", missing.join(", "))) }
}

fn rspirv_knows(name: &str) -> bool {
    rspirv::grammar::INSTRUCTION_TABLE.iter().any(|inst| inst.opname == name)
}
