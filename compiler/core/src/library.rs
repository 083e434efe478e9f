//! Our own built-in functions: OpenCL C in `builtins/lib/*.cl`, checked and lowered when a program needs them.
//!
//! A function of it is named after the built-in function and the types of its parameters: `sin_float`. Each file
//! says in lines `// Defines: …` which built-in functions it has, in lines `// Helps: …` which other functions the files
//! may use that include it, and may say in a line `// Types: …` that each of its built-in functions has a parameter of
//! one of these: for others it is not read. What is needed goes through the same stages as a program, with a sink and
//! names of its own, so that nothing of it shows in a user's diagnostics. It knows no targets.

mod items;

use std::sync::{LazyLock, OnceLock};

use kiln_syntax::{Arena, Interner, Symbol, parse, token::Token};
use rustc_hash::{FxHashMap, FxHashSet};

use self::items::Items;
use crate::{
    diag::{Sink, WarningOptions},
    ir::{FuncId, Module},
    lower,
    opencl::LanguageVersion,
    pp,
    precision::Precision,
    sema,
    session::{Loader, Options, Source},
    source::SourceMap,
    target::Target,
};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(File {
            name: $name,
            text: include_str!(concat!("builtins/lib/", $name)),
            items: OnceLock::new(),
            helpers: OnceLock::new(),
        }),*]
    };
}

static FILES: [File; 30] = files![
    "relaxed.cl",
    "rounded.cl",
    "integer.cl",
    "multiply.cl",
    "divide.cl",
    "bits.cl",
    "dot.cl",
    "exact.cl",
    "exp.cl",
    "log.cl",
    "pow.cl",
    "trig.cl",
    "arc.cl",
    "hyperbolic.cl",
    "gamma.cl",
    "round.cl",
    "geometric.cl",
    "convert.cl",
    "image.cl",
    "half.cl",
    "work_group.cl",
    "sub_group.cl",
    "vendor.cl",
    "exact_double.cl",
    "math_double.cl",
    "arc_double.cl",
    "gamma_double.cl",
    "fma_double.cl",
    "native.cl",
    "native_double.cl",
];

struct File {
    name: &'static str,
    text: &'static str,
    items: OnceLock<Items>,
    /// Who has the functions of other files that this one may use.
    helpers: OnceLock<FxHashMap<&'static str, &'static Self>>,
}

/// The file of the functions that will do where results may be less exact.
const RELAXED: &str = "relaxed.cl";

/// The files of functions for drivers whose instructions are precise: of float, and of double.
const NATIVE: [&str; 2] = ["native.cl", "native_double.cl"];

/// Which files define functions for a built-in function.
static INDEX: LazyLock<FxHashMap<&'static str, Vec<&'static File>>> = LazyLock::new(|| {
    let mut index: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for file in &FILES {
        for name in file.said("// Defines: ") {
            index.entry(name).or_default().push(file);
        }
    }
    index
});

/// The files include each other by name, for their macros: the functions of another file are read there.
struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        let mut is_directive = false;
        let directives = file(path)?.text.split_inclusive('\n').filter(|line| {
            let is_taken = is_directive || line.starts_with('#');
            is_directive = is_taken && line.ends_with("\\\n");
            is_taken
        });
        Some(directives.collect::<String>().into_bytes())
    }
}

fn file(name: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.name == name)
}

/// A function of the library.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    file: &'static File,
    function: Symbol,
    is_native: bool,
}

/// The function `name_types` for the built-in function `name`, if the library has it.
/// If its results may be less exact, a shorter one is taken; if the driver's instructions are precise, one that uses them.
pub(crate) fn find(name: &str, types: &str, is_relaxed: bool, precision: Precision) -> Option<Found> {
    let is_native = precision.is_fma_fused && precision.is_sqrt_precise && precision.is_exp2_precise;
    let full = format!("{name}_{types}");
    let may_define = |file: &File| (is_relaxed || file.name != RELAXED) && file.has_type_of(types);
    let mut files = INDEX.get(name)?.iter().filter(|file| may_define(file));
    files.find_map(|file| file.function(&full, is_native))
}

