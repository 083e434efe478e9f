//! Sizes, alignments and member offsets (OpenCL C 6.3.5, 6.4.4.1; C99 6.7.2.1).
//!
//! Independent of the syntax of attributes.

use kiln_syntax::ast::RecordKind;

use super::{Ty, TyId, Types};

/// The size and alignment of pointers and opaque handles, in bytes.
pub const POINTER_SIZE: u64 = 8;

/// The size of `ndrange_t` in bytes: the number of dimensions, and three vectors of three sizes.
pub const NDRANGE_SIZE: u64 = 8 + 3 * 3 * 8;

/// The properties of a member that determine its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLayout {
    /// The size of its type.
    pub size: u64,
    /// The alignment of its type.
    pub align: u64,
    /// `packed` on the member.
    pub is_packed: bool,
    /// `aligned` on the member.
    pub aligned: Option<u64>,
}

/// The attributes of a record that change its layout (OpenCL C 6.13.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordAttributes {
    /// `packed`: applies to all members.
    pub is_packed: bool,
    /// `aligned`: the minimum alignment.
    pub aligned: Option<u64>,
    /// `#pragma pack`: the maximum alignment of the members.
    pub max_member_align: Option<u64>,
}

/// The layout of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordLayout {
    /// The offset of each member.
    pub offsets: Vec<u64>,
    /// The size, including padding at the end.
    pub size: u64,
    /// The alignment.
    pub align: u64,
}

/// Computes the layout of a record (C99 6.7.2.1, OpenCL C 6.13.1). A record without members has size 0.
pub fn lay_out(kind: RecordKind, members: &[MemberLayout], attributes: RecordAttributes) -> RecordLayout {
    let mut layout = RecordLayout { offsets: Vec::with_capacity(members.len()), size: 0, align: 1 };
    for member in members {
        let natural = if member.is_packed || attributes.is_packed { 1 } else { member.align };
        let align = natural.max(member.aligned.unwrap_or(1));
        let align = attributes.max_member_align.map_or(align, |most| align.min(most));
        layout.align = layout.align.max(align);
        match kind {
            RecordKind::Struct => {
                let offset = round_up(layout.size, align);
                layout.offsets.push(offset);
                layout.size = offset.saturating_add(member.size);
            }
            RecordKind::Union => {
                layout.offsets.push(0);
                layout.size = layout.size.max(member.size);
            }
        }
    }
    layout.align = layout.align.max(attributes.aligned.unwrap_or(1));
    layout.size = round_up(layout.size, layout.align);
    layout
}

/// Rounds up to a multiple of `align`. Returns the largest multiple on overflow.
pub fn round_up(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(offset / align * align)
}

impl Types {
    /// The result of `sizeof`. `None` for types without a size: `void`, functions, incomplete types, and types that
    /// are too large.
    pub fn size_of(&self, id: TyId) -> Option<u64> {
        match *self.get(id) {
            Ty::Error | Ty::Void | Ty::Function(_) => None,
            Ty::Scalar(scalar) | Ty::Atomic(scalar) => Some(scalar.size()),
            // OpenCL C 6.3.5: a 3-component vector has the layout of a 4-component vector.
            Ty::Vector(element, count) => Some(element.size() * u64::from(count.next_power_of_two())),
            Ty::Array(element, count) => self.size_of(element.ty)?.checked_mul(count?),
            Ty::Record(record) => {
                let record = &self.records[record];
                record.fields.as_ref().map(|_| record.size)
            }
            Ty::Enum(id) => Some(self.enums[id].underlying.size()),
            Ty::AtomicFlag => Some(4),
            Ty::NdRange => Some(NDRANGE_SIZE),
            Ty::Pointer(_)
            | Ty::Block(_)
            | Ty::Image(_)
            | Ty::Pipe(..)
            | Ty::Sampler
            | Ty::Event
            | Ty::Queue
            | Ty::ClkEvent
            | Ty::ReserveId => Some(POINTER_SIZE),
        }
    }

