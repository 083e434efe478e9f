//! The total order S of all seq_cst operations (OpenCL API 3.3.6.1).
//!
//! Nearly every condition on S is that one operation precedes another: they form a graph, which must have no cycle.
//! One depends on more. A seq_cst read of a value that no seq_cst operation wrote must not see a write that happens
//! before the last seq_cst write that precedes the read in S. For such reads, a search builds S from its beginning: what
//! may follow depends only on the set of operations that precede.

use std::collections::HashSet;

use super::Model;
use crate::{
    execution::{Execution, INITIAL},
    relation::{Relation, Set, members},
    verdict::{Rule, Violation},
};

/// A seq_cst read of a value that no seq_cst operation wrote.
struct Foreign {
    read: usize,
    source: usize,
    /// The seq_cst writes to the location.
    writes: Set,
}

/// Checks that an order S exists.
pub(super) fn check(model: &mut Model, execution: &Execution) -> Result<(), Violation> {
    if model.seq_cst.count_ones() < 2 {
        return Ok(());
    }
    let mut precedes = std::mem::take(&mut model.precedes);
    let result = check_with(model, execution, &mut precedes);
    model.precedes = precedes;
    result
}

/// Checks that an order S exists, in space for its pairs.
fn check_with(model: &Model, execution: &Execution, precedes: &mut Relation) -> Result<(), Violation> {
    let all = model.seq_cst;
    for a in members(all) {
        precedes.replace(a, (model.before[0].from(a) | model.before[1].from(a)) & all);
        if execution.frame.writes >> a & 1 != 0 {
            let later = execution.other_writes(a) & all;
            members(later).filter(|&b| execution.is_modified_before(a, b)).for_each(|b| precedes.add(a, b));
        }
    }
    let foreign = reads(all, execution, precedes);
    fences(all, execution, precedes);
    precedes.close_within(all);
    if let Some(event) = members(all).find(|&it| precedes.has(it, it)) {
        let other = members(precedes.from(event)).find(|it| *it != event && precedes.has(*it, event));
        return Err(Violation::new(Rule::TotalOrder, event, other.unwrap_or(event)));
    }
    match foreign.first() {
        Some(first) if !search(model, execution, all, &precedes.inverse(), &foreign) => {
            Err(Violation::new(Rule::TotalOrder, first.read, first.source))
        }
        _ => Ok(()),
    }
}

/// A seq_cst read sees the last seq_cst write that precedes it in S, or a write that is not seq_cst.
fn reads(all: Set, execution: &Execution, precedes: &mut Relation) -> Vec<Foreign> {
    let mut foreign = Vec::new();
    for read in members(all & execution.frame.reads) {
        let writes = execution.other_writes(read) & all;
        match execution.source[read] {
            // The initial value happens before every write, so that none may precede the read.
            INITIAL => precedes.extend(read, writes),
            source if all >> source & 1 != 0 => {
                precedes.add(source, read);
                let later = members(writes).filter(|&it| execution.is_modified_before(source, it));
                later.for_each(|write| precedes.add(read, write));
            }
            source if writes != 0 => foreign.push(Foreign { read, source, writes }),
            _ => {}
        }
    }
    foreign
}

/// The rules for seq_cst fences. Each forbids that one operation precedes another in S if a read of an atomic object
/// returns an older value than a write stores, or if one write is older than another.
fn fences(all: Set, execution: &Execution, precedes: &mut Relation) {
    let frame = &execution.frame;
    let fences = all & !frame.reads & !frame.writes;
    if fences == 0 {
        return;
    }
    for late in members(execution.writes() & frame.atomics) {
        // Fences after the later write.
        let fences_after = frame.before.from(late) & fences;
        for early in members(frame.same_location.from(late) & frame.atomics & execution.known & !(1 << late))
        {
            let is_write = frame.writes >> early & 1 != 0;
            let fences_before = frame.after.from(early) & fences;
            let reads_before =
                frame.reads >> early & 1 != 0 && execution.read_rank(early) < execution.rank[late];
            let writes_before = is_write && execution.is_modified_before(early, late);
            if !(reads_before || writes_before) {
                continue;
            }
            // The fence before the earlier access comes first, not the one after the later write.
            for fence in members(fences_before) {
                precedes.extend(fence, fences_after & !(1 << fence));
            }
            if reads_before {
                if all >> late & 1 != 0 {
                    members(fences_before).for_each(|fence| precedes.add(fence, late));
                }
                if all >> early & 1 != 0 {
                    precedes.extend(early, fences_after);
                }
            }
        }
    }
}

/// Whether the operations can be ordered so that no foreign read sees a write that happens before the last seq_cst write
/// before it.
fn search(
    model: &Model,
    execution: &Execution,
    all: Set,
    preceded_by: &Relation,
    foreign: &[Foreign],
) -> bool {
    let is_allowed = |next: usize, ordered: Set| {
        let Some(read) = foreign.iter().find(|it| it.read == next) else { return true };
        let last = members(read.writes & ordered).max_by_key(|&write| execution.rank[write]);
        let before = model.before(execution.frame.events[next].space);
        last.is_none_or(|last| !before.has(read.source, last))
    };
    let (mut seen, mut open) = (HashSet::new(), vec![0]);
    while let Some(ordered) = open.pop() {
        if ordered == all {
            return true;
        }
        for next in members(all & !ordered) {
            let then = ordered | 1 << next;
            if preceded_by.from(next) & !ordered == 0 && is_allowed(next, ordered) && seen.insert(then) {
                open.push(then);
            }
        }
    }
    false
}
