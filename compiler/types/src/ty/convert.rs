//! Type conversions: which are implicit, which need a cast, and which are invalid (C99 6.5.16.1, OpenCL C 6.4,
//! 6.7.9).
//!
//! Returns decisions as data. The type checker reports errors and builds the expressions.

use kiln_vocabulary::opencl::AddressSpace;

use super::{QualTy, Quals, Scalar, Ty, TyId, Types};

/// The implicit conversion of a value to another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implicit {
    /// None: the types are equal.
    Same,
    /// An arithmetic conversion of a scalar, with possible loss.
    Arithmetic(Option<Loss>),
    /// Conversion of a scalar to the element type, replicated to all components (OpenCL C 6.4.2), with possible loss.
    Splat(Option<Loss>),
    /// Pointer to pointer.
    Pointer(PointerChange),
    /// Pointer to `bool`.
    PointerToBool,
    /// Invalid.
    Invalid(ConversionError),
}

/// The possible loss of an arithmetic conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// High bits.
    Bits,
    /// The sign, or values that only an unsigned type has.
    Sign,
    /// The fraction: floating point to integer.
    Fraction,
    /// Precision or range: to a smaller floating-point type, or of a large integer.
    Precision,
}

/// How the pointee changes. The default means that only qualifiers are added, if anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerChange {
    /// From a named address space to generic.
    pub to_generic: bool,
    /// Dropped qualifiers: a constraint violation that compilers accept with a warning.
    pub dropped: Quals,
    /// The difference of the pointee types.
    pub pointee: Pointee,
}

/// The difference of two pointee types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pointee {
    /// None, or one is `void`.
    #[default]
    Compatible,
    /// Only signedness: a constraint violation that compilers accept with a warning.
    Sign,
    /// Any other difference. Also accepted with a warning.
    Other,
}

/// Why a conversion is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionError {
    /// Incompatible pointee address spaces (OpenCL C 6.7.9).
    Spaces {
        /// The source.
        from: AddressSpace,
        /// The target.
        to: AddressSpace,
    },
    /// Different address spaces in nested pointers.
    NestedSpaces,
    /// Integer to pointer. Only a cast, or the constant zero, is allowed.
    IntToPointer,
    /// Pointer to integer. Only a cast is allowed.
    PointerToInt,
    /// Vector to another vector type: use `convert_type` (OpenCL C 6.4.2).
    Vectors,
    /// Vector to scalar.
    VectorToScalar,
    /// Unrelated types.
    Unrelated,
}

/// The conversion of a cast (C99 6.5.4, OpenCL C 6.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// Discards the value.
    Void,
    /// None.
    Same,
    /// An arithmetic conversion of a scalar.
    Arithmetic,
    /// Conversion of a scalar to the element type, replicated to all components.
    Splat,
    /// Pointer to pointer.
    Pointer,
    /// Pointer to an integer or `bool`.
    PointerToInt,
    /// Integer to pointer.
    IntToPointer,
    /// An integer constant to `event_t`, `queue_t`, `clk_event_t`, `reserve_id_t` or `sampler_t`. Must be zero,
    /// except for `sampler_t`.
    Opaque,
    /// Invalid.
    Invalid(ConversionError),
}

impl Scalar {
    /// The possible loss of converting to another scalar type.
    pub fn loss(self, to: Self) -> Option<Loss> {
        if self == to || to == Self::Bool {
            return None;
        }
        if self == Self::Bool {
            return None;
        }
        match (self.is_float(), to.is_float()) {
            (true, true) => (self > to).then_some(Loss::Precision),
            (true, false) => Some(Loss::Fraction),
            (false, true) => (self.value_bits() > to.mantissa_bits()).then_some(Loss::Precision),
            (false, false) if self.size() > to.size() => Some(Loss::Bits),
            (false, false) => {
                let keeps =
                    self.is_signed() == to.is_signed() || !self.is_signed() && to.size() > self.size();
                (!keeps).then_some(Loss::Sign)
            }
        }
    }

