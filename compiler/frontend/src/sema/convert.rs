//! Makes implicit conversions explicit (OpenCL C 6.4.1, C99 6.5.16.1). `Types::implicit` decides; this file builds
//! the nodes and reports errors.

use std::cmp::Ordering;

use super::Sema;
use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::Span;
use kiln_types::{
    fold,
    ty::{ConversionError, Implicit, Loss, QualTy, Scalar, Ty, TyId},
};
use kiln_vocabulary::{opencl::AddressSpace, sampler};

use crate::hir::{CompareOp, Const, Conversion, Expr, ExprKind, LvalueKind, UnaryOp};

/// The context of a conversion, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignContext {
    /// An initializer.
    Initialize,
    /// `=`
    Assign,
    /// The argument with this number, starting at 1.
    Argument(usize),
    /// `return`
    Return,
}

impl AssignContext {
    /// The end of a message that describes the context.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Initialize => "in an initializer".into(),
            Self::Assign => "in an assignment".into(),
            Self::Argument(number) => format!("as argument {number}"),
            Self::Return => "as the result of the function".into(),
        }
    }
}

/// The conversion with the default rounding.
pub(crate) const PLAIN: Conversion = Conversion { rounding: None, saturate: false };

const SAMPLER_HELP: &str = "combine one of each of the `CLK_NORMALIZED_COORDS_`, `CLK_ADDRESS_` and `CLK_FILTER_` constants with `|`";

