//! The expressions of `#if` and `#elif` (C99 6.10.1): integer constant expressions in `intmax_t` and `uintmax_t`.

use kiln_builtins as builtins;
use kiln_session::{
    diag::{Code, Diagnostic},
    extensions::Extension,
};
use kiln_syntax::{
    Interner, Span,
    token::{Keyword, Punct},
};

use super::{
    Preprocessor,
    limits::EXPRESSION_DEPTH,
    token::{Kind, Tok},
};

impl Preprocessor<'_> {
    /// Whether the expression on this line is valid and nonzero.
    pub(super) fn condition(&mut self, line: &[Tok], directive: Span) -> bool {
        if line.is_empty() {
            let message = "this conditional has no expression";
            self.sink.report(Diagnostic::new(Code::Conditional, directive, message));
            return false;
        }
        let outer = std::mem::replace(&mut self.in_condition, true);
        let tokens = self.expand_all(line.iter().map(|token| token.inline()).collect());
        self.in_condition = outer;
        if self.stopped {
            return false;
        }
        let end = line.last().map_or(directive, |token| token.span);
        let mut evaluator = Evaluator { tokens: &tokens, at: 0, end, depth: 0, interner: self.interner };
        let value = evaluator.all();
        match value {
            Ok(value) => value.bits != 0,
            Err((span, message)) => {
                let is_assignment = tokens.iter().any(|token| token.span == span && token.is(Punct::Equal));
                let mut diagnostic = Diagnostic::new(Code::Conditional, span, message).note("C99 6.10.1");
                if is_assignment {
                    diagnostic = diagnostic.help("write `==`").fix(span, "write `==`", "==");
                }
                self.sink.report(diagnostic);
                false
            }
        }
    }

    /// Evaluates an operator that has just been read: parses its operand and returns the result. `None` if the name is not an
    /// operator.
    pub(super) fn operator(&mut self, token: Tok) -> Option<Tok> {
        let name = token.name()?;
        let kind = if name == self.words.defined {
            self.defined(token)
        } else if name == self.words.has_include {
            self.has_include_operator(token)
        } else if self.words.is_query(name) {
            self.query(token)
        } else {
            return None;
        };
        Some(Tok { kind, ..token })
    }

    /// `defined X` or `defined(X)`, whose operand is not expanded.
    fn defined(&mut self, operator: Tok) -> Kind {
        let open = self.pending.pop_if(|token| token.is(Punct::OpenParen));
        let name = self.pending.pop_if(|token| token.name().is_some());
        let tested = name;
        let Some(name) = name.and_then(|token| token.name()) else {
            let message = "the name of a macro must follow `defined`";
            self.sink.report(Diagnostic::new(Code::Conditional, operator.span, message).note("C99 6.10.1"));
            return Kind::Reported;
        };
        if let Some(open) = open
            && self.pending.pop_if(|token| token.is(Punct::CloseParen)).is_none()
        {
            self.sink.report(Diagnostic::new(Code::Conditional, open.span, "this `(` has no `)`"));
            return Kind::Reported;
        }
        if let Some(tested) = tested {
            self.trace_test(tested.span, name);
        }
        self.truth(self.is_macro(name))
    }

    fn has_include_operator(&mut self, operator: Tok) -> Kind {
        let open = self.pending.pop_if(|token| token.is(Punct::OpenParen));
        let rest: Vec<Tok> = self.pending.iter().rev().copied().collect();
        let found = open.and_then(|_| self.has_include(&rest));
        let close =
            found.and_then(|(_, used)| rest.get(used)).is_some_and(|token| token.is(Punct::CloseParen));
        let Some((found, used)) = found.filter(|_| close) else {
            let message = "the name of a file in parentheses must follow `__has_include`";
            self.sink.report(Diagnostic::new(Code::Conditional, operator.span, message));
            return Kind::Reported;
        };
        self.pending.truncate(self.pending.len() - used - 1);
        self.truth(found)
    }

    /// `__has_extension(name)` and similar queries. Unknown names give 0.
    fn query(&mut self, operator: Tok) -> Kind {
        let open = self.pending.pop_if(|token| token.is(Punct::OpenParen));
        let name = open.and_then(|_| self.pending.pop_if(|token| token.name().is_some()));
        let close = name.and_then(|_| self.pending.pop_if(|token| token.is(Punct::CloseParen)));
        let Some(name) = close.and(name).and_then(|token| token.name()) else {
            let text = operator.spelling(self.interner);
            let message = format!("a name in parentheses must follow `{text}`");
            self.sink.report(Diagnostic::new(Code::Conditional, operator.span, message));
            return Kind::Reported;
        };
        let text = self.interner.text(name);
        let holds = if operator.spelling(self.interner) == "__has_builtin" {
            self.macros.is_defined(name) || builtins::is_name(text) || is_form(text)
        } else {
            Extension::parse(text).is_some_and(|extension| self.extensions.has(extension))
        };
        self.truth(holds)
    }

    fn truth(&mut self, holds: bool) -> Kind {
        Kind::Integer(self.interner.intern(if holds { "1" } else { "0" }))
    }
}

