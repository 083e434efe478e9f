//! `kiln dap` through the protocol, as an editor sees it.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use kiln_testsuite::kiln::LIMIT;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{command, folder};

const SOURCE: &str = "\
int doubled(int x) {
    int result = x * 2;
    return result;
}

typedef struct { int id; float weights[2]; } Item;

kernel void k(global int *out, int n) {
    local int tile[4];
    int gid = get_global_id(0);
    Item item = { gid, { 0.5f, 1.5f } };
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int part = doubled(i);
        sum += part + item.id;
    }
    tile[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    printf(\"%d\\n\", sum);
    out[gid] = tile[(get_local_id(0) + 1) % 4];
}

kernel void race(global int *out) {
    int own = get_local_id(0);
    out[0] = own;
}

kernel void outside(global int *out) {
    int index = 5;
    out[index] = 1;
}
";

/// A client of the debug adapter.
struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    seq: i64,
    folder: TempDir,
    /// The output of the program.
    output: String,
}

impl Editor {
    /// Starts a session up to the `initialized` event.
    fn new(mut launch: Value) -> Self {
        let folder = folder(&[("k.cl", SOURCE)]);
        let mut child = command(&folder, &["dap"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the adapter starts");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        launch["program"] = json!(folder.path().join("k.cl"));
        let events = VecDeque::new();
        let mut editor = Self { child, input, messages, events, seq: 0, folder, output: String::new() };
        assert_eq!(editor.ask("initialize", json!({}))["supportsStepBack"], true);
        editor.ask("launch", launch);
        editor.event("initialized");
        editor
    }

    fn request(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let message =
            json!({ "type": "request", "seq": self.seq, "command": command, "arguments": arguments });
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the adapter reads");
        self.input.flush().expect("the adapter reads");
        loop {
            let message = self.messages.recv_timeout(LIMIT).expect("an answer");
            if message["type"] == "response" && message["request_seq"] == self.seq {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// The body of a successful answer.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.request(command, arguments);
        assert_eq!(answer["success"], true, "{command}: {answer}");
        answer["body"].clone()
    }

    /// The body of the next event with this name. Collects output.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let event = match self.events.pop_front() {
                Some(event) => event,
                None => self.messages.recv_timeout(LIMIT).expect("an event"),
            };
            if event["event"] == "output" {
                self.output += event["body"]["output"].as_str().unwrap_or_default();
            }
            if event["event"] == name {
                return event["body"].clone();
            }
            assert!(event["event"] != "terminated", "the launch has ended before `{name}`: {}", self.output);
        }
    }

    /// Sets the breakpoints of the source, with conditions. Returns their lines.
    fn breakpoints(&mut self, wanted: &[(u32, &str)]) -> Vec<Value> {
        let list: Vec<Value> =
            wanted.iter().map(|(line, condition)| json!({ "line": line, "condition": condition })).collect();
        let source = json!({ "path": self.folder.path().join("k.cl") });
        let answer = self.ask("setBreakpoints", json!({ "source": source, "breakpoints": list }));
        answer["breakpoints"].as_array().expect("a list").iter().map(|it| it["line"].clone()).collect()
    }

    fn continue_to_stop(&mut self) -> Stop {
        self.ask("setExceptionBreakpoints", json!({ "filters": ["undefined"] }));
        self.ask("configurationDone", json!({}));
        self.stop()
    }

    fn stop(&mut self) -> Stop {
        let event = self.event("stopped");
        let thread = event["threadId"].clone();
        let frames = self.ask("stackTrace", json!({ "threadId": thread }))["stackFrames"].clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let position = |frame: &Value| format!("{}:{}", text(&frame["name"]), frame["line"]);
        let frames = frames.as_array().expect("a list");
        Stop {
            reason: text(&event["reason"]),
            description: text(&event["description"]),
            positions: frames.iter().map(position).collect(),
            frame: frames[0]["id"].clone(),
            thread,
        }
    }

    /// Sends a command that resumes the launch, and waits for the next stop.
    fn resume(&mut self, command: &str, from: &Stop) -> Stop {
        self.ask(command, json!({ "threadId": from.thread }));
        self.stop()
    }

    fn value(&mut self, expression: &str, at: &Stop) -> String {
        let arguments = json!({ "expression": expression, "frameId": at.frame });
        let answer = self.request("evaluate", arguments);
        let text = if answer["success"] == true { &answer["body"]["result"] } else { &answer["message"] };
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Names, values and types in a scope.
    fn variables(&mut self, scope: &str, at: &Stop) -> Vec<String> {
        let scopes = self.ask("scopes", json!({ "frameId": at.frame }))["scopes"].clone();
        let scope =
            scopes.as_array().expect("a list").iter().find(|it| it["name"] == scope).expect("a scope");
        let list = self.ask("variables", json!({ "variablesReference": scope["variablesReference"] }));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = list["variables"].as_array().expect("a list").iter();
        list.map(|it| format!("{} {} = {}", text(&it["type"]), text(&it["name"]), text(&it["value"])))
            .collect()
    }

    /// Continues to the end. Returns the exit code.
    fn finish(mut self, from: &Stop) -> (i64, String) {
        self.breakpoints(&[]);
        self.ask("setDataBreakpoints", json!({ "breakpoints": [] }));
        self.ask("setExceptionBreakpoints", json!({ "filters": [] }));
        self.ask("continue", json!({ "threadId": from.thread }));
        let code = self.event("exited")["exitCode"].as_i64().expect("a number");
        self.event("terminated");
        self.ask("disconnect", json!({}));
        assert!(self.child.wait().expect("it ends").success());
        (code, std::mem::take(&mut self.output))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The location and the reason of a stop.
struct Stop {
    reason: String,
    description: String,
    /// The calls, innermost first.
    positions: Vec<String>,
    frame: Value,
    thread: Value,
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().ok(),
            None => break,
        }
    }
    let mut bytes = vec![0; length?];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn launch_of_four() -> Value {
    json!({ "kernel": "k", "global": 4, "local": "4", "args": ["buf:int[4]", "int:3"], "print": ["out[0..4]"] })
}

#[test]
fn a_debugger_breaks_steps_and_shows_variables() {
    let mut editor = Editor::new(launch_of_four());
    // Line 9 has no code; line 8 is only the name of the kernel.
    assert_eq!(editor.breakpoints(&[(8, ""), (14, "i == 1")]), [10, 14]);
    let stop = editor.continue_to_stop();
    assert_eq!((stop.reason.as_str(), stop.positions.as_slice()), ("breakpoint", &["k:10".to_owned()][..]));
    let stop = editor.resume("continue", &stop);
    assert_eq!(stop.positions, ["k:14"]);
    let locals = editor.variables("Locals", &stop);
    let expected = [
        "global int * out = out",
        "int n = 3",
        "int gid = 0",
        "Item item = {id = 0, weights = {0.5, 1.5}}",
        "int sum = 0",
        "int i = 1",
    ];
    assert_eq!(locals[..6], expected);
    assert_eq!(editor.variables("Work-item", &stop)[0], "(0, 0, 0) global id = (0, 0, 0)");

    let stop = editor.resume("stepIn", &stop);
    assert_eq!(stop.positions, ["doubled:2", "k:14"]);
    assert_eq!([editor.value("x", &stop), editor.value("result", &stop)], ["1", "uninitialized"]);
    let stop = editor.resume("next", &stop);
    assert_eq!((stop.positions[0].as_str(), editor.value("result", &stop)), ("doubled:3", "2".to_owned()));
    let stop = editor.resume("stepOut", &stop);
    assert_eq!(stop.positions, ["k:14"]);
    let stop = editor.resume("next", &stop);
    let stop = editor.resume("next", &stop);
    assert_eq!((stop.positions[0].as_str(), editor.value("sum", &stop)), ("k:13", "2".to_owned()));

    // Steps backward.
    let stop = editor.resume("stepBack", &stop);
    assert_eq!((stop.positions[0].as_str(), editor.value("sum", &stop)), ("k:15", "0".to_owned()));
    let stop = editor.resume("stepBack", &stop);
    assert_eq!(stop.positions, ["k:14"]);
    let (code, output) = editor.finish(&stop);
    assert_eq!((code, output.as_str()), (0, "6\n9\n12\n15\nout[0..4] = 9 12 15 6\n"));
}

#[test]
fn work_items_are_threads_and_memory_has_writers() {
    let mut editor = Editor::new(launch_of_four());
    editor.breakpoints(&[(20, "get_local_id(0) == 0")]);
    let stop = editor.continue_to_stop();
    let threads = editor.ask("threads", json!({}))["threads"].clone();
    let threads = threads.as_array().expect("a list");
    assert_eq!(threads.len(), 4);
    assert_eq!(threads[3]["name"], "work-item (3, 0, 0) of group (0, 0, 0)");
    assert_eq!(editor.variables("Local memory", &stop), ["int[4] tile = {6, 9, 12, 15}"]);
    assert!(editor.value("last_write(tile[2])", &stop).starts_with("work-item (2, 0, 0) at "));
    assert!(editor.value("last_write(tile[2])", &stop).ends_with("k.cl:17"));
    assert_eq!(editor.value("tile[gid + 1] * 2 + item.weights[1]", &stop), "19.5");
    assert_eq!(editor.value("missing", &stop), "`missing` is not visible here");
    // Another work-item has the same variables with other values.
    let other = json!({ "threadId": threads[3]["id"] });
    let frame = editor.ask("stackTrace", other)["stackFrames"][0]["id"].clone();
    let there = Stop { frame, thread: threads[3]["id"].clone(), ..stop };
    assert_eq!(editor.value("gid", &there), "3");
    let set = json!({ "expression": "tile[1]", "value": "100", "frameId": there.frame });
    assert_eq!(editor.ask("setExpression", set)["value"], "100");
    let (_, output) = editor.finish(&there);
    assert!(output.ends_with("out[0..4] = 100 12 15 6\n"), "{output}");
}

#[test]
fn the_debugger_finds_writes_forward_and_backward() {
    let mut editor = Editor::new(launch_of_four());
    editor.breakpoints(&[(13, "i == 0")]);
    let stop = editor.continue_to_stop();
    let data = editor.ask("dataBreakpointInfo", json!({ "name": "sum", "frameId": stop.frame }));
    editor.ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": data["dataId"] }] }));
    editor.breakpoints(&[(17, "")]);
    let stop = editor.resume("continue", &stop);
    assert_eq!((stop.reason.as_str(), stop.description.as_str()), ("data breakpoint", "sum has changed"));
    assert_eq!(editor.value("sum", &stop), "2");
    let stop = editor.resume("continue", &stop);
    assert_eq!(editor.value("sum", &stop), "6");
    let stop = editor.resume("continue", &stop);
    assert_eq!(stop.positions, ["k:17"]);
    // Stops before the statement that changed it last.
    let stop = editor.resume("reverseContinue", &stop);
    assert_eq!((stop.positions[0].as_str(), editor.value("sum", &stop)), ("k:15", "2".to_owned()));
    let (code, _) = editor.finish(&stop);
    assert_eq!(code, 0);
}

#[test]
fn undefined_behavior_stops_the_launch() {
    let mut editor =
        Editor::new(json!({ "kernel": "race", "global": 2, "local": 2, "args": ["buf:int[1]"] }));
    let stop = editor.continue_to_stop();
    assert_eq!((stop.reason.as_str(), stop.positions.as_slice()), ("exception", &["race:25".to_owned()][..]));
    assert!(stop.description.ends_with("[data-race]"), "{}", stop.description);
    let details = editor.ask("exceptionInfo", json!({ "threadId": stop.thread }))["details"].clone();
    assert!(
        details["message"]
            .as_str()
            .is_some_and(|it| it.contains("the other access is by work-item (0, 0, 0)"))
    );
    assert_eq!(editor.value("own", &stop), "1");
    assert_eq!(editor.finish(&stop).0, 3);

    let mut editor = Editor::new(json!({ "kernel": "outside", "global": 1, "args": ["buf:int[4]"] }));
    let stop = editor.continue_to_stop();
    assert!(stop.description.ends_with("[out-of-bounds]"), "{}", stop.description);
    assert_eq!((stop.positions[0].as_str(), editor.value("index", &stop)), ("outside:30", "5".to_owned()));
    let stop = editor.resume("stepBack", &stop);
    assert_eq!(stop.positions, ["outside:30"]);
    assert_eq!(editor.finish(&stop).0, 3);
}

#[test]
fn a_source_with_errors_does_not_start() {
    let mut editor = Editor::new(json!({ "kernel": "race", "global": 1, "args": ["buf:int[1]"] }));
    let program = editor.folder.path().join("k.cl");
    std::fs::write(&program, "kernel void k(global int *p) { *p = missing; }").expect("a file");
    let answer = editor.request("launch", json!({ "program": program, "kernel": "k", "global": 1 }));
    assert_eq!(answer["success"], false);
    assert!(
        answer["message"].as_str().is_some_and(|it| it.contains("`missing` is not declared")),
        "{answer}"
    );
}
