//! A process that runs many programs, because initializing a driver takes longer than most programs.
//!
//! Owns the process and its lifetime: a crash or a timeout affects only one program, and the next one gets a new
//! process. Must not depend on the expected results.
//!
//! A request is a line of words with tabs between them. The answer is lines up to `done`, or `failed: ` and a message.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// The failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It timed out.
    Late,
    /// It failed with this message.
    Failed(String),
}

/// The number of programs before the process is replaced, because implementations leak memory.
const MAX_REQUESTS: usize = 100;

/// A process that is restarted when needed.
pub struct Server {
    command: Command,
    /// The file for standard error.
    errors: PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    left: usize,
}

impl Server {
    /// Creates a server that starts on first use, and writes its standard error to this file.
    pub fn new(command: Command, errors: PathBuf) -> Self {
        Self { command, errors, running: None }
    }

    /// The answer to this request. The outer error means that the process does not start.
    pub fn run(&mut self, words: &[String], limit: Duration) -> Result<Result<String, Ending>, String> {
        let running = match self.running.take().filter(|running| running.left > 0) {
            Some(running) => running,
            None => self.start()?,
        };
        let running = self.running.insert(running);
        running.left -= 1;
        let until = Instant::now() + limit;
        let mut text = String::new();
        // A process that has exited cannot be written to; the missing answer reports that.
        let _ = writeln!(running.input, "{}", words.join("\t"));
        loop {
            match running.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line == "done" => return Ok(Ok(text)),
                Ok(line) => match line.strip_prefix("failed: ") {
                    Some(reason) => return Ok(Err(Ending::Failed(reason.to_owned()))),
                    None => text = text + &line + "\n",
                },
                Err(RecvTimeoutError::Timeout) => {
                    self.running = None;
                    return Ok(Err(Ending::Late));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.running = None;
                    let written = fs::read_to_string(&self.errors).unwrap_or_default();
                    let last: Vec<&str> = written.lines().rev().take(3).collect();
                    return Ok(Err(Ending::Failed(format!("it ended: {}", last.join(" / ")))));
                }
            }
        }
    }

    fn start(&mut self) -> Result<Running, String> {
        let errors = File::create(&self.errors).map_err(|e| e.to_string())?;
        let command = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|e| format!("{name} does not start: {e}"))?;
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Running { child, input, lines, left: MAX_REQUESTS })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
