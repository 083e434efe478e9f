//! Syntax of other languages and typical typos. Recognized by the text around a syntax error, so that the
//! parser needs no rules for them. Must not change which errors are reported, only their messages and fixes.

use std::ops::Range;

use kiln_session::{
    diag::{Code, Diagnostic},
    source::{FileId, SourceMap},
};
use kiln_syntax::{
    Interner, Span,
    parse::{Construct, Expected, SyntaxError, SyntaxErrorKind as Kind},
    token::{Keyword, Punct, TokenKind},
};
use kiln_types::ty;

use super::words::{self, identifier_end, last_word};
use crate::{attributes, foreign};

/// A better diagnostic for an error whose cause is known.
pub(super) fn explain(error: &SyntaxError, sources: &SourceMap, interner: &Interner) -> Option<Diagnostic> {
    let context = ErrorContext::new(error, sources)?;
    if let Some(name) = sources.macro_name(error.span.lo) {
        let name = interner.text(name);
        return context
            .macro_value(name)
            .or_else(|| spaced_parameters(error.span, name, sources))
            .or_else(|| context.macro_as_name(name));
    }
    if let Kind::Expected { what, found: Some(_) } = error.kind
        && let Some(diagnostic) =
            context.declaration_after_label(what).or_else(|| context.decimal_comma(what))
    {
        return Some(diagnostic);
    }
    match error.kind {
        Kind::Expected { what, found: Some(found) } => {
            let is_semicolon = what == Expected::Mark(Punct::Semicolon);
            let (known, is_name) = match found {
                TokenKind::Name(name) if what != Expected::Mark(Punct::OpenParen) => {
                    (context.operator_word(interner.text(name)).or_else(|| context.using()), true)
                }
                _ => (context.expected(what, found), false),
            };
            known
                .or_else(|| context.part_of_for().filter(|_| is_semicolon || is_name))
                .or_else(|| context.semicolon_of_line().filter(|_| is_semicolon))
        }
        Kind::Unexpected { found: TokenKind::Punct(Punct::Semicolon) } => context.after_macro(),
        Kind::Unexpected { found: TokenKind::Punct(Punct::And | Punct::AndAnd) } => context.reference(),
        Kind::Unexpected { found: TokenKind::Punct(Punct::Star) } => context.star_after_name(),
        Kind::Unexpected { found: TokenKind::Punct(found) } => context.split_operator(found.spelling()),
        Kind::Unexpected { found: TokenKind::Keyword(keyword) } => {
            context.cast_of_cpp().or_else(|| context.conversion(keyword))
        }
        Kind::TypeAsValue(_) => context.cast_of_cpp(),
        Kind::Missing { mark: Punct::Semicolon, after, .. } => {
            let other = || context.name_of_declaration(after).or_else(|| context.part_of_for());
            context.statement_word(after).or_else(other)
        }
        Kind::Missing { mark: Punct::Comma, after: Construct::Declaration, .. } => context.bare_body(),
        Kind::Missing { mark: Punct::OpenParen, .. } => context.block_without_caret(),
        Kind::Missing { mark: Punct::Equal, .. } => context.enum_class(),
        Kind::StrayElse { condition: Some(condition) } => context.stray_else(condition),
        Kind::MissingType(name) if attributes::is_attribute(interner.text(name)) => context.attribute(),
        _ => None,
    }
}

/// A syntax error and the text around it.
pub(super) struct ErrorContext<'s> {
    sources: &'s SourceMap,
    pub(super) file: FileId,
    pub(super) text: &'s str,
    /// The range of the error.
    pub(super) at: Range<usize>,
    pub(super) span: Span,
}

impl<'s> ErrorContext<'s> {
    pub(super) fn new(error: &SyntaxError, sources: &'s SourceMap) -> Option<Self> {
        let location = sources.spelling(error.span)?;
        let text = sources.file(location.file).text.as_ref();
        Some(Self { sources, file: location.file, text, at: location.range, span: error.span })
    }

