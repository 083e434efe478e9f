//! The options of `clBuildProgram` and of clang that concern compiling, and what the compiler makes of them.

use clap::{ArgMatches, Args, ValueEnum};
use kiln_compiler::{
    diag::{Code, WarningAction, WarningSwitch},
    opencl::LanguageVersion,
    session::{MacroOption, Options, SeqCst, extension_switch},
    target::Target,
};

use crate::crash;

/// Options of every command that compiles.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CompileOptions {
    /// Define a macro, as 1 if no value is given
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,
    /// Look for included files in this folder
    #[arg(short = 'I', value_name = "DIR")]
    include_dirs: Vec<String>,
    /// Read this file before the source
    #[arg(long = "include", value_name = "FILE")]
    include: Vec<String>,
    /// The language version: CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0; spelt `-cl-std=`
    #[arg(long = "cl-std", value_name = "VERSION", value_parser = language_version, default_value = "CL2.0")]
    std: LanguageVersion,
    /// Switch extensions and features on and off, as `+cl_khr_fp64,-__opencl_c_images`; spelt `-cl-ext=`
    #[arg(long = "cl-ext", value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    extensions: Vec<String>,
    /// Treat double constants as float
    #[arg(long = "cl-single-precision-constant")]
    single_precision_constant: bool,
    /// Denormals may be flushed to zero
    #[arg(long = "cl-denorms-are-zero")]
    denorms_are_zero: bool,
    /// Float division and square root round correctly
    #[arg(long = "cl-fp32-correctly-rounded-divide-sqrt")]
    correctly_rounded_divide_sqrt: bool,
    /// No optional passes, as -O0
    #[arg(long = "cl-opt-disable")]
    opt_disable: bool,
    /// `a * b + c` may be a mad
    #[arg(long = "cl-mad-enable")]
    mad_enable: bool,
    /// The sign of zero does not matter
    #[arg(long = "cl-no-signed-zeros")]
    no_signed_zeros: bool,
    /// Transformations that change results are allowed
    #[arg(long = "cl-unsafe-math-optimizations")]
    unsafe_math: bool,
    /// No value is NaN or infinite
    #[arg(long = "cl-finite-math-only")]
    finite_math: bool,
    /// All of the above on floats, and fast functions
    #[arg(long = "cl-fast-relaxed-math")]
    fast_relaxed_math: bool,
    /// Accepted, because C compilers are told so: `cl`
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
    /// In the module: of every argument, what clGetKernelArgInfo tells
    #[arg(long = "cl-kernel-arg-info", hide = true)]
    kernel_arg_info: bool,
    /// Optimisation: 0 skips the passes that are only for speed, as -cl-opt-disable; 1, 2 and 3 are the same
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = clap::value_parser!(u8).range(0..=3))]
    optimization: u8,
    /// Source positions in the module, and for Vulkan its functions and objects, as debuggers of shaders read them
    #[arg(short = 'g')]
    debug: bool,
    /// No warnings
    #[arg(short = 'w')]
    no_warnings: bool,
    /// Switch a warning: NAME, no-NAME, error, error=NAME, all, extra, pedantic
    #[arg(short = 'W', value_name = "NAME")]
    warnings: Vec<String>,
    /// How many errors are shown, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    error_limit: usize,
    /// How seq_cst is expressed on Vulkan, which has no such order
    #[arg(long, value_enum, default_value_t)]
    seq_cst: SeqCstArgument,
    /// Colours
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: ColorArgument,
    /// The form of diagnostics
    #[arg(long, value_enum, default_value_t)]
    pub(crate) diagnostic_format: FormatArgument,
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArgument {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--diagnostic-format`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// With the source lines
    #[default]
    Rich,
    /// `file:line:col: error[code]: message`
    Short,
    /// `file:line:col: error: message [-Wflag]`
    Gcc,
    /// One JSON object a line
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
    /// Sequentially consistent, by read-modify-writes
    #[default]
    Strict,
    /// Acquire-release only, as other compilers do; each use is warned of
    AcqRel,
}

fn language_version(text: &str) -> Result<LanguageVersion, String> {
    LanguageVersion::parse(text).ok_or_else(|| "CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0 is expected".to_owned())
}

impl CompileOptions {
    /// What the compiler is asked. The matches tell the order of `-D` and `-U` among each other.
    pub(crate) fn to_options(&self, target: Target, matches: &ArgMatches) -> Options {
        let mut options = Options { std: self.std, target, ..Options::default() };
        options.macros = macros_in_order(matches);
        options.include_dirs.clone_from(&self.include_dirs);
        options.forced_includes.clone_from(&self.include);
        options.extensions = self.extensions.iter().map(|text| extension_switch(text)).collect();
        options.warnings.none = self.no_warnings;
        options.warnings.error_limit = self.error_limit;
        for text in &self.warnings {
            match text.as_str() {
                "error" => options.warnings.as_errors = true,
                "no-error" => options.warnings.as_errors = false,
                _ => options.warnings.switches.push(known(WarningSwitch::parse(text))),
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
        options.seq_cst = match self.seq_cst {
            SeqCstArgument::Strict => SeqCst::Strict,
            SeqCstArgument::AcqRel => SeqCst::AcqRel,
        };
        options.break_module = crash::breaks_modules();
        options
    }
}

/// Tells of a warning that is asked for and that there is not. Whoever switches it off, has what he wants.
fn known(switch: WarningSwitch) -> WarningSwitch {
    let name = &switch.name;
    let is_wanted = matches!(switch.action, WarningAction::Enable | WarningAction::Error);
    if is_wanted && !Code::ALL.iter().any(|code| code.answers_to(name)) {
        let meant = Code::closest(name).map(|code| format!("; did you mean `{}`?", code.name()));
        anstream::eprintln!("kiln: warning: no warning is called `{name}`{}", meant.unwrap_or_default());
    }
    switch
}

/// `-D` and `-U` in the order given: a later one has the last word, whichever it is.
fn macros_in_order(matches: &ArgMatches) -> Vec<MacroOption> {
    let of = |id: &str, make: fn(String) -> MacroOption| {
        let texts = matches.get_many::<String>(id).into_iter().flatten().cloned().map(make);
        matches.indices_of(id).into_iter().flatten().zip(texts).collect::<Vec<_>>()
    };
    let mut macros = of("define", MacroOption::Define);
    macros.extend(of("undefine", MacroOption::Undefine));
    macros.sort_by_key(|(index, _)| *index);
    macros.into_iter().map(|(_, option)| option).collect()
}
