//! The interface for debuggers: a launch stops at statements, and a debugger reads and changes its state.
//!
//! Owns the state that a debugger can access. Must not depend on when a launch stops.

use std::{collections::VecDeque, fmt};

use crate::{
    Program, Report,
    execute::{Argument, Group, GroupPosition, Item, Local, Races, Shadow, State},
    memory::{Cells, Location, Objects, Space},
};

/// A debugger.
pub trait Monitor: fmt::Debug + Send + Sync {
    /// A work-item is about to execute a statement. Returns whether the launch stops here.
    fn stops_at(&self, point: &Point<'_>) -> bool;

    /// The launch has stopped. Returns how it continues.
    fn on_stop(&self, reason: Reason<'_>, stopped: &mut StoppedLaunch<'_, '_>) -> Resume;

    /// A work-item has returned from the kernel.
    fn on_return(&self, item: ItemId);

    /// The work-item that runs before the others of its group.
    fn focus(&self) -> Option<ItemId>;

    /// A kernel has printed.
    fn on_print(&self, text: &[u8]);
}

/// Why a launch has stopped.
#[derive(Debug, Clone, Copy)]
pub enum Reason<'a> {
    /// The debugger requested it.
    Requested,
    /// The launch ends with this report.
    Report(&'a Report),
}

/// How a launch continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Continues. After a report, the launch ends.
    Continue,
    /// Restarts, with the memory contents at its start.
    Rewind,
    /// Ends the launch.
    End,
}

/// Identifies a work-item in a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    /// The linear index of its group.
    pub group: u32,
    /// Its linear index in the group.
    pub index: u32,
}

/// A statement that a work-item has reached.
#[derive(Debug)]
pub struct Point<'a> {
    /// The work-item.
    pub item: WorkItem<'a>,
    /// The file name in the module.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// Whether the line differs from that of the previous statement in this call.
    pub is_new_line: bool,
    /// Whether the work-item has returned to this line from a call.
    pub returns: bool,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The name of the function.
    pub function: &'a str,
    /// The file name in the module. Empty if the module has no position.
    pub file: &'a str,
    /// The line, from 1; 0 if the module has no position.
    pub line: u32,
}

/// The memory of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRange {
    /// Its address.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// The owner of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOf {
    /// The device: global and constant memory.
    Device,
    /// A work-group: local memory.
    Group,
    /// A work-item: private memory.
    Item,
}

/// Bytes of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether each byte has been initialized.
    pub defined: Vec<bool>,
}

/// A write that the race detector has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The work-item. `None` for an asynchronous copy.
    pub item: Option<ItemId>,
    /// The file name in the module, and the line.
    pub position: Option<(String, u32)>,
}

/// A work-item that has started.
#[derive(Debug, Clone, Copy)]
pub struct WorkItem<'a> {
    pub(crate) position: GroupPosition<'a>,
    pub(crate) number: u32,
    pub(crate) item: &'a Item,
    pub(crate) global: &'a Objects,
    pub(crate) local: &'a [Local],
    pub(crate) races: &'a Races,
    pub(crate) shadow: &'a Shadow,
}

/// The state of a launch that has stopped.
pub struct StoppedLaunch<'w, 'l> {
    pub(crate) group: &'w mut Group<'l>,
    pub(crate) others: &'w mut VecDeque<Group<'l>>,
    pub(crate) global: &'w Objects,
    pub(crate) races: &'w Races,
    pub(crate) running: Option<ItemId>,
}

impl<'a> WorkItem<'a> {
    /// Its identity.
    pub fn id(&self) -> ItemId {
        ItemId { group: self.number, index: self.item.index }
    }

    /// `get_group_id`
    pub fn group_id(&self) -> [u32; 3] {
        self.position.id()
    }

    /// `get_local_id`
    pub fn local_id(&self) -> [u32; 3] {
        self.position.local_id(self.item.index)
    }

    /// `get_global_id`
    pub fn global_id(&self) -> [u64; 3] {
        self.position.global_id(self.item.index)
    }

    /// `get_local_size`, `get_global_size` and `get_num_groups`
    pub fn sizes(&self) -> [[u32; 3]; 3] {
        let launch = self.position.launch;
        [self.position.region.local, launch.global, launch.groups]
    }

    /// Whether it waits for others at a barrier or a collective function.
    pub fn is_waiting(&self) -> bool {
        matches!(self.item.state, State::Waiting(_))
    }

    /// The number of calls.
    pub fn depth(&self) -> usize {
        self.item.frames.len()
    }

