//! Records: the commands that kernels write to a queue.
//!
//! Owns their decoding. A kernel may have written anything, so an invalid record ends the list. Must not depend on how
//! commands are executed.

use kiln_vocabulary::device_queue::record;

/// The number of an event, which is not 0.
pub(super) type EventId = u32;

/// A command that a kernel has enqueued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) work: Work,
    /// The events that it waits for.
    pub(super) waits: Vec<EventId>,
    /// Its event, if the kernel uses one.
    pub(super) event: Option<EventId>,
    /// The number of the command whose kernel enqueued it.
    pub(super) parent: u32,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Kernel(Child),
    Marker,
    /// Stores the times of the event by a block.
    Profile {
        block: u32,
        address: [u8; 8],
    },
}

/// A kernel to launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) block: u32,
    /// The values that the block captures.
    pub(super) captures: Vec<u8>,
    /// The sizes of local memory.
    pub(super) locals: Vec<u32>,
    pub(super) space: Space,
}

impl Child {
    /// A block for one work-item.
    pub(super) fn single(block: u32, captures: Vec<u8>) -> Self {
        let space = Space { dimensions: 1, offset: [0; 3], local: [1; 3], global: [1; 3] };
        Self { block, captures, locals: Vec::new(), space }
    }
}

/// An index space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) dimensions: u32,
    pub(super) offset: [u32; 3],
    /// Zeros if the runtime chooses it.
    pub(super) local: [u32; 3],
    pub(super) global: [u32; 3],
}

/// The records in these words.
pub(super) fn decode(mut words: &[u32]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(&bytes) = words.first()
        && let Some((record, rest)) = words.split_at_checked(bytes as usize / 4)
        && let Some(record) = decode_record(record)
    {
        records.push(record);
        words = rest;
    }
    records
}

fn decode_record(words: &[u32]) -> Option<Record> {
    let (fixed, rest) = words.split_at_checked(record::WORDS as usize)?;
    let number = |index: u32| fixed[index as usize];
    let three = |index: u32| [0, 1, 2].map(|dimension| number(index + dimension));
    let (waits, rest) = rest.split_at_checked(number(record::WAITS) as usize)?;
    let (locals, rest) = rest.split_at_checked(number(record::LOCALS) as usize)?;
    let padding = (waits.len() + locals.len()) % 2;
    let captures: Vec<u8> = rest.iter().skip(padding).flat_map(|word| word.to_le_bytes()).collect();
    let captures = captures.get(..number(record::CAPTURES) as usize)?;
    let block = number(record::BLOCK);
    let work = match number(record::KIND) {
        record::KERNEL => Work::Kernel(Child {
            block,
            captures: captures.to_vec(),
            locals: locals.to_vec(),
            space: Space {
                dimensions: number(record::DIMENSIONS),
                offset: three(record::SPACE),
                local: three(record::SPACE + 3),
                global: three(record::SPACE + 6),
            },
        }),
        record::MARKER => Work::Marker,
        record::PROFILE => Work::Profile { block, address: *captures.first_chunk()? },
        _ => return None,
    };
    let event = Some(number(record::EVENT)).filter(|event| *event != 0);
    Some(Record { work, waits: waits.to_vec(), event, parent: number(record::PARENT) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, event: u32, waits: &[u32], locals: &[u32], captures: &[u32]) -> Vec<u32> {
        let mut words =
            vec![0, kind, 7, event, waits.len() as u32, locals.len() as u32, 4 * captures.len() as u32];
        words.extend([2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]);
        words.extend(waits.iter().chain(locals));
        words.resize(words.len().next_multiple_of(2), 0);
        words.extend(captures);
        words.resize(words.len().next_multiple_of(2), 0);
        words[0] = 4 * words.len() as u32;
        words
    }

    #[test]
    fn records_are_decoded() {
        let kernel = record(record::KERNEL, 3, &[1, 2], &[16], &[0x0403_0201]);
        let mut words = [kernel, record(record::MARKER, 0, &[3], &[], &[])].concat();
        words.extend(record(record::PROFILE, 3, &[], &[], &[8, 9]));
        words.extend([0, 1, 2]);
        let found = decode(&words);
        let child = Child {
            block: 7,
            captures: vec![1, 2, 3, 4],
            locals: vec![16],
            space: Space { dimensions: 2, offset: [1, 2, 3], local: [4, 5, 6], global: [7, 8, 9] },
        };
        assert_eq!(
            found[0],
            Record { work: Work::Kernel(child), waits: vec![1, 2], event: Some(3), parent: 11 }
        );
        assert_eq!(found[1], Record { work: Work::Marker, waits: vec![3], event: None, parent: 11 });
        let address = [8, 0, 0, 0, 9, 0, 0, 0];
        let work = Work::Profile { block: 7, address };
        assert_eq!(found[2], Record { work, waits: vec![], event: Some(3), parent: 11 });
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn arbitrary_words_can_be_decoded() {
        for bytes in [4, 8, 72, 80, u32::MAX] {
            let mut words = vec![u32::MAX; 40];
            words[0] = bytes;
            assert_eq!(decode(&words), []);
        }
    }
}
