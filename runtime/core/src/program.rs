//! Programs: a module loaded on a device, with its program-scope variables.
//!
//! Owns loading: verifying, checking, stripping, and the buffers of program-scope data. Must not depend on arguments or
//! launches. A back end gets only verified modules, except from [`Program::from_spirv_unchecked`].

use std::fmt;
use std::sync::{Arc, Mutex};

use kiln_vocabulary::driver_bugs::Workarounds;

use crate::backend::ProgramHandle;
use crate::buffer::Buffer;
use crate::capabilities::Environment;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::interface::{DataLocation, KernelInterface, ProgramData, ProgramInterface};
use crate::kernel::Kernel;
use crate::layout::Layout;
use crate::module::Module;
use kiln_verify::{Finding, ValueRules, VerifiedModule, examine};

use crate::{reflection, requirements, signature, sizing};

/// A module loaded on a device. Clones share the program-scope variables.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
    /// Whether the caller guarantees that the module has the bounds checks that it declares.
    pub(crate) has_trusted_checks: bool,
}

pub(crate) struct Inner {
    pub(crate) device: Device,
    pub(crate) interface: ProgramInterface,
    pub(crate) layouts: Vec<Layout>,
    /// The rules that the specialization of each launch must follow; none for a module that was not verified.
    pub(crate) value_rules: ValueRules,
    pub(crate) handle: ProgramHandle,
    /// Buffer of the program-scope variables, which persists between launches.
    pub(crate) variables: Option<Buffer>,
    pub(crate) constants: Option<Buffer>,
    /// Serializes launches with bounds checks, which share one table.
    pub(crate) checked: Mutex<()>,
}

impl Program {
    /// Loads a module and reflects its kernels' interface from the module itself.
    ///
    /// The module is verified first: an invalid module is [`Error::InvalidModule`], and no device sees it. The verifier
    /// checks the rules that `kiln verify --rules` lists; it is not a complete SPIR-V validator. What `kiln verify`
    /// reports as a warning does not matter here.
    pub fn from_spirv(device: &Device, words: &[u32]) -> Result<Self> {
        let (module, interface) = Self::read(device, words)?;
        let rules = check_module(&module)?;
        Self::load(device, &module, interface, Some(rules))
    }

    /// Loads a module that the compiler, linked into the same program, has already verified. It is not verified again.
    pub fn from_verified(device: &Device, module: &VerifiedModule) -> Result<Self> {
        let rules = module.value_rules().clone();
        let (module, interface) = Self::read(device, module.words())?;
        Self::load(device, &module, interface, Some(rules))
    }

    /// Loads a module like [`from_spirv`](Self::from_spirv), but without verifying it.
    ///
    /// # Safety
    /// The module must be valid SPIR-V for the device's environment, with all values that launches give its
    /// specialization constants. Any other module makes the driver's behavior undefined.
    #[allow(unsafe_code, reason = "the caller guarantees that the module is valid")]
    pub unsafe fn from_spirv_unchecked(device: &Device, words: &[u32]) -> Result<Self> {
        let (module, interface) = Self::read(device, words)?;
        Self::load(device, &module, interface, None)
    }

    fn read(device: &Device, words: &[u32]) -> Result<(Module, ProgramInterface)> {
        let module = Module::new(words)?;
        requirements::check(&module, device.info())?;
        let interface = match module.environment() {
            Environment::Vulkan => reflection::read(&module)?,
            Environment::OpenCl => signature::read(module.words())?,
        };
        Ok((module, interface))
    }

