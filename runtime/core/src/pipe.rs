//! Pipes, through which kernels pass packets (OpenCL API 5.4).
//!
//! Owns their description and the initial contents of pipes in memory. Must not depend on how kernels use them.

use kiln_vocabulary::pipe::PipeLayout;

use crate::backend::{Memory, Placement};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Arg, ArgValue};

/// A pipe. Clones share its packets. It is freed when the last one is dropped.
#[derive(Clone)]
pub struct Pipe {
    device: Device,
    pub(crate) memory: Memory,
    /// The memory that kernels access, if they do not use a handle.
    ring: Option<Buffer>,
    packet_size: u32,
    max_packets: u32,
}

impl Device {
    /// Creates an empty pipe for `max_packets` packets of `packet_size` bytes (`clCreatePipe`).
    pub fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Pipe> {
        let bytes = u64::from(packet_size).saturating_mul(max_packets.into());
        let limit = self.capabilities().max_allocation;
        if bytes == 0 || bytes > limit {
            return Err(Error::BufferSize { bytes, limit });
        }
        let (memory, ring) = match self.backend().pipe(packet_size, max_packets)? {
            Some(memory) => (memory, None),
            None => {
                let layout = PipeLayout::new(packet_size, max_packets);
                let ring = self.ring(layout.ok_or(Error::BufferSize { bytes, limit })?)?;
                (ring.memory.clone(), Some(ring))
            }
        };
        Ok(Pipe { device: self.clone(), memory, ring, packet_size, max_packets })
    }

    /// The memory of an empty pipe.
    fn ring(&self, layout: PipeLayout) -> Result<Buffer> {
        let size = |bytes: u64| {
            let limit = self.capabilities().max_allocation;
            usize::try_from(bytes).map_err(|_| Error::BufferSize { bytes, limit })
        };
        let buffer = Buffer::allocate(self, size(layout.bytes)?, Placement::Device)?;
        let mut contents = vec![0; size(layout.slots())?];
        for (bytes, word) in contents.as_chunks_mut().0.iter_mut().zip(layout.header) {
            *bytes = word.to_le_bytes();
        }
        self.initialize(&buffer.slice(..contents.len())?, &contents)?;
        Ok(buffer)
    }
}

impl Pipe {
    /// The size of a packet in bytes.
    pub fn packet_size(&self) -> u32 {
        self.packet_size
    }

    /// The maximum number of packets.
    pub fn max_packets(&self) -> u32 {
        self.max_packets
    }

    /// Its memory, as `pipe.rs` of `kiln-vocabulary` describes it. `None` on the reference device of the OpenCL
    /// environment, whose kernels use handles.
    pub fn memory(&self) -> Option<Buffer> {
        self.ring.clone()
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Arg for &Pipe {
    fn into_value(self) -> ArgValue {
        ArgValue::Pipe(self.clone())
    }
}

impl std::fmt::Debug for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipe").field("packet_size", &self.packet_size).finish_non_exhaustive()
    }
}
