//! Kiln's library of built-in functions in OpenCL C: `compiler/library/lib/*.cl`.
//!
//! The name of a library function is the built-in function's name with the parameter types: `sin_float`. Comments at
//! the start of each file declare its contents: `// Defines: …` lists built-in functions, and `// Helps: …` lists
//! helper functions for files that include it. `// Types: …` states that all its built-in functions have a parameter
//! of one of these types. Library functions go through the same stages as a program.

use std::{
    collections::BTreeSet,
    sync::{LazyLock, OnceLock},
};

use kiln_frontend::sema;
use kiln_ir::{FuncId, Module};
use kiln_lower as lower;
use kiln_preprocessor as pp;
use kiln_session::{
    Loader, Options, Source,
    diag::{Sink, WarningOptions},
    source::SourceMap,
};
use kiln_syntax::{Arena, Interner, Symbol, parse, token::Token};
use kiln_vocabulary::{
    opencl::{Environment, LanguageVersion},
    target::Target,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::items::Items;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(File {
            name: $name,
            text: include_str!(concat!("../../../compiler/library/lib/", $name)),
            items: OnceLock::new(),
            helpers: OnceLock::new(),
        }),*]
    };
}

static FILES: [File; 34] = files![
    "relaxed.cl",
    "rounded.cl",
    "rounded_double.cl",
    "digits_double.cl",
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
    "pipe.cl",
    "enqueue.cl",
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
    /// The files whose helper functions this one may use.
    helpers: OnceLock<FxHashMap<&'static str, &'static Self>>,
}

/// The file with less accurate functions.
const RELAXED: &str = "relaxed.cl";

/// The files of functions for drivers whose instructions are precise: of float, and of double.
const NATIVE: [&str; 2] = ["native.cl", "native_double.cl"];

/// The files that define functions for a built-in function.
static INDEX: LazyLock<FxHashMap<&'static str, Vec<&'static File>>> = LazyLock::new(|| {
    let mut index: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for file in &FILES {
        for name in file.declared("// Defines: ") {
            index.entry(name).or_default().push(file);
        }
    }
    index
});

/// Finds the files that library files include, by name. An included file contributes only its macros: its functions are
/// looked up in the index.
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

/// A library function.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    file: &'static File,
    function: Symbol,
    is_native: bool,
}

/// The function found for each variant, by the name of the library function. The low bit of the index allows less
/// accurate functions, the high bit functions for drivers whose instructions are precise.
pub(crate) fn all() -> FxHashMap<String, [Option<Found>; 4]> {
    let functions: BTreeSet<&str> = FILES.iter().flat_map(|file| file.items().functions()).collect();
    let mut all = FxHashMap::default();
    for name in INDEX.keys() {
        let first = format!("{name}_");
        let named = functions.range(first.as_str()..).take_while(|function| function.starts_with(&first));
        for function in named {
            let types = &function[first.len()..];
            let variants = [(false, false), (true, false), (false, true), (true, true)];
            let found = variants.map(|(is_relaxed, is_native)| find(name, types, is_relaxed, is_native));
            if found.iter().any(Option::is_some) {
                all.insert((*function).to_owned(), found);
            }
        }
    }
    all
}

/// The function `name_types` for the built-in function `name`, if the library has it. Prefers a shorter one if results
/// may be less accurate, and one that uses the driver's instructions if these are precise.
fn find(name: &str, types: &str, is_relaxed: bool, is_native: bool) -> Option<Found> {
    let full = format!("{name}_{types}");
    let may_define = |file: &File| (is_relaxed || file.name != RELAXED) && file.has_type_of(types);
    let mut files = INDEX.get(name)?.iter().filter(|file| may_define(file));
    files.find_map(|file| file.function(&full, is_native))
}

impl Found {
    /// The functions of a program with this function and its callees, which determine the result of `lower`.
    pub(crate) fn needed(self) -> Vec<(&'static str, Symbol)> {
        let mut needed = Needed::default();
        needed.add(self);
        needed.order
    }

