//! The resources that a launch binds to the variables of a Vulkan module: push constants and descriptors.
//!
//! Owns the resolution of descriptors to bytes. Must not depend on how variables are accessed.

use std::sync::Arc;

use super::{Contents, Pipeline};
use crate::{
    code::ResourceLocation,
    memory::{Cells, Location},
};

/// The resource bound to a variable.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) cells: Arc<Cells>,
    /// The bound range of the cells.
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// The number of the underlying buffer in global memory.
    pub(crate) buffer: Option<u32>,
}

impl Resource {
    fn of_bytes(bytes: &[u8]) -> Self {
        let cells = Cells::new(bytes.len() as u64);
        cells.write(0, bytes);
        Self { cells: Arc::new(cells), start: 0, size: bytes.len() as u64, buffer: None }
    }

    fn new(contents: Contents<'_>) -> Self {
        match contents {
            Contents::Bytes(bytes) => Self::of_bytes(bytes),
            Contents::Buffer(buffer, start, size) => {
                let size = size.min(buffer.size().saturating_sub(start));
                let number = Location::from_address(buffer.address()).map(|location| location.object);
                Self { cells: buffer.cells().clone(), start, size, buffer: number }
            }
            // Loading the variable returns the image's handle.
            Contents::Image(image) => Self::of_bytes(&image.handle().to_le_bytes()),
        }
    }
}

/// The resource bound to each of the program's variables.
pub(crate) fn resources(pipeline: &Pipeline<'_>) -> Vec<Option<Resource>> {
    let variables = pipeline.program.resources.iter();
    let bound = variables.map(|variable| match variable.location {
        ResourceLocation::PushConstants => Some(Resource::of_bytes(pipeline.push_constants)),
        ResourceLocation::Descriptor { set, binding } => {
            let mut all = pipeline.bound.iter();
            let found = all.find(|bound| (bound.set, bound.binding) == (set, binding));
            found.map(|bound| Resource::new(bound.contents))
        }
    });
    bound.collect()
}