impl Found {
    /// The function in the intermediate form, with those that it calls.
    pub(crate) fn lower(self) -> (Module, FuncId) {
        let mut needed = Needed::default();
        needed.add(self);
        let Needed { tokens, mut names, .. } = needed;
        let arena = Arena::default();
        let options = options(self.file.name);
        let mut sink = Sink::new(options.warnings.clone());
        let parsed = parse::parse(&tokens, &arena, &parse::NoLayout, parse::MAX_DEPTH);
        assert!(parsed.errors.is_empty(), "{}: {:?}", self.file.name, parsed.errors);
        let hir = sema::check(parsed.unit, sema::Extent::Program, &options, &mut names, &mut sink, None);
        // What a function needs precedes it.
        let wanted = hir.functions.ids().rfind(|&id| hir.functions[id].body.is_some());
        let lowered = lower::lower_functions(&hir, &names, &mut sink, wanted.as_slice());
        self.file.expect_sound(&sink);
        (lowered.0, lowered.1[0])
    }
}

/// A program that has a function and what it needs.
#[derive(Default)]
struct Needed {
    tokens: Vec<Token>,
    names: Interner,
    added: FxHashSet<(&'static str, Symbol)>,
}

impl Needed {
    /// Adds a function behind those that it names.
    fn add(&mut self, Found { file, function, is_native }: Found) {
        if !self.added.insert((file.name, function)) {
            return;
        }
        let items = file.items();
        for needed in items.mentioned(function).filter_map(|name| file.function(name, is_native)) {
            self.add(needed);
        }
        self.tokens.extend(items.translated(function, &mut self.names));
    }
}

impl File {
    /// The words that lines of the comment at the file's beginning have after this.
    fn said(&self, what: &'static str) -> impl Iterator<Item = &'static str> {
        let comment = self.text.lines().take_while(|line| line.starts_with("//"));
        comment.filter_map(move |line| line.strip_prefix(what)).flat_map(str::split_whitespace)
    }

    fn helpers(&self) -> &FxHashMap<&'static str, &'static Self> {
        self.helpers.get_or_init(|| {
            let included =
                self.text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
            let mut helpers = FxHashMap::default();
            for included in included.filter_map(file) {
                helpers.extend(included.helpers());
                helpers.extend(included.said("// Helps: ").map(|name| (name, included)));
            }
            helpers
        })
    }

    /// Whether the file says that its functions have a parameter of one of these types, or does not say which they have.
    fn has_type_of(&self, types: &str) -> bool {
        let mut said = self.said("// Types: ").peekable();
        said.peek().is_none() || said.any(|ty| types.contains(ty))
    }

    /// The function of this name that it has, or may use, or the one that takes its place if instructions are precise.
    fn function(&'static self, name: &str, is_native: bool) -> Option<Found> {
        let general = self.helpers().get(name).copied().unwrap_or(self);
        let native = (is_native && general.name != RELAXED).then(|| general.native()).flatten();
        [native, Some(general)]
            .into_iter()
            .flatten()
            .find_map(|file| file.items().find(name).map(|function| Found { file, function, is_native }))
    }

    /// The file whose functions take the place of those of this one.
    fn native(&self) -> Option<&'static Self> {
        let [float, double] = NATIVE;
        file(if self.name.ends_with("_double.cl") { double } else { float })
    }

    fn items(&self) -> &Items {
        self.items.get_or_init(|| {
            let options = options(self.name);
            let (mut sources, mut names) = (SourceMap::default(), Interner::new());
            let mut sink = Sink::new(options.warnings.clone());
            let source = Source { name: self.name.to_owned(), text: self.text.as_bytes().to_vec() };
            let preprocessed =
                pp::preprocess(&options, source, &Files, &mut sources, &mut names, &mut sink, None);
            self.expect_sound(&sink);
            Items::new(preprocessed.tokens, names)
        })
    }

    /// The library's mistakes are ours.
    fn expect_sound(&self, sink: &Sink) {
        assert!(!sink.has_errors(), "{} has errors: {:#?}", self.name, sink.clone().finish(|span| span.lo).0);
    }
}

/// Everything is there; a target that lacks what a function uses says so later. In OpenCL C 1.2, pointers without
/// a space are private; functions of sub-groups are of 2.0.
fn options(file: &str) -> Options {
    let warnings = WarningOptions { none: true, ..WarningOptions::default() };
    Options {
        std: if file == "sub_group.cl" { LanguageVersion::Cl20 } else { LanguageVersion::Cl12 },
        target: Target::full(crate::opencl::Environment::Vulkan),
        extensions: vec![("all".to_owned(), true)],
        warnings,
        ..Options::default()
    }
}
