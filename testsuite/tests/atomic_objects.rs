//! Every atomic operation on an object of every type in every container, for every profile of both environments: a valid module,
//! or an error at the operation that names the missing feature. The modules for the devices of this machine also run, and
//! every kernel checks its result. docs/atomic-operations.md contains the counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    process::{Command, ExitCode},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use kiln_compiler::{
    Artifact, Emit,
    diag::{Severity, WarningOptions},
    opencl::{Environment, LanguageVersion},
    session::{self, NoFiles, Options},
    target::{Target, profile},
    verify::VerifiedModule,
};
use kiln_runtime::{Device, Instance, NdRange, Program, Selector};
use kiln_testsuite::{
    atomic_objects::{Container, Source, Ty},
    device, nightly, root,
};
use libtest_mimic::{Arguments, Trial};

/// Set in the child process, which loads the drivers.
const CHILD: &str = "KILN_TEST_ATOMIC_OBJECTS";

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.args(std::env::args_os().skip(1)).env(CHILD, "1").env_remove("KILN_DEVICE");
        if let Err(missing) = device::drivers(&mut command) {
            eprintln!("{missing}");
            return ExitCode::FAILURE;
        }
        let status = command.status().expect("this program runs again");
        return ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1));
    }
    let mut trials = vec![Trial::test("the_counts_are_on_the_page", || Ok(counts_are_on_the_page()?))];
    let instance = Instance::new(kiln_runtime::Options::default()).expect("there are drivers");
    for info in instance.devices().iter().filter(|info| device::is_tested(&info.name)) {
        let name =
            info.name.split([' ', '(']).filter(|word| !word.is_empty()).take(2).collect::<Vec<_>>().join("-");
        let index = info.index;
        trials.push(Trial::test(format!("results_on_{name}"), move || Ok(results_are_right(index)?)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// An object's type and container, and whether it is in local memory.
type Case = (Ty, Container, bool);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for ty in Ty::all() {
        for (container, _) in Container::ALL {
            // A generic pointer points to either memory.
            let memories: &[bool] = if container == Container::Generic { &[false] } else { &[true, false] };
            cases.extend(memories.iter().map(|&is_local| (ty, container, is_local)));
        }
    }
    cases
}

/// The outcomes of the kernels of a source.
#[derive(Default)]
struct Outcome {
    module: Option<VerifiedModule>,
    /// The names of the kernels in the module.
    accepted: Vec<String>,
    /// The features that the other kernels lack, by operation.
    rejected: Vec<(String, String)>,
}

/// Compiles all kernels whose features the target has. Fails if an error is not about a feature.
fn compile(target: &Target, (ty, container, is_local): Case) -> Result<Outcome, String> {
    let source = Source::new(ty, container, is_local);
    let options = Options {
        std: LanguageVersion::Cl20,
        target: target.clone(),
        warnings: WarningOptions { none: true, error_limit: 0, ..WarningOptions::default() },
        ..Options::default()
    };
    let mut outcome = Outcome::default();
    let mut wanted: BTreeSet<usize> = (0..source.kernels.len()).collect();
    while !wanted.is_empty() {
        let (text, lines) = source.text(|number| wanted.contains(&number));
        let file = session::Source { name: "atomic_objects.cl".to_owned(), text: text.clone().into_bytes() };
        let output = kiln_compiler::compile(file, &options, &NoFiles, &Emit::Spirv);
        if let Some(invalid) = output.invalid_module {
            return Err(format!("{invalid}\n{text}"));
        }
        if let Some(Artifact::Module(module)) = output.artifact {
            outcome.module = Some(module);
            outcome.accepted = wanted.iter().map(|&number| source.kernels[number].0.clone()).collect();
            return Ok(outcome);
        }
        let mut rejected = BTreeMap::new();
        for error in output.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
            let location = output.sources.resolve(error.span).ok_or("an error has no location")?;
            let line = output.sources.position(location.file, location.range.start).line as usize;
            let code = error.code.name();
            if !matches!(code, "target-feature" | "missing-extension" | "half-storage") {
                return Err(format!("line {line}: [{code}] {}\n{text}", error.message));
            }
            let feature = error.message.split('`').nth_back(1).unwrap_or_default().to_owned();
            match lines.iter().find(|(_, it)| *it == line) {
                Some((number, _)) => {
                    rejected.entry(*number).or_insert(feature);
                }
                // The target lacks the type itself.
                None => rejected.extend(lines.iter().map(|(number, _)| (*number, feature.clone()))),
            }
        }
        if rejected.is_empty() {
            return Err(format!("no module and no error\n{text}"));
        }
        for (number, feature) in rejected {
            wanted.remove(&number);
            outcome.rejected.push((source.kernels[number].0.clone(), feature));
        }
    }
    Ok(outcome)
}

/// Calls a function for each item in parallel, and collects the results in order.
fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((number, item)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    items.get(number).map(|item| (number, item))
                } {
                    let result = f(item);
                    results.lock().expect("no thread panics with the lock").push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panicked");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The targets of the table.
fn targets() -> Vec<(&'static str, &'static str, Target)> {
    let mut targets = vec![("OpenCL", "full", Target::full(Environment::OpenCl))];
    for name in profile::names() {
        let profile = profile::named(name).expect("a profile");
        let target = Target { features: profile.features.clone(), ..Target::full(Environment::Vulkan) };
        targets.push(("Vulkan", name, target));
    }
    targets
}

const HEAD: &str = "# Atomic operations by type and container

This page is rendered by `testsuite/tests/atomic_objects.rs`; `cargo xtask bless atomic_objects` renders it again.

The test compiles a kernel for every atomic operation of OpenCL C 2.0 and 1.x, on an object of every type, in local and
global memory. The object is alone, in a struct with members of other types, in an array with a variable index, or in a union with
integers; or the kernel accesses it through a generic pointer that can point to either memory. For each kernel, the compiler
either produces a valid module or reports an error at the operation; the error names the missing feature. Each kernel also runs
on the devices of the tests and checks its result.

Each heading lists the environments and device profiles that the table below it applies to.
";

/// What became of the kernels of one target.
#[derive(Default, PartialEq)]
struct Counts {
    /// Kernels in valid modules, and rejected kernels, by type and container.
    cells: BTreeMap<(usize, usize), (usize, usize)>,
    /// The missing features, with the types of the objects that need them.
    missing: BTreeMap<String, BTreeSet<String>>,
}

impl Counts {
    fn add(&mut self, (ty, container, _): Case, outcome: &Outcome) {
        let row = Ty::all().iter().position(|it| *it == ty).expect("a type");
        let column = Container::ALL.iter().position(|(it, _)| *it == container).expect("a container");
        let cell = self.cells.entry((row, column)).or_default();
        cell.0 += outcome.accepted.len();
        cell.1 += outcome.rejected.len();
        for (_, feature) in &outcome.rejected {
            self.missing.entry(feature.clone()).or_default().insert(ty.object());
        }
    }

    fn accepted(&self) -> usize {
        self.cells.values().map(|cell| cell.0).sum()
    }

    fn rejected(&self) -> usize {
        self.cells.values().map(|cell| cell.1).sum()
    }

    fn write(&self, page: &mut String) {
        let _ = write!(
            page,
            "\n{} kernels are in valid modules, {} are rejected. A cell contains both counts.\n\n| type |",
            self.accepted(),
            self.rejected()
        );
        let containers =
            Container::ALL.iter().map(|(_, container)| format!(" {container} |")).collect::<String>();
        let _ = writeln!(page, "{containers}\n|---|{}", "---|".repeat(Container::ALL.len()));
        for (row, ty) in Ty::all().iter().enumerate() {
            let _ = write!(page, "| `{}` |", ty.object());
            for column in 0..Container::ALL.len() {
                let _ = match self.cells.get(&(row, column)) {
                    None | Some((0, 0)) => write!(page, " – |"),
                    Some((accepted, rejected)) => write!(page, " {accepted} / {rejected} |"),
                };
            }
            page.push('\n');
        }
        if !self.missing.is_empty() {
            page.push_str("\nThe missing features:\n\n");
        }
        for (feature, types) in &self.missing {
            let types: Vec<String> = types.iter().map(|ty| format!("`{ty}`")).collect();
            let _ = writeln!(page, "- `{feature}`, for {}", types.join(", "));
        }
    }
}

/// The page has one table for all targets with the same counts.
fn counts_are_on_the_page() -> Result<(), String> {
    let (targets, cases) = (targets(), cases());
    let tasks: Vec<(usize, Case)> =
        (0..targets.len()).flat_map(|target| cases.iter().map(move |&case| (target, case))).collect();
    let outcomes = parallel(&tasks, |(target, case)| compile(&targets[*target].2, *case));
    let mut tables: Vec<(String, Counts)> = Vec::new();
    for (number, (environment, name, _)) in targets.iter().enumerate() {
        let mut counts = Counts::default();
        for ((_, case), outcome) in tasks.iter().zip(&outcomes).filter(|((it, _), _)| *it == number) {
            let outcome =
                outcome.as_ref().map_err(|reason| format!("{name}: {:?} {:?}: {reason}", case.0, case.1))?;
            counts.add(*case, outcome);
        }
        println!(
            "{environment} {name}: {} kernels in valid modules, {} rejected",
            counts.accepted(),
            counts.rejected()
        );
        let target = format!("{environment} `{name}`");
        match tables.iter_mut().find(|(_, it)| *it == counts) {
            Some((names, _)) => *names = format!("{names}, {target}"),
            None => tables.push((target, counts)),
        }
    }
    let mut page = HEAD.to_owned();
    for (names, counts) in &tables {
        let _ = writeln!(page, "\n## {names}");
        counts.write(&mut page);
    }
    let path = root().join("docs/atomic-operations.md");
    if std::env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        return fs::write(path, page).map_err(|e| e.to_string());
    }
    if fs::read_to_string(path).unwrap_or_default() == page {
        return Ok(());
    }
    Err("docs/atomic-operations.md is stale: run `cargo xtask bless atomic_objects`".to_owned())
}

/// Runs all kernels that the device supports.
fn results_are_right(index: usize) -> Result<(), String> {
    let instance = Instance::new(kiln_runtime::Options::default()).map_err(|e| e.to_string())?;
    let device = instance.device(&Selector::Index(index)).map_err(|e| e.to_string())?;
    let target = device.info().target();
    let (mut right, mut rejected, mut wrong) = (0, 0, Vec::new());
    let mut cases = cases();
    if !nightly::tests_all("a fifth of the types and containers of atomic operations, on each device") {
        // The number of containers is not a multiple of the step, so all types and containers are tested.
        cases = cases.into_iter().step_by(5).collect();
    }
    for (case, outcome) in cases.iter().zip(parallel(&cases, |&case| compile(&target, case))) {
        let outcome = outcome.map_err(|reason| format!("{case:?}: {reason}"))?;
        rejected += outcome.rejected.len();
        let Some(module) = &outcome.module else { continue };
        let program = Program::from_verified(&device, module).map_err(|e| e.to_string())?;
        for name in &outcome.accepted {
            match run(&device, &program, name) {
                Ok(1) => right += 1,
                Ok(_) => wrong.push(format!("{case:?}: {name}")),
                Err(error) => wrong.push(format!("{case:?}: {name}: {error}")),
            }
        }
    }
    println!("{}: {right} kernels are correct, {rejected} are rejected", device.name());
    if wrong.is_empty() && right > 0 { Ok(()) } else { Err(wrong.join("\n")) }
}

fn run(device: &Device, program: &Program, name: &str) -> kiln_runtime::Result<i32> {
    let (out, objects) = (device.buffer_from(&[0i32; 2])?, device.buffer_from(&[0u8; 256])?);
    let mut kernel = program.kernel(&format!("k_{name}"))?;
    kernel.set(0, &out)?.set(1, 2i32)?.set(2, &objects)?;
    let queue = device.queue()?;
    // SAFETY: the programs keep their accesses within these buffers.
    #[allow(unsafe_code, reason = "a launch trusts its kernel")]
    unsafe { queue.launch(&kernel, NdRange::from(1).local(1)) }?.wait()?;
    Ok(queue.read(&out)?[0])
}
