//! All memory that one work-item can access.
//!
//! Owns the resolution of addresses to bytes, with its checks. Must not depend on operations.

use super::{
    item::Private,
    races::{AccessInfo, Races, Shadow, Site, Thread},
    resource::Resource,
    undefined::Stored,
};
use crate::{
    memory::{Cells, Location, Objects, Space},
    poison::{BytePoison, Poison, UNWRITTEN, union},
    report::{Access, Problem, Use},
};

/// An object in local memory.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) cells: Cells,
    /// The poison of each byte, in strict mode.
    pub(crate) poison: Vec<BytePoison>,
}

/// The memory that a work-item can access.
pub(crate) struct View<'a> {
    pub(crate) global: &'a Objects,
    pub(crate) resources: &'a [Option<Resource>],
    pub(crate) local: &'a mut [Local],
    pub(crate) private: &'a mut Private,
    /// Strict: race detection for its accesses.
    pub(crate) race_check: Option<RaceCheck<'a>>,
}

/// The state of race detection.
pub(crate) struct RaceCheck<'a> {
    pub(crate) races: &'a mut Races,
    /// The recorded accesses to local memory of the group.
    pub(crate) shadow: &'a mut Shadow,
    pub(crate) thread: &'a mut Thread,
    pub(crate) at: Site,
    /// Whether the accesses are non-private.
    pub(crate) is_shared: bool,
}

/// The bytes of an access.
pub(crate) struct Resolved<'v> {
    pub(crate) cells: &'v Cells,
    /// The offset of the first byte.
    pub(crate) at: u64,
    /// Strict: the poison of each byte; `None` if all are defined.
    pub(crate) poison: Option<&'v mut [BytePoison]>,
}