    /// The function in the IR, with its callees.
    pub(crate) fn lower(self) -> (Module, FuncId) {
        let mut needed = Needed::default();
        needed.add(self);
        let Needed { tokens, mut names, .. } = needed;
        let arena = Arena::default();
        let options = options(self.file.name);
        let mut sink = Sink::new(options.warnings.clone());
        let parsed = parse::parse(&tokens, &arena, &parse::NoLayout, parse::MAX_DEPTH);
        assert!(parsed.errors.is_empty(), "{}: {:?}", self.file.name, parsed.errors);
        // The layout of the sources only matters for warnings.
        let sources = SourceMap::default();
        let hir = sema::check(
            parsed.unit,
            sema::UnitKind::Program,
            &options,
            &sources,
            &mut names,
            &mut sink,
            None,
        );
        // Helper functions precede their callers.
        let wanted = hir.functions.ids().rfind(|&id| hir.functions[id].body.is_some());
        let lowered = lower::lower_functions(&hir, &names, &mut sink, wanted.as_slice());
        self.file.expect_sound(&sink);
        (lowered.0, lowered.1[0])
    }
}

/// A program with a function and its callees.
#[derive(Default)]
struct Needed {
    tokens: Vec<Token>,
    names: Interner,
    added: FxHashSet<(&'static str, Symbol)>,
    /// The functions in the order of `tokens`.
    order: Vec<(&'static str, Symbol)>,
}

impl Needed {
    /// Adds a function after those that it calls.
    fn add(&mut self, Found { file, function, is_native }: Found) {
        if !self.added.insert((file.name, function)) {
            return;
        }
        let items = file.items();
        for needed in items.mentioned(function).filter_map(|name| file.function(name, is_native)) {
            self.add(needed);
        }
        self.order.push((file.name, function));
        self.tokens.extend(items.translated(function, &mut self.names));
    }
}

impl File {
    /// The words after this prefix in the comment at the start of the file.
    fn declared(&self, what: &'static str) -> impl Iterator<Item = &'static str> {
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
                helpers.extend(included.declared("// Helps: ").map(|name| (name, included)));
            }
            helpers
        })
    }

    /// Whether the file may have functions with a parameter of one of these types.
    fn has_type_of(&self, types: &str) -> bool {
        let mut types_of_file = self.declared("// Types: ").peekable();
        types_of_file.peek().is_none() || types_of_file.any(|ty| types.contains(ty))
    }

    /// The function of this name in this file or its helper files, or its replacement if instructions are precise.
    fn function(&'static self, name: &str, is_native: bool) -> Option<Found> {
        let general = self.helpers().get(name).copied().unwrap_or(self);
        let native = (is_native && general.name != RELAXED).then(|| general.native()).flatten();
        [native, Some(general)]
            .into_iter()
            .flatten()
            .find_map(|file| file.items().find(name).map(|function| Found { file, function, is_native }))
    }

    /// The file whose functions replace those of this one.
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

    /// Errors in the library are bugs in the compiler.
    fn expect_sound(&self, sink: &Sink) {
        assert!(!sink.has_errors(), "{} has errors: {:#?}", self.name, sink.clone().finish(|span| span.lo).0);
    }
}

/// All extensions are enabled; the target reports missing features later. OpenCL C 1.2, in which pointers without an
/// address space are private; sub-group functions and explicit atomic operations require 2.0.
fn options(file: &str) -> Options {
    let warnings = WarningOptions { none: true, ..WarningOptions::default() };
    let is_2_0 = ["sub_group.cl", "pipe.cl", "enqueue.cl"].contains(&file);
    Options {
        std: if is_2_0 { LanguageVersion::Cl20 } else { LanguageVersion::Cl12 },
        target: Target::full(Environment::Vulkan),
        extensions: vec![("all".to_owned(), true)],
        warnings,
        ..Options::default()
    }
}