    const fn value_bits(self) -> u64 {
        self.size() * 8 - self.is_signed() as u64
    }

    const fn mantissa_bits(self) -> u64 {
        match self {
            Self::Half => 11,
            Self::Float => 24,
            _ => 53,
        }
    }
}

impl Types {
    /// The implicit conversion from `from` to `to`. The caller has handled array and function decay, and null pointer
    /// constants. An error type converts to and from everything.
    pub fn implicit(&self, from: TyId, to: TyId) -> Implicit {
        if from == to || from == TyId::ERROR || to == TyId::ERROR {
            return Implicit::Same;
        }
        if let (Some((from, from_count)), Some((to, to_count))) = (self.components(from), self.components(to))
        {
            return match (from_count, to_count) {
                (1, 1) => Implicit::Arithmetic(from.loss(to)),
                (1, _) => Implicit::Splat(from.loss(to)),
                (_, 1) => Implicit::Invalid(ConversionError::VectorToScalar),
                _ => Implicit::Invalid(ConversionError::Vectors),
            };
        }
        match (self.get(from), self.get(to)) {
            (Ty::Pointer(from), Ty::Pointer(to)) => match self.implicit_pointer(*from, *to) {
                Ok(change) => Implicit::Pointer(change),
                Err(rejection) => Implicit::Invalid(rejection),
            },
            (Ty::Pointer(_) | Ty::Block(_), Ty::Scalar(Scalar::Bool)) => Implicit::PointerToBool,
            (Ty::Pointer(_), Ty::Scalar(_) | Ty::Enum(_)) => Implicit::Invalid(ConversionError::PointerToInt),
            (Ty::Scalar(scalar), Ty::Pointer(_)) if !scalar.is_float() => {
                Implicit::Invalid(ConversionError::IntToPointer)
            }
            (Ty::Enum(_), Ty::Pointer(_)) => Implicit::Invalid(ConversionError::IntToPointer),
            _ => Implicit::Invalid(ConversionError::Unrelated),
        }
    }

    /// C99 6.5.16.1 and OpenCL C 6.7.9.
    fn implicit_pointer(&self, from: QualTy, to: QualTy) -> Result<PointerChange, ConversionError> {
        let (from_space, to_space) = (space(from), space(to));
        let to_generic = from_space != to_space;
        if to_generic && (to_space != AddressSpace::Generic || from_space == AddressSpace::Constant) {
            return Err(ConversionError::Spaces { from: from_space, to: to_space });
        }
        let pointee = self.pointee(from.ty, to.ty)?;
        let mut dropped = from.quals.without(to.quals);
        // Objects in the constant address space are read-only, with or without `const`.
        dropped.is_const &= to_space != AddressSpace::Constant;
        Ok(PointerChange { to_generic, dropped, pointee })
    }

    /// The difference of two pointee types. An error if no implicit conversion is possible.
    fn pointee(&self, from: TyId, to: TyId) -> Result<Pointee, ConversionError> {
        if from == to || [from, to].iter().any(|ty| [TyId::VOID, TyId::ERROR].contains(ty)) {
            return Ok(Pointee::Compatible);
        }
        match (self.get(from), self.get(to)) {
            (Ty::Pointer(from), Ty::Pointer(to)) => {
                if space(*from) != space(*to) {
                    return Err(ConversionError::NestedSpaces);
                }
                let inner = self.pointee(from.ty, to.ty)?;
                // C99 6.7.5.1: nested pointees must have equal qualifiers.
                let same = inner == Pointee::Compatible && from.quals == to.quals;
                Ok(if same { inner } else { Pointee::Other })
            }
            (Ty::Array(from, from_count), Ty::Array(to, to_count))
                if from_count == to_count || from_count.is_none() || to_count.is_none() =>
            {
                self.pointee(from.ty, to.ty)
            }
            // Pointers to handle types do not convert to other pointers, unlike pointers to numbers.
            (Ty::Event | Ty::ClkEvent | Ty::Queue | Ty::ReserveId, _)
            | (_, Ty::Event | Ty::ClkEvent | Ty::Queue | Ty::ReserveId) => Err(ConversionError::Unrelated),
            _ => Ok(match (self.components(from), self.components(to)) {
                (Some(from), Some(to)) if from == to => Pointee::Compatible,
                (Some((from, from_count)), Some((to, to_count)))
                    if from_count == to_count && !from.is_float() && from.unsigned() == to.unsigned() =>
                {
                    Pointee::Sign
                }
                _ => Pointee::Other,
            }),
        }
    }

