//! The session: answers the requests of the client, and starts the program.
//!
//! Owns the order of a session. Requests that need the state of a stopped launch are answered on its thread.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    thread,
};

use kiln_reference::{Checks, Memory, Program};
use kiln_vocabulary::debug::Variables;
use serde_json::{Value, json};

use crate::{
    breakpoints::{Breakpoint, Location, Watchpoint},
    debugger::{Debugger, RunMode, State},
    expression, inspect,
    lines::Lines,
    protocol::{self, Client, Request},
};

/// A program that is ready to run.
pub struct Prepared {
    /// The words of its module.
    pub module: Vec<u32>,
    /// Its variables. Empty if the source is not known.
    pub variables: Variables,
    /// Runs its launches on the reference device. Returns the exit code of the session.
    pub run: Box<dyn FnOnce(&Console) -> i32 + Send>,
}

/// Prepares the program of a launch request. The first argument is the request's arguments.
pub type Prepare<'p> =
    &'p dyn Fn(&Value, &Console, Arc<dyn kiln_reference::Monitor>) -> Result<Prepared, String>;

/// The console of the client.
#[derive(Clone, Debug)]
pub struct Console {
    debugger: Arc<Debugger>,
}

impl Console {
    /// Shows output of the program.
    pub fn output(&self, text: &str) {
        self.debugger.client.output("stdout", text);
    }

    /// Shows messages about the program.
    pub fn message(&self, text: &str) {
        self.debugger.client.output("stderr", text);
    }

    /// A launch of the program begins.
    pub fn begin_launch(&self) {
        self.debugger.begin_launch();
    }

    /// The number of bytes of the launch's output that the client has already received.
    pub fn received_bytes(&self) -> usize {
        self.debugger.received_bytes()
    }
}

/// Serves one client until it disconnects.
pub fn serve(
    input: &mut impl BufRead,
    output: impl Write + Send + 'static,
    prepare: Prepare<'_>,
) -> io::Result<()> {
    let client = Arc::new(Client::new(Box::new(output)));
    let debugger = Arc::new(Debugger::new(client.clone()));
    let mut adapter = Adapter { client, debugger, prepare, prepared: None, is_configured: false };
    while let Some(request) = protocol::read(input)? {
        if adapter.handle(request) == Session::Over {
            break;
        }
    }
    adapter.debugger.state().is_disconnected = true;
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Session {
    Open,
    Over,
}

struct Adapter<'p> {
    client: Arc<Client>,
    debugger: Arc<Debugger>,
    prepare: Prepare<'p>,
    /// The program between the launch request and the end of the configuration.
    prepared: Option<Prepared>,
    is_configured: bool,
}

