//! Where the contents of memory objects are, in contexts with several devices.
//!
//! Each device that uses an object has memory of its own for it. Before a command, an update copies what other devices
//! have written to the memory of the command's device. Only events order the commands of several devices, so an update
//! determines what to copy when it runs, not when it is enqueued. The parts of a buffer are tracked separately, because
//! several devices may write different sub-buffers at the same time (OpenCL API 5.2.1).

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kiln_runtime::{Error, Queue};

use crate::memory::{Content, Memory};

/// What a command does with the contents of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It does not change them, so the copies of other devices stay valid.
    Read,
    /// It may change them.
    Write,
}

/// The devices that have the contents of an object.
pub(crate) struct Residence {
    state: Mutex<State>,
    /// Held while contents are copied.
    moving: Mutex<()>,
}

struct State {
    /// All bytes of the object, in order.
    segments: Vec<Segment>,
    /// The number of updates that have not ended.
    updates: usize,
    /// The number of commands that may change the contents and may not have ended.
    writers: usize,
}

/// Bytes that the same devices have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    range: Range<usize>,
    /// Whether each device of the context has the newest contents.
    has: Vec<bool>,
}

impl State {
    /// The segments of a range, which must not be empty. Splits those at its ends.
    fn cover(&mut self, range: &Range<usize>) -> &mut [Segment] {
        for bound in [range.start, range.end] {
            let inside = |segment: &Segment| segment.range.start < bound && bound < segment.range.end;
            if let Some(at) = self.segments.iter().position(inside) {
                let mut rest = self.segments[at].clone();
                self.segments[at].range.end = bound;
                rest.range.start = bound;
                self.segments.insert(at + 1, rest);
            }
        }
        let first = self.segments.partition_point(|segment| segment.range.end <= range.start);
        let last = self.segments.partition_point(|segment| segment.range.start < range.end);
        &mut self.segments[first..last]
    }

    /// Claims bytes for a command on a device, which becomes their only owner if the command may change them. Returns
    /// `false`, and changes nothing, if the device must be updated first.
    fn claim(&mut self, range: &Range<usize>, index: usize, access: Access) -> bool {
        self.join();
        if self.updates > 0 || !self.cover(range).iter().all(|segment| segment.has[index]) {
            return false;
        }
        if access == Access::Write {
            self.own(range, index);
        }
        true
    }

    /// Joins neighbors that the same devices have: programs with many ranges keep few segments.
    fn join(&mut self) {
        self.segments.dedup_by(|next, segment| {
            let is_same = next.has == segment.has;
            if is_same {
                segment.range.end = next.range.end;
            }
            is_same
        });
    }

    /// Makes a device the only one that has the contents.
    fn own(&mut self, range: &Range<usize>, index: usize) {
        for segment in self.cover(range) {
            segment.has.fill(false);
            segment.has[index] = true;
        }
    }

    /// The bytes that a device lacks, and a device that has them.
    fn lacking(&mut self, range: &Range<usize>, index: usize) -> Vec<(Range<usize>, usize)> {
        let lacks = self.cover(range).iter().filter(|segment| !segment.has[index]);
        let with_source = lacks.filter_map(|segment| {
            let source = segment.has.iter().position(|has| *has)?;
            Some((segment.range.clone(), source))
        });
        with_source.collect()
    }

    /// Records that a device has been updated. While a command may still change the contents, the copy is only for the
    /// command that requested it.
    fn record_update(&mut self, range: &Range<usize>, index: usize, access: Access) {
        match access {
            Access::Write => self.own(range, index),
            Access::Read if self.writers == 0 => {
                self.cover(range).iter_mut().for_each(|segment| segment.has[index] = true);
            }
            Access::Read => {}
        }
    }
}

