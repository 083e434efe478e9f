//! `kiln profile`: records when the launches of a source are queued, submitted and executed, in the format of Chrome's
//! traces, which Perfetto and chrome://tracing display.

use clap::{ArgMatches, Args};
use kiln_runtime::{QueueOptions, Times};
use serde_json::{Value, json};

use crate::{
    arguments::RunCommand,
    exit::{Failure, Outcome, failure, stderr_line},
    files::{Files, write_output},
    progress,
    run::{self, Memory, Output},
};

/// The description of the trace in `kiln profile --help`.
pub(crate) const HELP: &str = "\
The launches are those of `kiln run`: see `kiln run --help`. All launches are enqueued at once. Each
sequence of launches has its own queue. The trace shows for each launch when it was queued on the
host, submitted to the device, and executed.";

/// Record when the launches of a kernel source run
#[derive(Debug, Args)]
pub(crate) struct ProfileCommand {
    #[command(flatten)]
    pub(crate) run: RunCommand,
    /// The trace, or `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "trace.json")]
    output: String,
    /// Repetitions of the launches
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
}

/// A launch that has ended.
struct Launch {
    kernel: String,
    global: String,
    times: Times,
}

pub(crate) fn profile(
    command: &ProfileCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let session = match run::open(&command.run, matches, files)? {
        Ok(session) => session,
        Err(outcome) => return Ok(outcome),
    };
    let device = &session.device;
    device.print_to(Output::default());
    let mut queues = Vec::new();
    for sequence in &session.sequences {
        let queue = device.queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })?;
        let mut memory = Memory::default();
        let mut bound = Vec::new();
        for launch in sequence {
            let (kernel, range) =
                run::bind(device, &session.program, &session.interface, launch, &mut memory)?;
            bound.push((kernel, range, launch.global.clone().unwrap_or_default()));
        }
        // Enqueue all launches without waiting, so that the trace shows how they follow each other.
        let mut events = Vec::new();
        for _ in 0..command.repeat {
            for (kernel, range, global) in &bound {
                // SAFETY: the user guarantees that the kernel stays within its buffers.
                #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
                let event = unsafe { queue.launch(kernel, *range) }?;
                events.push((kernel.name().to_owned(), global.clone(), event));
            }
        }
        let mut launches = Vec::new();
        for (kernel, global, event) in events {
            progress::show_while(&|| format!("kernel `{kernel}` is running"), || event.wait())?;
            let Some(times) = event.times() else {
                return failure(format!("{} does not record when commands run", device.name()));
            };
            launches.push(Launch { kernel, global, times });
        }
        queues.push(launches);
    }
    let text = trace(device.name(), &queues).to_string();
    write_output(&command.output, text.as_bytes())?;
    if command.output != "-" {
        let count: usize = queues.iter().map(Vec::len).sum();
        let launches = if count == 1 { "launch" } else { "launches" };
        stderr_line!(
            "kiln: note: {} has {count} {launches}; open it in https://ui.perfetto.dev or chrome://tracing",
            command.output
        );
    }
    Ok(Outcome::Success)
}

/// The trace: a process for the device, with two threads for each queue. One shows the execution of each launch, the
/// other how long it waited, on the host and for the device. Waiting launches overlap, so their events are asynchronous.
fn trace(device: &str, queues: &[Vec<Launch>]) -> Value {
    let mut events = vec![json!({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": device}})];
    // The format has microseconds.
    let micro = |nanoseconds: u64| nanoseconds as f64 / 1000.0;
    let mut id = 0;
    for (number, launches) in queues.iter().enumerate() {
        let thread = number + 1;
        let name = format!("queue {thread}");
        events
            .push(json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": thread, "args": {"name": name}}));
        for launch in launches {
            let Times { queued, submitted, start, end } = launch.times;
            events.push(json!({
                "ph": "X", "cat": "execution", "name": launch.kernel, "pid": 1, "tid": thread,
                "ts": micro(start), "dur": micro(end.saturating_sub(start)),
                "args": {
                    "global": launch.global, "queued_ns": queued, "submitted_ns": submitted,
                    "start_ns": start, "end_ns": end,
                },
            }));
            for (phase, from, to) in [("queued", queued, submitted), ("submitted", submitted, start)] {
                id += 1;
                let name = format!("{}: {phase}", launch.kernel);
                for (kind, at) in [("b", from), ("e", to.max(from))] {
                    events.push(json!({
                        "ph": kind, "cat": "waiting", "id": id, "name": name, "pid": 1, "tid": thread,
                        "ts": micro(at),
                    }));
                }
            }
        }
    }
    json!({"displayTimeUnit": "ns", "traceEvents": events})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_an_execution_and_two_waits() {
        let times = Times { queued: 1000, submitted: 2500, start: 4000, end: 9000 };
        let launch = Launch { kernel: "k".into(), global: "64".into(), times };
        let trace = trace("device", &[vec![launch]]);
        let events = trace["traceEvents"].as_array().unwrap();
        let all = |phase: &str| events.iter().filter(|it| it["ph"] == phase).collect::<Vec<_>>();
        let [execution] = all("X")[..] else { panic!("{trace}") };
        assert_eq!((execution["ts"].as_f64(), execution["dur"].as_f64()), (Some(4.0), Some(5.0)));
        let waits: Vec<_> =
            all("b").iter().zip(all("e")).map(|(b, e)| (b["ts"].clone(), e["ts"].clone())).collect();
        assert_eq!(waits, [(json!(1.0), json!(2.5)), (json!(2.5), json!(4.0))]);
        assert_eq!(all("M").len(), 2);
    }
}
