//! `kiln-debug`: a debugger for kernels on the reference device, over the Debug Adapter Protocol.
//!
//! Owns the protocol and the state of a session. Must not depend on the compiler: it gets the module of a program and
//! the variables of its source as data, and a function that runs the launches.
//!
//! One thread reads requests. The launch runs on another one, which answers the client's requests about it while it is
//! stopped. Reverse execution executes the launch again from its start, which is deterministic.
//!
//! ```
//! use kiln_debug::serve;
//!
//! let request = r#"{"type":"request","seq":1,"command":"initialize"}"#;
//! let input = format!("Content-Length: {}\r\n\r\n{request}", request.len());
//! serve(&mut input.as_bytes(), std::io::sink(), &|_, _, _| Err("there is no program".to_owned())).unwrap();
//! ```
#![forbid(unsafe_code)]

mod adapter;
mod breakpoints;
mod debugger;
mod expression;
mod inspect;
mod lines;
mod protocol;
mod replay;
mod scope;
mod value;

pub use adapter::{Console, Prepare, Prepared, serve};
