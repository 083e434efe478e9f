//! The interface of modules of the OpenCL environment, which stands in the parameters of their kernels.
//!
//! Owns the places that such a module's arguments get in a launch: the module itself says nothing of places, so any will do as
//! long as the back end looks for them there. It must never know how kernels are executed.

use kiln_reference::{Kernel, ParameterKind};

use crate::error::{Error, Result};
use crate::interface::{
    Argument, ArgumentInfo, ArgumentKind, KernelInterface, Place, ProgramInterface, SpecId, StateField,
    StateValue,
};
use crate::layout::STATE_SIZE;

/// The execution state, in the order of its places.
pub(crate) const STATE: [StateValue; 6] = [
    StateValue::GlobalOffset,
    StateValue::GlobalSize,
    StateValue::EnqueuedLocalSize,
    StateValue::NumGroups,
    StateValue::RegionOffset,
    StateValue::RegionGroupOffset,
];

/// Where the size of work-groups goes.
pub(crate) const LOCAL_SIZE: [SpecId; 3] = [SpecId(0), SpecId(1), SpecId(2)];
/// Where the number of dimensions goes.
pub(crate) const WORK_DIM: SpecId = SpecId(3);

/// Where the bytes of local memory of a parameter go.
pub(crate) fn local_bytes(ordinal: usize) -> SpecId {
    SpecId(4 + ordinal as u32)
}

/// Reads the interface of a module.
pub(crate) fn read(words: &[u32]) -> Result<ProgramInterface> {
    let kernels = kiln_reference::kernels(words).map_err(|invalid| bad(&invalid))?;
    let state = STATE.iter().zip(0..).map(|(&value, index)| StateField { value, offset: index * STATE_SIZE });
    Ok(ProgramInterface {
        kernels: kernels.iter().map(kernel).collect(),
        local_size: Some(LOCAL_SIZE),
        work_dim: Some(WORK_DIM),
        state: state.collect(),
        ..ProgramInterface::default()
    })
}

/// A module that cannot be read or executed.
pub(crate) fn bad(invalid: &kiln_reference::Invalid) -> Error {
    Error::BadModule { reason: invalid.to_string() }
}

/// Where the bytes of each parameter begin; none for local memory.
pub(crate) fn offsets(kernel: &Kernel) -> Vec<Option<u32>> {
    let mut at = STATE.len() as u32 * STATE_SIZE;
    let places = kernel.parameters.iter().map(|parameter| {
        let size = match parameter.kind {
            ParameterKind::Local | ParameterKind::Other => return None,
            ParameterKind::Value { size, .. } => size,
            ParameterKind::Pointer { .. } | ParameterKind::Image | ParameterKind::Sampler => 8,
        };
        let offset = at;
        at = at.saturating_add(size).checked_next_multiple_of(8).unwrap_or(u32::MAX);
        Some(offset)
    });
    places.collect()
}

fn kernel(kernel: &Kernel) -> KernelInterface {
    let arguments = kernel.parameters.iter().zip(offsets(kernel)).enumerate();
    KernelInterface {
        name: kernel.name.clone(),
        arguments: arguments
            .map(|(ordinal, (parameter, offset))| Argument {
                info: Some(ArgumentInfo {
                    name: parameter.name.clone(),
                    type_name: String::new(),
                    address: None,
                    access: None,
                    type_qualifier: None,
                }),
                kind: kind(parameter.kind, ordinal, offset.unwrap_or(0)),
            })
            .collect(),
        required_local_size: kernel.required_size,
        attributes: String::new(),
        prints: false,
        image_facts: Vec::new(),
        static_local_size: u32::try_from(kernel.local_memory).unwrap_or(u32::MAX),
    }
}

fn kind(kind: ParameterKind, ordinal: usize, offset: u32) -> ArgumentKind {
    let place = Place::PushConstants { offset };
    match kind {
        ParameterKind::Pointer { .. } => ArgumentKind::Pointer(place),
        ParameterKind::Value { size, .. } => ArgumentKind::Value { place, size },
        ParameterKind::Local => ArgumentKind::Local { count: local_bytes(ordinal), element_size: 1 },
        ParameterKind::Image => ArgumentKind::Unsupported("an image"),
        ParameterKind::Sampler => ArgumentKind::Unsupported("a sampler"),
        ParameterKind::Other => ArgumentKind::Unsupported("an argument of a special type"),
    }
}
