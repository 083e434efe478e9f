//! The type checker: checks the syntax tree and builds the HIR.
//!
//! It never stops at an error: a wrong type becomes `Ty::Error`, which is compatible with everything, so that one
//! mistake gives one message. Independent of SPIR-V and targets, except for the available extensions and features.

mod atomics;
mod attributes;
mod block;
mod builtin;
mod call;
mod cast;
mod constant;
mod convert;
mod decl;
mod declarator;
mod divergence;
mod enqueue;
mod expr;
mod facts;
mod fences;
mod flow;
mod function;
mod image;
mod init;
mod kernel;
mod mixed;
mod nesting;
mod overload;
mod placement;
mod pragmas;
mod printf;
mod restrictions;
mod scope;
mod spaces;
mod specifiers;
mod stmt;
mod switch;
mod tags;
mod uninitialized;
mod uses;
mod vector;

use kiln_builtins as builtins;
use kiln_session::{
    Options,
    diag::{Diagnostic, Sink},
    extensions::{self, Extensions},
};
use kiln_syntax::{Interner, Span, Symbol, ast};
use kiln_types::ty::{QualTy, RecordId, TyId, Types};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hir::{self, Function, FunctionId, Global, GlobalId, Image, Local, LocalId};

pub use facts::{Called, Callee, Facts, Meaning, Occurrence, Role, Typed};
pub(crate) use function::Body;
pub(crate) use scope::{Binding, Entity, Scopes, Sugar, Tag};
use uses::Uses;

/// The state of checking one program. The methods are in the files of this folder, one topic each.
pub(crate) struct Sema<'a> {
    pub(crate) options: &'a Options,
    pub(crate) interner: &'a mut Interner,
    pub(crate) sink: &'a mut Sink,
    /// Information for the language server, if requested.
    facts: Option<&'a mut Facts>,
    /// The extensions and features of the language version, target and options.
    pub(crate) extensions: Extensions,
    /// The extensions that pragmas have enabled so far.
    enabled: Extensions,
    /// Whether floating-point operations may be contracted here (`FP_CONTRACT`, OpenCL C 6.15.2.1).
    contracts: bool,
    /// Becomes `hir::Module::types`.
    pub(crate) types: Types,
    /// Globals and functions so far.
    pub(crate) module: hir::Module,
    pub(crate) scopes: Scopes,
    /// A cache of integer constants without diagnostics, by spelling: programs repeat a few constants often.
    plain_integers: FxHashMap<Symbol, (u64, TyId)>,
    /// A cache of resolved calls of built-in functions.
    chosen: builtins::Chosen,
    /// The constant values of read-only variables.
    pub(crate) known_objects: constant::KnownObjects,
    /// The blocks that are the values of variables.
    known_blocks: block::KnownBlocks,
    /// Undeclared names that were reported, and in which function.
    undeclared: FxHashSet<(Option<FunctionId>, String)>,
    /// The block literals being checked, outermost first.
    open_blocks: Vec<block::OpenBlock>,
    /// The number of block literals so far.
    blocks: usize,
    /// The function or block whose body is being checked.
    pub(crate) function: Option<FunctionId>,
    /// The state of that body.
    pub(crate) body: Body,
    /// Owns the variables of expressions outside functions. Such expressions are not constant, and so are never
    /// lowered.
    outside: Option<FunctionId>,
    /// Names whose first declaration was `static`.
    statics: FxHashSet<Meaning>,
    /// The tags whose definitions are being checked.
    open_tags: Vec<Tag>,
    /// Records with a member whose size on the host is unknown (OpenCL C 6.11.m).
    host_sized_records: FxHashSet<RecordId>,
    depths: nesting::Depths,
    /// Globals with a definition, not only an `extern` declaration.
    defined: FxHashSet<GlobalId>,
    /// The names that each function without errors uses.
    uses: FxHashMap<FunctionId, Uses>,
    /// Globals with an initializer.
    initialized: FxHashSet<GlobalId>,
}

/// The kind of source being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A program that becomes a module. It must define what its kernels use.
    Program,
    /// A part of a program that becomes a module. Other parts may define its external declarations.
    Part,
    /// A source that may be part of a program. Declarations without definitions are allowed.
    Source,
}

/// Type-checks a translation unit, and fills `facts` if given. The result is only meaningful if the sink has no
/// errors.
pub fn check(
    unit: ast::TranslationUnit,
    extent: Extent,
    options: &Options,
    interner: &mut Interner,
    sink: &mut Sink,
    facts: Option<&mut Facts>,
) -> hir::Module {
    let mut sema = Sema {
        options,
        interner,
        sink,
        facts,
        extensions: extensions::of(options),
        enabled: Extensions::NONE,
        contracts: true,
        types: Types::new(),
        module: hir::Module::default(),
        scopes: Scopes::default(),
        plain_integers: FxHashMap::default(),
        chosen: builtins::Chosen::default(),
        known_objects: constant::KnownObjects::default(),
        known_blocks: block::KnownBlocks::default(),
        undeclared: FxHashSet::default(),
        open_blocks: Vec::new(),
        blocks: 0,
        function: None,
        body: Body::none(),
        outside: None,
        statics: FxHashSet::default(),
        open_tags: Vec::new(),
        host_sized_records: FxHashSet::default(),
        depths: nesting::Depths::default(),
        defined: FxHashSet::default(),
        uses: FxHashMap::default(),
        initialized: FxHashSet::default(),
    };
    sema.unit(unit);
    sema.check_tentative_definitions();
    sema.define_declared_builtins();
    let uses = sema.check_whole_program(extent);
    sema.check_divergence(&uses);
    sema.check_mixed_access(&uses);
    std::mem::swap(&mut sema.module.types, &mut sema.types);
    sema.module
}

impl Sema<'_> {
    /// Reports a diagnostic.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
    }

    /// The text of a symbol.
    pub(crate) fn text(&self, name: Symbol) -> &str {
        self.interner.text(name)
    }

    /// The spelling of a type in messages.
    pub(crate) fn show(&self, ty: impl Into<QualTy>) -> String {
        self.types.show(ty, self.interner)
    }

    /// Looks up an ordinary name of the program, and marks it as used.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.scopes.lookup(name)
    }

    /// Creates a variable in the function being checked.
    pub(crate) fn local(&mut self, local: Local) -> LocalId {
        self.local_here(local).1
    }

    /// Like `local`, but also returns the function.
    fn local_here(&mut self, local: Local) -> (FunctionId, LocalId) {
        let span = local.span;
        let function = match self.function.or(self.outside) {
            Some(function) => function,
            None => {
                let name = self.interner.intern("");
                let outside = self.module.functions.push(Function::new(name, TyId::VOID, span));
                *self.outside.insert(outside)
            }
        };
        (function, self.module.functions[function].locals.push(local))
    }

    /// Creates an unnamed variable in the function being checked.
    pub(crate) fn temporary(&mut self, ty: QualTy, span: Span) -> LocalId {
        self.local(Local { name: None, ty: ty.in_space(AddressSpace::Private), align: None, span })
    }

    /// Creates an unnamed object with these bytes, as for a string literal.
    pub(crate) fn string_global(&mut self, bytes: Vec<u8>, ty: QualTy, span: Span) -> GlobalId {
        let init = Image { bytes, relocations: Vec::new() };
        let linkage = Linkage::Internal;
        self.module.globals.push(Global { name: None, ty, align: None, init: Some(init), linkage, span })
    }
}
