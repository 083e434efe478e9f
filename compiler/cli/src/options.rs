//! Compiler options, in the spelling of `clBuildProgram` and clang, and their translation to the compiler's options.

use clap::{ArgMatches, Args, ValueEnum};
use kiln_compiler::{
    diag::{Code, WarningAction, WarningSwitch, closest},
    extensions::{Extension, is_foreign},
    opencl::LanguageVersion,
    session::{MacroOption, Options, SeqCst, extension_switch},
    target::Target,
};

use crate::{crash, exit::stderr_line};

// Options of `compile`, `check` and `run`. Not a doc comment: clap would use it as the summary of these commands.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compiler options")]
pub(crate) struct CompileOptions {
    /// Define a macro [default value: 1]
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,
    /// Search this folder for included files
    #[arg(short = 'I', value_name = "DIR")]
    include_dirs: Vec<String>,
    /// Include this file before the source
    #[arg(long = "include", value_name = "FILE")]
    include: Vec<String>,
    /// The language version: CL1.0, CL1.1, CL1.2, CL2.0, CL3.0 or CL3.1; spelled `-cl-std=`
    #[arg(long = "cl-std", value_name = "VERSION", value_parser = language_version, default_value = "CL2.0")]
    std: LanguageVersion,
    /// Enable or disable extensions and features, such as `+cl_khr_fp64,-__opencl_c_images`; spelled `-cl-ext=`
    #[arg(long = "cl-ext", value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    extensions: Vec<String>,
    /// Treat double constants as float
    #[arg(long = "cl-single-precision-constant")]
    single_precision_constant: bool,
    /// Allow denormals to be flushed to zero
    #[arg(long = "cl-denorms-are-zero")]
    denorms_are_zero: bool,
    /// Round float division and square root correctly
    #[arg(long = "cl-fp32-correctly-rounded-divide-sqrt")]
    correctly_rounded_divide_sqrt: bool,
    /// Skip optimization passes, as -O0
    #[arg(long = "cl-opt-disable")]
    opt_disable: bool,
    /// Allow `a * b + c` to become `mad`
    #[arg(long = "cl-mad-enable")]
    mad_enable: bool,
    /// Ignore the sign of zero
    #[arg(long = "cl-no-signed-zeros")]
    no_signed_zeros: bool,
    /// Allow optimizations that change floating-point results
    #[arg(long = "cl-unsafe-math-optimizations")]
    unsafe_math: bool,
    /// Assume that no value is NaN or infinite
    #[arg(long = "cl-finite-math-only")]
    finite_math: bool,
    /// Enable -cl-unsafe-math-optimizations and -cl-finite-math-only, and use fast built-in functions
    #[arg(long = "cl-fast-relaxed-math")]
    fast_relaxed_math: bool,
    /// Accepted for compatibility with C compilers: `cl`
    #[arg(short = 'x', value_name = "LANGUAGE", hide = true, value_parser = ["cl", "opencl"])]
    language: Option<String>,
    /// Work-groups are uniform; accepted for compatibility
    #[arg(long = "cl-uniform-work-group-size", hide = true)]
    uniform_work_group_size: bool,
    /// Accepted for compatibility
    #[arg(long = "cl-strict-aliasing", hide = true)]
    strict_aliasing: bool,
    /// Accepted for compatibility
    #[arg(long = "cl-no-subgroup-ifp", hide = true)]
    no_subgroup_ifp: bool,
    /// Record argument information for clGetKernelArgInfo in the module
    #[arg(long = "cl-kernel-arg-info", hide = true)]
    kernel_arg_info: bool,
    /// For tests: do not inline functions that can stay functions, however short
    #[arg(long, hide = true)]
    keep_functions: bool,
    /// Optimization level: 0 skips the passes that only improve speed, as -cl-opt-disable; 1, 2 and 3 are equal
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = clap::value_parser!(u8).range(0..=3))]
    optimization: u8,
    /// Emit debug information: source lines, and for Vulkan functions and variables, as shader debuggers read them
    #[arg(short = 'g')]
    debug: bool,
    /// Suppress all warnings
    #[arg(short = 'w')]
    no_warnings: bool,
    /// Enable or disable a warning: NAME, no-NAME, error, error=NAME, all, extra, pedantic
    #[arg(short = 'W', value_name = "NAME")]
    warnings: Vec<String>,
    /// Maximum number of errors to show, 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 20)]
    error_limit: usize,
    /// Implementation of seq_cst on Vulkan, which has no such order
    #[arg(long, value_enum, default_value_t)]
    seq_cst: SeqCstArgument,
    /// Do not read the options in the `kiln.toml` of the source's folder or of one above it
    #[arg(long)]
    pub(crate) no_config: bool,
    /// On Vulkan: do not use samplers of the device, and compute filters and coordinates of images exactly as the OpenCL
    /// specification defines them
    #[arg(long)]
    exact_images: bool,
    /// When to use colors
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: ColorArgument,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t)]
    pub(crate) diagnostic_format: FormatArgument,
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArgument {
    /// Use colors on a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always use colors
    Always,
    /// Never use colors
    Never,
}

