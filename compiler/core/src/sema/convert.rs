//! Implicit conversions made explicit (OpenCL C 6.4.1, C99 6.5.16.1): what may become what by itself.
//!
//! Casts stand in `cast.rs`, address spaces in `spaces.rs`; nothing here knows the syntax.

use super::Sema;
use crate::{
    diag::{Code, Diagnostic},
    hir::{CompareOp, Const, Conversion, Expr, ExprKind, UnaryOp},
    opencl::AddressSpace,
    ty::{QualTy, Scalar, Ty, TyId},
};

/// For what a value is converted: the word that messages need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignContext {
    /// An initialiser.
    Initialize,
    /// `=`
    Assign,
    /// The argument of this number, counted from 1.
    Argument(usize),
    /// `return`
    Return,
}

impl AssignContext {
    /// The context as a message ends.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Initialize => "in an initialiser".into(),
            Self::Assign => "in an assignment".into(),
            Self::Argument(number) => format!("as argument {number}"),
            Self::Return => "as the result of the function".into(),
        }
    }
}

/// The conversion that rounds as the language does by default.
pub(crate) const PLAIN: Conversion = Conversion { rounding: None, saturate: false };

impl Sema<'_> {
    /// A value as if by assignment to an object of this type (C99 6.5.16.1). What cannot be converted is reported.
    pub(crate) fn assign_convert(&mut self, value: Expr, to: QualTy, context: AssignContext) -> Expr {
        let span = value.span;
        if value.ty == TyId::ERROR || to.ty == TyId::ERROR {
            return self.error_value(span);
        }
        if value.ty == to.ty {
            if value.ty == TyId::VOID {
                self.report_incompatible(&value, to.ty, context);
                return self.error_value(span);
            }
            return value;
        }
        match (self.types.get(value.ty).clone(), self.types.get(to.ty).clone()) {
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Scalar(_) | Ty::Enum(_)) => {
                self.warn_implicit(&value, to.ty, context);
                self.convert(value, to.ty)
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Vector(element, _)) => {
                self.warn_implicit(&value, TyId::scalar(element), context);
                self.convert(value, to.ty)
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Atomic(scalar)) if context == AssignContext::Initialize => {
                self.convert(value, TyId::scalar(scalar))
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::AtomicFlag) if context == AssignContext::Initialize => {
                self.convert(value, TyId::INT)
            }
            (Ty::Pointer(_), Ty::Scalar(Scalar::Bool)) => self.truth(value),
            (Ty::Pointer(from), Ty::Pointer(target)) => {
                if self.is_null_constant(&value) {
                    return Expr { kind: ExprKind::Const(Const::NullPointer), ty: to.ty, span };
                }
                if !self.check_pointer_conversion(from, target, span, context) {
                    return self.error_value(span);
                }
                Expr { kind: ExprKind::PointerCast(Box::new(value)), ty: to.ty, span }
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Pointer(_)) if self.is_null_constant(&value) => {
                Expr { kind: ExprKind::Const(Const::NullPointer), ty: to.ty, span }
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Event | Ty::Queue) if self.is_null_constant(&value) => {
                Expr { kind: ExprKind::Const(Const::Zero), ty: to.ty, span }
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Sampler) => self.sampler_constant(value),
            _ => {
                self.report_incompatible(&value, to.ty, context);
                self.error_value(span)
            }
        }
    }

    /// OpenCL C 6.15.15.1: a sampler in the program source is a 32-bit unsigned integer constant.
    fn sampler_constant(&mut self, value: Expr) -> Expr {
        let span = value.span;
        let constant = match self.types.components(value.ty) {
            Some((scalar, 1)) if !scalar.is_float() => self.constant(&value),
            _ => None,
        };
        match constant {
            Some(Const::Int(bits)) => Expr {
                kind: ExprKind::Const(Const::Int(bits & u64::from(u32::MAX))),
                ty: self.types.intern(Ty::Sampler),
                span,
            },
            _ => {
                self.sink.report(
                    Diagnostic::new(Code::SamplerInitializer, span, "a sampler is made from a constant integer")
                        .help("combine one of each of the `CLK_NORMALIZED_COORDS_`, `CLK_ADDRESS_` and `CLK_FILTER_` constants with `|`")
                        .note("OpenCL C 6.15.15.1: a sampler variable is initialised by a 32-bit unsigned integer constant"),
                );
                self.error_value(span)
            }
        }
    }

    fn report_incompatible(&mut self, value: &Expr, to: TyId, context: AssignContext) {
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let message = format!("a value of type `{from_shown}` cannot become `{to_shown}` {}", context.describe());
        let mut diagnostic = Diagnostic::new(Code::IncompatibleTypes, value.span, message);
        match (self.types.get(value.ty), self.types.get(to)) {
            (Ty::Vector(_, from), Ty::Vector(_, count)) if from == count => {
                diagnostic = diagnostic
                    .help(format!("write `convert_{to_shown}(…)` for the values or `as_{to_shown}(…)` for the bits"))
                    .note("OpenCL C 6.4.1: there are no implicit conversions between vector types");
            }
            (Ty::Vector(..), Ty::Vector(..)) => {
                diagnostic =
                    diagnostic.note("OpenCL C 6.4.1: there are no implicit conversions between vector types");
            }
            (Ty::Vector(..), _) => {
                diagnostic = diagnostic
                    .help("select one component, as in `.x`")
                    .note("OpenCL C 6.4.1: a vector does not become a scalar");
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Pointer(_)) => {
                diagnostic = diagnostic
                    .help("cast it to the pointer type if it is an address")
                    .note("C99 6.5.16.1: only the constant 0 becomes a pointer by itself");
            }
            (Ty::Pointer(_), Ty::Scalar(_) | Ty::Enum(_)) => {
                diagnostic = diagnostic.help("dereference it with `*`, or cast it if the address is meant");
            }
            (_, Ty::Atomic(_) | Ty::AtomicFlag) => {
                diagnostic = diagnostic
                    .help("use `atomic_store_explicit`")
                    .note("OpenCL C 6.15.12.10: OpenCL C does not support operators with atomic types");
            }
            _ => {}
        }
        self.sink.report(diagnostic);
    }

    /// Converts between arithmetic types where that is known to be legal: scalar to scalar, scalar to every
    /// component of a vector, component by component between vectors of one length.
    pub(crate) fn convert(&mut self, value: Expr, to: TyId) -> Expr {
        if value.ty == to || value.ty == TyId::ERROR {
            return value;
        }
        let span = value.span;
        match (self.types.components(value.ty), self.types.components(to)) {
            (Some((_, 1)), Some((element, count @ 2..))) => {
                let component = self.vector_component(value, element);
                debug_assert!(count > 1);
                Expr { kind: ExprKind::Splat(Box::new(component)), ty: to, span }
            }
            _ => {
                let kind = match &value.kind {
                    ExprKind::Const(constant) => match self.converted_constant(constant, value.ty, to) {
                        Some(constant) => ExprKind::Const(constant),
                        None => ExprKind::Convert(PLAIN, Box::new(value)),
                    },
                    _ => ExprKind::Convert(PLAIN, Box::new(value)),
                };
                Expr { kind, ty: to, span }
            }
        }
    }

    /// A scalar as a component of a vector: `true` has all bits set (OpenCL C 6.4.2).
    pub(crate) fn vector_component(&mut self, value: Expr, element: Scalar) -> Expr {
        if value.ty != TyId::BOOL {
            return self.convert(value, TyId::scalar(element));
        }
        let span = value.span;
        let integer = if element.is_float() { TyId::INT } else { TyId::scalar(element) };
        let bit = self.convert(value, integer);
        let mask = Expr { kind: ExprKind::Unary(UnaryOp::Negate, Box::new(bit)), ty: integer, span };
        self.convert(mask, TyId::scalar(element))
    }

    /// Whether a pointer or a number is not zero, as `bool` (C99 6.3.1.2).
    pub(crate) fn truth(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if !matches!(self.types.get(value.ty), Ty::Pointer(_)) {
            return self.convert(value, TyId::BOOL);
        }
        let null = Expr { kind: ExprKind::Const(Const::NullPointer), ty: value.ty, span };
        let kind = ExprKind::Compare(CompareOp::NotEqual, Box::new(value), Box::new(null));
        let compared = Expr { kind, ty: TyId::INT, span };
        self.convert(compared, TyId::BOOL)
    }

    /// Whether this is a null pointer constant: an integer constant 0, or such a one cast to `void *` (C99 6.3.2.3).
    pub(crate) fn is_null_constant(&mut self, value: &Expr) -> bool {
        match *self.types.get(value.ty) {
            Ty::Pointer(to) => {
                to.ty == TyId::VOID
                    && matches!(value.kind, ExprKind::Const(Const::NullPointer))
                    && matches!(to.quals.space, None | Some(AddressSpace::Generic | AddressSpace::Private))
            }
            Ty::Scalar(scalar) if !scalar.is_float() => {
                self.constant(value).is_some_and(|constant| constant == Const::Int(0))
            }
            _ => false,
        }
    }

    /// Warns of a constant that changes its value, or of precision that is lost without a cast.
    fn warn_implicit(&mut self, value: &Expr, to: TyId, context: AssignContext) {
        let (Some((from, 1)), Some((target, 1))) =
            (self.types.components(value.ty), self.types.components(to))
        else {
            return;
        };
        if from == target || target == Scalar::Bool {
            return;
        }
        let shown = self.show(to);
        if let Some(constant) = self.constant(value) {
            let changed = match (&constant, self.converted_constant(&constant, value.ty, to)) {
                (Const::Float(before), Some(Const::Float(after))) => after.is_infinite() && before.is_finite(),
                (Const::Float(before), Some(Const::Int(after))) => {
                    *before != if target.is_signed() { after as i64 as f64 } else { after as f64 }
                }
                (Const::Int(before), Some(Const::Int(after))) => {
                    !same_bits(*before, after, target)
                }
                _ => false,
            };
            if changed {
                self.sink.report(
                    Diagnostic::new(
                        Code::ConstantConversion,
                        value.span,
                        format!("this constant has another value as `{shown}` {}", context.describe()),
                    )
                    .help(format!("write a cast to `{shown}` if that is meant")),
                );
            }
        } else if from.is_float() && !target.is_float() || from.size() > target.size() {
            let from_shown = self.show(value.ty);
            self.sink.report(
                Diagnostic::new(
                    Code::ImplicitNarrowing,
                    value.span,
                    format!("`{from_shown}` becomes `{shown}` {} and may lose its value", context.describe()),
                )
                .help(format!("write a cast to `{shown}` if that is meant")),
            );
        }
    }
}

/// Whether an integer constant kept its bits, signedness aside: `int x = 0x80000000` and `uint y = -1` are customary.
fn same_bits(before: u64, after: u64, to: Scalar) -> bool {
    let width = to.size() * 8;
    if width == 64 {
        return before == after;
    }
    let high = (before as i64) >> width;
    before == after || high == 0 || (high == -1 && (before as i64) >= -(1i64 << (width - 1)))
}
