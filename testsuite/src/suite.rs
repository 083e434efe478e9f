//! Runs a folder of Markdown files as a test program.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use libtest_mimic::{Arguments, Failed, Trial};

pub use crate::config::Depth;
use crate::{bless, case::Case, config::Config, markdown};

/// Checks a file by its name and the codes that its tests expect.
pub type Requirement = fn(&str, &[String]) -> Result<(), String>;

/// The properties of one folder's tests.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The command-line options for the tests of a file, by file name.
    pub options: fn(name: &str) -> Vec<String>,
    /// How far to compile sources, unless a file overrides it.
    pub depth: Depth,
    /// An additional requirement on each file.
    pub requirement: Option<Requirement>,
}

/// Runs the tests in a folder, as the command line selects.
pub fn main(folder: &Path, suite: Suite) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let trials: Vec<Trial> = files.iter().flat_map(|file| trials(folder, file, suite)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    bless::apply();
    conclusion.exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    // A missing folder contains no tests.
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md")
            && path.file_stem().is_some_and(|stem| stem != "README")
        {
            files.push(path);
        }
    }
}

/// The tests of a file. A file that cannot be read is a failing test.
fn trials(folder: &Path, file: &Path, suite: Suite) -> Vec<Trial> {
    let relative = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let name = relative.to_string_lossy().replace('\\', "/");
    let config = Config { depth: suite.depth, ..Config::default() }.and((suite.options)(&name));
    let text = fs::read_to_string(file).map_err(|e| e.to_string());
    let cases = match text.and_then(|text| cases(&name, file, &text, config)) {
        Ok(cases) => cases,
        Err(reason) => {
            let reason = format!("{}: {reason}", file.display());
            return vec![Trial::test(name, move || Err(Failed::from(reason)))];
        }
    };
    let mut trials = Vec::new();
    if let Some(requirement) = suite.requirement {
        let codes: Result<Vec<Vec<String>>, String> = cases.iter().map(Case::expected_codes).collect();
        trials.push(Trial::test(name.clone(), move || Ok(requirement(&name, &codes?.concat())?)));
    }
    trials.extend(cases.into_iter().map(|case| Trial::test(case.name.clone(), move || Ok(case.run()?))));
    trials
}

/// Parses the tests of a file: each ```` ```cl ```` block is one, with the checks that follow it.
fn cases(name: &str, file: &Path, text: &str, base: Config) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut configs: Vec<(Vec<String>, Config)> = vec![(Vec::new(), base)];
    for section in markdown::parse(text)? {
        configs.retain(|(path, _)| section.path.starts_with(path));
        let mut config = configs.last().expect("the configuration of the file is the first").1.clone();
        let mut files = Vec::new();
        let first = cases.len();
        for block in section.blocks {
            let line = block.line;
            let at = |reason: String| format!("line {line}: {reason}");
            match (block.language.as_str(), block.attribute("file")) {
                ("toml", _) => {
                    config = config.with(&block.text).map_err(at)?;
                    configs.push((section.path.clone(), config.clone()));
                }
                ("cl", Some(file)) => files.push((file.to_owned(), block.text)),
                ("cl", None) => cases.push(Case {
                    name: String::new(),
                    file: file.to_owned(),
                    config: config.clone(),
                    source: block,
                    files: std::mem::take(&mut files),
                    checks: Vec::new(),
                    corrected: None,
                }),
                // Shown to readers, but not checked.
                ("" | "text" | "sh", _) => {}
                _ => match cases[first..].last_mut() {
                    Some(case) => case.checks.push(block),
                    None => return Err(at("a check without a source before it".to_owned())),
                },
            }
        }
        if !files.is_empty() {
            return Err(format!("`{}` has files, but no source after them", section.path.join(" / ")));
        }
        if config.depth == Depth::Diagnostics {
            let later: Vec<String> = cases[first..].iter().skip(1).map(|it| it.source.text.clone()).collect();
            for (case, later) in cases[first..].iter_mut().zip(later) {
                case.corrected = Some(later);
            }
        }
        let path: String = section.path.iter().map(|heading| format!("::{}", slug(heading))).collect();
        let several = cases.len() - first > 1;
        for (index, case) in cases[first..].iter_mut().enumerate() {
            case.name = format!("{name}{path}");
            if several {
                case.name.push_str(&format!("::{}", index + 1));
            }
        }
    }
    Ok(cases)
}

/// Converts a heading to a part of a test name, without spaces.
fn slug(heading: &str) -> String {
    let words: Vec<&str> =
        heading.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Loads
```toml
std = \"CL3.0\"
```
## Orders, all
```cl file=a.h
int a;
```
```cl
int x;
```
```cl
int y;
```
```ir
text
```
# Stores
```cl
int z;
```
";

    #[test]
    fn files_are_split_into_cases() {
        let cases = cases("atomics/orders", Path::new("orders.md"), TEXT, Config::default()).unwrap();
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "atomics/orders::loads::orders-all::1",
                "atomics/orders::loads::orders-all::2",
                "atomics/orders::stores"
            ]
        );
        let stds: Vec<_> = cases.iter().map(|case| case.config.std.as_str()).collect();
        assert_eq!(stds, ["CL3.0", "CL3.0", "CL2.0"]);
        let sizes: Vec<_> = cases.iter().map(|case| (case.files.len(), case.checks.len())).collect();
        assert_eq!(sizes, [(1, 0), (0, 1), (0, 0)]);
    }

    #[test]
    fn mistakes_in_files_are_reported() {
        let reason = |text| cases("a", Path::new("a.md"), text, Config::default()).err();
        assert_eq!(
            reason("# A\n```ir\n```\n").as_deref(),
            Some("line 2: a check without a source before it")
        );
        assert!(reason("# A\n```toml\nstandard = 1\n```\n").is_some());
        assert!(reason("# A\n```cl file=a.h\n```\n").is_some());
    }
}