impl View<'_> {
    /// The cells at an address, and the byte offset in them.
    #[inline(always)]
    pub(crate) fn locate(&self, address: u64, size: u64, access: Access) -> Result<(&Cells, u64), Problem> {
        let found = Location::from_address(address).and_then(|location| match location.space {
            Space::Global => {
                let cells: &Cells = self.global.buffer(location.object)?;
                cells.has(location.offset, size).then_some((cells, location.offset as u64))
            }
            Space::Local => {
                let cells = &self.local.get(location.object as usize)?.cells;
                cells.has(location.offset, size).then_some((cells, location.offset as u64))
            }
            Space::Private => Some((&self.private.cells, self.private.inside(location, size)?)),
            Space::Resource => {
                let found = resource(self.resources, location, size)?;
                Some((&*found.cells, found.start + location.offset as u64))
            }
            Space::Input => None,
        });
        found.ok_or_else(|| invalid_access(address, size, access))
    }

    /// Resolves an access: checks bounds and races, and records it.
    #[inline(always)]
    pub(crate) fn resolve<const CHECKS: bool>(
        &mut self,
        address: u64,
        size: u64,
        access: Access,
    ) -> Result<Resolved<'_>, Problem> {
        let is_write = access == Access::Write;
        if !CHECKS {
            let (cells, at) = self.locate(address, size, access)?;
            return Ok(Resolved { cells, at, poison: None });
        }
        let Some(location) = Location::from_address(address) else {
            return Err(invalid_access(address, size, access));
        };
        let at = location.offset as u64;
        let found = match location.space {
            Space::Global => {
                let cells =
                    self.global.buffer(location.object).filter(|cells| cells.has(location.offset, size));
                cells.map(|cells| Resolved { cells, at, poison: None })
            }
            Space::Local => {
                let local = self.local.get_mut(location.object as usize);
                local.filter(|local| local.cells.has(location.offset, size)).map(|Local { cells, poison }| {
                    Resolved { cells, at, poison: poison.get_mut(at as usize..(at + size) as usize) }
                })
            }
            Space::Private => {
                let at = self.private.inside(location, size);
                let Private { cells, poison, .. } = &mut *self.private;
                at.map(|at| Resolved { cells, at, poison: poison.get_mut(at as usize..(at + size) as usize) })
            }
            Space::Resource => {
                let found = resource(self.resources, location, size);
                found.map(|it| Resolved { cells: &it.cells, at: it.start + at, poison: None })
            }
            Space::Input => None,
        };
        let Some(mut found) = found else { return Err(invalid_access(address, size, access)) };
        let Some(race_check) = &mut self.race_check else { return Ok(found) };
        let accessed = match location.space {
            Space::Private | Space::Input => return Ok(found),
            Space::Global | Space::Local => location,
            Space::Resource => match resource(self.resources, location, size).and_then(|it| it.buffer) {
                Some(object) => Location { space: Space::Global, object, offset: found.at as i64 },
                None => return Ok(found),
            },
        };
        race_check.record_access(accessed, size, is_write)?;
        if accessed.space == Space::Global {
            found.poison = race_check.races.undefined.bytes(accessed.object, found.at, size);
        }
        Ok(found)
    }

    /// Strict: checks the alignment of an address.
    #[inline(always)]
    pub(crate) fn aligned(address: u64, align: u8, access: Access) -> Result<(), Problem> {
        if address & (u64::from(align) - 1) != 0 && align.is_power_of_two() {
            return Err(Problem::Misaligned { address, align: align.into(), access });
        }
        Ok(())
    }

    /// Strict: the poison of the bytes at an address; `None` if all are defined, and cannot be made undefined.
    pub(crate) fn poison(&mut self, address: u64, size: u64) -> Option<&mut [BytePoison]> {
        let location = Location::from_address(address)?;
        match location.space {
            Space::Local => {
                let poison = &mut self.local.get_mut(location.object as usize)?.poison;
                poison.get_mut(location.offset as usize..(location.offset as u64 + size) as usize)
            }
            Space::Private => {
                let start = self.private.inside(location, size)?;
                self.private.poison.get_mut(start as usize..(start + size) as usize)
            }
            Space::Global | Space::Resource => {
                let (object, at) = self.buffer_at(location, size)?;
                self.race_check.as_mut()?.races.undefined.bytes(object, at, size)
            }
            Space::Input => None,
        }
    }

    /// The buffer in global memory that contains these bytes, and the offset in it.
    fn buffer_at(&self, location: Location, size: u64) -> Option<(u32, u64)> {
        match location.space {
            Space::Global => Some((location.object, u64::try_from(location.offset).ok()?)),
            Space::Resource => {
                let found = resource(self.resources, location, size)?;
                Some((found.buffer?, found.start + location.offset as u64))
            }
            Space::Local | Space::Private | Space::Input => None,
        }
    }

    /// Strict: prepares global memory for a store of undefined bytes, or reports the store.
    #[cold]
    pub(crate) fn store_undefined(
        &mut self,
        address: u64,
        lanes: &[Poison],
        size: u8,
    ) -> Result<(), Problem> {
        let Some(location) = Location::from_address(address) else { return Ok(()) };
        if matches!(location.space, Space::Local | Space::Private) {
            return Ok(());
        }
        // The last of four components may be the padding of a 3-component vector.
        let why = union(if lanes.len() == 4 { &lanes[..3] } else { lanes });
        let buffer = self.buffer_at(location, u64::from(size) * lanes.len() as u64);
        let (Some((object, at)), Some(race_check)) = (buffer, &mut self.race_check) else {
            return if why == 0 { Ok(()) } else { Err(Problem::Poison(why, Use::Stored)) };
        };
        let continues = race_check.thread.stored == address;
        let stored = Stored { object, at, lanes, size, continues };
        let is_copy = race_check.races.is_untyped()
            && why & !UNWRITTEN == 0
            && race_check.races.undefined.can_be_padding(&stored);
        if why != 0 && !is_copy {
            return Err(Problem::Poison(why, Use::Stored));
        }
        if let Some(cells) = self.global.buffer(object) {
            race_check.races.undefined.track(object, cells.len());
        }
        Ok(())
    }

    /// Strict: checks an access for races, and records it. Shadow memory grows up to the access, so an access out of
    /// bounds is reported first.
    pub(crate) fn check_races(&mut self, address: u64, size: u64, is_write: bool) -> Result<(), Problem> {
        self.locate(address, size, if is_write { Access::Write } else { Access::Read })?;
        match (&mut self.race_check, Location::from_address(address)) {
            (Some(race_check), Some(location)) => race_check.record_access(location, size, is_write),
            _ => Ok(()),
        }
    }

    /// Strict: records where a store to global memory ended.
    #[inline(always)]
    pub(crate) fn note_stored(&mut self, address: u64, size: u64) {
        if let Some(race_check) = &mut self.race_check
            && Space::is_global(address)
        {
            race_check.thread.stored = address + size;
        }
    }

    /// Strict: begins to track the undefined bytes of the buffer at an address.
    fn track(&mut self, address: u64, size: u64) {
        let buffer = Location::from_address(address).and_then(|location| self.buffer_at(location, size));
        if let (Some((object, _)), Some(race_check)) = (buffer, &mut self.race_check)
            && let Some(cells) = self.global.buffer(object)
        {
            race_check.races.undefined.track(object, cells.len());
        }
    }

    /// Copies bytes with their poison.
    pub(crate) fn copy<const CHECKS: bool>(&mut self, to: u64, from: u64, size: u64) -> Result<(), Problem> {
        if size == 0 {
            return Ok(());
        }
        if CHECKS {
            self.check_races(from, size, false)?;
            self.check_races(to, size, true)?;
        }
        let (source, at) = self.locate(from, size, Access::Read)?;
        let mut bytes = vec![0; size as usize];
        source.read(at, &mut bytes);
        let (target, at) = self.locate(to, size, Access::Write)?;
        target.write(at, &bytes);
        if CHECKS {
            let poison = self.poison(from, size).map(|poison| poison.to_vec());
            if poison.as_ref().is_some_and(|poison| poison.iter().any(|byte| *byte != 0)) {
                self.track(to, size);
            }
            if let Some(target) = self.poison(to, size) {
                match poison {
                    Some(poison) => target.copy_from_slice(&poison),
                    None => target.fill(0),
                }
            }
        }
        Ok(())
    }
}

