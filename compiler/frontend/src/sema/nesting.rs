//! Limits the nesting of types, so that recursive functions on them cannot overflow the stack. C99 5.2.4.1 requires
//! 12 derivations and 63 levels of structures.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::{Field, QualTy, RecordId, Ty, TyId, Types};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Sema;

/// The maximum nesting of derivations, and of records.
const LIMIT: u32 = 256;

/// The nesting depths of the types seen so far.
#[derive(Default)]
pub(super) struct Depths {
    /// Levels of pointers, arrays and functions.
    derivations: FxHashMap<TyId, u32>,
    /// Levels of records in records.
    records: FxHashMap<RecordId, u32>,
}

impl Depths {
    /// The number of nested pointers, arrays and functions. The depths of the operands are known, so this looks only
    /// one level down.
    fn derivation_depth(&mut self, types: &Types, ty: TyId) -> u32 {
        if let Some(depth) = self.derivations.get(&ty) {
            return *depth;
        }
        let mut inner = SmallVec::<[TyId; 4]>::new();
        match types.get(ty) {
            Ty::Pointer(to) | Ty::Array(to, _) => inner.push(to.ty),
            Ty::Function(function) | Ty::Block(function) => {
                inner.extend(function.parameters.iter().chain([&function.result]).map(|ty| ty.ty));
            }
            _ => return 0,
        }
        let depth = inner.into_iter().map(|ty| self.derivation_depth(types, ty)).max().unwrap_or(0) + 1;
        self.derivations.insert(ty, depth);
        depth
    }
}

impl Sema<'_> {
    /// Returns a derived type, or the error type if it nests too deeply.
    pub(super) fn bounded(&mut self, ty: QualTy, span: Span) -> QualTy {
        if self.depths.derivation_depth(&self.types, ty.ty) <= LIMIT {
            return ty;
        }
        self.report_nesting(span);
        TyId::ERROR.plain()
    }

    /// Records the depth of a record from its members. `false` if it nests too deeply.
    pub(super) fn note_record(&mut self, id: RecordId, fields: &[Field], span: Span) -> bool {
        let depth_of = |field: &Field| match self.types.get(self.element_type(field.ty.ty)) {
            Ty::Record(inner) => self.depths.records.get(inner).copied().unwrap_or(0) + 1,
            _ => 0,
        };
        let depth = fields.iter().map(depth_of).max().unwrap_or(0);
        if depth > LIMIT {
            self.report_nesting(span);
            return false;
        }
        self.depths.records.insert(id, depth);
        true
    }

    fn report_nesting(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::NestingDepth, span, "this type is nested too deeply")
                .note(format!("C99 5.2.4.1: a compiler has limits; here it is {LIMIT} levels")),
        );
    }
}
