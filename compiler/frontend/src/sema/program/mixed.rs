//! Warns about objects that a function accesses both atomically and plainly without a barrier in between.
//!
//! The analysis is syntactic: accesses through the same pointer or variable refer to the same object, unless they use
//! different members or different constant elements. It reports likely races and may miss others.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use super::Program;
use crate::hir::{Const, Expr, ExprKind, Function, GlobalId, LocalId, Lvalue, LvalueKind, visit};

/// The base of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Root {
    Local(LocalId),
    Global(GlobalId),
}

/// The accessed object, identified by its name.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Object {
    root: Root,
    /// The offsets of the members in the access path.
    members: Vec<u64>,
}

/// An access.
struct Access {
    object: Object,
    /// The element index, if constant.
    element: Option<u64>,
    span: Span,
}

impl Program<'_> {
    /// Warns about plain accesses to objects of atomic operations (OpenCL API 3.3.6).
    pub(super) fn check_mixed_access(&mut self) {
        if !self.sink.is_enabled(Code::MixedAccess) {
            return;
        }
        let functions = self.uses.entries().filter(|(_, uses)| uses.atomics);
        let functions = functions.map(|(id, _)| &self.module.functions[id]);
        let found: Vec<_> = functions.flat_map(|function| self.mixed_accesses(function)).collect();
        for (plain, atomic) in found {
            self.report(
                Diagnostic::new(
                    Code::MixedAccess,
                    plain,
                    "this plain access conflicts with an atomic operation in the same function",
                )
                .also(atomic, "the atomic operation")
                .help("use an atomic operation here, or put a barrier between them")
                .note("OpenCL API 3.3.6: a plain access that conflicts with an atomic one is a data race"),
            );
        }
    }

    /// The first plain access to each object that is also accessed atomically, with the atomic operation.
    fn mixed_accesses(&self, function: &Function) -> Vec<(Span, Span)> {
        let body = function.body.as_deref().unwrap_or_default();
        let (mut atomics, mut plain, mut has_barrier) = (Vec::new(), Vec::new(), false);
        let mut access = |lvalue: &Lvalue| {
            if self.is_shared(lvalue) {
                plain.extend(access_to(lvalue, lvalue.span));
            }
        };
        visit::expressions(body, &mut |expr| match &expr.kind {
            ExprKind::Atomic(atomic) => atomics.extend(access_through(&atomic.object, expr.span)),
            ExprKind::Barrier(_) | ExprKind::Fence(_) => has_barrier = true,
            ExprKind::Load(lvalue) => access(lvalue),
            ExprKind::Update(update) => access(&update.lvalue),
            ExprKind::Assign(assign) => access(&assign.lvalue),
            _ => {}
        });
        if has_barrier || atomics.is_empty() {
            return Vec::new();
        }
        let mut found: FxHashMap<Object, (Span, Span)> = FxHashMap::default();
        for access in plain {
            let differs = |atomic: &Access| {
                atomic.element.zip(access.element).is_some_and(|(atomic, plain)| atomic != plain)
            };
            let atomic = atomics.iter().find(|atomic| atomic.object == access.object && !differs(atomic));
            if let Some(atomic) = atomic {
                found.entry(access.object).or_insert((access.span, atomic.span));
            }
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|(plain, _)| plain.lo);
        found
    }

    /// Whether the lvalue is an integer or float that other work-items can access. Objects of atomic types have their
    /// own warning.
    fn is_shared(&self, lvalue: &Lvalue) -> bool {
        matches!(self.module.types.get(lvalue.ty.ty), Ty::Scalar(_))
            && !matches!(lvalue.ty.quals.space, None | Some(AddressSpace::Private | AddressSpace::Constant))
    }
}

/// The object that a pointer refers to.
fn access_through(pointer: &Expr, span: Span) -> Option<Access> {
    match &pointer.kind {
        ExprKind::PointerCast(inner) => access_through(inner, span),
        ExprKind::AddressOf(lvalue) => access_to(lvalue, span),
        ExprKind::Offset(offset) => {
            let inner = access_through(&offset.pointer, span)?;
            let at_start = inner.element == Some(0);
            Some(Access { element: constant(&offset.index).filter(|_| at_start), ..inner })
        }
        ExprKind::Load(lvalue) => match lvalue.kind {
            LvalueKind::Local(local) => Some(named(Root::Local(local), span)),
            LvalueKind::Global(global) => Some(named(Root::Global(global), span)),
            _ => None,
        },
        _ => None,
    }
}

fn access_to(lvalue: &Lvalue, span: Span) -> Option<Access> {
    match &lvalue.kind {
        LvalueKind::Local(local) => Some(named(Root::Local(*local), span)),
        LvalueKind::Global(global) => Some(named(Root::Global(*global), span)),
        LvalueKind::Deref(pointer) => access_through(pointer, span),
        LvalueKind::Element(element) => {
            let inner = access_to(&element.base, span)?;
            let at_start = inner.element == Some(0);
            Some(Access { element: constant(&element.index).filter(|_| at_start), ..inner })
        }
        LvalueKind::Field(field) => {
            let mut inner = access_to(&field.base, span)?;
            inner.object.members.push(field.offset);
            Some(inner)
        }
        LvalueKind::Swizzle(_) | LvalueKind::Temporary(_) => None,
    }
}

fn named(root: Root, span: Span) -> Access {
    Access { object: Object { root, members: Vec::new() }, element: Some(0), span }
}

fn constant(index: &Expr) -> Option<u64> {
    match &index.kind {
        ExprKind::Const(Const::Int(bits)) => Some(*bits),
        ExprKind::Convert(_, inner) => constant(inner),
        _ => None,
    }
}
