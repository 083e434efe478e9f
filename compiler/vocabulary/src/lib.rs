//! `kiln-vocabulary`: terms that the compiler and the runtime share.
//!
//! Plain data only: memory orders, scopes, fence flags, address spaces, language versions and extensions of OpenCL C;
//! device features; driver bugs; the layout of pipes and device queues; and the variables of a program, for
//! debuggers. Must not depend on SPIR-V, Vulkan or the types of the language.
//!
//! ```
//! use kiln_vocabulary::opencl::{FenceFlags, Order};
//!
//! assert!(Order::AcqRel.acquires() && !Order::Release.acquires());
//! assert_eq!(Order::AcqRel.spelling(), "memory_order_acq_rel");
//! assert_eq!(FenceFlags::LOCAL.union(FenceFlags::GLOBAL).to_string(), "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE");
//! ```

pub mod debug;
pub mod device_queue;
pub mod driver_bugs;
pub mod extensions;
pub mod opencl;
pub mod pipe;
pub mod precision;
pub mod reflection;
pub mod sampler;
pub mod target;
pub mod tuning;
