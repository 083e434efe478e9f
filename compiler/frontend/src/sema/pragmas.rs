//! Pragmas that affect type checking (OpenCL C 6.12, 6.12.1): loop hints and extensions.
//!
//! Supported extensions are available without the pragma, as in other compilers. If the specification requires the
//! pragma and portable programs use it, its absence is a warning.

use kiln_preprocessor::pragma::{Behavior, Packing, Pragma, Switch};
use kiln_session::{
    diag::{Change, Code, Diagnostic},
    extensions::{Extension, Extensions},
};
use kiln_syntax::{Span, Symbol};
use kiln_types::ty::{Scalar, Ty, TyId};

use super::Sema;

/// The settings of the pragmas so far.
pub(crate) struct Pragmas {
    /// The enabled extensions.
    enabled: Extensions,
    /// Whether floating-point operations may be contracted here (`FP_CONTRACT`, OpenCL C 6.15.2.1).
    pub(super) contracts: bool,
    /// The maximum alignment of members (`#pragma pack`).
    pub(super) packing: Option<u64>,
    /// The maximums that `push` has saved, with their names.
    packings: Vec<(Option<String>, Option<u64>)>,
}

impl Default for Pragmas {
    fn default() -> Self {
        Self { enabled: Extensions::NONE, contracts: true, packing: None, packings: Vec::new() }
    }
}

impl Pragmas {
    /// Applies `#pragma pack`, as other compilers do.
    fn pack(&mut self, packing: Packing<'_>) {
        match packing {
            Packing::Set(most) => self.packing = most,
            Packing::Push(name, most) => {
                self.packings.push((name.map(str::to_owned), self.packing));
                self.packing = most.or(self.packing);
            }
            Packing::Pop(name, most) => {
                let last = match name {
                    Some(name) => self.packings.iter().rposition(|(it, _)| it.as_deref() == Some(name)),
                    None => self.packings.len().checked_sub(1),
                };
                if let Some(last) = last {
                    self.packing = self.packings[last].1;
                    self.packings.truncate(last);
                }
                self.packing = most.or(self.packing);
            }
        }
    }
}

impl Sema<'_> {
    /// Applies a pragma. Returns the hint for the next loop.
    pub(super) fn pragma(&mut self, text: Symbol) -> Option<u32> {
        match Pragma::parse(self.interner.text(text)) {
            Pragma::Unroll(count) => {
                let digits = count.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
                Some(digits.parse().unwrap_or(0))
            }
            Pragma::NoUnroll => Some(1),
            Pragma::Extension { name: "all", behavior: Behavior::Disable } => {
                self.pragmas.enabled = Extensions::NONE;
                None
            }
            Pragma::Extension { name, behavior } => {
                if let Some(extension) = Extension::parse(name) {
                    self.pragmas.enabled.set(extension, behavior == Behavior::Enable);
                }
                None
            }
            Pragma::FpContract(switch) => {
                self.pragmas.contracts = switch != Switch::Off;
                None
            }
            Pragma::Pack(packing) => {
                self.pragmas.pack(packing);
                None
            }
            Pragma::Ignored | Pragma::Unknown | Pragma::UnknownHint(_) | Pragma::Malformed(_) => None,
        }
    }

    /// OpenCL C 6.3.1.2: arithmetic on `half` requires its extension to be enabled.
    pub(super) fn warn_half_not_enabled(&mut self, ty: TyId, span: Span) {
        let is_half = matches!(self.types.get(ty), Ty::Scalar(Scalar::Half) | Ty::Vector(Scalar::Half, _));
        if !is_half || self.pragmas.enabled.has(Extension::KhrFp16) {
            return;
        }
        self.pragmas.enabled.insert(Extension::KhrFp16);
        self.report(
            Diagnostic::new(
                Code::ExtensionNotEnabled,
                span,
                "`half` is used for more than storage, but `cl_khr_fp16` is not enabled",
            )
            .help(format!("write `{}`", enabling(Extension::KhrFp16)))
            .insert_line(span, Change::FirstLine(enabling(Extension::KhrFp16)))
            .note("OpenCL C 6.12.1: extensions are initially disabled"),
        );
    }

    /// OpenCL C 6.15.12.6: 64-bit atomic types require both extensions to be supported and enabled.
    pub(super) fn warn_not_enabled(&mut self, ty: TyId, span: Span) {
        let Ty::Atomic(scalar @ (Scalar::Long | Scalar::ULong | Scalar::Double)) = *self.types.get(ty) else {
            return;
        };
        let needed = [Extension::KhrInt64Base, Extension::KhrInt64Extended];
        let Some(missing) = needed.into_iter().find(|extension| !self.pragmas.enabled.has(*extension)) else {
            return;
        };
        self.pragmas.enabled.insert(Extension::KhrInt64Base);
        self.pragmas.enabled.insert(Extension::KhrInt64Extended);
        let name = missing.name();
        self.report(
            Diagnostic::new(
                Code::ExtensionNotEnabled,
                span,
                format!("`atomic_{}` is used, but `{name}` is not enabled", scalar.spelling()),
            )
            .help(format!("write `{}`, and the same for cl_khr_int64_extended_atomics", enabling(needed[0])))
            .insert_line(span, Change::FirstLine(needed.map(enabling).join("\n")))
            .note("OpenCL C 6.12.1: extensions are initially disabled"),
        );
    }
}

/// The directive that enables an extension.
fn enabling(extension: Extension) -> String {
    format!("#pragma OPENCL EXTENSION {} : enable", extension.name())
}
