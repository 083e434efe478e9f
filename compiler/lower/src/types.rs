//! Converts types: values have scalar or vector types, and aggregates only a size.

use kiln_ir::{Handle, Scalar, Type};
use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::{self, Access, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::Lowering;

/// The type of a value in memory. A `bool` is a byte.
pub(super) fn in_memory(ty: Type) -> Type {
    if ty == Type::BOOL { Type::I8 } else { ty }
}

impl Lowering<'_> {
    /// The IR type of values of this type. `None` for `void`, aggregates, and unsupported types.
    pub(super) fn value_type(&self, id: TyId) -> Option<Type> {
        match self.hir.types.get(id) {
            Ty::Scalar(element) | Ty::Atomic(element) => Some(Type::Scalar(Scalar::from(*element))),
            Ty::Vector(element, count) => Some(Type::Vector(Scalar::from(*element), *count)),
            Ty::Enum(id) => Some(Type::Scalar(Scalar::from(self.hir.types.enums[*id].underlying))),
            Ty::AtomicFlag => Some(Type::I32),
            Ty::Pointer(to) => Some(Type::Pointer(to.quals.space.unwrap_or(AddressSpace::Private))),
            Ty::Image(image) => Some(Type::Image(*image)),
            Ty::Sampler => Some(Type::Sampler),
            Ty::Event => Some(Type::Handle(Handle::Event)),
            Ty::Pipe(_, access) => {
                Some(Type::Handle(Handle::Pipe { is_written: *access == Access::WriteOnly }))
            }
            Ty::ReserveId => Some(Type::Handle(Handle::ReserveId)),
            Ty::Queue => Some(Type::Handle(Handle::Queue)),
            Ty::ClkEvent => Some(Type::Handle(Handle::DeviceEvent)),
            Ty::Error
            | Ty::Void
            | Ty::Array(..)
            | Ty::Function(_)
            | Ty::Block(_)
            | Ty::Record(_)
            | Ty::NdRange => None,
        }
    }

    /// Whether values of this type exist only in memory.
    pub(super) fn is_aggregate(&self, id: TyId) -> bool {
        matches!(self.hir.types.get(id), Ty::Array(..) | Ty::Record(_) | Ty::NdRange)
    }

    /// Size and alignment in bytes.
    pub(super) fn layout(&self, id: TyId) -> (u64, u64) {
        let types = &self.hir.types;
        (types.size_of(id).unwrap_or(0), types.align_of(id).unwrap_or(1).max(1))
    }

    /// The number of elements of an array type.
    pub(super) fn count(&self, id: TyId) -> Option<u32> {
        let Ty::Array(_, count) = self.hir.types.get(id) else { return None };
        u32::try_from((*count)?).ok()
    }

    /// The size of the pointee of this pointer type. One byte for `void`.
    pub(super) fn stride(&self, pointer: TyId) -> u64 {
        let Ty::Pointer(to) = self.hir.types.get(pointer) else { return 1 };
        self.hir.types.size_of(to.ty).unwrap_or(1)
    }

    /// The element of an arithmetic type, which determines its operations.
    pub(super) fn element(&self, id: TyId) -> ty::Scalar {
        match self.hir.types.get(id) {
            Ty::Atomic(element) => *element,
            Ty::AtomicFlag => ty::Scalar::Int,
            _ => self.hir.types.components(id).map_or(ty::Scalar::Int, |(element, _)| element),
        }
    }

    /// Reports an unsupported feature.
    pub(super) fn reject(&mut self, what: &str, span: Span) {
        let message = format!("{what} are not supported here");
        self.sink
            .report(Diagnostic::new(Code::TargetFeature, span, message).note(
                "OpenCL C 6.2.1: a device need not have this feature; programs test its feature macro",
            ));
    }
}