impl RaceCheck<'_> {
    #[inline(always)]
    fn record_access(&mut self, location: Location, size: u64, is_write: bool) -> Result<(), Problem> {
        let access = AccessInfo { is_write, atomic: None, at: self.at, is_shared: self.is_shared };
        self.races.record_access(self.shadow, self.thread, location, size, access)
    }

    /// Records an access to a texel or a packet, by the handle of the image or pipe and the index in it.
    pub(crate) fn record_handle_access(
        &mut self,
        handle: u64,
        number: u64,
        is_write: bool,
    ) -> Result<(), Problem> {
        let access = AccessInfo { is_write, atomic: None, at: self.at, is_shared: self.is_shared };
        self.races.record_handle_access(self.thread, handle, number, access)
    }
}

/// The resource that a variable is bound to, if these bytes are in bounds.
fn resource(resources: &[Option<Resource>], location: Location, size: u64) -> Option<&Resource> {
    let found = resources.get(location.object as usize)?.as_ref()?;
    let end = u64::try_from(location.offset).ok()?.checked_add(size)?;
    (end <= found.size).then_some(found)
}

/// The problem of an access outside every object.
fn invalid_access(address: u64, size: u64, access: Access) -> Problem {
    match Location::from_address(address) {
        // Small addresses are members of a structure at a null pointer.
        None if address < 1 << 20 => Problem::Null { access },
        _ => Problem::OutOfBounds { address, size, access },
    }
}
