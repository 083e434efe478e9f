//! The table of diagnostic codes: one row each. Its page is `docs/diagnostics/<name>.md`.

use super::Severity;

/// A set of warnings that one option switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// On unless switched off.
    Default,
    /// On with `-Wall`.
    All,
    /// On with `-Wextra`.
    Extra,
    /// On with `-Wpedantic`.
    Pedantic,
}

macro_rules! codes {
    ($($variant:ident $name:literal $sort:ident;)*) => {
        /// What a diagnostic is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Code { $($variant,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name, as shown in brackets and after `-W`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            const fn sort(self) -> Sort {
                match self { $(Self::$variant => Sort::$sort,)* }
            }
        }
    };
}

enum Sort {
    Error,
    Warning,
    All,
    Extra,
    Pedantic,
}

impl Code {
    /// The code of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// The severity without options.
    pub const fn default_severity(self) -> Severity {
        match self.sort() {
            Sort::Error => Severity::Error,
            Sort::Warning | Sort::All | Sort::Extra | Sort::Pedantic => Severity::Warning,
        }
    }

    /// The group of a warning.
    pub const fn group(self) -> Group {
        match self.sort() {
            Sort::Error | Sort::Warning => Group::Default,
            Sort::All => Group::All,
            Sort::Extra => Group::Extra,
            Sort::Pedantic => Group::Pedantic,
        }
    }

    pub(super) fn is_default(self) -> bool {
        self.group() == Group::Default
    }

    pub(super) fn answers_to(self, name: &str) -> bool {
        match name {
            "everything" => true,
            "all" => matches!(self.group(), Group::Default | Group::All),
            "extra" => self.group() == Group::Extra,
            "pedantic" => self.group() == Group::Pedantic,
            _ => self.name() == name,
        }
    }
}

codes! {
    // Lexer and preprocessor
    UnknownCharacter "unknown-character" Error;
    UnterminatedComment "unterminated-comment" Error;
    UnterminatedLiteral "unterminated-literal" Error;
    Directive "directive" Error;
    Include "include" Error;
    IncludeDepth "include-depth" Error;
    MacroDefinition "macro-definition" Error;
    MacroArguments "macro-arguments" Error;
    MacroRedefined "macro-redefined" Warning;
    Conditional "conditional" Error;
    UserError "user-error" Error;
    UserWarning "user-warning" Warning;
    UnknownPragma "unknown-pragmas" All;
    ExtensionPragma "extension-pragma" Warning;
    // Parser
    Syntax "syntax" Error;
    NestingDepth "nesting-depth" Error;
    // Memory orders, scopes and fences
    AtomicOrderStore "atomic-order-store" Error;
    AtomicOrderLoad "atomic-order-load" Error;
    AtomicOrderFailure "atomic-order-failure" Error;
    ScopeWorkItem "scope-work-item" Error;
    FenceImage "fence-image" Error;
    BarrierImageScope "barrier-image-scope" Error;
    OrderValue "order-value" Error;
    ScopeValue "scope-value" Error;
    FenceFlagsValue "fence-flags-value" Error;
    OrderUnsupported "order-unsupported" Error;
    ScopeUnsupported "scope-unsupported" Error;
    AtomicPrivate "atomic-private" Warning;
    SeqCstScope "seq-cst-scope" All;
    FenceRelaxed "fence-relaxed" Warning;
    FenceFlagsEmpty "fence-flags-empty" Warning;
    MemFenceImage "mem-fence-image" Warning;
    BarrierLocalScope "barrier-local-scope" Warning;
}