    /// Loads and verifies a module from the bytes of a file.
    pub fn from_bytes(device: &Device, bytes: &[u8]) -> Result<Self> {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Error::BadModule { reason: "it is not a whole number of words".to_owned() });
        }
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Self::from_spirv(device, &words)
    }

    /// Loads and verifies a module, with an interface obtained elsewhere.
    pub fn with_interface(device: &Device, words: &[u32], interface: ProgramInterface) -> Result<Self> {
        let module = Module::new(words)?;
        requirements::check(&module, device.info())?;
        let rules = check_module(&module)?;
        Self::load(device, &module, interface, Some(rules))
    }

    /// Declares that the program's bounds checks are complete, so that
    /// [`Queue::launch_checked`](crate::Queue::launch_checked) accepts its kernels. Any module can declare that it checks its
    /// accesses; the runtime cannot verify the claim.
    ///
    /// # Safety
    /// Kiln must have compiled the module with bounds checks, and it must be unmodified.
    #[must_use]
    #[allow(unsafe_code, reason = "the caller guarantees that the checks are complete")]
    pub unsafe fn trust_bounds_checks(self) -> Self {
        Self { has_trusted_checks: true, ..self }
    }

    /// Loads a module. If it is verified, `rules` has the rules for the values of its specialization constants.
    fn load(
        device: &Device,
        module: &Module,
        mut interface: ProgramInterface,
        rules: Option<ValueRules>,
    ) -> Result<Self> {
        if let Some(kernel) = interface.entry_points().find(|kernel| !module.has_kernel(&kernel.name)) {
            return Err(Error::BadModule { reason: format!("kernel `{}` has no entry point", kernel.name) });
        }
        let is_literal = interface.local_size.is_none()
            && interface.entry_points().all(|kernel| kernel.required_local_size.is_some());
        let sized = if is_literal { sizing::with_constants(module)? } else { None };
        let rules = match (&sized, rules) {
            (Some((sized, _)), Some(_)) => Some(check_module(sized)?),
            (_, rules) => rules,
        };
        let module = sized.as_ref().map_or(module, |(module, _)| module);
        interface.local_size = sized.as_ref().map(|(_, ids)| *ids).or(interface.local_size);
        let push_constants = device.features().target.push_constant_size;
        let layouts = interface
            .entry_points()
            .map(|kernel| Layout::new(&interface, kernel, push_constants))
            .collect::<Result<Vec<_>>>()?;
        let handle = device.backend().load(module, layouts.iter().map(Layout::for_backend).collect())?;
        let variables = allocate(device, interface.variables.as_ref())?;
        let constants = allocate(device, interface.constants.as_ref())?;
        if let (Some(buffer), Some(data)) = (&variables, &interface.variables) {
            device.initialize(buffer, &relocate(data, &interface, buffer.address())?)?;
        }
        if let (Some(buffer), Some(data)) = (&constants, &interface.constants) {
            device.initialize(buffer, &data.bytes)?;
        }
        let inner = Inner {
            device: device.clone(),
            interface,
            layouts,
            // Specialization constants of a kernel module keep their defaults.
            value_rules: rules.filter(|_| module.environment() == Environment::Vulkan).unwrap_or_default(),
            handle,
            variables,
            constants,
            checked: Mutex::default(),
        };
        let program = Self { inner: Arc::new(inner), has_trusted_checks: false };
        let missing = program.missing_workarounds();
        if !missing.is_empty() && device.is_first_warning_of_bugs() {
            tracing::warn!(
                "the driver of {} has bugs that a module does not work around: {missing}; compile it for this device",
                device.name()
            );
        }
        Ok(program)
    }

    /// Bugs of the device's driver that the compiler can work around, but this module does not. Its kernels may
    /// give wrong results.
    pub fn missing_workarounds(&self) -> Workarounds {
        self.inner.device.info().workarounds().without(self.interface().workarounds)
    }

    /// The interface of the module's kernels.
    pub fn interface(&self) -> &ProgramInterface {
        &self.inner.interface
    }

    /// The kernels, in module order.
    pub fn kernels(&self) -> &[KernelInterface] {
        &self.inner.interface.kernels
    }

    /// A kernel, or a block after the kernels.
    pub(crate) fn entry_point(&self, index: usize) -> &KernelInterface {
        let ProgramInterface { kernels, blocks, .. } = &self.inner.interface;
        kernels.get(index).unwrap_or_else(|| &blocks[index - kernels.len()])
    }

    /// The block with this number, with no arguments set.
    pub(crate) fn block(&self, number: usize) -> Option<Kernel> {
        let ProgramInterface { kernels, blocks, .. } = &self.inner.interface;
        (number < blocks.len()).then(|| Kernel::new(self.clone(), kernels.len() + number))
    }

    /// Returns the kernel with this name, with no arguments set.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let index = self.kernels().iter().position(|kernel| kernel.name == name);
        let index = index.ok_or_else(|| Error::NoSuchKernel {
            name: name.to_owned(),
            kernels: self.kernels().iter().map(|kernel| kernel.name.clone()).collect(),
        })?;
        Ok(Kernel::new(self.clone(), index))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("interface", self.interface()).finish_non_exhaustive()
    }
}

/// Verifies a module before a device gets it. Returns the rules for the values of its specialization constants.
fn check_module(module: &Module) -> Result<ValueRules> {
    let (findings, rules) = examine(module.words(), None);
    let mut errors = findings.into_iter().filter(Finding::is_error);
    match errors.next() {
        Some(first) => {
            Err(Error::InvalidModule { finding: first.to_string(), rule: first.rule, others: errors.count() })
        }
        None => Ok(rules),
    }
}

/// Allocates the buffer for program-scope data. Kernels may read whole words, so its size is a multiple of four.
fn allocate(device: &Device, data: Option<&ProgramData>) -> Result<Option<Buffer>> {
    match data {
        // Empty data accessed by address needs no buffer; a binding always needs one.
        Some(data) if data.bytes.is_empty() && matches!(data.location, DataLocation::Address { .. }) => {
            Ok(None)
        }
        Some(data) => device.buffer(data.bytes.len().next_multiple_of(4).max(4)).map(Some),
        None => Ok(None),
    }
}

/// The initial bytes of the variables, with the pointers among them relocated.
fn relocate(data: &ProgramData, interface: &ProgramInterface, address: u64) -> Result<Vec<u8>> {
    let mut bytes = data.bytes.clone();
    for relocation in &interface.relocations {
        let location =
            bytes.get_mut(relocation.pointer as usize..).and_then(|rest| rest.first_chunk_mut::<8>());
        let location = location.ok_or_else(|| Error::BadModule {
            reason: format!("a pointer at byte {} is outside its variables", relocation.pointer),
        })?;
        *location = address.wrapping_add(u64::from(relocation.object)).to_le_bytes();
    }
    Ok(bytes)
}
