//! Vector data load and store (OpenCL C 6.15.7): vectors in memory with only the alignment of their elements.

use super::{access::Address, body::Body};
use kiln_builtins::Object;
use kiln_frontend::hir::{Conversion, Expr};
use kiln_ir::{Scalar, ValueId};
use kiln_types::ty;

impl Body<'_, '_> {
    /// `vloadn(offset, pointer)` and its variants.
    pub(super) fn vector_load(
        &mut self,
        object: Object,
        arguments: &[Expr],
        result: ty::TyId,
    ) -> Option<ValueId> {
        let [offset, pointer] = arguments else { return None };
        let ty = self.value_type(result);
        let element = self.lowering.element(result);
        let address = self.vector_address(object, offset, pointer, element, ty.count());
        let value = self.load(&address, ty.with_scalar(type_in_memory(object, element)));
        if !object.is_half {
            return Some(value);
        }
        let conversion = Conversion { rounding: None, saturate: false };
        Some(self.convert_value(conversion, value, ty::Scalar::Half, element))
    }

    /// `vstoren(value, offset, pointer)` and its variants.
    pub(super) fn vector_store(&mut self, object: Object, arguments: &[Expr]) {
        let [data, offset, pointer] = arguments else { return };
        let element = self.lowering.element(data.ty);
        let mut value = self.value(data);
        let address = self.vector_address(object, offset, pointer, element, self.builder.ty(value).count());
        if object.is_half {
            let conversion = Conversion { rounding: object.rounding, saturate: false };
            value = self.convert_value(conversion, value, element, ty::Scalar::Half);
        }
        self.store(&address, value);
    }

    /// The address of the vector with this index. A 3-component vector occupies three elements, or four if aligned.
    fn vector_address(
        &mut self,
        object: Object,
        offset: &Expr,
        pointer: &Expr,
        element: ty::Scalar,
        count: u8,
    ) -> Address {
        let size = type_in_memory(object, element).size();
        let whole = size * u64::from(count.next_power_of_two());
        let (stride, align) =
            if object.is_aligned { (whole, whole) } else { (size * u64::from(count), size) };
        let step = stride / size;
        if let Some(pointer) = self.member_elements(pointer, (offset, step), u64::from(count)) {
            return Address::new(pointer, align);
        }
        let pointer = self.value(pointer);
        let index = self.index(offset);
        let is_first = self.builder.function.constant_bits(index) == Some(0);
        let pointer = if is_first { pointer } else { self.builder.offset(pointer, index, stride) };
        Address::new(pointer, align)
    }
}

/// The type of an element in memory.
fn type_in_memory(object: Object, element: ty::Scalar) -> Scalar {
    if object.is_half { Scalar::F16 } else { Scalar::from(element) }
}
