//! The configuration of tests: ```` ```toml ```` blocks, inherited from the headings above.

use serde::Deserialize;

/// The contents of a block.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    std: Option<String>,
    env: Option<Vec<String>>,
    extensions: Option<Words>,
    options: Option<Vec<String>>,
    depth: Option<Depth>,
}

/// How far to compile a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// As far as `kiln check` does.
    Diagnostics,
    /// To modules, which must be valid.
    Modules,
}

/// A list, or a comma-separated string.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

impl From<Words> for Vec<String> {
    fn from(words: Words) -> Self {
        match words {
            Words::List(list) => list,
            Words::Text(text) => text.split(',').map(|word| word.trim().to_owned()).collect(),
        }
    }
}

/// The configuration of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// The language version, such as `CL2.0`.
    pub(crate) std: String,
    /// The environments.
    pub(crate) env: Vec<String>,
    /// Extensions and features: `+name` enables, `-name` disables.
    pub(crate) extensions: Vec<String>,
    /// Additional command-line options.
    pub(crate) options: Vec<String>,
    /// How far to compile sources.
    pub(crate) depth: Depth,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            std: "CL2.0".to_owned(),
            env: vec!["vulkan".to_owned(), "opencl".to_owned()],
            extensions: Vec::new(),
            options: Vec::new(),
            depth: Depth::Modules,
        }
    }
}

impl Config {
    /// This configuration with the settings of a block. Options are appended.
    pub(crate) fn with(mut self, block: &str) -> Result<Self, String> {
        let settings: Settings = toml::from_str(block).map_err(|e| e.to_string())?;
        self.std = settings.std.unwrap_or(self.std);
        self.env = settings.env.unwrap_or(self.env);
        self.extensions = settings.extensions.map_or(self.extensions, Vec::from);
        self.depth = settings.depth.unwrap_or(self.depth);
        Ok(self.and(settings.options.unwrap_or_default()))
    }

    /// This configuration with additional command-line options.
    pub(crate) fn and(mut self, options: Vec<String>) -> Self {
        self.options.extend(options);
        self
    }

    /// The options of `kiln`.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = vec![format!("-cl-std={}", self.std)];
        options.extend(self.extensions.iter().map(|extension| format!("-cl-ext={extension}")));
        options.extend(self.options.iter().cloned());
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_options_are_inherited() {
        let outer = Config::default().with("std = \"CL3.0\"\noptions = [\"-Werror\"]").unwrap();
        let inner = outer.with("extensions = \"+cl_khr_fp64, -cl_khr_fp16\"").unwrap();
        assert_eq!(
            inner.options(),
            ["-cl-std=CL3.0", "-cl-ext=+cl_khr_fp64", "-cl-ext=-cl_khr_fp16", "-Werror"]
        );
        assert_eq!(inner.env, ["vulkan", "opencl"]);
    }

    #[test]
    fn invalid_options_are_rejected() {
        assert!(Config::default().with("standard = \"CL3.0\"").is_err());
    }
}
