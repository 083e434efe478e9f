//! Prints overloads for messages: `float4 pow(float4, float4)`, `gentype pow(gentype, gentype)`.

use std::fmt::Write;

use kiln_syntax::Interner;
use kiln_types::ty::Types;

use super::{
    Row,
    pattern::{Base, Candidate, ConcreteType, Element, Param, Pattern, SpacePattern, Width},
};

impl Row {
    /// Prints an overload of this row.
    pub(super) fn show(&self, candidate: &Candidate) -> String {
        let mut types = Types::new();
        let interner = Interner::new();
        let mut show = |param: &Param| {
            let ty = param.ty(&mut types);
            types.show(ty, &interner)
        };
        let result = show(&candidate.result);
        let parameters: Vec<String> = candidate.parameters.iter().map(&mut show).collect();
        self.declaration(&result, parameters)
    }

    /// Prints all overloads of this row in one line, with the specification's names for generic types.
    pub fn show_generic(&self) -> String {
        self.show_generic_with(&[])
    }

    /// The number of parameters, without `...`.
    pub fn parameter_count(&self) -> usize {
        self.signature.parameters.len()
    }

    /// Like `show_generic`, with the given parameter names.
    pub fn show_generic_with(&self, names: &[&str]) -> String {
        let is_generic = self.signature.widths.len() > 1;
        let show = |pattern: &Pattern| generic(pattern, is_generic);
        let mut parameters: Vec<String> = self.signature.parameters.iter().map(show).collect();
        for (parameter, name) in parameters.iter_mut().zip(names) {
            let gap = if parameter.ends_with('*') { "" } else { " " };
            *parameter = format!("{parameter}{gap}{name}");
        }
        self.declaration(&show(&self.signature.result), parameters)
    }

    fn declaration(&self, result: &str, mut parameters: Vec<String>) -> String {
        if self.signature.is_variadic {
            parameters.push("...".into());
        }
        let gap = if result.ends_with('*') { "" } else { " " };
        format!("{result}{gap}{}({})", self.name, parameters.join(", "))
    }
}

/// Prints a type with variables. A vector type is printed as `gentype`, and so is `T` if the row has no vectors.
fn generic(pattern: &Pattern, has_vectors: bool) -> String {
    let mut text = String::new();
    if let Some(pointer) = pattern.pointer {
        if let SpacePattern::Fixed(space) = pointer.space {
            let _ = write!(text, "{} ", space.spelling());
        }
        text.push_str(if pointer.is_const { "const " } else { "" });
        text.push_str(if pointer.is_volatile { "volatile " } else { "" });
    }
    match pattern.base {
        Base::Void => text.push_str("void"),
        Base::Image => text.push_str("image"),
        Base::Atomic => text.push_str("atomic_type"),
        Base::Fixed(ConcreteType::Any) => text.push_str("gentype"),
        Base::Fixed(ConcreteType::Block) => text.push_str("block"),
        Base::Fixed(ConcreteType::Pipe(access)) => {
            let _ = write!(text, "{} pipe gentype", access.spelling());
        }
        Base::Fixed(concrete) => {
            let mut types = Types::new();
            let ty = types.intern(concrete.ty());
            text.push_str(&types.show(ty, &Interner::new()));
        }
        Base::Number(element, width) => {
            let scalar = if has_vectors && width == Width::Fixed(1) { "s" } else { "" };
            match element {
                Element::Fixed(scalar) => text.push_str(scalar.spelling()),
                Element::T => {
                    let _ = write!(text, "{scalar}gentype");
                }
                Element::Signed => text.push_str("igentype"),
                Element::Unsigned => text.push_str("ugentype"),
                Element::Wide => text.push_str("wide gentype"),
            }
            match width {
                Width::N if matches!(element, Element::Fixed(_)) => text.push('n'),
                Width::M => text.push('m'),
                Width::Fixed(count) if count > 1 => {
                    let _ = write!(text, "{count}");
                }
                Width::N | Width::Fixed(_) => {}
            }
        }
    }
    if pattern.pointer.is_some() {
        text.push_str(" *");
    }
    text
}
