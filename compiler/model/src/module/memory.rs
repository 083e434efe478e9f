//! The memory of a run: its private memory, and shared locations, whose values are chosen.

use std::collections::{BTreeMap, BTreeSet};

use spirv::MemoryAccess;

use super::{
    Unsupported,
    interface::{self, Bound},
    layout::Value,
    walk::{Run, Stop},
};
use crate::event::{Action, Event, Location, Object};

/// The operands of a plain access.
#[derive(Clone, Copy, Default)]
pub(super) struct Operands {
    is_non_private: bool,
    /// The scope for which the access itself is available or visible.
    scope: Option<u32>,
}

/// The known facts about the memory that work-items share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The addresses of the bytes that one work-item writes and another accesses.
    pub(super) bytes: BTreeSet<u64>,
}

/// An access to memory that other work-items can access too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) writes: bool,
    pub(super) is_atomic: bool,
}

impl Shared {
    fn contains(&self, address: u64, size: u64) -> bool {
        self.bytes.range(address..address + size).next().is_some()
    }
}

/// The initial value of a location.
pub(super) fn initial(bound: &Bound, address: u64, size: u64) -> u64 {
    (0..size).rev().fold(0, |all, at| all << 8 | u64::from(bound.initial(address + at)))
}

impl Run<'_> {
    /// The location of an address that other work-items access.
    pub(super) fn location(&self, address: u64, size: u64) -> Option<Location> {
        let (object, offset) = interface::object(address)?;
        if self.observer.is_some() {
            // Modules number their variables differently.
            let object = match object {
                Object::LocalVariable(id, group) => {
                    Object::LocalVariable(self.module.local_rank(id, self.bound), group)
                }
                other => other,
            };
            return Some(Location { object, offset });
        }
        self.shared.contains(address, size).then_some(Location { object, offset })
    }

    fn record(&mut self, access: Access) -> Result<(), Stop> {
        let address = access.address;
        if address >> 60 == 0 {
            return Err(Stop::Unsupported(Unsupported::Other("an access through a null pointer".to_owned())));
        }
        if interface::object(address).is_some() {
            self.accesses.push(access);
        }
        Ok(())
    }

    /// Reads a scalar: a chosen value if the location is shared.
    pub(super) fn read(&mut self, address: u64, size: u64, is_atomic: bool) -> Result<u64, Stop> {
        self.record(Access { address, size, writes: false, is_atomic })?;
        if let Some(location) = self.location(address, size) {
            if let Some(observer) = &mut self.observer {
                return Ok(observer.read(location, size, is_atomic));
            }
            let choice = self.choices.get(self.chosen).copied();
            self.chosen += 1;
            return choice.ok_or(Stop::Choose(address, size));
        }
        Ok(self.local_value(address, size))
    }

    /// The value that this run has written last, or the initial value.
    fn local_value(&self, address: u64, size: u64) -> u64 {
        let byte = |at: u64| self.bytes.get(&at).copied().unwrap_or_else(|| self.bound.initial(at));
        (0..size).rev().fold(0, |all, at| all << 8 | u64::from(byte(address + at)))
    }

    /// Writes a scalar.
    pub(super) fn write(&mut self, address: u64, size: u64, value: u64, is_atomic: bool) -> Result<(), Stop> {
        self.record(Access { address, size, writes: true, is_atomic })?;
        if let Some(location) = self.location(address, size)
            && let Some(observer) = &mut self.observer
        {
            observer.write(location, size, value, is_atomic);
            return Ok(());
        }
        self.bytes.extend((address..).zip(value.to_le_bytes()).take(size as usize));
        Ok(())
    }

    /// Reads the `MemoryAccess` operands.
    pub(super) fn operands(&self, words: &[u32]) -> Result<Operands, Stop> {
        let mask = MemoryAccess::from_bits_retain(words.first().copied().unwrap_or_default());
        let has_alignment = mask.contains(MemoryAccess::ALIGNED);
        let is_coherent = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE;
        let scope = words.get(1 + usize::from(has_alignment)).filter(|_| mask.intersects(is_coherent));
        let scope = scope.map(|id| self.scalar(*id)).transpose()?.map(|scope| scope as u32);
        Ok(Operands { is_non_private: mask.contains(MemoryAccess::NON_PRIVATE_POINTER), scope })
    }

    /// `OpLoad`: an event for each scalar that is shared.
    pub(super) fn load(&mut self, ty: u32, address: u64, access: Operands) -> Result<Value, Stop> {
        let mut value = Value::new();
        for (offset, size) in self.module.leaves(ty, self.bound)? {
            let scalar = self.read(address + offset, size, false)?;
            self.push_plain(Action::Read, address + offset, size, access, scalar);
            value.push(scalar);
        }
        Ok(value)
    }

    /// `OpStore`.
    pub(super) fn store(
        &mut self,
        ty: u32,
        address: u64,
        access: Operands,
        value: &[u64],
    ) -> Result<(), Stop> {
        for ((offset, size), scalar) in self.module.leaves(ty, self.bound)?.into_iter().zip(value) {
            self.write(address + offset, size, *scalar, false)?;
            self.push_plain(Action::Write, address + offset, size, access, *scalar);
        }
        Ok(())
    }

    fn push_plain(&mut self, action: Action, address: u64, size: u64, access: Operands, value: u64) {
        let Some(location) = self.location(address, size) else { return };
        let is_shared = !self.module.is_vulkan || access.is_non_private;
        let mut event = Event::plain(action, location, is_shared);
        if let Some(scope) = access.scope {
            event = Event { scope, is_coherent: true, ..event };
        }
        self.push(Event { read: value, written: value, ..event });
    }

    /// The last values written to arguments that no other work-item accesses.
    pub(super) fn results(&self) -> Vec<(Location, u64)> {
        let mut results = BTreeMap::new();
        for access in self.accesses.iter().filter(|access| access.writes) {
            let Some((object, offset)) = interface::object(access.address) else { continue };
            if !self.shared.contains(access.address, access.size) {
                results.insert(Location { object, offset }, self.local_value(access.address, access.size));
            }
        }
        results.into_iter().collect()
    }
}
