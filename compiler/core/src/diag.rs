//! Diagnostics as data: what is wrong, where, and what to do. Rendering is elsewhere.
//!
//! The table of codes stands in `diag/codes.rs`; a stage reports into the `Sink` that it is handed and goes on.

mod closest;
mod codes;

pub(crate) use closest::{closest, is_near};
pub use codes::{Code, Group};

use kiln_syntax::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program is compiled.
    Warning,
    /// No module is made.
    Error,
}

/// One message to the user.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which; its row has the name, the default severity and the warning group.
    pub code: Code,
    /// Set from the row and the options by the sink.
    pub severity: Severity,
    /// Lower-case start, one sentence, no full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What the primary span shows; may be empty.
    pub label: String,
    /// Other places.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Vec<String>,
    /// Why, with the section of the specification.
    pub notes: Vec<String>,
    /// A change that mends it.
    pub fix: Option<Fix>,
}

/// A secondary place.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What it shows.
    pub text: String,
}

/// A change of the source.
#[derive(Clone, Debug)]
pub struct Fix {
    /// What the change is, as an editor's menu would say it.
    pub title: String,
    /// What to replace.
    pub span: Span,
    /// With what.
    pub replacement: String,
}

impl Diagnostic {
    /// A diagnostic of this code at this place. The sink decides its severity.
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

    /// Says what the primary span shows.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Points at another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Says why.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Offers a change.
    pub fn fix(mut self, span: Span, title: impl Into<String>, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), span, replacement: replacement.into() });
        self
    }
}

/// What the user chose about warnings (`-w`, `-Werror`, `-W…`).
#[derive(Clone, Debug)]
pub struct WarningOptions {
    /// `-w`: no warnings.
    pub none: bool,
    /// `-Werror`: warnings are errors.
    pub as_errors: bool,
    /// `-Wname` and `-Wno-name` in the order given; a name is a code or a group.
    pub switches: Vec<WarningSwitch>,
    /// How many errors are shown before the rest is only counted; 0 for all.
    pub error_limit: usize,
}

/// One `-W` option.
#[derive(Clone, Debug)]
pub struct WarningSwitch {
    /// The code or the group, without `no-` or `error=`.
    pub name: String,
    /// What becomes of it.
    pub action: WarningAction,
}

/// What a `-W` option asks.
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
    /// What stands behind `-W`, but for `error` and `no-error` alone.
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

/// So many diagnostics are kept at least, to choose those from that are shown.
const MOST_KEPT: usize = 1000;

/// Where the stages report to.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    options: WarningOptions,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
}

impl Sink {
    /// A sink that treats warnings as the options say.
    pub fn new(options: WarningOptions) -> Self {
        Self { options, diagnostics: Vec::new(), errors: 0 }
    }

    /// Takes a diagnostic, unless its warning is off, it is past the error limit, or it repeats one.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        let Some(severity) = self.severity(diagnostic.code) else { return };
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
        if self.options.error_limit == 0 || self.diagnostics.len() < self.options.error_limit.max(MOST_KEPT) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether a diagnostic of this code would be shown at all: asked before costly analyses.
    pub fn wants(&self, code: Code) -> bool {
        self.severity(code).is_some()
    }

    /// Whether there was an error.
    pub fn has_errors(&self) -> bool {
        self.errors != 0
    }

    /// How many errors there were.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// How many diagnostics there are.
    pub(crate) fn len(&self) -> usize {
        self.diagnostics.len()
    }

    /// Takes back what was reported after the first so many and is a mere consequence.
    pub(crate) fn forget(&mut self, first: usize, is_consequence: impl Fn(&Diagnostic) -> bool) {
        let later = self.diagnostics.split_off(first);
        for diagnostic in later {
            if !is_consequence(&diagnostic) {
                self.diagnostics.push(diagnostic);
            } else if diagnostic.severity == Severity::Error {
                self.errors -= 1;
            }
        }
    }

    /// Everything reported, in the order of the source, and how many errors were past the limit.
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

    fn severity(&self, code: Code) -> Option<Severity> {
        if code.default_severity() == Severity::Error {
            return Some(Severity::Error);
        }
        let mut enabled = code.is_default();
        let mut error = self.options.as_errors;
        for switch in &self.options.switches {
            if !code.answers_to(&switch.name) {
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
