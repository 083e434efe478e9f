//! The host's view of a program: kernels with their parameters, and the structs and enums that these use.
//!
//! Extracts this data from the HIR. Independent of the host's programming language.

use kiln_syntax::{Interner, ast::RecordKind};
use kiln_types::ty::{Access, QualTy, Quals, RecordId, Scalar, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use crate::hir::{Function, Module};

/// The interface of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The kernels, in the order of definition.
    pub kernels: Vec<Kernel>,
    /// The structs and unions that kernel parameters use. Types of members precede the types that contain them.
    pub records: Vec<Record>,
    /// The enumerators of the program, in source order.
    pub enumerators: Vec<Enumerator>,
}

/// A kernel, as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its attributes, as `clGetKernelInfo` returns them.
    pub attributes: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name. `None` if the source has none.
    pub name: Option<String>,
    /// Its type in OpenCL C.
    pub type_name: String,
    /// Its type without address space and qualifiers, as `clGetKernelArgInfo` returns it.
    pub plain_type: String,
    /// The qualifiers that `clGetKernelArgInfo` returns.
    pub quals: Quals,
    /// The host's argument for it.
    pub kind: ParameterKind,
}

/// The kind of argument that the host passes for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Memory with these elements. `None` for `void` and types without a layout.
    Buffer {
        /// Whether it is in constant memory.
        is_constant: bool,
        /// Whether the kernel cannot write through this pointer.
        is_read_only: bool,
        /// The element type.
        element: Option<Type>,
    },
    /// Local memory with these elements.
    Local(Option<Type>),
    /// A value.
    Value(Type),
    /// An image with this access.
    Image(Access),
    /// A sampler.
    Sampler,
    /// A pipe with packets of this type. `None` for types without a layout.
    Pipe(Option<Type>),
    /// Another kind of handle, such as a queue.
    Handle,
}

/// A type with a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Scalar(Scalar),
    /// A vector. One with three components has the size of four.
    Vector(Scalar, u8),
    /// An array.
    Array(Box<Type>, u64),
    /// An entry of `Interface::records`.
    Record(usize),
    /// A 64-bit address.
    Pointer,
}

/// A struct or a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The tag, or the name of the first typedef. `None` if anonymous.
    pub name: Option<String>,
    /// Whether it is a union.
    pub is_union: bool,
    /// The members, in order.
    pub members: Vec<Member>,
    /// Size in bytes, padding included.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name. `None` for an anonymous struct or union.
    pub name: Option<String>,
    /// Its type.
    pub ty: Type,
    /// Its offset in bytes.
    pub offset: u64,
}

/// An enumerator of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// The tag of its enum.
    pub tag: Option<String>,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// The type of the enum's values.
    pub ty: Scalar,
}

impl Parameter {
    /// The parameter as the source might declare it: `global float *a`.
    pub fn declaration(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        match self.type_name.strip_suffix(" *") {
            Some(pointee) => format!("{pointee} *{name}"),
            None => format!("{} {name}", self.type_name).trim_end().to_owned(),
        }
    }
}

impl Interface {
    /// The size of a type in bytes.
    pub fn size_of(&self, ty: &Type) -> u64 {
        match ty {
            Type::Scalar(scalar) => scalar.size(),
            Type::Vector(element, count) => element.size() * u64::from(count.next_power_of_two()),
            Type::Array(element, count) => self.size_of(element) * count,
            Type::Record(index) => self.records[*index].size,
            Type::Pointer => 8,
        }
    }

    /// Extracts the interface of a program without errors.
    pub fn from_module(module: &Module, interner: &Interner) -> Self {
        let mut reader = Reader { module, interner, known: FxHashMap::default(), interface: Self::default() };
        for function in module.functions.iter() {
            reader.kernel(function);
        }
        for (_, list) in module.types.enums.entries() {
            reader.interface.enumerators.extend(list.enumerators.iter().map(|&(name, value)| Enumerator {
                tag: list.name.map(|tag| interner.text(tag).to_owned()),
                name: interner.text(name).to_owned(),
                value,
                ty: list.underlying,
            }));
        }
        reader.interface
    }
}

struct Reader<'a> {
    module: &'a Module,
    interner: &'a Interner,
    known: FxHashMap<RecordId, usize>,
    interface: Interface,
}

impl Reader<'_> {
    fn kernel(&mut self, function: &Function) {
        let (Some(kernel), Some(_)) = (&function.kernel, &function.body) else { return };
        let mut entry = Kernel {
            name: self.interner.text(function.name).to_owned(),
            attributes: kernel.attributes(&self.module.types, self.interner),
            parameters: Vec::with_capacity(function.parameters.len()),
            required_size: kernel.required_size,
            size_hint: kernel.size_hint,
        };
        for (&id, info) in function.parameters.iter().zip(&kernel.arguments) {
            let local = &function.locals[id];
            entry.parameters.push(Parameter {
                name: local.name.map(|name| self.interner.text(name).to_owned()),
                type_name: self.module.types.show(local.ty.ty, self.interner),
                plain_type: info.type_name.clone(),
                quals: info.quals.quals,
                kind: self.parameter(local.ty.ty),
            });
        }
        self.interface.kernels.push(entry);
    }

    fn parameter(&mut self, id: TyId) -> ParameterKind {
        match *self.module.types.get(id) {
            Ty::Pointer(to) => self.pointer(to),
            Ty::Image(image) => ParameterKind::Image(image.access),
            Ty::Sampler => ParameterKind::Sampler,
            Ty::Pipe(packet, _) => ParameterKind::Pipe(self.ty(packet)),
            _ => self.ty(id).map_or(ParameterKind::Handle, ParameterKind::Value),
        }
    }

    fn pointer(&mut self, to: QualTy) -> ParameterKind {
        let element = self.ty(to.ty);
        if to.quals.space == Some(AddressSpace::Local) {
            return ParameterKind::Local(element);
        }
        let is_constant = to.quals.space == Some(AddressSpace::Constant);
        ParameterKind::Buffer { is_constant, is_read_only: is_constant || to.quals.is_const, element }
    }

    fn ty(&mut self, id: TyId) -> Option<Type> {
        Some(match *self.module.types.get(id) {
            Ty::Scalar(scalar) | Ty::Atomic(scalar) => Type::Scalar(scalar),
            Ty::AtomicFlag => Type::Scalar(Scalar::Int),
            Ty::Enum(id) => Type::Scalar(self.module.types.enums[id].underlying),
            Ty::Vector(element, count) => Type::Vector(element, count),
            Ty::Array(element, Some(count)) => Type::Array(Box::new(self.ty(element.ty)?), count),
            Ty::Record(id) => Type::Record(self.record(id)?),
            Ty::Pointer(_) => Type::Pointer,
            _ => return None,
        })
    }

    fn record(&mut self, id: RecordId) -> Option<usize> {
        if let Some(&index) = self.known.get(&id) {
            return Some(index);
        }
        let record = &self.module.types.records[id];
        let mut members = Vec::new();
        for field in record.fields.as_ref()? {
            members.push(Member {
                name: field.name.map(|name| self.interner.text(name).to_owned()),
                ty: self.ty(field.ty.ty)?,
                offset: field.offset,
            });
        }
        let index = self.interface.records.len();
        self.interface.records.push(Record {
            name: record.name.map(|name| self.interner.text(name).to_owned()),
            is_union: record.kind == RecordKind::Union,
            members,
            size: record.size,
            align: record.align,
        });
        self.known.insert(id, index);
        Some(index)
    }
}
