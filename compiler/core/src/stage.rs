//! How far a compilation goes, and what it then gives.

use crate::verify::VerifiedModule;

/// What to make: each stage can print its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Diagnostics only.
    Nothing,
    /// The source after preprocessing.
    Preprocessed,
    /// The syntax tree.
    Ast,
    /// The typed tree.
    Hir,
    /// The intermediate form before any pass.
    Ir,
    /// The intermediate form after this pass.
    IrAfter(String),
    /// The module's assembly text.
    Assembly,
    /// The module.
    Spirv,
}

impl Emit {
    /// The stage of this name: `spirv`, `asm`, `pp`, `ast`, `hir`, `ir`, `ir-after=PASS`.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "spirv" => Self::Spirv,
            "asm" => Self::Assembly,
            "pp" => Self::Preprocessed,
            "ast" => Self::Ast,
            "hir" => Self::Hir,
            "ir" => Self::Ir,
            _ => {
                let pass = name.strip_prefix("ir-after=")?;
                crate::passes::names().any(|known| known == pass).then(|| Self::IrAfter(pass.to_owned()))?
            }
        })
    }
}

/// What a compilation has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// Text.
    Text(String),
    /// A SPIR-V module. The type says that it was verified.
    Module(VerifiedModule),
}