    /// The alignment of objects of this type (OpenCL C 6.3.5). `None` if there are no such objects.
    pub fn align_of(&self, id: TyId) -> Option<u64> {
        match *self.get(id) {
            Ty::Array(element, _) => self.align_of(element.ty),
            Ty::Record(record) => {
                let record = &self.records[record];
                record.fields.as_ref().map(|_| record.align)
            }
            Ty::NdRange => Some(POINTER_SIZE),
            _ => self.size_of(id),
        }
    }

    /// Whether an object can have this type (C99 6.2.5): not `void`, a function, `[]`, or a record without members.
    pub fn is_complete(&self, id: TyId) -> bool {
        match *self.get(id) {
            Ty::Void | Ty::Function(_) | Ty::Array(_, None) => false,
            Ty::Array(element, Some(_)) => self.is_complete(element.ty),
            Ty::Record(record) => self.records[record].fields.is_some(),
            Ty::Enum(id) => self.enums[id].is_complete,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ty::Scalar;

    fn member(types: &Types, ty: TyId) -> MemberLayout {
        MemberLayout {
            size: types.size_of(ty).unwrap(),
            align: types.align_of(ty).unwrap(),
            is_packed: false,
            aligned: None,
        }
    }

    #[test]
    fn vectors_of_three_are_padded_to_four() {
        let mut types = Types::new();
        let float3 = types.vector(Scalar::Float, 3);
        assert_eq!((types.size_of(float3), types.align_of(float3)), (Some(16), Some(16)));
        let array = types.intern(Ty::Array(float3.plain(), Some(3)));
        assert_eq!((types.size_of(array), types.align_of(array)), (Some(48), Some(16)));
        let long16 = types.vector(Scalar::Long, 16);
        assert_eq!(types.align_of(long16), Some(128));
    }

    #[test]
    fn members_are_padded() {
        let mut types = Types::new();
        let char_ty = TyId::scalar(Scalar::Char);
        let char3 = types.vector(Scalar::Char, 3);
        let members = [member(&types, char_ty), member(&types, TyId::INT), member(&types, char3)];
        let layout = lay_out(RecordKind::Struct, &members, RecordAttributes::default());
        assert_eq!(layout, RecordLayout { offsets: vec![0, 4, 8], size: 12, align: 4 });
        let layout = lay_out(RecordKind::Union, &members, RecordAttributes::default());
        assert_eq!(layout, RecordLayout { offsets: vec![0, 0, 0], size: 4, align: 4 });
    }

    #[test]
    fn attributes_change_the_layout() {
        let types = Types::new();
        let mut members = [member(&types, TyId::scalar(Scalar::Char)), member(&types, TyId::INT)];
        let packed = RecordAttributes { is_packed: true, ..RecordAttributes::default() };
        assert_eq!(
            lay_out(RecordKind::Struct, &members, packed),
            RecordLayout { offsets: vec![0, 1], size: 5, align: 1 }
        );
        let packed_aligned =
            RecordAttributes { is_packed: true, aligned: Some(8), ..RecordAttributes::default() };
        assert_eq!(
            lay_out(RecordKind::Struct, &members, packed_aligned),
            RecordLayout { offsets: vec![0, 1], size: 8, align: 8 }
        );
        members[1].aligned = Some(16);
        assert_eq!(
            lay_out(RecordKind::Struct, &members, RecordAttributes::default()),
            RecordLayout { offsets: vec![0, 16], size: 32, align: 16 }
        );
    }

    #[test]
    fn types_without_a_size() {
        let mut types = Types::new();
        let open = types.intern(Ty::Array(TyId::INT.plain(), None));
        let huge = types.intern(Ty::Array(TyId::INT.plain(), Some(u64::MAX / 2)));
        for ty in [TyId::VOID, TyId::ERROR, open, huge] {
            assert_eq!(types.size_of(ty), None);
        }
        assert!(!types.is_complete(open) && !types.is_complete(TyId::VOID));
        assert_eq!(types.align_of(open), Some(4));
    }
}
