//! Schedules work-groups on threads.
//!
//! Owns fairness among work-groups: one that waits for another yields to it, as long as there is memory for both.
//! Must not depend on operations.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use super::{
    Argument, Launch, Options, Outcome, Pipeline, Region, clock,
    enqueue::{Child, IndexSpace, LAUNCH, MAX_ENQUEUED, Next, Queue},
    group::{self, Debugging, Group, Pool, SliceEnd},
    group_position::GroupPosition,
    races::{Past, Races, Reserved},
    resource::{self, Resource},
};
use crate::{
    Checks, Memory, Monitor, Program,
    memory::{Location, Objects, Space},
    report::{Report, SourceLine},
};

/// The maximum number of running work-items, in all groups.
const MAX_RUNNING_ITEMS: usize = 1 << 15;

/// The state that the threads of a launch share.
struct Shared<'l> {
    launch: &'l Launch<'l>,
    options: &'l Options,
    global: Objects,
    /// The resources bound for each pipeline.
    resources: Vec<Vec<Option<Resource>>>,
    next: AtomicU64,
    stopped: AtomicBool,
    report: Mutex<Option<Report>>,
    printed: Mutex<Vec<u8>>,
    print_room: AtomicU64,
    queue: &'l Queue,
    monitor: Option<&'l dyn Monitor>,
}

/// Executes a launch and the kernels that it enqueues; it is complete when all of them are (OpenCL C 6.15.19). A
/// debugger can execute it again from its start.
pub(crate) fn run(
    launch: &Launch<'_>,
    memory: &Memory,
    options: &Options,
    monitor: Option<&dyn Monitor>,
) -> Outcome {
    let Some(monitor) = monitor else { return complete(launch, memory, options, None) };
    let before = memory.snapshot();
    loop {
        let outcome = complete(launch, memory, options, Some(monitor));
        if !outcome.report.as_ref().is_some_and(Report::is_rewound) {
            return outcome;
        }
        memory.restore(&before);
    }
}

/// Executes a launch and the kernels that it enqueues.
fn complete(
    launch: &Launch<'_>,
    memory: &Memory,
    options: &Options,
    monitor: Option<&dyn Monitor>,
) -> Outcome {
    let queue = Queue::new();
    let mut races = Races::new(launch.environment());
    let start = |races: &mut Races, name: &str, regions: &[Region], past: &Past| {
        if !races.begin_kernel(name, regions.iter().map(count).sum(), past) {
            queue.forget();
        }
    };
    start(&mut races, launch.name(), launch.regions, &Past::default());
    let mut outcome = execute(launch, memory, options, &queue, &mut races, monitor);
    let mut ended = LAUNCH;
    while outcome.report.is_none() {
        let past = races.end_kernel();
        for (addresses, times) in queue.complete(ended, &past, races.acquired()) {
            profile(&memory.objects(), &addresses, times);
        }
        let (child, event, past) = match queue.next(options.seed) {
            Next::Nothing => break,
            Next::Kernel(child, event, past) => (child, event, past),
            Next::Stuck => {
                outcome.report = Some(enqueue_error(
                    launch,
                    "enqueues a kernel that waits for events that never complete",
                ));
                break;
            }
            Next::TooMany => {
                outcome.report =
                    Some(enqueue_error(launch, &format!("enqueues more than {MAX_ENQUEUED} kernels")));
                break;
            }
        };
        let program = launch.pipelines[0].program;
        start(&mut races, &program.kernels[kernel(program, &child)].name, &child.space.regions, &past);
        let mut done = enqueued(program, &child, memory, options, &queue, &mut races, monitor);
        outcome.printed.append(&mut done.printed);
        outcome.report = done.report;
        ended = event;
    }
    outcome
}

/// The index of an enqueued kernel in the program.
fn kernel(program: &Program, child: &Child) -> usize {
    program.launched + child.block as usize
}

/// Executes an enqueued kernel. The captures of its block get their own memory.
fn enqueued(
    program: &Program,
    child: &Child,
    memory: &Memory,
    options: &Options,
    queue: &Queue,
    races: &mut Races,
    monitor: Option<&dyn Monitor>,
) -> Outcome {
    let Some(literal) = memory.allocate(child.literal.len() as u64) else { return Outcome::default() };
    literal.write(0, &child.literal);
    let captured = Argument::Bytes(literal.address().to_le_bytes().to_vec());
    let locals = child.locals.iter().map(|&bytes| Argument::Local(bytes));
    let arguments: Vec<Argument> = std::iter::once(captured).chain(locals).collect();
    let IndexSpace { dims, offset, global, local, groups, regions } = &child.space;
    let pipeline = Pipeline { program, push_constants: &[], bound: &[] };
    let launch = Launch {
        pipelines: &[pipeline],
        kernel: kernel(program, child),
        arguments: &arguments,
        buffers: &[],
        dims: *dims,
        global: *global,
        offset: *offset,
        local: *local,
        groups: *groups,
        regions,
    };
    let outcome = execute(&launch, memory, options, queue, races, monitor);
    // Another buffer may get the address of the captures.
    races.forget(literal.address());
    outcome
}

