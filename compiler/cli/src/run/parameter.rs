//! The types of a kernel's parameters, from the source or from its module, and checks of arguments against them.

use kiln_compiler::{
    interface::{self, Interface, ParameterKind, Type},
    ty::Scalar,
};
use kiln_runtime::interface::{Argument, ArgumentKind};

use super::{
    structure,
    value::{ElementType, NAMES, ScalarType},
};
use crate::exit::{Failure, failure};

/// A parameter of a kernel.
pub(super) struct Parameter<'i> {
    /// Its name, or else its number.
    pub(super) name: String,
    /// Its declaration or type, for messages.
    shown: String,
    form: Form,
    /// The layout of its value, of the elements that it points to, or of its packets. `None` if unknown, or for `void`.
    layout: Option<ElementType>,
    /// The struct that it is or points to, or that its packets are.
    structure: Option<Struct<'i>>,
}

/// How an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Value,
    Buffer,
    Local,
    Pipe,
    Sampler,
}

/// A struct or union of the source.
#[derive(Clone, Copy)]
pub(super) struct Struct<'i> {
    interface: &'i Interface,
    ty: &'i Type,
}

impl<'i> Parameter<'i> {
    /// A parameter of the source.
    pub(super) fn from_source(
        interface: &'i Interface,
        parameter: &'i interface::Parameter,
        index: usize,
    ) -> Self {
        let (form, ty) = match &parameter.kind {
            ParameterKind::Buffer { element, .. } => (Form::Buffer, element.as_ref()),
            ParameterKind::Local(element) => (Form::Local, element.as_ref()),
            ParameterKind::Pipe(packet) => (Form::Pipe, packet.as_ref()),
            ParameterKind::Value(ty) => (Form::Value, Some(ty)),
            ParameterKind::Sampler => (Form::Sampler, None),
            _ => (Form::Value, None),
        };
        Self {
            name: parameter.name.clone().unwrap_or_else(|| index.to_string()),
            shown: parameter.type_name.clone(),
            form,
            layout: ty.map(|ty| layout(interface, ty)),
            structure: ty.filter(|ty| matches!(ty, Type::Record(_))).map(|ty| Struct { interface, ty }),
        }
    }

    /// A parameter of a module, which contains at most the name of its type.
    pub(super) fn from_module(argument: &Argument, index: usize) -> Self {
        let shown = argument.info.as_ref().map(|info| info.type_name.clone()).unwrap_or_default();
        let element = shown.trim_end_matches('*').trim_end();
        Self {
            name: argument.name().map_or_else(|| index.to_string(), str::to_owned),
            form: match argument.kind {
                ArgumentKind::Pipe(_) => Form::Pipe,
                _ if shown == "sampler_t" => Form::Sampler,
                _ if element.len() < shown.len() => Form::Buffer,
                _ => Form::Value,
            },
            layout: ElementType::parse(element),
            structure: None,
            shown,
        }
    }

    /// The struct or union that this parameter is or points to, or that its packets are.
    pub(super) fn structure(&self, text: &str) -> Result<Struct<'i>, Failure> {
        self.structure.map_or_else(|| self.wrong(&format!("`{text}`")), Ok)
    }

    /// Checks that elements of this type can be passed in this form.
    pub(super) fn check(&self, ty: &ElementType, text: &str, form: Form) -> Result<(), Failure> {
        let is_memory = |form| matches!(form, Form::Buffer | Form::Local);
        let fits = match &self.layout {
            None => self.form != Form::Sampler,
            Some(taken) if is_memory(form) => is_memory(self.form) && taken.shares_memory_with(ty),
            Some(taken) => form == self.form && taken.has_layout_of(ty),
        };
        if fits { Ok(()) } else { self.wrong(&format!("`{text}`")) }
    }

    /// Checks that a sampler can be passed.
    pub(super) fn check_sampler(&self) -> Result<(), Failure> {
        let fits = self.form == Form::Sampler || self.layout.is_none();
        if fits { Ok(()) } else { self.wrong("a sampler") }
    }

    /// Reports an argument of a different type.
    fn wrong<T>(&self, given: &str) -> Result<T, Failure> {
        let example = self.example().map(|example| format!("; write `{example}`"));
        failure(format!(
            "argument `{}` has type `{}`, not {given}{}",
            self.name,
            self.shown,
            example.unwrap_or_default()
        ))
    }

    /// An argument that fits, if the type is known.
    pub(super) fn example(&self) -> Option<String> {
        if self.form == Form::Sampler {
            return Some("sampler:edge,nearest".to_owned());
        }
        let value = match (self.structure, &self.layout) {
            (Some(it), _) if self.form == Form::Value => {
                return Some(format!("struct:{}", structure::example(it.interface, it.ty)));
            }
            (Some(_), _) => "struct".to_owned(),
            (None, layout) => layout.as_ref()?.name()?,
        };
        Some(match self.form {
            Form::Local => format!("local:{value}[N]"),
            Form::Buffer => format!("buf:{value}[N]"),
            Form::Pipe => format!("pipe:{value}[N]"),
            Form::Value | Form::Sampler => format!("{value}:VALUE"),
        })
    }
}