impl Residence {
    /// An object of this size. `owner` is the device with its initial contents; `None` if they are undefined.
    pub(crate) fn new(size: usize, devices: usize, owner: Option<usize>) -> Arc<Self> {
        let has = (0..devices).map(|index| owner.is_none_or(|owner| index == owner)).collect();
        let segments = vec![Segment { range: 0..size, has }];
        let state = Mutex::new(State { segments, updates: 0, writers: 0 });
        Arc::new(Self { state, moving: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command that may change the contents. It is dropped after the command has ended.
pub(crate) struct Writing(Arc<Residence>);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.state().writers -= 1;
    }
}

/// Copies the newest contents to a device, before a command that uses them.
pub(crate) struct Update {
    /// The object that owns the memory.
    root: Arc<Memory>,
    range: Range<usize>,
    index: usize,
    access: Access,
}

/// What a command needs before and while it uses an object on a device.
#[derive(Default)]
pub(crate) struct Use {
    pub(crate) update: Option<Update>,
    pub(crate) writing: Option<Writing>,
}

/// Announces that a command on a device uses bytes of an object that owns its memory.
pub(crate) fn announce(root: &Arc<Memory>, range: Range<usize>, index: usize, access: Access) -> Use {
    if root.homes.len() == 1 {
        return Use::default();
    }
    let residence = &root.residence;
    let mut state = residence.state();
    let is_claimed = state.claim(&range, index, access);
    state.updates += usize::from(!is_claimed);
    state.writers += usize::from(access == Access::Write);
    drop(state);
    Use {
        update: (!is_claimed).then(|| Update { root: root.clone(), range, index, access }),
        writing: (access == Access::Write).then(|| Writing(residence.clone())),
    }
}

impl Update {
    /// Copies, and waits.
    pub(crate) fn run(self) -> kiln_runtime::Result<()> {
        let residence = &self.root.residence;
        let _moving = residence.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let lacking = residence.state().lacking(&self.range, self.index);
        for (range, source) in lacking {
            copy(self.side(source)?, self.side(self.index)?, range)?;
        }
        residence.state().record_update(&self.range, self.index, self.access);
        Ok(())
    }

    /// The memory on a device, and a queue of the device.
    fn side(&self, index: usize) -> kiln_runtime::Result<(&Queue, &Content)> {
        let queue = self.root.context.devices()[index].open().ok().map(|opened| &opened.transfers);
        let found = queue.zip(self.root.homes[index].get());
        found.ok_or_else(|| Error::WrongDevice { object: "a memory object".to_owned() })
    }
}

impl Drop for Update {
    fn drop(&mut self) {
        self.root.residence.state().updates -= 1;
    }
}

/// Copies contents from one device to another. Images and pipes are copied as a whole.
fn copy(
    (source, from): (&Queue, &Content),
    (target, to): (&Queue, &Content),
    range: Range<usize>,
) -> kiln_runtime::Result<()> {
    match (from, to) {
        (Content::Buffer(from), Content::Buffer(to)) => {
            let bytes = source.read(&from.slice(range.clone())?)?;
            target.write(&to.slice(range)?, &bytes)?.wait()
        }
        (Content::Image(from), Content::Image(to)) => {
            for level in 0..from.count() {
                let texels = source.read_image::<u8>(&from.level(level)?)?;
                target.write_image(&to.level(level)?, &texels)?.wait()?;
            }
            Ok(())
        }
        (Content::Pipe(from), Content::Pipe(to)) => match (from.memory(), to.memory()) {
            (Some(from), Some(to)) => target.write(&to, &source.read(&from)?)?.wait(),
            _ => Err(Error::WrongDevice { object: "a pipe".to_owned() }),
        },
        // The contents of one object have one kind.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(owner: Option<usize>) -> State {
        let residence = Residence::new(100, 2, owner);
        Arc::into_inner(residence).expect("it is the only one").state.into_inner().expect("no panic")
    }

    #[test]
    fn readers_share_and_writers_own() {
        let mut state = state(Some(0));
        assert!(state.claim(&(0..100), 0, Access::Read));
        assert!(!state.claim(&(0..100), 1, Access::Read));
        assert_eq!(state.lacking(&(0..100), 1), [(0..100, 0)]);
        state.record_update(&(0..100), 1, Access::Read);
        assert!(state.claim(&(0..100), 1, Access::Read) && state.claim(&(0..100), 0, Access::Read));
        assert!(state.claim(&(0..100), 1, Access::Write));
        assert!(!state.claim(&(0..100), 0, Access::Read));
    }

    #[test]
    fn parts_have_separate_owners() {
        let mut state = state(None);
        assert!(state.claim(&(0..50), 0, Access::Write) && state.claim(&(50..100), 1, Access::Write));
        assert_eq!(state.lacking(&(0..100), 0), [(50..100, 1)]);
        assert_eq!(state.lacking(&(25..75), 1), [(25..50, 0)]);
        state.record_update(&(25..75), 1, Access::Write);
        assert_eq!(state.lacking(&(0..100), 0), [(25..50, 1), (50..75, 1), (75..100, 1)]);
    }

    #[test]
    fn many_ranges_keep_few_segments() {
        let mut state = state(Some(0));
        for start in 0..50 {
            assert!(state.claim(&(start * 2..start * 2 + 1), 0, Access::Write));
            assert!(!state.claim(&(start..start + 1), 1, Access::Read));
            assert!(state.segments.len() <= 3);
        }
        state.record_update(&(10..20), 1, Access::Write);
        assert_eq!(state.lacking(&(0..100), 0), [(10..20, 1)]);
        assert!(state.claim(&(0..10), 0, Access::Read));
        assert_eq!(state.segments.len(), 3);
    }

    #[test]
    fn a_copy_is_not_kept_while_a_command_may_write() {
        let mut state = state(Some(0));
        state.writers = 1;
        state.record_update(&(0..100), 1, Access::Read);
        assert!(!state.claim(&(0..100), 1, Access::Read));
        state.writers = 0;
        state.updates = 1;
        assert!(!state.claim(&(0..100), 0, Access::Read), "an update may change the owner");
    }
}
