//! `kiln bench`: measures the launches of a source, and compares them with another source or another device.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use clap::{ArgMatches, Args};
use kiln_runtime::{Kernel, NdRange, Queue, QueueOptions};
use serde_json::{Value, json};

use crate::{
    arguments::RunCommand,
    exit::{Failure, Outcome, failure},
    files::{Files, print},
    progress,
    run::{self, Memory, Output, Session},
};

/// The description of the table in `kiln bench --help`.
pub(crate) const HELP: &str = "\
The launches are those of `kiln run`: see `kiln run --help`. Launches are repeated on the same
buffers; several launches are repeated as a sequence. The first execution must pass --check. The
first 600 ms are not measured, because an idle GPU lowers its clocks.

median  the time on the device that half of the repetitions do not exceed
spread  the distance of the quartiles, relative to the median; a large one means that the device
        or its clock was not idle
GB/s    the sizes of the buffers and images of the launch, divided by the median: the bandwidth of
        a kernel that accesses each byte once";

/// Measure the launches of a kernel source
#[derive(Debug, Args)]
pub(crate) struct BenchCommand {
    #[command(flatten)]
    pub(crate) run: RunCommand,
    /// Measure this source too, with the same launches, and compare
    #[arg(long, value_name = "SOURCE")]
    compare: Option<String>,
    /// Measure on this device too, and compare
    #[arg(long, value_name = "NAME|INDEX", conflicts_with = "compare")]
    compare_device: Option<String>,
    /// Number of measured repetitions [default: as many as take one second, at least 10 and at most 1000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Repetitions that are not measured take at least this long: an idle GPU lowers its clocks, and raises them late.
const WARM_UP: Duration = Duration::from_millis(600);
/// The time for repetitions, and their minimum and maximum number.
const BUDGET: Duration = Duration::from_secs(1);
const MIN_REPETITIONS: usize = 10;
const MAX_REPETITIONS: usize = 1000;

/// A launch with its measured times.
struct Measured {
    source: String,
    device: String,
    kernel: String,
    global: String,
    /// The sizes of the buffers and images that it was passed.
    bytes: u64,
    /// The execution times in nanoseconds, ascending.
    times: Vec<u64>,
}

impl Measured {
    /// The quantile of the times, interpolated between the two nearest.
    fn quantile(&self, part: f64) -> f64 {
        let rank = part * (self.times.len() - 1) as f64;
        let (low, high) = (self.times[rank.floor() as usize], self.times[rank.ceil() as usize]);
        low as f64 + (high as f64 - low as f64) * rank.fract()
    }

    fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The distance of the quartiles, relative to the median.
    fn spread(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / self.median().max(1.0)
    }

    /// Bytes for each nanosecond, if each byte of each buffer is accessed once.
    fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.median().max(1.0)
    }

    fn json(&self) -> Value {
        json!({
            "source": self.source,
            "device": self.device,
            "kernel": self.kernel,
            "global": self.global,
            "repetitions": self.times.len(),
            "median_ns": self.median(),
            "min_ns": self.quantile(0.0),
            "max_ns": self.quantile(1.0),
            "lower_quartile_ns": self.quantile(0.25),
            "upper_quartile_ns": self.quantile(0.75),
            "buffer_bytes": self.bytes,
            "gigabytes_per_second": self.bandwidth(),
        })
    }
}

pub(crate) fn bench(command: &BenchCommand, matches: &ArgMatches, files: &Files) -> Result<Outcome, Failure> {
    let mut variants = vec![command.run.clone()];
    if let Some(source) = &command.compare {
        variants.push(RunCommand { source: source.clone(), ..command.run.clone() });
    }
    if let Some(device) = &command.compare_device {
        variants.push(RunCommand { device: Some(device.clone()), ..command.run.clone() });
    }
    let mut results: Vec<Vec<Measured>> = Vec::new();
    for variant in &variants {
        let mut session = match run::open(variant, matches, files)? {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        // All variants must have as many launches as the first one.
        if let Some(first) = results.first()
            && session.sequences.iter().map(Vec::len).sum::<usize>() != first.len()
        {
            return failure(format!(
                "`{}` has a different number of launches from `{}`",
                variant.source, command.run.source
            ));
        }
        match measure(&mut session, variant, command.repeat)? {
            Ok(measured) => results.push(measured),
            Err(outcome) => return Ok(outcome),
        }
    }
    if command.json {
        let all: Vec<Value> = results.iter().flatten().map(Measured::json).collect();
        print(&format!("{}\n", Value::from(all)))?;
    } else {
        print(&report(&results))?;
    }
    Ok(Outcome::Success)
}

/// Measures each launch. Checks the results of the first execution, and does not measure the first repetitions.
fn measure(
    session: &mut Session,
    variant: &RunCommand,
    repeat: Option<u32>,
) -> Result<Result<Vec<Measured>, Outcome>, Failure> {
    let device = session.device.clone();
    let output = Output::default();
    device.print_to(output.clone());
    let queue = device.queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })?;
    let mut measured = Vec::new();
    for sequence in &mut session.sequences {
        let mut memory = Memory::default();
        let mut bound = Vec::new();
        let mut warm = Duration::ZERO;
        for launch in sequence {
            let (kernel, range) =
                run::bind(&device, &session.program, &session.interface, launch, &mut memory)?;
            let arguments = kernel.interface().arguments.iter();
            let bytes = arguments.filter_map(|argument| memory.bytes(argument.name()?)).sum();
            let begin = Instant::now();
            time(&queue, &kernel, range)?;
            warm += begin.elapsed();
            launch.print.clear();
            launch.expect = None;
            let outcome = run::print_and_check(&queue, launch, &memory, String::new())?;
            if outcome != Outcome::Success {
                return Ok(Err(outcome));
            }
            measured.push(Measured {
                source: variant.source.clone(),
                device: device.name().to_owned(),
                kernel: kernel.name().to_owned(),
                global: launch.global.clone().unwrap_or_default(),
                bytes,
                times: Vec::new(),
            });
            bound.push((kernel, range));
        }
        while warm < WARM_UP {
            let begin = Instant::now();
            for (kernel, range) in &bound {
                time(&queue, kernel, *range)?;
            }
            output.take();
            warm += begin.elapsed();
        }
        let first = measured.len() - bound.len();
        let begin = Instant::now();
        let mut count = 0;
        let is_enough = |count: usize| match repeat {
            Some(repeat) => count >= repeat as usize,
            None => count >= MAX_REPETITIONS || count >= MIN_REPETITIONS && begin.elapsed() >= BUDGET,
        };
        while !is_enough(count) {
            for ((kernel, range), measured) in bound.iter().zip(&mut measured[first..]) {
                measured.times.push(time(&queue, kernel, *range)?);
            }
            output.take();
            count += 1;
        }
    }
    for measured in &mut measured {
        measured.times.sort_unstable();
    }
    Ok(Ok(measured))
}

