//! `kiln explain`: prints the pages of the diagnostics, which are embedded in the binary.

mod mapping;

use std::fmt::Write as _;

use clap::ArgMatches;
use kiln_compiler::diag::{Code, Group, Severity};

use crate::{
    arguments::ExplainCommand,
    exit::{Failure, Outcome, failure},
    files::{Files, write_output},
};

pub(crate) fn explain(
    command: &ExplainCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    if let Some(source) = &command.mapping {
        return mapping::show(source, command, matches, files);
    }
    let text = match &command.code {
        None => list(),
        Some(name) => match Code::parse(name) {
            Some(code) => code.page().to_owned(),
            None => match reported(name) {
                Some(what) => format!(
                    "# {name}\n\nA reference device reports this during a launch: {what}.\n\n\
                     docs/reference-device.md describes the devices and all kinds of reports.\n"
                ),
                None => return unknown(name),
            },
        },
    };
    write_output("-", text.as_bytes())?;
    Ok(Outcome::Success)
}

/// The kinds of reports of the reference devices, without those that are also names of diagnostics.
const REPORTS: [(&str, &str); 22] = [
    (
        "asynchronous-copy",
        "a kernel ends without waiting for a copy, or waits for an event that no copy made",
    ),
    ("conversion", "a conversion of a float whose value the integer type cannot represent"),
    (
        "data-race",
        "two accesses of the same memory, at least one of them a write and one not atomic, without an order \
         between them: no barrier with the flag of that memory, and no release that the other work-item acquires",
    ),
    (
        "divergence",
        "a barrier or a collective function that some work-items do not reach, or reach with different arguments",
    ),
    ("endless", "more than 268,435,456 steps of one work-item"),
    ("enqueue", "an invalid event, or enqueued kernels that wait forever"),
    ("float", "a NaN or an infinity, although the module does not require that these are preserved"),
    ("image", "a texel outside of the image, or of a different type"),
    ("inactive", "the value of a work-item that does not participate in a sub-group operation is used"),
    (
        "index",
        "an index past an array that is a member of a structure, or past an array or a vector on Vulkan",
    ),
    ("memory", "the launch needs more memory than the device has"),
    ("misaligned", "an address that is not a multiple of the alignment of the type"),
    ("missing-function", "a call of a function that no module defines"),
    ("no-result", "a built-in function has no defined result for these arguments"),
    ("null-pointer", "an access through a null pointer, or near address 0"),
    ("out-of-bounds", "an access outside of its object, or after the end of the object's lifetime"),
    ("overflow", "a signed integer operation whose result the type cannot represent"),
    ("pipe", "a packet outside of its reservation, or one that was never written"),
    ("recursion", "a function that calls itself"),
    ("remainder", "the remainder of a negative number, which Vulkan leaves undefined"),
    ("shift", "a shift by the width of the type or more"),
    ("unreachable", "the module declares that this point is never reached"),
];

/// The meaning of a kind of report of the reference devices.
fn reported(name: &str) -> Option<&'static str> {
    REPORTS.iter().find(|(kind, _)| *kind == name).map(|(_, what)| *what)
}

fn unknown(name: &str) -> Result<Outcome, Failure> {
    match Code::closest(name) {
        Some(code) => {
            failure(format!("no diagnostic has the name `{name}`; did you mean `{}`?", code.name()))
        }
        None => failure(format!("no diagnostic has the name `{name}`; `kiln explain` lists them")),
    }
}

/// One line for each code, sorted by name.
fn list() -> String {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.name());
    let width = codes.iter().map(|code| code.name().len()).max().unwrap_or_default();
    codes.into_iter().fold(String::new(), |mut text, code| {
        let (name, sort) = (code.name(), kind_or_option(code));
        writeln!(text, "{name:width$}  {sort:10}  {}", code.summary()).expect("a string takes all");
        text
    })
}

/// The kind of diagnostic, or the option that enables it.
fn kind_or_option(code: Code) -> &'static str {
    match (code.default_severity(), code.group()) {
        (Severity::Error, _) => "error",
        (Severity::Warning, Group::Default) => "warning",
        (Severity::Warning, Group::All) => "-Wall",
        (Severity::Warning, Group::Extra) => "-Wextra",
        (Severity::Warning, Group::Pedantic) => "-Wpedantic",
    }
}
