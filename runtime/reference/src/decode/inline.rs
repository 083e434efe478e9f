//! Inlines calls of small functions, because a call costs as much as a dozen operations.

use std::ops::RangeInclusive;

use spirv::Op as Inst_;

use super::{Decoder, body::Body};
use crate::{Invalid, words::Inst};

/// The maximum number of instructions of an inlined function.
const MAX_INLINED_INSTRUCTIONS: usize = 32;

/// The allowed opcodes: memory except variables, composites, conversions, arithmetic, relational and bit instructions
/// (SPIR-V 3.49.8, 3.49.11 to 3.49.15).
const PLAIN: [RangeInclusive<u32>; 5] = [61..=70, 77..=84, 109..=124, 126..=191, 194..=205];

/// An inlinable function: parameters, one block of simple instructions, and the returned value.
#[derive(Clone, Copy)]
pub(super) struct InlinableFunction<'w> {
    insts: &'w [Inst<'w>],
}

impl<'w> InlinableFunction<'w> {
    /// Whether a function, given from `OpFunction` up to its end, can be inlined.
    pub(super) fn new(decoder: &Decoder<'_>, insts: &'w [Inst<'w>]) -> Option<(u32, Self)> {
        let (head, insts) = insts.split_first()?;
        let is_plain = |inst: &Inst<'_>| match inst.op {
            Inst_::Label | Inst_::Line | Inst_::NoLine | Inst_::ExtInst | Inst_::ReturnValue => true,
            Inst_::FunctionParameter => {
                let known = inst.word(1).ok().and_then(|id| decoder.decorations.get(&id));
                !known.is_some_and(|known| known.by_value)
            }
            op => PLAIN.iter().any(|range| range.contains(&(op as u32))),
        };
        let blocks = insts.iter().filter(|inst| inst.op == Inst_::Label).count();
        let ends = insts.last().is_some_and(|inst| inst.op == Inst_::ReturnValue);
        let returns = insts.iter().filter(|inst| inst.op == Inst_::ReturnValue).count();
        let is_small = insts.len() <= MAX_INLINED_INSTRUCTIONS && blocks == 1 && returns == 1 && ends;
        (is_small && insts.iter().all(is_plain)).then_some((head.word(1).ok()?, Self { insts }))
    }
}

impl Body<'_, '_> {
    /// Decodes a function with these arguments.
    pub(super) fn inline_call(
        &mut self,
        inst: &Inst<'_>,
        function: InlinableFunction<'_>,
    ) -> Result<(), Invalid> {
        let mut arguments = inst.from(3).iter();
        let mut own = Vec::new();
        let line = self.line;
        let wrong = || Invalid::new("the arguments of a call do not match its function");
        for inside in function.insts {
            match inside.op {
                Inst_::FunctionParameter => {
                    let (slot, ty) = self.value(*arguments.next().ok_or_else(wrong)?)?;
                    if self.decoder.types.slots(inside.word(0)?)? != self.decoder.types.slots(ty)? {
                        return Err(wrong());
                    }
                    self.name(inside.word(1)?, slot, inside.word(0)?)?;
                    own.push(inside.word(1)?);
                }
                Inst_::Label => {}
                Inst_::ReturnValue => {
                    let (from, ty) = self.value(inside.word(0)?)?;
                    if self.decoder.types.slots(ty)? != self.decoder.types.slots(inst.word(0)?)? {
                        return Err(Invalid::new("a function returns what it does not declare"));
                    }
                    self.alias(inst, from)?;
                }
                // These instructions have no result id.
                Inst_::Line | Inst_::NoLine => self.note_line(inside)?,
                Inst_::Store | Inst_::CopyMemory | Inst_::CopyMemorySized => self.instruction(inside)?,
                _ => {
                    self.instruction(inside)?;
                    own.extend(inside.words.get(1));
                }
            }
        }
        if arguments.next().is_some() {
            return Err(wrong());
        }
        // The next call assigns other values to these ids.
        let result = inst.word(1)?;
        own.retain(|id| *id != result);
        self.forget(&own);
        self.line = line;
        Ok(())
    }
}
