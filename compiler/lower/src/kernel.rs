//! Kernel metadata: attributes and arguments.

use super::Lowering;
use kiln_frontend::hir::FunctionId;
use kiln_ir::{Argument, ArgumentKind, Handle, Kernel, Type};
use kiln_types::ty::{QualTy, Ty};
use kiln_vocabulary::opencl::AddressSpace;

impl Lowering<'_> {
    /// The metadata of a kernel.
    pub(super) fn kernel(&self, id: FunctionId) -> Kernel {
        let function = &self.hir.functions[id];
        let Some(kernel) = &function.kernel else { return Kernel::default() };
        let arguments = function.parameters.iter().zip(&kernel.arguments).map(|(&parameter, info)| {
            let local = &function.locals[parameter];
            Argument {
                kind: self.argument_kind(local.ty),
                name: local.name.map_or("", |name| self.names.text(name)).to_owned(),
                type_name: info.type_name.clone(),
                is_const: info.quals.quals.is_const,
                is_volatile: info.quals.quals.is_volatile,
                is_restrict: info.quals.quals.is_restrict,
            }
        });
        Kernel {
            required_size: kernel.required_size,
            size_hint: kernel.size_hint,
            attributes: kernel.attributes(&self.hir.types, self.names),
            arguments: arguments.collect(),
        }
    }

    fn argument_kind(&self, parameter: QualTy) -> ArgumentKind {
        let (size, align) = self.layout(parameter.ty);
        match (self.hir.types.get(parameter.ty), self.value_type(parameter.ty)) {
            (Ty::Pointer(to), _) => {
                let (element_size, align) = self.layout(to.ty);
                match to.quals.space {
                    Some(AddressSpace::Local) => ArgumentKind::Local { element_size, align },
                    space => ArgumentKind::Pointer { space: space.unwrap_or(AddressSpace::Global), align },
                }
            }
            (_, Some(Type::Scalar(_) | Type::Vector(..))) => ArgumentKind::Value { size, align },
            _ if self.is_aggregate(parameter.ty) => ArgumentKind::Aggregate { size, align },
            (_, Some(Type::Image(image))) => ArgumentKind::Image(image),
            (_, Some(Type::Sampler)) => ArgumentKind::Sampler,
            (_, Some(Type::Handle(Handle::Pipe { is_written }))) => ArgumentKind::Pipe { is_written },
            _ => ArgumentKind::Queue,
        }
    }
}
