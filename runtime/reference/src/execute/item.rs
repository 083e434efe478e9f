//! A work-item: registers, call stack, private memory.
//!
//! Owns the state of one work-item. Must not depend on other work-items.

use super::{polls::Polls, races::Thread};
use crate::{
    code::{Function, Position, Slot},
    memory::{Cells, Location, OBJECTS, Space},
    poison::{BytePoison, Poison, UNWRITTEN, UNWRITTEN_BYTE},
    report::Problem,
};

/// The maximum call depth. OpenCL C has no recursion.
const MAX_FRAMES: usize = 200;
/// The maximum size of a work-item's private memory.
const MAX_PRIVATE_BYTES: u64 = 1 << 28;
/// Extra registers after a function's own, so that a malformed operation cannot access those of others.
const MARGIN: usize = 32;

/// A work-item.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub(crate) regs: Vec<u64>,
    /// The poison of each register, in strict mode.
    pub(crate) poison: Vec<Poison>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) private: Private,
    /// The index in its group.
    pub(crate) index: u32,
    pub(crate) state: State,
    /// Its state in the memory model.
    pub(crate) thread: Thread,
    /// The number of steps so far, as in `Options::steps`.
    pub(crate) steps: u64,
    pub(crate) polls: Polls,
    /// Whether a debugger has stopped it.
    pub(crate) is_stopped: bool,
}

/// The state of a work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    #[default]
    Ready,
    /// Waiting for others, at this collective operation.
    Waiting(u32),
    Done,
}

/// The frame of a called function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    pub(crate) position: Position,
    /// Its first register.
    pub(crate) base: usize,
    /// The caller's register for the result.
    pub(crate) to: Slot,
    /// The number of its first variable, and the private memory in use before the call.
    pub(crate) objects: u32,
    used: u64,
    /// The file and line of the last statement, for a debugger.
    pub(crate) line: (u32, u32),
}

/// Private memory.
#[derive(Debug, Default)]
pub(crate) struct Private {
    pub(crate) cells: Cells,
    /// The poison of each byte, in strict mode.
    pub(crate) poison: Vec<BytePoison>,
    pub(crate) objects: Vec<PrivateObject>,
    used: u64,
    /// The number of calls so far. It is part of a variable's number, so that dangling pointers do not match later
    /// variables.
    calls: u32,
}

/// The bits of a variable's number that count variables; the higher bits count calls.
const VARIABLE_BITS: u32 = 14;
const VARIABLE_MASK: u32 = (1 << VARIABLE_BITS) - 1;

/// A variable in private memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrivateObject {
    pub(crate) start: u64,
    pub(crate) size: u64,
    call: u32,
    pub(crate) function: u32,
    /// The index among the function's variables.
    pub(crate) number: u32,
}

impl Item {
    /// Resets the work-item for reuse.
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
        self.polls.clear();
        self.is_stopped = false;
    }

    /// Enters a function; the caller sets its parameters.
    pub(crate) fn enter<const CHECKS: bool>(
        &mut self,
        number: u32,
        function: &Function,
        to: Slot,
    ) -> Result<(), Problem> {
        if self.frames.len() >= MAX_FRAMES {
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
        private.calls = (private.calls + 1) % (OBJECTS >> VARIABLE_BITS);
        let (objects, used) = (private.calls << VARIABLE_BITS | private.objects.len() as u32, private.used);
        for (object, count) in function.objects.iter().zip(0..) {
            private.push::<CHECKS>(number, count, object.size, object.align)?;
        }
        self.frames.push(Frame { function: number, position: 0, base, to, objects, used, line: (0, 0) });
        Ok(())
    }

    /// Leaves the innermost function.
    pub(crate) fn leave(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.regs.truncate(frame.base);
        self.poison.truncate(frame.base);
        self.private.objects.truncate((frame.objects & VARIABLE_MASK) as usize);
        self.private.used = frame.used;
        Some(frame)
    }

    /// The current function and position.
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
    /// Allocates an object; its address contains its number.
    pub(crate) fn push<const CHECKS: bool>(
        &mut self,
        function: u32,
        number: u32,
        size: u64,
        align: u64,
    ) -> Result<u64, Problem> {
        let start = self.used.next_multiple_of(align.max(8));
        let end = start.checked_add(size).filter(|end| *end <= MAX_PRIVATE_BYTES).ok_or(Problem::Memory)?;
        self.used = end;
        self.cells.reserve(end);
        if CHECKS {
            if (self.poison.len() as u64) < end {
                self.poison.resize(end as usize, 0);
            }
            self.poison[start as usize..end as usize].fill(UNWRITTEN_BYTE);
        }
        let index = self.objects.len() as u32;
        if index > VARIABLE_MASK {
            return Err(Problem::Memory);
        }
        self.objects.push(PrivateObject { start, size, call: self.calls, function, number });
        Ok(Space::Private.address(self.calls << VARIABLE_BITS | index))
    }

    /// Initializes an object; the remaining bytes are zeros.
    pub(crate) fn initialize<const CHECKS: bool>(&mut self, address: u64, bytes: &[u8]) {
        let object =
            Location::from_address(address).and_then(|location| self.object(location.object)).copied();
        let Some(PrivateObject { start, size, .. }) = object else { return };
        let bytes = &bytes[..bytes.len().min(size as usize)];
        self.cells.write(start, bytes);
        self.cells.zero(start + bytes.len() as u64, size - bytes.len() as u64);
        if CHECKS {
            self.poison[start as usize..(start + size) as usize].fill(0);
        }
    }

    /// The object with this number; `None` if its function has returned.
    pub(crate) fn object(&self, number: u32) -> Option<&PrivateObject> {
        let object = self.objects.get((number & VARIABLE_MASK) as usize)?;
        (object.call == number >> VARIABLE_BITS).then_some(object)
    }

    /// The offset of an object's bytes in private memory; `None` if out of bounds.
    #[inline]
    pub(crate) fn inside(&self, location: Location, size: u64) -> Option<u64> {
        let object = self.object(location.object)?;
        let offset = u64::try_from(location.offset).ok()?;
        (offset.checked_add(size)? <= object.size).then_some(object.start + offset)
    }
}
