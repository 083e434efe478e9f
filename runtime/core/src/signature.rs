//! The interface of modules for the OpenCL environment, read from the parameters of their kernels.
//!
//! Owns the offsets of such a module's arguments in a launch. The module defines no offsets, so the runtime and the
//! back end only have to agree on them. Must not depend on how kernels are executed.

use kiln_reference::{Kernel, ParameterKind};

use crate::error::{Error, Result};
use crate::interface::{
    Argument, ArgumentInfo, ArgumentKind, ArgumentLocation, Binding, BindingClass, KernelInterface,
    ProgramInterface, SpecId, StateField, StateValue,
};
use crate::layout::STATE_SIZE;

/// The execution state, in the order of its offsets.
pub(crate) const STATE: [StateValue; 6] = [
    StateValue::GlobalOffset,
    StateValue::GlobalSize,
    StateValue::EnqueuedLocalSize,
    StateValue::NumGroups,
    StateValue::RegionOffset,
    StateValue::RegionGroupOffset,
];

/// The size of a sampler, as the host passes it.
const SAMPLER_SIZE: u32 = 4;

/// The constants of the work-group size.
pub(crate) const LOCAL_SIZE: [SpecId; 3] = [SpecId(0), SpecId(1), SpecId(2)];
/// The constant of the number of dimensions.
pub(crate) const WORK_DIM: SpecId = SpecId(3);

/// The constant of the local memory size of a parameter.
pub(crate) fn local_bytes(ordinal: usize) -> SpecId {
    SpecId(4 + ordinal as u32)
}

/// Reads the interface of a module.
pub(crate) fn read(words: &[u32]) -> Result<ProgramInterface> {
    let kernels = kiln_reference::kernels(words).map_err(|invalid| invalid_module(&invalid))?;
    let state = STATE.iter().zip(0..).map(|(&value, index)| StateField { value, offset: index * STATE_SIZE });
    Ok(ProgramInterface {
        kernels: kernels.iter().filter(|kernel| !is_block(kernel)).map(kernel).collect(),
        local_size: Some(LOCAL_SIZE),
        work_dim: Some(WORK_DIM),
        state: state.collect(),
        ..ProgramInterface::default()
    })
}

/// Whether it is an enqueued block, which only kernels launch.
fn is_block(kernel: &Kernel) -> bool {
    kernel.parameters.first().is_some_and(|parameter| parameter.kind == ParameterKind::Block)
}

/// Converts the error for a module that cannot be read or executed.
pub(crate) fn invalid_module(invalid: &kiln_reference::Invalid) -> Error {
    Error::BadModule { reason: invalid.to_string() }
}

/// The byte offset of each parameter; `None` for local memory.
pub(crate) fn offsets(kernel: &Kernel) -> Vec<Option<u32>> {
    let mut at = STATE.len() as u32 * STATE_SIZE;
    let locations = kernel.parameters.iter().map(|parameter| {
        let size = match parameter.kind {
            ParameterKind::Local
            | ParameterKind::Image { .. }
            | ParameterKind::Block
            | ParameterKind::Other => return None,
            ParameterKind::Value { size, .. } => size,
            ParameterKind::Pointer { .. } | ParameterKind::Pipe { .. } | ParameterKind::Queue => 8,
            ParameterKind::Sampler => SAMPLER_SIZE,
        };
        let offset = at;
        at = at.saturating_add(size).checked_next_multiple_of(8).unwrap_or(u32::MAX);
        Some(offset)
    });
    locations.collect()
}

fn kernel(kernel: &Kernel) -> KernelInterface {
    let arguments = kernel.parameters.iter().zip(offsets(kernel)).enumerate();
    KernelInterface {
        name: kernel.name.clone(),
        arguments: arguments
            .map(|(ordinal, (parameter, offset))| Argument {
                info: Some(ArgumentInfo {
                    name: parameter.name.clone(),
                    type_name: type_name(parameter.kind),
                    address: None,
                    access: None,
                    type_qualifier: None,
                }),
                kind: argument_kind(parameter.kind, ordinal, offset.unwrap_or(0)),
            })
            .collect(),
        required_local_size: kernel.required_size,
        attributes: String::new(),
        prints: false,
        uses_queue: false,
        image_facts: Vec::new(),
        sampler_facts: Vec::new(),
        written_levels: Vec::new(),
        static_local_size: u32::try_from(kernel.local_memory).unwrap_or(u32::MAX),
    }
}

/// The OpenCL C type of an image. A module does not contain the other types.
fn type_name(kind: ParameterKind) -> String {
    let ParameterKind::Image { dims, is_array, is_buffer, is_depth, .. } = kind else { return String::new() };
    let array = if is_array { "_array" } else { "" };
    let buffer = if is_buffer { "_buffer" } else { "" };
    let depth = if is_depth { "_depth" } else { "" };
    format!("image{dims}d{array}{buffer}{depth}_t")
}

fn argument_kind(kind: ParameterKind, ordinal: usize, offset: u32) -> ArgumentKind {
    let location = ArgumentLocation::PushConstants { offset };
    match kind {
        ParameterKind::Pointer { .. } => ArgumentKind::Pointer(location),
        ParameterKind::Value { size, .. } => ArgumentKind::Value { location, size },
        ParameterKind::Local => ArgumentKind::Local { count: local_bytes(ordinal), element_size: 1 },
        ParameterKind::Image { is_written, .. } => {
            let class = if is_written { BindingClass::StorageImage } else { BindingClass::SampledImage };
            ArgumentKind::Image(Binding { set: 0, binding: ordinal as u32, class })
        }
        ParameterKind::Pipe { .. } => ArgumentKind::Pipe(location),
        ParameterKind::Sampler => ArgumentKind::Value { location, size: SAMPLER_SIZE },
        ParameterKind::Queue => ArgumentKind::Queue(location),
        ParameterKind::Block | ParameterKind::Other => {
            ArgumentKind::Unsupported("an argument of a special type")
        }
    }
}
