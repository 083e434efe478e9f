//! The files for editors, and real editors with the real server.

mod extension;
mod neovim;
