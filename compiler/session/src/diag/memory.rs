//! The diagnostics of problems with orders, scopes and flags.

use super::{Code, Diagnostic};
use kiln_memory::{Problem, Rule};
use kiln_syntax::Span;

impl From<Rule> for Code {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::AtomicOrderFailure => Self::AtomicOrderFailure,
            Rule::AtomicOrderStore => Self::AtomicOrderStore,
            Rule::AtomicOrderLoad => Self::AtomicOrderLoad,
            Rule::ScopeWorkItem => Self::ScopeWorkItem,
            Rule::FenceImage => Self::FenceImage,
            Rule::BarrierImageScope => Self::BarrierImageScope,
            Rule::OrderUnsupported => Self::OrderUnsupported,
            Rule::ScopeUnsupported => Self::ScopeUnsupported,
            Rule::OrderValue => Self::OrderValue,
            Rule::ScopeValue => Self::ScopeValue,
            Rule::FenceFlagsValue => Self::FenceFlagsValue,
            Rule::AtomicObject => Self::AtomicObject,
            Rule::AtomicPrivate => Self::AtomicPrivate,
            Rule::SeqCstScope => Self::SeqCstScope,
            Rule::FenceRelaxed => Self::FenceRelaxed,
            Rule::MemFenceImage => Self::MemFenceImage,
            Rule::BarrierLocalScope => Self::BarrierLocalScope,
            Rule::SeqCstWeakened => Self::SeqCstWeakened,
            Rule::FenceFlagsEmpty => Self::FenceFlagsEmpty,
            // Only the check of a target reports these.
            Rule::SeqCstUnavailable | Rule::SubGroupUnavailable => Self::TargetFeature,
        }
    }
}

impl Diagnostic {
    /// The diagnostic of a problem at the argument with this span.
    pub fn of_problem(problem: Problem, span: Span) -> Self {
        let Problem { rule, message, label, help, note, .. } = problem;
        Self::new(rule.into(), span, message).label(label).help(help).note(note)
    }
}
