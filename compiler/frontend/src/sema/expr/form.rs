//! Builtins of clang and GNU C that look like calls, but whose arguments are types, constants or unevaluated.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span,
    ast::{self, Argument, Form, FormExpr},
};
use kiln_types::ty::{Ty, TyId};
use smallvec::smallvec;

use super::Operand;
use crate::{
    hir::{Assign, Conversion, Expr, ExprKind, Swizzle},
    sema::Sema,
};

impl Sema<'_> {
    /// Checks a form.
    pub(super) fn form(&mut self, node: &FormExpr, span: Span) -> Operand {
        let value = match (node.form.node, node.arguments) {
            (
                Form::ChooseExpr,
                [Argument::Expr(condition), Argument::Expr(then), Argument::Expr(otherwise)],
            ) => {
                return self.choose(condition, then, otherwise, span);
            }
            (Form::BitCast, [Argument::Type(ty), Argument::Expr(value)]) => self.astype_expr(value, ty, span),
            (Form::ConvertVector, [Argument::Expr(value), Argument::Type(ty)]) => {
                self.convert_vector(value, ty, span)
            }
            (Form::TypesCompatible, [Argument::Type(left), Argument::Type(right)]) => {
                let (left, right) = (self.type_name(left).ty, self.type_name(right).ty);
                self.int(i64::from(left == right), span)
            }
            (Form::ConstantP, [Argument::Expr(value)]) => {
                let value = self.value(value);
                self.int(i64::from(self.constant(&value).is_some()), span)
            }
            (Form::ShuffleVector, [Argument::Expr(left), Argument::Expr(right), picks @ ..])
                if !picks.is_empty() =>
            {
                self.shuffle_vector(left, right, picks, span)
            }
            (form, _) => {
                self.report(Diagnostic::new(
                    Code::ArgumentType,
                    node.form.span,
                    format!("`{}` takes {}", form.spelling(), required_arguments(form)),
                ));
                self.error_value(span)
            }
        };
        Operand::Value(value)
    }

    /// The expression that a constant selects. The other one is only checked.
    fn choose(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Operand {
        let chosen = self.integer_constant(condition, "the condition of `__builtin_choose_expr`");
        let (then, otherwise) = (self.operand(then), self.operand(otherwise));
        match chosen {
            Some(0) => otherwise,
            Some(_) => then,
            None => Operand::Value(self.error_value(span)),
        }
    }

    /// Converts componentwise, like casts of the components (OpenCL C 6.4.3).
    fn convert_vector(&mut self, value: &ast::Expr, ty: &ast::TypeName, span: Span) -> Expr {
        let to = self.type_name(ty).ty;
        let value = self.operator_value(value);
        if value.ty == TyId::ERROR || to == TyId::ERROR {
            return self.error_value(span);
        }
        let count = |ty: TyId| match self.types.get(ty) {
            Ty::Vector(_, count) => Some(*count),
            _ => None,
        };
        if count(value.ty).is_none() || count(value.ty) != count(to) {
            let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
            self.report(
                Diagnostic::new(
                    Code::VectorOperands,
                    span,
                    format!("`{from_shown}` cannot become `{to_shown}`, which is not a vector of as many components"),
                )
                .also(value.span, format!("`{from_shown}`")),
            );
            return self.error_value(span);
        }
        if value.ty == to {
            return Expr { span, ..value };
        }
        let conversion = Conversion { rounding: None, saturate: false };
        Expr { kind: ExprKind::Convert(conversion, Box::new(value)), ty: to, span }
    }

    /// Selects components of two vectors by constant indices. -1 means any.
    fn shuffle_vector(
        &mut self,
        left: &ast::Expr,
        right: &ast::Expr,
        picks: &[Argument],
        span: Span,
    ) -> Expr {
        let vectors = [self.operator_value(left), self.operator_value(right)];
        if vectors.iter().any(|vector| vector.ty == TyId::ERROR) {
            return self.error_value(span);
        }
        let element = match (self.types.get(vectors[0].ty), self.types.get(vectors[1].ty)) {
            (&Ty::Vector(element, count), _) if vectors[0].ty == vectors[1].ty => Some((element, count)),
            _ => None,
        };
        let Some((element, count)) = element.filter(|_| matches!(picks.len(), 2 | 3 | 4 | 8 | 16)) else {
            let form = Form::ShuffleVector;
            let message = format!("`{}` takes {}", form.spelling(), required_arguments(form));
            let (left, right) = (self.show(vectors[0].ty), self.show(vectors[1].ty));
            self.report(
                Diagnostic::new(Code::VectorOperands, span, message)
                    .also(vectors[0].span, format!("`{left}`"))
                    .also(vectors[1].span, format!("`{right}`")),
            );
            return self.error_value(span);
        };
        let mut components = Vec::with_capacity(picks.len());
        for pick in picks {
            let Argument::Expr(pick) = pick else { return self.error_value(span) };
            let Some(number) = self.integer_constant(pick, "the number of a component") else {
                return self.error_value(span);
            };
            if number < -1 || number >= 2 * i128::from(count) {
                self.report(Diagnostic::new(
                    Code::VectorComponent,
                    pick.span,
                    format!("two vectors of {count} components have no component {number}"),
                ));
                return self.error_value(span);
            }
            components.push(number.max(0) as u8);
        }
        let (stores, vectors) = self.in_temporaries(vectors, span);
        let parts = components.iter().map(|&number| Expr {
            kind: ExprKind::Swizzle(Box::new(Swizzle {
                base: vectors[usize::from(number / count)].clone(),
                components: smallvec![number % count],
            })),
            ty: TyId::scalar(element),
            span,
        });
        let parts = parts.collect();
        let ty = self.types.vector(element, components.len() as u8);
        let shuffled = Expr { kind: ExprKind::Vector(parts), ty, span };
        stores.into_iter().rev().fold(shuffled, |rest, store| Expr {
            ty,
            kind: ExprKind::Comma(Box::new(store), Box::new(rest)),
            span,
        })
    }

    /// Stores values in temporaries, so that they can be used more than once. Returns the stores and the loads.
    /// Outside functions, values are constants.
    fn in_temporaries(&mut self, values: [Expr; 2], span: Span) -> (Vec<Expr>, [Expr; 2]) {
        if self.body.function.is_none() {
            return (Vec::new(), values);
        }
        let mut stores = Vec::new();
        let reads = values.map(|value| {
            let ty = value.ty;
            let lvalue = self.temporary_lvalue(ty, span);
            let assign = Assign { lvalue: lvalue.clone(), value };
            stores.push(Expr { kind: ExprKind::Assign(Box::new(assign)), ty, span });
            self.load(lvalue)
        });
        (stores, reads)
    }
}

/// The arguments that a form requires.
fn required_arguments(form: Form) -> &'static str {
    match form {
        Form::BitCast => "a type and a value",
        Form::ChooseExpr => "a constant and two values",
        Form::ConstantP => "a value",
        Form::ConvertVector => "a vector and a type",
        Form::ShuffleVector => "two vectors of one type and 2, 3, 4, 8 or 16 constants",
        Form::TypesCompatible => "two types",
    }
}
