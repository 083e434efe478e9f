//! Prints types for messages: `global int *`, `float4`, `int (*)[3]`.
//!
//! The only code that prints types, in the syntax of declarators.

use kiln_syntax::{Interner, ast::RecordKind};

use super::{Access, EnumId, FunctionTy, ImageDim, ImageTy, QualTy, Quals, Ty, TyId, Types};

impl From<TyId> for QualTy {
    fn from(ty: TyId) -> Self {
        ty.plain()
    }
}

impl Types {
    /// The type in the syntax of a type name (C99 6.7.6).
    pub fn show(&self, ty: impl Into<QualTy>, interner: &Interner) -> String {
        self.declare(ty.into(), String::new(), interner)
    }

    /// A declaration of this name.
    pub fn show_declaration(&self, ty: impl Into<QualTy>, name: &str, interner: &Interner) -> String {
        self.declare(ty.into(), name.to_owned(), interner)
    }

    /// Wraps the type around a declarator.
    fn declare(&self, ty: QualTy, declarator: String, interner: &Interner) -> String {
        match self.get(ty.ty) {
            Ty::Pointer(to) => self.pointer_to(*to, ty.quals, &declarator, interner),
            Ty::Block(function) => {
                let inner = format!("(^{})", qualified(ty.quals, &declarator));
                self.function(function, &inner, interner)
            }
            Ty::Array(element, count) => {
                let count = count.map(|count| count.to_string()).unwrap_or_default();
                let element = QualTy { quals: element.quals.union(ty.quals), ..*element };
                self.declare(element, format!("{declarator}[{count}]"), interner)
            }
            Ty::Function(function) => self.function(function, &declarator, interner),
            _ => {
                let name = format!("{}{}", prefix(ty.quals), self.name(ty.ty, interner));
                // An array of non-pointers follows the element type without a space: `int[3]`, but `int *[3]`.
                let gap = if declarator.is_empty() || declarator.starts_with('[') { "" } else { " " };
                format!("{name}{gap}{declarator}")
            }
        }
    }

    fn pointer_to(&self, to: QualTy, quals: Quals, declarator: &str, interner: &Interner) -> String {
        let inner = format!("*{}", qualified(quals, declarator));
        let needs_parens = matches!(self.get(to.ty), Ty::Array(..) | Ty::Function(_));
        let inner = if needs_parens { format!("({inner})") } else { inner };
        match self.get(to.ty) {
            // The address space of a function has no meaning.
            Ty::Function(function) => self.function(function, &inner, interner),
            _ => self.declare(to, inner, interner),
        }
    }

    fn function(&self, function: &FunctionTy, declarator: &str, interner: &Interner) -> String {
        let mut parameters: Vec<String> =
            function.parameters.iter().map(|parameter| self.show(*parameter, interner)).collect();
        if function.is_variadic {
            parameters.push("...".into());
        }
        if parameters.is_empty() {
            parameters.push("void".into());
        }
        self.declare(function.result, format!("{declarator}({})", parameters.join(", ")), interner)
    }

    fn name(&self, id: TyId, interner: &Interner) -> String {
        let tagged = |word: &str, name: Option<_>| match name {
            Some(name) => format!("{word} {}", interner.text(name)),
            None => format!("{word} without a name"),
        };
        match *self.get(id) {
            Ty::Error => "a type in error".into(),
            Ty::Void => "void".into(),
            Ty::Scalar(scalar) => scalar.spelling().into(),
            Ty::Vector(element, count) => format!("{}{count}", element.spelling()),
            Ty::Record(record) => {
                let record = &self.records[record];
                let word = match record.kind {
                    RecordKind::Struct => "struct",
                    RecordKind::Union => "union",
                };
                match record.name {
                    Some(name) if !record.has_tag => interner.text(name).into(),
                    name => tagged(word, name),
                }
            }
            Ty::Enum(EnumId::MEMORY_ORDER) => "memory_order".into(),
            Ty::Enum(EnumId::MEMORY_SCOPE) => "memory_scope".into(),
            Ty::Enum(id) => tagged("enum", self.enums[id].name),
            Ty::Atomic(scalar) => format!("atomic_{}", scalar.spelling()),
            Ty::AtomicFlag => "atomic_flag".into(),
            Ty::Image(image) => format!("{} {}", image.access.spelling(), image.name()),
            Ty::Pipe(packet, access) => {
                format!("{} pipe {}", access.spelling(), self.show(packet, interner))
            }
            Ty::Sampler => "sampler_t".into(),
            Ty::Event => "event_t".into(),
            Ty::Queue => "queue_t".into(),
            Ty::ClkEvent => "clk_event_t".into(),
            Ty::ReserveId => "reserve_id_t".into(),
            Ty::NdRange => "ndrange_t".into(),
            Ty::Pointer(_) | Ty::Array(..) | Ty::Function(_) | Ty::Block(_) => {
                self.declare(id.plain(), String::new(), interner)
            }
        }
    }
}

