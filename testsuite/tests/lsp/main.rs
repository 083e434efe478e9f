//! `kiln lsp` through the protocol, as a client sees it.

mod announced;
mod features;
mod protocol;
