//! A test: a source, how to compile it, and the expected results.

use std::{fs, path::Path, path::PathBuf, process::Command};

use crate::{
    bless,
    config::{Config, Depth},
    device, excerpt, expectation,
    kiln::{self, Diagnostic},
    markdown::Block,
    module,
};

/// The name of the source in messages.
pub(crate) const SOURCE: &str = "test.cl";

/// A test.
pub(crate) struct Case {
    /// The file's path and the headings.
    pub(crate) name: String,
    /// The Markdown file.
    pub(crate) file: PathBuf,
    pub(crate) config: Config,
    /// The ```` ```cl ```` block.
    pub(crate) source: Block,
    /// Additional files, by name.
    pub(crate) files: Vec<(String, String)>,
    /// The expected results.
    pub(crate) checks: Vec<Block>,
    /// The source that follows in its section, if the sources are wrong and corrected examples.
    pub(crate) corrected: Option<String>,
}

impl Case {
    /// Compiles for each environment, and checks the results. The error is a message for the user.
    pub(crate) fn run(&self) -> Result<(), String> {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        for (name, text) in &self.files {
            write(scratch.path(), name, text.as_bytes())?;
        }
        write(scratch.path(), SOURCE, &self.source_bytes()?)?;
        let mut complaints = Vec::new();
        for environment in &self.config.env {
            if let Err(reason) = self.compile(scratch.path(), environment) {
                complaints.push(format!("{environment}: {reason}"));
            }
        }
        for check in &self.checks {
            if let Err(reason) = self.check(scratch.path(), check) {
                complaints.push(format!("line {}: {reason}", check.line));
            }
        }
        if complaints.is_empty() {
            return Ok(());
        }
        Err(format!("{}:{}:\n{}", self.file.display(), self.source.line, complaints.join("\n")))
    }

    /// The encoded source; `encoding=latin1` marks sources that are not UTF-8.
    pub(crate) fn source_bytes(&self) -> Result<Vec<u8>, String> {
        let text = &self.source.text;
        match self.source.attribute("encoding") {
            None => Ok(text.as_bytes().to_vec()),
            Some("latin1") => {
                text.chars().map(u8::try_from).collect::<Result<_, _>>().map_err(|e| e.to_string())
            }
            Some(other) => Err(format!("there is no encoding `{other}`")),
        }
    }

    /// The codes of the expected diagnostics.
    pub(crate) fn expected_codes(&self) -> Result<Vec<String>, String> {
        Ok(self.expectations()?.iter().map(|it| it.code().to_owned()).collect())
    }

    fn expectations(&self) -> Result<Vec<expectation::Expectation>, String> {
        let mut all = expectation::parse(SOURCE, &self.source.text)?;
        for (name, text) in &self.files {
            all.extend(expectation::parse(name, text)?);
        }
        Ok(all)
    }

    pub(crate) fn command(&self, scratch: &Path, words: &[&str]) -> Command {
        let mut command = kiln::command();
        command.current_dir(scratch).args(words).args(self.config.options()).arg(SOURCE);
        command
    }

    /// Checks the diagnostics, and that the module is valid.
    fn compile(&self, scratch: &Path, environment: &str) -> Result<(), String> {
        let module = scratch.join(format!("{environment}.spv"));
        let words = ["--env", environment, "--error-limit", "0", "--diagnostic-format", "json"];
        let finished = match self.config.depth {
            Depth::Diagnostics => kiln::run(self.command(scratch, &["check"]).args(words))?,
            Depth::Modules => {
                let mut command = self.command(scratch, &["compile"]);
                // A part of a program is a module only as an object for other linkers.
                if self.config.options.iter().any(|option| option == "-c") {
                    command.args(["--emit", "object"]);
                }
                kiln::run(command.args(words).arg("-o").arg(&module))?
            }
        };
        let diagnostics = kiln::diagnostics(&finished)?;
        let complaints = expectation::compare(&self.expectations()?, &diagnostics);
        if !complaints.is_empty() {
            return Err(complaints.join("\n"));
        }
        let has_errors = diagnostics.iter().any(|diagnostic: &Diagnostic| diagnostic.severity == "error");
        let is_wanted = self.config.depth == Depth::Modules && !has_errors;
        if finished.code() != Some(has_errors.into()) || module.exists() != is_wanted {
            let written = if module.exists() { "a" } else { "no" };
            return Err(format!("kiln ended with {}, and {written} module was written", finished.status));
        }
        if self.config.depth == Depth::Diagnostics {
            self.apply_fixes(scratch, &words, &diagnostics)?;
        }
        if is_wanted { module::check(&module, environment) } else { Ok(()) }
    }

