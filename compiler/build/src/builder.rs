//! The builder that build scripts use.

use std::{
    collections::BTreeSet,
    env,
    fmt::{Display, Write as _},
    fs,
    path::{Path, PathBuf},
};

use kiln_compiler::{
    driver_bugs::Workarounds,
    opencl::{Environment, LanguageVersion},
    session::{MacroOption, Options, SeqCst, Source},
    target::{Target, profile},
};

use crate::{
    bindings::{self, Module},
    cargo,
    error::{Error, Result},
    program::{Compiled, Rejected, try_compile},
};

/// Compiles sources to modules and bindings.
///
/// Each source `name.cl` produces `name.spv` in the output directory, and a module `name` in its `kernels.rs`. With
/// variants, it produces `name_variant.spv` and a module `name_variant` for each variant.
#[derive(Clone, Debug)]
pub struct Builder {
    files: Vec<PathBuf>,
    options: Options,
    profile: Option<String>,
    workarounds: Option<Workarounds>,
    variants: Vec<Variant>,
    folder: Option<PathBuf>,
    bindings: String,
}

/// A configuration in which to compile the sources: additional macros and options.
#[derive(Clone, Debug)]
pub struct Variant {
    name: String,
    macros: Vec<MacroOption>,
    fast_relaxed_math: bool,
    profile: Option<String>,
}

impl Variant {
    /// Creates a variant. Its name becomes part of the module's name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), macros: Vec::new(), fast_relaxed_math: false, profile: None }
    }

    /// Defines a macro in this variant, as `-D NAME=value`.
    pub fn define(mut self, name: &str, value: impl Display) -> Self {
        self.macros.push(MacroOption::Define(format!("{name}={value}")));
        self
    }

    /// Sets `-cl-fast-relaxed-math` in this variant.
    pub fn fast_relaxed_math(mut self) -> Self {
        self.fast_relaxed_math = true;
        self
    }

    /// Sets the device profile of this variant, which overrides the builder's.
    pub fn device_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            options: Options::default(),
            profile: None,
            workarounds: None,
            variants: Vec::new(),
            folder: None,
            bindings: "kernels.rs".to_owned(),
        }
    }
}

impl Builder {
    /// Creates a builder for Vulkan and OpenCL C 2.0, with no sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source. The path is relative to the package directory.
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.files.push(path.as_ref().to_owned());
        self
    }

    /// Adds several sources.
    pub fn files<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.files.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Adds an include directory, as `-I`.
    pub fn include(mut self, folder: impl AsRef<Path>) -> Self {
        self.options.include_dirs.push(folder.as_ref().to_string_lossy().into_owned());
        self
    }

    /// Defines a macro, as `-D NAME=value`.
    pub fn define(mut self, name: &str, value: impl Display) -> Self {
        self.options.macros.push(MacroOption::Define(format!("{name}={value}")));
        self
    }

    /// Undefines a macro, as `-U NAME`.
    pub fn undefine(mut self, name: &str) -> Self {
        self.options.macros.push(MacroOption::Undefine(name.to_owned()));
        self
    }

    /// Sets the language version, as `-cl-std=`.
    pub fn std(mut self, version: LanguageVersion) -> Self {
        self.options.std = version;
        self
    }

    /// Enables or disables an extension or a feature, as `-cl-ext=`.
    pub fn extension(mut self, name: &str, is_on: bool) -> Self {
        self.options.extensions.push((name.to_owned(), is_on));
        self
    }

    /// Sets `-cl-fast-relaxed-math`.
    pub fn fast_relaxed_math(mut self) -> Self {
        fast_relaxed_math(&mut self.options);
        self
    }

    /// Treats warnings as errors, as `-Werror`.
    pub fn warnings_as_errors(mut self) -> Self {
        self.options.warnings.as_errors = true;
        self
    }

    /// Sets the client environment. The bindings launch modules for Vulkan only.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.options.target = Target::full(environment);
        self
    }

    /// Sets the target device, as `--device-profile`: `minimal`, `swiftshader`, `lavapipe`, `lavapipe-25`, `nvidia`, `full`, or a
    /// file written by `kiln devices --profile`. The compiler emulates features that the device lacks, or rejects
    /// their use with a message that names the feature. Defaults to `full`.
    pub fn device_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Sets the driver bugs that modules work around, as `--workarounds`. Overrides those of the profile's driver.
    /// Use [`Workarounds::ALL`] for drivers that are unknown at compile time.
    pub fn workarounds(mut self, workarounds: Workarounds) -> Self {
        self.workarounds = Some(workarounds);
        self
    }

    /// Sets the implementation of seq_cst on Vulkan.
    pub fn seq_cst(mut self, seq_cst: SeqCst) -> Self {
        self.options.seq_cst = seq_cst;
        self
    }

    /// Changes any option of the compiler.
    pub fn configure(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Compiles every source in this variant too. Without variants, each source is compiled once.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variants.push(variant);
        self
    }

    /// Sets the output directory; the default is `OUT_DIR`.
    pub fn out_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets the file name of the bindings; the default is `kernels.rs`.
    pub fn bindings(mut self, name: impl Into<String>) -> Self {
        self.bindings = name.into();
        self
    }

    /// Compiles all sources and writes the outputs. Reports all errors of all sources before it fails.
    pub fn compile(self) -> Result {
        if self.files.is_empty() {
            return Err(Error::Usage("there is no source: call `file`".to_owned()));
        }
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| {
                Error::Usage("OUT_DIR is not set: call this from a build script, or set `out_dir`".to_owned())
            })?,
        };
        let mut build = Build::default();
        let mut common = self.options.clone();
        build.profile(self.profile.as_deref(), &mut common)?;
        for file in &self.files {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if self.variants.is_empty() {
                set_workarounds(&mut common, self.workarounds);
                build.compile_file(file, &module_name(&stem), &common)?;
            }
            for variant in &self.variants {
                let mut options = common.clone();
                build.profile(variant.profile.as_deref(), &mut options)?;
                set_workarounds(&mut options, self.workarounds);
                options.macros.extend(variant.macros.iter().cloned());
                if variant.fast_relaxed_math {
                    fast_relaxed_math(&mut options);
                }
                build.compile_file(file, &module_name(&format!("{stem}_{}", variant.name)), &options)?;
            }
        }
        build.write(&folder, &self.bindings)
    }
}

