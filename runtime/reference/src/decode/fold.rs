//! Indices that only address chains use are not computed by themselves: conversions and multiples go into the chain.

use std::collections::HashMap;

use spirv::Op as Inst_;

use super::body::Body;
use crate::{Checks, Invalid, code::Slot, types::Scalar, words::Inst};

/// Where ids of a function occur.
#[derive(Default)]
pub(super) struct Uses(HashMap<u32, Use>);

#[derive(Clone, Copy, Default)]
struct Use {
    /// In all words, also those that are no ids.
    count: u32,
    /// The last instruction that has it as an operand, and which operand it is.
    user: usize,
    operand: usize,
}

/// What stands for an index that is not computed: a multiple of another value.
#[derive(Clone, Copy)]
pub(super) struct Folded {
    of: u32,
    factor: i64,
}

impl Uses {
    /// Of a function's instructions.
    pub(super) fn new(insts: &[Inst<'_>]) -> Self {
        let mut uses: HashMap<u32, Use> = HashMap::new();
        for (user, inst) in insts.iter().enumerate() {
            for (operand, &word) in inst.words.iter().enumerate() {
                let known = uses.entry(word).or_default();
                known.count += 1;
                if operand >= 2 {
                    (known.user, known.operand) = (user, operand);
                }
            }
        }
        Self(uses)
    }

    /// The one use of what an instruction defines.
    fn only(&self, id: u32) -> Option<Use> {
        // Its definition counts, too.
        self.0.get(&id).copied().filter(|known| known.count == 2 && known.operand >= 2)
    }
}

impl Body<'_, '_> {
    /// Leaves an instruction to the address chain that uses it; says whether it did.
    pub(super) fn fold(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        let Some(folded) = self.folded_by(inst) else { return Ok(false) };
        self.folded.insert(inst.word(1)?, folded);
        Ok(true)
    }

    /// What an instruction multiplies, if only an address chain uses the result.
    fn folded_by(&self, inst: &Inst<'_>) -> Option<Folded> {
        let used = self.uses.only(inst.words.get(1).copied()?)?;
        let user = self.insts.get(used.user)?;
        let is_chain = matches!(
            user.op,
            Inst_::AccessChain
                | Inst_::InBoundsAccessChain
                | Inst_::PtrAccessChain
                | Inst_::InBoundsPtrAccessChain
        );
        let is_index = is_chain && used.operand >= 3;
        let is_long = self.decoder.types.lanes(inst.words[0]) == Ok((Scalar::I64, 1));
        match (inst.op, inst.words.get(2..)?) {
            (Inst_::SConvert, &[of]) if is_long => {
                let is_int = self.scalar_of(of) == Some(Scalar::I32);
                let is_multiplied = user.op == Inst_::IMul && self.folded_by(user).is_some();
                (is_int && (is_index || is_multiplied)).then_some(Folded { of, factor: 1 })
            }
            (Inst_::IMul, &[a, b]) if is_long && is_index => {
                let id = inst.words.get(1)?;
                let wraps = !self.decoder.decorations.get(id).is_some_and(|it| it.no_signed_wrap);
                if !wraps && self.decoder.checks == Checks::On {
                    return None;
                }
                let (of, factor) = match (self.decoder.number(a), self.decoder.number(b)) {
                    (None, Some(factor)) => (a, factor),
                    (Some(factor), None) => (b, factor),
                    _ => return None,
                };
                Some(Folded { of, factor: factor as i64 })
            }
            _ => None,
        }
    }

    /// The register of an index, its bytes, and what it is to be multiplied by.
    pub(super) fn index(&mut self, id: u32) -> Result<(Slot, u8, i64), Invalid> {
        let (mut id, mut factor) = (id, 1i64);
        // A multiple of what was converted; ids that name themselves lead nowhere.
        for _ in 0..2 {
            let Some(folded) = self.folded.get(&id) else { break };
            factor = factor.wrapping_mul(folded.factor);
            id = folded.of;
        }
        let (slot, scalar, _) = self.lanes(id)?;
        Ok((slot, scalar.size(), factor))
    }
}
