//! Modules that the verifier has accepted, and the error for the others.

use std::fmt;

use kiln_vocabulary::target::Target;

use crate::{Finding, ValueRules, examine};

/// A module without violations, not even those that are warnings. Only [`VerifiedModule::new`] creates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedModule {
    words: Vec<u32>,
    value_rules: ValueRules,
}

impl VerifiedModule {
    /// Verifies a module. With a target, the module must also not use features that the target lacks.
    pub fn new(words: Vec<u32>, target: Option<&Target>) -> Result<Self, InvalidModule> {
        let (findings, value_rules) = examine(&words, target);
        match findings.is_empty() {
            true => Ok(Self { words, value_rules }),
            false => Err(InvalidModule { findings }),
        }
    }

    /// The words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The rules that the values of its specialization constants must follow.
    pub fn value_rules(&self) -> &ValueRules {
        &self.value_rules
    }

    /// The words, without the guarantee of validity.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// The contents of a module file: the words in little-endian byte order.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The findings about a module that the verifier rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidModule {
    /// The violations in the order of the module; at least one.
    pub findings: Vec<Finding>,
}

impl fmt::Display for InvalidModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.findings.first() else { return write!(f, "the module is not valid") };
        write!(f, "{first}")?;
        match self.findings.len() {
            1 => Ok(()),
            count => write!(f, " (and {} more)", count - 1),
        }
    }
}

impl std::error::Error for InvalidModule {}