/// The results so far.
#[derive(Default)]
struct Build {
    modules: Vec<(String, String, Compiled)>,
    rejections: String,
    announced: BTreeSet<String>,
}

impl Build {
    fn compile_file(&mut self, file: &Path, name: &str, options: &Options) -> Result {
        if self.modules.iter().any(|(known, ..)| known == name) {
            return Err(Error::Usage(format!("two modules would have the name `{name}`")));
        }
        let shown = file.to_string_lossy().replace('\\', "/");
        let text = fs::read(file).map_err(|reason| Error::File { path: file.to_owned(), reason })?;
        self.rerun(&shown);
        match try_compile(Source { name: shown.clone(), text }, options) {
            Ok(compiled) => {
                compiled.dependencies.iter().for_each(|path| self.rerun(path));
                compiled.warnings.iter().for_each(|line| cargo::warning(line));
                self.modules.push((name.to_owned(), shown, compiled));
            }
            Err(Rejected { lines, text, dependencies }) => {
                dependencies.iter().for_each(|path| self.rerun(path));
                lines.iter().for_each(|line| cargo::error(line));
                self.rejections.push_str(&text);
            }
        }
        Ok(())
    }

    /// Applies a device profile.
    fn profile(&mut self, name: Option<&str>, options: &mut Options) -> Result {
        let Some(name) = name else { return Ok(()) };
        if let Some(file) = device_profile(options, name, Path::new(""))? {
            self.rerun(&file);
        }
        Ok(())
    }

    fn rerun(&mut self, path: &str) {
        if self.announced.insert(path.to_owned()) {
            cargo::rerun_if_changed(path);
        }
    }

    fn write(self, folder: &Path, bindings: &str) -> Result {
        if !self.rejections.is_empty() {
            return Err(Error::Diagnostics(self.rejections));
        }
        let mut text = "// Generated by kiln-build.\n".to_owned();
        for (name, source, compiled) in &self.modules {
            let file = format!("{name}.spv");
            write(&folder.join(&file), &compiled.bytes())?;
            let items = bindings::rust(&compiled.interface, source, &Module::File(file));
            let _ =
                writeln!(text, "\n/// The kernels of `{source}`.\n#[allow(dead_code)]\npub mod {name} {{");
            for line in items.lines() {
                let _ = writeln!(text, "{}{line}", if line.is_empty() { "" } else { "    " });
            }
            text.push_str("}\n");
        }
        write(&folder.join(bindings), text.as_bytes())
    }
}

/// Overrides the workarounds of the device profile.
const fn set_workarounds(options: &mut Options, workarounds: Option<Workarounds>) {
    if let Some(workarounds) = workarounds {
        options.target.workarounds = workarounds;
    }
}

/// Sets the device's features and workarounds from a profile: a name, or a file relative to `folder`. Returns the
/// path of the file, if it is one.
pub fn device_profile(options: &mut Options, name: &str, folder: &Path) -> Result<Option<String>> {
    let mut file = None;
    let profile = match profile::named(name) {
        Some(profile) => profile,
        None => {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).map_err(|error| {
                let names: Vec<_> = profile::names().collect();
                Error::Usage(format!(
                    "the device profile `{name}` is neither {} nor a readable file: {error}",
                    names.join(", ")
                ))
            })?;
            file = Some(path.to_string_lossy().into_owned());
            profile::parse(&text).map_err(|why| Error::Usage(format!("{name}: {why}")))?
        }
    };
    options.target.workarounds = profile.workarounds();
    options.target.precision = profile.precision();
    options.target.tuning = profile.tuning();
    options.target.features = profile.features;
    options.target.profile = Some(name.to_owned());
    Ok(file)
}

/// Writes a file atomically. Leaves an identical file untouched, so that its dependents are not rebuilt.
fn write(path: &Path, bytes: &[u8]) -> Result {
    let failed = |reason| Error::File { path: path.to_owned(), reason };
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path)).map_err(|reason| {
        // A failed removal does not matter: the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        failed(reason)
    })
}

/// Converts a file name to a module name.
fn module_name(stem: &str) -> String {
    let name: String =
        stem.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    if name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        name
    } else {
        format!("_{name}")
    }
}

fn fast_relaxed_math(options: &mut Options) {
    options.math.fast_relaxed = true;
    options.math = options.math.with_implied();
}
