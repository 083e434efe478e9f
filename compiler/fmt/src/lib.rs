//! Formats OpenCL C. Changes only the white space between tokens; comments, directives and the bodies of macros stay
//! as they are. Works on tokens, so that it accepts any text, and never fails.
//!
//! The stages: `token` splits the text, `lines` finds statements and their indentation, `roles` determines the
//! syntactic roles of tokens, `spacing` and `wrap` choose spaces and line breaks, `join` puts short statements on one line, and
//! `render` writes the text. `clang_format` reads the style from a `.clang-format`.
//!
//! White space in the arguments of a macro that stringizes them (`#x`, `assert`) stays, because it is part of the
//! program. Only line numbers can change: `__LINE__`, and those of `assert` and of traps.
//!
//! ```
//! use kiln_fmt::{Style, format};
//!
//! let text = format("kernel void k(global int*p){*p=1;}\n", &Style::default());
//! assert_eq!(text, "kernel void k(global int *p) {\n    *p = 1;\n}\n");
//! ```

mod clang_format;
mod edits;
mod join;
mod lines;
mod names;
mod render;
mod roles;
mod spacing;
mod style;
mod token;
mod wrap;

use std::ops::Range;

pub use clang_format::{Configured, SourceStyle, configure, find};
pub use edits::{Edit, edits, indentation, touching_lines};
pub use style::{Braces, Operators, Parens, Pointer, ShortBlocks, ShortFunctions, ShortIfs, Style, Tabs};

use crate::{
    names::Names,
    roles::{Roles, roles},
    spacing::spaces,
    token::{Token, tokens},
};

/// The input of the stages after `lines`.
struct Text<'l, 't> {
    tokens: &'l [Token<'t>],
    /// Whether a token is a brace of a block.
    blocks: &'l [bool],
    names: &'l Names,
    style: &'l Style,
}

impl Text<'_, '_> {
    /// The roles of tokens, and whether a space precedes them.
    fn annotate(&self, range: Range<usize>) -> (Roles, Vec<bool>) {
        let line = &self.tokens[range.clone()];
        let found = roles(line, self.names, &self.blocks[range]);
        let spaces = spaces(line, &found, self.style);
        (found, spaces)
    }
}

/// Formats the text of a source.
pub fn format(text: &str, style: &Style) -> String {
    if style.disabled {
        return text.to_owned();
    }
    let tokens = tokens(text, style.tab_width);
    let names = Names::new(&tokens);
    let (lines, blocks) = lines::lines(&tokens, style);
    let source = Text { tokens: &tokens, blocks: &blocks, names: &names, style };
    let lines = join::join(&source, lines);
    let mut formatted = render::render(&source, &lines);
    if text.starts_with('\u{FEFF}') {
        formatted.insert(0, '\u{FEFF}');
    }
    if text.contains("\r\n") {
        formatted = formatted.replace('\n', "\r\n");
    }
    // The formatted text must have the same tokens, for any input.
    let is_same = edits::have_same_tokens(&tokens, &crate::token::tokens(&formatted, style.tab_width));
    debug_assert!(is_same, "the formatter changed tokens: {text:?} became {formatted:?}");
    if is_same { formatted } else { text.to_owned() }
}