    /// The conversion of `(to)value`. The caller has handled array and function decay.
    pub fn cast(&self, from: TyId, to: TyId) -> Cast {
        if to == TyId::VOID {
            return Cast::Void;
        }
        if from == TyId::ERROR || to == TyId::ERROR {
            return Cast::Same;
        }
        if let (Some((_, from_count)), Some((_, to_count))) = (self.components(from), self.components(to)) {
            return match (from_count, to_count) {
                _ if from == to => Cast::Same,
                (1, 1) => Cast::Arithmetic,
                (1, _) => Cast::Splat,
                (_, 1) => Cast::Invalid(ConversionError::VectorToScalar),
                _ => Cast::Invalid(ConversionError::Vectors),
            };
        }
        let is_integer = |id| matches!(self.components(id), Some((scalar, 1)) if !scalar.is_float());
        match (self.get(from), self.get(to)) {
            (Ty::Pointer(from), Ty::Pointer(to)) => {
                let (from, to) = (space(*from), space(*to));
                // OpenCL C 6.7.9: casts between overlapping address spaces are allowed.
                if from.overlaps(to) {
                    Cast::Pointer
                } else {
                    Cast::Invalid(ConversionError::Spaces { from, to })
                }
            }
            (Ty::Pointer(_), _) if is_integer(to) => Cast::PointerToInt,
            (_, Ty::Pointer(_)) if is_integer(from) => Cast::IntToPointer,
            (Ty::Block(_), Ty::Block(_)) if from == to => Cast::Same,
            (Ty::Event | Ty::Queue | Ty::ClkEvent | Ty::ReserveId | Ty::Sampler, _) if from == to => {
                Cast::Same
            }
            (_, Ty::Event | Ty::Queue | Ty::ClkEvent | Ty::ReserveId | Ty::Sampler) if is_integer(from) => {
                Cast::Opaque
            }
            _ => Cast::Invalid(ConversionError::Unrelated),
        }
    }
}

/// The address space of a pointee. Private if undetermined.
fn space(ty: QualTy) -> AddressSpace {
    ty.quals.space.unwrap_or(AddressSpace::Private)
}

impl Quals {
    /// The union of qualifiers, with the address space of `other` if it has one.
    pub fn union(self, other: Self) -> Self {
        Self {
            is_const: self.is_const || other.is_const,
            is_volatile: self.is_volatile || other.is_volatile,
            is_restrict: self.is_restrict || other.is_restrict,
            space: other.space.or(self.space),
        }
    }

    /// The qualifiers that `other` does not have. No address space.
    pub fn without(self, other: Self) -> Self {
        Self {
            is_const: self.is_const && !other.is_const,
            is_volatile: self.is_volatile && !other.is_volatile,
            is_restrict: self.is_restrict && !other.is_restrict,
            space: None,
        }
    }

    /// Whether there are no qualifiers and no address space.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AddressSpace::{Constant, Generic, Global, Local, Private};

    fn int_in(types: &mut Types, space: AddressSpace) -> TyId {
        types.pointer(TyId::INT.plain().in_space(space))
    }

