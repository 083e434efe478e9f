//! An input: a source, and how to compile it. The first line of its file contains the options.

use kiln_compiler::opencl::{Environment, LanguageVersion};

use crate::random::Random;

/// The input of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The language version.
    pub std: LanguageVersion,
    /// The kernel environment.
    pub environment: Environment,
    /// Whether all extensions are enabled.
    pub everything: bool,
    /// The source.
    pub text: Vec<u8>,
}

const MARK: &str = "// fuzz: ";

impl Input {
    /// A source with random options.
    pub fn random(text: Vec<u8>, random: &mut Random) -> Self {
        use LanguageVersion::{Cl12, Cl20, Cl30};
        Self {
            std: *random.pick(&[Cl12, Cl20, Cl20, Cl30]),
            environment: *random.pick(&[Environment::Vulkan, Environment::OpenCl]),
            everything: random.below(4) == 0,
            text,
        }
    }

    /// Parses a file; without an options line, uses the defaults.
    pub fn from_file(bytes: &[u8]) -> Self {
        let split = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        let words = std::str::from_utf8(&bytes[..split]).ok().and_then(|line| line.strip_prefix(MARK));
        let text = if words.is_some() { &bytes[(split + 1).min(bytes.len())..] } else { bytes };
        let has = |word: &str| words.is_some_and(|words| words.split(' ').any(|other| other == word));
        let version = |words: &str| words.split(' ').find_map(LanguageVersion::parse);
        Self {
            std: words.and_then(version).unwrap_or_default(),
            environment: if has("opencl") { Environment::OpenCl } else { Environment::Vulkan },
            everything: has("everything"),
            text: text.to_vec(),
        }
    }

    /// The contents of the file.
    pub fn to_file(&self) -> Vec<u8> {
        let mut line = format!("{MARK}{}", self.std.spelling());
        if self.environment == Environment::OpenCl {
            line.push_str(" opencl");
        }
        if self.everything {
            line.push_str(" everything");
        }
        line.push('\n');
        [line.as_bytes(), &self.text].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_how_they_are_compiled() {
        let mut random = Random::new(1);
        for _ in 0..20 {
            let input = Input::random(b"int a;\n// fuzz: CL1.2\n".to_vec(), &mut random);
            assert_eq!(Input::from_file(&input.to_file()), input);
        }
        let plain = Input::from_file(b"int a;\nint b;");
        assert_eq!((plain.text.as_slice(), plain.everything), (b"int a;\nint b;".as_slice(), false));
    }
}
