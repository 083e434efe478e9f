//! The seam between the runtime and what executes kernels.
//!
//! Owns the traits that every back end implements, and the form of a launch in which every rule of OpenCL is already applied:
//! a back end sets constants, binds bytes and dispatches groups. It must never know arguments or index spaces.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::capabilities::DeviceInfo;
use crate::error::Result;
use crate::event::Times;
use crate::interface::{Binding, SpecId};
use crate::module::Module;

/// Memory of a device, freed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Memory {
    /// The address that kernels see.
    pub(crate) address: u64,
    /// What the back end made it of.
    pub(crate) handle: Arc<dyn Any + Send + Sync>,
}

/// A program in the form of the back end.
pub(crate) type ProgramHandle = Arc<dyn Any + Send + Sync>;

/// A device that executes kernels.
pub(crate) trait Backend: Send + Sync {
    fn info(&self) -> &DeviceInfo;
    /// Groups in one dispatch.
    fn max_groups(&self) -> [u32; 3];
    /// Allocates memory whose contents are undefined and whose address is a multiple of 128.
    fn allocate(&self, size: u64) -> Result<Memory>;
    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle>;
    fn queue(&self) -> Result<Arc<dyn BackendQueue>>;
    /// What the checking layer said since the last call.
    fn take_messages(&self) -> Vec<String>;
}

/// A queue whose commands run one after the other.
pub(crate) trait BackendQueue: Send + Sync {
    fn launch(&self, launch: Launch) -> Result<Arc<dyn Completion>>;
    fn write(&self, target: &Memory, offset: u64, bytes: &[u8]) -> Result<Arc<dyn Completion>>;
    /// Waits for all earlier commands and reads.
    fn read(&self, source: &Memory, offset: u64, into: &mut [u8], timeout: Option<Duration>) -> Result<()>;
    fn copy(
        &self,
        source: &Memory,
        from: u64,
        target: &Memory,
        to: u64,
        bytes: u64,
    ) -> Result<Arc<dyn Completion>>;
    /// Fills with a pattern whose size divides `bytes`.
    fn fill(&self, target: &Memory, offset: u64, bytes: u64, pattern: &[u8]) -> Result<Arc<dyn Completion>>;
    /// Something that completes when all earlier commands have.
    fn marker(&self) -> Result<Arc<dyn Completion>>;
}

/// The end of a command.
pub(crate) trait Completion: Send + Sync {
    /// Waits, at most as long as told.
    fn wait(&self, timeout: Option<Duration>) -> Result<()>;
    fn is_complete(&self) -> Result<bool>;
    /// When the command ran, once it is complete.
    fn times(&self) -> Option<Times>;
}

/// What a back end must prepare for a kernel.
#[derive(Debug, Clone)]
pub(crate) struct KernelLayout {
    pub(crate) name: String,
    pub(crate) bindings: Vec<Binding>,
}

/// A launch, ready to be executed.
pub(crate) struct Launch {
    pub(crate) program: ProgramHandle,
    /// The kernel's index in the program.
    pub(crate) kernel: usize,
    /// The kernel's name, for messages.
    pub(crate) name: String,
    /// In the order of the kernel's bindings.
    pub(crate) bound: Vec<Bound>,
    /// They may run at the same time.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Memory that must live until the launch is complete.
    pub(crate) keep: Vec<Memory>,
}

/// What is bound at one place.
pub(crate) enum Bound {
    Bytes(Vec<u8>),
    Memory { memory: Memory, offset: u64, size: u64 },
}

/// The values of specialisation constants.
pub(crate) type Specialisation = Arc<[(SpecId, u32)]>;

/// Work-groups of one size.
pub(crate) struct Dispatch {
    pub(crate) specialisation: Specialisation,
    pub(crate) push_constants: Vec<u8>,
    pub(crate) groups: [u32; 3],
}
