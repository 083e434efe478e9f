//! The output formats of a compilation.

use kiln_verify::VerifiedModule;

use crate::part::Part;

/// The requested output. Each stage can print its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Diagnostics only.
    Nothing,
    /// The source after preprocessing.
    Preprocessed,
    /// The syntax tree.
    Ast,
    /// The HIR.
    Hir,
    /// The IR before any pass.
    Ir,
    /// The IR after this pass.
    IrAfter(String),
    /// The module's assembly text.
    Assembly,
    /// The module.
    Spirv,
    /// A part of a program, for `link`.
    Part,
}

impl Emit {
    /// Parses the name of an output: `spirv`, `asm`, `part`, `pp`, `ast`, `hir`, `ir`, `ir-after=PASS`.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "spirv" => Self::Spirv,
            "part" => Self::Part,
            "asm" => Self::Assembly,
            "pp" => Self::Preprocessed,
            "ast" => Self::Ast,
            "hir" => Self::Hir,
            "ir" => Self::Ir,
            _ => {
                let pass = name.strip_prefix("ir-after=")?;
                kiln_passes::names().any(|known| known == pass).then(|| Self::IrAfter(pass.to_owned()))?
            }
        })
    }
}

/// The output of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// Text.
    Text(String),
    /// A verified SPIR-V module.
    Module(VerifiedModule),
    /// A part of a program.
    Part(Box<Part>),
}
