//! Finds the row of an instruction, or of a name with operand types: the inverse of lowering.
//!
//! SPIR-V of the OpenCL environment has no signedness and, in newer modules, no pointees. An operand therefore matches
//! several parameter types, and the first overload that matches is selected. Where signedness matters, the instruction's
//! name contains it.

use std::sync::LazyLock;

use kiln_session::extensions::Extensions;
use kiln_types::ty::{ImageTy, Scalar};
use kiln_vocabulary::opencl::LanguageVersion;
use rustc_hash::FxHashMap;

use super::{
    BuiltinId, Context,
    pattern::{ConcreteType, Param},
    row, table,
};

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number, or a vector with this component count.
    Number(Element, u8),
    /// A pointer, with its pointee if that is known to be a number or a vector.
    Pointer(Option<(Element, u8)>),
    /// An image.
    Image(ImageTy),
    /// A sampler, an event, a pipe and so on: matches every parameter that is neither a number nor a pointer.
    Opaque,
}

/// The element type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a floating-point type.
    pub is_float: bool,
    /// Whether it is signed, if the instruction has a signedness.
    pub is_signed: Option<bool>,
}

/// A parameter of the overload that implements an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A number, or a vector with this component count.
    Value(Scalar, u8),
    /// A pointer to such a value.
    Pointer(Scalar, u8),
    /// Anything else.
    Other,
}

/// The overload that matches an instruction or a name: its row and parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedOverload {
    /// The row.
    pub builtin: BuiltinId,
    /// The parameters.
    pub parameters: Vec<Parameter>,
}

/// OpenCL C 3.0 with all extensions. The target restricts them later.
fn everything() -> Context {
    let version = LanguageVersion::Cl30;
    Context { version, extensions: Extensions::all(version) }
}

/// The rows that lower to each instruction of the OpenCL set, by the instruction's name without its sign. Found without parsing
/// the rows, which would take as long as the rest of the translation of a small module.
static INSTRUCTIONS: LazyLock<FxHashMap<&'static str, Vec<BuiltinId>>> = LazyLock::new(|| {
    let mut all: FxHashMap<&'static str, Vec<BuiltinId>> = FxHashMap::default();
    for name in table::names() {
        for id in table::rows(name).into_iter().flat_map(|(_, rows)| rows) {
            if let Some(instruction) = table::instruction(id) {
                all.entry(instruction.name).or_default().push(id);
            }
        }
    }
    all
});

/// The overload that lowers to this instruction of the OpenCL set, such as `u_max` or `fclamp`, with these operands. `None`
/// if no row lowers to the instruction, or its parameters do not match.
pub fn overload_of_instruction(name: &str, operands: &[Operand]) -> Option<MatchedOverload> {
    let (plain, is_signed) = match name.split_once('_') {
        Some(("s", rest)) => (rest, Some(true)),
        Some(("u", rest)) => (rest, Some(false)),
        _ => (name, None),
    };
    let fits = |id: &&BuiltinId| {
        table::instruction(**id).is_some_and(|instruction| instruction.by_sign == is_signed.is_some())
    };
    let mut rows = INSTRUCTIONS.get(plain)?.iter().filter(fits);
    rows.find_map(|&id| matching(id, operands, is_signed))
}

/// The first overload of a name whose parameters match these operands.
pub fn overload_of_name(name: &str, operands: &[Operand]) -> Option<MatchedOverload> {
    table::rows(name)?.1.find_map(|id| matching(id, operands, None))
}

/// The first overload of a row that matches. `is_signed` is the signedness of the first number.
fn matching(id: BuiltinId, operands: &[Operand], is_signed: Option<bool>) -> Option<MatchedOverload> {
    let signature = &row(id).signature;
    if signature.parameters.len() != operands.len() {
        return None;
    }
    let first = operands.iter().position(|operand| matches!(operand, Operand::Number(..)));
    let mut fits = |index: usize, parameter: &Param| {
        let sign = is_signed.filter(|_| Some(index) == first);
        operands[index].fits(parameter)
            && sign.is_none_or(
                |sign| matches!(parameter.base, ConcreteType::Number(scalar, _) if scalar.is_signed() == sign),
            )
    };
    let mut found = None;
    signature.matching(&everything(), &mut fits, &mut |candidate| {
        found.get_or_insert_with(|| MatchedOverload {
            builtin: id,
            parameters: candidate.parameters.iter().map(Parameter::from_param).collect(),
        });
    });
    found
}

impl Parameter {
    fn from_param(param: &Param) -> Self {
        match (param.base, param.pointer) {
            (ConcreteType::Number(scalar, count), None) => Self::Value(scalar, count),
            (ConcreteType::Number(scalar, count), Some(_)) => Self::Pointer(scalar, count),
            // Enums, such as fence flags, are integers in SPIR-V.
            (ConcreteType::Enum(_), None) => Self::Value(Scalar::UInt, 1),
            _ => Self::Other,
        }
    }
}

impl Operand {
    fn fits(&self, parameter: &Param) -> bool {
        match (self, parameter.pointer, parameter.base) {
            (Self::Number(element, count), None, ConcreteType::Number(scalar, width)) => {
                element.fits(scalar) && *count == width
            }
            (Self::Number(element, 1), None, ConcreteType::Enum(_)) => !element.is_float && element.size == 4,
            (Self::Pointer(Some((element, count))), Some(_), ConcreteType::Number(scalar, width)) => {
                element.fits(scalar) && *count == width
            }
            (Self::Pointer(_), Some(_), _) => true,
            (Self::Image(image), None, ConcreteType::Image(wanted)) => *image == wanted,
            (Self::Opaque, None, base) => !matches!(
                base,
                ConcreteType::Number(..)
                    | ConcreteType::Image(_)
                    | ConcreteType::Enum(_)
                    | ConcreteType::Void
            ),
            _ => false,
        }
    }
}

