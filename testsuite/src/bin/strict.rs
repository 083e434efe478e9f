//! `cargo xtask bench strict`: compares the reports of the reference device and Oclgrind on the programs with one
//! defect each.

use std::{collections::BTreeMap, path::Path, process::ExitCode, time::Duration};

use kiln_testsuite::{
    oracle::Oracle,
    process,
    strict::{Defect, Twin},
};

/// The time limit; Oclgrind never finishes some programs.
const LIMIT: Duration = Duration::from_secs(20);

/// The results for programs of one kind.
#[derive(Default)]
struct Row {
    programs: usize,
    /// For Kiln and Oclgrind: reported defects, and reported repaired variants.
    reports: [[usize; 2]; 2],
    /// Programs that Oclgrind cannot run.
    cannot_run: usize,
}

fn main() -> ExitCode {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut all = Row::default();
    for defect in Defect::all() {
        let outcome = [Twin::Defective, Twin::Repaired].map(|twin| {
            let scratch = tempfile::tempdir().expect("a folder for files");
            (ours(&defect, scratch.path(), twin), theirs(&defect, scratch.path(), twin))
        });
        let kind = format!("{}: {}", defect.document, defect.kind.trim_matches(['[', ']']));
        for row in [rows.entry(kind).or_default(), &mut all] {
            row.programs += 1;
            row.cannot_run += usize::from(outcome.iter().any(|(_, theirs)| theirs.is_none()));
            for (twin, (ours, theirs)) in outcome.iter().enumerate() {
                row.reports[0][twin] += usize::from(*ours);
                row.reports[1][twin] += usize::from(*theirs == Some(true));
            }
        }
    }
    println!(
        "| defects | programs | Kiln reports | of the twins | Oclgrind reports | of the twins | cannot run |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, row) in rows.iter().map(|(name, row)| (name.as_str(), row)).chain([("all", &all)]) {
        let Row { programs, reports: [[ours, twins], [theirs, their_twins]], cannot_run } = row;
        println!("| {name} | {programs} | {ours} | {twins} | {theirs} | {their_twins} | {cannot_run} |");
    }
    if all.reports[0] == [all.programs, 0] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the reference device reports something.
fn ours(defect: &Defect, folder: &Path, twin: Twin) -> bool {
    defect.run(folder, twin).is_ok_and(|finished| !finished.stderr.is_empty())
}

/// Whether Oclgrind reports something; `None` if it cannot run the program.
fn theirs(defect: &Defect, folder: &Path, twin: Twin) -> Option<bool> {
    let file = defect.file(folder, twin).expect("a file can be written");
    let mut command = Oracle::Oclgrind.command(folder).expect("Oclgrind is installed");
    command.arg(file).arg("--options=-cl-std=CL2.0").args(&defect.launch);
    if !defect.launch.iter().any(|word| word == "--kernel") {
        command.args(["--kernel", "k"]);
    }
    let finished = process::run(&mut command, b"", LIMIT).ok()?;
    // Every report names the kernel.
    let reports = finished.stderr.contains("\tKernel: ") || finished.text().contains("\tKernel: ");
    (reports || finished.status.success()).then_some(reports)
}
