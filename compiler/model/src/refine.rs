//! Translation validation: proves that the emitted module behaves as the source, in every context up to a bound.
//!
//! A context determines what each read returns: for an atomic operation by its number in program order; for a plain access by
//! its location and the number of ordered operations before it, since no other work-item may write there in between. The
//! source runs in each context, as a module of the OpenCL environment without optimizations. The emitted module runs in the
//! same context and must follow it:
//!
//! - Each atomic operation, fence and barrier has a counterpart, in the same order, with the same location and the same values,
//!   whose order, scope and memory are at least those that OpenCL's operation needs on Vulkan (`strength`).
//! - Between two ordered operations, the module writes the same last values to the same bytes, and reads no byte that the source does
//!   not access there: no plain access is dropped, added or moved across an operation that orders it.
//! - Accesses to memory that the kernel both orders and writes are non-private.
//!
//! So in every context, a run of the emitted module is a run of the source with operations that are at least as strong, and
//! the module adds no execution. The proof is bounded by the contexts that are tried and the iterations of loops.

mod follow;
mod record;
mod strength;

use std::fmt;

use crate::module::{Launch, Module, Prepared, Unsupported};
use follow::Follow;
use record::{Facts, Record};

/// Why a module is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// The module behaves differently from the source.
    Differs(Difference),
    /// A module cannot be run.
    Unsupported(Unsupported),
}

impl From<Unsupported> for Unproved {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs(it) => write!(f, "work-item {}, line {}: {}", it.item, it.line, it.what),
            Self::Unsupported(what) => what.fmt(f),
        }
    }
}

/// A difference between the module and the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The work-item.
    pub item: usize,
    /// The line of the source; 0 if the module does not contain it.
    pub line: u32,
    /// The difference in words.
    pub what: String,
}

/// The extent of a proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// The runs that were compared.
    pub runs: usize,
    /// The runs that were not, because a loop has more iterations than the bound.
    pub cut: usize,
    /// The atomic operations, fences and barriers in these runs.
    pub operations: usize,
}

/// The work-items that are compared: the first ones, and the last.
const FIRST: usize = 4;

/// Compares a module of the Vulkan environment with one of the OpenCL environment, for these launches of a kernel. The
/// number of a launch determines what its reads return.
pub fn refine(source: &Module, target: &Module, launches: &[Launch]) -> Result<Proved, Unproved> {
    let mut records = Vec::new();
    let mut proved = Proved::default();
    for (seed, launch) in launches.iter().enumerate() {
        let prepared = Prepared::new(source, launch)?;
        let count = launch.global.iter().product::<u32>() as usize;
        let mut items: Vec<usize> = (0..count.min(FIRST)).collect();
        items.extend((count > FIRST).then(|| count - 1));
        for item in items {
            let mut record = Record::new(seed as u64);
            match prepared.run(item, &mut record)? {
                true => records.push((seed, item, record)),
                false => proved.cut += 1,
            }
        }
    }
    let facts = Facts::new(records.iter().map(|(_, _, record)| record));
    if facts.has_program_variables {
        let what = "program-scope variables cannot be compared".to_owned();
        return Err(Unsupported::Other(what).into());
    }
    if records.is_empty() {
        let what = "every run has loops with more iterations than are followed".to_owned();
        return Err(Unsupported::Other(what).into());
    }
    for (seed, item, record) in &records {
        // Loops of the emitted module can have other bounds, such as that of a compare-exchange that tries again.
        let launch =
            Launch { max_iterations: 4 * launches[*seed].max_iterations + 8, ..launches[*seed].clone() };
        let mut follow = Follow::new(record, &facts);
        let is_complete = Prepared::new(target, &launch)?.run(*item, &mut follow)?;
        if let Some((line, what)) = follow.finish(is_complete) {
            return Err(Unproved::Differs(Difference { item: *item, line, what }));
        }
        proved.runs += 1;
        proved.operations += record.operations.len();
    }
    Ok(proved)
}