impl Element {
    fn fits(self, scalar: Scalar) -> bool {
        scalar != Scalar::Bool
            && self.size == scalar.size()
            && self.is_float == scalar.is_float()
            && self.is_signed.is_none_or(|is_signed| is_signed == scalar.is_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lowering;

    const fn int(size: u64, count: u8) -> Operand {
        Operand::Number(Element { size, is_float: false, is_signed: None }, count)
    }

    const fn float(size: u64, count: u8) -> Operand {
        Operand::Number(Element { size, is_float: true, is_signed: None }, count)
    }

    fn shown(found: Option<MatchedOverload>) -> Option<(&'static str, Vec<Parameter>)> {
        found.map(|found| (row(found.builtin).name, found.parameters))
    }

    #[test]
    fn instructions_have_overloads() {
        use Parameter::{Pointer, Value};
        let found = |name, operands: &[Operand]| shown(overload_of_instruction(name, operands));
        assert_eq!(found("sin", &[float(4, 3)]), Some(("sin", vec![Value(Scalar::Float, 3)])));
        let both = [Scalar::UInt; 2].map(|scalar| Value(scalar, 4)).to_vec();
        assert_eq!(found("u_max", &[int(4, 4); 2]), Some(("max", both)));
        let both = [Scalar::Short; 2].map(|scalar| Value(scalar, 1)).to_vec();
        assert_eq!(found("s_max", &[int(2, 1); 2]), Some(("max", both)));
        assert_eq!(found("fclamp", &[float(8, 1); 3]), Some(("clamp", vec![Value(Scalar::Double, 1); 3])));
        assert_eq!(
            found("fmax_common", &[float(4, 2), float(4, 2)]),
            Some(("max", vec![Value(Scalar::Float, 2); 2]))
        );
        // The second operand is unsigned even if the first is signed.
        assert_eq!(
            found("s_upsample", &[int(1, 1); 2]),
            Some(("upsample", vec![Value(Scalar::Char, 1), Value(Scalar::UChar, 1)]))
        );
        let pointer = Operand::Pointer(Some((Element { size: 4, is_float: false, is_signed: None }, 1)));
        assert_eq!(
            found("frexp", &[float(4, 1), pointer]),
            Some(("frexp", vec![Value(Scalar::Float, 1), Pointer(Scalar::Int, 1)]))
        );
        assert_eq!(
            found("frexp", &[float(4, 1), Operand::Pointer(None)]),
            Some(("frexp", vec![Value(Scalar::Float, 1), Pointer(Scalar::Int, 1)]))
        );
        assert_eq!(found("sin", &[int(4, 1)]), None);
        assert_eq!(found("max", &[int(4, 1); 2]), None);
        assert_eq!(found("sine", &[float(4, 1)]), None);
    }

    #[test]
    fn names_have_overloads() {
        let unsigned = Operand::Number(Element { size: 4, is_float: false, is_signed: Some(false) }, 1);
        let found = overload_of_name("sub_group_reduce_max", &[unsigned]);
        assert_eq!(shown(found), Some(("sub_group_reduce_max", vec![Parameter::Value(Scalar::UInt, 1)])));
        assert_eq!(overload_of_name("sub_group_reduce_max", &[float(4, 3)]), None);
        assert_eq!(overload_of_name("no_such_function", &[]), None);
    }

    /// Each row with an instruction is found from that instruction and the operands of each of its overloads.
    #[test]
    fn every_row_is_found() {
        let mut count = 0;
        for id in table::names().flat_map(|name| table::rows(name).expect("a name").1) {
            let parsed = match row(id).lowering {
                Lowering::Library(library) => library.opencl,
                _ => None,
            };
            assert_eq!(table::instruction(id), parsed, "{}", row(id).name);
            let Some(instruction) = parsed else { continue };
            let mut candidates = Vec::new();
            row(id).signature.candidates(&everything(), &mut |candidate| candidates.push(candidate));
            for candidate in candidates {
                let parameters: Vec<Parameter> =
                    candidate.parameters.iter().map(Parameter::from_param).collect();
                let element = |scalar: Scalar| Element {
                    size: scalar.size(),
                    is_float: scalar.is_float(),
                    is_signed: None,
                };
                let operands: Vec<Operand> = parameters
                    .iter()
                    .map(|parameter| match *parameter {
                        Parameter::Value(scalar, count) => Operand::Number(element(scalar), count),
                        Parameter::Pointer(scalar, count) => Operand::Pointer(Some((element(scalar), count))),
                        Parameter::Other => Operand::Opaque,
                    })
                    .collect();
                let is_signed = parameters.iter().find_map(|parameter| match parameter {
                    Parameter::Value(scalar, _) => Some(scalar.is_signed()),
                    _ => None,
                });
                let sign = match (instruction.by_sign, is_signed) {
                    (false, _) => "",
                    (true, Some(true)) => "s_",
                    (true, _) => "u_",
                };
                let name = format!("{sign}{}", instruction.name);
                let found = overload_of_instruction(&name, &operands)
                    .unwrap_or_else(|| panic!("{name} {operands:?}"));
                assert_eq!(row(found.builtin).name, row(id).name, "{name}");
                if instruction.by_sign {
                    assert_eq!(found.parameters, parameters, "{name}");
                }
                count += 1;
            }
        }
        assert!(count > 1000, "{count}");
    }
}
