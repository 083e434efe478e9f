//! Compiles every built-in function except the atomic ones for both environments: the module is valid, or the function is
//! rejected with a message that names the missing feature.

use std::{fs, panic};

use kiln_compiler::{
    Artifact, Emit,
    builtins::{self, Context, Family},
    extensions::Extensions,
    opencl::{Environment, LanguageVersion},
    session::{NoFiles, Options, Source},
    target::{Features, Target},
};
use kiln_testsuite::{module, nightly};

const VERSION: LanguageVersion = LanguageVersion::Cl30;

/// A sample of vector widths; only two for functions with many overloads, unless nightly.
const WIDTHS: [&str; 4] = ["2", "3", "4", "8"];
const FEW: [&str; 2] = ["3", "8"];
const MANY: usize = 30;

/// Prefixes of the names of functions that may be rejected with a message that names the feature: clocks, image
/// functions that the environment lacks, and copies that the copy instructions do not support.
const REJECTED: &[&str] = &[
    "clock_read_",
    "get_image_",
    "read_image",
    "write_image",
    "intel_sub_group_block_",
    "async_work_group_copy_",
];

#[test]
fn every_function_compiles_for_vulkan() {
    every_function(&Target::full(Environment::Vulkan));
}

#[test]
fn every_function_compiles_for_opencl() {
    every_function(&Target::full(Environment::OpenCl));
}

/// The minimal features and sub-groups: the other integer types are emulated, half and double are rejected.
#[test]
fn every_function_compiles_for_a_small_device() {
    let mut target = Target::minimal(Environment::Vulkan);
    target.features.subgroups = true;
    target.features.device_scope = true;
    every_function(&target);
}

/// One small integer type is native, and the other is emulated.
#[test]
fn every_function_compiles_without_8_bits() {
    every_function(&lacking(|features| features.int8 = false));
}

#[test]
fn every_function_compiles_without_16_bits() {
    every_function(&lacking(|features| features.int16 = false));
}

fn lacking(change: impl FnOnce(&mut Features)) -> Target {
    let mut target = Target::full(Environment::Vulkan);
    change(&mut target.features);
    target
}

fn every_function(target: &Target) {
    let context = Context { version: VERSION, extensions: Extensions::all(VERSION) };
    let mut names: Vec<&str> = builtins::names(&context).collect();
    names.sort_unstable();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = names.len().div_ceil(threads);
    let mut failures = Vec::new();
    let mut counts = [0; 2];
    std::thread::scope(|scope| {
        let workers: Vec<_> = names
            .chunks(share)
            .map(|names| {
                scope.spawn(move || {
                    let outcomes = names.iter().filter(|name| is_covered(name, &context));
                    outcomes.map(|name| (*name, check(name, &context, target))).collect::<Vec<_>>()
                })
            })
            .collect();
        for worker in workers {
            for (name, outcome) in worker.join().expect("no worker panics") {
                match outcome {
                    Ok([compiled, rejected]) => {
                        counts[0] += compiled;
                        counts[1] += rejected;
                        if rejected > 0 {
                            println!("{name}: {rejected} of {} rejected", compiled + rejected);
                            if !REJECTED.iter().any(|prefix| name.starts_with(prefix)) {
                                failures.push(format!("{name}: {rejected} overloads are rejected"));
                            }
                        }
                    }
                    Err(failure) => failures.push(format!("{name}: {failure}")),
                }
            }
        }
    });
    println!("{} overloads compiled, {} rejected with a message", counts[0], counts[1]);
    assert!(failures.is_empty(), "{} functions fail:\n{}", failures.len(), failures.join("\n"));
    assert!(counts[0] > 1000, "hardly anything was compiled");
}

fn is_covered(name: &str, context: &Context) -> bool {
    builtins::lookup(name, context).is_some_and(|set| {
        set.rows().all(|(_, row)| {
            !matches!(
                row.family,
                Family::Atomic
                    | Family::LegacyAtomic
                    | Family::Synchronization
                    | Family::Enqueue
                    | Family::Pipe
            )
        }) && !["printf", "__builtin_verbose_trap"].contains(&name)
    })
}

/// The numbers of overloads that compile and that are rejected.
fn check(name: &str, context: &Context, target: &Target) -> Result<[usize; 2], String> {
    let has_reals = target.features.fp64;
    let declarations = builtins::declarations(name, context);
    let tests_all = declarations.len() <= MANY
        || nightly::tests_all("2 of 5 widths of vectors in calls of functions with many overloads");
    let widths: &[&str] = if tests_all { &WIDTHS } else { &FEW };
    let kernels: Vec<String> = declarations
        .iter()
        .filter(|it| has_reals || !it.contains("double") && !has_half_arithmetic(it))
        .filter_map(|it| kernel(name, it, widths))
        .collect();
    let [mut compiled, mut rejected] = [0, 0];
    // Compiles them one by one only if they do not compile together.
    let whole: String = kernels
        .iter()
        .enumerate()
        .map(|(index, text)| text.replace("KERNEL", &format!("k{index}")))
        .collect();
    if compile(&whole, target) == Ok(true) {
        return Ok([kernels.len(), 0]);
    }
    for text in &kernels {
        let text = text.replace("KERNEL", "k");
        match compile(&text, target).map_err(|failure| format!("{failure}\n{text}"))? {
            true => compiled += 1,
            false => rejected += 1,
        }
    }
    Ok([compiled, rejected])
}

