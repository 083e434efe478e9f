//! Warns about blanks between a backslash and the end of its line. The lines are joined nevertheless, although a reader
//! cannot see it.

use kiln_session::{
    diag::{Code, Diagnostic},
    source::FileId,
};
use kiln_syntax::lex::{BlankSplice, Lexer};

use super::{Preprocessor, file::SourceFile};

impl Preprocessor<'_> {
    /// Warns about the blanks before the line splices of a file, except in block comments, where they change nothing.
    pub(super) fn warn_blank_splices(&mut self, id: FileId, file: &SourceFile) {
        for BlankSplice { joined, blanks: (start, end) } in file.spliced.blank_splices() {
            let (start, end) = (*start as usize, *end as usize);
            let backslash = self.map.span(id, start - 1..start);
            let diagnostic = match comment_at(file.spliced.text(&file.text), *joined as usize) {
                Some(Comment::Block) => continue,
                Some(Comment::Line) => {
                    let message = "this `\\` makes the next line a part of the comment";
                    Diagnostic::new(Code::BackslashSpace, backslash, message)
                        .help("remove it, or write a `.` after it")
                }
                None => {
                    let message = "there is a blank between this `\\` and the end of the line";
                    let blanks = self.map.span(id, start..end);
                    Diagnostic::new(Code::BackslashSpace, backslash, message)
                        .help("remove the blank, or the `\\` if the next line does not belong to this one")
                        .fix(blanks, "remove the blank", "")
                }
            };
            self.sink.report(diagnostic.note("C99 5.1.1.2: a backslash immediately before the end of a line joins it to the next; Kiln, gcc and clang ignore blanks in between"));
        }
    }
}

/// A kind of comment.
#[derive(Debug, PartialEq, Eq)]
enum Comment {
    /// `// …`
    Line,
    /// `/* … */`
    Block,
}

/// The comment that contains an offset of a text without line splices.
fn comment_at(text: &str, at: usize) -> Option<Comment> {
    let mut start = 0;
    for token in Lexer::new(text).take_while(|token| (token.start as usize) < at) {
        start = token.end as usize;
    }
    // Only white space and comments are between tokens.
    let mut rest = text.get(start..at)?;
    loop {
        rest = &rest[rest.find('/')?..];
        let (comment, end) = match rest.starts_with("//") {
            true => (Comment::Line, "\n"),
            false => (Comment::Block, "*/"),
        };
        let Some(length) = rest.get(2..)?.find(end) else { return Some(comment) };
        rest = &rest[2 + length + end.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The comment at the mark `|`.
    fn comment(text: &str) -> Option<Comment> {
        let at = text.find('|').expect("a mark");
        comment_at(&text.replace('|', ""), at)
    }

    #[test]
    fn comment_markers_in_literals_are_ignored() {
        assert_eq!(comment("a /* b */ // c |"), Some(Comment::Line));
        assert_eq!(comment("a // b\n /* c // | */"), Some(Comment::Block));
        assert_eq!(comment("a // b\n c |"), None);
        assert_eq!(comment("\"// | \""), None);
        assert_eq!(comment("a /* */ |"), None);
        assert_eq!(comment("a /|"), None);
    }
}