    /// The text before the error, without white space at its end.
    pub(super) fn before(&self) -> &'s str {
        self.text[..self.at.start].trim_end()
    }

    /// The rest of the line after the start of the error.
    pub(super) fn rest_of_line(&self) -> &'s str {
        let rest = &self.text[self.at.start..];
        rest[..rest.find('\n').unwrap_or(rest.len())].trim_end()
    }

    pub(super) fn span_of(&self, range: Range<usize>) -> Span {
        self.sources.span(self.file, range)
    }

    /// The range of a span, if it is in the file of the error and not in a macro.
    pub(super) fn range_in_file(&self, span: Span) -> Option<Range<usize>> {
        let location = self.sources.spelling(span)?;
        let is_plain = location.file == self.file && self.sources.macro_name(span.lo).is_none();
        is_plain.then_some(location.range)
    }

    pub(super) fn report(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::Syntax, self.span, message)
    }

    /// A message about a range, and the text that is meant there.
    pub(super) fn replace(&self, range: Range<usize>, message: impl Into<String>, meant: &str) -> Diagnostic {
        let span = self.span_of(range);
        Diagnostic::new(Code::Syntax, span, message).help(format!("write `{meant}`")).replace(span, meant)
    }

    fn expected(&self, what: Expected, found: TokenKind) -> Option<Diagnostic> {
        use Expected::{Declaration, Expression, Item, Mark, Name, Parameter, Statement};
        let TokenKind::Punct(found) = found else {
            if let Some(diagnostic) = self.separated_digits() {
                return Some(diagnostic);
            }
            return match what {
                Mark(Punct::OpenParen) => self.condition(),
                Name => self.repeated_type().or_else(|| self.function_without_name()),
                Expression => self.cast_of_cpp(),
                _ => None,
            };
        };
        match (what, found) {
            (Mark(Punct::OpenParen), _) => self.condition(),
            (Mark(Punct::CloseParen | Punct::Comma), Punct::Star) => self.star_after_name(),
            (Mark(Punct::Comma), Punct::Semicolon) => self.separator(),
            (Mark(Punct::Semicolon), Punct::OpenBrace) => self.member_function(),
            (Mark(Punct::Colon), Punct::Comma) => self.label_list(),
            (Mark(Punct::Colon), Punct::Equal) => self.member_value(),
            (Mark(Punct::CloseParen | Punct::Comma), Punct::Equal) => self.layout(),
            (Expression | Parameter, Punct::CloseParen | Punct::CloseBracket) => {
                self.trailing_comma(what).or_else(|| self.delete())
            }
            (Expression, Punct::OpenBrace) => Some(self.braces()),
            (Expression, Punct::CloseBrace) => self.comma_at_end(),
            (Statement, Punct::CloseBrace) => self.label_at_end(),
            (Statement, Punct::AndAnd | Punct::OrOr) => self.condition_that_ends(found.spelling()),
            (Item | Declaration, Punct::OpenBrace) => self.body_after_semicolon(),
            (Name, Punct::OpenBracket) => self.keyword_as_name().or_else(|| self.brackets_before_name()),
            (Name, Punct::Colon) => self.type_of_enum().or_else(|| self.keyword_as_name()),
            (Name, _) => self.keyword_as_name(),
            (_, Punct::OpenBracket) => self.attribute_in_brackets(),
            (_, Punct::Colon) => self.qualified_name(),
            (Expression, _) => self
                .launch()
                .or_else(|| self.split_operator(found.spelling()))
                .or_else(|| self.lonely_comparison(found.spelling())),
            _ => None,
        }
    }

    /// `#define N 16;` and `#define N = 16`
    fn macro_value(&self, name: &str) -> Option<Diagnostic> {
        let line = self.before().rfind('\n').map_or(0, |end| end + 1);
        let value = words::definition(&self.text[line..self.at.start], name)?;
        let written = &self.text[self.at.clone()];
        let is_last = self.text[self.at.end..].trim_start_matches([' ', '\t', '\r']).starts_with(['\n', '/']);
        let message = match written {
            ";" if is_last => format!("the definition of macro `{name}` ends in `;`"),
            "=" | "==" if value.trim().is_empty() => {
                format!("the definition of macro `{name}` begins with `{written}`")
            }
            _ => return None,
        };
        Some(self.in_definition(message, self.at.clone()))
    }

    /// `int f(int a; int b)`, `enum { A; B }`
    fn separator(&self) -> Option<Diagnostic> {
        let before = self.before();
        let statement = before.rfind([';', '{', '}']).map_or(before, |at| &before[at + 1..]);
        if statement.contains('?') {
            let diagnostic = self.report("this `?` has no `:`");
            return Some(diagnostic.help("`a ? b : c` is `b` if `a` is not 0, otherwise `c`"));
        }
        let open = words::enclosing(before)?;
        let ahead = before[..open].trim_end();
        let parts = match before[open..].starts_with('{') {
            true if ahead.ends_with('=') => "the values of an initializer",
            true if last_word(ahead) == "enum" => "enumerators",
            true if last_word(ahead[..ahead.len() - last_word(ahead).len()].trim_end()) == "enum" => {
                "enumerators"
            }
            true => return None,
            false => "parameters and arguments",
        };
        let message = format!("{parts} are separated by `,`, not `;`");
        Some(self.replace(self.at.clone(), message, ","))
    }

    /// `out[0] = n, }`
    fn comma_at_end(&self) -> Option<Diagnostic> {
        let end = self.before().strip_suffix(',')?.len();
        Some(self.replace(end..end + 1, "a statement ends with `;`, not `,`", ";"))
    }

    /// `1'000'000`
    fn separated_digits(&self) -> Option<Diagnostic> {
        let before = self.before();
        let digits = last_word(before);
        let is_adjacent = before.len() == self.at.start && self.text[self.at.start..].starts_with('\'');
        if !is_adjacent || !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let start = before.len() - digits.len();
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '\'')).unwrap_or(rest.len());
        let meant = rest[..length].replace('\'', "");
        Some(self.replace(start..start + length, "the digits of a number cannot be separated by `'`", &meant))
    }

    /// A `;` that is missing at the end of a line. The error is on a later line.
    fn semicolon_of_line(&self) -> Option<Diagnostic> {
        let start = self.before().rfind('\n').map_or(0, |end| end + 1);
        let line = &self.before()[start..];
        // If this `//` is in a literal, the quote before it rejects the line below.
        let code = line[..line.find("//").unwrap_or(line.len())].trim_end();
        let is_before_error = self.text[start..self.at.start].contains('\n');
        if !is_before_error || code.is_empty() || code.ends_with("*/") || code.contains(['"', '\'']) {
            return None;
        }
        let end = start + code.len();
        let span = self.span_of(end..end);
        let diagnostic = Diagnostic::new(Code::Syntax, span, "expected `;` at the end of this line");
        Some(diagnostic.help("insert `;`").fix(span, "insert `;`", ";"))
    }

    /// An error after the use of a macro whose definition ends in `;`.
    fn after_macro(&self) -> Option<Diagnostic> {
        let name = last_word(self.before());
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let end = start + line.trim_end().len();
            if end <= self.at.start
                && let Some(value) = words::definition(line, name)
                && value.trim_end().ends_with(';')
            {
                let message = format!("the definition of macro `{name}` ends in `;`");
                return Some(self.in_definition(message, end - 1..end));
            }
            start += line.len();
        }
        None
    }

    /// A report about a mark in a macro definition.
    fn in_definition(&self, message: String, mark: Range<usize>) -> Diagnostic {
        let written = &self.text[mark.clone()];
        let span = self.span_of(mark);
        Diagnostic::new(Code::Syntax, span, message)
            .also(self.span, "a use of the macro")
            .help(format!("remove the `{written}`: it becomes part of each use"))
            .fix(span, format!("remove `{written}`"), "")
    }

    /// `a and b`
    fn operator_word(&self, word: &str) -> Option<Diagnostic> {
        let meant = words::operator(word)?;
        Some(self.replace(self.at.clone(), format!("`{word}` is not an operator of OpenCL C"), meant))
    }

    /// An operator with a blank in it, or of another language: `= =`, `=>`, `<>`.
    fn split_operator(&self, second: &str) -> Option<Diagnostic> {
        let before = self.before();
        let first = &before[before.trim_end_matches(words::OPERATORS).len()..];
        let is_adjacent = before.len() == self.at.start;
        let meant = words::joined(first, second, is_adjacent)?;
        let range = before.len() - first.len()..self.at.end;
        let written = &self.text[range.clone()];
        Some(self.replace(range, format!("`{written}` is not an operator of OpenCL C"), meant))
    }

    /// `if n > 0 {`
    fn condition(&self) -> Option<Diagnostic> {
        let word = last_word(self.before());
        if word == "for" {
            let diagnostic = self.report("the parts of `for` are not in parentheses");
            return Some(diagnostic.help("a loop over indices is `for (int i = 0; i < n; i++)`"));
        }
        if !matches!(word, "if" | "while" | "switch") {
            return None;
        }
        let line = self.rest_of_line();
        if line.starts_with('{') {
            let diagnostic = self.report(format!("this `{word}` has no condition"));
            return Some(diagnostic.help(format!("write it in parentheses after `{word}`")));
        }
        let diagnostic = self.report(format!("the condition of `{word}` is not in parentheses"));
        let condition = line[..line.find('{').unwrap_or(0)].trim_end();
        let span = self.span_of(self.at.start..self.at.start + condition.len());
        let diagnostic = diagnostic.help("write `(` and `)` around it");
        Some(match condition {
            "" => diagnostic,
            _ => diagnostic.fix(span, format!("write `({condition})`"), format!("({condition})")),
        })
    }

    /// `max(n,)`
    fn trailing_comma(&self, what: Expected) -> Option<Diagnostic> {
        let end = self.before().strip_suffix(',')?.len();
        let span = self.span_of(end..end + 1);
        let missing = if what == Expected::Parameter { "parameter" } else { "expression" };
        let message = format!("there is no {missing} after this `,`");
        Some(Diagnostic::new(Code::Syntax, span, message).help("remove the `,`").fix(span, "remove `,`", ""))
    }

    /// `v = {1, 2}`, outside of a declaration.
    fn braces(&self) -> Diagnostic {
        self.report("a list in braces is an initializer, not an expression")
            .help("name its type: `(float4)(…)` is a vector, `(struct S){…}` a struct")
    }

    /// `case 1: int x = 2;`
    fn declaration_after_label(&self, what: Expected) -> Option<Diagnostic> {
        let found = &self.text[self.at.clone()];
        if what != Expected::Statement
            || !self.before().ends_with(':')
            || !found.starts_with(char::is_alphabetic)
        {
            return None;
        }
        let diagnostic = self.report("a declaration cannot follow a label").help("write `;` before it");
        Some(diagnostic.note("C99 6.8.1: a label is followed by a statement").fix(
            self.span,
            "insert `;`",
            format!("; {found}"),
        ))
    }

    /// `float x = 1,5;`
    fn decimal_comma(&self, what: Expected) -> Option<Diagnostic> {
        let is_number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
        let before = self.before().strip_suffix(',').filter(|before| is_number(before))?;
        if what != Expected::Name || !self.text[self.at.clone()].starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if let Some(diagnostic) = self.bare_components(before.len()) {
            return Some(diagnostic);
        }
        let comma = before.len()..before.len() + 1;
        (self.at.start == comma.end)
            .then(|| self.replace(comma, "the decimal mark of a number is `.`, not `,`", "."))
    }

    /// `float4 v = 1, 2, 3, 4;`: the first number ends here.
    fn bare_components(&self, end: usize) -> Option<Diagnostic> {
        let start = self.text[..end].rfind([';', '{', '}', '(']).map_or(0, |at| at + 1);
        let equals = start + self.text[start..end].find('=')?;
        let name = self.text[start..equals].split_whitespace().next()?;
        let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_scalar = matches!(
            scalar,
            "char"
                | "uchar"
                | "short"
                | "ushort"
                | "int"
                | "uint"
                | "long"
                | "ulong"
                | "half"
                | "float"
                | "double"
        );
        if !is_scalar || !matches!(&name[scalar.len()..], "2" | "3" | "4" | "8" | "16") {
            return None;
        }
        let value = self.text[equals + 1..].split(';').next()?;
        let first = equals + 1 + (value.len() - value.trim_start().len());
        let value = value.trim();
        let message = "the components of a vector need its type and parentheses";
        Some(self.replace(first..first + value.len(), message, &format!("({name})({value})")))
    }

    /// `end: }`
    fn label_at_end(&self) -> Option<Diagnostic> {
        let before = self.before();
        let label = last_word(before.strip_suffix(':')?);
        let end = self.span_of(before.len()..before.len());
        let message = match label {
            "" => return None,
            "default" => "a statement must follow `default:`".to_owned(),
            _ => format!("a statement must follow the label `{label}`"),
        };
        Some(Diagnostic::new(Code::Syntax, end, message).help("write `;` after it").fix(
            end,
            "insert `;`",
            ";",
        ))
    }

    /// `void f(int a); {`
    fn body_after_semicolon(&self) -> Option<Diagnostic> {
        let end = self.before().strip_suffix(';').filter(|before| before.trim_end().ends_with(')'))?.len();
        let span = self.span_of(end..end + 1);
        let diagnostic = Diagnostic::new(Code::Syntax, span, "this `;` separates the function from its body");
        Some(diagnostic.also(self.span, "the body").help("remove the `;`").fix(span, "remove `;`", ""))
    }

    /// `int[4] a`
    fn brackets_before_name(&self) -> Option<Diagnostic> {
        let line = self.rest_of_line();
        let brackets = &line[..line.find(']')? + 1];
        let name = line[brackets.len()..].trim_start();
        let name = &name[..identifier_end(name)];
        if name.is_empty() || !last_word(self.before()).starts_with(|c: char| c.is_alphabetic()) {
            return None;
        }
        let start = self.at.start;
        let end = start + brackets.len() + line[brackets.len()..].find(name)? + name.len();
        let is_function = self.text[end..].trim_start().starts_with('(');
        let span = self.span_of(start..start + brackets.len());
        let diagnostic = Diagnostic::new(Code::Syntax, span, "the brackets of an array follow its name");
        if is_function {
            return Some(
                diagnostic.help("a function cannot return an array; return a struct, or pass a pointer"),
            );
        }
        let meant = format!(" {name}{brackets}");
        let meant = if self.before().len() < start { meant.trim_start() } else { &meant };
        let help = format!("write `{}`", meant.trim_start());
        Some(diagnostic.help(help.clone()).fix(self.span_of(start..end), help, meant))
    }

    /// `int a*`, in a declaration
    fn star_after_name(&self) -> Option<Diagnostic> {
        let before = self.before();
        let name = last_word(before);
        let ahead = before[..before.len() - name.len()].trim_end();
        let ty = last_word(ahead);
        let begins_type = |keyword: Keyword| {
            use Keyword::{Case, Else, Goto, Return, Sizeof};
            !matches!(keyword, Case | Else | Goto | Return | Sizeof)
        };
        let is_keyword = Keyword::ALL.iter().any(|&(word, keyword)| word == ty && begins_type(keyword));
        let is_type = is_keyword || ty::meaning(ty).is_some();
        if name.is_empty() || !(is_type || ahead.ends_with('*')) {
            return None;
        }
        let help = format!("write `*{name}`");
        let range = before.len() - name.len()..self.at.end;
        let diagnostic = self.report("the `*` of a pointer precedes its name").help(help.clone());
        Some(diagnostic.fix(self.span_of(range), help, format!("*{name}")))
    }

    /// `[[name(64)]]`
    fn attribute_in_brackets(&self) -> Option<Diagnostic> {
        if let Some(diagnostic) = self.thread_group_size().or_else(|| self.position_in_brackets()) {
            return Some(diagnostic);
        }
        let inner = self.rest_of_line().strip_prefix("[[")?;
        let inner = &inner[..inner.find("]]")?];
        let meant = format!("__attribute__(({}))", inner.trim());
        let range = self.at.start..self.at.start + inner.len() + 4;
        Some(self.replace(range, "OpenCL C has no attributes in brackets", &meant))
    }

    /// `reqd_work_group_size(64, 1, 1)`, without `__attribute__`.
    fn attribute(&self) -> Option<Diagnostic> {
        let name = &self.text[self.at.clone()];
        let behind = &self.text[self.at.end..];
        let arguments = match behind.starts_with('(') {
            true => &behind[..behind.find(')')? + 1],
            false => "",
        };
        let meant = format!("__attribute__(({name}{arguments}))");
        let range = self.at.start..self.at.end + arguments.len();
        Some(self.replace(range, format!("`{name}` is an attribute"), &meant))
    }

    /// A statement that begins with a word of another language: `elif (…)`, `until (…)`, `… then`.
    fn statement_word(&self, after: Construct) -> Option<Diagnostic> {
        let before = self.before();
        if last_word(before) == "then" {
            let range = before.len() - "then".len()..before.len();
            let span = self.span_of(range);
            let diagnostic = Diagnostic::new(Code::Syntax, span, "OpenCL C has no word `then`");
            return Some(diagnostic.help("remove it").remove(span, "remove `then`"));
        }
        if let Some(diagnostic) = self.word_of_cpp(after) {
            return Some(diagnostic);
        }
        let open = words::opening(before)?;
        let word = last_word(before[..open].trim_end());
        let start = before[..open].trim_end().len() - word.len();
        let condition = &before[open..];
        let unknown = format!("OpenCL C has no statement `{word}`");
        Some(match word {
            "else" => self.replace(start..start + word.len(), "`else` has no condition", "else if"),
            "elif" | "elsif" | "elseif" => self.replace(start..start + word.len(), unknown, "else if"),
            "until" => self.replace(start..before.len(), unknown, &format!("while (!{condition})")),
            "unless" => self.replace(start..before.len(), unknown, &format!("if (!{condition})")),
            "foreach" | "loop" | "repeat" => {
                let span = self.span_of(start..start + word.len());
                Diagnostic::new(Code::Syntax, span, unknown).help("use a `for` loop with an index")
            }
            _ => return None,
        })
    }

    /// A qualified name of C++, such as `std::max`. The error is at one of the colons.
    fn qualified_name(&self) -> Option<Diagnostic> {
        let before = self.before().strip_suffix(':').unwrap_or(self.before());
        let qualifier = last_word(before);
        let rest = &self.text[before.len()..].trim_start();
        let behind = rest.strip_prefix("::")?.trim_start();
        let name = &behind[..identifier_end(behind)];
        if qualifier.is_empty() || name.is_empty() {
            return None;
        }
        let start = before.len() - qualifier.len();
        let range = start..self.text.len() - behind.len() + name.len();
        let message = format!("`{qualifier}::` is C++; OpenCL C has no namespaces");
        if let "cout" | "cerr" | "endl" | "cin" = name {
            let diagnostic = Diagnostic::new(Code::Syntax, self.span_of(range), message);
            return Some(diagnostic.help("print with `printf`, as in `printf(\"%d\\n\", n)`"));
        }
        let meant = if qualifier == "std" { equivalent(name) } else { Some(name) };
        let diagnostic = |range| Diagnostic::new(Code::Syntax, self.span_of(range), message.clone());
        Some(match (meant, name) {
            (Some(meant), _) => self.replace(range, message, meant),
            (None, "numeric_limits") => {
                diagnostic(range).help("use a macro such as `FLT_MAX`, `FLT_EPSILON` or `INT_MAX`")
            }
            (None, "array" | "vector") => {
                diagnostic(range).help("declare an array of a length that is known to the compiler")
            }
            (None, _) => diagnostic(range),
        })
    }
}

