//! Classifies the names of a text: types, and macros that stringize their arguments.

use kiln_syntax::{
    predeclared,
    token::{Keyword, Punct},
};
use rustc_hash::FxHashSet;

use crate::token::{Kind, Token, tokens};

/// The names of a text with a meaning for the layout.
#[derive(Debug, Default)]
pub(crate) struct Names {
    types: FxHashSet<String>,
    /// The macros of the text whose bodies contain `#`, or the name of such a macro.
    stringizing: FxHashSet<String>,
    /// The other function-like macros of the text.
    plain: FxHashSet<String>,
}

impl Names {
    /// Collects the names of a text.
    pub(crate) fn new(tokens: &[Token<'_>]) -> Self {
        let mut names = Self::default();
        predeclared::each(|name, _| {
            names.types.insert(name.to_owned());
        });
        names.typedefs(tokens);
        names.macros(tokens);
        names
    }

    /// Collects the names that `typedef` declares: the word before `;`, `,`, `[` or `)` at the end of a declarator.
    fn typedefs(&mut self, tokens: &[Token<'_>]) {
        let mut rest = tokens;
        while let Some(found) = rest.iter().position(|token| token.is_keyword(Keyword::Typedef)) {
            rest = &rest[found + 1..];
            let mut depth = 0usize;
            for (index, token) in rest.iter().enumerate() {
                match token.kind {
                    Kind::Punct(Punct::OpenBrace) => depth += 1,
                    Kind::Punct(Punct::CloseBrace) => depth = depth.saturating_sub(1),
                    Kind::Word if depth == 0 => {
                        let ends = rest[index + 1..].iter().find(|token| !token.is_comment());
                        let is_end = |token: &Token<'_>| {
                            use Punct::{CloseParen, Comma, OpenBracket, Semicolon};
                            [Semicolon, Comma, OpenBracket, CloseParen].iter().any(|punct| token.is(*punct))
                        };
                        if ends.is_some_and(is_end) {
                            self.types.insert(token.text.to_owned());
                        }
                    }
                    Kind::Punct(Punct::Semicolon) if depth == 0 => break,
                    _ => {}
                }
            }
        }
    }

    fn macros(&mut self, tokens: &[Token<'_>]) {
        let mut bodies: Vec<(String, Vec<String>)> = Vec::new();
        for token in tokens.iter().filter(|token| token.kind == Kind::Directive) {
            let Some((name, body)) = definition(token) else { continue };
            if body.iter().any(|word| word == "#") {
                self.stringizing.insert(name);
            } else {
                bodies.push((name, body));
            }
        }
        // A macro that passes its arguments to a stringizing macro stringizes them too.
        loop {
            let known = self.stringizing.len();
            for (name, body) in &bodies {
                if body.iter().any(|word| self.makes_strings(word)) {
                    self.stringizing.insert(name.clone());
                }
            }
            if self.stringizing.len() == known {
                break;
            }
        }
        let plain = bodies.into_iter().map(|(name, _)| name);
        self.plain = plain.filter(|name| !self.stringizing.contains(name)).collect();
    }

    fn makes_strings(&self, word: &str) -> bool {
        word == "assert" || self.stringizing.contains(word)
    }

    /// Whether white space in the arguments of a call of this name may be significant: the name is a stringizing macro, or
    /// a macro of another file, recognized by its capital letters.
    pub(crate) fn keeps_spaces(&self, name: &str) -> bool {
        let is_capital = |name: &str| {
            name.len() > 1
                && name.contains(|c: char| c.is_ascii_uppercase())
                && !name.contains(|c: char| c.is_ascii_lowercase())
        };
        self.makes_strings(name) || is_capital(name) && !self.plain.contains(name)
    }

    /// Whether the token names a type that the text declares or that is known by its name.
    pub(crate) fn is_type(&self, token: &Token<'_>) -> bool {
        match token.kind {
            Kind::Keyword(keyword) => is_type_keyword(keyword),
            Kind::Word => self.types.contains(token.text) || is_type_name(token.text),
            _ => false,
        }
    }
}

/// Whether the name is one by convention: `size_t`, `__int128`.
fn is_type_name(name: &str) -> bool {
    name.ends_with("_t") && name.len() > 2
}

/// Whether the word is a type.
fn is_type_keyword(keyword: Keyword) -> bool {
    use Keyword::{
        Bool, Char, Complex, Double, Enum, Float, Half, Int, Long, Pipe, Short, Signed, Struct, Typeof,
        Union, Unsigned, Void,
    };
    matches!(
        keyword,
        Bool | Char
            | Complex
            | Double
            | Enum
            | Float
            | Half
            | Int
            | Long
            | Pipe
            | Short
            | Signed
            | Struct
            | Typeof
            | Union
            | Unsigned
            | Void
    )
}

/// Whether the word qualifies a type or a declaration.
pub(crate) fn is_qualifier(keyword: Keyword) -> bool {
    use Keyword::{
        Alignas, Atomic, Attribute, Auto, Const, Constant, Extension, Extern, Generic, Global, Inline,
        Kernel, Local, Noreturn, Private, ReadOnly, ReadWrite, Register, Restrict, Static, ThreadLocal,
        Typedef, Volatile, WriteOnly,
    };
    matches!(
        keyword,
        Alignas
            | Atomic
            | Attribute
            | Auto
            | Const
            | Constant
            | Extension
            | Extern
            | Generic
            | Global
            | Inline
            | Kernel
            | Local
            | Noreturn
            | Private
            | ReadOnly
            | ReadWrite
            | Register
            | Restrict
            | Static
            | ThreadLocal
            | Typedef
            | Volatile
            | WriteOnly
    )
}

/// The name of a function-like macro, and the tokens of its body.
fn definition(directive: &Token<'_>) -> Option<(String, Vec<String>)> {
    if directive.directive() != "define" {
        return None;
    }
    // The body must not be split at its `#`.
    let at = directive.text.find("define")? + "define".len();
    let parts = tokens(&directive.text[at..], 8);
    let name = parts.first().filter(|name| matches!(name.kind, Kind::Word | Kind::Keyword(_)))?;
    let is_function = parts.get(1).is_some_and(|open| open.is(Punct::OpenParen) && !open.space);
    let close = parts.iter().position(|token| token.is(Punct::CloseParen)).filter(|_| is_function)?;
    let body = parts[close + 1..].iter().map(|token| match token.kind {
        Kind::Punct(Punct::Hash) => "#".to_owned(),
        _ => token.text.to_owned(),
    });
    Some((name.text.to_owned(), body.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_macros_are_known() {
        let text = "typedef struct { int a; } Pair; typedef global float *Row, T[2];\n\
            #define STR(x) #x\n#define XSTR(x) STR(x)\n#define PASTE(a, b) a##b\n#define OBJECT (x)\n";
        let tokens = tokens(text, 8);
        let names = Names::new(&tokens);
        let is_type = |name: &str| names.types.contains(name);
        assert!(["Pair", "Row", "T", "float4", "atomic_int"].into_iter().all(is_type) && !is_type("a"));
        assert!(["STR", "XSTR", "UNKNOWN", "assert"].into_iter().all(|name| names.keeps_spaces(name)));
        assert!(["PASTE", "f"].into_iter().all(|name| !names.keeps_spaces(name)));
    }
}
