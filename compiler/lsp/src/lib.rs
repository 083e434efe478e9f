//! `kiln-lsp`: a language server for OpenCL C, on standard input and output.
//!
//! The only part of Kiln that knows the Language Server Protocol. A thread reads messages, the server keeps the documents and
//! answers what needs no thought, and one worker compiles: typing is never held up, and what panics there is told and forgotten.

mod analysis;
mod call;
mod cancellation;
mod capabilities;
mod configuration;
mod diagnostics;
mod documentation;
mod documents;
mod features;
#[cfg(test)]
mod fixture;
mod format;
mod lexical;
mod names;
mod pages;
mod position;
mod requests;
mod server;
mod session;
mod transport;
mod tree;
mod uri;
mod worker;
mod workspace;
mod world;

pub use server::serve;
