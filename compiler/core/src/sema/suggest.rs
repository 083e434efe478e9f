//! Which known name a misspelt one was meant to be: shared with the preprocessor.

pub(crate) use crate::diag::closest;
