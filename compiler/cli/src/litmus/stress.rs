//! `kiln litmus --run`: runs many instances of a launch on a device, while other work-items continually access other
//! memory.
//!
//! Each launch on the device runs up to 131,072 instances, each with its own memory. The work-groups of an instance are
//! paired at random, and so are the locations of its memory. The width of work-groups, the distance of partners and the
//! noise differ from launch to launch. A second kernel counts the outcomes, so that only a few numbers return to the
//! host.

mod source;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use kiln_compiler::{interface, session::Source};
use kiln_memory_model::{Action, Argument, Location, Object, Trace};
use kiln_runtime::{
    ArgValue, Buffer, Device, DeviceInfo, DeviceKind, Kernel, Local, NdRange, Program, Queue,
};

use super::findings::{Compiler, Exploration, Findings};
use crate::{
    compile,
    exit::{Failure, Outcome, failure},
    progress,
};

/// The number of unknown outcomes to keep of each batch.
const EXAMPLES: usize = 16;

/// The maximum number of known outcomes: their counters fit in local memory.
const MAX_OUTCOMES: usize = 2000;

/// The number of instances of one launch on a GPU, on other devices, and if work-items wait for each other.
const ON_GPU: u32 = 1 << 17;
const ON_CPU: u32 = 1 << 11;
const WAITING: u32 = 1 << 5;

/// The words of memory that noise accesses.
const SCRATCH: usize = 256;

/// The limit of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// The number of instances.
    pub(crate) instances: u64,
    /// The time after which no more launches begin.
    pub(crate) time: Option<Duration>,
}

/// A time limit.
pub(super) fn duration(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|_| Failure(format!("`{seconds}` is not a time in seconds")))
}

/// The outcomes that were observed on a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Observations {
    pub(super) device: String,
    pub(super) driver: String,
    pub(super) instances: u64,
    /// The number of instances with each known outcome.
    pub(super) counts: BTreeMap<Vec<u64>, u64>,
    /// The number of instances with other outcomes, and some of these.
    pub(super) others: u64,
    pub(super) examples: BTreeSet<Vec<u64>>,
}

impl Observations {
    /// No instances on this device yet.
    pub(super) fn on(device: &DeviceInfo) -> Self {
        Self { device: device.name.clone(), driver: device.driver.clone(), ..Self::default() }
    }
}

/// A part of an outcome in the memory of an instance.
struct Part {
    argument: usize,
    stride: usize,
    offset: u32,
    size: u64,
}

/// A launch that is ready to run on a device.
pub(super) struct Stress {
    queue: Queue,
    test: Kernel,
    count: Kernel,
    /// The memory of all instances, with its initial contents.
    memory: Vec<[Buffer<u8>; 2]>,
    latch: [Buffer<u32>; 2],
    counts: Buffer<u32>,
    others: Buffer<u64>,
    outcomes: Vec<Vec<u64>>,
    parts: usize,
    /// The number of arguments of the user's kernel.
    arguments: usize,
    /// The number of memory arguments of `kiln_litmus_count`.
    counted: usize,
    instances: u32,
    groups: u32,
    items: u32,
    /// The local memory of one instance, by argument.
    local: Vec<(usize, usize)>,
    /// The number of instances in a work-group.
    widest: u32,
    /// Whether work-items wait for each other: all work-items of an instance must then run at the same time.
    waits: bool,
    /// The index of the next launch.
    launch_index: u32,
}

/// The parameters of a launch.
struct LaunchParameters {
    width: u32,
    window: u32,
    seed: u32,
    spins: u32,
    noise: u32,
    extra: u32,
}

impl LaunchParameters {
    fn new(number: u32, widest: u32, instances: u32, waits: bool) -> Self {
        let mut chance = number.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
        let mut pick = |from: &[u32]| {
            chance = (chance ^ chance >> 15).wrapping_mul(0x2c1b_3c6d);
            from[(chance >> 8) as usize % from.len()]
        };
        // The number of groups in one dimension is limited to 65,535.
        let width = (widest >> pick(&[0, 0, 1, 2, 3, 5])).max(instances >> 15).max(1);
        let window = pick(&[width, width, 2 * width, 16 * width, instances]).min(instances) - 1;
        let (spins, noise) = (pick(&[0, 64, 1024, 1024]), pick(&[0, 0, 4, 16, 64]));
        let extra = pick(&[0, 0, 1, 2]);
        let seed = pick(&[0]) ^ number.wrapping_mul(0x85eb_ca6b);
        match waits {
            true => Self { width: 1, window: 0, seed, spins: 1024, noise: noise.min(4), extra: 0 },
            false => Self { width, window, seed, spins, noise, extra },
        }
    }
}

