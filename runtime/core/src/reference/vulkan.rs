//! Modules of the Vulkan environment on the reference device: a pipeline for each specialization, and its bindings.
//!
//! Owns the translation of dispatches. Must not depend on arguments or index spaces.

use std::sync::{Arc, Mutex, PoisonError};

use kiln_reference::{Bound as BoundTo, Checks, Contents, Memory, Pipeline, Region, Results};
use rustc_hash::FxHashMap;

use super::{Block, block, describe::PUSH_CONSTANTS, image};
use crate::backend::{Bound, Dispatch, KernelLayout, Launch, Specialization};
use crate::error::{Error, Result};
use crate::interface::{ArgumentLocation, Binding};
use crate::module::Module;
use crate::signature;

/// The value of push constant bytes that the launch does not set.
const UNSET: u8 = 0xa5;

/// A loaded module.
pub(super) struct Program {
    words: Vec<u32>,
    memory: Memory,
    checks: Checks,
    results: Results,
    kernels: Vec<Kernel>,
    /// The programs decoded so far.
    pipelines: Mutex<FxHashMap<Specialization, Arc<kiln_reference::Program>>>,
}

/// A kernel of the program.
struct Kernel {
    /// Its index among the kernels of the module.
    position: usize,
    bindings: Vec<Binding>,
    /// The name and the location of each argument that is the address of a buffer.
    pointers: Vec<(String, ArgumentLocation)>,
}

impl Kernel {
    /// The name of each argument of a launch that is the address of a buffer, and the address.
    fn buffers(&self, launch: &Launch) -> Vec<(&str, u64)> {
        let pushed = launch.dispatches.first().map_or(&[][..], |dispatch| &dispatch.push_constants);
        let address = |location: ArgumentLocation| {
            let (bytes, offset) = match location {
                ArgumentLocation::PushConstants { offset } => (pushed, offset),
                ArgumentLocation::Block { binding, offset } => {
                    let index = self.bindings.iter().position(|known| *known == binding)?;
                    let Bound::Bytes(bytes) = launch.bound.get(index)? else { return None };
                    (bytes.as_slice(), offset)
                }
            };
            bytes.get(offset as usize..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
        };
        self.pointers
            .iter()
            .filter_map(|(name, location)| Some((name.as_str(), address(*location)?)))
            .collect()
    }
}

impl Program {
    pub(super) fn new(
        module: &Module,
        layouts: Vec<KernelLayout>,
        memory: &Memory,
        (checks, results): (Checks, Results),
    ) -> Result<Self> {
        let words = module.words().to_vec();
        let known = kiln_reference::kernels(&words).map_err(|invalid| signature::invalid_module(&invalid))?;
        let kernel = |layout: KernelLayout| {
            let position = known.iter().position(|kernel| *kernel.name == *layout.name);
            let none = || Error::BadModule { reason: format!("it has no kernel `{}`", layout.name) };
            Ok(Kernel {
                position: position.ok_or_else(none)?,
                bindings: layout.bindings,
                pointers: layout.pointers,
            })
        };
        let kernels = layouts.into_iter().map(kernel).collect::<Result<_>>()?;
        Ok(Self { words, memory: memory.clone(), checks, results, kernels, pipelines: Mutex::default() })
    }

    /// The module specialized for these constants, decoded on first use.
    fn pipeline(&self, specialization: &Specialization) -> Result<Arc<kiln_reference::Program>> {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = pipelines.get(specialization) {
            return Ok(known.clone());
        }
        let constants: Vec<(u32, u32)> = specialization.iter().map(|(id, value)| (id.0, *value)).collect();
        let (words, memory) = (&self.words, &self.memory);
        let decoded =
            kiln_reference::Program::specialized(words, &constants, memory, self.checks, self.results);
        let decoded = Arc::new(decoded.map_err(|invalid| signature::invalid_module(&invalid))?);
        pipelines.insert(specialization.clone(), decoded.clone());
        Ok(decoded)
    }

    /// Executes a launch by `run`.
    pub(super) fn launch(
        &self,
        launch: &Launch,
        run: impl FnOnce(&kiln_reference::Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let kernel = &self.kernels[launch.kernel];
        let programs = launch
            .dispatches
            .iter()
            .map(|it| self.pipeline(&it.specialization))
            .collect::<Result<Vec<_>>>()?;
        let resources = launch.bound.iter().map(BoundResource::new).collect::<Result<Vec<_>>>()?;
        let bound: Vec<BoundTo<'_>> = kernel
            .bindings
            .iter()
            .zip(&resources)
            .filter_map(|(binding, resources)| resources.contents().map(|contents| bound(binding, contents)))
            .collect();
        let pushed: Vec<Vec<u8>> = launch.dispatches.iter().map(push_constants).collect();
        let pipelines: Vec<Pipeline<'_>> = programs
            .iter()
            .zip(&pushed)
            .map(|(program, push_constants)| Pipeline { program, push_constants, bound: &bound })
            .collect();
        let regions = pipelines.iter().zip(&launch.dispatches).enumerate();
        let regions: Vec<Region> = regions
            .map(|(number, (pipeline, dispatch))| {
                region(number, pipeline.program.group_size(kernel.position), dispatch)
            })
            .collect();
        // Kernels read their index space from the push constants.
        run(&kiln_reference::Launch {
            pipelines: &pipelines,
            kernel: kernel.position,
            arguments: &[],
            buffers: &kernel.buffers(launch),
            dims: 3,
            global: [0; 3],
            offset: [0; 3],
            local: [0; 3],
            groups: [0; 3],
            regions: &regions,
        })
    }
}

/// All push constants of the device. Bytes that the launch does not set get a value that is unlikely to be correct.
fn push_constants(dispatch: &Dispatch) -> Vec<u8> {
    let mut bytes = dispatch.push_constants.to_vec();
    bytes.resize(bytes.len().max(PUSH_CONSTANTS as usize), UNSET);
    bytes
}

fn bound<'a>(binding: &Binding, contents: Contents<'a>) -> BoundTo<'a> {
    BoundTo { set: binding.set, binding: binding.binding, contents }
}

fn region(pipeline: usize, local: [u32; 3], dispatch: &Dispatch) -> Region {
    Region { local, groups: dispatch.groups, first_item: dispatch.first_item, first_group: [0; 3], pipeline }
}

/// The resource that a descriptor refers to, kept alive during a launch.
enum BoundResource<'a> {
    Bytes(&'a [u8]),
    Memory(Arc<Block>, u64, u64),
    Image(Arc<kiln_reference::Image>),
    /// The bits of a sampler, as a variable contains them.
    Sampler([u8; 8]),
}

impl<'a> BoundResource<'a> {
    fn new(bound: &'a Bound) -> Result<Self> {
        Ok(match bound {
            Bound::Bytes(bytes) => Self::Bytes(bytes),
            Bound::Memory { memory, offset, size } => Self::Memory(block(memory)?, *offset, *size),
            Bound::Image(memory) => Self::Image(image::at_level(memory)?),
            Bound::Sampler(sampler) => Self::Sampler(u64::from(sampler.bits()).to_le_bytes()),
        })
    }

    fn contents(&self) -> Option<Contents<'_>> {
        match self {
            Self::Bytes(bytes) => Some(Contents::Bytes(bytes)),
            Self::Memory(block, offset, size) => {
                block.buffer().ok().map(|buffer| Contents::Buffer(buffer, *offset, *size))
            }
            Self::Image(image) => Some(Contents::Image(image)),
            Self::Sampler(bits) => Some(Contents::Bytes(bits)),
        }
    }
}