    fn program(&self) -> &'a Program {
        self.position.program()
    }

    /// A call, by its distance from the innermost one.
    pub fn frame(&self, distance: usize) -> Option<Frame<'a>> {
        let program = self.program();
        let frame = self.item.frames.iter().rev().nth(distance)?;
        let function = &program.functions[frame.function as usize];
        // The position of a caller is after its call, as is that of a waiting work-item.
        let is_after_call = distance > 0 || self.is_waiting();
        let line = function.line(frame.position.saturating_sub(is_after_call.into()));
        let file = line.and_then(|line| program.files.get(line.file as usize));
        Some(Frame {
            function: &function.name,
            file: file.map_or("", String::as_str),
            line: line.map_or(0, |line| line.line),
        })
    }

    /// The `nth` private variable with this name, from 0, of a call.
    pub fn private(&self, distance: usize, name: &str, nth: usize) -> Option<MemoryRange> {
        let frame = self.item.frames.iter().rev().nth(distance)?;
        let objects = self.program().functions[frame.function as usize].objects.iter().zip(0u32..);
        let (object, number) = objects.filter(|(object, _)| object.name == name).nth(nth)?;
        Some(MemoryRange { address: Space::Private.address(frame.objects + number), size: object.size })
    }

    /// All private variables of a call, with their names.
    pub fn privates(&self, distance: usize) -> Vec<(&'a str, MemoryRange)> {
        let Some(frame) = self.item.frames.iter().rev().nth(distance) else { return Vec::new() };
        let objects = self.program().functions[frame.function as usize].objects.iter().zip(0u32..);
        let named = objects.filter(|(object, _)| !object.name.is_empty());
        named
            .map(|(object, number)| {
                let address = Space::Private.address(frame.objects + number);
                (object.name.as_str(), MemoryRange { address, size: object.size })
            })
            .collect()
    }

    /// All variables in local memory, with their names.
    pub fn locals(&self) -> Vec<(&'a str, MemoryRange)> {
        let objects = self.program().locals.iter().zip(0u32..);
        objects
            .map(|(object, number)| {
                let address = Space::Local.address(number);
                (object.name.as_str(), MemoryRange { address, size: object.size })
            })
            .collect()
    }

    /// The address of the object at an address, as an expression of the source, and the offset from its start in bytes.
    pub fn object_at(&self, address: u64) -> Option<(String, i64)> {
        let location = Location::from_address(address)?;
        let program = self.program();
        let (name, is_variable) = match location.space {
            Space::Global => {
                let start = location.space.address(location.object);
                match program.globals.iter().find(|(buffer, _)| buffer.address() == start) {
                    Some((_, name)) => (name.clone(), true),
                    None => (self.argument_at(start)?, false),
                }
            }
            Space::Local => match program.locals.get(location.object as usize) {
                Some(object) => (object.name.clone(), true),
                None => ("local memory".to_owned(), false),
            },
            Space::Private => {
                let object = self.item.private.object(location.object)?;
                let function = program.functions.get(object.function as usize)?;
                (function.objects.get(object.number as usize)?.name.clone(), true)
            }
            Space::Input | Space::Resource => return None,
        };
        let sign = if is_variable { "&" } else { "" };
        (!name.is_empty()).then_some((format!("{sign}{name}"), location.offset))
    }

    /// The name of the parameter whose buffer contains this address.
    fn argument_at(&self, start: u64) -> Option<String> {
        let launch = self.position.launch;
        let parameters = self.program().kernels[launch.kernel].parameters.iter();
        let is_there = |argument: &Argument| match argument {
            Argument::Bytes(bytes) => bytes.first_chunk().is_some_and(|bytes| {
                let found = Location::from_address(u64::from_le_bytes(*bytes));
                found.is_some_and(|found| found.space.address(found.object) == start)
            }),
            Argument::Local(_) => false,
        };
        let mut found = launch.arguments.iter().zip(parameters).filter(|(argument, _)| is_there(argument));
        found.next().map(|(_, parameter)| parameter.name.clone())
    }

    /// The first register of a parameter of a call.
    pub fn parameter(&self, distance: usize, index: usize) -> Option<u64> {
        let frame = self.item.frames.iter().rev().nth(distance)?;
        let slots = self.program().functions[frame.function as usize].parameter_slots();
        let slot: u32 = slots.get(..index)?.iter().sum();
        self.item.regs.get(frame.base + slot as usize).copied().filter(|_| index < slots.len())
    }

    /// The `nth` variable in local memory with this name, from 0.
    pub fn local(&self, name: &str, nth: usize) -> Option<MemoryRange> {
        let objects = self.program().locals.iter().zip(0u32..);
        let (object, number) = objects.filter(|(object, _)| object.name == name).nth(nth)?;
        Some(MemoryRange { address: Space::Local.address(number), size: object.size })
    }

    /// A variable in global or constant memory.
    pub fn global(&self, name: &str) -> Option<MemoryRange> {
        let (buffer, _) = self.program().globals.iter().find(|(_, known)| known == name)?;
        Some(MemoryRange { address: buffer.address(), size: buffer.size() })
    }

    /// The bytes at an address. `None` if some of them do not exist.
    pub fn read(&self, address: u64, size: u64) -> Option<Contents> {
        let location = Location::from_address(address)?;
        let (cells, at, poison) = self.cells(location, size)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        cells.read(at, &mut bytes);
        let poison = poison.and_then(|poison| poison.get(at as usize..(at + size) as usize));
        let defined = match poison {
            Some(poison) => poison.iter().map(|poison| *poison == 0).collect(),
            None => vec![true; bytes.len()],
        };
        Some(Contents { bytes, defined })
    }

    /// The owner of the memory at an address.
    pub fn memory_of(&self, address: u64) -> Option<MemoryOf> {
        match Location::from_address(address)?.space {
            Space::Global | Space::Resource => Some(MemoryOf::Device),
            Space::Local => Some(MemoryOf::Group),
            Space::Private => Some(MemoryOf::Item),
            Space::Input => None,
        }
    }

    /// The number of bytes from an address to the end of its object.
    pub fn bytes_to_end(&self, address: u64) -> Option<u64> {
        let location = Location::from_address(address)?;
        let size = match location.space {
            Space::Global => self.global.buffer(location.object)?.len(),
            Space::Local => self.local.get(location.object as usize)?.cells.len(),
            Space::Private => self.item.private.object(location.object)?.size,
            Space::Input | Space::Resource => return None,
        };
        size.checked_sub(u64::try_from(location.offset).ok()?)
    }

    /// The memory that contains an address, the byte offset in it, and its poison.
    fn cells(&self, location: Location, size: u64) -> Option<(&'a Cells, u64, Option<&'a [u8]>)> {
        match location.space {
            Space::Global => {
                let cells = self.global.buffer(location.object)?;
                cells.has(location.offset, size).then_some((cells, location.offset as u64, None))
            }
            Space::Local => {
                let local = self.local.get(location.object as usize)?;
                let found = (&local.cells, location.offset as u64, Some(&local.poison[..]));
                local.cells.has(location.offset, size).then_some(found)
            }
            Space::Private => {
                let private = &self.item.private;
                Some((&private.cells, private.inside(location, size)?, Some(&private.poison[..])))
            }
            Space::Input | Space::Resource => None,
        }
    }

    /// The last writes to the word at an address in global or local memory that the race detector has kept.
    pub fn last_writes(&self, address: u64) -> Vec<Write> {
        let Some(location) = Location::from_address(address) else { return Vec::new() };
        let program = self.program();
        let writes = self.races.writes(self.shadow, location).into_iter();
        writes
            .map(|(item, site)| Write {
                item,
                position: program
                    .line_at(site)
                    .and_then(|line| Some((program.files.get(line.file as usize)?.clone(), line.line))),
            })
            .collect()
    }
}

