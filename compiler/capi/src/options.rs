//! The options of compilations, which the functions `kiln_options_…` change.

use std::{ffi::CString, path::Path};

use kiln_build::{device_profile, flags};
use kiln_compiler::{
    Emit,
    diag::WarningSwitch,
    opencl::{self, LanguageVersion},
    session::{self, MacroOption},
    target::Target,
};

use crate::{
    data::{Environment, Format, Language, Optimization, Output, SeqCst},
    ffi::Callbacks,
    strings::c_string,
};

/// The options of compilations. One object can serve several threads concurrently while none of them changes it.
#[derive(Clone)]
pub struct Options {
    pub(crate) compiler: session::Options,
    pub(crate) emit: Emit,
    pub(crate) format: kiln_report::Format,
    pub(crate) has_colors: bool,
    /// `None`: included files are read from the file system.
    pub(crate) includes: Option<Callbacks>,
    /// The message of the last change that failed.
    pub(crate) error: CString,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compiler: session::Options::default(),
            emit: Emit::Spirv,
            format: kiln_report::Format::Rich,
            has_colors: false,
            includes: None,
            error: c_string(""),
        }
    }
}

/// Options of other implementations that have no effect here.
const IGNORED: &[&str] = &["-cl-strict-aliasing", "-cl-no-subgroup-ifp", "-cl-uniform-work-group-size"];

impl Options {
    /// Applies options in the spelling of `clBuildProgram`.
    pub(crate) fn parse(&mut self, text: &str) -> Result<(), String> {
        let mut changed = self.compiler.clone();
        let others = flags::apply(text, &mut changed)?;
        if let Some(unknown) = others.iter().find(|word| !IGNORED.contains(&word.as_str())) {
            return Err(format!("there is no option `{unknown}`"));
        }
        self.compiler = changed;
        Ok(())
    }

    pub(crate) fn set_language(&mut self, number: u32) -> Result<(), String> {
        self.compiler.std = value("language version", number, LANGUAGES)?;
        Ok(())
    }

    /// Keeps the features of the device profile.
    pub(crate) fn set_environment(&mut self, number: u32) -> Result<(), String> {
        let full = Target::full(value("environment", number, ENVIRONMENTS)?);
        (self.compiler.target.environment, self.compiler.target.spirv) = (full.environment, full.spirv);
        Ok(())
    }

    pub(crate) fn set_profile(&mut self, name: &str) -> Result<(), String> {
        device_profile(&mut self.compiler, name, Path::new("")).map(drop).map_err(|why| why.to_string())
    }

    pub(crate) fn define(&mut self, name: &str, value: Option<&str>) {
        let text = value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"));
        self.compiler.macros.push(MacroOption::Define(text));
    }

    pub(crate) fn undefine(&mut self, name: &str) {
        self.compiler.macros.push(MacroOption::Undefine(name.to_owned()));
    }

    pub(crate) fn set_optimization(&mut self, number: u32) -> Result<(), String> {
        self.compiler.optimize = value("optimization", number, OPTIMIZATIONS)?;
        Ok(())
    }

    pub(crate) fn set_seq_cst(&mut self, number: u32) -> Result<(), String> {
        self.compiler.seq_cst = value("implementation of seq_cst", number, SEQ_CST)?;
        Ok(())
    }

    pub(crate) fn set_output(&mut self, number: u32) -> Result<(), String> {
        self.emit = value("output", number, OUTPUTS)?;
        Ok(())
    }

    pub(crate) fn set_format(&mut self, number: u32, has_colors: bool) -> Result<(), String> {
        self.format = value("format", number, FORMATS)?;
        self.has_colors = has_colors;
        Ok(())
    }

    /// Adds a warning option: the text after `-W`.
    pub(crate) fn set_warning(&mut self, text: &str) {
        let warnings = &mut self.compiler.warnings;
        match text {
            "error" => warnings.as_errors = true,
            "no-error" => warnings.as_errors = false,
            _ => warnings.switches.push(WarningSwitch::parse(text)),
        }
    }
}

/// The values of the numbers of an enumeration.
type Values<T> = &'static [(u32, T)];

const LANGUAGES: Values<LanguageVersion> = &[
    (Language::Cl10 as u32, LanguageVersion::Cl10),
    (Language::Cl11 as u32, LanguageVersion::Cl11),
    (Language::Cl12 as u32, LanguageVersion::Cl12),
    (Language::Cl20 as u32, LanguageVersion::Cl20),
    (Language::Cl30 as u32, LanguageVersion::Cl30),
    (Language::Cl31 as u32, LanguageVersion::Cl31),
];

const ENVIRONMENTS: Values<opencl::Environment> = &[
    (Environment::Vulkan as u32, opencl::Environment::Vulkan),
    (Environment::Opencl as u32, opencl::Environment::OpenCl),
];

const OPTIMIZATIONS: Values<bool> = &[(Optimization::None as u32, false), (Optimization::Speed as u32, true)];

const SEQ_CST: Values<session::SeqCst> =
    &[(SeqCst::Strict as u32, session::SeqCst::Strict), (SeqCst::AcqRel as u32, session::SeqCst::AcqRel)];

const OUTPUTS: Values<Emit> = &[
    (Output::Spirv as u32, Emit::Spirv),
    (Output::Assembly as u32, Emit::Assembly),
    (Output::Preprocessed as u32, Emit::Preprocessed),
    (Output::Nothing as u32, Emit::Nothing),
];

const FORMATS: Values<kiln_report::Format> = &[
    (Format::Rich as u32, kiln_report::Format::Rich),
    (Format::Short as u32, kiln_report::Format::Short),
    (Format::Gcc as u32, kiln_report::Format::Gcc),
    (Format::Json as u32, kiln_report::Format::Json),
    (Format::Sarif as u32, kiln_report::Format::Sarif),
];

/// The value of a number, which the application can choose freely.
fn value<T: Clone>(what: &str, number: u32, values: Values<T>) -> Result<T, String> {
    let known = values.iter().find(|(known, _)| *known == number);
    known.map(|(_, value)| value.clone()).ok_or_else(|| format!("there is no {what} {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_keep_profiles() {
        let mut options = Options::default();
        options.set_profile("swiftshader").expect("it is known");
        options.set_environment(Environment::Opencl as u32).expect("it is known");
        assert!(!options.compiler.target.features.int64);
        assert_eq!(options.compiler.target.environment, opencl::Environment::OpenCl);
    }

    #[test]
    fn options_that_fail_change_nothing() {
        let mut options = Options::default();
        assert_eq!(
            options.parse("-DA -cl-std=CL9.0"),
            Err("`-cl-std=CL9.0` has no value or an unknown one".to_owned())
        );
        assert_eq!(options.parse("-DA -frobnicate"), Err("there is no option `-frobnicate`".to_owned()));
        assert_eq!(options.set_language(42), Err("there is no language version 42".to_owned()));
        assert!(options.compiler.macros.is_empty());
        options.parse("-DA -cl-strict-aliasing -Wno-all").expect("they are known");
        assert_eq!(options.compiler.macros, [MacroOption::Define("A".to_owned())]);
    }
}
