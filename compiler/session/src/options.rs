//! The input of a compilation: the source, its options, and the interface for loading included files.

use kiln_syntax::parse::MAX_DEPTH;
use kiln_vocabulary::{
    opencl::{Environment, LanguageVersion, Overflow},
    target::Target,
};

use crate::{defect::Defect, diag::WarningOptions};

/// The name and contents of the main source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, for messages, `__FILE__` and quoted includes.
    pub name: String,
    /// Its bytes. Bytes that are not UTF-8 are reported with their position.
    pub text: Vec<u8>,
}

/// Loads the text of included files. This is the compiler's only access to the outside.
pub trait Loader {
    /// The bytes of the file at this path, or `None` if it does not exist. A path is an include directory, or the
    /// directory of the including file, joined with the name in the directive.
    fn load(&self, path: &str) -> Option<Vec<u8>>;
}

/// A loader without files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}

/// The options of `clBuildProgram` (OpenCL API 5.8.6) and Kiln's own. Lists keep the given order where it matters.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-cl-std=`
    pub std: LanguageVersion,
    /// The target of the module.
    pub target: Target,
    /// `-D` and `-U`, in the given order.
    pub macros: Vec<MacroOption>,
    /// `-I`, in the given order.
    pub include_dirs: Vec<String>,
    /// `-include`: files that are included before the source.
    pub forced_includes: Vec<String>,
    /// `-cl-ext=`: enables (`true`) or disables extensions and feature macros, in the given order. `all` means all of
    /// them.
    pub extensions: Vec<(String, bool)>,
    /// `-w`, `-W…`
    pub warnings: WarningOptions,
    /// Floating-point and other language options.
    pub math: MathOptions,
    /// Cleared by `-O0`, which skips the passes that only improve speed.
    pub optimize: bool,
    /// `-g`: emit source positions and variables.
    pub debug: bool,
    /// In the OpenCL environment: keep the variables of the source in memory, with their names, for a debugger.
    pub keep_variables: bool,
    /// Omit names, the kernel interface and source positions: keep only what a device needs to run the module.
    pub strip: bool,
    /// The source is part of a program, as for `clCompileProgram` (OpenCL API 5.8.3). In the OpenCL environment, the module is
    /// then an object for `clLinkProgram` of other implementations. Kiln itself links parts, not modules.
    pub is_part: bool,
    /// `-cl-kernel-arg-info`: emit all information for `clGetKernelArgInfo`, even if it follows from how the argument
    /// is passed.
    pub argument_info: bool,
    /// The lowering of seq_cst on Vulkan, which has no such order.
    pub seq_cst: SeqCst,
    /// On Vulkan: limit accesses to memory that the launch passes and, in local and private memory, to the object
    /// that the pointer was derived from. Report the others.
    pub bounds_checks: bool,
    /// On Vulkan: compute every filter and address of an image with the formulas of OpenCL, without samplers of the
    /// device.
    pub exact_images: bool,
    /// In the OpenCL environment: whether the module marks operations that must not overflow.
    pub overflow: Overflow,
    /// The maximum nesting depth of expressions and statements, including brackets.
    /// [`MAX_DEPTH`](kiln_syntax::parse::MAX_DEPTH), unless the caller has a larger stack, such as [`DEEP_STACK`] for
    /// [`DEEP`].
    pub max_depth: u16,
    /// For tests: a defect to inject.
    #[doc(hidden)]
    pub defect: Option<Defect>,
    /// For tests: do not inline a function that can stay one, however short.
    #[doc(hidden)]
    pub keep_functions: bool,
}

/// A nesting depth that is large enough for generated programs. It requires a stack of [`DEEP_STACK`] bytes.
pub const DEEP: u16 = 4000;
/// Stack size for [`DEEP`]: 16 KiB for each level.
pub const DEEP_STACK: usize = 64 << 20;

/// How seq_cst operations are lowered if the target has no such order (docs/memory-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeqCst {
    /// The construction R1–R7, which allows no outcome that OpenCL forbids.
    #[default]
    Strict,
    /// Acquire-release, as other compilers do silently. Warns about each use.
    AcqRel,
}

/// A macro that `-D` defines or `-U` undefines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MacroOption {
    /// `-D NAME` (value `1`), `-D NAME=value`, `-D 'NAME(args)=value'`
    Define(String),
    /// `-U NAME`
    Undefine(String),
}

/// The options that change the semantics of expressions (OpenCL API 5.8.6.3, 5.8.6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MathOptions {
    /// `-cl-single-precision-constant`
    pub single_precision_constant: bool,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// `-cl-fp32-correctly-rounded-divide-sqrt`
    pub correctly_rounded_divide_sqrt: bool,
    /// `-cl-mad-enable`
    pub mad_enable: bool,
    /// `-cl-no-signed-zeros`
    pub no_signed_zeros: bool,
    /// `-cl-unsafe-math-optimizations`; implies `mad_enable` and `no_signed_zeros`
    pub unsafe_optimizations: bool,
    /// `-cl-finite-math-only`
    pub finite_only: bool,
    /// `-cl-fast-relaxed-math`; implies `unsafe_optimizations` and `finite_only`
    pub fast_relaxed: bool,
}

impl MathOptions {
    /// Each option with its name, without `-cl-`.
    pub fn by_name(&mut self) -> [(&'static str, &mut bool); 8] {
        [
            ("single-precision-constant", &mut self.single_precision_constant),
            ("denorms-are-zero", &mut self.denorms_are_zero),
            ("fp32-correctly-rounded-divide-sqrt", &mut self.correctly_rounded_divide_sqrt),
            ("mad-enable", &mut self.mad_enable),
            ("no-signed-zeros", &mut self.no_signed_zeros),
            ("unsafe-math-optimizations", &mut self.unsafe_optimizations),
            ("finite-math-only", &mut self.finite_only),
            ("fast-relaxed-math", &mut self.fast_relaxed),
        ]
    }

    /// Sets the option with this name, without `-cl-`. Returns whether there is one.
    pub fn set(&mut self, name: &str) -> bool {
        let option = self.by_name().into_iter().find(|(known, _)| *known == name);
        option.map(|(_, is_set)| *is_set = true).is_some()
    }

    /// Adds the options that these options imply (OpenCL API 5.8.6.4).
    pub const fn with_implied(mut self) -> Self {
        self.unsafe_optimizations |= self.fast_relaxed;
        self.finite_only |= self.fast_relaxed;
        self.mad_enable |= self.unsafe_optimizations;
        self.no_signed_zeros |= self.unsafe_optimizations;
        self
    }
}

/// Parses one word of `-cl-ext=`: `+name` or `name` enables, `-name` disables.
pub fn extension_switch(text: &str) -> (String, bool) {
    match text.strip_prefix('-') {
        Some(name) => (name.to_owned(), false),
        None => (text.strip_prefix('+').unwrap_or(text).to_owned(), true),
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            std: LanguageVersion::default(),
            target: Target::full(Environment::Vulkan),
            macros: Vec::new(),
            include_dirs: Vec::new(),
            forced_includes: Vec::new(),
            extensions: Vec::new(),
            warnings: WarningOptions::default(),
            math: MathOptions::default(),
            optimize: true,
            debug: false,
            keep_variables: false,
            strip: false,
            is_part: false,
            seq_cst: SeqCst::default(),
            argument_info: false,
            bounds_checks: false,
            exact_images: false,
            overflow: Overflow::default(),
            max_depth: MAX_DEPTH,
            defect: None,
            keep_functions: false,
        }
    }
}
