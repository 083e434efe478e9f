//! Vectors: literals (OpenCL C 6.3.6), components and swizzles (6.3.7).

mod swizzle;

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{QualTy, Scalar, Ty, TyId};

use super::{Sema, convert::conversion, expr::Operand};
use crate::hir::{Components, Expr, ExprKind, Lvalue, LvalueKind, Swizzle};

impl Sema<'_> {
    /// `(type)(a, b, …)`: the component counts of the operands must add up to the type's (OpenCL C 6.3.6).
    pub(crate) fn vector_literal(
        &mut self,
        ty: TyId,
        element: Scalar,
        count: u8,
        list: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mut parts = Vec::new();
        self.literal_parts(list, &mut parts);
        if parts.iter().any(|part| part.ty == TyId::ERROR) {
            return self.error_value(span);
        }
        let mut total = 0usize;
        let mut converted = Vec::with_capacity(parts.len());
        for part in parts {
            match self.types.components(part.ty) {
                Some((_, 1)) => {
                    total += 1;
                    converted.push(self.convert(part, TyId::scalar(element)));
                }
                Some((given, components)) if given == element => {
                    total += usize::from(components);
                    converted.push(part);
                }
                found => {
                    let (part_shown, shown) = (self.show(part.ty), self.show(ty));
                    let mut diagnostic = Diagnostic::new(
                        Code::VectorLiteral,
                        part.span,
                        format!("`{part_shown}` cannot be part of a literal of type `{shown}`"),
                    )
                    .note("OpenCL C 6.3.6: vector operands have the element type of the literal");
                    if let Some((_, components)) = found {
                        let call = format!("convert_{}{components}(", element.spelling());
                        diagnostic = diagnostic.help(format!("convert it with `{call}…)`")).rewrite(
                            part.span,
                            format!("write `{call}…)`"),
                            conversion(&call, part.span),
                        );
                    }
                    self.report(diagnostic);
                    return self.error_value(span);
                }
            }
        }
        if total != usize::from(count) {
            let shown = self.show(ty);
            self.report(
                Diagnostic::new(
                    Code::VectorLiteral,
                    span,
                    format!("a literal of type `{shown}` has {count} components, not {total}"),
                )
                .help(if total < usize::from(count) { "add the missing components" } else { "remove components" })
                .note("OpenCL C 6.3.6: the operands have as many components as the type, or there is one scalar"),
            );
            return self.error_value(span);
        }
        Expr { kind: ExprKind::Vector(converted.into()), ty, span }
    }

    /// Collects the operands of a literal, which the parser reads as left-associative comma operators.
    fn literal_parts(&mut self, list: &ast::Expr, parts: &mut Vec<Expr>) {
        let mut written = Vec::new();
        let mut rest = list;
        while let ast::ExprKind::Comma(comma) = &rest.kind {
            written.push(&comma.right);
            rest = &comma.left;
        }
        written.push(rest);
        for expr in written.into_iter().rev() {
            let value = self.operator_value(expr);
            parts.push(value);
        }
    }

    /// `lvalue.xyzw`
    pub(crate) fn swizzle_lvalue(
        &mut self,
        base: Lvalue,
        element: Scalar,
        count: u8,
        name: ast::Ident,
        span: Span,
    ) -> Operand {
        let Some(components) = self.components_named(base.ty.ty, count, name) else {
            return Operand::Value(self.error_value(span));
        };
        let ty = QualTy { ty: self.types.vector(element, components.len() as u8), quals: base.ty.quals };
        // A swizzle of a swizzle selects components of the same vector.
        let swizzle = match base.kind {
            LvalueKind::Swizzle(mut outer) => {
                outer.components = composed(&outer.components, &components);
                outer
            }
            _ => Box::new(Swizzle { base, components }),
        };
        Operand::Lvalue(Lvalue { kind: LvalueKind::Swizzle(swizzle), ty, span })
    }

    /// `value.xyzw`
    pub(crate) fn swizzle_value(
        &mut self,
        base: Expr,
        element: Scalar,
        count: u8,
        name: ast::Ident,
        span: Span,
    ) -> Operand {
        let Some(components) = self.components_named(base.ty, count, name) else {
            return Operand::Value(self.error_value(span));
        };
        let ty = self.types.vector(element, components.len() as u8);
        let components = readable(&components, count);
        Operand::Value(Expr { kind: ExprKind::Swizzle(Box::new(Swizzle { base, components })), ty, span })
    }

    /// Prepares an lvalue for loading: the undefined fourth component of a 3-component vector is replaced by another.
    pub(crate) fn make_readable(&self, lvalue: &mut Lvalue) {
        if let LvalueKind::Swizzle(swizzle) = &mut lvalue.kind
            && let Ty::Vector(_, count) = *self.types.get(swizzle.base.ty.ty)
        {
            swizzle.components = readable(&swizzle.components, count);
        }
    }

    /// Prepares an lvalue for storing: omits the fourth component of a 3-component vector, and returns which
    /// components of the value are stored. `None` if the lvalue needs no change.
    pub(crate) fn writable_part(&mut self, lvalue: &Lvalue) -> Option<(Lvalue, Components)> {
        let LvalueKind::Swizzle(swizzle) = &lvalue.kind else { return None };
        let Swizzle { base, components } = &**swizzle;
        let Ty::Vector(element, count) = *self.types.get(base.ty.ty) else { return None };
        let (picks, kept): (Components, Components) =
            (0..).zip(components.iter().copied()).filter(|(_, component)| *component < count).unzip();
        if kept.len() == components.len() || kept.is_empty() {
            return None;
        }
        let ty = QualTy { ty: self.types.vector(element, kept.len() as u8), quals: lvalue.ty.quals };
        let kept = Swizzle { base: base.clone(), components: kept };
        Some((Lvalue { kind: LvalueKind::Swizzle(Box::new(kept)), ty, span: lvalue.span }, picks))
    }

    /// Selects components of a value.
    pub(crate) fn picked(&mut self, base: Expr, components: Components) -> Expr {
        let Ty::Vector(element, _) = *self.types.get(base.ty) else { return base };
        let (ty, span) = (self.types.vector(element, components.len() as u8), base.span);
        Expr { kind: ExprKind::Swizzle(Box::new(Swizzle { base, components })), ty, span }
    }

    /// The components that a word after `.` names.
    fn components_named(&mut self, ty: TyId, count: u8, name: ast::Ident) -> Option<Components> {
        let named = match swizzle::parse(self.text(name.node), count) {
            Ok(named) => named,
            Err(problem) => {
                let (text, shown) = (self.text(name.node).to_owned(), self.show(ty));
                self.report_swizzle(&text, &shown, count, problem, name.span);
                return None;
            }
        };
        if named.is_rgba && self.options.std < kiln_vocabulary::opencl::LanguageVersion::Cl30 {
            let letters = self.text(name.node).chars();
            let xyzw: String = letters
                .map(|letter| match letter {
                    'r' => 'x',
                    'g' => 'y',
                    'b' => 'z',
                    _ => 'w',
                })
                .collect();
            self.report(
                Diagnostic::new(
                    Code::RgbaComponents,
                    name.span,
                    "the components r, g, b and a are new in OpenCL C 3.0",
                )
                .help("write x, y, z and w, or choose `-cl-std=CL3.0`")
                .fix(name.span, format!("write `{xyzw}`"), xyzw)
                .note("OpenCL C 6.3.7"),
            );
        }
        Some(named.components)
    }

    fn report_swizzle(&mut self, text: &str, shown: &str, count: u8, problem: swizzle::Problem, span: Span) {
        use swizzle::Problem;
        let diagnostic = match problem {
            Problem::Unknown => {
                let diagnostic = Diagnostic::new(
                    Code::VectorComponent,
                    span,
                    format!("`{text}` names no components of `{shown}`"),
                )
                .note("OpenCL C 6.3.7: components are named by xyzw, by `s` and hexadecimal digits, or by lo, hi, even and odd");
                if text.chars().all(|c| c.is_ascii_hexdigit()) {
                    diagnostic.help(format!("write `s{text}`")).fix(span, "add the `s`", format!("s{text}"))
                } else {
                    diagnostic
                }
            }
            Problem::OutOfRange(component) => Diagnostic::new(
                Code::VectorComponent,
                span,
                format!("`{shown}` has {count} components and no `{component}`"),
            )
            .note("OpenCL C 6.3.7: a component must exist"),
            Problem::Count(named) => Diagnostic::new(
                Code::VectorComponent,
                span,
                format!("`{text}` names {named} components, and a vector cannot have {named}"),
            )
            .note("OpenCL C 6.3.2: vectors have 2, 3, 4, 8 or 16 components"),
            Problem::Mixed => Diagnostic::new(
                Code::VectorComponent,
                span,
                format!("`{text}` mixes two ways to name components"),
            )
            .note("OpenCL C 6.3.7: xyzw, rgba and numbers are not mixed"),
        };
        self.report(diagnostic);
    }

    /// Whether the type is a vector.
    pub(crate) fn is_vector(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Vector(..))
    }
}

/// Composes two component selections.
fn composed(outer: &[u8], picks: &[u8]) -> Components {
    picks.iter().map(|pick| outer[usize::from(*pick)]).collect()
}

/// Replaces each component that does not exist with the first one.
fn readable(components: &[u8], count: u8) -> Components {
    components.iter().map(|component| if *component < count { *component } else { 0 }).collect()
}