/// Whether all work-items reach the same barriers for all values that they can read: instances can then share a work-group.
fn is_uniform(traces: &[Vec<Trace>]) -> bool {
    let barriers = |trace: &Trace| -> Vec<u32> {
        let all = trace.events.iter().filter(|event| event.action == Action::Arrive);
        all.map(|event| event.site).collect()
    };
    let mut all = traces.iter().flatten().map(barriers);
    all.next().is_none_or(|first| all.all(|other| other == first))
}

/// The objects of the events of a launch.
fn objects(findings: &Findings) -> impl Iterator<Item = Object> {
    let skeletons = [&findings.opencl.skeleton, &findings.vulkan.skeleton];
    let traces = skeletons.into_iter().flat_map(|it| it.traces.iter().flatten());
    traces.flat_map(|it| &it.events).filter_map(|event| event.location).map(|location| location.object)
}

impl Stress {
    /// Compiles a launch for a device. Returns an outcome if that fails with diagnostics.
    pub(super) fn new(
        compiler: &Compiler<'_>,
        exploration: &Exploration,
        device: &Device,
    ) -> Result<Result<Self, Outcome>, Failure> {
        let (launch, findings) = (&exploration.launch, &exploration.findings);
        let kernels = &exploration.interface.kernels;
        let Some(kernel) = kernels.iter().find(|it| launch.kernel.is_empty() || it.name == launch.kernel)
        else {
            return failure("the source has no kernel of this name");
        };
        let outcomes = findings.outcomes();
        let (items, groups) = (launch.local.iter().product::<u32>(), groups(launch));
        let capabilities = device.capabilities();
        let is_gpu = device.info().kind >= DeviceKind::IntegratedGpu;
        // On a CPU, a work-group is a loop over its work-items: in a large one, partners are far apart.
        let max = capabilities.max_work_group_size.min(if is_gpu { 256 } else { 16.max(items) });
        check(exploration, &outcomes, (items, max), device)?;
        let parts = parts(exploration);
        let programs = match compile(compiler, exploration, kernel, (&parts, outcomes.len()), device)? {
            Ok(programs) => programs,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let skeletons = [&findings.opencl.skeleton, &findings.vulkan.skeleton];
        let waits = skeletons.iter().any(|it| it.is_cut || it.has_spins);
        let is_alone = objects(findings).any(|object| matches!(object, Object::LocalVariable(..)))
            || !findings.opencl.skeleton.traces.chunks(items as usize).all(is_uniform);
        let instances = if waits {
            WAITING
        } else if is_gpu {
            ON_GPU
        } else {
            ON_CPU
        };
        let widest = if is_alone || waits { 1 } else { 1 << (max / items).ilog2() };
        let instances = if widest == 1 { instances.min(1 << 15) } else { instances };
        let zero = vec![0_u32; instances as usize];
        let mut stress = Self {
            queue: device.queue()?,
            test: programs[0].kernel("kiln_litmus_test")?,
            count: programs[1].kernel("kiln_litmus_count")?,
            memory: Vec::new(),
            latch: [device.buffer_from(&zero)?, device.buffer_from(&zero)?],
            counts: device.buffer_from(&vec![0_u32; outcomes.len() + 1])?,
            others: device.buffer_from(&vec![0_u64; 1 + EXAMPLES * parts.len()])?,
            parts: parts.len(),
            arguments: launch.arguments.len(),
            counted: 0,
            local: Vec::new(),
            launch_index: 0,
            outcomes,
            instances,
            groups,
            items,
            widest,
            waits,
        };
        stress.bind(device, &launch.arguments, &parts)?;
        Ok(Ok(stress))
    }

    /// Allocates memory, and sets the arguments that stay the same.
    fn bind(&mut self, device: &Device, arguments: &[Argument], parts: &[Part]) -> Result<(), Failure> {
        for (index, argument) in arguments.iter().enumerate() {
            match argument {
                Argument::Buffer(bytes) => {
                    let mut one = bytes.clone();
                    one.resize(source::stride(bytes.len()), 0);
                    let all = one.repeat(self.instances as usize);
                    let pair = [device.buffer_from(&all)?, device.buffer_from(&all)?];
                    self.test.set(index, &pair[1])?;
                    if parts.iter().any(|part| part.argument == index) {
                        self.count.set(self.counted, &pair[1])?;
                        self.counted += 1;
                    }
                    self.memory.push(pair);
                }
                Argument::Value(bytes) => drop(self.test.set(index, ArgValue::Bytes(bytes.clone()))?),
                Argument::Local(bytes) => self.local.push((index, source::stride(*bytes as usize))),
            }
        }
        let known: Vec<u64> = self.outcomes.concat();
        let scratch = device.buffer_from(&[0_u32; SCRATCH])?;
        self.test.set(self.arguments, &scratch)?;
        self.test.set(self.arguments + 1, &self.latch[1])?;
        self.test.set(self.arguments + 2, self.instances - 1)?;
        let counted = self.counted;
        self.count.set(counted, &device.buffer_from(&known)?)?;
        self.count.set(counted + 1, &self.counts)?;
        self.count.set(counted + 2, &self.others)?;
        self.count.set(counted + 3, Local::array::<u32>(self.outcomes.len() + 1))?;
        self.count.set(counted + 4, self.instances - 1)?;
        Ok(())
    }

    /// Runs instances until the limit, and adds to what was seen.
    pub(super) fn run(&mut self, limit: Limit, observations: &mut Observations) -> Result<(), Failure> {
        let (begin, until) = (Instant::now(), observations.instances + limit.instances);
        let is_over = |observations: &Observations| {
            observations.instances >= until || limit.time.is_some_and(|time| begin.elapsed() >= time)
        };
        // The host reads the counters after a batch of launches.
        while !is_over(observations) {
            let left = (until - observations.instances).div_ceil(u64::from(self.instances)).min(16);
            let left = if self.waits || limit.time.is_some() { left.min(4) } else { left };
            for _ in 0..left {
                self.launch()?;
            }
            let what = || format!("{} instances ran on {}", observations.instances, observations.device);
            progress::show_while(&what, || self.queue.finish())?;
            observations.instances += left * u64::from(self.instances);
            self.collect(observations)?;
        }
        Ok(())
    }

    /// Runs all instances once.
    fn launch(&mut self) -> Result<(), Failure> {
        let parameters = LaunchParameters::new(self.launch_index, self.widest, self.instances, self.waits);
        self.launch_index += 1;
        for [initial, memory] in &self.memory {
            self.queue.copy(initial, memory)?;
        }
        self.queue.copy(&self.latch[0], &self.latch[1])?;
        for &(index, stride) in &self.local {
            self.test.set(index, Local(stride * parameters.width as usize))?;
        }
        let first = self.arguments + 3;
        for (index, value) in
            (first..).zip([parameters.window, parameters.seed, parameters.spins, parameters.noise])
        {
            self.test.set(index, value)?;
        }
        self.count.set(self.counted + 5, parameters.seed)?;
        let (lanes, rows) = (parameters.width * self.items, self.instances / parameters.width);
        let global = [((self.groups + parameters.extra) * lanes) as usize, rows as usize];
        let counting = [self.instances as usize];
        let range = NdRange::from(global).local([lanes as usize, 1]);
        // SAFETY: the kernel stays within its buffers, as the explored executions do: indices are below the number of
        // instances, rows below that of latches, and noise below `SCRATCH`.
        #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
        unsafe {
            self.queue.launch(&self.test, range)?;
        }
        // SAFETY: the kernel reads parts of the instances' memory, and writes elements below the number of outcomes
        // and examples.
        #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
        unsafe {
            self.queue.launch(&self.count, NdRange::from(counting).local([32]))?;
        }
        Ok(())
    }

    /// Adds the counters to what was seen, and clears them.
    fn collect(&mut self, observations: &mut Observations) -> Result<(), Failure> {
        let counts = self.queue.read(&self.counts)?;
        for (outcome, count) in self.outcomes.iter().zip(&counts) {
            *observations.counts.entry(outcome.clone()).or_default() += u64::from(*count);
        }
        let others = self.queue.read(&self.others)?;
        observations.others += u64::from(counts[self.outcomes.len()]);
        let kept = (others[0] as u32 as usize).min(EXAMPLES);
        for example in others[1..].chunks_exact(self.parts).take(kept) {
            if observations.examples.len() < EXAMPLES {
                observations.examples.insert(example.to_vec());
            }
        }
        self.queue.write(&self.counts, &vec![0; counts.len()])?;
        self.queue.write(&self.others, &vec![0; others.len()])?;
        Ok(())
    }
}

fn is_at_program_scope(event: &kiln_memory_model::Event) -> bool {
    matches!(event.location, Some(Location { object: Object::Program, .. }))
}

fn groups(launch: &kiln_memory_model::Launch) -> u32 {
    (0..3).map(|it| launch.global[it] / launch.local[it].max(1)).product()
}

/// Checks that a device can run instances of this launch. `items` is the size of its work-groups, and `max` the largest one that
/// is useful on the device.
fn check(
    exploration: &Exploration,
    outcomes: &[Vec<u64>],
    (items, max): (u32, u32),
    device: &Device,
) -> Result<(), Failure> {
    let skeleton = &exploration.findings.opencl.skeleton;
    if skeleton.traces.iter().flatten().flat_map(|it| &it.events).any(is_at_program_scope) {
        return failure(
            "--run needs a launch without program-scope variables: its instances would share them",
        );
    }
    if outcomes.first().is_none_or(Vec::is_empty) || outcomes.len() > MAX_OUTCOMES {
        return failure(format!("--run needs a launch with 1 to {MAX_OUTCOMES} outcomes"));
    }
    if items > max {
        return failure(format!(
            "a work-group of {items} work-items is too large for a stress run on {}",
            device.name()
        ));
    }
    if exploration.launch.sub_group > device.capabilities().sub_groups.as_ref().map_or(1, |it| it.max_size) {
        return failure(format!("{} has no sub-groups of this size", device.name()));
    }
    Ok(())
}

/// The programs of `kiln_litmus_test` and `kiln_litmus_count`. The inner error is the exit code after reported diagnostics.
fn compile(
    compiler: &Compiler<'_>,
    exploration: &Exploration,
    kernel: &interface::Kernel,
    (parts, outcomes): (&[Part], usize),
    device: &Device,
) -> Result<Result<Vec<Program>, Outcome>, Failure> {
    let (name, launch) = (&exploration.source.name, &exploration.launch);
    let text = String::from_utf8_lossy(&exploration.source.text);
    let mut programs = Vec::new();
    for text in [source::test(name, &text, kernel, launch), source::count(parts, outcomes)] {
        let mut options = compiler.options(device.info().target());
        options.warnings.none = true;
        let source = Source { name: name.clone(), text: text.into_bytes() };
        match compile::module(source, &options, compiler.files, compiler.shown) {
            Ok((module, _)) => programs.push(Program::from_verified(device, &module)?),
            Err(outcome) => return Ok(Err(outcome)),
        }
    }
    Ok(Ok(programs))
}

/// The parts of outcomes, in order.
fn parts(exploration: &Exploration) -> Vec<Part> {
    let skeleton = &exploration.findings.opencl.skeleton;
    let all = skeleton.parts.iter().zip(&skeleton.sizes);
    all.filter_map(|(location, &size)| {
        let Object::Argument(number) = location.object else { return None };
        let bytes = match exploration.launch.arguments.get(number as usize) {
            Some(Argument::Buffer(bytes)) => bytes.len(),
            _ => 0,
        };
        let (argument, stride) = (number as usize, source::stride(bytes));
        Some(Part { argument, stride, offset: location.offset, size })
    })
    .collect()
}
