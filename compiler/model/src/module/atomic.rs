//! Atomic operations, fences and barriers.

use spirv::Op;

use super::{
    Unsupported, alu,
    walk::{Run, Stop},
};
use crate::event::{Action, Event, Space, scope, semantics};

impl Run<'_> {
    /// An atomic operation with a result.
    pub(super) fn atomic(&mut self, op: Op, words: &[u32]) -> Result<u64, Stop> {
        let operand = |index: usize| words.get(index).copied().unwrap_or_default();
        let (address, is_flag) = (self.scalar(operand(2))?, op == Op::AtomicFlagTestAndSet);
        let width = if is_flag { 32 } else { self.module.width(operand(0))? };
        let size = u64::from(width / 8);
        let old = self.read(address, size, true)?;
        let (action, mask, new) = match op {
            Op::AtomicLoad => (Action::Read, operand(4), 0),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                if old == self.scalar(operand(7))? {
                    (Action::Modify, operand(4), self.scalar(operand(6))?)
                } else {
                    (Action::Read, operand(5), 0)
                }
            }
            _ => {
                let by = if words.len() > 5 { self.scalar(operand(5))? } else { 0 };
                let new = alu::modify(op, width, old, by)
                    .ok_or_else(|| Unsupported::Instruction(format!("Op{op:?}")))?;
                (Action::Modify, operand(4), new)
            }
        };
        if action == Action::Modify {
            self.write(address, size, new, true)?;
        }
        self.push_atomic(action, (address, size), (operand(3), mask), (old, new))?;
        Ok(if is_flag { u64::from(old != 0) } else { old })
    }

    /// An atomic operation without a result.
    pub(super) fn atomic_store(&mut self, op: Op, words: &[u32]) -> Result<(), Stop> {
        let address = self.scalar(words[0])?;
        let (size, value) = match op {
            Op::AtomicFlagClear => (4, 0),
            _ => {
                let width = self.module.width(self.module.type_of(words[3])?)?;
                (u64::from(width / 8), self.scalar(words[3])?)
            }
        };
        self.write(address, size, value, true)?;
        self.push_atomic(Action::Write, (address, size), (words[1], words[2]), (0, value))
    }

    /// An atomic operation on a location that no other work-item accesses is an event too if it has an order: on Vulkan
    /// it makes writes available, and values visible.
    fn push_atomic(
        &mut self,
        action: Action,
        (address, size): (u64, u64),
        (scope, mask): (u32, u32),
        (read, written): (u64, u64),
    ) -> Result<(), Stop> {
        let (mut scope, mask) = (self.scalar(scope)? as u32, self.scalar(mask)? as u32);
        let object = super::interface::object(address).map(|it| it.0);
        if let Some(shared) = self.bound.launch.shared_local
            && object.is_some_and(|it| it.space() == Space::Local)
        {
            scope = shared;
        }
        if let Some(location) = self.location(address, size) {
            self.push(Event { read, written, ..Event::atomic(action, location, scope, mask) });
        } else if let Some(object) = object
            && mask & semantics::ORDERS != 0
        {
            self.push(Event::atomic(action, self.unshared(object.space()), scope, mask));
        }
        Ok(())
    }

    /// `OpMemoryBarrier`.
    pub(super) fn fence(&mut self, scope: u32, mask: u32) -> Result<(), Stop> {
        let (scope, mask) = (self.scalar(scope)? as u32, self.scalar(mask)? as u32);
        if mask & semantics::ORDERS != 0 {
            self.push(Event::fence(Action::Fence, scope, mask));
        }
        Ok(())
    }

    /// `OpControlBarrier`: a release fence at the entry, and an acquire fence at the exit.
    pub(super) fn barrier(&mut self, words: &[u32]) -> Result<(), Stop> {
        let word = |index: usize| Ok::<u32, Stop>(self.scalar(words[index])? as u32);
        let (execution, memory, mask) = (word(0)?, word(1)?, word(2)?);
        let orders = semantics::ORDERS | semantics::MAKE_AVAILABLE | semantics::MAKE_VISIBLE;
        let half = |holds: bool, bits: u32| if holds { mask & !orders | mask & bits } else { 0 };
        let release = half(mask & semantics::RELEASES != 0, semantics::MAKE_AVAILABLE);
        let acquire = half(mask & semantics::ACQUIRES != 0, semantics::MAKE_VISIBLE);
        let execution = if execution == scope::SUBGROUP { execution } else { scope::WORKGROUP };
        let release = if release == 0 { 0 } else { release | semantics::RELEASE };
        let acquire = if acquire == 0 { 0 } else { acquire | semantics::ACQUIRE };
        self.push(Event { execution, ..Event::fence(Action::Arrive, memory, release) });
        self.push(Event { execution, ..Event::fence(Action::Leave, memory, acquire) });
        Ok(())
    }
}
