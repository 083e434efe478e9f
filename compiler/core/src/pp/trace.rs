//! What the preprocessor came by: macros and their uses, included files, groups that were passed over. Kept only for those who
//! ask, editors mostly; preprocessing itself must never look at it.

use kiln_syntax::{Span, Symbol};

use super::{
    Preprocessor,
    macros::{Macro, Shape},
};

/// What was met, each list in the order of reading.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Definitions of macros by `#define`.
    pub definitions: Vec<MacroDefinition>,
    /// Names of macros where they are called, tested or undefined.
    pub uses: Vec<MacroUse>,
    /// Names after `#include`.
    pub includes: Vec<Inclusion>,
    /// From the end of a directive to the next one of the conditional, where that is not read.
    pub inactive: Vec<Span>,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub struct MacroDefinition {
    /// The macro.
    pub name: Symbol,
    /// Where its name stands.
    pub span: Span,
    /// The names of its parameters, if it has parentheses.
    pub parameters: Option<Vec<Symbol>>,
    /// What it stands for.
    pub body: Span,
}

/// A macro's name in a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroUse {
    /// The macro.
    pub name: Symbol,
    /// Where the name stands.
    pub span: Span,
    /// Where the name stands in the definition; none of a name that is not defined.
    pub definition: Option<Span>,
}

/// The name of a file in a directive.
#[derive(Clone, Debug)]
pub struct Inclusion {
    /// The name with its quotes or brackets.
    pub span: Span,
    /// The path that was found.
    pub path: Option<String>,
}

impl Preprocessor<'_> {
    /// Notes a definition.
    pub(super) fn trace_definition(&mut self, definition: &Macro) {
        let Some(trace) = &mut self.trace else { return };
        let parameters = match &definition.shape {
            Shape::Function(parameters) => Some(parameters.names.clone()),
            Shape::Object | Shape::Dynamic(_) => None,
        };
        trace.definitions.push(MacroDefinition {
            name: definition.name,
            span: definition.definition,
            parameters,
            body: if definition.body.is_empty() { Span::default() } else { definition.body_span() },
        });
    }

    /// Notes that a macro's name is used.
    pub(super) fn trace_use(&mut self, span: Span, definition: &Macro) {
        if let Some(trace) = &mut self.trace {
            let (name, definition) = (definition.name, Some(definition.definition));
            trace.uses.push(MacroUse { name, span, definition });
        }
    }

    /// Notes that a conditional or `#undef` names a macro.
    pub(super) fn trace_test(&mut self, span: Span, name: Symbol) {
        if self.trace.is_some() {
            let definition = self.macro_of(name).map(|definition| definition.definition);
            self.trace.iter_mut().for_each(|trace| trace.uses.push(MacroUse { name, span, definition }));
        }
    }

    /// Notes the name of a file.
    pub(super) fn trace_include(&mut self, span: Span, path: Option<&str>) {
        if let Some(trace) = &mut self.trace {
            trace.includes.push(Inclusion { span, path: path.map(str::to_owned) });
        }
    }

    /// Notes that what stands between is passed over.
    pub(super) fn trace_inactive(&mut self, from: u32, to: u32) {
        if let Some(trace) = &mut self.trace
            && from < to
        {
            trace.inactive.push(Span::new(from, to));
        }
    }
}
