//! What the disk cache keeps of a program: the driver's data for its pipelines, and which pipelines its launches used, so that
//! the next process builds them when it loads the program, before the first launch.

use crate::backend::Specialization;
use crate::interface::SpecId;

/// The maximum number of pipelines of a kernel to build in advance: a kernel whose constants differ in each launch gains nothing.
pub(super) const MAX_USED: usize = 4;

/// The contents of an entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// The used pipelines: the number of the kernel, and its constants. In order.
    pub(super) used: Vec<(u32, Specialization)>,
    /// The driver's pipeline cache.
    pub(super) data: Vec<u8>,
}

impl Stored {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![self.used.len() as u32];
        for (kernel, specialization) in &self.used {
            words.extend([*kernel, specialization.len() as u32]);
            words.extend(specialization.iter().flat_map(|(id, value)| [id.0, *value]));
        }
        words.into_iter().flat_map(u32::to_le_bytes).chain(self.data.iter().copied()).collect()
    }

    /// `None` if the bytes are not those of an entry.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut word = || {
            let (first, others) = rest.split_first_chunk::<4>()?;
            rest = others;
            Some(u32::from_le_bytes(*first))
        };
        let mut used = Vec::new();
        for _ in 0..word()? {
            let kernel = word()?;
            let count = word()?;
            let constants = (0..count).map(|_| Some((SpecId(word()?), word()?)));
            used.push((kernel, constants.collect::<Option<_>>()?));
        }
        Some(Self { used, data: rest.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    #[test]
    fn entries_can_be_read_again() {
        let used = vec![(0, smallvec![(SpecId(3), 64), (SpecId(4), u32::MAX)]), (7, smallvec![])];
        let stored = Stored { used, data: b"driver".to_vec() };
        let bytes = stored.to_bytes();
        assert_eq!(Stored::from_bytes(&bytes), Some(stored));
        assert_eq!(Stored::from_bytes(&Stored::default().to_bytes()), Some(Stored::default()));
        let without_data = bytes.len() - b"driver".len();
        assert!((0..without_data).all(|length| Stored::from_bytes(&bytes[..length]).is_none()));
    }
}