impl Adapter<'_> {
    fn handle(&mut self, request: Request) -> Session {
        let arguments = &request.arguments;
        let answer = match request.command.as_str() {
            "initialize" => Ok(capabilities()),
            "launch" => self.launch(arguments),
            "attach" => Err("Kiln debugs launches that it starts itself; use `launch`".to_owned()),
            "setBreakpoints" => self.line_breakpoints(arguments),
            "setFunctionBreakpoints" => self.function_breakpoints(arguments),
            "setExceptionBreakpoints" => self.exception_breakpoints(arguments),
            "setDataBreakpoints" => self.data_breakpoints(arguments),
            "breakpointLocations" => self.locations(arguments),
            "configurationDone" => {
                self.is_configured = true;
                Ok(Value::Null)
            }
            "pause" => {
                let mut state = self.debugger.state();
                state.focus = None;
                state.mode = RunMode::Pausing("pause");
                Ok(Value::Null)
            }
            "disconnect" | "terminate" => return self.end(request),
            _ if self.debugger.state().is_stopped => {
                self.pass(request);
                return Session::Open;
            }
            "threads" => Ok(json!({ "threads": [{ "id": 1, "name": "launch" }] })),
            other => Err(format!("`{other}` needs a launch that is stopped")),
        };
        let is_launched = request.command == "launch" && answer.is_ok();
        self.client.answer(&request, answer);
        if is_launched {
            // The lines of breakpoints are known only now.
            self.client.event("initialized", json!({}));
        }
        self.start();
        Session::Open
    }

    /// Passes a request to the thread of the launch.
    fn pass(&self, request: Request) {
        const MOVEMENTS: [&str; 6] = ["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue"];
        if MOVEMENTS.contains(&request.command.as_str()) {
            self.debugger.state().is_stopped = false;
        }
        self.debugger.pass(request);
    }

    fn end(&self, request: Request) -> Session {
        let mut state = self.debugger.state();
        state.is_disconnected = true;
        state.mode = RunMode::Pausing("pause");
        let is_stopped = std::mem::take(&mut state.is_stopped);
        drop(state);
        if is_stopped {
            self.debugger.pass(request.clone());
        }
        self.client.answer(&request, Ok(Value::Null));
        if request.command == "disconnect" { Session::Over } else { Session::Open }
    }

    fn launch(&mut self, arguments: &Value) -> Result<Value, String> {
        let console = Console { debugger: self.debugger.clone() };
        let prepared = (self.prepare)(arguments, &console, self.debugger.clone())?;
        let decoded = Program::with_statements(&prepared.module, &Memory::default(), Checks::Off);
        let decoded = decoded.map_err(|invalid| invalid.to_string())?;
        let statements = decoded.statements();
        let mut state = self.debugger.state();
        let lines = statements.iter().map(|(file, line, _)| (*file, *line));
        state.lines = Lines::new(lines, &prepared.variables);
        state.variables = Arc::new(prepared.variables.clone());
        if arguments["stopOnEntry"].as_bool().unwrap_or(false) {
            state.mode = RunMode::Pausing("entry");
        }
        drop(state);
        self.prepared = Some(prepared);
        Ok(Value::Null)
    }

    /// Starts the program when the client has configured the session.
    fn start(&mut self) {
        if !self.is_configured {
            return;
        }
        let Some(Prepared { run, .. }) = self.prepared.take() else { return };
        let console = Console { debugger: self.debugger.clone() };
        let client = self.client.clone();
        let thread = thread::Builder::new().name("launch".to_owned()).spawn(move || {
            let code = run(&console);
            client.event("exited", json!({ "exitCode": code }));
            client.event("terminated", json!({}));
        });
        if let Err(error) = thread {
            self.client.output("stderr", &format!("the program does not start: {error}\n"));
            self.client.event("terminated", json!({}));
        }
    }

    fn line_breakpoints(&self, arguments: &Value) -> Result<Value, String> {
        let path = arguments["source"]["path"].as_str().ok_or("the source has no path")?;
        let mut state = self.debugger.state();
        let file = state.lines.file(path).map(str::to_owned);
        state.breakpoints.retain(|it| match (&it.location, &file) {
            (Location::Line(known, _), Some(file)) => known != file,
            (Location::Nowhere, _) => false,
            _ => true,
        });
        let mut answers = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let line = wanted["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
            let found = file.as_ref().and_then(|file| Some((file.clone(), state.lines.from(file, line)?)));
            let location =
                found.as_ref().map_or(Location::Nowhere, |(file, line)| Location::Line(file.clone(), *line));
            let answer = match (added(&mut state, location, wanted), found) {
                (Err(why), _) => json!({ "verified": false, "message": why }),
                (Ok(id), Some((_, line))) => json!({ "id": id, "verified": true, "line": line }),
                (Ok(id), None) => {
                    json!({ "id": id, "verified": false, "message": "there is no code at this line or below" })
                }
            };
            answers.push(answer);
        }
        Ok(json!({ "breakpoints": answers }))
    }

    fn function_breakpoints(&self, arguments: &Value) -> Result<Value, String> {
        let mut state = self.debugger.state();
        state.breakpoints.retain(|it| !matches!(it.location, Location::Function(_)));
        let mut answers = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let name = wanted["name"].as_str().unwrap_or_default().to_owned();
            let is_known = state.variables.functions.iter().any(|function| function.name == name);
            answers.push(match added(&mut state, Location::Function(name.clone()), wanted) {
                Ok(id) if is_known => json!({ "id": id, "verified": true }),
                Ok(id) => {
                    json!({ "id": id, "verified": false, "message": format!("there is no function `{name}`") })
                }
                Err(why) => json!({ "verified": false, "message": why }),
            });
        }
        Ok(json!({ "breakpoints": answers }))
    }

    fn exception_breakpoints(&self, arguments: &Value) -> Result<Value, String> {
        let filters = arguments["filters"].as_array().into_iter().flatten();
        self.debugger.state().stops_at_reports = filters.into_iter().any(|filter| filter == "undefined");
        Ok(Value::Null)
    }

    fn data_breakpoints(&self, arguments: &Value) -> Result<Value, String> {
        let mut state = self.debugger.state();
        let before = std::mem::take(&mut state.watchpoints);
        let mut answers = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let watched = inspect::watched(wanted["dataId"].as_str().unwrap_or_default());
            let Some((address, size, owner, name)) = watched else {
                answers.push(json!({ "verified": false, "message": "this is not an address in memory" }));
                continue;
            };
            state.last_id += 1;
            let id = state.last_id;
            let known = before.iter().find(|it| (it.address, it.owner) == (address, owner));
            let last = known.and_then(|known| known.last.clone());
            state.watchpoints.push(Watchpoint { id, name, address, size, owner, last });
            answers.push(json!({ "id": id, "verified": true }));
        }
        Ok(json!({ "breakpoints": answers }))
    }

    fn locations(&self, arguments: &Value) -> Result<Value, String> {
        let state = self.debugger.state();
        let path = arguments["source"]["path"].as_str().unwrap_or_default();
        let line = |value: &Value| value.as_u64().and_then(|line| u32::try_from(line).ok());
        let first = line(&arguments["line"]).unwrap_or(0);
        let last = line(&arguments["endLine"]).unwrap_or(first);
        let lines = state.lines.file(path).map(|file| state.lines.between(file, first, last));
        let lines: Vec<Value> =
            lines.unwrap_or_default().into_iter().map(|line| json!({ "line": line })).collect();
        Ok(json!({ "breakpoints": lines }))
    }
}

/// Adds a breakpoint with the condition, the number of hits and the message of a request. Returns its id.
fn added(state: &mut State, location: Location, wanted: &Value) -> Result<i64, String> {
    let text = |name: &str| wanted[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let condition = text("condition").map(expression::parse).transpose()?;
    let after = match text("hitCondition") {
        None => 1,
        Some(text) => {
            let number = text.trim_start_matches(['>', '=', ' ']).parse();
            number.map_err(|_| format!("`{text}` is not a number of hits"))?
        }
    };
    state.last_id += 1;
    let message = text("logMessage").map(str::to_owned);
    state.breakpoints.push(Breakpoint { id: state.last_id, location, condition, after, hits: 0, message });
    Ok(state.last_id)
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsDataBreakpoints": true,
        "supportsExceptionInfoRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsTerminateRequest": true,
        "exceptionBreakpointFilters": [{
            "filter": "undefined",
            "label": "Undefined behavior",
            "description": "Races, accesses out of bounds, divergent barriers, and whatever else the reference device reports",
            "default": true,
        }],
    })
}
