//! Literals: convert the spelling to a value and a type (C99 6.4.4, 6.4.5, OpenCL C 6.3.1.1).
//!
//! Parsing of digits and escapes is independent of the type checker; only types and messages need it.

mod number;
mod text;

use kiln_session::{
    diag::{Code, Diagnostic},
    extensions::Extension,
};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{Scalar, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::Operand;
use crate::{
    hir::{Const, Expr, ExprKind, Lvalue, LvalueKind},
    sema::Sema,
};

use number::{Integer, IntegerError};

impl Sema<'_> {
    /// An integer constant (C99 6.4.4.1).
    pub(super) fn integer_literal(&mut self, spelling: Symbol, span: Span) -> Expr {
        let literal = self.integer_of(spelling, span);
        if matches!(literal.kind, ExprKind::Const(Const::Int(value)) if value > i8::MAX as u64)
            && self.text(spelling).starts_with('0')
        {
            self.bit_patterns.insert(span);
        }
        literal
    }

    /// The value and type of an integer constant. Caches constants without diagnostics.
    fn integer_of(&mut self, spelling: Symbol, span: Span) -> Expr {
        if let Some(&(value, ty)) = self.constants.integers.get(&spelling) {
            return Expr { kind: ExprKind::Const(Const::Int(value)), ty, span };
        }
        let text = self.text(spelling).to_owned();
        let integer = match number::integer(&text) {
            Ok(integer) => integer,
            Err(error) => {
                self.report_integer(&text, error, span);
                return self.error_value(span);
            }
        };
        if integer.is_long_long {
            self.report(
                Diagnostic::new(
                    Code::LongLong,
                    span,
                    "`long long` is not a type of OpenCL C; this constant is 64 bits wide",
                )
                .help("write the suffix `L`, which means 64 bits here")
                .fix(span, "write the suffix `L`", text.replace("LL", "L").replace("ll", "l"))
                .note("OpenCL C 6.3.4: long long is reserved"),
            );
        }
        let Some(scalar) = integer_type(&integer) else {
            self.report(
                Diagnostic::new(Code::IntegerTooLarge, span, "this constant does not fit into 64 bits")
                    .note("C99 6.4.4.1: the value of a constant is in the range of its type"),
            );
            return self.error_value(span);
        };
        let is_past_long = scalar == Scalar::ULong && integer.is_decimal && !integer.is_unsigned;
        if is_past_long {
            self.report(
                Diagnostic::new(
                    Code::IntegerIsUnsigned,
                    span,
                    "this constant is too large for `long` and is treated as `ulong`",
                )
                .help("write the suffix `UL`")
                .fix(
                    span,
                    "write the suffix `UL`",
                    text.trim_end_matches(['l', 'L']).to_owned() + "UL",
                ),
            );
        }
        let (value, ty) = (integer.value.unwrap_or_default(), TyId::scalar(scalar));
        if !integer.is_long_long && !is_past_long {
            self.constants.integers.insert(spelling, (value, ty));
        }
        Expr { kind: ExprKind::Const(Const::Int(value)), ty, span }
    }

    fn report_integer(&mut self, text: &str, error: IntegerError, span: Span) {
        let diagnostic = match error {
            IntegerError::Suffix(suffix) => {
                let message = format!("an integer constant cannot end in `{suffix}`");
                let diagnostic = Diagnostic::new(Code::LiteralSuffix, span, message).note("C99 6.4.4.1");
                match number::meant(text, &suffix) {
                    Some(meant) => {
                        let title = format!("write `{meant}`");
                        diagnostic.help(title.clone()).fix(span, title, meant)
                    }
                    None if self.is_declared_suffix(&suffix) => {
                        diagnostic.help("write `*` between the number and the name").fix(
                            span,
                            "write `*`",
                            format!("{} * {suffix}", text.trim_end_matches(suffix.as_str())),
                        )
                    }
                    None => diagnostic.help("the suffixes are `u` and `l`, together or alone"),
                }
            }
            IntegerError::Digit(digit) => Diagnostic::new(
                Code::LiteralDigit,
                span,
                format!("`{digit}` is not a digit of the {} constant `{text}`", number::base_name(text)),
            )
            .note("C99 6.4.4.1: a constant that begins with 0 is octal"),
            IntegerError::NoDigits => {
                Diagnostic::new(Code::LiteralDigit, span, format!("`{text}` has no digits"))
            }
        };
        self.report(diagnostic);
    }

    /// A floating constant (C99 6.4.4.2): `float` with `f`, `half` with `h`, otherwise `double` if supported.
    pub(super) fn floating_literal(&mut self, spelling: Symbol, span: Span) -> Expr {
        let text = self.text(spelling).to_owned();
        let (digits, suffix) = number::split_suffix(&text);
        let Some(scalar) = self.floating_type(digits, suffix, span) else { return self.error_value(span) };
        let Some(value) = number::floating(digits, scalar) else {
            self.report_floating(&text, digits, suffix, span);
            return self.error_value(span);
        };
        self.warn_floating_range(value, scalar, (digits, suffix), span);
        Expr { kind: ExprKind::Const(Const::Float(value)), ty: TyId::scalar(scalar), span }
    }

    /// The type of a floating constant by its suffix. `None` after a reported error.
    fn floating_type(&mut self, digits: &str, suffix: &str, span: Span) -> Option<Scalar> {
        let scalar = match suffix {
            "f" | "F" => Scalar::Float,
            "h" | "H" => {
                self.warn_half_not_enabled(TyId::scalar(Scalar::Half), span);
                Scalar::Half
            }
            "" => Scalar::Double,
            "l" | "L" => {
                self.report(
                    Diagnostic::new(
                        Code::LongLong,
                        span,
                        "a constant of type `long double` is treated as `double`",
                    )
                    .help("leave out the suffix")
                    .fix(span, "leave out the suffix", digits)
                    .note("OpenCL C 6.3.4: `long double` is reserved"),
                );
                Scalar::Double
            }
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::LiteralSuffix,
                        span,
                        format!("a floating constant cannot end in `{suffix}`"),
                    )
                    .help("the suffixes are `f` for `float` and `h` for `half`")
                    .note("OpenCL C 6.3.1.1"),
                );
                return None;
            }
        };
        match scalar {
            Scalar::Half if !self.extensions.has(Extension::KhrFp16) => {
                self.report(
                    Diagnostic::new(
                        Code::MissingExtension,
                        span,
                        "a constant of type `half` needs `cl_khr_fp16`",
                    )
                    .help("write the suffix `f`")
                    .fix(span, "write the suffix `f`", format!("{digits}f"))
                    .note("OpenCL C 6.3.1.2: half literals are part of cl_khr_fp16"),
                );
                None
            }
            Scalar::Double => Some(self.double_literal_type(digits, span)),
            scalar => Some(scalar),
        }
    }

    /// Warns about a constant that becomes infinity or zero in its type.
    fn warn_floating_range(
        &mut self,
        value: f64,
        scalar: Scalar,
        (digits, suffix): (&str, &str),
        span: Span,
    ) {
        if value.is_infinite() {
            self.report(
                Diagnostic::new(
                    Code::LiteralRange,
                    span,
                    format!("this constant is too large for `{}` and becomes infinity", scalar.spelling()),
                )
                .help("write `INFINITY` if infinity is intended")
                .fix(span, "write `INFINITY`", "INFINITY"),
            );
        } else if value == 0.0 && !number::is_zero(digits) {
            let zero = format!("0.0{suffix}");
            self.report(
                Diagnostic::new(
                    Code::LiteralRange,
                    span,
                    format!("this constant is too small for `{}` and becomes zero", scalar.spelling()),
                )
                .help(format!("write `{zero}` if zero is intended"))
                .fix(span, format!("write `{zero}`"), zero),
            );
        }
    }

    fn report_floating(&mut self, text: &str, digits: &str, suffix: &str, span: Span) {
        let message = format!("`{text}` is not a floating constant");
        let diagnostic = Diagnostic::new(Code::LiteralDigit, span, message);
        let range = text.split_once("..").map(|(low, high)| (low, high.trim_start_matches('.')));
        self.report(match range {
            Some((low, high)) if !low.is_empty() && !high.is_empty() => {
                let meant = format!("{low} ... {high}");
                diagnostic.help(format!("write `{meant}` for the values of a `case`")).fix(
                    span,
                    format!("write `{meant}`"),
                    meant,
                )
            }
            _ if text.starts_with("0x") && !text.contains(['p', 'P']) => {
                let meant = format!("{digits}p0{suffix}");
                diagnostic
                    .help(format!("write `{meant}`"))
                    .fix(span, format!("write `{meant}`"), meant)
                    .note("C99 6.4.4.2: a hexadecimal one has an exponent after `p`")
            }
            _ => diagnostic.note("C99 6.4.4.2: it has one point and at most one exponent"),
        });
    }

    /// Whether the suffix of a number is the name of a variable, function or constant.
    fn is_declared_suffix(&self, suffix: &str) -> bool {
        self.scopes.visible_names().any(|(name, _)| self.text(name) == suffix)
    }

    /// The type of a floating constant without a suffix (OpenCL C 6.3.1.1, OpenCL API 5.8.6.3).
    fn double_literal_type(&mut self, digits: &str, span: Span) -> Scalar {
        if self.options.math.single_precision_constant {
            return Scalar::Float;
        }
        if self.extensions.has(Extension::KhrFp64) || self.extensions.has(Extension::FeatureFp64) {
            return Scalar::Double;
        }
        self.report(
            Diagnostic::new(
                Code::DoubleConstant,
                span,
                "without double precision, this constant is treated as `float`",
            )
            .help("write the suffix `f`")
            .fix(span, "write the suffix `f`", format!("{digits}f"))
            .note("OpenCL C 6.3.1.1: a floating constant without a suffix is a double"),
        );
        Scalar::Float
    }

    /// A character constant, of type `int` (C99 6.4.4.4).
    pub(super) fn character_literal(&mut self, spelling: Symbol, span: Span) -> Expr {
        let text = self.text(spelling).to_owned();
        let (prefix, bytes, errors) = text::decode(&text, '\'');
        for (code, error) in errors {
            self.report(Diagnostic::new(code, span, error));
        }
        if !prefix.is_empty() {
            self.report(
                Diagnostic::new(
                    Code::WideCharacter,
                    span,
                    "OpenCL C has no wide characters; this is an `int`",
                )
                .help(format!("leave out `{prefix}`"))
                .fix(span, format!("remove `{prefix}`"), &text[prefix.len()..]),
            );
        }
        if bytes.is_empty() {
            self.report(Diagnostic::new(
                Code::EscapeSequence,
                span,
                "a character constant needs a character",
            ));
            return self.error_value(span);
        }
        if bytes.len() > 1 {
            self.report(
                Diagnostic::new(Code::MultipleCharacters, span, "this character constant has several characters")
                    .note("C99 6.4.4.4: its value is implementation-defined; here the last character is the lowest byte"),
            );
        }
        let value = match bytes[..] {
            // A single character has the value of a signed `char` (OpenCL C 6.3.1).
            [byte] => i64::from(byte as i8),
            _ => i64::from(bytes.iter().fold(0i32, |value, byte| value << 8 | i32::from(*byte))),
        };
        self.int(value, span)
    }

    /// String literals, which are in the constant address space (C99 6.4.5, OpenCL C 6.7.3).
    pub(super) fn string(&mut self, parts: &[ast::Ident], span: Span) -> Operand {
        let bytes = self.string_bytes(parts);
        self.constant_string(bytes, span)
    }

    /// A `constant` array of these bytes and a terminator.
    pub(super) fn constant_string(&mut self, mut bytes: Vec<u8>, span: Span) -> Operand {
        bytes.push(0);
        let element = TyId::scalar(Scalar::Char).plain().in_space(AddressSpace::Constant).constant();
        let ty = self.types.intern(Ty::Array(element, Some(bytes.len() as u64)));
        let ty = ty.plain().in_space(AddressSpace::Constant).constant();
        let global = self.string_global(bytes, ty, span);
        Operand::Lvalue(Lvalue { kind: LvalueKind::Global(global), ty, span })
    }

    /// The bytes of adjacent string literals, without the terminator.
    pub(crate) fn string_bytes(&mut self, parts: &[ast::Ident]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in parts {
            let text = self.text(part.node).to_owned();
            let (prefix, decoded, errors) = text::decode(&text, '"');
            for (code, error) in errors {
                self.report(Diagnostic::new(code, part.span, error));
            }
            if !prefix.is_empty() {
                self.report(
                    Diagnostic::new(Code::WideLiteral, part.span, "OpenCL C has no wide strings")
                        .help(format!("leave out `{prefix}`"))
                        .fix(part.span, format!("remove `{prefix}`"), &text[prefix.len()..]),
                );
            }
            bytes.extend(decoded);
        }
        bytes
    }
}

/// The first type that can represent the value (C99 6.4.4.1). `None` if `ulong` cannot.
fn integer_type(integer: &Integer) -> Option<Scalar> {
    let value = integer.value?;
    let may_be_unsigned = integer.is_unsigned || !integer.is_decimal;
    let fits = |scalar: Scalar| {
        let bits = scalar.size() * 8 - u64::from(scalar.is_signed());
        bits == 64 || value >> bits == 0
    };
    let candidates = [Scalar::Int, Scalar::UInt, Scalar::Long, Scalar::ULong];
    let found = candidates.into_iter().find(|scalar| {
        (scalar.size() == 8 || !integer.is_long)
            && (if scalar.is_signed() { !integer.is_unsigned } else { may_be_unsigned })
            && fits(*scalar)
    });
    // A decimal constant that exceeds `long` has no type in C. Compilers use `ulong`.
    Some(found.unwrap_or(Scalar::ULong))
}
