//! Enums whose variants have names in the notation of the table.

/// Declares an enum with the names of its variants.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($text:literal => $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// The variant with this name.
            pub(super) fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(super) use named;
