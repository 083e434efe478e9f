//! What an editor can ask of a source. One feature, one file; each is a function of an analysis and a place, and knows nothing of
//! threads, messages or files on disk.

pub(crate) mod actions;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod folding;
pub(crate) mod highlight;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod links;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod selection;
pub(crate) mod signature;
pub(crate) mod symbols;
pub(crate) mod tokens;

#[cfg(test)]
mod tests;
