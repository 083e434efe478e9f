//! Pipes (OpenCL C 6.15.18). Operations get the packet size and alignment as operands, because the pipe object does
//! not contain them.

use super::body::Body;
use kiln_builtins::BuiltinId;
use kiln_frontend::hir::Expr;
use kiln_ir::{BuiltinParam, Type, ValueId};
use kiln_types::ty::{Scalar, Ty};
use kiln_vocabulary::opencl::AddressSpace;

impl Body<'_, '_> {
    /// Lowers a pipe function. The size and alignment of a packet follow its arguments, except for functions without
    /// a pipe. The packet is passed by generic pointer.
    pub(super) fn pipe(&mut self, builtin: BuiltinId, arguments: &[Expr], call: &Expr) -> Option<ValueId> {
        let generic = Type::Pointer(AddressSpace::Generic);
        let mut params = Vec::new();
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.value(argument);
            let is_packet = self.builder.ty(value).is_pointer();
            values.push(if is_packet { self.pointer_cast(value, generic) } else { value });
            params.push(BuiltinParam::Other);
        }
        let pipe = arguments.first().map(|pipe| self.lowering.hir.types.get(pipe.ty));
        if let Some(&Ty::Pipe(packet, _)) = pipe {
            let (size, align) = self.lowering.layout(packet);
            for bytes in [size, align] {
                values.push(self.builder.i32(i32::try_from(bytes).unwrap_or(i32::MAX)));
                params.push(BuiltinParam::Value(Scalar::UInt, 1));
            }
        }
        let result = self.lowering.value_type(call.ty);
        self.builtin_call(builtin, params, &values, result)
    }
}
