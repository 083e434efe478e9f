//! `kiln explain`: prints the pages of the diagnostics, which are embedded in the binary.

use std::fmt::Write as _;

use kiln_compiler::diag::{Code, Group, Severity};

use crate::{
    arguments::ExplainCommand,
    exit::{Failure, Outcome, failure},
    files::write_output,
};

pub(crate) fn explain(command: &ExplainCommand) -> Result<Outcome, Failure> {
    let text = match &command.code {
        None => list(),
        Some(name) => match Code::parse(name) {
            Some(code) => code.page().to_owned(),
            None => return unknown(name),
        },
    };
    write_output("-", text.as_bytes())?;
    Ok(Outcome::Success)
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
        let (name, sort) = (code.name(), sort(code));
        writeln!(text, "{name:width$}  {sort:10}  {}", code.summary()).expect("a string takes all");
        text
    })
}

/// The kind of diagnostic, or the option that enables it.
fn sort(code: Code) -> &'static str {
    match (code.default_severity(), code.group()) {
        (Severity::Error, _) => "error",
        (Severity::Warning, Group::Default) => "warning",
        (Severity::Warning, Group::All) => "-Wall",
        (Severity::Warning, Group::Extra) => "-Wextra",
        (Severity::Warning, Group::Pedantic) => "-Wpedantic",
    }
}
