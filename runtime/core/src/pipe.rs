//! Pipes, through which kernels pass packets (OpenCL API 5.4).
//!
//! Owns their description. Must not depend on how a device implements them.

use crate::backend::Memory;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Arg, ArgValue};

/// A pipe. Clones share its packets. It is freed when the last one is dropped.
#[derive(Clone)]
pub struct Pipe {
    device: Device,
    pub(crate) memory: Memory,
    packet_size: u32,
}

impl Device {
    /// Creates an empty pipe for `max_packets` packets of `packet_size` bytes (`clCreatePipe`), if the device
    /// supports pipes.
    pub fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Pipe> {
        let bytes = u64::from(packet_size).saturating_mul(max_packets.into());
        let limit = self.capabilities().max_allocation;
        if bytes == 0 || bytes > limit {
            return Err(Error::BufferSize { bytes, limit });
        }
        let memory = self.backend().pipe(packet_size, max_packets)?;
        Ok(Pipe { device: self.clone(), memory, packet_size })
    }
}

impl Pipe {
    /// The size of a packet in bytes.
    pub fn packet_size(&self) -> u32 {
        self.packet_size
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
