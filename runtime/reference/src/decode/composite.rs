//! Vectors, arrays and structures as values: most instructions only select registers.

use spirv::Op as Inst_;

use super::body::Body;
use crate::{Invalid, code::Op, words::Inst};

impl Body<'_, '_> {
    pub(super) fn composite(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        match inst.op {
            Inst_::CompositeConstruct => {
                let to = self.define(inst)?;
                let room = self.decoder.types.slots(inst.word(0)?)?;
                let mut at = 0;
                for &part in inst.from(2) {
                    let (from, ty) = self.value(part)?;
                    let count = self.decoder.types.slots(ty)?;
                    if at + count > room {
                        return Err(Invalid::new("a value has more parts than its type"));
                    }
                    self.copy(to + at, from, count);
                    at += count;
                }
                if at != room {
                    return Err(Invalid::new("a value has fewer parts than its type"));
                }
            }
            Inst_::CompositeExtract => {
                let (from, ty) = self.value(inst.word(2)?)?;
                let (slot, _) = self.decoder.types.part(ty, inst.from(3))?;
                self.alias(inst, from + slot)?;
            }
            Inst_::CompositeInsert => {
                let (object, object_type) = self.value(inst.word(2)?)?;
                let (whole, ty) = self.value(inst.word(3)?)?;
                let (slot, room) = self.decoder.types.part(ty, inst.from(4))?;
                let count = self.decoder.types.slots(object_type)?;
                if count != room {
                    return Err(Invalid::new("a part of a different type is inserted"));
                }
                let to = self.define(inst)?;
                let all = self.decoder.types.slots(ty)?;
                if all != self.decoder.types.slots(inst.word(0)?)? {
                    return Err(Invalid::new("an insertion changes the type"));
                }
                self.copy(to, whole, slot);
                self.copy(to + slot, object, count);
                self.copy(to + slot + count, whole + slot + count, all - slot - count);
            }
            Inst_::VectorShuffle => {
                let (a, _, a_count) = self.lanes(inst.word(2)?)?;
                let (b, _, b_count) = self.lanes(inst.word(3)?)?;
                let to = self.define(inst)?;
                if self.decoder.types.slots(inst.word(0)?)? as usize != inst.from(4).len() {
                    return Err(Invalid::new("a shuffle has a different number of components"));
                }
                for (lane, &component) in (to..).zip(inst.from(4)) {
                    if component < u32::from(a_count) {
                        self.copy(lane, a + component, 1);
                    } else if component < u32::from(a_count) + u32::from(b_count) {
                        self.copy(lane, b + component - u32::from(a_count), 1);
                    } else {
                        self.emit(Op::Undefined { to: lane, count: 1 });
                    }
                }
            }
            Inst_::VectorExtractDynamic => {
                let (vector, _, count) = self.lanes(inst.word(2)?)?;
                let (index, _, _) = self.lanes(inst.word(3)?)?;
                let to = self.define(inst)?;
                self.check_component(inst.word(3)?, count)?;
                self.emit(Op::ExtractDynamic { to, vector, index, count });
            }
            Inst_::VectorInsertDynamic => {
                let (vector, _, count) = self.lanes(inst.word(2)?)?;
                let (scalar, _, _) = self.lanes(inst.word(3)?)?;
                let (index, _, _) = self.lanes(inst.word(4)?)?;
                let to = self.define(inst)?;
                self.check_component(inst.word(4)?, count)?;
                self.copy(to, vector, count.into());
                self.emit(Op::InsertDynamic { to, scalar, index, count });
            }
            Inst_::CopyObject | Inst_::CopyLogical | Inst_::ExpectKHR => {
                let (from, _) = self.value(inst.word(2)?)?;
                self.alias(inst, from)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
