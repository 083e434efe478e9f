//! Defects of the layouts and ranges of objects, which tests request to show that random compositions detect them.

use kiln_ir::{Builder, Scalar, ValueId};
use kiln_session::defect::Defect;

use super::{Layout, Usage, split::Split};
use crate::origins::Object;
use crate::ranges::Rebase;

/// The requested defect, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defects(pub(super) Option<Defect>);

impl Defects {
    fn is(self, defect: Defect) -> bool {
        self.0 == Some(defect)
    }

    /// Changes the joined uses of an object.
    pub(super) fn change_usage(self, usage: &mut Usage) {
        if self.is(Defect::ForgottenAtomics) {
            usage.atomic.clear();
        }
        if self.is(Defect::ForgottenStrides) {
            usage.strides = 0;
        }
    }

    /// Changes the layout of an object or a range.
    pub(super) fn change_layout(self, layout: &mut Layout) {
        let size = layout.element.size();
        let element = match self.0 {
            Some(Defect::NarrowElements) => Scalar::int_of_size((size / 2).max(1)),
            Some(Defect::WideElements) => Scalar::int_of_size((size * 2).min(8)),
            Some(Defect::OtherElements) => match layout.element {
                Scalar::I32 => Scalar::F32,
                Scalar::I64 => Scalar::F64,
                _ => Scalar::int_of_size(size),
            },
            _ => layout.element,
        };
        if element != layout.element {
            (layout.element, layout.cell) = (element, element);
        }
        if self.is(Defect::WideUnits) {
            layout.unit *= 2;
        }
        if self.is(Defect::PlainParts) {
            layout.has_atomic_parts = false;
        }
    }

    /// The size of the variable of an object.
    pub(super) fn changed_size(self, size: u64) -> u64 {
        if self.is(Defect::ShortObjects) { size / 2 } else { size }
    }

    /// Changes the ranges of an object.
    pub(super) fn change_split(self, split: &mut Split) {
        let count = split.layouts.len();
        for layout in &mut split.layouts {
            for step in &mut layout.steps {
                match (self.0, step) {
                    (Some(Defect::UnshiftedRanges), Rebase::Skip(start) | Rebase::Fold { start, .. }) => {
                        *start = 0
                    }
                    (Some(Defect::WidePeriods), Rebase::Fold { period, .. }) => *period *= 2,
                    _ => {}
                }
            }
            if self.is(Defect::OwnUnits) {
                layout.unit = layout.element.size();
            }
        }
        if self.is(Defect::NeighborRanges) {
            for range in split.ranges.values_mut() {
                *range = (*range + 1) % count;
            }
        }
    }

    /// Changes the indices that a call passes.
    pub(super) fn change_indices(self, builder: &mut Builder<'_>, indices: &mut [ValueId]) {
        if self.is(Defect::SwappedPointers) && indices.len() > 1 {
            indices.swap(0, 1);
        }
        if self.is(Defect::ForgottenPositions) {
            indices.fill(builder.i32(0));
        }
    }

    /// Whether the starts of pointers in private objects are assumed to be known.
    pub(super) fn assumes_starts(self) -> bool {
        self.is(Defect::AssumedStarts)
    }

    /// Whether the private objects of a parameter have different layouts.
    pub(super) fn has_own_layouts(self) -> bool {
        self.is(Defect::OwnLayouts)
    }

    /// The common size of two objects of one parameter.
    pub(super) fn common_size(self, one: u64, other: u64) -> u64 {
        if self.is(Defect::SmallestSizes) { one.min(other) } else { one.max(other) }
    }

    /// Changes the list of objects, whose order determines their tags.
    pub(super) fn change_tags(self, tags: &mut Vec<Object>) {
        if self.is(Defect::EqualTags) {
            tags.truncate(1);
        }
    }
}
