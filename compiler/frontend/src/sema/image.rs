//! Constant initializers as bytes, for objects with static lifetime (C99 6.6, 6.7.8; OpenCL C 6.7.7).
//!
//! Writes values at the offsets of the type's layout. `constant` evaluates constant expressions.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::{
    binary16,
    ty::{POINTER_SIZE, QualTy, Scalar, Ty, TyId},
};
use kiln_vocabulary::opencl::MAX_INITIALIZED_SIZE;

use super::Sema;
use crate::hir::{Const, Expr, ExprKind, GlobalId, Image, Lvalue, LvalueKind, Relocation};

/// An address constant: an object and an offset.
struct Address {
    /// `None` for an address that is an integer.
    object: Option<GlobalId>,
    offset: i64,
}

impl Image {
    /// Whether it differs from the zero bytes of an object without initializer.
    pub(crate) fn is_nonzero(&self) -> bool {
        !self.relocations.is_empty() || self.bytes.iter().any(|byte| *byte != 0)
    }
}

impl Sema<'_> {
    /// The bytes of an object of this type with this initializer. Reports an initializer that is not constant.
    pub(crate) fn static_image(&mut self, value: &Expr, ty: QualTy) -> Option<Image> {
        let size = Some(self.types.size_of(ty.ty)?).filter(|size| *size <= MAX_INITIALIZED_SIZE);
        let Some(size) = size else {
            self.report(Diagnostic::new(Code::ArraySize, value.span, "this initialized object is too large"));
            return None;
        };
        let mut image = Image { bytes: vec![0; size as usize], relocations: Vec::new() };
        self.write(value, 0, &mut image).then_some(image)
    }

    /// Writes a value at an offset. `false` if it is not constant.
    fn write(&mut self, value: &Expr, offset: u64, image: &mut Image) -> bool {
        match &value.kind {
            ExprKind::Aggregate(parts) => {
                let mut all = true;
                for (part, value) in parts {
                    all &= self.write(value, offset + part, image);
                }
                return all;
            }
            ExprKind::Load(lvalue) => {
                if let LvalueKind::Temporary(inner) = &lvalue.kind {
                    return self.write(inner, offset, image);
                }
            }
            _ => {}
        }
        let is_address = match self.types.get(value.ty) {
            Ty::Error => return false,
            Ty::Pointer(_) => true,
            Ty::Scalar(Scalar::Long | Scalar::ULong) => matches!(value.kind, ExprKind::PointerToInt(_)),
            _ => false,
        };
        if is_address && let Some(address) = self.address(value) {
            write_address(&address, offset, image);
            return true;
        }
        let Some(constant) = self.constant(value) else {
            self.report_not_constant(value.span);
            return false;
        };
        self.write_constant(&constant, value.ty, offset, image);
        true
    }

    fn report_not_constant(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::ConstantInitializer, span, "this is not a constant expression")
                .label("only known when the program runs")
                .help("assign the value in a kernel, or use a macro or an enumerator")
                .note("OpenCL C 6.7.7, C99 6.6: objects at program scope, `static` and `constant` ones have constant initializers"),
        );
    }

    /// Writes a constant of a non-aggregate type.
    fn write_constant(&self, constant: &Const, ty: TyId, offset: u64, image: &mut Image) {
        let scalar = match *self.types.get(ty) {
            Ty::Scalar(scalar) | Ty::Atomic(scalar) => scalar,
            Ty::Enum(id) => self.types.enums[id].underlying,
            Ty::Vector(scalar, _) => {
                if let Const::Vector(components) = constant {
                    for (number, component) in (0..).zip(components) {
                        let bits = scalar_bits(component, scalar);
                        write_bits(image, offset + number * scalar.size(), bits, scalar.size());
                    }
                }
                return;
            }
            Ty::AtomicFlag => Scalar::Int,
            _ => Scalar::ULong,
        };
        write_bits(image, offset, scalar_bits(constant, scalar), scalar.size());
    }

    /// An address constant (C99 6.6): of an object with static lifetime or a part of it, or an integer.
    fn address(&mut self, value: &Expr) -> Option<Address> {
        match &value.kind {
            ExprKind::Const(Const::NullPointer | Const::Zero) => Some(Address { object: None, offset: 0 }),
            ExprKind::Const(Const::Int(bits)) => Some(Address { object: None, offset: *bits as i64 }),
            ExprKind::AddressOf(lvalue) => self.lvalue_address(lvalue),
            ExprKind::PointerCast(inner) | ExprKind::PointerToInt(inner) | ExprKind::Bitcast(inner) => {
                self.address(inner)
            }
            ExprKind::IntToPointer(inner) => match self.constant(inner) {
                Some(Const::Int(bits)) => Some(Address { object: None, offset: bits as i64 }),
                _ => self.address(inner),
            },
            ExprKind::Offset(offset) => {
                let Ty::Pointer(to) = *self.types.get(offset.pointer.ty) else { return None };
                let size = i64::try_from(self.types.size_of(to.ty)?).ok()?;
                let base = self.address(&offset.pointer)?;
                let Some(Const::Int(index)) = self.constant(&offset.index) else { return None };
                let moved = (index as i64).checked_mul(size)?;
                Some(Address { offset: base.offset.checked_add(moved)?, ..base })
            }
            ExprKind::Conditional(parts) => match self.constant(&parts.condition)? {
                Const::Int(0) => self.address(&parts.otherwise),
                Const::Int(_) => self.address(&parts.then),
                _ => None,
            },
            _ => None,
        }
    }

    fn lvalue_address(&mut self, lvalue: &Lvalue) -> Option<Address> {
        match &lvalue.kind {
            LvalueKind::Global(global) => Some(Address { object: Some(*global), offset: 0 }),
            LvalueKind::Deref(pointer) => self.address(pointer),
            LvalueKind::Field(field) => {
                let base = self.lvalue_address(&field.base)?;
                Some(Address { offset: base.offset.checked_add_unsigned(field.offset)?, ..base })
            }
            LvalueKind::Element(element) => {
                let size = i64::try_from(self.types.size_of(lvalue.ty.ty)?).ok()?;
                let base = self.lvalue_address(&element.base)?;
                let Some(Const::Int(index)) = self.constant(&element.index) else { return None };
                Some(Address { offset: base.offset.checked_add((index as i64).checked_mul(size)?)?, ..base })
            }
            LvalueKind::Local(_) | LvalueKind::Swizzle(_) | LvalueKind::Temporary(_) => None,
        }
    }
}

fn write_address(address: &Address, offset: u64, image: &mut Image) {
    match address.object {
        None => write_bits(image, offset, address.offset as u64, POINTER_SIZE),
        Some(target) => image.relocations.push(Relocation { offset, target, addend: address.offset }),
    }
}

/// The bits of a constant in an object of this type.
fn scalar_bits(constant: &Const, scalar: Scalar) -> u64 {
    match *constant {
        Const::Int(bits) => bits,
        Const::Float(value) => match scalar {
            Scalar::Half => u64::from(binary16::from_f64(value)),
            Scalar::Float => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        },
        Const::Vector(_) | Const::NullPointer | Const::Zero | Const::Undefined => 0,
    }
}

/// Writes the low bytes of a number in little-endian order. Bytes outside the object are dropped.
fn write_bits(image: &mut Image, offset: u64, bits: u64, size: u64) {
    let bytes = bits.to_le_bytes();
    for (number, byte) in bytes.iter().take(usize::try_from(size).unwrap_or(8)).enumerate() {
        let lvalue = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(number));
        if let Some(lvalue) = lvalue.and_then(|lvalue| image.bytes.get_mut(lvalue)) {
            *lvalue = *byte;
        }
    }
}
