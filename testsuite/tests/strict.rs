//! Small programs with one defect each, and their repaired twins (`-D REPAIRED`): the reference device reports every defect
//! on its line, and has nothing to say of a twin.
//!
//! The documents are `testsuite/strict/*.md`: a heading, a source whose defective line says `// report: [kind]`, and a launch.

use std::{fs, path::Path, process::ExitCode};

use kiln_testsuite::{device::Device, kiln, process::Finished, root};
use libtest_mimic::{Arguments, Failed, Trial};

/// A program with a defect.
struct Defect {
    name: String,
    source: String,
    launch: Vec<String>,
    line: usize,
    kind: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut defects = Vec::new();
    for entry in fs::read_dir(root().join("testsuite/strict")).into_iter().flatten().filter_map(Result::ok) {
        let file = entry.path();
        let text = fs::read_to_string(&file).expect("a document can be read");
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        defects.extend(text.split("\n# ").map(|section| section.trim_start_matches("# ")).map(|section| {
            read(section)
                .unwrap_or_else(|reason| panic!("{}: {reason}:\n{section}", file.display()))
                .named(&stem)
        }));
    }
    let count = defects.len();
    let mut trials = vec![Trial::test("there-are-sixty", move || {
        if count >= 60 { Ok(()) } else { Err(Failed::from(format!("only {count} defects are found"))) }
    })];
    trials.push(Trial::test("another-order-shows-what-the-usual-one-hides", || Ok(hidden_race()?)));
    for defect in defects {
        trials.push(Trial::test(defect.name.clone(), move || Ok(defect.is_found_and_only_it()?)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Two writes of which the usual order does only one.
const HIDDEN: &str = "kernel void k(global atomic_int *flag, global int *data) {
    if (get_global_id(0) == 0) {
        int rounds = 0;
        for (int i = 0; i < 10; i++) rounds += atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        if (rounds > 0) data[0] = 1;
    } else {
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
        data[0] = 2;
    }
}
";

/// `KILN_SEED` chooses another order (docs/reference-device.md).
fn hidden_race() -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = scratch.path().join("k.cl");
    fs::write(&file, HIDDEN).map_err(|e| e.to_string())?;
    let run = |seed: &str| {
        let mut command = kiln::command();
        Device::named("reference").ok_or("there is no reference device")?.only(&mut command)?;
        command.env("KILN_SEED", seed).arg("run").arg(&file);
        command.args(["--global", "2", "--arg", "buf:int[1]", "--arg", "buf:int[1]"]);
        kiln::run(&mut command)
    };
    if !run("0")?.status.success() {
        return Err("the usual order shows it, too".to_owned());
    }
    let finished = run("1")?;
    if finished.stderr.contains("[data-race]") { Ok(()) } else { Err(finished.stderr) }
}

/// A section of a document.
fn read(section: &str) -> Result<Defect, String> {
    let block = |fence: &str| {
        let (_, rest) = section.split_once(&format!("```{fence}\n")).ok_or(format!("there is no {fence}"))?;
        rest.split_once("```").map(|(text, _)| text.to_owned()).ok_or(format!("{fence} has no end"))
    };
    let source = block("cl")?;
    let marked = source.lines().enumerate().find_map(|(line, text)| {
        let (_, kind) = text.split_once("// report: ")?;
        Some((line + 1, kind.trim().to_owned()))
    });
    let (line, kind) = marked.ok_or("no line says what is to be reported")?;
    let launch = block("run")?.split_whitespace().map(str::to_owned).collect();
    let title = section.lines().next().unwrap_or_default();
    let words: Vec<&str> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    Ok(Defect { name: words.join("-").to_lowercase(), source, launch, line, kind })
}

impl Defect {
    fn named(self, document: &str) -> Self {
        Self { name: format!("{document}::{}", self.name), ..self }
    }

    fn run(&self, folder: &Path, options: &[&str]) -> Result<Finished, String> {
        let file = folder.join("k.cl");
        fs::write(&file, &self.source).map_err(|e| e.to_string())?;
        let mut command = kiln::command();
        Device::named("reference").ok_or("there is no reference device")?.only(&mut command)?;
        command.args(["run", "-w"]).args(options).args(&self.launch).arg(&file);
        kiln::run(&mut command)
    }

    fn is_found_and_only_it(&self) -> Result<(), String> {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        let found = self.run(scratch.path(), &[])?;
        // Of a race, one of the two accesses is the one that is meant.
        let places = [format!("k.cl:{}, work-item", self.line), format!(" at line {}\n", self.line)];
        let is_here = places.iter().any(|place| found.stderr.contains(place));
        if found.status.success() || !found.stderr.contains(&self.kind) || !is_here {
            return Err(format!("wanted {} on line {}, not\n{}", self.kind, self.line, found.stderr));
        }
        let repaired = self.run(scratch.path(), &["-D", "REPAIRED"])?;
        if !repaired.status.success() || !repaired.stderr.is_empty() {
            return Err(format!("the repaired program is reported:\n{}", repaired.stderr));
        }
        Ok(())
    }
}
