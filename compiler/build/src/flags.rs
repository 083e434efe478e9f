//! The compiler's options in the spelling of `clBuildProgram` (OpenCL API 5.8.6) and clang. Must not depend on devices.

use kiln_compiler::{
    diag::WarningSwitch,
    opencl::LanguageVersion,
    session::{MacroOption, Options, extension_switch},
};

/// Applies the options in a text. Returns the words that are not options of the compiler. The error is a message about an
/// incomplete option or an invalid value.
///
/// ```
/// use kiln_build::{Options, flags};
///
/// let mut options = Options::default();
/// assert_eq!(flags::apply("-DN=4 -cl-uniform-work-group-size", &mut options), Ok(vec!["-cl-uniform-work-group-size".to_owned()]));
/// assert_eq!(options.macros.len(), 1);
/// ```
pub fn apply(text: &str, options: &mut Options) -> Result<Vec<String>, String> {
    let mut others = Vec::new();
    let mut words =
        words(text).ok_or("a quotation mark is unmatched, or the last character is a backslash")?.into_iter();
    while let Some(word) = words.next() {
        let is_known = match value_option(options, &word, &mut words) {
            Some(false) => flag(options, &word),
            known => known,
        };
        match is_known {
            Some(true) => {}
            Some(false) => others.push(word),
            None => return Err(format!("`{word}` has no value or an unknown one")),
        }
    }
    options.math = options.math.with_implied();
    Ok(others)
}

/// Splits options into words. Quotes group words, and a backslash escapes the next character. `None` if a quote is not
/// closed or nothing follows a backslash.
pub fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                let next = letters.next()?;
                let word = word.get_or_insert_default();
                // A backslash escapes only these characters. Before others it is part of the word, as in Windows paths.
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

/// Parses an option with a value, which may be the next word. Returns whether this is such an option; `None` if its
/// value is missing or invalid.
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

/// Parses an option without a value. Returns whether this is such an option; `None` if it is incomplete.
fn flag(options: &mut Options, word: &str) -> Option<bool> {
    if word.strip_prefix("-cl-").is_some_and(|name| options.math.set(name)) {
        return Some(true);
    }
    match word {
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
    fn options_need_their_values() {
        let fails = |text| apply(text, &mut Options::default()).expect_err("it is wrong");
        assert_eq!(fails("-D"), "`-D` has no value or an unknown one");
        assert_eq!(fails("-cl-std=CL9.0"), "`-cl-std=CL9.0` has no value or an unknown one");
        assert_eq!(fails("-D 'A"), "a quotation mark is unmatched, or the last character is a backslash");
    }
}
