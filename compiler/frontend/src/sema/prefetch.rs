//! `__builtin_prefetch` of GNU C and clang. It has no effect on results, so only its arguments are evaluated.

use std::ops::RangeInclusive;

use kiln_session::diag::{Code, Diagnostic};

use super::Sema;
use crate::hir::Expr;

/// The arguments after the address: what they are in messages, and their values.
const HINTS: [(&str, RangeInclusive<i128>, &str); 2] = [
    ("the access of a prefetch", 0..=1, "0 for a read, 1 for a write"),
    (
        "the locality of a prefetch",
        0..=3,
        "0 for data that is used once, up to 3 for data that is used often",
    ),
];

impl Sema<'_> {
    /// Whether the arguments after the address are legal.
    pub(super) fn check_prefetch(&mut self, arguments: &[Expr]) -> bool {
        let hints = arguments.iter().skip(1).zip(HINTS);
        hints.fold(true, |is_sound, (value, hint)| self.check_hint(value, hint) && is_sound)
    }

    fn check_hint(&mut self, value: &Expr, (what, legal, help): (&str, RangeInclusive<i128>, &str)) -> bool {
        let Some(given) = self.integer_constant_value(value, what) else { return false };
        if !legal.contains(&given) {
            let message = format!("{what} is {} to {}, not {given}", legal.start(), legal.end());
            self.report(Diagnostic::new(Code::ConstantExpression, value.span, message).help(help));
            return false;
        }
        true
    }
}
