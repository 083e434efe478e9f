//! What a compilation is asked to do, and its only door to the outside.

use kiln_syntax::parse::MAX_DEPTH;

use crate::{
    diag::WarningOptions,
    opencl::{Environment, LanguageVersion, Overflow},
    target::Target,
};

/// The main source.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name as messages, `__FILE__` and quoted includes see it.
    pub name: String,
    /// Its bytes; what is not UTF-8 is reported where it stands.
    pub text: Vec<u8>,
}

/// Gives the text of included files; the only door of the compiler to the outside.
pub trait Loader {
    /// The bytes of the file at this path, or none if there is no such file. Paths are made by joining an
    /// include directory, or the directory of the including file, with what stands in the directive.
    fn load(&self, path: &str) -> Option<Vec<u8>>;
}

/// A loader without files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}

/// The options of `clBuildProgram` (OpenCL API 5.8.6) and Kiln's own, in the order given where order matters.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-cl-std=`
    pub std: LanguageVersion,
    /// What the module is for.
    pub target: Target,
    /// `-D` and `-U` in the order given.
    pub macros: Vec<MacroOption>,
    /// `-I` in the order given.
    pub include_dirs: Vec<String>,
    /// `-include`: files read before the source.
    pub forced_includes: Vec<String>,
    /// `-cl-ext=`: extensions and feature macros switched on (`true`) and off, in the order given; `all` is every one.
    pub extensions: Vec<(String, bool)>,
    /// `-w`, `-W…`
    pub warnings: WarningOptions,
    /// Floating-point and other language options.
    pub math: MathOptions,
    /// `-O0`: skips the passes that are only for speed.
    pub optimize: bool,
    /// `-g`: source positions and variables in the module.
    pub debug: bool,
    /// No names, no interface and no source positions in the module: only what a device needs to run it.
    pub strip: bool,
    /// The source is a part of a program, as `clCompileProgram` takes it (OpenCL API 5.8.3): for the OpenCL environment, where
    /// `clLinkProgram` puts the parts together.
    pub is_part: bool,
    /// `-cl-kernel-arg-info`: what `clGetKernelArgInfo` tells, also where it follows from how the argument is passed.
    pub argument_info: bool,
    /// What becomes of seq_cst on Vulkan, which has no such order.
    pub seq_cst: SeqCst,
    /// On Vulkan: accesses touch only what the launch passes and, in local and private memory, the object that the pointer came
    /// from; others are reported.
    pub bounds_checks: bool,
    /// What modules for OpenCL say of signed integers that must not overflow.
    pub overflow: Overflow,
    /// How deep expressions and statements may nest, brackets included: as [`MAX_DEPTH`](kiln_syntax::parse::MAX_DEPTH) says unless
    /// the caller has a stack for more, as [`DEEP`] and [`DEEP_STACK`] are.
    pub max_depth: u16,
    /// For tests of what happens behind the emitter: the module gets a bound that none of its ids is below.
    #[doc(hidden)]
    pub break_module: bool,
}

/// A depth for what programs write, and the bytes of stack that it needs.
pub const DEEP: u16 = 4000;
/// Sixteen kilobytes for each level of [`DEEP`].
pub const DEEP_STACK: usize = 64 << 20;

/// How seq_cst operations are expressed where the target has no such order (memory.md §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeqCst {
    /// By the construction R1–R7: no outcome that OpenCL forbids.
    #[default]
    Strict,
    /// As acquire-release, which other compilers do in silence; each use is warned of.
    AcqRel,
}

/// `-D` or `-U`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MacroOption {
    /// `-D NAME` (value `1`), `-D NAME=value`, `-D 'NAME(args)=value'`
    Define(String),
    /// `-U NAME`
    Undefine(String),
}

/// The options that change what expressions mean (OpenCL API 5.8.6.3, 5.8.6.4).
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
    /// With what these options imply (OpenCL API 5.8.6.4).
    pub const fn with_implied(mut self) -> Self {
        self.unsafe_optimizations |= self.fast_relaxed;
        self.finite_only |= self.fast_relaxed;
        self.mad_enable |= self.unsafe_optimizations;
        self.no_signed_zeros |= self.unsafe_optimizations;
        self
    }
}

/// One word of `-cl-ext=`: `+name`, `-name`, or `name`, which is switched on.
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
            strip: false,
            is_part: false,
            seq_cst: SeqCst::default(),
            argument_info: false,
            bounds_checks: false,
            overflow: Overflow::default(),
            max_depth: MAX_DEPTH,
            break_module: false,
        }
    }
}
