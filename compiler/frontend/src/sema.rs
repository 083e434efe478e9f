//! The type checker: checks the syntax tree and builds the HIR.
//!
//! It never stops at an error: a wrong type becomes `Ty::Error`, which is compatible with everything, so that one
//! mistake gives one message. Independent of SPIR-V and targets, except for the available extensions and features.

mod atomic_object;
mod atomics;
mod attributes;
mod block;
mod builtin;
mod builtin_mismatch;
mod call;
mod cast;
mod constant;
mod conversion_name;
mod convert;
mod decl;
mod declarations;
mod declarator;
mod enqueue;
mod expr;
mod facts;
mod fences;
mod flow;
mod function;
mod image;
mod init;
mod kernel;
mod nesting;
mod overflow;
mod overload;
mod placement;
mod pragmas;
mod prefetch;
mod printf;
mod program;
mod scope;
mod spaces;
mod specifiers;
mod stmt;
mod suggest;
mod switch;
mod tags;
mod vector;

use kiln_builtins as builtins;
use kiln_session::{
    Options,
    diag::{Diagnostic, Sink},
    extensions::{self, Extensions},
    source::SourceMap,
};
use kiln_syntax::{Interner, Span, Symbol, ast};
use kiln_types::ty::{QualTy, TyId, Types};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hir::{self, Function, FunctionId, Global, GlobalId, Image, Local, LocalId};

use block::Blocks;
use constant::Constants;
use declarations::Declarations;
pub use facts::{Called, Callee, Facts, Meaning, Occurrence, Role, Typed};
pub(crate) use function::Body;
use pragmas::Pragmas;
use program::Uses;
pub(crate) use scope::{Binding, Entity, Scopes, Tag, TypedefProperties};
use tags::Tags;

/// The state of checking one program. The methods are in the files of this folder, one topic each; the types of its
/// parts are next to the methods that own them.
pub(crate) struct Sema<'a> {
    pub(crate) options: &'a Options,
    /// Only for warnings that depend on the layout of the source.
    sources: &'a SourceMap,
    pub(crate) interner: &'a mut Interner,
    pub(crate) sink: &'a mut Sink,
    /// Information for the language server, if requested.
    facts: Option<&'a mut Facts>,
    /// The list that is being evaluated, if it is probably a vector literal without its type.
    untyped_literal: Option<expr::UntypedLiteral>,
    /// The extensions and features of the language version, target and options.
    pub(crate) extensions: Extensions,
    /// Becomes `hir::Module::types`.
    pub(crate) types: Types,
    /// Globals and functions so far.
    pub(crate) module: hir::Module,
    pub(crate) scopes: Scopes,
    pragmas: Pragmas,
    constants: Constants,
    /// A cache of resolved calls of built-in functions.
    overload_cache: builtins::OverloadCache,
    /// The integer literals that are not decimal: they denote bits, as in `char c = 0xff`.
    bit_patterns: FxHashSet<Span>,
    blocks: Blocks,
    tags: Tags,
    depths: nesting::Depths,
    declarations: Declarations,
    /// Undeclared names that were reported, and in which function.
    undeclared: FxHashSet<(Option<FunctionId>, String)>,
    /// The state of the body being checked.
    pub(crate) body: Body,
    /// Owns the variables of expressions outside functions. Such expressions are not constant, and so are never
    /// lowered.
    outside: Option<FunctionId>,
    /// The uses of each function without errors.
    uses: FxHashMap<FunctionId, Uses>,
}

/// The kind of translation unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
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
    unit_kind: UnitKind,
    options: &Options,
    sources: &SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    facts: Option<&mut Facts>,
) -> hir::Module {
    let mut sema = Sema {
        options,
        sources,
        interner,
        sink,
        facts,
        untyped_literal: None,
        extensions: extensions::enabled(options),
        types: Types::new(),
        module: hir::Module::default(),
        scopes: Scopes::default(),
        pragmas: Pragmas::default(),
        constants: Constants::default(),
        overload_cache: builtins::OverloadCache::default(),
        bit_patterns: FxHashSet::default(),
        blocks: Blocks::default(),
        tags: Tags::default(),
        depths: nesting::Depths::default(),
        declarations: Declarations::default(),
        undeclared: FxHashSet::default(),
        body: Body::none(),
        outside: None,
        uses: FxHashMap::default(),
    };
    sema.unit(unit);
    sema.check_tentative_definitions();
    sema.define_declared_builtins();
    let Sema { mut module, types, declarations, uses, .. } = sema;
    module.types = types;
    program::check(&mut module, uses, &declarations.into_defined(), unit_kind, interner, sink);
    module
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
        let function = match self.body.function.or(self.outside) {
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
