//! Defects that tests request from the compiler, to show that the verifier or a test suite detects them.

/// Generates the enum and the names of its variants from one list.
macro_rules! defects {
    ($($(#[doc = $doc:literal])* $defect:ident $name:literal,)*) => {
        /// A defect of the compiler.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Defect {
            $($(#[doc = $doc])* $defect,)*
        }

        impl Defect {
            /// All defects.
            pub const ALL: &'static [Self] = &[$(Self::$defect,)*];

            /// Its name in `KILN_DEFECT`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$defect => $name,)*
                }
            }
        }
    };
}

defects! {
    /// The id bound of the emitted module is too low, which makes it invalid.
    IdBound "id_bound",
    /// The elements of an object are half as large.
    NarrowElements "narrow_elements",
    /// The elements of an object are twice as large.
    WideElements "wide_elements",
    /// The elements of an object are floats instead of integers, or integers instead of floats.
    OtherElements "other_elements",
    /// An index counts twice as many bytes.
    WideUnits "wide_units",
    /// Work-items load parts of an element without atomic operations, although others change it.
    PlainParts "plain_parts",
    /// An object has half of its elements.
    ShortObjects "short_objects",
    /// The element of an object does not depend on the atomic operations on it.
    ForgottenAtomics "forgotten_atomics",
    /// The index unit of an object does not depend on the offsets of pointers into it.
    ForgottenStrides "forgotten_strides",
    /// A range of an object does not begin at its start.
    UnshiftedRanges "unshifted_ranges",
    /// The elements of a range repeat at twice the distance.
    WidePeriods "wide_periods",
    /// An access uses the variable of another range of its object.
    NeighborRanges "neighbor_ranges",
    /// The index unit of a range does not suit the other ranges of its object.
    OwnUnits "own_units",
    /// The objects that a generic pointer can point to have equal tags.
    EqualTags "equal_tags",
    /// A call passes its first two pointers in the other order.
    SwappedPointers "swapped_pointers",
    /// A call passes the start of an object instead of the position of a pointer.
    ForgottenPositions "forgotten_positions",
    /// A function assumes that its pointers point to the starts of private objects.
    AssumedStarts "assumed_starts",
    /// The private objects that a parameter can point to have separate layouts.
    OwnLayouts "own_layouts",
    /// The private objects that a parameter can point to get the size of the smallest one.
    SmallestSizes "smallest_sizes",
    /// A call selects the copy of a function for another local object.
    OtherCopies "other_copies",
}

impl Defect {
    /// Whether it only changes calls of functions with pointers.
    pub const fn only_changes_calls(self) -> bool {
        matches!(
            self,
            Self::SwappedPointers
                | Self::ForgottenPositions
                | Self::AssumedStarts
                | Self::OwnLayouts
                | Self::SmallestSizes
                | Self::OtherCopies
        )
    }

    /// The defect with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|defect| defect.name() == name)
    }
}