impl<'l> StoppedLaunch<'_, 'l> {
    /// The work-item that has stopped.
    pub fn running(&self) -> Option<ItemId> {
        self.running
    }

    /// The work-items that have started and have not returned, those of the running group first.
    pub fn items(&self) -> Vec<WorkItem<'_>> {
        let groups = std::iter::once(&*self.group).chain(&*self.others);
        groups.flat_map(|group| group.items(self.global, self.races)).collect()
    }

    /// A work-item.
    pub fn item(&self, id: ItemId) -> Option<WorkItem<'_>> {
        self.items().into_iter().find(|item| item.id() == id)
    }

    /// Writes bytes to memory as a work-item sees it. Returns whether they exist.
    pub fn write(&mut self, id: ItemId, address: u64, bytes: &[u8]) -> bool {
        let found = self.item(id).and_then(|item| {
            let location = Location::from_address(address)?;
            let (cells, at, _) = item.cells(location, bytes.len() as u64)?;
            cells.write(at, bytes);
            Some((location, at))
        });
        let Some((location, at)) = found else { return false };
        let mut groups = std::iter::once(&mut *self.group).chain(&mut *self.others);
        if let Some(group) = groups.find(|group| group.number() == id.group) {
            group.define(id.index, location, at as usize..at as usize + bytes.len());
        }
        true
    }
}