/// The execution time of a launch on the device, in nanoseconds.
fn time(queue: &Queue, kernel: &Kernel, range: NdRange) -> Result<u64, Failure> {
    let begin = Instant::now();
    // SAFETY: the user guarantees that the kernel stays within its buffers.
    #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
    let event = unsafe { queue.launch(kernel, range) }?;
    progress::show_while(&|| format!("kernel `{}` is running", kernel.name()), || event.wait())?;
    let wall = begin.elapsed();
    Ok(event.times().map_or(wall, |times| times.execution()).as_nanos() as u64)
}

/// The table, and the comparison of the second variant with the first.
fn report(results: &[Vec<Measured>]) -> String {
    let mut text = String::new();
    let mut rows =
        vec![["", "kernel", "global", "median", "min", "max", "spread", "GB/s"].map(str::to_owned)];
    let has_devices = results.windows(2).any(|pair| pair[0][0].device != pair[1][0].device);
    let variant = |it: &Measured| if has_devices { it.device.clone() } else { it.source.clone() };
    if let Some(first) = results.first().and_then(|all| all.first()).filter(|_| !has_devices) {
        let _ = writeln!(text, "{}, {} repetitions", first.device, first.times.len());
    }
    rows[0][0] = if has_devices { "device" } else { "source" }.to_owned();
    for it in results.iter().flatten() {
        rows.push([
            variant(it),
            it.kernel.clone(),
            it.global.clone(),
            duration(it.median()),
            duration(it.quantile(0.0)),
            duration(it.quantile(1.0)),
            format!("{:.1} %", it.spread() * 100.0),
            if it.bytes == 0 { "–".to_owned() } else { format!("{:.2}", it.bandwidth()) },
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..8).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - cell.chars().count());
            let _ = if index < 2 { write!(line, "{cell}{pad}  ") } else { write!(line, "{pad}{cell}  ") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if let [first, second] = results {
        for (first, second) in first.iter().zip(second) {
            let _ = writeln!(text, "{}: {}", first.kernel, comparison(first, second, &variant(second)));
        }
    }
    text
}

/// The ratio of two medians. Two times differ clearly if their middle halves do not overlap.
fn comparison(first: &Measured, second: &Measured, name: &str) -> String {
    let ratio = second.median() / first.median().max(1.0);
    let is_clear =
        second.quantile(0.75) < first.quantile(0.25) || first.quantile(0.75) < second.quantile(0.25);
    match is_clear {
        true => format!("{name} takes {ratio:.2} times as long"),
        false => format!("no clear difference ({ratio:.2} times as long, within the spread)"),
    }
}

/// Nanoseconds with three digits, in the largest fitting unit.
fn duration(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| nanoseconds >= *scale).unwrap_or((1.0, "ns"));
    let value = nanoseconds / scale;
    let digits = if value >= 100.0 || unit == "ns" {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(times: &[u64]) -> Measured {
        let text = String::new;
        Measured {
            source: "a.cl".into(),
            device: text(),
            kernel: text(),
            global: text(),
            bytes: 400,
            times: times.to_vec(),
        }
    }

    #[test]
    fn medians_and_quantiles_are_computed() {
        let it = measured(&[100, 200, 300, 400, 1000]);
        assert_eq!((it.median(), it.quantile(0.25), it.quantile(0.75)), (300.0, 200.0, 400.0));
        assert_eq!(measured(&[100, 200]).median(), 150.0);
        assert!((it.spread() - 2.0 / 3.0).abs() < 1e-9);
        assert!((measured(&[200]).bandwidth() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn comparisons_need_disjoint_quartiles() {
        let (slow, fast) = (measured(&[1000, 1010, 1020]), measured(&[500, 505, 510]));
        assert_eq!(comparison(&slow, &fast, "b.cl"), "b.cl takes 0.50 times as long");
        assert!(comparison(&slow, &measured(&[900, 1015, 1300]), "b.cl").starts_with("no clear difference"));
    }

    #[test]
    fn durations_have_three_digits() {
        let shown = [12.0, 1234.0, 56_789.0, 123_456_789.0, 2.5e9].map(duration);
        assert_eq!(shown, ["12 ns", "1.23 µs", "56.8 µs", "123 ms", "2.50 s"]);
    }
}
