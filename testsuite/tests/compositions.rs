//! Random compositions of atomic objects on every device: the results are those of the reference device, which executes
//! modules of the OpenCL environment. `cargo xtask differential --oracle compositions` runs any range of seeds, and
//! `--oracle compositions-intel` also compares with other implementations.

use std::{collections::HashMap, fs};

use kiln_compiler::session::defect::Defect;
use kiln_testsuite::{
    device::Device,
    differential::Comparison,
    kiln, nightly,
    programs::{self, Program, ProgramKind},
};
use tempfile::TempDir;

#[test]
fn compositions_give_the_same_results_on_every_device() {
    let count = nightly::count("compositions", 60, 2000) as u64;
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut complaints = Vec::new();
    let tally = Comparison::of_compositions()
        .survey(0..count, jobs, |seed, _, reason| complaints.push(format!("program {seed}:\n{reason}")));
    println!("{tally}");
    assert!(complaints.is_empty(), "{}\n{tally}", complaints.join("\n"));
    for (configuration, count) in &tally.configurations {
        let all = count.same + count.different + count.rejected + count.late + count.failed;
        assert_eq!(count.late, 0, "{configuration} is late: {:?}", count.seeds);
        // SwiftShader has no 64-bit atomic operations, which half of the programs need.
        assert!(count.same * 3 > all, "{configuration}: only {} of {all} runs are correct", count.same);
    }
}

/// Compositions that together detect every defect of layouts, ranges and calls.
const DETECTING: &[u64] = &[0, 1, 2, 6, 9, 77];

/// Defects in the passes that lay out and split objects and that pass pointers to functions. With each of them, some composition has
/// other results, or the verifier or the reference device for Vulkan reports its module.
#[test]
fn defects_of_layouts_are_detected() {
    // The first is about the emitter.
    let defects = &Defect::ALL[1..];
    assert!(defects.len() >= 10);
    let runner = Runner::new();
    let mut right: HashMap<(u64, bool), Option<String>> = HashMap::new();
    let mut missed = Vec::new();
    for &defect in defects {
        let detected = DETECTING.iter().find_map(|&seed| {
            let program = programs::program(seed, ProgramKind::Composition);
            let keeps = defect.only_changes_calls();
            let right = right
                .entry((seed, keeps))
                .or_insert_with(|| runner.run(&program, keeps, None).ok())
                .as_ref()?;
            match runner.run(&program, keeps, Some(defect)) {
                Ok(results) => (results != *right).then(|| (seed, "other results".to_owned())),
                Err(reason) => Some((seed, reason)),
            }
        });
        match detected {
            Some((seed, reason)) => {
                let mut lines = reason.lines().filter(|line| !line.contains("KILN_DEFECT"));
                let line: String = lines.next().unwrap_or_default().chars().take(160).collect();
                println!("{}: composition {seed}: {line}", defect.name());
            }
            None => missed.push(defect.name()),
        }
    }
    assert!(missed.is_empty(), "no composition detects {missed:?}");
}

/// Runs programs on the reference device for Vulkan.
struct Runner {
    folder: TempDir,
}

impl Runner {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// The results of a program that a compiler with this defect compiles, or the reason why there are none. `keeps` keeps its
    /// functions.
    fn run(&self, program: &Program, keeps: bool, defect: Option<Defect>) -> Result<String, String> {
        let source = self.folder.path().join("program.cl");
        fs::write(&source, &program.source).expect("a source");
        let mut command = kiln::command();
        Device::named("vulkan-reference").ok_or("there is no such device")?.only(&mut command)?;
        command.env("KILN_CRASH_DIR", self.folder.path());
        if let Some(defect) = defect {
            command.env("KILN_DEFECT", defect.name());
        }
        command.arg("run").arg(&source).args(["-w", &format!("-cl-std={}", program.std)]);
        command.args(keeps.then_some("--keep-functions"));
        let finished = kiln::run(command.args(program.launch()))?;
        if finished.status.success() { Ok(finished.text()) } else { Err(finished.stderr) }
    }
}
