//! `base.name` and `base->name`: members of structs and unions (C99 6.5.2.3), components of vectors (OpenCL C 6.3.7).

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{QualTy, RecordId, Ty, TyId};

use super::{AtomicRead, Operand};
use crate::{
    foreign,
    hir::{Expr, Field, Lvalue, LvalueKind},
    sema::{Meaning, Role, Sema, call::called_name, suggest},
};

/// The components that select a dimension in CUDA and GLSL.
const DIMENSIONS: [&str; 3] = ["x", "y", "z"];

/// A member of a struct, possibly inside an anonymous member.
pub(crate) struct FoundMember {
    pub(crate) ty: QualTy,
    /// The offset from the start of the outermost struct.
    pub(crate) offset: u64,
    /// The span of its declaration.
    pub(crate) declared: Span,
}

impl Sema<'_> {
    /// `base.name`
    pub(super) fn member(&mut self, base: &ast::Expr, name: ast::Ident, span: Span) -> Operand {
        if self.is_foreign_dimension(base, name, span) {
            return Operand::Value(self.error_value(span));
        }
        match self.operand(base) {
            Operand::Lvalue(lvalue) => match *self.types.get(lvalue.ty.ty) {
                Ty::Error => Operand::Value(self.error_value(span)),
                Ty::Vector(element, count) => self.swizzle_lvalue(lvalue, element, count, name, span),
                Ty::Record(record) => self.member_of(lvalue, record, name, span),
                _ => self.no_members(lvalue.ty.ty, name, span),
            },
            Operand::Value(value) => match *self.types.get(value.ty) {
                Ty::Error => Operand::Value(value),
                Ty::Vector(element, count) => self.swizzle_value(value, element, count, name, span),
                Ty::Record(record) => {
                    let lvalue = temporary(value);
                    self.member_of(lvalue, record, name, span)
                }
                _ => self.no_members(value.ty, name, span),
            },
            operand @ (Operand::Function(..) | Operand::Builtin(_)) => {
                self.report_member_of_function(base, &operand, name, span);
                Operand::Value(self.error_value(span))
            }
        }
    }

    /// Reports a dimension of a variable of CUDA or GLSL, such as `threadIdx.x`. Returns whether it was one.
    fn is_foreign_dimension(&mut self, base: &ast::Expr, name: ast::Ident, span: Span) -> bool {
        let ast::ExprKind::Name(symbol) = base.kind else { return false };
        let (variable, component) = (self.text(symbol), self.text(name.node));
        let Some(function) = foreign::value_for(variable).and_then(|meant| meant.strip_suffix("(0)")) else {
            return false;
        };
        let Some(dimension) = DIMENSIONS.iter().position(|known| *known == component) else { return false };
        if self.scopes.lookup(symbol).is_some() {
            return false;
        }
        let meant = format!("{function}({dimension})");
        let message = format!("`{variable}` is not declared");
        self.report(
            Diagnostic::new(Code::UndeclaredName, base.span, message)
                .help(format!("write `{meant}`"))
                .replace(span, meant),
        );
        true
    }

    /// Reports a member of a function, such as `get_global_id.x`.
    fn report_member_of_function(
        &mut self,
        base: &ast::Expr,
        operand: &Operand,
        name: ast::Ident,
        span: Span,
    ) {
        let function = called_name(base).map(|symbol| self.text(symbol).to_owned());
        let dimension = DIMENSIONS.iter().position(|component| *component == self.text(name.node));
        match (function, dimension) {
            (Some(function), Some(dimension)) if suggest::takes_dimension(&function) => {
                let meant = format!("{function}({dimension})");
                self.report(
                    Diagnostic::new(Code::FunctionPointer, span, format!("`{function}` is a function"))
                        .help(format!("write `{meant}`"))
                        .replace(span, meant),
                );
            }
            _ => self.function_as_value(operand.span()),
        }
    }

    /// `base->name`
    pub(super) fn arrow(&mut self, base: &ast::Expr, name: ast::Ident, span: Span) -> Operand {
        let base = self.operand(base);
        let pointer = self.read(base, AtomicRead::Operator);
        match *self.types.get(pointer.ty) {
            Ty::Error => Operand::Value(pointer),
            Ty::Pointer(_) => {
                let base_span = pointer.span;
                let Some(lvalue) = self.deref_value(pointer, span, base_span) else {
                    return Operand::Value(self.error_value(span));
                };
                match *self.types.get(lvalue.ty.ty) {
                    Ty::Error => Operand::Value(self.error_value(span)),
                    Ty::Record(record) => self.member_of(lvalue, record, name, span),
                    Ty::Vector(element, count) => self.swizzle_lvalue(lvalue, element, count, name, span),
                    _ => self.no_members(lvalue.ty.ty, name, span),
                }
            }
            _ => {
                let shown = self.show(pointer.ty);
                let arrow = Span::new(pointer.span.hi, name.span.lo);
                let mut diagnostic =
                    Diagnostic::new(Code::NotAPointer, span, format!("`->` takes a pointer, not `{shown}`"))
                        .also(pointer.span, format!("`{shown}`"));
                if matches!(self.types.get(pointer.ty), Ty::Record(_) | Ty::Vector(..)) {
                    diagnostic = diagnostic.help("write `.`").fix(arrow, "replace `->` by `.`", ".");
                }
                self.report(diagnostic);
                Operand::Value(self.error_value(span))
            }
        }
    }

    fn member_of(&mut self, base: Lvalue, record: RecordId, name: ast::Ident, span: Span) -> Operand {
        if self.types.records[record].fields.is_none() {
            let shown = self.show(base.ty.ty);
            self.report(
                Diagnostic::new(Code::IncompleteType, span, format!("`{shown}` is declared but not defined"))
                    .also(self.types.records[record].span, "declared here")
                    .help("define its members before they are used"),
            );
            return Operand::Value(self.error_value(span));
        }
        let Some(found) = self.find_member(record, name.node) else {
            return self.unknown_member(base.ty.ty, record, name, span);
        };
        self.note(name.span, Meaning::Member(found.declared), Role::Use);
        let mut ty = found.ty;
        ty.quals.is_const |= base.ty.quals.is_const;
        ty.quals.is_volatile |= base.ty.quals.is_volatile;
        ty.quals.space = base.ty.quals.space;
        Operand::Lvalue(Lvalue {
            kind: LvalueKind::Field(Box::new(Field { base, offset: found.offset })),
            ty,
            span,
        })
    }

    /// The member with this name, including those of anonymous structs and unions (C11 6.7.2.1).
    pub(crate) fn find_member(&self, record: RecordId, name: Symbol) -> Option<FoundMember> {
        let fields = self.types.records[record].fields.as_ref()?;
        for field in fields {
            match field.name {
                Some(field_name) if field_name == name => {
                    return Some(FoundMember { ty: field.ty, offset: field.offset, declared: field.span });
                }
                Some(_) => {}
                None => {
                    if let Ty::Record(inner) = *self.types.get(field.ty.ty)
                        && let Some(found) = self.find_member(inner, name)
                    {
                        return Some(FoundMember { offset: field.offset + found.offset, ..found });
                    }
                }
            }
        }
        None
    }

    pub(super) fn unknown_member(
        &mut self,
        ty: TyId,
        record: RecordId,
        name: ast::Ident,
        span: Span,
    ) -> Operand {
        let shown = self.show(ty);
        let text = self.text(name.node).to_owned();
        let mut names = Vec::new();
        self.member_names(record, &mut names);
        let known: Vec<&str> = names.iter().map(|name| self.text(*name)).collect();
        let near = kiln_session::diag::closest(&text, known);
        let mut diagnostic =
            Diagnostic::new(Code::UnknownMember, name.span, format!("`{shown}` has no member `{text}`"));
        if let Some(near) = near {
            diagnostic = diagnostic.help(format!("there is a member `{near}`")).replace(name.span, near);
        }
        if self.types.records[record].span != Span::default() {
            diagnostic = diagnostic.also(self.types.records[record].span, "defined here");
        }
        self.report(diagnostic);
        Operand::Value(self.error_value(span))
    }

    fn member_names(&self, record: RecordId, names: &mut Vec<Symbol>) {
        for field in self.types.records[record].fields.iter().flatten() {
            match (field.name, self.types.get(field.ty.ty)) {
                (Some(name), _) => names.push(name),
                (None, Ty::Record(inner)) => self.member_names(*inner, names),
                _ => {}
            }
        }
    }

    /// Whether a name can be a component of a vector, or several.
    fn is_component_name(&self, text: &str) -> bool {
        let is_letters = |letters: &str| text.chars().all(|letter| letters.contains(letter));
        matches!(text.len(), 1..=4 | 8 | 16) && (is_letters("xyzw") || is_letters("rgba"))
    }

    pub(super) fn no_members(&mut self, ty: TyId, name: ast::Ident, span: Span) -> Operand {
        let shown = self.show(ty);
        let text = self.text(name.node).to_owned();
        let mut diagnostic = Diagnostic::new(
            Code::UnknownMember,
            name.span,
            format!("`{shown}` is not a struct or union, so it has no member `{text}`"),
        );
        match *self.types.get(ty) {
            Ty::Pointer(to) if matches!(self.types.get(to.ty), Ty::Record(_)) => {
                let dot = Span::new(name.span.lo.saturating_sub(1), name.span.lo);
                diagnostic = diagnostic.help("write `->`").fix(dot, "replace `.` by `->`", "->");
            }
            Ty::Pointer(to) if matches!(self.types.get(to.ty), Ty::Vector(..)) => {
                diagnostic = diagnostic.help("dereference the pointer first, as in `(*p).x` or `p[0].x`");
                // `span` is the whole expression; its base ends before the dot.
                let base = Span::new(span.lo, name.span.lo.saturating_sub(1));
                diagnostic = diagnostic.rewrite(
                    base,
                    "dereference the pointer",
                    [Piece::Text("(*"), Piece::Source(base), Piece::Text(")")],
                );
            }
            Ty::Pointer(_) if matches!(text.as_str(), "length" | "size" | "count") => {
                diagnostic = diagnostic.help("pass the number of elements as an argument of the kernel");
            }
            Ty::Scalar(_) if self.is_component_name(&text) => {
                diagnostic = match text.len() {
                    1 => diagnostic.help("a scalar has no components: use it without the `.`").fix(
                        Span::new(name.span.lo.saturating_sub(1), name.span.hi),
                        format!("remove `.{text}`"),
                        "",
                    ),
                    count => diagnostic.help(format!(
                        "a scalar has no components; to repeat it in a vector, write `({shown}{count})(…)`"
                    )),
                };
            }
            Ty::Atomic(_) | Ty::AtomicFlag => {
                diagnostic = diagnostic
                    .help("call an atomic function, as in `atomic_fetch_add(&object, 1)`")
                    .note("OpenCL C 6.15.12.7: atomic operations are functions");
            }
            _ => {}
        }
        self.report(diagnostic);
        Operand::Value(self.error_value(span))
    }
}

/// A struct value as an lvalue, so that its members can be read.
fn temporary(value: Expr) -> Lvalue {
    let (ty, span) = (value.ty.plain(), value.span);
    Lvalue { kind: LvalueKind::Temporary(Box::new(value)), ty, span }
}
