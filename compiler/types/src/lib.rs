//! The types of OpenCL C: interned, with their layout and conversions, and arithmetic on constants of them.
//!
//! Independent of expressions.
//!
//! ```
//! use kiln_types::{fold, ty::Scalar};
//!
//! // 200 + 100 in `uchar`.
//! assert_eq!(fold::wrap(Scalar::UChar, 300), 44);
//! ```

pub mod binary16;
pub mod fold;
pub mod index;
pub mod ops;
pub mod ty;
