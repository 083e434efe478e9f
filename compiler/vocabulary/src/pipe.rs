//! The memory of a pipe on Vulkan (OpenCL C 6.15.18): a ring of packets.
//!
//! It starts with eight 32-bit words: the maximum number of packets, the number of slots minus 1, the next packet to write,
//! the next packet to read, two unused words, the offset of the slots in bytes, and the size of a packet. The state of each
//! slot follows, one word each, and then the slots. Packets are numbered from 0, modulo 2^32. The number of slots is a power
//! of two, so packet n is in slot n modulo that number. `pipe.cl` of `kiln-library` describes the states. An empty pipe has
//! zeros in all words that change.

use crate::opencl::MAX_TYPE_ALIGNMENT;

/// The size of the words before the states, in bytes.
const HEADER: u64 = 32;
/// The maximum number of packets: the offsets of all states fit in 32 bits.
const MAX_PACKETS: u32 = 1 << 29;

/// The size and the first words of an empty pipe. The other bytes are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeLayout {
    /// The size in bytes.
    pub bytes: u64,
    /// The first words.
    pub header: [u32; 8],
}

impl PipeLayout {
    /// The offset of the slots in bytes.
    pub const fn slots(&self) -> u64 {
        self.header[6] as u64
    }

    /// The layout of a pipe for `max_packets` packets of `packet_size` bytes. `None` if one of them is zero, or there are
    /// more than 2^29 packets.
    pub fn new(packet_size: u32, max_packets: u32) -> Option<Self> {
        if packet_size == 0 || max_packets == 0 || max_packets > MAX_PACKETS {
            return None;
        }
        // At least two slots: with one, a written packet and a read packet would have the same state.
        let slots = max_packets.next_power_of_two().max(2);
        let start = (HEADER + 4 * u64::from(slots)).next_multiple_of(MAX_TYPE_ALIGNMENT);
        let offset = u32::try_from(start).ok()?;
        let bytes = start + u64::from(slots) * u64::from(packet_size);
        Some(Self { bytes, header: [max_packets, slots - 1, 0, 0, 0, 0, offset, packet_size] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_states() {
        let layout = PipeLayout::new(12, 5).unwrap();
        assert_eq!(layout, PipeLayout { bytes: 128 + 8 * 12, header: [5, 7, 0, 0, 0, 0, 128, 12] });
        assert_eq!(PipeLayout::new(1, 1).unwrap().header[1], 1);
        assert_eq!(PipeLayout::new(128, MAX_PACKETS).unwrap().header[6], (1 << 31) + 128);
        for (size, packets) in [(0, 1), (1, 0), (1, MAX_PACKETS + 1)] {
            assert_eq!(PipeLayout::new(size, packets), None);
        }
    }
}
