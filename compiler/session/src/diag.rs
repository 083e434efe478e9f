//! Diagnostics as data: the problem, its position, and a suggestion. The caller renders them.
//!
//! The codes are in `diag/codes.rs`. A stage reports errors to a `Sink` and continues.

mod codes;
mod fix;
mod memory;

pub use codes::{Code, Group};
pub use fix::{Change, Edit, Fix, OwnedPiece, Piece, compatible_edits};

pub use kiln_syntax::closest::{closest, is_near};

use kiln_memory::MappingRule;
use kiln_syntax::Span;

/// The message of a warning `printf-argument` about an argument of `%s`. `lower_printf` replaces such warnings by its error.
pub const NO_STRING_LITERAL: &str = "`%s` prints string literals only";

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Compilation continues.
    Warning,
    /// No module is produced.
    Error,
}

/// One message to the user.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The code. Its row in the table has the name, default severity and warning group.
    pub code: Code,
    /// The severity, which the sink sets from the code and the options.
    pub severity: Severity,
    /// The message: one sentence, lower-case start, no full stop.
    pub message: String,
    /// The primary span.
    pub span: Span,
    /// The label of the primary span. May be empty.
    pub label: String,
    /// Secondary spans.
    pub labels: Vec<Label>,
    /// Suggestions.
    pub help: Vec<String>,
    /// Explanations, with the section of the specification.
    pub notes: Vec<String>,
    /// A suggested edit.
    pub fix: Option<Fix>,
}

/// A secondary span of a diagnostic, with a text.
#[derive(Clone, Debug)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// Its label.
    pub text: String,
}

impl Diagnostic {
    /// Creates a diagnostic. The sink sets its severity.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.default_severity(),
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
            fix: None,
        }
    }

    /// Sets the label of the primary span.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a secondary span.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a suggestion.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds an explanation.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the suggested edit.
    pub fn fix(mut self, span: Span, title: impl Into<String>, replacement: impl Into<String>) -> Self {
        let change = Change::Replace(replacement.into());
        self.fix = Some(Fix { title: title.into(), span, change });
        self
    }

    /// Sets the suggested edit: replaces this text with another one.
    pub fn replace(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix::replacement(span, replacement));
        self
    }

    /// Sets the suggested edit: replaces an expression with text that includes other expressions of the source.
    pub fn rewrite<const N: usize>(
        mut self,
        span: Span,
        title: impl Into<String>,
        pieces: [Piece<'_>; N],
    ) -> Self {
        let change = Change::Rewrite(pieces.into_iter().map(Into::into).collect());
        self.fix = Some(Fix { title: title.into(), span, change });
        self
    }

    /// Sets the suggested edit: a prefix for an expression, such as a cast.
    pub fn prefix(self, span: Span, prefix: &str) -> Self {
        self.rewrite(span, format!("write `{prefix}` before it"), [Piece::Text(prefix), Piece::Operand(span)])
    }

    /// Sets the suggested edit: removes a word.
    pub fn remove(mut self, span: Span, title: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), span, change: Change::Remove });
        self
    }

    /// Sets the suggested edit: inserts a line.
    pub fn insert_line(mut self, span: Span, change: Change) -> Self {
        if let Change::LineBefore(text) | Change::FirstLine(text) = &change {
            let first = text.lines().next().unwrap_or_default();
            self.fix = Some(Fix { title: format!("insert `{first}`"), span, change });
        }
        self
    }
}

/// The warning options (`-w`, `-Werror`, `-W…`).
#[derive(Clone, Debug)]
pub struct WarningOptions {
    /// `-w`: no warnings.
    pub none: bool,
    /// `-Werror`: warnings are errors.
    pub as_errors: bool,
    /// `-Wname` and `-Wno-name`, in the given order. A name is a code or a group.
    pub switches: Vec<WarningSwitch>,
    /// The maximum number of errors to show. Further errors are only counted. 0 for no limit.
    pub error_limit: usize,
}

/// One `-W` option.
#[derive(Clone, Debug)]
pub struct WarningSwitch {
    /// The code or the group, without `no-` or `error=`.
    pub name: String,
    /// The effect of the option.
    pub action: WarningAction,
}

/// The effect of a `-W` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningAction {
    /// `-Wname`
    Enable,
    /// `-Wno-name`
    Disable,
    /// `-Werror=name`
    Error,
    /// `-Wno-error=name`
    NoError,
}

impl WarningSwitch {
    /// Parses the text after `-W`. The caller handles `error` and `no-error` without a name.
    pub fn parse(text: &str) -> Self {
        let (name, action) = if let Some(name) = text.strip_prefix("no-error=") {
            (name, WarningAction::NoError)
        } else if let Some(name) = text.strip_prefix("error=") {
            (name, WarningAction::Error)
        } else if let Some(name) = text.strip_prefix("no-") {
            (name, WarningAction::Disable)
        } else {
            (text, WarningAction::Enable)
        };
        Self { name: name.to_owned(), action }
    }
}

impl Default for WarningOptions {
    fn default() -> Self {
        Self { none: false, as_errors: false, switches: Vec::new(), error_limit: 20 }
    }
}

/// The sink keeps up to this number of diagnostics, or the error limit if that is larger. `finish` selects the first errors
/// in source order from them.
const MAX_KEPT: usize = 1000;

