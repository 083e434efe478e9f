//! The undefined bytes of global memory during a launch.
//!
//! Owns the rule which stores of undefined bytes to global memory are reported. A copy of a structure copies its
//! padding, which is not a use of an undefined value. Copies in modules for Vulkan have no types, so bytes that can be
//! padding are copied with their poison, and only a use of them is reported.

use rustc_hash::FxHashMap;

use crate::poison::{BytePoison, Poison, to_bytes};

/// The largest alignment of a type, that of `long16`. Padding is shorter, and does not begin at a multiple.
const LARGEST_ALIGNMENT: u64 = 128;

/// The poison of buffers that contain undefined bytes. Other buffers are defined.
#[derive(Debug, Default)]
pub(crate) struct Undefined {
    objects: FxHashMap<u32, Vec<BytePoison>>,
}

/// A store of undefined bytes to a buffer.
pub(crate) struct Stored<'s> {
    pub(crate) object: u32,
    /// The offset of its first byte.
    pub(crate) at: u64,
    pub(crate) lanes: &'s [Poison],
    /// The size of a lane in bytes.
    pub(crate) size: u8,
    /// Whether the previous store of the work-item ended where this one begins, as in a copy.
    pub(crate) continues: bool,
}

impl Undefined {
    /// The poison of these bytes; `None` if no byte of the buffer has ever been undefined.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, object: u32, at: u64, size: u64) -> Option<&mut [BytePoison]> {
        if self.objects.is_empty() {
            return None;
        }
        self.objects.get_mut(&object)?.get_mut(at as usize..(at + size) as usize)
    }

    /// Begins to track the bytes of a buffer of this size.
    pub(crate) fn track(&mut self, object: u32, size: u64) {
        self.objects.entry(object).or_insert_with(|| vec![0; size as usize]);
    }

    /// Whether the undefined bytes of a store can be padding of structures that are copied in parts, from their first to
    /// their last byte. Padding has a member before it. It ends at a multiple of the alignment of the next member, or of
    /// the structure, and is shorter than this alignment.
    pub(crate) fn can_be_padding(&self, stored: &Stored<'_>) -> bool {
        let mut bytes = vec![0; stored.lanes.len() * usize::from(stored.size)];
        for (bytes, lane) in bytes.chunks_mut(stored.size.into()).zip(stored.lanes) {
            to_bytes(*lane, bytes);
        }
        let mut next = 0;
        while let Some(first) = (next..bytes.len()).find(|&byte| bytes[byte] != 0) {
            let end = (first..bytes.len()).find(|&byte| bytes[byte] == 0).unwrap_or(bytes.len());
            let mut start = stored.at + first as u64;
            if first == 0 {
                if !stored.continues {
                    return false;
                }
                start -= self.run_before(stored.object, stored.at);
            }
            let after = stored.at + end as u64;
            let fits = if end == bytes.len() {
                !start.is_multiple_of(LARGEST_ALIGNMENT) && after <= start.next_multiple_of(LARGEST_ALIGNMENT)
            } else {
                after - start < 1 << after.trailing_zeros().min(LARGEST_ALIGNMENT.trailing_zeros())
            };
            if !fits {
                return false;
            }
            next = end;
        }
        true
    }

    /// The number of undefined bytes directly before this offset.
    fn run_before(&self, object: u32, at: u64) -> u64 {
        let Some(before) = self.objects.get(&object).and_then(|bytes| bytes.get(..at as usize)) else {
            return 0;
        };
        before.iter().rev().take_while(|byte| **byte != 0).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poison::UNWRITTEN;

    fn fits(undefined: &Undefined, at: u64, lanes: &[Poison], size: u8, continues: bool) -> bool {
        undefined.can_be_padding(&Stored { object: 0, at, lanes, size, continues })
    }

    #[test]
    fn padding_follows_a_member_and_ends_at_an_alignment() {
        let undefined = Undefined::default();
        // struct { char c; long l; } in words: a byte and three of padding, then four of padding.
        assert!(fits(&undefined, 0, &[0b1110, UNWRITTEN], 4, false));
        assert!(fits(&undefined, 16, &[0b1110], 4, false));
        assert!(fits(&undefined, 20, &[UNWRITTEN], 4, true));
        // A variable of its own.
        assert!(!fits(&undefined, 20, &[UNWRITTEN], 4, false));
        // Two undefined bytes between others: no member begins at offset 3.
        assert!(!fits(&undefined, 0, &[0b0110], 4, false));
        // The first byte of an element.
        assert!(!fits(&undefined, 0, &[0b0001], 4, true));
    }

    #[test]
    fn padding_is_shorter_than_the_largest_alignment() {
        let mut undefined = Undefined::default();
        undefined.track(0, 512);
        undefined.bytes(0, 1, 63).expect("tracked").fill(1);
        assert!(fits(&undefined, 64, &[UNWRITTEN; 8], 8, true));
        undefined.bytes(0, 1, 127).expect("tracked").fill(1);
        assert!(!fits(&undefined, 128, &[UNWRITTEN; 8], 8, true));
    }
}
