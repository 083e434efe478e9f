//! The choices at each location: an order of its writes, and a write for each of its reads.

use super::{
    Error, Explorer, Pass, initial,
    search::{Search, ValueKind},
};
use crate::{
    event::{Action, Location, Skeleton},
    execution::{Frame, INITIAL},
    relation::Set,
    verdict::Verdict,
};

/// A location, and the events that access it.
pub(super) struct Cell {
    pub(super) location: Location,
    pub(super) initial: u64,
    /// Writes and read-modify-writes.
    pub(super) writes: Vec<usize>,
    /// Accesses that only read.
    reads: Vec<usize>,
    /// Whether the choices at this location neither synchronize work-items nor affect the order of seq_cst operations, because no
    /// access is atomic, or none reads.
    pub(super) never_synchronizes: bool,
}

/// If this many writes are never read, only the choice of the last one is enumerated, not their order.
const MIN_UNREAD_WRITES: usize = 5;

impl Cell {
    /// Whether only the last write matters.
    fn needs_only_last_write(&self, frame: &Frame) -> bool {
        let writes = &self.writes;
        self.never_synchronizes
            && self.reads.is_empty()
            && writes.len() >= MIN_UNREAD_WRITES
            && writes.iter().all(|&write| frame.events[write].action == Action::Write)
    }

    /// The set of its accesses.
    pub(super) fn accesses(&self) -> Set {
        self.writes.iter().chain(&self.reads).fold(0, |set, access| set | 1 << access)
    }

    /// Whether there is only one order of writes and one source of reads.
    pub(super) fn has_no_choice(&self) -> bool {
        self.writes.len() + self.reads.len() == 1
    }
}

/// The cells of a frame. Cells that can synchronize come first, to determine synchronization early. Among these, cells without
/// a choice come first.
pub(super) fn cells(frame: &Frame, skeleton: &Skeleton) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (index, event) in frame.events.iter().enumerate() {
        let Some(location) = event.location else { continue };
        let known = cells.iter().position(|cell| cell.location == location);
        let known = known.unwrap_or_else(|| {
            let initial = initial(skeleton, location);
            cells.push(Cell {
                location,
                initial,
                writes: Vec::new(),
                reads: Vec::new(),
                never_synchronizes: true,
            });
            cells.len() - 1
        });
        let cell = &mut cells[known];
        if event.writes() { cell.writes.push(index) } else { cell.reads.push(index) }
    }
    let has_fences = frame.events.iter().any(|it| it.is_fence() && it.is_seq_cst());
    for cell in &mut cells {
        let accesses = || cell.writes.iter().chain(&cell.reads).map(|&access| &frame.events[access]);
        let is_plain = accesses().all(|it| !it.is_atomic);
        let is_unread =
            cell.writes.len() >= MIN_UNREAD_WRITES && !accesses().any(|it| it.reads() || it.is_seq_cst());
        cell.never_synchronizes = is_plain || (is_unread && !has_fences);
    }
    cells.sort_by_key(|cell| (cell.never_synchronizes, !cell.has_no_choice(), cell.writes.len()));
    cells
}

