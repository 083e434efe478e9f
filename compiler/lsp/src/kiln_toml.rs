//! `kiln.toml`, which configures the language server and the command line: converts its keys to options and reports
//! errors. An invalid key does not affect the others.

use std::ops::Range;

use kiln_vocabulary::opencl::LanguageVersion;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The keys, and the options that they set.
const KEYS: [(&str, Key); 7] = [
    (
        "std",
        Key::Word {
            option: "-cl-std=",
            expected: "\"CL1.0\", \"CL1.1\", \"CL1.2\", \"CL2.0\", \"CL3.0\" or \"CL3.1\"",
        },
    ),
    ("env", Key::Word { option: "--env=", expected: "\"vulkan\" or \"opencl\"" }),
    (
        "profile",
        Key::Word { option: "--device-profile=", expected: "the name or the file of a device profile" },
    ),
    ("define", Key::List { option: "-D" }),
    ("include", Key::List { option: "-I" }),
    ("extensions", Key::List { option: "-cl-ext=" }),
    ("flags", Key::List { option: "" }),
];

#[derive(Clone, Copy)]
enum Key {
    Word { option: &'static str, expected: &'static str },
    List { option: &'static str },
}

/// The contents of a `kiln.toml`.
#[derive(Debug, Default)]
pub struct Kiln {
    /// The options, in command-line syntax.
    pub flags: Vec<String>,
    /// The errors, with their ranges.
    pub mistakes: Vec<(Range<usize>, String)>,
}

/// Parses a file.
pub fn read(text: &str) -> Kiln {
    let mut kiln = Kiln::default();
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        kiln.mistakes.push((error.span().unwrap_or_default(), error.message().to_owned()));
    }
    for (name, value) in table.get_ref() {
        let known = KEYS.iter().find(|(key, _)| *key == name.get_ref().as_ref());
        match known {
            Some((_, Key::Word { option, expected })) => kiln.word(option, expected, value),
            Some((_, Key::List { option })) => kiln.list(option, value),
            None => {
                let keys = KEYS.map(|(key, _)| format!("`{key}`")).join(", ");
                let text = format!("there is no key `{}`; the keys are {keys}", name.get_ref());
                kiln.mistakes.push((name.span(), text));
            }
        }
    }
    kiln
}

impl Kiln {
    fn word(&mut self, option: &str, expected: &str, value: &Spanned<DeValue<'_>>) {
        let word = value.get_ref().as_str().filter(|word| match option {
            "--env=" => matches!(*word, "vulkan" | "opencl"),
            "--device-profile=" => true,
            _ => LanguageVersion::parse(&word.to_uppercase()).is_some(),
        });
        match word {
            Some(word) => self.flags.push(format!("{option}{word}")),
            None => self.mistakes.push((value.span(), format!("{expected} is expected"))),
        }
    }

    fn list(&mut self, option: &str, value: &Spanned<DeValue<'_>>) {
        let Some(list) = value.get_ref().as_array() else {
            return self.mistakes.push((value.span(), "a list of strings is expected".to_owned()));
        };
        for item in list.iter() {
            match item.get_ref().as_str() {
                Some(text) => self.flags.push(format!("{option}{text}")),
                None => self.mistakes.push((item.span(), "a string is expected".to_owned())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_options() {
        let text = "std = \"CL3.0\"\ndefine = [\"A=1\"]\ninclude = [\"inc\"]\nflags = [\"-Wall\"]\n";
        let mut flags = read(text).flags;
        flags.sort();
        assert_eq!(flags, ["-DA=1", "-Iinc", "-Wall", "-cl-std=CL3.0"]);
    }

    #[test]
    fn invalid_keys_are_reported_and_the_others_apply() {
        let text =
            "std = \"C99\"\ndefines = [\"A\"]\ninclude = \"inc\"\nflags = [1, \"-Wall\"]\nenv = \"vulkan\"\n";
        let kiln = read(text);
        let mut wrong: Vec<&str> = kiln.mistakes.iter().map(|(range, _)| &text[range.clone()]).collect();
        wrong.sort_unstable();
        assert_eq!(wrong, ["\"C99\"", "\"inc\"", "1", "defines"]);
        let mut flags = kiln.flags;
        flags.sort();
        assert_eq!(flags, ["--env=vulkan", "-Wall"]);
    }

    #[test]
    fn a_file_that_is_not_toml_is_reported() {
        assert_eq!(read("not = [toml").flags, Vec::<String>::new());
        assert!(!read("not = [toml").mistakes.is_empty());
    }
}
