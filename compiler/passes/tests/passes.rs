//! Tests each pass from text to text: `passes/<pass>.ir` contains modules, each followed by a line `=>` and the output of the
//! pass, or the messages that it reports. `KILN_BLESS=1` updates the outputs.

use std::{fs, path::Path};

use kiln_ir::{parse, verify};
use kiln_passes::{self as passes, Providers};
use kiln_session::{Options, diag::Sink};
use kiln_vocabulary::{
    driver_bugs::{DriverBug, Remedy},
    opencl::Environment,
    target::Target,
    tuning::Tuning,
};

const NEXT: &str = "\n====\n";
const MADE: &str = "\n=>\n";

/// The output of a pass for a module, on the device with the fewest features, whose driver needs unrolled loops but no
/// inlined calls.
fn outcome(pass: &str, text: &str) -> String {
    let mut module = parse(text).unwrap_or_else(|error| panic!("{pass}: {error}\n{text}"));
    assert_eq!(verify(&module), Vec::<String>::new(), "{pass}: the input is not sound\n{text}");
    let mut options = Options { target: Target::minimal(Environment::Vulkan), ..Options::default() };
    options.target.tuning = Tuning { calls_through_memory: false, ..Tuning::ALL };
    let mut sink = Sink::new(options.warnings.clone());
    passes::apply(pass, &mut module, &options, &Providers::default(), &mut sink)
        .unwrap_or_else(|| panic!("there is no pass `{pass}`"));
    let (diagnostics, _) = sink.finish(|span| span.lo);
    if !diagnostics.is_empty() {
        return diagnostics.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n");
    }
    assert_eq!(verify(&module), Vec::<String>::new(), "{pass}: the result is not sound\n{module}");
    module.to_string().trim_end().to_owned()
}

#[test]
fn passes_produce_the_expected_output() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let pass = path.file_stem().and_then(|it| it.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("a text");
        let mut blessed = Vec::new();
        for case in text.trim_end().split(NEXT) {
            let (input, expected) = case.split_once(MADE).unwrap_or((case, ""));
            let made = outcome(&pass, input);
            blessed.push(format!("{}{MADE}{made}", input.trim_end()));
            count += 1;
            if std::env::var_os("KILN_BLESS").is_none() {
                assert_eq!(made, expected.trim_end(), "{pass}:\n{input}");
            }
        }
        if std::env::var_os("KILN_BLESS").is_some() {
            fs::write(&path, blessed.join(NEXT) + "\n").expect("the file can be written");
        }
    }
    assert!(count >= 8, "only {count} modules were found");
}

/// Every row of the table of driver bugs names an existing pass, and a test file shows the effect of each workaround pass.
#[test]
fn workarounds_are_passes_with_an_effect() {
    if std::env::var_os("KILN_BLESS").is_some() {
        // The other test is writing the files.
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let is_pass = |name: &str| passes::names().any(|pass| pass == name);
    for bug in DriverBug::ALL {
        match bug.remedy() {
            Remedy::Runtime(_) | Remedy::None => {}
            Remedy::Option(pass) => {
                assert!(is_pass(pass) || pass == "emit", "{pass}")
            }
            Remedy::Pass(pass) => {
                assert!(is_pass(pass), "{pass}");
                let text = fs::read_to_string(folder.join(format!("{pass}.ir")))
                    .unwrap_or_else(|error| panic!("tests/passes/{pass}.ir: {error}"));
                let mut cases = text.trim_end().split(NEXT).filter_map(|case| case.split_once(MADE));
                assert!(cases.any(|(input, made)| input.trim_end() != made.trim_end()), "{pass}");
            }
        }
    }
}

/// Counts the calls after inlining for a driver that keeps the objects of callers in memory.
#[test]
fn small_kernels_call_no_functions() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/passes/inline_calls.ir"));
    let text = text.expect("a text");
    let (input, expected) = text.split_once(MADE).expect("a case");
    assert!(expected.contains("= call #"), "other drivers get calls");
    let mut module = parse(input).expect("valid text");
    let mut options = Options::default();
    options.target.tuning = Tuning { calls_through_memory: true, ..Tuning::NONE };
    passes::apply("inline_calls", &mut module, &options, &Providers::default(), &mut Sink::default());
    assert!(!module.to_string().contains("call #"), "{module}");
}