/// Whether the source compiles. Checks that the module is valid, or that the error names a feature.
fn compile(text: &str, target: &Target) -> Result<bool, String> {
    let options = Options {
        std: VERSION,
        target: target.clone(),
        extensions: vec![("all".to_owned(), true)],
        ..Options::default()
    };
    let source = Source { name: "builtin.cl".to_owned(), text: text.as_bytes().to_vec() };
    let output = panic::catch_unwind(|| kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv))
        .map_err(|_| "the compiler panics".to_owned())?;
    if let Some(invalid) = output.invalid_module {
        return Err(invalid.to_string());
    }
    let Some(Artifact::Module(module)) = output.artifact else {
        let other = output.diagnostics.iter().find(|it| {
            it.severity == kiln_compiler::diag::Severity::Error && it.code.name() != "target-feature"
        });
        return match other {
            Some(diagnostic) => Err(diagnostic.message.clone()),
            None => Ok(false),
        };
    };
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = scratch.path().join("module.spv");
    fs::write(&path, module.to_bytes()).map_err(|error| error.to_string())?;
    let name = if target.environment == Environment::Vulkan { "vulkan" } else { "opencl" };
    module::check(&path, name)?;
    Ok(true)
}

/// Whether a declaration uses half values, not only halves in memory.
fn has_half_arithmetic(declaration: &str) -> bool {
    declaration.contains("half") && !declaration.contains("load") && !declaration.contains("store")
}

/// A kernel that calls this overload with values from its own arguments.
fn kernel(name: &str, declaration: &str, widths: &[&str]) -> Option<String> {
    // A kernel cannot take sizes.
    let declaration = &declaration.replace("size_t", "ulong");
    let (head, parameters) = declaration.split_once(&format!("{name}("))?;
    let parameters = parameters.trim_end_matches(')');
    let mut arguments = vec!["ulong k".to_owned()];
    let (mut before, mut call) = (String::new(), Vec::new());
    for (index, parameter) in parameters.split(", ").filter(|it| !it.is_empty()).enumerate() {
        if !is_representative(parameter, widths) {
            return None;
        }
        let plain = parameter.trim_end_matches('*').replace("const ", "").replace("volatile ", "");
        let value = format!("p{index}");
        if parameter.ends_with('*') {
            let plain = plain
                .replace("generic ", "")
                .replace("__generic ", "")
                .replace("any", "int")
                .replace("void", "int");
            let space = ["global", "local", "constant"].into_iter().find(|space| plain.contains(space));
            match space {
                Some(_) => {
                    arguments.push(format!("{plain} *{value}"));
                    call.push(value);
                }
                None => {
                    let plain = plain.replace("private ", "").replace("__private ", "");
                    before.push_str(&format!("    {plain} {value}[64];\n"));
                    call.push(value);
                }
            }
        } else if plain == "event_t" {
            call.push("(event_t)0".to_owned());
        } else if plain.contains("image") || plain == "sampler_t" {
            arguments.push(format!("{parameter} {value}"));
            call.push(value);
        } else if name.contains("clustered")
            && plain == "uint"
            && call.len() + 1 == parameters.split(", ").count()
        {
            // The cluster size must be a constant.
            call.push("4".to_owned());
        } else if plain == "bool" {
            arguments.push(format!("global int *{value}"));
            call.push(format!("{value}[k] != 0"));
        } else {
            arguments.push(format!("global {plain} *{value}"));
            call.push(format!("{value}[k]"));
        }
    }
    let call = format!("{name}({})", call.join(", "));
    let result = head.trim();
    if !is_representative(result, widths) {
        return None;
    }
    let statement = match result {
        "void" | "event_t" => format!("{call};"),
        "bool" => {
            arguments.push("global int *out".to_owned());
            format!("out[k] = {call};")
        }
        _ if result.ends_with('*') => {
            arguments.push("global int *out".to_owned());
            format!("out[k] = {call} != 0;")
        }
        _ => {
            arguments.push(format!("global {result} *out"));
            format!("out[k] = {call};")
        }
    };
    Some(format!("kernel void KERNEL({}) {{\n{before}    {statement}\n}}\n", arguments.join(", ")))
}

/// Every second vector width, as a sample.
fn is_representative(ty: &str, widths: &[&str]) -> bool {
    let last = ty.trim_end_matches('*').trim();
    let digits = last.trim_start_matches(|it: char| !it.is_ascii_digit());
    let is_image = last.contains("image") || last.ends_with("_t");
    is_image || digits.is_empty() || widths.contains(&digits) || last.starts_with("half") && digits == "4"
}
