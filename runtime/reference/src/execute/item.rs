//! A work-item: its registers, its calls, its private memory.
//!
//! Owns what one work-item has to itself. It must never know other work-items.

use super::races::Thread;
use crate::{
    code::{Function, Position, Slot},
    memory::{Cells, OBJECTS, Place, Space},
    poison::{BytePoison, Poison, UNWRITTEN, UNWRITTEN_BYTE},
    report::Problem,
};

/// Calls deeper than this are an error: the language has no recursion.
const MOST_FRAMES: usize = 200;
/// Private memory of one work-item.
const MOST_PRIVATE: u64 = 1 << 28;
/// Registers behind a function's own, so that a malformed operation touches nothing of others.
const MARGIN: usize = 32;

/// A work-item.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub(crate) regs: Vec<u64>,
    /// Of each register, for the strict device.
    pub(crate) poison: Vec<Poison>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) private: Private,
    /// In the group.
    pub(crate) index: u32,
    pub(crate) state: State,
    /// As the memory model sees it.
    pub(crate) thread: Thread,
    /// Jumps so far.
    pub(crate) steps: u64,
}

/// Where a work-item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    #[default]
    Ready,
    /// For others, at this meeting.
    Waiting(u32),
    Done,
}

/// A function that is being executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    pub(crate) position: Position,
    /// Its first register.
    pub(crate) base: usize,
    /// Where the caller wants the result.
    pub(crate) to: Slot,
    /// The first of its variables, by its number, and the private memory in use before it.
    pub(crate) objects: u32,
    used: u64,
}

/// Private memory.
#[derive(Debug, Default)]
pub(crate) struct Private {
    pub(crate) cells: Cells,
    /// Of each byte, for the strict device.
    pub(crate) poison: Vec<BytePoison>,
    pub(crate) objects: Vec<PrivateObject>,
    used: u64,
    /// How many calls there have been, so that a pointer to a variable names it and none that comes later in its place.
    calls: u32,
}

/// Bits of a variable's number that count variables; those above count calls.
const COUNTED: u32 = 14;
const COUNT: u32 = (1 << COUNTED) - 1;

/// A variable's place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrivateObject {
    pub(crate) start: u64,
    pub(crate) size: u64,
    call: u32,
    pub(crate) function: u32,
    /// Among the function's variables.
    pub(crate) number: u32,
}

impl Item {
    /// Makes it a work-item that is about to begin.
    pub(crate) fn reset(&mut self, index: u32) {
        self.frames.clear();
        self.regs.clear();
        self.poison.clear();
        self.private.objects.clear();
        self.private.calls = 0;
        self.private.used = 0;
        self.index = index;
        self.state = State::Ready;
        self.steps = 0;
    }

    /// Begins a function; its parameters are to be filled in.
    pub(crate) fn enter<const CHECKS: bool>(
        &mut self,
        number: u32,
        function: &Function,
        to: Slot,
    ) -> Result<(), Problem> {
        if self.frames.len() >= MOST_FRAMES {
            return Err(Problem::Depth);
        }
        let base = self.regs.len();
        self.regs.resize(base + function.slots as usize + MARGIN, 0);
        let regs = &mut self.regs[base..];
        for &(slot, value) in &function.presets {
            regs[slot as usize] = value;
        }
        if CHECKS {
            self.poison.resize(self.regs.len(), 0);
            for &(slot, count) in &function.undefined {
                self.poison[base + slot as usize..][..count as usize].fill(UNWRITTEN);
            }
        }
        let private = &mut self.private;
        private.calls = (private.calls + 1) % (OBJECTS >> COUNTED);
        let (objects, used) = (private.calls << COUNTED | private.objects.len() as u32, private.used);
        for (object, count) in function.objects.iter().zip(0..) {
            private.push::<CHECKS>(number, count, object.size, object.align)?;
        }
        self.frames.push(Frame { function: number, position: 0, base, to, objects, used });
        Ok(())
    }

    /// Ends the innermost function.
    pub(crate) fn leave(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.regs.truncate(frame.base);
        self.poison.truncate(frame.base);
        self.private.objects.truncate((frame.objects & COUNT) as usize);
        self.private.used = frame.used;
        Some(frame)
    }

    /// Where it is.
    pub(crate) fn at(&self) -> (u32, Position) {
        self.frames.last().map_or((0, 0), |frame| (frame.function, frame.position))
    }

    /// Registers of the innermost function.
    pub(crate) fn values(&mut self, slot: Slot, count: usize) -> &mut [u64] {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        &mut self.regs[base + slot as usize..][..count]
    }

    /// The poison of registers of the innermost function; empty without checks.
    pub(crate) fn poison(&mut self, slot: Slot, count: usize) -> &mut [Poison] {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        match self.poison.get_mut(base + slot as usize..) {
            Some(rest) if rest.len() >= count => &mut rest[..count],
            _ => &mut [],
        }
    }
}

impl Private {
    /// A new object; its number is that of its address.
    pub(crate) fn push<const CHECKS: bool>(
        &mut self,
        function: u32,
        number: u32,
        size: u64,
        align: u64,
    ) -> Result<u64, Problem> {
        let start = self.used.next_multiple_of(align.max(8));
        let end = start.checked_add(size).filter(|end| *end <= MOST_PRIVATE).ok_or(Problem::Memory)?;
        self.used = end;
        self.cells.reserve(end);
        if CHECKS {
            if (self.poison.len() as u64) < end {
                self.poison.resize(end as usize, 0);
            }
            self.poison[start as usize..end as usize].fill(UNWRITTEN_BYTE);
        }
        let index = self.objects.len() as u32;
        if index > COUNT {
            return Err(Problem::Memory);
        }
        self.objects.push(PrivateObject { start, size, call: self.calls, function, number });
        Ok(Space::Private.address(self.calls << COUNTED | index))
    }

    /// Gives an object its first bytes; those behind them are zeros.
    pub(crate) fn initialise<const CHECKS: bool>(&mut self, address: u64, bytes: &[u8]) {
        let object = Place::of(address).and_then(|place| self.object(place.object)).copied();
        let Some(PrivateObject { start, size, .. }) = object else { return };
        let bytes = &bytes[..bytes.len().min(size as usize)];
        self.cells.write(start, bytes);
        self.cells.zero(start + bytes.len() as u64, size - bytes.len() as u64);
        if CHECKS {
            self.poison[start as usize..(start + size) as usize].fill(0);
        }
    }

    /// The object of a number; none if its function has returned.
    pub(crate) fn object(&self, number: u32) -> Option<&PrivateObject> {
        let object = self.objects.get((number & COUNT) as usize)?;
        (object.call == number >> COUNTED).then_some(object)
    }

    /// Where bytes of an object are among all; none if they do not lie within it.
    #[inline]
    pub(crate) fn inside(&self, place: Place, size: u64) -> Option<u64> {
        let object = self.object(place.object)?;
        let offset = u64::try_from(place.offset).ok()?;
        (offset.checked_add(size)? <= object.size).then_some(object.start + offset)
    }
}
