//! Compares the runtime with equivalent code on plain Vulkan. Both alternate, and the medians count.

use std::time::Instant;

use clap::Args;
use kiln_runtime::{Buffer, Kernel, NdRange, Queue};

use crate::kiln::Kiln;
use crate::median::median;
use crate::raw::Raw;

#[derive(Args)]
pub(crate) struct Runtime {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// Number of measurements
    #[arg(long, default_value_t = 31)]
    rounds: usize,
    /// Queue family of the plain Vulkan code [default: the one that Kiln uses]
    #[arg(long)]
    family: Option<u32>,
    /// Fail if a budget is exceeded
    #[arg(long)]
    strict: bool,
}

const KERNEL: &str = "kernel void count(global uint *data) { data[get_global_id(0)] += 1; }";
/// The work-items of a launch, in one work-group: the smallest possible work.
const LOCAL: u32 = 64;
const BATCH: usize = 1000;
const LAUNCHES: usize = 100;
const BYTES: usize = 64 << 20;

/// The measurements, and the budget of each relative to plain Vulkan.
const ROWS: [(&str, f64); 5] = [
    ("launch in a batch", 1.3),
    ("launch and wait", 1.2),
    ("write 64 MiB", 1.0 / 0.95),
    ("read 64 MiB", 1.0 / 0.95),
    // CPU time of the launching thread, which overlaps with the device's work.
    (" the host's part", f64::INFINITY),
];

struct Ours {
    queue: Queue,
    kernel: Kernel,
    buffer: Buffer<u8>,
}

impl Ours {
    #[allow(unsafe_code, reason = "a launch trusts its kernel")]
    fn launch(&self) -> Result<kiln_runtime::Event, String> {
        // SAFETY: the kernel accesses only the first words of its buffer.
        unsafe { self.queue.launch(&self.kernel, NdRange::from(LOCAL as usize).local(LOCAL as usize)) }
            .map_err(|e| e.to_string())
    }
}

/// The CPU time of this thread in seconds.
fn thread_time() -> Result<f64, String> {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map(|time| time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9).map_err(|e| e.to_string())
}

pub(crate) fn runtime(options: &Runtime) -> Result<(), String> {
    let kiln = Kiln::new(options.device.as_deref().unwrap_or_default())?;
    println!("{}, median of {} rounds\n", kiln.name(), options.rounds);
    let words = kiln.plain_module(KERNEL)?;
    let device = kiln.device();
    let program = kiln_runtime::Program::from_spirv(device, &words).map_err(|e| e.to_string())?;
    let buffer = device.buffer(BYTES).map_err(|e| e.to_string())?;
    let mut kernel = program.kernel("count").map_err(|e| e.to_string())?;
    kernel.set(0, &buffer).map_err(|e| e.to_string())?;
    let ours = Ours { queue: device.queue().map_err(|e| e.to_string())?, kernel, buffer };
    let mut raw = Raw::new(device.info().index, options.family, &words, LOCAL, BYTES as u64)?;
    let source: Vec<u8> = (0..BYTES).map(|i| (i / 5) as u8).collect();
    let mut target = vec![0u8; BYTES];

    let mut seconds = [const { [Vec::new(), Vec::new()] }; ROWS.len()];
    for _ in 0..options.rounds {
        let mut note = |row: usize, side: usize, per: usize, work: &mut dyn FnMut() -> Result<(), String>| {
            let (begin, worked) = (Instant::now(), thread_time()?);
            work()?;
            seconds[row][side].push(begin.elapsed().as_secs_f64() / per as f64);
            Ok::<_, String>((thread_time()? - worked) / per as f64)
        };
        let host = [
            note(0, 0, BATCH, &mut || {
                (0..BATCH).try_for_each(|_| ours.launch().map(drop))?;
                ours.queue.finish().map_err(|e| e.to_string())
            })?,
            note(0, 1, BATCH, &mut || raw.launch(BATCH, 1))?,
        ];
        note(1, 0, LAUNCHES, &mut || {
            (0..LAUNCHES).try_for_each(|_| ours.launch()?.wait().map_err(|e| e.to_string()))
        })?;
        note(1, 1, LAUNCHES, &mut || (0..LAUNCHES).try_for_each(|_| raw.launch(1, 1)))?;
        note(2, 0, 1, &mut || {
            let written = ours.queue.write(&ours.buffer, &source).and_then(|event| event.wait());
            written.map_err(|e| e.to_string())
        })?;
        note(2, 1, 1, &mut || raw.write(&source))?;
        for side in 0..2 {
            target.fill(0);
            note(3, side, 1, &mut || match side {
                0 => ours.queue.read_into(&ours.buffer, &mut target).map_err(|e| e.to_string()),
                _ => raw.read(&mut target),
            })?;
            if target != source {
                return Err("what was read is not what was written".to_owned());
            }
        }
        for (side, host) in host.into_iter().enumerate() {
            seconds[4][side].push(host);
        }
    }
    println!("{:<20} {:>14} {:>14} {:>8} {:>8}", "", "kiln", "bare Vulkan", "ratio", "at most");
    let mut exceeded = Vec::new();
    for ((name, budget), [ours, raw]) in ROWS.iter().zip(&seconds) {
        let (ours, raw) = (median(ours), median(raw));
        let ratio = ours / raw;
        let budget_text = if budget.is_finite() { format!("{budget:.2}") } else { String::new() };
        println!("{name:<20} {:>11.2} us {:>11.2} us {ratio:>8.2} {budget_text:>8}", ours * 1e6, raw * 1e6);
        if ratio > *budget {
            exceeded.push(*name);
        }
    }
    if options.strict && !exceeded.is_empty() {
        return Err(format!("over budget: {}", exceeded.join(", ")));
    }
    Ok(())
}
