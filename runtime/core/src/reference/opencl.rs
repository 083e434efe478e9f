//! Modules of the OpenCL environment on the reference device: kernel parameters are arguments.
//!
//! Owns the translation of arguments from the offsets that `signature.rs` assigns. Must not depend on index spaces.

use kiln_reference::{Argument, Checks, Memory, ParameterKind, Pipeline, Region, Statements};

use super::image;
use crate::backend::{Bound, Dispatch, KernelLayout, Launch};
use crate::error::{Error, Result};
use crate::interface::SpecId;
use crate::layout::STATE_SIZE;
use crate::module::Module;
use crate::signature::{self, LOCAL_SIZE, WORK_DIM};

/// A loaded module.
pub(super) struct Program {
    decoded: kiln_reference::Program,
    /// The runtime's kernels, as indices into those of the module.
    kernels: Vec<usize>,
}

impl Program {
    pub(super) fn new(
        module: &Module,
        layouts: &[KernelLayout],
        memory: &Memory,
        checks: Checks,
        statements: Statements,
    ) -> Result<Self> {
        let decoded = match statements {
            Statements::Marked => kiln_reference::Program::with_statements(module.words(), memory, checks),
            Statements::Unmarked => kiln_reference::Program::new(module.words(), memory, checks),
        };
        let decoded = decoded.map_err(|invalid| signature::invalid_module(&invalid))?;
        let position = |layout: &KernelLayout| {
            let found = decoded.kernels().iter().position(|kernel| *kernel.name == *layout.name);
            found.ok_or_else(|| Error::BadModule { reason: format!("it has no kernel `{}`", layout.name) })
        };
        let kernels = layouts.iter().map(position).collect::<Result<_>>()?;
        Ok(Self { decoded, kernels })
    }

    /// Executes a launch by `run`.
    pub(super) fn launch(
        &self,
        launch: &Launch,
        run: impl FnOnce(&kiln_reference::Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = launch.dispatches.first() else { return Ok(()) };
        let kernel = self.kernels[launch.kernel];
        let regions: Vec<Region> = launch.dispatches.iter().map(region).collect();
        let arguments = arguments(&self.decoded.kernels()[kernel], launch, first)?;
        run(&kiln_reference::Launch {
            pipelines: &[Pipeline { program: &self.decoded, push_constants: &[], bound: &[] }],
            kernel,
            arguments: &arguments,
            buffers: &[],
            dims: spec_constant(first, WORK_DIM).unwrap_or(1),
            offset: state_value(first, 0),
            global: state_value(first, 1),
            local: state_value(first, 2),
            groups: state_value(first, 3),
            regions: &regions,
        })
    }
}

/// A value of the execution state, three words.
fn state_value(dispatch: &Dispatch, index: usize) -> [u32; 3] {
    let bytes = dispatch.push_constants.get(index * STATE_SIZE as usize..).unwrap_or_default();
    let (words, _) = bytes.as_chunks::<4>();
    [0, 1, 2].map(|d| words.get(d).map_or(0, |word| u32::from_le_bytes(*word)))
}

fn spec_constant(dispatch: &Dispatch, wanted: SpecId) -> Option<u32> {
    dispatch.specialization.iter().find(|(id, _)| *id == wanted).map(|(_, value)| *value)
}

fn region(dispatch: &Dispatch) -> Region {
    Region {
        local: LOCAL_SIZE.map(|id| spec_constant(dispatch, id).unwrap_or(1)),
        groups: dispatch.groups,
        first_item: state_value(dispatch, 4),
        first_group: state_value(dispatch, 5),
        pipeline: 0,
    }
}

/// The arguments, at the offsets that `signature.rs` assigns. Images are bound in parameter order.
fn arguments(kernel: &kiln_reference::Kernel, launch: &Launch, dispatch: &Dispatch) -> Result<Vec<Argument>> {
    let mut bound = launch.bound.iter();
    let parameters = kernel.parameters.iter().zip(signature::offsets(kernel)).enumerate();
    parameters
        .map(|(ordinal, (parameter, offset))| {
            let offset = offset.map_or(0, |offset| offset as usize);
            let bytes = |length: u32| {
                let from = dispatch.push_constants.get(offset..).unwrap_or_default();
                from[..from.len().min(length as usize)].to_vec()
            };
            Ok(match parameter.kind {
                ParameterKind::Local => {
                    let bytes = spec_constant(dispatch, signature::local_bytes(ordinal));
                    Argument::Local(bytes.map_or(0, u64::from))
                }
                ParameterKind::Value { size, .. } => Argument::Bytes(bytes(size)),
                ParameterKind::Pointer { .. }
                | ParameterKind::Pipe { .. }
                | ParameterKind::Queue
                | ParameterKind::Block
                | ParameterKind::Other => Argument::Bytes(bytes(8)),
                ParameterKind::Sampler => Argument::Bytes([bytes(4), vec![0; 4]].concat()),
                ParameterKind::Image { .. } => match bound.next() {
                    Some(Bound::Image(memory)) => {
                        Argument::Bytes(image::found(memory)?.handle().to_le_bytes().to_vec())
                    }
                    _ => return Err(Error::WrongDevice { object: "an image".to_owned() }),
                },
            })
        })
        .collect()
}
