//! Compares the memory models with published verdicts on litmus tests, which are not part of this repository: those of
//! Dat3M (github.com/hernanponcedeleon/Dat3M) for C11, OpenCL and Vulkan, and those of Khronos' formal model of Vulkan
//! (github.com/KhronosGroup/Vulkan-MemoryModel).

mod opencl;
mod spirv;
mod vulkan;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use kiln_memory_model::{
    Model, Skeleton,
    explore::Options,
    progress::{Finding, Progress, Scheduler, study},
};

/// The property that a list states about its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// Whether the condition of the test is true.
    Condition,
    /// Whether the test has no data race.
    NoRace,
    /// Whether every run ends under this scheduler.
    Ends(Progress),
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    holds: bool,
}

/// How a test is explored.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// herd's, by `kiln litmus`.
    Herd,
    Vulkan(Model),
}

/// Dat3M's lists: their names, files, questions, and the form of the tests.
const LISTS: [(&str, &str, Question, Form); 12] = [
    ("C11, outcomes", "C11-expected.csv", Question::Condition, Form::Herd),
    ("OpenCL, outcomes", "OPENCL-expected.csv", Question::Condition, Form::Herd),
    ("OpenCL, races", "OPENCL-DR-expected.csv", Question::NoRace, Form::Herd),
    ("Vulkan, outcomes", "VULKAN-expected.csv", Question::Condition, Form::Vulkan(Model::Vulkan)),
    ("Vulkan, races", "VULKAN-DR-expected.csv", Question::NoRace, Form::Vulkan(Model::Vulkan)),
    (
        "Vulkan without chains, outcomes",
        "VULKAN-NOCHAINS-expected.csv",
        Question::Condition,
        Form::Vulkan(Model::VulkanWithoutChains),
    ),
    (
        "Vulkan without chains, races",
        "VULKAN-DR-NOCHAINS-expected.csv",
        Question::NoRace,
        Form::Vulkan(Model::VulkanWithoutChains),
    ),
    (
        "Vulkan, termination under FAIR",
        "VULKAN-Liveness-Fair-expected.csv",
        ends_under(Scheduler::Fair),
        Form::Vulkan(Model::Vulkan),
    ),
    (
        "Vulkan, termination under LOBE",
        "VULKAN-Liveness-LOBE-expected.csv",
        ends_under(Scheduler::Linear),
        Form::Vulkan(Model::Vulkan),
    ),
    (
        "Vulkan, termination under HSA_OBE",
        "VULKAN-Liveness-HSA_OBE-expected.csv",
        ends_under(Scheduler::FirstAndOccupant),
        Form::Vulkan(Model::Vulkan),
    ),
    (
        "Vulkan, termination under OBE",
        "VULKAN-Liveness-OBE-expected.csv",
        ends_under(Scheduler::Occupant),
        Form::Vulkan(Model::Vulkan),
    ),
    (
        "Vulkan, termination under HSA",
        "VULKAN-Liveness-HSA-expected.csv",
        ends_under(Scheduler::First),
        Form::Vulkan(Model::Vulkan),
    ),
];

/// The question whether every run ends if all levels have the same scheduler.
const fn ends_under(scheduler: Scheduler) -> Question {
    Question::Ends(Progress { groups: scheduler, sub_groups: scheduler, items: scheduler })
}

/// The name of Khronos' list.
const KHRONOS: &str = "Khronos' Vulkan-MemoryModel, assertions";

/// The published verdicts.
#[derive(Clone, Debug)]
pub struct Sets {
    /// A checkout of Dat3M.
    pub dat3m: Option<PathBuf>,
    /// A checkout of Khronos' Vulkan-MemoryModel.
    pub khronos: Option<PathBuf>,
    /// The binary `kiln`, for the tests in OpenCL C.
    pub kiln: PathBuf,
    /// Only the lists whose names contain this.
    pub filter: String,
    /// The maximum number of candidate executions of a SPIR-V module.
    pub budget: u64,
}

/// The comparison with one set.
struct Compared {
    name: String,
    tests: usize,
    expressible: usize,
    same: usize,
    details: Vec<String>,
}