/// Writes the times until a kernel has ended and until it is complete (`CLK_PROFILING_COMMAND_EXEC_TIME`).
fn profile(objects: &Objects, addresses: &[u64], times: [u64; 2]) {
    for &address in addresses {
        let Some(location) =
            Location::from_address(address).filter(|location| location.space == Space::Global)
        else {
            continue;
        };
        let Some(cells) = objects.buffer(location.object).filter(|cells| cells.has(location.offset, 16))
        else {
            continue;
        };
        for (time, at) in times.into_iter().zip([0, 8]) {
            cells.store(location.offset as u64 + at, 8, time);
        }
    }
}

/// Reports an error of the enqueued kernels, for the launched kernel.
fn enqueue_error(launch: &Launch<'_>, message: &str) -> Report {
    Report {
        kernel: launch.name().to_owned(),
        message: message.to_owned(),
        location: None,
        work_item: [0; 3],
        notes: Vec::new(),
        kind: "enqueue",
    }
}

/// Executes the work-groups of a launch.
fn execute(
    launch: &Launch<'_>,
    memory: &Memory,
    options: &Options,
    queue: &Queue,
    races: &mut Races,
    monitor: Option<&dyn Monitor>,
) -> Outcome {
    let count: u64 = launch.regions.iter().map(count).sum();
    let shared = Shared {
        launch,
        options,
        global: memory.objects(),
        resources: launch.pipelines.iter().map(resource::resources).collect(),
        next: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        report: Mutex::new(None),
        printed: Mutex::new(Vec::new()),
        print_room: AtomicU64::new(0),
        queue,
        monitor,
    };
    let threads = match options.checks {
        Checks::On => 1,
        Checks::Off if monitor.is_some() => 1,
        Checks::Off => options.threads.clamp(1, 256).min(count.max(1) as usize),
    };
    if threads == 1 {
        shared.run_groups(races);
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| shared.run_groups(&mut Races::new(launch.environment())));
            }
        });
    }
    let report = shared.report.into_inner().unwrap_or_else(PoisonError::into_inner);
    Outcome {
        printed: shared.printed.into_inner().unwrap_or_else(PoisonError::into_inner),
        report: report.or_else(|| races.uncommitted().map(|reserved| uncommitted(launch, reserved))),
    }
}

/// Reports that the kernel has ended without committing a reservation (OpenCL C 6.15.18.5).
fn uncommitted(launch: &Launch<'_>, reserved: Reserved) -> Report {
    let program = launch.pipelines[0].program;
    let line = program.line_at(reserved.at);
    let file = line.and_then(|line| program.files.get(line.file as usize));
    Report {
        kernel: launch.name().to_owned(),
        message: "reserves packets of a pipe, and the kernel ends without committing them".to_owned(),
        location: line.zip(file).map(|(line, file)| SourceLine { file: file.clone(), line: line.line }),
        work_item: GroupPosition::nth(launch, reserved.group.into())
            .map(|position| position.global_id(reserved.index))
            .unwrap_or_default(),
        notes: Vec::new(),
        kind: "pipe",
    }
}

fn count(region: &Region) -> u64 {
    region.groups.iter().map(|count| u64::from(*count)).product()
}

impl Shared<'_> {
    /// A thread's loop: starts groups while there are any, and resumes those that yielded.
    fn run_groups(&self, races: &mut Races) {
        let mut waiting: VecDeque<Group<'_>> = VecDeque::new();
        let mut pool = Pool::default();
        while !self.stopped.load(Relaxed) {
            let running: usize = waiting.iter().map(Group::running_items).sum();
            let begun = if running < MAX_RUNNING_ITEMS { self.start_next_group() } else { None };
            let Some(mut group) = begun.or_else(|| waiting.pop_front()) else { return };
            let mut printed = Vec::new();
            let mut shared = group::Shared {
                global: &self.global,
                resources: &self.resources,
                options: self.options,
                pool: &mut pool,
                races,
                printed: &mut printed,
                print_room: &self.print_room,
                queue: self.queue,
                debugging: self.monitor.map(|monitor| Debugging { monitor, passed: 0 }),
            };
            let ended = match self.options.checks {
                Checks::On => group.run::<true>(&mut shared, &mut waiting),
                Checks::Off => group.run::<false>(&mut shared, &mut waiting),
            };
            shared.pass_output();
            if !printed.is_empty() {
                self.printed.lock().unwrap_or_else(PoisonError::into_inner).append(&mut printed);
            }
            if clock::has_passed(self.options.deadline) && ended.is_ok() {
                self.stop(group.timeout());
            }
            match ended {
                Ok(SliceEnd::Done) => {}
                Ok(SliceEnd::Yielded) => waiting.push_back(group),
                Err(report) => self.stop(*report),
            }
        }
    }

    fn stop(&self, report: Report) {
        self.stopped.store(true, Relaxed);
        self.report.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(report);
    }

    /// Takes the next group that has not started.
    fn start_next_group(&self) -> Option<Group<'_>> {
        let number = self.next.fetch_add(1, Relaxed);
        let position = GroupPosition::nth(self.launch, number)?;
        let sizes = self.launch.arguments.iter().filter_map(|argument| match argument {
            Argument::Local(size) => Some(*size),
            Argument::Bytes(_) => None,
        });
        Some(Group::new(position, number as u32, sizes, self.options))
    }
}
