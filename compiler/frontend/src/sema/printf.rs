//! Checks `printf` formats against their arguments (OpenCL C 6.15.14), and traps, which also take strings.
//!
//! `printf/format.rs` parses formats. The runtime parses them again to print.

mod format;

use kiln_builtins::Overload;
use kiln_session::{
    diag::{Code, Diagnostic, NO_STRING_LITERAL},
    extensions::Extension,
};
use kiln_syntax::Span;
use kiln_types::ty::{Scalar, Ty, TyId};

use super::{Sema, builtin::Call, convert::AssignContext};
use crate::hir::{Expr, ExprKind, Lvalue, LvalueKind, Printf};
use format::{Conversion, Directive};

/// An argument before its promotion.
struct Written {
    ty: TyId,
    is_character: bool,
}

impl Sema<'_> {
    /// Checks a call of `printf`. `arguments` are loaded; the first is the format.
    pub(super) fn printf_call(&mut self, overload: &Overload, arguments: Vec<Expr>, call: &Call) -> Expr {
        let mut arguments = arguments.into_iter();
        let (Some(format), Some(parameter)) = (arguments.next(), overload.parameters.first()) else {
            return self.error_value(call.span);
        };
        let format_span = format.span;
        let bytes = self.literal_bytes(&format);
        let format = self.assign_convert(format, *parameter, AssignContext::Argument(1));
        let mut written = Vec::new();
        let arguments: Vec<Expr> = arguments
            .map(|argument| {
                written.push(self.written(&argument));
                self.default_promotion(argument)
            })
            .collect();
        let Some(bytes) = bytes else {
            if format.ty != TyId::ERROR {
                self.report(
                    Diagnostic::new(Code::ConstantExpression, format_span, "the format of `printf` must be a string literal")
                        .note("OpenCL C 6.15.14.2: the format is in the constant address space and must be resolvable at compile time"),
                );
            }
            return self.error_value(call.span);
        };
        self.check_format(&bytes, format_span, arguments.iter().zip(written));
        if format.ty == TyId::ERROR || arguments.iter().any(|argument| argument.ty == TyId::ERROR) {
            return self.error_value(call.span);
        }
        let arguments = arguments.into_iter().map(|argument| self.printable(argument)).collect();
        let kind = ExprKind::Printf(Box::new(Printf { format: bytes, arguments }));
        Expr { kind, ty: overload.result, span: call.span }
    }

    /// Checks a call of clang's `__builtin_trap`, or of `__builtin_verbose_trap` with two strings.
    pub(super) fn trap_call(&mut self, overload: &Overload, arguments: Vec<Expr>, call: &Call) -> Expr {
        let mut parts = Vec::new();
        for argument in &arguments {
            match self.literal_bytes(argument) {
                Some(bytes) => parts.push(bytes),
                None if argument.ty == TyId::ERROR => {}
                None => self.report(
                    Diagnostic::new(
                        Code::ConstantExpression,
                        argument.span,
                        "the message of a trap must be a string literal",
                    )
                    .note("the message must be known at compile time, because a failed launch reports it"),
                ),
            }
        }
        if parts.len() != overload.parameters.len() {
            return self.error_value(call.span);
        }
        let message = if parts.is_empty() { b"a trap".to_vec() } else { parts.join(&b": "[..]) };
        Expr { kind: ExprKind::Trap { message }, ty: overload.result, span: call.span }
    }

    /// The bytes of the string literal that a pointer refers to, if known, without the terminator.
    pub(super) fn literal_bytes(&self, pointer: &Expr) -> Option<Vec<u8>> {
        let ExprKind::AddressOf(lvalue) = &pointer.kind else { return None };
        let Lvalue { kind: LvalueKind::Global(global), ty, .. } = &**lvalue else { return None };
        let global = &self.module.globals[*global];
        let is_fixed =
            ty.quals.is_const || ty.quals.space == Some(kiln_vocabulary::opencl::AddressSpace::Constant);
        let bytes = &global.init.as_ref().filter(|_| is_fixed)?.bytes;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(bytes[..end].to_vec())
    }

    /// The default argument promotions (C99 6.5.2.2). `float` becomes `double` only if that is supported (OpenCL C
    /// 6.15.14.3).
    fn default_promotion(&mut self, value: Expr) -> Expr {
        match self.types.components(value.ty) {
            Some((Scalar::Half | Scalar::Float, 1)) => {
                let has_double = self.extensions.has(Extension::KhrFp64);
                let to = if has_double { Scalar::Double } else { Scalar::Float };
                self.convert(value, TyId::scalar(to))
            }
            _ => self.promote(value),
        }
    }

    /// Whether values of this type are printed: numbers, vectors, strings and pointers.
    fn is_printable(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Scalar(_) | Ty::Vector(..) | Ty::Enum(_) | Ty::Pointer(_))
    }

    /// A value that is printed. For another object, which has a warning, it is 0: the behavior is undefined (OpenCL C
    /// 6.15.14.2).
    fn printable(&mut self, value: Expr) -> Expr {
        if self.is_printable(value.ty) {
            return value;
        }
        if value.ty == TyId::VOID {
            self.report(
                Diagnostic::new(Code::ArgumentType, value.span, "an argument cannot have type `void`")
                    .note("C99 6.5.2.2: an argument has an object type"),
            );
        }
        let zero = self.int(0, value.span);
        if !matches!(self.types.get(value.ty), Ty::Record(_)) {
            return zero;
        }
        let (ty, span) = (zero.ty, zero.span);
        Expr { kind: ExprKind::Comma(Box::new(value), Box::new(zero)), ty, span }
    }

    /// What an argument is before its promotion. A character constant is an `int`.
    fn written(&self, argument: &Expr) -> Written {
        let is_constant = || {
            let range = self.sources.spelling(argument.span)?;
            Some(self.sources.text(&range).starts_with('\''))
        };
        let is_character = argument.ty == TyId::scalar(Scalar::Char) || is_constant().unwrap_or_default();
        Written { ty: argument.ty, is_character }
    }

    /// `arguments` are the arguments after the format.
    fn check_format<'a>(
        &mut self,
        format: &[u8],
        span: Span,
        arguments: impl Iterator<Item = (&'a Expr, Written)>,
    ) {
        let mut rest = arguments;
        let mut end = 0;
        for directive in format::directives(format, self.options.std) {
            let text = directive.text.clone();
            let found = format[end..].windows(text.len().max(1)).position(|part| part == text.as_bytes());
            let at = end + found.unwrap_or_default();
            end = (at + text.len()).min(format.len());
            if let Some(problem) = directive.problem {
                let mut diagnostic =
                    Diagnostic::new(Code::PrintfFormat, span, format!("`{text}`: {}", problem.message()))
                        .note(problem.note());
                if text.contains("ll") {
                    diagnostic = diagnostic.help("a `long` has 64 bits and takes one `l`");
                }
                self.report(diagnostic);
                if directive.conversion.is_none() {
                    rest.next();
                    continue;
                }
            }
            if directive.conversion == Some(Conversion::Percent) {
                continue;
            }
            let Some(argument) = rest.next() else {
                self.report(
                    Diagnostic::new(Code::PrintfArgument, span, format!("there is no argument for `{text}`"))
                        .note("OpenCL C 6.15.14: with too few arguments the behavior is undefined"),
                );
                return;
            };
            let literal = |better: &str| {
                found?;
                Some((span, literal(&[&format[..at], better.as_bytes(), &format[end..]].concat())?))
            };
            self.check_directive(&directive, argument, literal);
        }
        if let Some((extra, _)) = rest.next() {
            self.report(
                Diagnostic::new(Code::PrintfArgument, extra.span, "the format does not use this argument")
                    .note(
                        "OpenCL C 6.15.14: arguments that the format does not use are evaluated and ignored",
                    ),
            );
        }
    }

    /// Checks a directive against its argument. `literal` replaces the directive in the format and returns the span of the
    /// format with the new literal.
    fn check_directive(
        &mut self,
        directive: &Directive,
        (argument, written): (&Expr, Written),
        literal: impl Fn(&str) -> Option<(Span, String)>,
    ) {
        // `void` is an error.
        if matches!(argument.ty, TyId::ERROR | TyId::VOID) {
            return;
        }
        let is_literal = self.literal_bytes(argument).is_some();
        let takes_literal = directive.conversion == Some(Conversion::String);
        let is_printed = if takes_literal { is_literal } else { self.matches(directive, argument) };
        if is_printed {
            return;
        }
        let (shown, text) = (self.show(written.ty), &directive.text);
        let mut diagnostic = if takes_literal {
            Diagnostic::new(Code::PrintfArgument, argument.span, NO_STRING_LITERAL)
                .note("OpenCL C 6.15.14.2: the argument of s shall be a literal string")
        } else {
            let message = format!("`{text}` does not print `{shown}`");
            Diagnostic::new(Code::PrintfArgument, argument.span, message).note(
                "OpenCL C 6.15.14.2: an argument of a different type from the directive's is undefined behavior",
            )
        };
        let better = match is_literal {
            true => Some("%s".to_owned()),
            false if takes_literal && self.is_pointer(argument.ty) => {
                diagnostic = diagnostic.help("print its characters one by one, with `%c`");
                None
            }
            false if takes_literal && written.is_character => Some("%c".to_owned()),
            false => self.directive_for(argument.ty),
        };
        if let Some(better) = better {
            diagnostic = diagnostic.help(format!("write `{better}`"));
            if let Some((span, format)) = literal(&better) {
                diagnostic = diagnostic.fix(span, format!("replace `{text}` with `{better}`"), format);
            }
        }
        self.report(diagnostic);
    }

    fn matches(&self, directive: &Directive, argument: &Expr) -> bool {
        let Some(conversion) = directive.conversion else { return true };
        if conversion == Conversion::Pointer {
            return self.is_pointer(argument.ty);
        }
        let Some((scalar, count)) = self.types.components(argument.ty) else { return false };
        if count != directive.vector.unwrap_or(1) || scalar.is_float() != (conversion == Conversion::Float) {
            return false;
        }
        match directive.element_size() {
            // A scalar was promoted: `%hhd` takes an `int`, and `%f` the promoted type of `float`.
            Some(size) if count == 1 => scalar.is_float() || scalar.size() == size.max(4),
            Some(size) => scalar.size() == size,
            // A vector without a length modifier has been reported.
            None => true,
        }
    }

    /// The directive for a value of this type.
    fn directive_for(&self, ty: TyId) -> Option<String> {
        if self.is_pointer(ty) {
            return Some("%p".into());
        }
        let (scalar, count) = self.types.components(ty)?;
        let letter = match scalar {
            _ if scalar.is_float() => "f",
            _ if scalar.is_signed() => "d",
            _ => "u",
        };
        let long = if scalar.size() == 8 && !scalar.is_float() { "l" } else { "" };
        Some(match count {
            1 => format!("%{long}{letter}"),
            _ => {
                let length = match scalar.size() {
                    1 => "hh",
                    2 => "h",
                    4 => "hl",
                    _ => "l",
                };
                format!("%v{count}{length}{letter}")
            }
        })
    }
}

/// The string literal for these bytes. `None` if they are not text.
fn literal(bytes: &[u8]) -> Option<String> {
    let mut text = "\"".to_owned();
    for c in std::str::from_utf8(bytes).ok()?.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => return None,
            c => text.push(c),
        }
    }
    text.push('"');
    Some(text)
}