impl Sets {
    /// Compares all sets; returns a table and the differences.
    pub fn compare(&self) -> Result<String, String> {
        let mut all = Vec::new();
        if let Some(folder) = &self.dat3m {
            for (name, file, question, form) in LISTS.into_iter().filter(|it| it.0.contains(&self.filter)) {
                all.push(self.list(folder, (name, file), question, form)?);
            }
            for (environment, model) in [("vulkan", Model::Vulkan), ("opencl", Model::OpenCl)] {
                all.extend(spirv::compare(folder, environment, model, (&self.filter, self.budget))?);
            }
        }
        if let Some(folder) = self.khronos.as_ref().filter(|_| KHRONOS.contains(&self.filter)) {
            all.push(khronos(folder)?);
        }
        let mut text = "| set | tests | expressible | agree |\n| --- | --- | --- | --- |\n".to_owned();
        for Compared { name, tests, expressible, same, .. } in &all {
            text.push_str(&format!("| {name} | {tests} | {expressible} | {same} |\n"));
        }
        text.push('\n');
        for set in &all {
            set.details.iter().for_each(|it| text.push_str(&format!("{}: {it}\n", set.name)));
        }
        Ok(text)
    }

    fn list(
        &self,
        folder: &Path,
        (name, file): (&str, &str),
        question: Question,
        form: Form,
    ) -> Result<Compared, String> {
        let list = read(&folder.join("dartagnan/src/test/resources").join(file))?;
        let tests: Vec<(&str, bool)> = list
            .lines()
            .filter(|line| !line.trim_start().starts_with(['/', ';', '#']))
            .filter_map(|line| line.split_once(','))
            .map(|(path, verdict)| (path, verdict.trim() == "1"))
            .collect();
        let verdicts = on_all(&tests, |(path, _)| match form {
            Form::Herd => opencl::verdict(&self.kiln, &folder.join(path), question),
            Form::Vulkan(model) => vulkan::verdict(&folder.join(path), question, model),
        });
        let mut compared = Compared::new(name, tests.len());
        for ((path, expected), verdict) in tests.iter().zip(verdicts) {
            compared.add(path, *expected, verdict);
        }
        Ok(compared)
    }
}

impl Compared {
    fn new(name: &str, tests: usize) -> Self {
        Self { name: name.to_owned(), tests, expressible: 0, same: 0, details: Vec::new() }
    }

    fn add(&mut self, test: &str, expected: bool, verdict: Result<Verdict, String>) {
        match verdict {
            Err(why) => self.details.push(format!("{test}: not expressible: {why}")),
            Ok(Verdict { holds }) => {
                self.expressible += 1;
                match holds == expected {
                    true => self.same += 1,
                    false => self.details.push(format!("{test}: kiln says {holds}")),
                }
            }
        }
    }
}

fn khronos(folder: &Path) -> Result<Compared, String> {
    let folder = folder.join("alloy/tests");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut tests: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    tests.retain(|it| it.extension().is_some_and(|it| it == "test"));
    tests.sort();
    let mut compared = Compared::new(KHRONOS, 0);
    for test in tests {
        let name = test.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match vulkan::assertions(&test) {
            Err(why) => {
                compared.tests += 1;
                compared.add(&name, true, Err(why));
            }
            Ok(verdicts) => {
                for (text, verdict) in verdicts {
                    compared.tests += 1;
                    compared.add(&format!("{name}: {text}"), true, verdict);
                }
            }
        }
    }
    Ok(compared)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Whether every run of a launch ends.
fn ends(skeleton: &Skeleton, model: Model, scheduler: Progress, options: Options) -> Result<Verdict, String> {
    match study(skeleton, model, &[scheduler], options).map_err(|e| e.to_string())?.first() {
        Some(Finding::Ends) => Ok(Verdict { holds: true }),
        Some(Finding::Stuck(_)) => Ok(Verdict { holds: false }),
        Some(Finding::Unknown) | None => Err("its loops have more iterations than the bound".to_owned()),
    }
}

/// Applies a function to all elements, on all processors.
fn on_all<T: Sync, R: Send>(all: &[T], apply: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((index, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|it| Some((it, all.get(it)?)))
                {
                    let result = apply(item);
                    results.lock().expect("no worker panics with the lock").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panicked");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