/// Qualifiers before a type name, each followed by a space.
fn prefix(quals: Quals) -> String {
    words(quals).into_iter().flat_map(|word| [word, " "]).collect()
}

/// Qualifiers after `*` or `^`, followed by the rest of the declarator.
fn qualified(quals: Quals, declarator: &str) -> String {
    let words = words(quals).join(" ");
    if words.is_empty() || declarator.is_empty() {
        words + declarator
    } else {
        format!("{words} {declarator}")
    }
}

fn words(quals: Quals) -> Vec<&'static str> {
    let mut words = Vec::new();
    words.extend(quals.space.map(|space| space.spelling()));
    words.extend(quals.is_const.then_some("const"));
    words.extend(quals.is_volatile.then_some("volatile"));
    words.extend(quals.is_restrict.then_some("restrict"));
    words
}

impl Access {
    /// Its keyword.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WriteOnly => "write_only",
            Self::ReadWrite => "read_write",
        }
    }
}

impl ImageTy {
    /// The name of the type, without the access qualifier.
    pub fn name(self) -> String {
        let dim = match self.dim {
            ImageDim::D1 => "1d",
            ImageDim::Buffer => "1d_buffer",
            ImageDim::D2 => "2d",
            ImageDim::D3 => "3d",
        };
        let array = if self.is_array { "_array" } else { "" };
        let msaa = if self.is_msaa { "_msaa" } else { "" };
        let depth = if self.is_depth { "_depth" } else { "" };
        format!("image{dim}{array}{msaa}{depth}_t")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ty::Scalar;
    use kiln_vocabulary::opencl::AddressSpace::{Constant, Generic, Global, Private};

    fn pointer(types: &mut Types, to: QualTy) -> TyId {
        types.pointer(to)
    }

    #[test]
    fn types_are_printed_as_declarators() {
        let mut types = Types::new();
        let interner = &mut Interner::new();
        let int = TyId::INT.plain();
        let float4 = types.vector(Scalar::Float, 4);
        let global_int = pointer(&mut types, int.in_space(Global));
        let constant_char =
            pointer(&mut types, TyId::scalar(Scalar::Char).plain().in_space(Constant).constant());
        let nested = pointer(&mut types, global_int.plain().in_space(Private));
        let array = types.intern(Ty::Array(int, Some(3)));
        let rows = types.intern(Ty::Array(array.plain(), None));
        let pointers = types.intern(Ty::Array(global_int.plain(), Some(2)));
        let to_array = pointer(&mut types, array.plain().in_space(Generic));
        let function = FunctionTy { result: int, parameters: vec![float4.plain()], is_variadic: false };
        let function_ty = types.intern(Ty::Function(function.clone()));
        let to_function = pointer(&mut types, function_ty.plain());
        let block = types.intern(Ty::Block(function));
        let image = types.intern(Ty::Image(ImageTy {
            dim: ImageDim::D2,
            is_array: true,
            is_depth: true,
            is_msaa: false,
            access: Access::WriteOnly,
        }));
        for (ty, expected) in [
            (TyId::INT.plain(), "int"),
            (float4.plain().constant(), "const float4"),
            (global_int.plain(), "global int *"),
            (global_int.plain().constant(), "global int *const"),
            (constant_char.plain(), "constant const char *"),
            (nested.plain(), "global int *private *"),
            (array.plain(), "int[3]"),
            (rows.plain(), "int[][3]"),
            (pointers.plain(), "global int *[2]"),
            (to_array.plain(), "generic int (*)[3]"),
            (function_ty.plain(), "int (float4)"),
            (to_function.plain(), "int (*)(float4)"),
            (block.plain(), "int (^)(float4)"),
            (image.plain(), "write_only image2d_array_depth_t"),
            (types.intern(Ty::Atomic(Scalar::ULong)).plain(), "atomic_ulong"),
            (types.intern(Ty::Enum(EnumId::MEMORY_SCOPE)).plain(), "memory_scope"),
        ] {
            assert_eq!(types.show(ty, interner), expected);
        }
    }
}
