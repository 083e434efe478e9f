//! The memory models of OpenCL and Vulkan as code, and an explorer of all executions of small programs.
//!
//! A [`Skeleton`] contains the accesses of a launch's work-items to shared memory. [`Module::skeleton`] extracts it from a
//! SPIR-V module of any compiler. [`explore::explore`] enumerates the executions that a [`Model`] permits.
//! OpenCL's model is for modules of the OpenCL environment, and Vulkan's model for modules of the Vulkan environment.
//!
//! Must not depend on the compiler or on the mapping from OpenCL to Vulkan, which it checks.
//!
//! Two work-items store different values to one object, and either store can be the last:
//!
//! ```
//! use kiln_memory_model::{Action, Event, Location, Model, Position, Skeleton, Trace, explore, scope};
//!
//! let object = Location::default();
//! let store = |written| Event { written, ..Event::atomic(Action::Write, object, scope::DEVICE, 0) };
//! let run = |value| vec![Trace { events: vec![store(value)], ..Trace::default() }];
//! let skeleton = Skeleton {
//!     positions: [0, 1].map(|it| Position { group: it, sub_group: it, ..Position::default() }).to_vec(),
//!     traces: vec![run(1), run(2)],
//!     parts: vec![object],
//!     sizes: vec![4],
//!     ..Skeleton::default()
//! };
//! let found = explore::explore(&skeleton, Model::OpenCl, explore::Options::default()).expect("few executions");
//! assert_eq!(found.allowed.len(), 2);
//! ```
#![forbid(unsafe_code)]

pub mod cheapen;
pub mod draw;
mod event;
mod execution;
pub mod explore;
mod module;
mod opencl;
pub mod progress;
pub mod refine;
mod relation;
#[cfg(test)]
mod tests;
pub mod text;
mod verdict;
mod vulkan;
mod weaken;

pub use event::{Action, End, Event, Location, Object, Position, Skeleton, Space, Trace, scope, semantics};
pub use explore::Model;
pub use module::{
    AnnotatedTest, Argument, Launch, Module, Synchronization, TestOptions, Undefined, Unsupported,
};
pub use verdict::Rule;
pub use weaken::{Weakening, weakest};
