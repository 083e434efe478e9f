//! Switch labels as values. Ranges that are too long to list become comparisons.

use super::body::Body;
use kiln_frontend::hir::CompareOp;
use kiln_ir::{BinaryOp, CompareKind, Scalar, Type, ValueId};

/// The longest range that is listed value by value.
const MAX_LISTED_RANGE: i128 = 64;

/// `case low ... high`, and the index of its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) target: usize,
}

/// A value to switch on, and the values for each target.
pub(super) struct Choice {
    pub(super) value: ValueId,
    pub(super) cases: Vec<Vec<u64>>,
}

impl Body<'_, '_> {
    /// Computes the value to switch on, and the values of each target's labels.
    pub(super) fn choice(&mut self, value: ValueId, labels: &[Label], targets: usize) -> Choice {
        let scalar = self.builder.ty(value).scalar().unwrap_or(Scalar::I32);
        let (value, scalar) = match scalar {
            Scalar::I32 | Scalar::I64 => (value, scalar),
            _ => (self.builder.resize(value, Scalar::I32, false), Scalar::I32),
        };
        if labels.iter().all(|label| label.high - label.low < MAX_LISTED_RANGE) {
            let mut cases = vec![Vec::new(); targets];
            for label in labels {
                cases[label.target]
                    .extend((label.low..=label.high).map(|value| value as u64 & scalar.mask()));
            }
            return Choice { value, cases };
        }
        let mut index = self.builder.i32(targets as i32);
        for label in labels {
            let holds = self.is_between(value, label);
            let target = self.builder.i32(label.target as i32);
            index = self.builder.select(holds, target, index);
        }
        let mut cases = vec![Vec::new(); targets];
        for label in labels {
            cases[label.target] = vec![label.target as u64];
        }
        Choice { value: index, cases }
    }

    /// Whether a value is in a label's range, regardless of signedness: the range is contiguous modulo the width.
    fn is_between(&mut self, value: ValueId, label: &Label) -> ValueId {
        let ty = self.builder.ty(value);
        let from_low = self.builder.binary_bits(BinaryOp::Sub, value, label.low as u64);
        let length = self.builder.bits(ty, (label.high - label.low) as u64);
        self.builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, from_low, length)
    }

    /// Whether a number is at most another, as unsigned numbers.
    pub(super) fn is_at_most(&mut self, index: ValueId, limit: usize) -> ValueId {
        let limit = self.builder.bits(Type::I32, limit as u64);
        self.builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, index, limit)
    }
}
