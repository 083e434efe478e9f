//! The choices at each location: an order of its writes, and a write for each of its reads.

use super::{Error, Explorer, Search, initial};
use crate::{
    event::{Action, Location, Skeleton},
    execution::{Frame, INITIAL},
    relation::members,
    verdict::Violation,
};

/// A location, and the events that access it.
pub(super) struct Cell {
    pub(super) location: Location,
    pub(super) initial: u64,
    /// Writes and read-modify-writes.
    pub(super) writes: Vec<usize>,
    /// Accesses that only read.
    reads: Vec<usize>,
}

impl Cell {
    /// Whether there is only one order of writes and one source of reads.
    fn has_no_choice(&self) -> bool {
        self.writes.len() + self.reads.len() == 1
    }
}

/// The cells of a frame: first those without a choice, then those with atomic operations, so that synchronization is
/// determined early.
pub(super) fn cells(frame: &Frame, skeleton: &Skeleton) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (index, event) in frame.events.iter().enumerate() {
        let Some(location) = event.location else { continue };
        let known = cells.iter().position(|cell| cell.location == location);
        let known = known.unwrap_or_else(|| {
            let initial = initial(skeleton, location);
            cells.push(Cell { location, initial, writes: Vec::new(), reads: Vec::new() });
            cells.len() - 1
        });
        let list = if event.writes() { &mut cells[known].writes } else { &mut cells[known].reads };
        list.push(index);
    }
    let is_plain =
        |cell: &Cell| cell.writes.iter().chain(&cell.reads).all(|&access| !frame.events[access].is_atomic);
    cells.sort_by_key(|cell| (!cell.has_no_choice(), is_plain(cell), cell.writes.len()));
    cells
}

impl Explorer<'_> {
    /// Visits the choices at a cell, and then those at the next.
    pub(super) fn visit_cell(
        &mut self,
        search: &mut Search<'_>,
        cell: usize,
        violation: Option<Violation>,
    ) -> Result<(), Error> {
        if cell < search.cells.len() {
            return self.visit_order(search, cell, 0, None, violation);
        }
        let violation = match search.cells.is_empty() {
            true => {
                self.count()?;
                search.judge.check(&search.execution).err()
            }
            false => violation,
        };
        self.finish(search, violation)
    }

    /// Chooses the next write in the modification order, after `rank` writes that end with `last`.
    fn visit_order(
        &mut self,
        search: &mut Search<'_>,
        cell: usize,
        rank: usize,
        last: Option<usize>,
        violation: Option<Violation>,
    ) -> Result<(), Error> {
        if rank == search.cells[cell].writes.len() {
            return self.visit_reads(search, cell, 0, violation);
        }
        for index in 0..search.cells[cell].writes.len() {
            let write = search.cells[cell].writes[index];
            let execution = &search.execution;
            let is_ordered = |other: usize| execution.known >> other & 1 != 0;
            let frame = &search.frame;
            let own = frame.after.from(write) & frame.same_reference.from(write) & frame.writes;
            if is_ordered(write) || own & !execution.known != 0 {
                continue;
            }
            let is_modify = frame.events[write].action == Action::Modify;
            // A read-modify-write reads the last write before its own (OpenCL API 3.3.6.1), but for writes that Vulkan does not
            // order with it.
            let mut source = last;
            loop {
                let value = source.map_or(search.cells[cell].initial, |source| search.written[source]);
                if !is_modify || search.read[write] == value {
                    search.execution.source[write] = source.unwrap_or(INITIAL);
                    search.execution.rank[write] = rank + 1;
                    search.execution.known |= 1 << write;
                    let result = self.visit_order(search, cell, rank + 1, Some(write), violation);
                    search.execution.known &= !(1 << write);
                    result?;
                }
                match source {
                    Some(other) if is_modify && search.judge.is_free_of(write, other) => {
                        source = before(search, cell, other);
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Chooses the source of the next read.
    fn visit_reads(
        &mut self,
        search: &mut Search<'_>,
        cell: usize,
        from: usize,
        violation: Option<Violation>,
    ) -> Result<(), Error> {
        let Some(&read) = search.cells[cell].reads.get(from) else {
            return self.visit_checked(search, cell, violation);
        };
        let value = search.read[read];
        let count = search.cells[cell].writes.len();
        for index in 0..=count {
            let (source, written) = match index {
                0 => (INITIAL, search.cells[cell].initial),
                _ => {
                    let write = search.cells[cell].writes[index - 1];
                    (write, search.written[write])
                }
            };
            if written != value {
                continue;
            }
            search.execution.source[read] = source;
            if !self.options.explains && !is_coherent_in_item(search, read) {
                continue;
            }
            search.execution.known |= 1 << read;
            let result = self.visit_reads(search, cell, from + 1, violation);
            search.execution.known &= !(1 << read);
            result?;
        }
        Ok(())
    }

    /// Checks the execution after the choices at a cell, and continues with the next cell.
    fn visit_checked(
        &mut self,
        search: &mut Search<'_>,
        cell: usize,
        violation: Option<Violation>,
    ) -> Result<(), Error> {
        if search.cells[cell].has_no_choice() && cell + 1 < search.cells.len() {
            return self.visit_cell(search, cell + 1, violation);
        }
        self.count()?;
        let violation = violation.or_else(|| search.judge.check(&search.execution).err());
        if violation.is_some() && !self.options.explains {
            return Ok(());
        }
        self.visit_cell(search, cell + 1, violation)
    }
}

/// The write before this one in the modification order.
fn before(search: &Search<'_>, cell: usize, write: usize) -> Option<usize> {
    let execution = &search.execution;
    let is_ordered = |it: &usize| execution.known >> it & 1 != 0;
    let writes = search.cells[cell].writes.iter().copied();
    writes.filter(is_ordered).find(|it| execution.rank[*it] + 1 == execution.rank[write])
}

/// Whether a read agrees with the accesses of its own work-item to the location: it sees no older value than those
/// before it, and not the writes after it.
fn is_coherent_in_item(search: &Search<'_>, read: usize) -> bool {
    let (frame, execution) = (&search.frame, &search.execution);
    let own = frame.same_reference.from(read) & execution.known;
    let rank = execution.read_rank(read);
    let source = execution.source[read];
    // Vulkan orders only some of the writes to a location.
    let is_free = |write: usize| {
        source != INITIAL && write != INITIAL && source != write && search.judge.is_free_of(source, write)
    };
    let is_newer = |other: usize| match frame.writes >> other & 1 != 0 {
        true => execution.rank[other] <= rank || is_free(other),
        false => execution.read_rank(other) <= rank || is_free(execution.source[other]),
    };
    members(own & frame.after.from(read)).all(is_newer)
        && members(own & frame.before.from(read) & frame.writes)
            .all(|write| rank < execution.rank[write] || is_free(write))
}
