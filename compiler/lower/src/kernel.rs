//! Kernel metadata: attributes and arguments.

use super::Lowering;
use kiln_frontend::hir::{self, FunctionId};
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
            attributes: self.attributes(kernel),
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

    /// `CL_KERNEL_ATTRIBUTES` (OpenCL API 5.9.3): as in the source, separated by single spaces.
    fn attributes(&self, kernel: &hir::Kernel) -> String {
        let size = |name: &str, size: Option<[u32; 3]>| size.map(|[x, y, z]| format!("{name}({x},{y},{z})"));
        let vector =
            kernel.vec_type_hint.map(|ty| format!("vec_type_hint({})", self.hir.types.show(ty, self.names)));
        let all = [
            size("reqd_work_group_size", kernel.required_size),
            size("work_group_size_hint", kernel.size_hint),
            vector,
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