    /// The table of OpenCL C 6.7.9.
    #[test]
    fn pointers_convert_between_address_spaces() {
        let mut types = Types::new();
        for from in [Private, Local, Global, Constant, Generic] {
            for to in [Private, Local, Global, Constant, Generic] {
                let (from_ty, to_ty) = (int_in(&mut types, from), int_in(&mut types, to));
                let implicit =
                    matches!(types.implicit(from_ty, to_ty), Implicit::Same | Implicit::Pointer(_));
                let cast = matches!(types.cast(from_ty, to_ty), Cast::Pointer);
                let named = [Private, Local, Global];
                assert_eq!(implicit, from == to || to == Generic && named.contains(&from), "{from:?} {to:?}");
                let overlap =
                    from == to || to == Generic && from != Constant || from == Generic && to != Constant;
                assert_eq!(cast, overlap, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn qualifiers_and_pointees() {
        let mut types = Types::new();
        let int = int_in(&mut types, Global);
        let const_int = types.pointer(TyId::INT.plain().in_space(Global).constant());
        let uint = types.pointer(TyId::UINT.plain().in_space(Global));
        let float = types.pointer(TyId::FLOAT.plain().in_space(Global));
        let void = types.pointer(TyId::VOID.plain().in_space(Generic));
        let change = |types: &Types, from, to| match types.implicit(from, to) {
            Implicit::Pointer(change) => change,
            other => panic!("{other:?}"),
        };
        assert_eq!(change(&types, int, const_int), PointerChange::default());
        assert!(change(&types, const_int, int).dropped.is_const);
        assert_eq!(change(&types, int, uint).pointee, Pointee::Sign);
        assert_eq!(change(&types, int, float).pointee, Pointee::Other);
        assert_eq!(change(&types, int, void), PointerChange { to_generic: true, ..Default::default() });
    }

    #[test]
    fn nested_pointers_keep_their_spaces() {
        let mut types = Types::new();
        let (global, local) = (int_in(&mut types, Global), int_in(&mut types, Local));
        let from = types.pointer(global.plain().in_space(Private));
        let to = types.pointer(local.plain().in_space(Private));
        assert_eq!(types.implicit(from, to), Implicit::Invalid(ConversionError::NestedSpaces));
        assert_eq!(types.cast(from, to), Cast::Pointer);
    }

    #[test]
    fn scalars_and_vectors() {
        let mut types = Types::new();
        let (int4, uint4) = (types.vector(Scalar::Int, 4), types.vector(Scalar::UInt, 4));
        let int = int_in(&mut types, Global);
        for (from, to, expected) in [
            (TyId::INT, TyId::LONG, Implicit::Arithmetic(None)),
            (TyId::INT, TyId::UINT, Implicit::Arithmetic(Some(Loss::Sign))),
            (TyId::UINT, TyId::LONG, Implicit::Arithmetic(None)),
            (TyId::FLOAT, int4, Implicit::Splat(Some(Loss::Fraction))),
            (TyId::INT, TyId::FLOAT, Implicit::Arithmetic(Some(Loss::Precision))),
            (TyId::LONG, TyId::INT, Implicit::Arithmetic(Some(Loss::Bits))),
            (int4, uint4, Implicit::Invalid(ConversionError::Vectors)),
            (int4, TyId::INT, Implicit::Invalid(ConversionError::VectorToScalar)),
            (int, TyId::ULONG, Implicit::Invalid(ConversionError::PointerToInt)),
            (int, TyId::BOOL, Implicit::PointerToBool),
            (TyId::ULONG, int, Implicit::Invalid(ConversionError::IntToPointer)),
            (TyId::FLOAT, int, Implicit::Invalid(ConversionError::Unrelated)),
        ] {
            assert_eq!(types.implicit(from, to), expected);
        }
        assert_eq!(types.cast(int4, uint4), Cast::Invalid(ConversionError::Vectors));
        assert_eq!(types.cast(TyId::FLOAT, int4), Cast::Splat);
        assert_eq!(types.cast(TyId::FLOAT, int), Cast::Invalid(ConversionError::Unrelated));
    }
}
