//! Command-line options: Kiln's, clang's and those of `clBuildProgram`. Unknown options are ignored, because the
//! commands may be written for other compilers.

use kiln_session::{MacroOption, Options, diag::WarningSwitch, extension_switch};
use kiln_vocabulary::{
    opencl::{Environment, LanguageVersion},
    target::{Target, profile},
};

use crate::uri;

/// The choices made by the options so far.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Whether an option set the language version.
    pub(super) names_version: bool,
}

impl Chosen {
    /// Applies options; their paths are relative to `folder`.
    pub(super) fn apply(&mut self, flags: &[String], folder: &str, options: &mut Options) {
        let mut rest = flags.iter().map(String::as_str);
        while let Some(flag) = rest.next() {
            self.apply_flag(flag, &mut rest, folder, options);
        }
        options.math = options.math.with_implied();
    }

    /// Applies an option, whose value may be the next word of `rest`.
    fn apply_flag<'a>(
        &mut self,
        flag: &'a str,
        rest: &mut impl Iterator<Item = &'a str>,
        folder: &str,
        options: &mut Options,
    ) {
        // The value is in the same word or the next one.
        let mut value = |prefix: &str| match flag.strip_prefix(prefix)? {
            "" => rest.next(),
            value => Some(value.strip_prefix('=').filter(|_| prefix.starts_with("--")).unwrap_or(value)),
        };
        for prefix in ["-cl-std=", "--cl-std=", "-std="] {
            if let Some(version) = value(prefix).and_then(|text| LanguageVersion::parse(&text.to_uppercase()))
            {
                options.std = version;
                self.names_version = true;
                return;
            }
        }
        for prefix in ["-cl-ext=", "--cl-ext="] {
            if let Some(list) = value(prefix) {
                options.extensions.extend(list.split(',').map(extension_switch));
                return;
            }
        }
        for prefix in ["-isystem", "-iquote", "-I"] {
            if let Some(path) = value(prefix) {
                return options.include_dirs.push(joined(folder, path));
            }
        }
        for prefix in ["--include", "-include"] {
            if let Some(path) = value(prefix) {
                return options.forced_includes.push(joined(folder, path));
            }
        }
        if let Some(environment) = value("--env") {
            match environment {
                "vulkan" => options.target = Target::full(Environment::Vulkan),
                "opencl" => options.target = Target::full(Environment::OpenCl),
                _ => {}
            }
            return;
        }
        if let Some(profile) = value("--device-profile").and_then(profile::named) {
            options.target.features = profile.features;
            return;
        }
        if let Some(text) = value("-D") {
            return options.macros.push(MacroOption::Define(text.to_owned()));
        }
        if let Some(text) = value("-U") {
            return options.macros.push(MacroOption::Undefine(text.to_owned()));
        }
        apply_switch(flag.strip_prefix("--").or_else(|| flag.strip_prefix('-')).unwrap_or_default(), options);
    }
}

/// Applies an option without a value, given without its dashes.
fn apply_switch(name: &str, options: &mut Options) {
    let warnings = &mut options.warnings;
    match (name, name.strip_prefix("cl-"), name.strip_prefix('W')) {
        ("w", ..) => warnings.none = true,
        ("pedantic", ..) => warnings.switches.push(WarningSwitch::parse("pedantic")),
        ("Werror", ..) => warnings.as_errors = true,
        ("Wno-error", ..) => warnings.as_errors = false,
        (_, Some(name), _) => _ = options.math.set(name),
        (_, _, Some(name)) if !name.is_empty() => warnings.switches.push(WarningSwitch::parse(name)),
        _ => {}
    }
}

fn joined(folder: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    if uri::is_path(&path) || folder.is_empty() { path } else { uri::normal(&format!("{folder}/{path}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(line: &str) -> (Options, Chosen) {
        let (mut options, mut chosen) = (Options::default(), Chosen::default());
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        chosen.apply(&words, "/project", &mut options);
        (options, chosen)
    }

    #[test]
    fn values_in_the_same_word_and_in_the_next() {
        let (options, chosen) = applied("clang -x cl -DA -D B=2 -UC -I inc -I/abs -isystem ../sys -c a.cl");
        let define = |text: &str| MacroOption::Define(text.to_owned());
        assert_eq!(options.macros, [define("A"), define("B=2"), MacroOption::Undefine("C".to_owned())]);
        assert_eq!(options.include_dirs, ["/project/inc", "/abs", "/sys"]);
        assert!(!chosen.names_version);
    }

    #[test]
    fn versions_environments_and_warnings() {
        let (options, chosen) = applied("-std=cl3.0 --env=vulkan -Wno-unused -Werror -cl-fast-relaxed-math");
        assert_eq!(options.std, LanguageVersion::Cl30);
        assert!(chosen.names_version);
        assert_eq!(options.target.environment, Environment::Vulkan);
        assert_eq!(options.warnings.switches.len(), 1);
        assert!(options.warnings.as_errors && options.math.mad_enable);
    }
}
