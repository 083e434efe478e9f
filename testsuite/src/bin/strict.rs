//! `cargo xtask bench strict`: compares the reports of the reference device and Oclgrind on the programs with one
//! defect each.

use std::{collections::BTreeMap, path::Path, process::ExitCode, time::Duration};

use kiln_testsuite::{
    oracle::Oracle,
    process,
    strict::{Defect, Variant},
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
        let outcome = [Variant::Defective, Variant::Repaired].map(|variant| {
            let scratch = tempfile::tempdir().expect("a folder for files");
            (
                kiln_reports(&defect, scratch.path(), variant),
                oclgrind_reports(&defect, scratch.path(), variant),
            )
        });
        let kind = format!("{}: {}", defect.document, defect.kind.trim_matches(['[', ']']));
        for row in [rows.entry(kind).or_default(), &mut all] {
            row.programs += 1;
            row.cannot_run += usize::from(outcome.iter().any(|(_, oclgrind)| oclgrind.is_none()));
            for (variant, (kiln, oclgrind)) in outcome.iter().enumerate() {
                row.reports[0][variant] += usize::from(*kiln);
                row.reports[1][variant] += usize::from(*oclgrind == Some(true));
            }
        }
    }
    println!(
        "| defects | programs | Kiln reports | of the repaired ones | Oclgrind reports | of the repaired ones | cannot run |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, row) in rows.iter().map(|(name, row)| (name.as_str(), row)).chain([("all", &all)]) {
        let Row { programs, reports: [kiln, oclgrind], cannot_run } = row;
        let [reports, of_repaired] = kiln;
        let [oclgrind_reports, oclgrind_of_repaired] = oclgrind;
        println!(
            "| {name} | {programs} | {reports} | {of_repaired} | {oclgrind_reports} | {oclgrind_of_repaired} | {cannot_run} |"
        );
    }
    if all.reports[0] == [all.programs, 0] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the reference device reports something.
fn kiln_reports(defect: &Defect, folder: &Path, variant: Variant) -> bool {
    defect.run(folder, variant).is_ok_and(|finished| !finished.stderr.is_empty())
}

/// Whether Oclgrind reports something; `None` if it cannot run the program.
fn oclgrind_reports(defect: &Defect, folder: &Path, variant: Variant) -> Option<bool> {
    let file = defect.file(folder, variant).expect("a file can be written");
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