impl Struct<'_> {
    /// The layout of the struct.
    pub(super) fn layout(self) -> ElementType {
        layout(self.interface, self.ty)
    }

    /// The bytes of one struct.
    pub(super) fn value(self, text: &str) -> Result<Vec<u8>, Failure> {
        structure::encode(self.interface, self.ty, text)
    }

    /// The bytes of an array of structs.
    pub(super) fn array(self, count: usize, text: &str) -> Result<Vec<u8>, Failure> {
        let array = Type::Array(Box::new(self.ty.clone()), count as u64);
        structure::encode(self.interface, &array, text)
    }
}

/// The numbers in a value of this type. For a union, those of the first member.
pub(super) fn layout(interface: &Interface, ty: &Type) -> ElementType {
    let mut parts = Vec::new();
    collect(interface, ty, 0, &mut parts);
    ElementType { parts, stride: interface.size_of(ty) as usize }
}

fn collect(interface: &Interface, ty: &Type, offset: u64, parts: &mut Vec<(usize, ScalarType)>) {
    match ty {
        Type::Scalar(_) | Type::Pointer => parts.push((offset as usize, scalar_type(ty))),
        Type::Vector(scalar, count) => {
            for index in 0..u64::from(*count) {
                collect(interface, &Type::Scalar(*scalar), offset + index * scalar.size(), parts);
            }
        }
        Type::Array(element, count) => {
            for index in 0..*count {
                collect(interface, element, offset + index * interface.size_of(element), parts);
            }
        }
        Type::Record(index) => {
            let record = &interface.records[*index];
            let shown = if record.is_union { 1 } else { record.members.len() };
            for member in record.members.iter().take(shown) {
                collect(interface, &member.ty, offset + member.offset, parts);
            }
        }
    }
}

/// The type of a number or an address in the launch language.
pub(super) fn scalar_type(ty: &Type) -> ScalarType {
    let Type::Scalar(scalar) = ty else { return ScalarType::Int { bytes: 8, signed: false } };
    let bytes = scalar.size() as usize;
    match scalar {
        Scalar::Half | Scalar::Float | Scalar::Double => ScalarType::Float { bytes },
        Scalar::Char | Scalar::Short | Scalar::Int | Scalar::Long => ScalarType::Int { bytes, signed: true },
        Scalar::Bool | Scalar::UChar | Scalar::UShort | Scalar::UInt | Scalar::ULong => {
            ScalarType::Int { bytes, signed: false }
        }
    }
}

impl ScalarType {
    /// Whether both represent numbers by the same bits, except for the sign.
    fn resembles(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Int { .. }, Self::Int { .. }) | (Self::Float { .. }, Self::Float { .. })
        ) && self.bytes() == other.bytes()
    }
}

impl ElementType {
    /// The name of a scalar or a vector: `float4`.
    fn name(&self) -> Option<String> {
        let (_, first) = self.parts.first()?;
        let (_, long, _) = NAMES.iter().find(|(.., scalar)| scalar == first)?;
        let count = self.parts.len();
        let is_vector = *self == Self::vector(*first, count);
        is_vector.then(|| if count == 1 { (*long).to_owned() } else { format!("{long}{count}") })
    }

    /// Whether the numbers have the same types, except for signs, at the same positions.
    fn has_layout_of(&self, other: &Self) -> bool {
        let pairs = || self.parts.iter().zip(&other.parts);
        self.stride == other.stride
            && self.parts.len() == other.parts.len()
            && pairs().all(|(one, other)| one.0 == other.0 && one.1.resembles(other.1))
    }

    /// Whether an array of one type can be read as an array of the other: they have the same layout, or one is a vector
    /// of the other.
    fn shares_memory_with(&self, other: &Self) -> bool {
        let is_dense = |ty: &Self| ty.parts.len() * ty.parts[0].1.bytes() == ty.stride;
        let one_type = |ty: &Self| ty.parts.iter().all(|part| part.1.resembles(self.parts[0].1));
        self.has_layout_of(other)
            || (!self.parts.is_empty()
                && (self.parts.len() == 1 || other.parts.len() == 1)
                && [self, other].into_iter().all(|ty| one_type(ty) && is_dense(ty)))
    }
}
