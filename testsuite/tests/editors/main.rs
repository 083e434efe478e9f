//! The files for editors, and real editors with the real server.

mod emacs;
mod extension;
mod neovim;
mod settings;