impl Explorer<'_> {
    /// Visits the choices at a cell, and then those at the next.
    pub(super) fn visit_cell(&mut self, search: &mut Search<'_>, cell: usize) -> Result<(), Error> {
        if cell == search.synchronizing_cells && self.pass == Pass::Consistent {
            if cell == 0 {
                self.count()?;
            }
            search.verdict = search.checker.verdict(&search.execution);
            if matches!(search.verdict, Verdict::Impossible(_)) {
                return Ok(());
            }
        }
        if cell < search.cells.len() {
            if !self.options.explains && search.cells[cell].needs_only_last_write(&search.frame) {
                return self.visit_last(search, cell);
            }
            return self.visit_order(search, cell, 0, None);
        }
        match self.pass {
            Pass::Consistent => self.finish(search),
            Pass::Forbidden => {
                self.explain(search);
                Ok(())
            }
        }
    }

    /// Chooses the next write in the modification order, after `rank` writes that end with `last`.
    fn visit_order(
        &mut self,
        search: &mut Search<'_>,
        cell: usize,
        rank: usize,
        last: Option<usize>,
    ) -> Result<(), Error> {
        if rank == search.cells[cell].writes.len() {
            return self.visit_reads(search, cell, 0);
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
            if frame.events[write].action != Action::Modify {
                self.visit_values(search, (cell, rank, write))?;
                continue;
            }
            // A read-modify-write reads the last write before its own (OpenCL API 3.3.6.1), except for writes that Vulkan does
            // not order with it.
            let mut source = last;
            loop {
                let value = source.map_or(search.cells[cell].initial, |source| search.written[source]);
                if let Some(undo) = search.narrow(write, ValueKind::Read, value) {
                    search.execution.source[write] = source.unwrap_or(INITIAL);
                    let result = self.visit_values(search, (cell, rank, write));
                    search.undo(undo);
                    result?;
                }
                match source {
                    Some(other) if search.checker.are_unordered(write, other) => {
                        source = before(search, cell, other);
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Chooses the last write at a cell without reads. The others have any order that agrees with happens-before.
    fn visit_last(&mut self, search: &mut Search<'_>, cell: usize) -> Result<(), Error> {
        let writes = search.cells[cell].writes.clone();
        let all = writes.iter().fold(0, |set: Set, write| set | 1 << write);
        for &last in &writes {
            let Some(order) = search.order_ending_with(last, all) else { continue };
            for (rank, write) in (1..).zip(order) {
                search.execution.rank[write] = rank;
            }
            search.execution.known |= all;
            let mut before = None;
            while let Some(value) = search.next_written(last, before) {
                before = Some(value);
                let Some(undo) = search.narrow(last, ValueKind::Written, value) else { continue };
                search.written[last] = value;
                let result = self.count_choice().and_then(|()| self.visit_checked(search, cell));
                search.undo(undo);
                result?;
            }
            search.execution.known &= !all;
        }
        Ok(())
    }

    /// Chooses the value of a write, which is the next in the modification order, and continues.
    fn visit_values(
        &mut self,
        search: &mut Search<'_>,
        (cell, rank, write): (usize, usize, usize),
    ) -> Result<(), Error> {
        search.execution.rank[write] = rank + 1;
        let mut last = None;
        while let Some(value) = search.next_written(write, last) {
            last = Some(value);
            let Some(undo) = search.narrow(write, ValueKind::Written, value) else { continue };
            self.count_choice()?;
            search.written[write] = value;
            let result = self.with_access(search, write, &mut |explorer, search| {
                search.execution.rank[write] = rank + 1;
                explorer.visit_order(search, cell, rank + 1, Some(write))
            });
            search.undo(undo);
            result?;
        }
        Ok(())
    }

    /// Chooses the source of the next read.
    fn visit_reads(&mut self, search: &mut Search<'_>, cell: usize, from: usize) -> Result<(), Error> {
        let Some(&read) = search.cells[cell].reads.get(from) else {
            return self.visit_checked(search, cell);
        };
        let count = search.cells[cell].writes.len();
        for index in 0..=count {
            let (source, value) = match index {
                0 => (INITIAL, search.cells[cell].initial),
                _ => {
                    let write = search.cells[cell].writes[index - 1];
                    (write, search.written[write])
                }
            };
            let Some(undo) = search.narrow(read, ValueKind::Read, value) else { continue };
            self.count_choice()?;
            search.execution.source[read] = source;
            let result = self.with_access(search, read, &mut |explorer, search| {
                explorer.visit_reads(search, cell, from + 1)
            });
            search.undo(undo);
            result?;
        }
        Ok(())
    }

    /// Continues with an access whose source or position was chosen. A choice that cannot be part of a consistent execution is visited
    /// only to explain outcomes.
    fn with_access<'s>(
        &mut self,
        search: &mut Search<'s>,
        access: usize,
        next: &mut dyn FnMut(&mut Self, &mut Search<'s>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        search.execution.known |= 1 << access;
        let result = match self.pass {
            Pass::Forbidden => next(self, search),
            Pass::Consistent => {
                let state = search.checker.state();
                let is_possible = search.checker.add(&search.execution, access);
                let result = if is_possible { next(self, search) } else { Ok(()) };
                search.checker.undo(&state);
                result
            }
        };
        search.execution.known &= !(1 << access);
        result
    }

    /// Continues with the next cell.
    fn visit_checked(&mut self, search: &mut Search<'_>, cell: usize) -> Result<(), Error> {
        search.violations.truncate(cell + 1);
        if !search.has_no_check(cell) {
            self.count()?;
        }
        self.visit_cell(search, cell + 1)
    }
}

/// The write before this one in the modification order.
fn before(search: &Search<'_>, cell: usize, write: usize) -> Option<usize> {
    let execution = &search.execution;
    let is_ordered = |it: &usize| execution.known >> it & 1 != 0;
    let writes = search.cells[cell].writes.iter().copied();
    writes.filter(is_ordered).find(|it| execution.rank[*it] + 1 == execution.rank[write])
}