impl Sema<'_> {
    /// Converts a value as if by assignment to an object of this type (C99 6.5.16.1). Reports invalid conversions.
    pub(crate) fn assign_convert(&mut self, value: Expr, to: QualTy, context: AssignContext) -> Expr {
        let span = value.span;
        if value.ty == TyId::ERROR || to.ty == TyId::ERROR {
            return self.error_value(span);
        }
        let kind = match self.types.implicit(value.ty, to.ty) {
            Implicit::Same if value.ty != TyId::VOID => return value,
            Implicit::Arithmetic(loss) => {
                self.warn_loss(&value, loss, to.ty, context);
                return self.convert(value, to.ty);
            }
            Implicit::Splat(loss) => {
                if let Some(element) = self.element(to.ty) {
                    self.warn_loss(&value, loss, TyId::scalar(element), context);
                }
                return self.widen(value, to.ty);
            }
            Implicit::PointerToBool => return self.truth(value),
            Implicit::Pointer(change) => {
                if self.is_null_constant(&value) {
                    ExprKind::Const(Const::NullPointer)
                } else {
                    self.warn_pointer_change(change, value.ty, to.ty, span, context);
                    ExprKind::PointerCast(Box::new(value))
                }
            }
            Implicit::Invalid(_) if self.is_pointer(to.ty) && self.is_null_constant(&value) => {
                ExprKind::Const(Const::NullPointer)
            }
            Implicit::Invalid(
                rejection @ (ConversionError::Spaces { .. } | ConversionError::NestedSpaces),
            ) => {
                self.report_spaces(rejection, value.ty, to.ty, span, context);
                return self.error_value(span);
            }
            Implicit::Same | Implicit::Invalid(_) => return self.convert_to_opaque(value, to.ty, context),
        };
        Expr { kind, ty: to.ty, span }
    }

    /// Conversions from integers to opaque types: initializers of atomic objects, and handles.
    fn convert_to_opaque(&mut self, value: Expr, to: TyId, context: AssignContext) -> Expr {
        let span = value.span;
        let is_number = matches!(self.types.get(value.ty), Ty::Scalar(_) | Ty::Enum(_));
        match *self.types.get(to) {
            Ty::Atomic(scalar) if is_number && context == AssignContext::Initialize => {
                self.convert(value, TyId::scalar(scalar))
            }
            Ty::AtomicFlag if is_number && context == AssignContext::Initialize => {
                self.convert(value, TyId::INT)
            }
            Ty::Event | Ty::Queue if self.is_null_constant(&value) => {
                Expr { kind: ExprKind::Const(Const::Zero), ty: to, span }
            }
            Ty::Sampler if self.is_integer(value.ty) => self.sampler_constant(value, to),
            _ => {
                self.report_incompatible(&value, to, context);
                self.error_value(span)
            }
        }
    }

    /// OpenCL C 6.15.15.1: a sampler in the program source is a 32-bit unsigned integer constant.
    fn sampler_constant(&mut self, value: Expr, sampler: TyId) -> Expr {
        let span = value.span;
        let is_logical = matches!(value.kind, ExprKind::Logical(..));
        if let Some(Const::Int(bits)) = self.constant(&value)
            && !is_logical
            && (u32::try_from(bits).is_ok() || i32::try_from(bits as i64).is_ok())
        {
            self.check_sampler_bits(bits as u32, span);
            self.check_sampler_repeat(bits, span);
            let kind = ExprKind::Const(Const::Int(bits & u64::from(u32::MAX)));
            return Expr { kind, ty: sampler, span };
        }
        self.report(
            Diagnostic::new(Code::SamplerInitializer, span, "a sampler is made from a constant integer")
                .help(SAMPLER_HELP)
                .note("OpenCL C 6.15.15.1: a sampler variable is initialized by a 32-bit unsigned integer constant"),
        );
        self.error_value(span)
    }

    /// OpenCL C 6.15.15.1: a sampler has at most one constant of each kind.
    fn check_sampler_bits(&mut self, bits: u32, span: Span) {
        let known = sampler::NORMALIZED_COORDS_TRUE | sampler::ADDRESSING | sampler::FILTER;
        let message = if bits & !known != 0 {
            "this is not a combination of the constants for samplers"
        } else if bits & sampler::ADDRESSING > sampler::ADDRESS_MIRRORED_REPEAT {
            "this combines several `CLK_ADDRESS_` constants"
        } else if bits & sampler::FILTER == sampler::FILTER {
            "this combines both `CLK_FILTER_` constants"
        } else {
            return;
        };
        self.report(
            Diagnostic::new(Code::SamplerBits, span, message)
                .help(SAMPLER_HELP)
                .note("OpenCL C 6.15.15.1: a sampler has one addressing mode and one filter mode"),
        );
    }

    /// OpenCL C 6.15.15.1: the two modes that repeat the image need normalized coordinates.
    fn check_sampler_repeat(&mut self, bits: u64, span: Span) {
        let bits = bits as u32;
        let mode = match bits & sampler::ADDRESSING {
            sampler::ADDRESS_REPEAT => "CLK_ADDRESS_REPEAT",
            sampler::ADDRESS_MIRRORED_REPEAT => "CLK_ADDRESS_MIRRORED_REPEAT",
            _ => return,
        };
        if bits & sampler::NORMALIZED_COORDS_TRUE == 0 {
            let message = format!("`{mode}` can be used only with normalized coordinates");
            self.report(
                Diagnostic::new(Code::SamplerRepeat, span, message)
                    .help("combine it with `CLK_NORMALIZED_COORDS_TRUE`, and read the image with coordinates from 0 to 1")
                    .note("OpenCL C 6.15.15.1: without normalized coordinates, this addressing mode may generate image coordinates that are undefined"),
            );
        }
    }

    fn report_incompatible(&mut self, value: &Expr, to: TyId, context: AssignContext) {
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let message =
            format!("a value of type `{from_shown}` cannot become `{to_shown}` {}", context.describe());
        let mut diagnostic = Diagnostic::new(Code::IncompatibleTypes, value.span, message);
        let points_to_number = match self.types.get(value.ty) {
            Ty::Pointer(to) => matches!(self.types.get(to.ty), Ty::Scalar(scalar) if *scalar != Scalar::Half),
            _ => false,
        };
        match (self.types.get(value.ty), self.types.get(to)) {
            (_, Ty::ClkEvent | Ty::ReserveId) if self.is_null_constant(value) => {
                let (name, section) = match self.types.get(to) {
                    Ty::ClkEvent => ("CLK_NULL_EVENT", "6.15.19"),
                    _ => ("CLK_NULL_RESERVE_ID", "6.15.18"),
                };
                diagnostic = diagnostic
                    .help(format!("write `{name}`"))
                    .replace(value.span, name)
                    .note(format!("OpenCL C {section}: `{name}` refers to an invalid one"));
            }
            (Ty::Vector(_, from), Ty::Vector(_, count)) => {
                diagnostic = advise_vectors(diagnostic, *from, *count, &to_shown);
            }
            (Ty::Vector(..), _) => {
                diagnostic = diagnostic
                    .help("select one component, as in `.x`")
                    .note("OpenCL C 6.4.1: a vector does not become a scalar");
            }
            (_, Ty::Pointer(to)) if to.ty == value.ty && self.has_address_as(value, *to) => {
                diagnostic = diagnostic.help("write `&` before it to pass its address").rewrite(
                    value.span,
                    "write its address",
                    [Piece::Address(value.span)],
                );
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Pointer(_)) => {
                diagnostic = diagnostic
                    .help("cast it to the pointer type if it is an address")
                    .note("C99 6.5.16.1: only the constant 0 becomes a pointer by itself");
            }
            (Ty::Pointer(from), Ty::Vector(element, count))
                if *self.types.get(from.ty) == Ty::Scalar(*element) =>
            {
                let function = format!("vload{count}");
                diagnostic = diagnostic.help(format!("read a vector with `{function}`")).rewrite(
                    value.span,
                    format!("write `{function}`"),
                    [Piece::Text(&format!("{function}(0, ")), Piece::Source(value.span), Piece::Text(")")],
                );
            }
            // A string literal is in constant memory.
            (Ty::Pointer(to), Ty::Scalar(Scalar::Char | Scalar::UChar))
                if to.ty == TyId::scalar(Scalar::Char) && to.quals.space == Some(AddressSpace::Constant) =>
            {
                diagnostic = diagnostic.help("a character constant has single quotes (')");
            }
            (Ty::Pointer(_), Ty::Scalar(_) | Ty::Enum(_)) => {
                diagnostic = diagnostic.help("dereference it with `*`, or cast it if the address is meant");
                if points_to_number {
                    diagnostic = diagnostic.prefix(value.span, "*");
                }
            }
            (Ty::AtomicFlag, Ty::Atomic(_)) => {
                diagnostic = diagnostic
                    .help("write `ATOMIC_VAR_INIT(…)`")
                    .note("OpenCL C 6.15.12.7.6: `ATOMIC_FLAG_INIT` is for objects of type `atomic_flag`");
            }
            (_, Ty::Atomic(_) | Ty::AtomicFlag) => {
                diagnostic = diagnostic
                    .help("use `atomic_store_explicit`")
                    .note("OpenCL C 6.15.12.10: OpenCL C does not support operators with atomic types");
            }
            _ => {}
        }
        self.report(diagnostic);
    }

    /// Whether this loads an object whose address converts to this pointer type.
    fn has_address_as(&self, value: &Expr, to: QualTy) -> bool {
        use AddressSpace::{Constant, Generic, Private};
        let ExprKind::Load(lvalue) = &value.kind else { return false };
        let has_address = matches!(
            lvalue.kind,
            LvalueKind::Local(_) | LvalueKind::Global(_) | LvalueKind::Deref(_) | LvalueKind::Field(_)
        );
        let (from, to) = (lvalue.ty.quals.space.unwrap_or(Private), to.quals.space.unwrap_or(Private));
        has_address && (from == to || to == Generic && from != Constant)
    }

    /// Converts between arithmetic types; the caller has checked that this is legal. Scalar to scalar, scalar to
    /// every component of a vector, or componentwise between vectors of the same length.
    #[inline]
    pub(crate) fn convert(&mut self, value: Expr, to: TyId) -> Expr {
        if value.ty == to || value.ty == TyId::ERROR { value } else { self.converted(value, to) }
    }

    fn converted(&mut self, mut value: Expr, to: TyId) -> Expr {
        let span = value.span;
        match (self.types.components(value.ty), self.types.components(to)) {
            (Some((_, 1)), Some((element, 2..))) => {
                let component = self.convert(value, TyId::scalar(element));
                return Expr { kind: ExprKind::Splat(Box::new(component)), ty: to, span };
            }
            (Some((from, _)), Some((into, _))) => {
                if let ExprKind::Const(constant) = &mut value.kind
                    && let Some(converted) = fold::convert(constant, from, into, PLAIN)
                {
                    *constant = converted;
                    return Expr { ty: to, ..value };
                }
            }
            _ => {}
        }
        Expr { kind: ExprKind::Convert(PLAIN, Box::new(value)), ty: to, span }
    }

    /// Casts or assigns a scalar to a vector: `true` sets all bits of an integer component (OpenCL C 6.4.2). In a
    /// vector literal and as an operand, `true` is 1, as in C.
    pub(super) fn widen(&mut self, value: Expr, to: TyId) -> Expr {
        match self.element(to) {
            Some(element) if value.ty == TyId::BOOL && !element.is_float() => {
                let (span, component) = (value.span, TyId::scalar(element));
                let bit = self.convert(value, component);
                let mask = self.folded(ExprKind::Unary(UnaryOp::Negate, Box::new(bit)), component, span);
                self.convert(mask, to)
            }
            _ => self.convert(value, to),
        }
    }

    /// Compares a pointer or number with zero; the result is `bool` (C99 6.3.1.2).
    pub(crate) fn truth(&mut self, value: Expr) -> Expr {
        if !self.is_pointer(value.ty) {
            return self.convert(value, TyId::BOOL);
        }
        let span = value.span;
        let null = Expr { kind: ExprKind::Const(Const::NullPointer), ty: value.ty, span };
        let kind = ExprKind::Compare(CompareOp::NotEqual, Box::new([value, null]));
        self.convert(Expr { kind, ty: TyId::INT, span }, TyId::BOOL)
    }

    /// Whether the type is a pointer.
    pub(crate) fn is_pointer(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Pointer(_))
    }

    /// Whether this is a null pointer constant: an integer constant 0, possibly cast to `void *` (C99 6.3.2.3).
    pub(crate) fn is_null_constant(&self, value: &Expr) -> bool {
        match *self.types.get(value.ty) {
            Ty::Pointer(to) => {
                to.ty == TyId::VOID
                    && matches!(value.kind, ExprKind::Const(Const::NullPointer))
                    && matches!(to.quals.space, None | Some(AddressSpace::Generic | AddressSpace::Private))
            }
            Ty::Scalar(_) | Ty::Enum(_) if self.is_integer(value.ty) => {
                matches!(self.constant(value), Some(Const::Int(0) | Const::Zero))
            }
            _ => false,
        }
    }

    /// Warns about a constant that changes its value, and about possible loss in a conversion without a cast.
    fn warn_loss(&mut self, value: &Expr, loss: Option<Loss>, to: TyId, context: AssignContext) {
        let Some(loss) = loss else { return };
        if let Some(constant) = self.constant(value) {
            self.warn_inexact(value, to);
            if let Some((before, after)) = self.changed(&constant, value, to) {
                let shown = self.show(to);
                self.report(
                    Diagnostic::new(
                        Code::ConstantConversion,
                        value.span,
                        format!("{before} becomes {after} as `{shown}` {}", context.describe()),
                    )
                    .help(format!("write a cast to `{shown}` to make the conversion explicit"))
                    .prefix(value.span, &format!("({shown})")),
                );
            }
            return;
        }
        let lost = match loss {
            Loss::Bits => "its high bits",
            Loss::Fraction => "its fraction",
            Loss::Precision if self.element(value.ty).is_some_and(Scalar::is_float) => "precision",
            Loss::Sign | Loss::Precision => return,
        };
        if !self.sink.is_enabled(Code::ImplicitNarrowing) {
            return;
        }
        let (from_shown, shown) = (self.show(value.ty), self.show(to));
        self.report(
            Diagnostic::new(
                Code::ImplicitNarrowing,
                value.span,
                format!("`{from_shown}` becomes `{shown}` {} and may lose {lost}", context.describe()),
            )
            .help(format!("write a cast to `{shown}` to make the conversion explicit"))
            .prefix(value.span, &format!("({shown})")),
        );
    }

    /// Warns about a constant integer that a floating-point type does not have: it is rounded (C99 6.3.1.4).
    pub(super) fn warn_inexact(&mut self, value: &Expr, to: TyId) {
        let (Some(from), Some(into)) = (self.element(value.ty), self.element(to)) else { return };
        if from.is_float() || !into.is_float() {
            return;
        }
        let Some(constant @ Const::Int(bits)) = self.constant(value) else { return };
        let Some(Const::Float(after)) = fold::convert(&constant, from, into, PLAIN) else { return };
        let before = fold::integer(from, bits);
        if after as i128 == before {
            return;
        }
        let shown = into.spelling();
        self.report(
            Diagnostic::new(
                Code::ImplicitConstIntFloatConversion,
                value.span,
                format!("{before} becomes {after} as `{shown}`"),
            )
            .help(format!("write a cast to `{shown}` to make the conversion explicit"))
            .prefix(value.span, &format!("({shown})"))
            .note("C99 6.3.1.4: a value that the type does not have is rounded"),
        );
    }

    /// The value of a constant before and after its conversion, if they differ. Ignores signedness if one type is
    /// unsigned, and in literals that are not decimal, because programs commonly write `int x = 0x80000000`, `char c =
    /// 0xff` and `uint y = -1`.
    fn changed(&self, before: &Const, value: &Expr, to: TyId) -> Option<(String, String)> {
        let (from, target) = (value.ty, self.element(to)?);
        let shown = |value: f64| match self.element(from) {
            Some(Scalar::Double) => value.to_string(),
            _ => (value as f32).to_string(),
        };
        match (before, self.converted_constant(before, from, to)?) {
            (Const::Float(before), Const::Float(after)) => (after.is_infinite() && before.is_finite())
                .then(|| (shown(*before), if after > 0.0 { "infinity" } else { "-infinity" }.to_owned())),
            (Const::Float(before), Const::Int(after)) => {
                let after = fold::integer(target, after);
                (*before != after as f64).then(|| (shown(*before), after.to_string()))
            }
            (Const::Int(before), Const::Int(after)) => {
                let width = target.size() * 8;
                let number = *before as i64;
                let after = fold::integer(target, after);
                let is_signed = target.is_signed()
                    && self.element(from).is_some_and(Scalar::is_signed)
                    && !self.bit_patterns.contains(&value.span);
                let is_changed = width < 64
                    && (number >> width != 0 && number < -(1 << (width - 1)) || number >> width > 0);
                let is_changed = is_changed || is_signed && i128::from(number) != after;
                is_changed.then(|| (number.to_string(), after.to_string()))
            }
            _ => None,
        }
    }
}

