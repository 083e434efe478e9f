//! The front end: from the syntax tree to the typed tree, with all checks of the language.
//!
//! Independent of the IR, passes and SPIR-V. `survey` runs the whole front end, for editors:
//!
//! ```
//! use kiln_frontend::survey::survey;
//! use kiln_session::{NoFiles, Options, Source};
//!
//! let source = Source { name: "a.cl".into(), text: b"kernel void k(global int *p) { *p = q; }".to_vec() };
//! let survey = survey(source, &Options::default(), &NoFiles);
//! assert_eq!(survey.diagnostics[0].message, "`q` is not declared");
//! ```

mod attributes;
mod foreign;
pub mod hir;
pub mod interface;
pub mod sema;
pub mod survey;
pub mod syntax;
pub mod variables;
