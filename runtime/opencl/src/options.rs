//! The options of `clBuildProgram`, `clCompileProgram` and `clLinkProgram` (OpenCL API 5.8.6, 5.8.7).

use kiln_compiler::diag::WarningSwitch;
use kiln_compiler::opencl::{LanguageVersion, Overflow};
use kiln_compiler::session::{MacroOption, Options, extension_switch};

use crate::device::Device;

/// The parsed options of a build.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The compiler's options.
    pub(crate) options: Options,
    /// Whether work-groups may differ in size at the edges (OpenCL C 2.0 and later).
    pub(crate) has_partial_groups: bool,
    /// `-cl-uniform-work-group-size`
    is_uniform: bool,
    /// `-create-library`
    pub(crate) is_library: bool,
}

impl Parsed {
    /// The options for a module, whose language is not an option: groups may differ in size unless the option is there.
    pub(crate) fn with_partial_groups(self) -> Self {
        Self { has_partial_groups: !self.is_uniform, ..self }
    }
}

/// Splits options into words. Quotes group words, and a backslash keeps the next character.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                let next = letters.next()?;
                let word = word.get_or_insert_default();
                // Only quotes, spaces and backslashes need one; it stays in Windows paths and strings.
                if !matches!(next, '"' | '\'' | '\\' | ' ') {
                    word.push('\\');
                }
                word.push(next);
            }
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, None) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Parses the options for a device; `None` if one of them is unknown or incomplete.
pub(crate) fn parse(text: &str, device: &Device) -> Option<Parsed> {
    let info = device.description();
    let mut options = Options {
        // Programs that choose no version get the newest OpenCL C 1.x (OpenCL API 5.8.6.5).
        std: LanguageVersion::Cl12,
        target: device.target(),
        argument_info: true,
        // The reference device reports source lines.
        debug: info.is_strict,
        ..Options::default()
    };
    if device.is_reference() {
        options.overflow = Overflow::Told;
    }
    // Other compilers accept this scope on atomic operations, and programs use it.
    options.warnings.switches.push(WarningSwitch::parse("no-error=scope-work-item"));
    let mut is_uniform = false;
    let mut is_library = false;
    let mut words = words(text)?.into_iter();
    while let Some(word) = words.next() {
        if !value_option(&mut options, &word, &mut words)? && !flag(&mut options, &word)? {
            match word.as_str() {
                "-cl-uniform-work-group-size" => is_uniform = true,
                "-create-library" => is_library = true,
                "-cl-strict-aliasing" | "-cl-no-subgroup-ifp" | "-enable-link-options" => {}
                _ => return None,
            }
        }
    }
    options.math = options.math.with_implied();
    let has_partial_groups = options.std >= LanguageVersion::Cl20 && !is_uniform;
    Some(Parsed { options, has_partial_groups, is_uniform, is_library })
}

/// Parses an option with a value, which may be the next word. Returns whether it is one; `None` if it is wrong.
fn value_option(options: &mut Options, word: &str, next: &mut impl Iterator<Item = String>) -> Option<bool> {
    let mut value = |prefix: &str| match &word[prefix.len()..] {
        "" => next.next(),
        rest => Some(rest.to_owned()),
    };
    if word.starts_with("-D") {
        options.macros.push(MacroOption::Define(value("-D")?));
    } else if word.starts_with("-U") {
        options.macros.push(MacroOption::Undefine(value("-U")?));
    } else if word.starts_with("-I") {
        options.include_dirs.push(value("-I")?);
    } else if word == "-include" {
        options.forced_includes.push(value("-include")?);
    } else if let Some(version) = word.strip_prefix("-cl-std=") {
        options.std = LanguageVersion::parse(version)?;
    } else if let Some(list) = word.strip_prefix("-cl-ext=") {
        options.extensions.extend(list.split(',').map(extension_switch));
    } else if word == "-x" {
        return matches!(value("-x")?.as_str(), "cl" | "clc").then_some(true);
    } else {
        return Some(false);
    }
    Some(true)
}

/// Parses an option without a value. Returns whether it is one; `None` if it is wrong.
fn flag(options: &mut Options, word: &str) -> Option<bool> {
    let math = &mut options.math;
    match word {
        "-cl-single-precision-constant" => math.single_precision_constant = true,
        "-cl-denorms-are-zero" => math.denorms_are_zero = true,
        "-cl-fp32-correctly-rounded-divide-sqrt" => math.correctly_rounded_divide_sqrt = true,
        "-cl-mad-enable" => math.mad_enable = true,
        "-cl-no-signed-zeros" => math.no_signed_zeros = true,
        "-cl-unsafe-math-optimizations" => math.unsafe_optimizations = true,
        "-cl-finite-math-only" => math.finite_only = true,
        "-cl-fast-relaxed-math" => math.fast_relaxed = true,
        "-cl-opt-disable" | "-O0" => options.optimize = false,
        "-O" | "-O1" | "-O2" | "-O3" => options.optimize = true,
        "-cl-kernel-arg-info" => options.argument_info = true,
        "-g" => options.debug = true,
        "-w" => options.warnings.none = true,
        "-Werror" => options.warnings.as_errors = true,
        "-Wno-error" => options.warnings.as_errors = false,
        _ => match word.strip_prefix("-W") {
            None => return Some(false),
            Some("") => return None,
            Some(name) => options.warnings.switches.push(WarningSwitch::parse(name)),
        },
    }
    Some(true)
}

/// Whether all words are options of the linker (OpenCL API 5.8.7).
pub(crate) fn are_for_linking(text: &str) -> bool {
    let known = [
        "-create-library",
        "-enable-link-options",
        "-cl-denorms-are-zero",
        "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only",
        "-cl-fast-relaxed-math",
        "-cl-no-subgroup-ifp",
        "-cl-mad-enable",
    ];
    words(text).is_some_and(|words| {
        let needs = |option: &str| words.iter().any(|word| word == option);
        words.iter().all(|word| known.contains(&word.as_str()))
            && (!needs("-enable-link-options") || needs("-create-library"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_group_words() {
        let split = |text| words(text).expect("it is complete");
        assert_eq!(split(" -D A=1  -DB='x y' "), ["-D", "A=1", "-DB=x y"]);
        assert_eq!(split(r#"-I "/a b" -DS=\"t\""#), ["-I", "/a b", "-DS=\"t\""]);
        assert_eq!(split(r"-I C:\inc"), ["-I", r"C:\inc"]);
        assert_eq!(words("-D 'A"), None);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn the_linker_has_few_options() {
        assert!(are_for_linking("-create-library -enable-link-options"));
        assert!(!are_for_linking("-enable-link-options"));
        assert!(!are_for_linking("-D A"));
        assert!(are_for_linking(""));
    }
}
