//! `-M` and related options: the files that a compilation read, as a rule for Make and Ninja.
//!
//! The format is clang's. Must not depend on how the files were found.

use std::path::Path;

use clap::Args;

/// The options, which are spelled with one dash.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Dependencies")]
pub(crate) struct DependencyOptions {
    /// Write the dependencies instead of compiling, to standard output or -o; spelled `-M`
    #[arg(long = "M")]
    only: bool,
    /// The same as -M, because there are no system headers; spelled `-MM`
    #[arg(long = "MM", hide = true)]
    only_user: bool,
    /// Also write the dependencies, next to the output; spelled `-MD`
    #[arg(long = "MD")]
    also: bool,
    /// The same as -MD; spelled `-MMD`
    #[arg(long = "MMD", hide = true)]
    also_user: bool,
    /// Dependency file; spelled `-MF`
    #[arg(long = "MF", value_name = "FILE")]
    file: Option<String>,
    /// Target of the rule, unchanged; spelled `-MT`
    #[arg(long = "MT", value_name = "TARGET")]
    targets: Vec<String>,
    /// Target of the rule, quoted for Make; spelled `-MQ`
    #[arg(long = "MQ", value_name = "TARGET")]
    quoted_targets: Vec<String>,
    /// Add a rule without dependencies for each header, so that Make accepts a removed header; spelled `-MP`
    #[arg(long = "MP")]
    phony: bool,
}

impl DependencyOptions {
    /// The long options that clang spells with one dash.
    pub(crate) const NAMES: [&str; 8] = ["M", "MM", "MD", "MMD", "MF", "MT", "MQ", "MP"];

    /// Whether only the dependencies are requested.
    pub(crate) const fn is_only(&self) -> bool {
        self.only || self.only_user
    }

    /// Whether `-MF` names a file, which allows only one source.
    pub(crate) const fn names_a_file(&self) -> bool {
        self.file.is_some()
    }

    /// The path of the dependency file for this output; `None` if not requested.
    pub(crate) fn path(&self, output: &str) -> Option<String> {
        let is_wanted = self.is_only() || self.also || self.also_user;
        is_wanted.then(|| match &self.file {
            Some(file) => file.clone(),
            None if self.is_only() => "-".to_owned(),
            None => Path::new(output).with_extension("d").to_string_lossy().into_owned(),
        })
    }

    /// The rule for this output.
    pub(crate) fn rule(&self, output: &str, source: &str, included: &[String]) -> String {
        let quoted = self.quoted_targets.iter().map(|target| quote(target));
        let mut targets: Vec<String> = self.targets.iter().cloned().chain(quoted).collect();
        if targets.is_empty() {
            targets.push(quote(output));
        }
        let mut text = format!("{}:", targets.join(" "));
        let source = (source != "-").then(|| source.to_owned());
        for path in source.iter().chain(included) {
            text.push_str(" \\\n  ");
            text.push_str(&quote(path));
        }
        text.push('\n');
        if self.phony {
            for path in included {
                text.push_str(&quote(path));
                text.push_str(":\n");
            }
        }
        text
    }
}

/// Quotes a path for Make: escapes blanks, `#` and `$`.
fn quote(path: &str) -> String {
    let mut quoted = String::with_capacity(path.len());
    for (at, letter) in path.char_indices() {
        match letter {
            ' ' | '\t' => {
                // Backslashes before a blank must be doubled.
                let backslashes = path[..at].len() - path[..at].trim_end_matches('\\').len();
                quoted.extend(std::iter::repeat_n('\\', backslashes + 1));
            }
            '$' => quoted.push('$'),
            '#' => quoted.push('\\'),
            _ => {}
        }
        quoted.push(letter);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_the_format_of_clang() {
        let included = ["a b.h".to_owned(), "c$.h".to_owned()];
        let options = DependencyOptions { phony: true, ..DependencyOptions::default() };
        assert_eq!(
            options.rule("out.spv", "k.cl", &included),
            "out.spv: \\\n  k.cl \\\n  a\\ b.h \\\n  c$$.h\na\\ b.h:\nc$$.h:\n"
        );
        let named = DependencyOptions { targets: vec!["$(OUT)".into()], ..DependencyOptions::default() };
        assert_eq!(named.rule("out.spv", "-", &[]), "$(OUT):\n");
    }

    #[test]
    fn the_default_path_is_beside_the_output() {
        let also = DependencyOptions { also: true, ..DependencyOptions::default() };
        assert_eq!(also.path("dir/out.spv").as_deref(), Some("dir/out.d"));
        let named = DependencyOptions { file: Some("x.d".into()), ..also };
        assert_eq!(named.path("dir/out.spv").as_deref(), Some("x.d"));
        assert_eq!(DependencyOptions::default().path("out.spv"), None);
    }
}
