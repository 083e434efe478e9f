//! The type checker: syntax tree in, typed tree out, everything wrong reported on the way.
//!
//! It never fails: what is wrong becomes `Ty::Error`, which goes with everything, so that one mistake gives one
//! message. It knows nothing of SPIR-V or of targets, but for which extensions and features are there.

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

use kiln_syntax::{Interner, Span, Symbol, ast};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    builtins,
    diag::{Diagnostic, Sink},
    extensions::{self, Extensions},
    hir::{self, Function, FunctionId, Global, GlobalId, Image, Local, LocalId},
    opencl::{AddressSpace, Linkage},
    session::Options,
    ty::{QualTy, RecordId, TyId, Types},
};

pub use facts::{Called, Callee, Facts, Meaning, Occurrence, Role, Typed};
pub(crate) use function::Body;
pub(crate) use scope::{Binding, Entity, Scopes, Sugar, Tag};
use uses::Uses;

/// The state of checking one program. The methods stand in the files of this folder, one idea each.
pub(crate) struct Sema<'a> {
    pub(crate) options: &'a Options,
    pub(crate) interner: &'a mut Interner,
    pub(crate) sink: &'a mut Sink,
    /// What is found out on the way, if somebody wants to know.
    facts: Option<&'a mut Facts>,
    /// What the language version, the target and the options give.
    pub(crate) extensions: Extensions,
    /// What pragmas have switched on so far.
    enabled: Extensions,
    /// Whether floating-point operations may be contracted here: the state of `FP_CONTRACT` (OpenCL C 6.15.2.1).
    contracts: bool,
    /// Becomes `hir::Module::types`.
    pub(crate) types: Types,
    /// Globals and functions so far.
    pub(crate) module: hir::Module,
    pub(crate) scopes: Scopes,
    /// What the integer constants of which there is nothing to say are worth, by their spelling: there are few, over and over.
    plain_integers: FxHashMap<Symbol, (u64, TyId)>,
    /// Which built-in function calls have meant so far.
    chosen: builtins::Chosen,
    /// The values of variables that keep their initialiser's.
    pub(crate) known_objects: constant::KnownObjects,
    /// The blocks that variables hold.
    known_blocks: block::KnownBlocks,
    /// Names that were reported as not declared, and where.
    undeclared: FxHashSet<(Option<FunctionId>, String)>,
    /// The block literals being checked, outermost first.
    open_blocks: Vec<block::OpenBlock>,
    /// How many block literals there are so far.
    blocks: usize,
    /// The function or block whose body is being checked.
    pub(crate) function: Option<FunctionId>,
    /// What is known of that body.
    pub(crate) body: Body,
    /// Owns the variables that expressions outside functions ask for; such expressions are not constant, and so
    /// are never lowered.
    outside: Option<FunctionId>,
    /// What was first declared `static`.
    statics: FxHashSet<Meaning>,
    /// What is being defined: whose braces are open.
    open_tags: Vec<Tag>,
    /// Records with a member whose size the host does not know (OpenCL C 6.11.m).
    host_sized_records: FxHashSet<RecordId>,
    depths: nesting::Depths,
    /// Globals that are defined, not only declared `extern`.
    defined: FxHashSet<GlobalId>,
    /// Of functions without mistakes, what they use.
    uses: FxHashMap<FunctionId, Uses>,
    /// Globals that have an initialiser.
    initialized: FxHashSet<GlobalId>,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A program that becomes a module: what its kernels use is defined in it.
    Program,
    /// A part of a program that becomes a module: what it declares with external linkage may be defined in others.
    Part,
    /// A source that may be a part of a program: what it only declares may be defined elsewhere.
    Source,
}

/// Checks a program, and notes the facts for who wants them. The result is only meaningful while the sink has no errors.
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

    /// The text of a name.
    pub(crate) fn text(&self, name: Symbol) -> &str {
        self.interner.text(name)
    }

    /// A type as messages write it.
    pub(crate) fn show(&self, ty: impl Into<QualTy>) -> String {
        self.types.show(ty, self.interner)
    }

    /// What an ordinary name of the program means here; counts as a use of it.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.scopes.lookup(name)
    }

    /// A new variable of the function being checked.
    pub(crate) fn local(&mut self, local: Local) -> LocalId {
        self.local_here(local).1
    }

    /// The same, and whose it is.
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

    /// A hidden variable of the function being checked.
    pub(crate) fn temporary(&mut self, ty: QualTy, span: Span) -> LocalId {
        self.local(Local { name: None, ty: ty.in_space(AddressSpace::Private), align: None, span })
    }

    /// An object without a name that holds these bytes, as a string literal does.
    pub(crate) fn string_global(&mut self, bytes: Vec<u8>, ty: QualTy, span: Span) -> GlobalId {
        let init = Image { bytes, relocations: Vec::new() };
        let linkage = Linkage::Internal;
        self.module.globals.push(Global { name: None, ty, align: None, init: Some(init), linkage, span })
    }
}