/// What OpenCL C has instead of a name of the C++ library.
fn equivalent(name: &str) -> Option<&str> {
    let is_same = kiln_builtins::is_name(name) || ty::meaning(name).is_some() || ty::constant(name).is_some();
    let other = || foreign::type_for(name).or_else(|| foreign::function_for(name, kiln_builtins::is_name));
    if is_same { Some(name) } else { other() }
}

/// `#define MAX (a, b) …`: the blank makes the parameters a part of the replacement list. `span` is in that list, in an
/// expansion of the macro.
pub(super) fn spaced_parameters(span: Span, name: &str, sources: &SourceMap) -> Option<Diagnostic> {
    let body = sources.spelling(span)?;
    let text = sources.file(body.file).text.as_ref();
    let start = words::directive_start(&text[..body.range.start]);
    let value = words::definition(&text[start..], name)?;
    let list = value.trim_start_matches([' ', '\t']);
    let inside = &list.strip_prefix('(')?[..list.find(')')? - 1];
    let is_between = |c: char| c.is_whitespace() || c == '\\';
    let parameters: Vec<&str> = inside.split(',').map(|word| word.trim_matches(is_between)).collect();
    if !parameters.iter().all(|word| !word.is_empty() && identifier_end(word) == word.len()) {
        return None;
    }
    let call = sources.resolve(span)?;
    let behind = &sources.file(call.file).text[call.range.end..];
    if !behind.trim_start().starts_with('(') {
        return None;
    }
    let open = start + text[start..].find(list)?;
    let blank = sources.span(body.file, open - (value.len() - list.len())..open);
    let message = format!("`{name}` has no parameters, because a blank precedes this `(`");
    Some(
        Diagnostic::new(Code::MacroDefinition, sources.span(body.file, open..open + 1), message)
            .also(sources.span(call.file, call.range), "a use of the macro")
            .help(format!("remove the blank: `{name}({})` has parameters", parameters.join(", ")))
            .fix(blank, "remove the blank", "")
            .note("C99 6.10.3"),
    )
}
