//! Findings: violations of rules, with their positions and severities.

use std::{fmt, sync::Arc};

use crate::{Rule, limits};

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's identifier.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// The position; `None` if the finding concerns the whole module.
    pub position: Option<Position>,
    /// Whether the module is rejected.
    pub severity: Severity,
}

/// The severity of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The module is rejected.
    Error,
    /// Kiln accepts the module: consumers of kernel modules do not rely on the rule, and llvm-spirv and DPC++ often break it.
    Warning,
}

/// The rules whose violations are warnings in the OpenCL environment.
pub(crate) const TOLERATED_IN_KERNELS: [&str; 15] = [
    "SPIRV-OpEntryPoint-interface",
    "SPIRV-merge",
    "SPIRV-OpVariable-function",
    "SPIRV-block-order",
    "SPIRV-OpPhi-form",
    "OpenCL-atomic-scope",
    "SPIRV-vector-size",
    // The Shader capability, which llvm-spirv declares for some instructions, requires structured control flow.
    "SPIRV-merge-block",
    "SPIRV-construct-header",
    "SPIRV-back-edge",
    "SPIRV-continue-target",
    "SPIRV-selection",
    "SPIRV-construct",
    "SPIRV-literal-bits",
    // Modules of DPC++ cast built-in variables to Generic.
    "SPIRV-generic-cast",
];

/// A position in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The index of the instruction's first word.
    pub offset: usize,
    /// The instruction's name, without `Op`. `None` in the header, and if the words are not an instruction.
    pub instruction: Option<&'static str>,
    /// The id of its result.
    pub result: Option<u32>,
    /// The source line, from OpLine.
    pub line: Option<SourceLine>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourceLine { file, line, column }) = &self.line {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        write!(f, "word {}", self.offset)?;
        if let Some(instruction) = self.instruction {
            write!(f, ": Op{instruction}")?;
        }
        self.result.map_or(Ok(()), |result| write!(f, " %{result}"))
    }
}

/// A source line, from OpLine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

impl Finding {
    /// A finding about the whole module.
    pub(crate) fn of_module(rule: &Rule, message: impl Into<String>) -> Self {
        Self { rule: rule.id, message: message.into(), position: None, severity: Severity::Error }
    }

    /// The universal limit of SPIR-V that the module exceeds, if this is such a finding. A compiler reports it as a mistake in
    /// the source.
    pub fn exceeded_limit(&self) -> Option<&'static Rule> {
        limits::RULES.iter().find(|rule| rule.id == self.rule)
    }

    /// Whether the module is rejected for it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        write!(f, "{} [{}]", self.message, self.rule)
    }
}