/// Collects the diagnostics of all stages.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    options: WarningOptions,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    /// Whether a header was not found. It may declare the undeclared names.
    lacks_header: bool,
    mapping_rules: Vec<(Span, MappingRule)>,
}

impl Sink {
    /// Creates a sink with these warning options.
    pub fn new(options: WarningOptions) -> Self {
        Self { options, diagnostics: Vec::new(), errors: 0, lacks_header: false, mapping_rules: Vec::new() }
    }

    /// Adds a diagnostic, unless its warning is disabled, too many have been reported, or it repeats a recent one.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        let Some(severity) = self.severity(diagnostic.code) else { return };
        if self.lacks_header
            && matches!(
                diagnostic.code,
                Code::UndeclaredName | Code::UndeclaredFunction | Code::UnknownType | Code::IncompleteType
            )
        {
            return;
        }
        diagnostic.severity = severity;
        let repeats = |other: &Diagnostic| {
            other.span == diagnostic.span
                && other.code == diagnostic.code
                && other.message == diagnostic.message
        };
        if self.diagnostics.iter().rev().take(32).any(repeats) {
            return;
        }
        if severity == Severity::Error {
            self.errors += 1;
        }
        if self.options.error_limit == 0 || self.diagnostics.len() < self.options.error_limit.max(MAX_KEPT) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a header that was not found. Names and types that later are not declared, or not defined, are
    /// consequences.
    pub fn report_missing_header(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.lacks_header = true;
    }

    /// Whether a diagnostic with this code was reported.
    pub fn has_reported(&self, code: Code) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.code == code)
    }

    /// Whether the sink reports diagnostics with this code. Callers skip costly analyses if not.
    pub fn is_enabled(&self, code: Code) -> bool {
        self.severity(code).is_some()
    }

    /// Whether a diagnostic with this code would be an error.
    pub fn is_error(&self, code: Code) -> bool {
        self.severity(code) == Some(Severity::Error)
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.errors != 0
    }

    /// The number of errors.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// The number of diagnostics.
    pub fn count(&self) -> usize {
        self.diagnostics.len()
    }

    /// Removes the diagnostics that `is_consequence` selects. Keeps the first `first` diagnostics.
    pub fn remove_consequences(&mut self, first: usize, is_consequence: impl Fn(&Diagnostic) -> bool) {
        let later = self.diagnostics.split_off(first);
        for diagnostic in later {
            if !is_consequence(&diagnostic) {
                self.diagnostics.push(diagnostic);
            } else if diagnostic.severity == Severity::Error {
                self.errors -= 1;
            }
        }
    }

    /// Replaces diagnostics for which `better` returns another one. Keeps the first `first` diagnostics. Several
    /// diagnostics with the same replacement become one.
    pub fn replace(&mut self, first: usize, better: impl Fn(&Diagnostic) -> Option<Diagnostic>) {
        for diagnostic in self.diagnostics.split_off(first) {
            match better(&diagnostic) {
                None => self.diagnostics.push(diagnostic),
                Some(replacement) => {
                    self.errors -= usize::from(diagnostic.severity == Severity::Error);
                    self.report(replacement);
                }
            }
        }
    }

    /// Records the rules of docs/memory-model.md that changed an operation, for tools that explain a module.
    pub fn record_mapping(&mut self, operation: Span, rules: &[MappingRule]) {
        self.mapping_rules.extend(rules.iter().map(|&rule| (operation, rule)));
    }

    /// Takes the recorded rules.
    pub fn take_mapping(&mut self) -> Vec<(Span, MappingRule)> {
        std::mem::take(&mut self.mapping_rules)
    }

    /// All diagnostics in source order, and the number of errors beyond the limit.
    pub fn finish<K: Ord>(mut self, order: impl Fn(Span) -> K) -> (Vec<Diagnostic>, usize) {
        self.diagnostics.sort_by_cached_key(|diagnostic| order(diagnostic.span));
        let limit = if self.options.error_limit == 0 { usize::MAX } else { self.options.error_limit };
        let mut shown = 0;
        self.diagnostics.retain(|diagnostic| {
            let is_error = diagnostic.severity == Severity::Error;
            shown += usize::from(is_error);
            !is_error || shown <= limit
        });
        (self.diagnostics, self.errors - shown.min(limit))
    }

    /// The severity of a code with the warning options. `None` if its warning is disabled.
    fn severity(&self, code: Code) -> Option<Severity> {
        if code.default_severity() == Severity::Error {
            let named = |switch: &&WarningSwitch| switch.name == code.name();
            let last = self.options.switches.iter().rev().find(named).map(|switch| switch.action);
            return match last {
                Some(WarningAction::NoError) if code.is_soft() && !self.options.as_errors => {
                    (!self.options.none).then_some(Severity::Warning)
                }
                _ => Some(Severity::Error),
            };
        }
        let mut enabled = code.is_default();
        let mut error = self.options.as_errors;
        for switch in &self.options.switches {
            if !code.matches_option(&switch.name) {
                continue;
            }
            match switch.action {
                WarningAction::Enable => enabled = true,
                WarningAction::Disable => enabled = false,
                WarningAction::Error => (enabled, error) = (true, true),
                WarningAction::NoError => error = false,
            }
        }
        match (enabled, error) {
            (false, _) => None,
            (true, true) => Some(Severity::Error),
            (true, false) => (!self.options.none).then_some(Severity::Warning),
        }
    }
}