    fn check(&self, scratch: &Path, block: &Block) -> Result<(), String> {
        match block.language.as_str() {
            "snapshot" => self.snapshot(scratch, block),
            "run" => self.launch(scratch, block),
            "spirv" => self.stage(scratch, block, "asm"),
            stage @ ("pp" | "ast" | "hir" | "ir" | "asm") => self.stage(scratch, block, stage),
            other => Err(format!("there is no check `{other}`")),
        }
    }

    fn environment<'a>(&'a self, block: &'a Block) -> &'a str {
        block.attribute("env").or(self.config.env.first().map(String::as_str)).unwrap_or("vulkan")
    }

    /// Compares the diagnostics with a snapshot, as the user sees them.
    fn snapshot(&self, scratch: &Path, block: &Block) -> Result<(), String> {
        let finished = kiln::run(&mut self.command(scratch, &["check", "--env", self.environment(block)]))?;
        bless::compare(&self.file, &block.range, &block.text, &finished.stderr)
    }

    /// Compares the output of a stage: all of it, or the function that `fn=` names; `after=` names a pass.
    fn stage(&self, scratch: &Path, block: &Block, stage: &str) -> Result<(), String> {
        let emit = match block.attribute("after") {
            Some(pass) => format!("ir-after={pass}"),
            None => stage.to_owned(),
        };
        let words = ["compile", "--env", self.environment(block), "--emit", &emit, "-o", "-"];
        let finished = kiln::run(&mut self.command(scratch, &words))?;
        if !finished.status.success() {
            return Err(format!("kiln ended with {}:\n{}", finished.status, finished.stderr));
        }
        let text = finished.text();
        let found = match block.attribute("fn") {
            Some(name) => excerpt::function(stage, &text, name)
                .ok_or_else(|| format!("no function `{name}` in\n{text}"))?,
            None => text,
        };
        bless::compare(&self.file, &block.range, &block.text, &found)
    }

    /// Launches on every device, with the options of `kiln run`. Lines that start with `!` must be part of the error
    /// message. `lacks=` names the devices that must reject the program because they lack a feature, and `unless=` those
    /// that do not launch it.
    fn launch(&self, scratch: &Path, block: &Block) -> Result<(), String> {
        let words = |name| block.attribute(name).map_or(Vec::new(), |names| names.split(',').collect());
        let (lacking, left_out): (Vec<&str>, Vec<&str>) = (words("lacks"), words("unless"));
        let (failures, lines): (Vec<&str>, Vec<&str>) =
            block.text.lines().partition(|it| it.starts_with('!'));
        let failures: Vec<&str> = failures.iter().map(|line| line[1..].trim()).collect();
        let words: Vec<&str> = lines
            .iter()
            .flat_map(|line| line.split_whitespace())
            .skip_while(|word| matches!(*word, "kiln" | "run"))
            .collect();
        let mut complaints = Vec::new();
        for device in device::with_current() {
            let is_one_of = |words: &[&str]| {
                words.iter().try_fold(false, |is, word| Ok::<_, String>(is | device.matches_word(word)?))
            };
            if is_one_of(&left_out)? {
                continue;
            }
            let lacks = is_one_of(&lacking)?;
            let mut command = self.command(scratch, &["run", "--validate"]);
            device.only(&mut command)?;
            let finished = device::launch(command.args(&words))?;
            let stderr = device::without_greetings(&finished.stderr);
            let verdict = if lacks {
                match (finished.status.success(), device::lacks_a_feature(&stderr)) {
                    (false, true) => Ok(()),
                    (true, _) => {
                        Err("should reject the program for a missing feature, but runs it".to_owned())
                    }
                    (false, false) => {
                        Err(format!("should reject the program for a missing feature, but says\n{stderr}"))
                    }
                }
            } else if finished.status.success() == failures.is_empty()
                && failures.iter().all(|part| stderr.contains(part))
            {
                Ok(())
            } else {
                Err(format!("ended with {}:\n{stderr}\n{}", finished.status, finished.text()))
            };
            complaints.extend(verdict.err().map(|reason| format!("{}: {reason}", device.name)));
        }
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
    }
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    let folder = path.parent().expect("a file in a folder");
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes)).map_err(|e| format!("{name}: {e}"))
}
