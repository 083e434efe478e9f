//! Records macro definitions and uses, included files and skipped groups, if requested by the language server. The
//! preprocessor itself must not read the records.

use kiln_syntax::{Span, Symbol};

use super::{
    Preprocessor,
    macros::{Macro, MacroKind},
};

/// The recorded items. Each list is in reading order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Definitions of macros by `#define`.
    pub definitions: Vec<MacroDefinition>,
    /// Macro names that are expanded, tested or undefined.
    pub uses: Vec<MacroUse>,
    /// Header names in `#include`.
    pub includes: Vec<Inclusion>,
    /// Skipped text: from the end of a directive to the next directive of the conditional.
    pub inactive: Vec<Span>,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub struct MacroDefinition {
    /// The macro.
    pub name: Symbol,
    /// The span of its name.
    pub span: Span,
    /// The names of its parameters. `None` for an object-like macro.
    pub parameters: Option<Vec<Symbol>>,
    /// Its replacement list.
    pub body: Span,
}

/// A use of a macro name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroUse {
    /// The macro.
    pub name: Symbol,
    /// The span of the use.
    pub span: Span,
    /// The span of the name in the definition. `None` if it is not defined.
    pub definition: Option<Span>,
}

/// A header name in a directive.
#[derive(Clone, Debug)]
pub struct Inclusion {
    /// The name, including quotes or brackets.
    pub span: Span,
    /// The path of the file, if it was found.
    pub path: Option<String>,
}

impl Preprocessor<'_> {
    /// Records a definition.
    pub(super) fn trace_definition(&mut self, definition: &Macro) {
        let Some(trace) = &mut self.trace else { return };
        let parameters = match &definition.kind {
            MacroKind::Function(parameters) => Some(parameters.names.clone()),
            MacroKind::Object | MacroKind::Dynamic(_) => None,
        };
        trace.definitions.push(MacroDefinition {
            name: definition.name,
            span: definition.definition,
            parameters,
            body: if definition.body.is_empty() { Span::default() } else { definition.body_span() },
        });
    }

    /// Records the use of a macro.
    pub(super) fn trace_use(&mut self, span: Span, definition: &Macro) {
        if let Some(trace) = &mut self.trace {
            let (name, definition) = (definition.name, Some(definition.definition));
            trace.uses.push(MacroUse { name, span, definition });
        }
    }

    /// Records a macro name in a conditional or `#undef`.
    pub(super) fn trace_test(&mut self, span: Span, name: Symbol) {
        if self.trace.is_some() {
            let definition = self.macro_of(name).map(|definition| definition.definition);
            self.trace.iter_mut().for_each(|trace| trace.uses.push(MacroUse { name, span, definition }));
        }
    }

    /// Records a header name.
    pub(super) fn trace_include(&mut self, span: Span, path: Option<&str>) {
        if let Some(trace) = &mut self.trace {
            trace.includes.push(Inclusion { span, path: path.map(str::to_owned) });
        }
    }

    /// Records a skipped range.
    pub(super) fn trace_inactive(&mut self, from: u32, to: u32) {
        if let Some(trace) = &mut self.trace
            && from < to
        {
            trace.inactive.push(Span::new(from, to));
        }
    }
}
