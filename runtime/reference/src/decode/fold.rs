//! Folds index computations into address chains: conversions and multiplications that only an address chain uses.

use std::collections::HashMap;

use spirv::Op as Inst_;

use super::body::Body;
use crate::{Checks, Invalid, code::Slot, types::Scalar, words::Inst};

/// The uses of a function's ids.
#[derive(Default)]
pub(super) struct Uses(HashMap<u32, Use>);

#[derive(Clone, Copy, Default)]
struct Use {
    /// The occurrences in all words, including words that are not ids.
    count: u32,
    /// The last instruction that uses it, and the operand index.
    user: usize,
    operand: usize,
}

/// A folded index: a multiple of another value.
#[derive(Clone, Copy)]
pub(super) struct Folded {
    of: u32,
    factor: i64,
}

impl Uses {
    /// Collects the uses in a function.
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

    /// The use of an instruction's result, if it has exactly one.
    fn single_use(&self, id: u32) -> Option<Use> {
        // The definition counts as one occurrence.
        self.0.get(&id).copied().filter(|known| known.count == 2 && known.operand >= 2)
    }
}

impl Body<'_, '_> {
    /// Folds an instruction into the address chain that uses it; `false` if that is not possible.
    pub(super) fn fold(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        let Some(folded) = self.folded_by(inst) else { return Ok(false) };
        self.folded.insert(inst.word(1)?, folded);
        Ok(true)
    }

    /// The operand and factor of an instruction, if only an address chain uses its result.
    fn folded_by(&self, inst: &Inst<'_>) -> Option<Folded> {
        let used = self.uses.single_use(inst.words.get(1).copied()?)?;
        let user = self.insts.get(used.user)?;
        // The index of `OpInBoundsAccessChain` is checked, so it stays a value.
        let is_chain =
            matches!(user.op, Inst_::AccessChain | Inst_::PtrAccessChain | Inst_::InBoundsPtrAccessChain);
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
                let (of, factor) = match (self.decoder.integer_constant(a), self.decoder.integer_constant(b))
                {
                    (None, Some(factor)) => (a, factor),
                    (Some(factor), None) => (b, factor),
                    _ => return None,
                };
                Some(Folded { of, factor: factor as i64 })
            }
            _ => None,
        }
    }

    /// The register of an index, its size in bytes, and its factor.
    pub(super) fn index(&mut self, id: u32) -> Result<(Slot, u8, i64), Invalid> {
        let (mut id, mut factor) = (id, 1i64);
        // At most a multiplication of a conversion. The bound also stops at ids that refer to themselves.
        for _ in 0..2 {
            let Some(folded) = self.folded.get(&id) else { break };
            factor = factor.wrapping_mul(folded.factor);
            id = folded.of;
        }
        let (slot, scalar, _) = self.lanes(id)?;
        Ok((slot, scalar.size(), factor))
    }
}