/// Whether this is one of clang's builtins whose arguments are types or constants, such as `__builtin_shufflevector`.
fn is_form(text: &str) -> bool {
    text.starts_with("__builtin_") && Keyword::ALL.iter().any(|(word, _)| *word == text)
}

/// A value of type `intmax_t` or `uintmax_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Self {
        Self { bits: value as u64, unsigned: false }
    }

    fn truth(value: bool) -> Self {
        Self::signed(i64::from(value))
    }

    fn is_negative(self) -> bool {
        !self.unsigned && (self.bits as i64) < 0
    }
}

type Outcome = Result<Value, (Span, String)>;

/// Whether an operand is evaluated or only parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Evaluated,
    Skipped,
}

impl Use {
    fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::Skipped }
    }
}

struct Evaluator<'a> {
    tokens: &'a [Tok],
    at: usize,
    end: Span,
    depth: usize,
    interner: &'a Interner,
}

impl Evaluator<'_> {
    fn all(&mut self) -> Outcome {
        let value = self.comma(Use::Evaluated)?;
        match self.tokens.get(self.at) {
            None => Ok(value),
            Some(token) if token.kind == Kind::Reported => Ok(Value::truth(false)),
            Some(token) => Err((
                token.span,
                format!("`{}` is not allowed in a conditional", token.spelling(self.interner)),
            )),
        }
    }

    fn next_is(&mut self, punct: Punct) -> bool {
        let is = self.tokens.get(self.at).is_some_and(|token| token.is(punct));
        self.at += usize::from(is);
        is
    }

    fn nested<T>(
        &mut self,
        span: Span,
        parse: impl FnOnce(&mut Self) -> Result<T, (Span, String)>,
    ) -> Result<T, (Span, String)> {
        if self.depth == EXPRESSION_DEPTH {
            return Err((span, format!("a conditional cannot be nested more than {EXPRESSION_DEPTH} deep")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn comma(&mut self, usage: Use) -> Outcome {
        let mut value = self.conditional(usage)?;
        while self.next_is(Punct::Comma) {
            value = self.conditional(usage)?;
        }
        Ok(value)
    }

    fn conditional(&mut self, usage: Use) -> Outcome {
        let span = self.tokens.get(self.at).map_or(self.end, |token| token.span);
        let condition = self.binary(0, usage)?;
        if !self.next_is(Punct::Question) {
            return Ok(condition);
        }
        let holds = condition.bits != 0;
        let yes = self.nested(span, |inner| inner.comma(usage.only_if(holds)))?;
        if !self.next_is(Punct::Colon) {
            let span = self.tokens.get(self.at).map_or(self.end, |token| token.span);
            return Err((span, "`:` is missing from a conditional operator".to_owned()));
        }
        let no = self.nested(span, |inner| inner.conditional(usage.only_if(!holds)))?;
        let chosen = if holds { yes } else { no };
        Ok(Value { unsigned: yes.unsigned || no.unsigned, ..chosen })
    }

    /// Parses operators with at least this precedence.
    fn binary(&mut self, min: u8, usage: Use) -> Outcome {
        let mut left = self.unary(usage)?;
        while let Some((operator, span)) = self.tokens.get(self.at).and_then(operator) {
            let precedence = precedence(operator);
            if precedence < min {
                break;
            }
            self.at += 1;
            let right_usage = match operator {
                Punct::AndAnd => usage.only_if(left.bits != 0),
                Punct::OrOr => usage.only_if(left.bits == 0),
                _ => usage,
            };
            let right = self.binary(precedence + 1, right_usage)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None if usage == Use::Skipped => Value::truth(false),
                None => return Err((span, "a conditional divides by zero".to_owned())),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, usage: Use) -> Outcome {
        let first = self.at;
        while let Some(token) = self.tokens.get(self.at)
            && let Kind::Punct(Punct::Plus | Punct::Minus | Punct::Tilde | Punct::Not) = token.kind
        {
            self.at += 1;
        }
        let last = self.at;
        let mut value = self.primary(usage)?;
        for token in self.tokens[first..last].iter().rev() {
            value = match token.kind {
                Kind::Punct(Punct::Minus) => Value { bits: value.bits.wrapping_neg(), ..value },
                Kind::Punct(Punct::Tilde) => Value { bits: !value.bits, ..value },
                Kind::Punct(Punct::Not) => Value::truth(value.bits == 0),
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, usage: Use) -> Outcome {
        let Some(token) = self.tokens.get(self.at) else {
            return Err((self.end, "an operand is missing at the end of a conditional".to_owned()));
        };
        self.at += 1;
        let text = token.spelling(self.interner);
        match token.kind {
            Kind::Integer(_) | Kind::Floating(_) => integer(text).map_err(|message| (token.span, message)),
            Kind::Character(_) => character(text).map_err(|message| (token.span, message)),
            Kind::Name(_) if self.tokens.get(self.at).is_some_and(|next| next.is(Punct::OpenParen)) => {
                Err((token.span, format!("there is no macro `{text}` that takes arguments")))
            }
            // C99 6.10.1 paragraph 4: other names are 0. OpenCL C 6.3.1: `true` is 1.
            Kind::Name(_) => Ok(Value::truth(text == "true")),
            Kind::Punct(Punct::OpenParen) => {
                let value = self.nested(token.span, |inner| inner.comma(usage))?;
                if self.next_is(Punct::CloseParen) {
                    return Ok(value);
                }
                Err((token.span, "this `(` has no `)`".to_owned()))
            }
            Kind::Reported => {
                self.at = self.tokens.len();
                Ok(Value::truth(false))
            }
            _ => Err((token.span, format!("`{text}` is not allowed in a conditional"))),
        }
    }
}

fn operator(token: &Tok) -> Option<(Punct, Span)> {
    match token.kind {
        Kind::Punct(punct) if precedence(punct) != 0 => Some((punct, token.span)),
        _ => None,
    }
}

/// C99 6.5.5 to 6.5.14. 0 for tokens that are not binary operators.
fn precedence(punct: Punct) -> u8 {
    match punct {
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        Punct::Plus | Punct::Minus => 9,
        Punct::ShiftLeft | Punct::ShiftRight => 8,
        Punct::Less | Punct::Greater | Punct::LessEqual | Punct::GreaterEqual => 7,
        Punct::EqualEqual | Punct::NotEqual => 6,
        Punct::And => 5,
        Punct::Caret => 4,
        Punct::Or => 3,
        Punct::AndAnd => 2,
        Punct::OrOr => 1,
        _ => 0,
    }
}

/// Applies an operator. `None` for a division by zero.
fn apply(operator: Punct, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let number = |bits| Value { bits, unsigned };
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    Some(match operator {
        Punct::Star => number(a.wrapping_mul(b)),
        Punct::Plus => number(a.wrapping_add(b)),
        Punct::Minus => number(a.wrapping_sub(b)),
        Punct::Slash | Punct::Percent if b == 0 => return None,
        Punct::Slash => number(if unsigned { a / b } else { sa.wrapping_div(sb) as u64 }),
        Punct::Percent => number(if unsigned { a % b } else { sa.wrapping_rem(sb) as u64 }),
        Punct::ShiftLeft | Punct::ShiftRight => shift(operator, left, right),
        Punct::Less => Value::truth(order.is_lt()),
        Punct::Greater => Value::truth(order.is_gt()),
        Punct::LessEqual => Value::truth(order.is_le()),
        Punct::GreaterEqual => Value::truth(order.is_ge()),
        Punct::EqualEqual => Value::truth(a == b),
        Punct::NotEqual => Value::truth(a != b),
        Punct::And => number(a & b),
        Punct::Caret => number(a ^ b),
        Punct::Or => number(a | b),
        Punct::AndAnd => Value::truth(a != 0 && b != 0),
        Punct::OrOr => Value::truth(a != 0 || b != 0),
        _ => number(0),
    })
}

/// A negative shift amount shifts the other way. An amount that is too large leaves only the sign.
fn shift(operator: Punct, left: Value, right: Value) -> Value {
    let leftward = (operator == Punct::ShiftLeft) != right.is_negative();
    let amount = if right.is_negative() { right.bits.wrapping_neg() } else { right.bits };
    let amount = amount.min(u64::from(u32::MAX)) as u32;
    let bits = match (leftward, left.unsigned) {
        (true, _) => left.bits.checked_shl(amount).unwrap_or(0),
        (false, true) => left.bits.checked_shr(amount).unwrap_or(0),
        (false, false) => ((left.bits as i64) >> amount.min(63)) as u64,
    };
    Value { bits, ..left }
}

/// C99 6.4.4.1. The type is `intmax_t` or `uintmax_t`.
fn integer(text: &str) -> Result<Value, String> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', ..] => (8, lower.as_str()),
        _ => (10, lower.as_str()),
    };
    let length = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let (digits, suffix) = digits.split_at(length);
    let unsigned = match suffix {
        "" | "l" | "ll" => false,
        "u" | "ul" | "lu" | "ull" | "llu" => true,
        _ if suffix.contains(['.', 'e', 'p', 'f']) && radix != 2 => {
            return Err(format!("a conditional needs an integer, not `{text}`"));
        }
        _ => return Err(format!("`{text}` is not an integer constant")),
    };
    if digits.is_empty() {
        return Err(format!("`{text}` is not an integer constant"));
    }
    let bits = u64::from_str_radix(digits, radix).map_err(|_| format!("`{text}` does not fit 64 bits"))?;
    Ok(Value { bits, unsigned: unsigned || bits > i64::MAX as u64 })
}

/// C99 6.4.4.4: the value of a character constant. `char` is signed (OpenCL C 6.3.1).
fn character(text: &str) -> Result<Value, String> {
    let wide = text.starts_with('L');
    let quoted = text.strip_prefix('L').unwrap_or(text);
    let inside = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let mut values: Vec<u32> = Vec::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            values.push(c as u32);
            continue;
        }
        let escape = rest.next().unwrap_or('\\');
        values.push(match escape {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'x' => {
                let mut value = 0_u32;
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    rest.next();
                }
                value
            }
            '0'..='7' => {
                let mut value = escape.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                value
            }
            other => other as u32,
        });
    }
    match values.as_slice() {
        [] => Err("a character constant cannot be empty".to_owned()),
        [one] if wide || *one > 255 => Ok(Value::signed(i64::from(*one))),
        [one] => Ok(Value::signed(i64::from(*one as u8 as i8))),
        several => {
            let joined = several.iter().fold(0_u32, |joined, value| joined << 8 | (value & 255));
            Ok(Value::signed(i64::from(joined as i32)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_constants_are_parsed() {
        assert_eq!(integer("0x7fffffffffffffff"), Ok(Value::signed(i64::MAX)));
        assert_eq!(integer("18446744073709551615"), Ok(Value { bits: u64::MAX, unsigned: true }));
        assert_eq!(integer("010uLL"), Ok(Value { bits: 8, unsigned: true }));
        assert!(integer("08").is_err() && integer("1.0").is_err() && integer("0x").is_err());
        assert!(integer("18446744073709551616").is_err() && integer("1z").is_err());
        assert_eq!(character("'a'"), Ok(Value::signed(97)));
        assert_eq!(character("'\\377'"), Ok(Value::signed(-1)));
        assert_eq!(character("'\\''"), Ok(Value::signed(39)));
        assert_eq!(character("'\\\\'"), Ok(Value::signed(92)));
        assert_eq!(character("'ab'"), Ok(Value::signed(0x6162)));
        assert_eq!(character("L'\\xff'"), Ok(Value::signed(255)));
        assert!(character("''").is_err());
    }
}
