//! The origin of a position: the macros it was expanded from, and the includes of its file.

use kiln_syntax::{Span, Symbol};

use super::{EntryKind, ExpansionKind, FileId, FileRange, SourceMap};

/// A macro expansion that a span comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroStep {
    /// The macro.
    pub name: Symbol,
    /// The range in the macro's definition, or the argument.
    pub definition: FileRange,
    /// Whether `definition` is in the macro body or in an argument.
    pub kind: ExpansionKind,
}

/// An include directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludeStep {
    /// The range of the directive.
    pub directive: FileRange,
}

impl SourceMap {
    /// The macros that this span was expanded from, innermost first.
    pub fn macro_trail(&self, span: Span) -> Vec<MacroStep> {
        let mut steps: Vec<MacroStep> = Vec::new();
        let mut span = span;
        while let Some(entry) = self.entry(span.lo) {
            let EntryKind::Expansion(expansion) = &entry.kind else { break };
            let lo = expansion.spelling + (span.lo - entry.lo);
            let hi = match self.is_in_same_entry(span) {
                true => expansion.spelling + (span.hi.max(span.lo) - entry.lo),
                false => lo + 1,
            };
            let definition = self.spelling(Span::new(lo, hi));
            if let Some(definition) = definition {
                steps.push(MacroStep { name: expansion.name, definition, kind: expansion.kind });
            }
            span = match expansion.kind {
                ExpansionKind::Body => expansion.call,
                ExpansionKind::Argument => Span::new(lo, hi),
            };
        }
        steps
    }

    /// The outermost macro call that contains a position, in its body or in an argument.
    pub fn outermost_call(&self, position: u32) -> Option<Span> {
        let (mut call, mut position) = (None, position);
        while let Some(entry) = self.entry(position)
            && let EntryKind::Expansion(expansion) = &entry.kind
        {
            call = Some(expansion.call);
            position = expansion.call.lo;
        }
        call
    }

    /// The range of an expression in the file where the user wrote it, with whole macro calls. `None` if it comes from
    /// a part of a macro or of an argument.
    pub fn whole(&self, span: Span) -> Option<FileRange> {
        let last = span.hi.checked_sub(1).filter(|last| *last >= span.lo)?;
        let (first_call, last_call) = (self.outermost_call(span.lo), self.outermost_call(last));
        if first_call.is_some() && first_call == last_call && !self.is_expansion(span) {
            return None;
        }
        self.resolve(span)
    }

    /// Whether a span is the whole expansion of a macro, without arguments.
    fn is_expansion(&self, span: Span) -> bool {
        let after = self.entries.partition_point(|entry| entry.lo <= span.lo);
        let entry = after.checked_sub(1).map(|index| &self.entries[index]);
        let end = self.entries.get(after).map_or(self.end, |next| next.lo - 1);
        entry.is_some_and(|entry| {
            entry.lo == span.lo
                && end == span.hi
                && matches!(&entry.kind, EntryKind::Expansion(it) if it.kind == ExpansionKind::Body
                    && self.outermost_call(it.call.lo).is_none())
        })
    }

    /// The directives that included a file, innermost first.
    pub fn include_trail(&self, file: FileId) -> Vec<IncludeStep> {
        let mut steps = Vec::new();
        let mut from = self.file(file).included_from;
        while let Some(directive) = from.and_then(|span| self.resolve(span)) {
            from = self.file(directive.file).included_from;
            steps.push(IncludeStep { directive });
        }
        steps
    }
}