/// `--diagnostic-format`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// Multi-line, with source lines
    #[default]
    Rich,
    /// `file:line:col: error[code]: message`
    Short,
    /// `file:line:col: error: message [-Wflag]`
    Gcc,
    /// One JSON object per line
    Json,
    /// A SARIF log
    Sarif,
}

impl From<FormatArgument> for kiln_report::Format {
    fn from(argument: FormatArgument) -> Self {
        match argument {
            FormatArgument::Rich => Self::Rich,
            FormatArgument::Short => Self::Short,
            FormatArgument::Gcc => Self::Gcc,
            FormatArgument::Json => Self::Json,
            FormatArgument::Sarif => Self::Sarif,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SeqCstArgument {
    /// Sequentially consistent, by read-modify-write operations
    #[default]
    Strict,
    /// Weakened to acquire-release, as in other compilers; warns at each use
    AcqRel,
}

fn language_version(text: &str) -> Result<LanguageVersion, String> {
    LanguageVersion::parse(text)
        .ok_or_else(|| "expected CL1.0, CL1.1, CL1.2, CL2.0, CL3.0 or CL3.1".to_owned())
}

impl CompileOptions {
    /// Converts to the compiler's options. The matches contain the relative order of `-D` and `-U`.
    pub(crate) fn to_options(&self, target: Target, matches: &ArgMatches) -> Options {
        let mut options = Options { std: self.std, target, ..Options::default() };
        options.macros = macros_in_order(matches);
        options.include_dirs.clone_from(&self.include_dirs);
        options.forced_includes.clone_from(&self.include);
        options.extensions =
            self.extensions.iter().map(|text| known_extension(extension_switch(text))).collect();
        options.warnings.none = self.no_warnings;
        options.warnings.error_limit = self.error_limit;
        for text in &self.warnings {
            match text.as_str() {
                "error" => options.warnings.as_errors = true,
                "no-error" => options.warnings.as_errors = false,
                _ => options.warnings.switches.push(warn_if_unknown(WarningSwitch::parse(text))),
            }
        }
        let math = &mut options.math;
        math.single_precision_constant = self.single_precision_constant;
        math.denorms_are_zero = self.denorms_are_zero;
        math.correctly_rounded_divide_sqrt = self.correctly_rounded_divide_sqrt;
        math.fast_relaxed = self.fast_relaxed_math;
        math.unsafe_optimizations = self.unsafe_math;
        math.finite_only = self.finite_math;
        math.mad_enable = self.mad_enable;
        math.no_signed_zeros = self.no_signed_zeros;
        *math = math.with_implied();
        options.optimize = self.optimization != 0 && !self.opt_disable;
        options.debug = self.debug;
        options.argument_info = self.kernel_arg_info;
        options.exact_images = self.exact_images;
        options.seq_cst = match self.seq_cst {
            SeqCstArgument::Strict => SeqCst::Strict,
            SeqCstArgument::AcqRel => SeqCst::AcqRel,
        };
        options.keep_functions = self.keep_functions;
        options.defect = crash::defect();
        options
    }
}

/// Reports a warning that is enabled but does not exist. Disabling an unknown warning is not reported.
fn warn_if_unknown(switch: WarningSwitch) -> WarningSwitch {
    let name = &switch.name;
    let is_wanted = matches!(switch.action, WarningAction::Enable | WarningAction::Error);
    if is_wanted && !Code::ALL.iter().any(|code| code.matches_option(name)) {
        let meant = Code::closest(name).map(|code| format!("; did you mean `{}`?", code.name()));
        stderr_line!("kiln: warning: unknown warning `{name}`{}", meant.unwrap_or_default());
    }
    switch
}

/// Reports an extension that is enabled but does not exist. Programs enable those of vendors without testing for them.
fn known_extension((name, is_enabled): (String, bool)) -> (String, bool) {
    if is_enabled && name != "all" && Extension::parse(&name).is_none() && !is_foreign(&name) {
        let meant = closest(&name, Extension::ALL.iter().map(|extension| extension.name()));
        let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        stderr_line!("kiln: warning: unknown extension `{name}`{meant}");
    }
    (name, is_enabled)
}

/// `-D` and `-U` in the order given, so that later options override earlier ones.
fn macros_in_order(matches: &ArgMatches) -> Vec<MacroOption> {
    let indexed = |id: &str, make: fn(String) -> MacroOption| {
        let texts = matches.get_many::<String>(id).into_iter().flatten().cloned().map(make);
        matches.indices_of(id).into_iter().flatten().zip(texts).collect::<Vec<_>>()
    };
    let mut macros = indexed("define", MacroOption::Define);
    macros.extend(indexed("undefine", MacroOption::Undefine));
    macros.sort_by_key(|(index, _)| *index);
    macros.into_iter().map(|(_, option)| option).collect()
}
