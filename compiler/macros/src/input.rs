//! Parses the input of the macros: a string, then `name = value` pairs.

use std::path::Path;

use kiln_build::{LanguageVersion, MacroOption, Options, Workarounds, device_profile};
use proc_macro::{Literal, Span, TokenStream, TokenTree, token_stream};

/// The input of a macro.
pub(crate) struct Input {
    /// The first string: a path or a source.
    pub(crate) text: String,
    /// The location of the string.
    span: Span,
    /// The compiler options from the pairs.
    pub(crate) options: Options,
    /// The directory that paths are relative to.
    pub(crate) folder: String,
    /// Overrides the workarounds of the device profile.
    workarounds: Option<Workarounds>,
    /// The files that options were read from.
    pub(crate) read: Vec<String>,
}

/// An error message and its location.
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Input {
    /// An error about the whole source.
    pub(crate) fn problem(&self, text: String) -> Problem {
        Problem { span: self.span, text }
    }
}

/// Parses the input.
pub(crate) fn parse(input: TokenStream, folder: String) -> Result<Input, Problem> {
    let mut tokens = input.into_iter();
    let (text, span) = match tokens.next() {
        Some(token) => (string(&token)?, token.span()),
        None => return Err(problem(Span::call_site(), "a string literal is expected")),
    };
    let options = Options::default();
    let mut input = Input { text, span, options, folder, workarounds: None, read: Vec::new() };
    while let Some(token) = tokens.next() {
        if token.to_string() != "," {
            return Err(problem(token.span(), "a comma is expected"));
        }
        let Some(name) = tokens.next() else { break };
        let value = value(&mut tokens, &name)?;
        input.option(&name, &value)?;
    }
    if let Some(workarounds) = input.workarounds {
        input.options.target.workarounds = workarounds;
    }
    Ok(input)
}

/// Parses the rest of an option after its name: `= literal`.
fn value(tokens: &mut token_stream::IntoIter, name: &TokenTree) -> Result<TokenTree, Problem> {
    match (tokens.next(), tokens.next()) {
        (Some(sign), Some(value)) if sign.to_string() == "=" => Ok(value),
        _ => Err(problem(name.span(), "`name = value` is expected")),
    }
}

impl Input {
    fn option(&mut self, name: &TokenTree, value: &TokenTree) -> Result<(), Problem> {
        let options = &mut self.options;
        match name.to_string().as_str() {
            "std" => {
                options.std = LanguageVersion::parse(&string(value)?).ok_or_else(|| {
                    problem(
                        value.span(),
                        "\"CL1.0\", \"CL1.1\", \"CL1.2\", \"CL2.0\", \"CL3.0\" or \"CL3.1\" is expected",
                    )
                })?;
            }
            "define" => options.macros.push(MacroOption::Define(string(value)?)),
            "include" => options.include_dirs.push(format!("{}/{}", self.folder, string(value)?)),
            "extension" => {
                let text = string(value)?;
                let is_on = !text.starts_with('-');
                options.extensions.push((text.trim_start_matches(['+', '-']).to_owned(), is_on));
            }
            "fast_relaxed_math" => {
                options.math.fast_relaxed = boolean(value)?;
                options.math = options.math.with_implied();
            }
            "device_profile" => {
                let read = device_profile(options, &string(value)?, Path::new(&self.folder));
                self.read.extend(read.map_err(|error| problem(value.span(), &error.to_string()))?);
            }
            "workarounds" => {
                let workarounds = Workarounds::parse(&string(value)?);
                self.workarounds = Some(workarounds.map_err(|error| problem(value.span(), &error))?);
            }
            "warnings_as_errors" => options.warnings.as_errors = boolean(value)?,
            other => return Err(problem(name.span(), &format!("there is no option `{other}`"))),
        }
        Ok(())
    }
}

fn boolean(token: &TokenTree) -> Result<bool, Problem> {
    token.to_string().parse().map_err(|_| problem(token.span(), "`true` or `false` is expected"))
}

/// The value of a string literal, plain or raw.
fn string(token: &TokenTree) -> Result<String, Problem> {
    let expected = || problem(token.span(), "a string literal is expected");
    match token {
        TokenTree::Literal(literal) => unquoted(literal).ok_or_else(expected),
        // A literal passed through another macro is in an invisible group.
        TokenTree::Group(group) => match group.stream().into_iter().next() {
            Some(TokenTree::Literal(literal)) => unquoted(&literal).ok_or_else(expected),
            _ => Err(expected()),
        },
        _ => Err(expected()),
    }
}

fn unquoted(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return raw.trim_start_matches('#').starts_with('"').then(|| inner.to_owned());
    }
    let mut letters = text.strip_prefix('"')?.strip_suffix('"')?.chars().peekable();
    let mut unquoted = String::new();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            unquoted.push(letter);
            continue;
        }
        match letters.next()? {
            'n' => unquoted.push('\n'),
            't' => unquoted.push('\t'),
            'r' => unquoted.push('\r'),
            '0' => unquoted.push('\0'),
            'x' => {
                let digits: String = letters.by_ref().take(2).collect();
                unquoted.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            'u' => {
                let digits: String = letters.by_ref().skip(1).take_while(|&letter| letter != '}').collect();
                unquoted.push(char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?);
            }
            // A backslash at the end of a line skips the whitespace that starts the next one.
            '\n' => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
            same => unquoted.push(same),
        }
    }
    Some(unquoted)
}

fn problem(span: Span, text: &str) -> Problem {
    Problem { span, text: text.to_owned() }
}
