//! Language features, one per file. Each is a function of an analysis and a position, and must not depend on threads,
//! messages or files on disk.

pub(crate) mod actions;
pub(crate) mod calls;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod folding;
pub(crate) mod formatting;
pub(crate) mod highlight;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod lenses;
pub(crate) mod links;
pub(crate) mod refactor;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod selection;
pub(crate) mod signature;
pub(crate) mod symbols;
pub(crate) mod tokens;
pub(crate) mod types;
pub(crate) mod values;

#[cfg(test)]
mod tests;
