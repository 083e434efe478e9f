//! `kiln lsp` through the protocol, as a client sees it.

mod features;
mod protocol;
