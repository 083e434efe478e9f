//! Conversions of numbers (OpenCL C 6.4.3) and reinterpretation of their bits (6.4.4).

use super::body::Body;
use kiln_frontend::hir::{Conversion, Expr};
use kiln_ir::{Convert, Scalar, Type, ValueId};
use kiln_types::ty::{self, TyId};

impl Body<'_, '_> {
    /// Lowers a componentwise conversion. A conversion to `bool` compares with zero.
    pub(super) fn convert(&mut self, conversion: Conversion, operand: &Expr, to: TyId) -> ValueId {
        let (from, to) = (self.lowering.element(operand.ty), self.lowering.element(to));
        if to == ty::Scalar::Bool && !self.value_type(operand.ty).is_vector() {
            return self.condition(operand);
        }
        let value = self.value(operand);
        self.convert_value(conversion, value, from, to)
    }

    /// Converts a value from one element type to another.
    pub(super) fn convert_value(
        &mut self,
        conversion: Conversion,
        value: ValueId,
        from: ty::Scalar,
        to: ty::Scalar,
    ) -> ValueId {
        let ty = self.builder.ty(value);
        // OpenCL allows initializing some opaque types with constants, such as samplers.
        if ty.scalar().is_none() {
            return value;
        }
        if from == ty::Scalar::Bool {
            return self.convert_bool(value, to);
        }
        let target = ty.with_scalar(Scalar::from(to));
        match (from.is_float(), to.is_float()) {
            (false, false) if !conversion.saturate || includes_range(to, from) => {
                self.builder.resize(value, Scalar::from(to), from.is_signed())
            }
            (true, true) if from == to => value,
            _ => {
                let (from_signed, to_signed) = (from.is_signed(), to.is_signed());
                self.builder.convert(Convert::Number { conversion, from_signed, to_signed }, value, target)
            }
        }
    }

    fn convert_bool(&mut self, value: ValueId, to: ty::Scalar) -> ValueId {
        let ty = self.builder.ty(value);
        if to == ty::Scalar::Bool {
            return value;
        }
        if !to.is_float() {
            return self.builder.convert(Convert::ZeroExtend, value, ty.with_scalar(Scalar::from(to)));
        }
        let number = self.builder.convert(Convert::ZeroExtend, value, ty.with_scalar(Scalar::I32));
        self.convert_value(Conversion { rounding: None, saturate: false }, number, ty::Scalar::UInt, to)
    }

    /// Reinterprets the bytes as another numeric type. A 3-component vector has the size of a 4-component vector,
    /// whose last component is undefined (OpenCL C 6.4.4.2).
    pub(super) fn reinterpret(&mut self, value: ValueId, to: Type) -> ValueId {
        let from = self.builder.ty(value);
        if from.size() == to.size() {
            return self.builder.bitcast(value, to);
        }
        let mut value = value;
        if from.count() == 3 {
            let undefined = self.builder.undefined(from);
            value = self.builder.shuffle(value, undefined, &[0, 1, 2, 3]);
        }
        if to.count() == 3 {
            let four = self.builder.bitcast(value, to.with_count(4));
            return self.builder.shuffle(four, four, &[0, 1, 2]);
        }
        self.builder.bitcast(value, to)
    }
}

/// Whether one integer type can represent all values of another.
const fn includes_range(outer: ty::Scalar, inner: ty::Scalar) -> bool {
    match (outer.is_signed(), inner.is_signed()) {
        (true, true) | (false, false) => outer.size() >= inner.size(),
        (true, false) => outer.size() > inner.size(),
        (false, true) => false,
    }
}
