//! The programs of `testsuite/strict/*.md`: each has one defect, and a repaired variant with `REPAIRED` defined.
//!
//! A section has a heading, a source whose defective line contains `// report: [kind]`, and a launch.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{device::Device, kiln, process::Finished, root};

/// A program with a defect.
pub struct Defect {
    /// The document's name, without extension.
    pub document: String,
    /// The heading, in lower case with hyphens.
    pub name: String,
    source: String,
    /// The launch, as options of `kiln run`.
    pub launch: Vec<String>,
    /// The line of the defect.
    pub line: usize,
    /// The kind of the expected report.
    pub kind: String,
}

impl Defect {
    /// All programs, by document.
    pub fn all() -> Vec<Self> {
        let folder = fs::read_dir(root().join("testsuite/strict"));
        let mut files: Vec<_> =
            folder.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect();
        files.sort();
        let mut defects = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).expect("a document can be read");
            let document = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for section in text.split("\n# ").map(|section| section.trim_start_matches("# ")) {
                let defect = Self::read(&document, section);
                defects
                    .push(defect.unwrap_or_else(|reason| panic!("{}: {reason}:\n{section}", file.display())));
            }
        }
        defects
    }

    /// Parses a section of a document.
    fn read(document: &str, section: &str) -> Result<Self, String> {
        let block = |fence: &str| {
            let (_, rest) =
                section.split_once(&format!("```{fence}\n")).ok_or(format!("there is no {fence}"))?;
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
        let (document, name) = (document.to_owned(), words.join("-").to_lowercase());
        Ok(Self { document, name, source, launch, line, kind })
    }

    /// Writes a variant to a folder, and runs it on the reference device.
    pub fn run(&self, folder: &Path, variant: Variant) -> Result<Finished, String> {
        let file = self.file(folder, variant)?;
        let mut command = kiln::command();
        Device::named("reference").ok_or("there is no reference device")?.only(&mut command)?;
        kiln::run(command.args(["run", "-w"]).args(&self.launch).arg(file))
    }

    /// Writes a variant to a folder.
    pub fn file(&self, folder: &Path, variant: Variant) -> Result<PathBuf, String> {
        let file = folder.join("k.cl");
        let head = if variant == Variant::Repaired { "#define REPAIRED 1\n" } else { "" };
        fs::write(&file, format!("{head}{}", self.source)).map_err(|e| e.to_string())?;
        Ok(file)
    }
}

/// A variant of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Without `REPAIRED`.
    Defective,
    /// With `REPAIRED` defined.
    Repaired,
}
