//! `kiln-lsp`: a language server for OpenCL C, on standard input and output.
//!
//! The only package that depends on the Language Server Protocol. One thread reads messages, the server keeps the
//! documents and answers simple requests, one worker compiles, and one thread explores launches for data races. Typing never
//! waits for the compiler, and a panic of the compiler does not end the server.
//!
//! [`serve`] runs the server. Its argument is the function that finds data races. [`answer`] answers one request without a
//! server. The command line reads the server's project file with [`kiln_toml`]:
//!
//! ```
//! let project = kiln_lsp::kiln_toml::read("std = \"CL3.0\"\ndefine = [\"N=4\"]\n");
//! assert_eq!(project.flags, ["-DN=4", "-cl-std=CL3.0"]);
//! assert!(project.mistakes.is_empty());
//! ```

mod analysis;
mod call;
mod cancellation;
mod capabilities;
mod client_state;
mod configuration;
mod diagnostics;
mod documentation;
mod documents;
mod embedded;
mod features;
#[cfg(test)]
mod fixture;
pub mod kiln_toml;
mod lexical;
mod names;
mod pages;
mod position;
mod races;
mod requests;
mod server;
mod session;
mod transport;
mod tree;
mod uri;
mod worker;
mod workspace;

pub use embedded::answer;
pub use races::{Explorer, Fix, Race};
pub use server::serve;
