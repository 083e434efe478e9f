//! `kiln dap`: starts programs for the debug adapter.

use std::{ffi::OsString, io, sync::Arc};

use kiln_debug::{Console, Prepared};
use kiln_runtime::Monitor;
use serde_json::Value;

use crate::{
    arguments::{self, Command, LaunchArguments},
    exit::{Failure, Outcome, failure},
    files::Files,
    run::{Debuggee, Memory, Output, Results, Session, bind, debuggee, is_undefined, results},
};

/// The description of the launch request in `kiln dap --help`.
pub(crate) const HELP: &str = "\
The arguments of the launch request are the options of `kiln run`:
  program        the source or a module
  kernel, global, local, offset
                 the launch, as strings; without kernel and global, those in the source's leading
                 comment
  args           the kernel's arguments, a list of strings such as \"buf:int[64]=iota\"
  print, check   lists of strings
  expect, module strings
  then           a list of further launches on the same buffers: objects with these keys
  options        a list of compiler options
  checks         false: do not look for races and other undefined behavior
  cwd            the folder of relative paths
  stopOnEntry    true: stop at the first statement";

pub(crate) fn serve() -> Result<Outcome, Failure> {
    kiln_debug::serve(&mut io::stdin().lock(), io::stdout(), &prepare)?;
    Ok(Outcome::Success)
}

fn prepare(launch: &Value, console: &Console, monitor: Arc<dyn Monitor>) -> Result<Prepared, String> {
    prepared(launch, console, monitor).map_err(|Failure(why)| strip_colors(&why))
}

fn prepared(launch: &Value, console: &Console, monitor: Arc<dyn Monitor>) -> Result<Prepared, Failure> {
    if let Some(folder) = launch["cwd"].as_str() {
        std::env::set_current_dir(folder)
            .map_err(|error| Failure(format!("cannot change to folder `{folder}`: {error}")))?;
    }
    let words = words(launch)?;
    let line = arguments::parse(words.into_iter().map(OsString::from))
        .map_err(|error| Failure(error.to_string()))?;
    let Some((Command::Run(command), matches)) = line.commands.into_iter().next() else {
        return failure("the launch request has no program");
    };
    let Debuggee { session, module, variables, report } =
        debuggee(&command, &matches, &Files::default(), monitor)?;
    console.message(&strip_colors(&report));
    Ok(Prepared { module, variables, run: Box::new(move |console| run(&session, console)) })
}

/// The command line of `kiln run` for a launch request.
fn words(launch: &Value) -> Result<Vec<String>, Failure> {
    let Some(program) = launch["program"].as_str() else {
        return failure("`program` is missing: the source to debug");
    };
    let mut words: Vec<String> = ["kiln", "run", program].map(str::to_owned).into();
    words.extend(texts(launch, "options")?);
    if launch["checks"] == false {
        words.push("--no-checks".to_owned());
    }
    if let Some(module) = text(launch, "module")? {
        words.extend(["--module".to_owned(), module]);
    }
    words.extend(launch_options(launch)?);
    for next in launch["then"].as_array().into_iter().flatten() {
        words.push("then".to_owned());
        words.extend(launch_options(next)?);
    }
    Ok(words)
}

/// The options of one launch.
fn launch_options(launch: &Value) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    for name in ["kernel", "global", "local", "offset", "expect"] {
        if let Some(value) = text(launch, name)? {
            words.push(format!("--{name}={value}"));
        }
    }
    for (key, option) in [("args", "arg"), ("print", "print"), ("check", "check")] {
        words.extend(texts(launch, key)?.into_iter().map(|value| format!("--{option}={value}")));
    }
    Ok(words)
}

fn text(object: &Value, key: &str) -> Result<Option<String>, Failure> {
    match &object[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(number) => Ok(Some(number.to_string())),
        // Sizes: [64, 64].
        Value::Array(sizes) => {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            Ok(Some(sizes.join(",")))
        }
        _ => failure(format!("`{key}` must be a string, a number or a list of numbers")),
    }
}

fn texts(object: &Value, key: &str) -> Result<Vec<String>, Failure> {
    let wrong = || Failure(format!("`{key}` must be a list of strings"));
    match &object[key] {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

/// Without colors.
fn strip_colors(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Runs all launches. Returns the exit code of `kiln run`.
fn run(session: &Session, console: &Console) -> i32 {
    let output = Output::default();
    session.device.print_to(output.clone());
    let mut worst = 0;
    for sequence in &session.sequences {
        let mut memory = Memory::default();
        for launch in sequence {
            console.begin_launch();
            match self::launch(session, launch, &mut memory, &output, console) {
                Ok(Outcome::Success) => {}
                Ok(Outcome::Undefined) => return 3,
                Ok(_) => worst = 1,
                Err(Failure(why)) => {
                    console.message(&format!("kiln: error: {}\n", strip_colors(&why)));
                    return 2;
                }
            }
        }
    }
    worst
}

fn launch(
    session: &Session,
    launch: &LaunchArguments,
    memory: &mut Memory,
    output: &Output,
    console: &Console,
) -> Result<Outcome, Failure> {
    let Session { device, program, interface, .. } = session;
    let (kernel, range) = bind(device, program, interface, launch, memory)?;
    let queue = device.queue()?;
    // SAFETY: the reference device checks every access.
    #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
    let event = unsafe { queue.launch(&kernel, range) }?;
    if let Err(error) = event.wait() {
        if !is_undefined(&error) {
            return Err(error.into());
        }
        console.message(&format!("kiln: error: {error}\n"));
        return Ok(Outcome::Undefined);
    }
    let Results { printed, complaints } = results(&queue, launch, memory, output.take())?;
    console.output(printed.get(console.received_bytes()..).unwrap_or_default());
    for complaint in &complaints {
        console.message(&format!("kiln: check failed: {complaint}\n"));
    }
    Ok(if complaints.is_empty() { Outcome::Success } else { Outcome::Diagnostics })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_launch_request_becomes_a_command_line() {
        let launch = json!({
            "program": "k.cl", "kernel": "k", "global": [64, 2], "local": 8, "args": ["buf:int[64]", "int:-1"],
            "options": ["-DN=1"], "checks": false, "then": [{ "kernel": "l", "global": "1" }],
        });
        let line = words(&launch).unwrap_or_default().join(" ");
        let expected = "kiln run k.cl -DN=1 --no-checks --kernel=k --global=64,2 --local=8 --arg=buf:int[64] \
                        --arg=int:-1 then --kernel=l --global=1";
        assert_eq!(line, expected);
        assert!(words(&json!({})).is_err_and(|Failure(why)| why.contains("program")));
        assert!(words(&json!({ "program": "k.cl", "args": "x" })).is_err());
    }
}
