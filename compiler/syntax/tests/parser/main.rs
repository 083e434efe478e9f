//! Tests of the parser from text to text.

mod errors;
mod grammar;
mod mutate;
mod mutations;
mod robustness;
mod support;