/// Adds advice to the diagnostic of a vector with `from` components that does not become one with `to` components.
fn advise_vectors(diagnostic: Diagnostic, from: u8, to: u8, to_shown: &str) -> Diagnostic {
    let diagnostic =
        diagnostic.note("OpenCL C 6.4.1: there are no implicit conversions between vector types");
    let span = diagnostic.span;
    match from.cmp(&to) {
        Ordering::Less => diagnostic.help(format!("add the missing components, as in `({to_shown})(…, 0)`")),
        Ordering::Equal => diagnostic.help(vector_conversion(to_shown)).rewrite(
            span,
            format!("write `convert_{to_shown}`"),
            conversion(&format!("convert_{to_shown}("), span),
        ),
        Ordering::Greater if to == 2 => diagnostic.help("select two components, as in `.xy`"),
        Ordering::Greater => diagnostic.help("select components, as in `.xyz`"),
    }
}

/// Suggests how to convert to a vector of a different type with the same number of components (OpenCL C 6.4.3, 6.4.4).
pub(super) fn vector_conversion(to: &str) -> String {
    format!("write `convert_{to}(…)` for the values or `as_{to}(…)` for the bits")
}

/// A call of a conversion function: `call` is its name with the opening parenthesis.
pub(super) fn conversion(call: &str, value: Span) -> [Piece<'_>; 3] {
    [Piece::Text(call), Piece::Source(value), Piece::Text(")")]
}
