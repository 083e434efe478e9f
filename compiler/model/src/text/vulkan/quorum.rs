//! Barriers with a quorum, such as `cbar.acq_rel.wg.semsc0 1, 1, 2`: they end when that many work-items have arrived.
//!
//! If fewer work-items than the quorum arrive, a barrier never ends. If more arrive, it can end before the last ones do. These
//! late work-items do not wait: they see the earlier writes of the others, but the others do not see theirs. Each additional
//! work-item in time only makes the order stronger, so the executions with exactly the quorum in time have all outcomes.

/// Identifies the entry of a late work-item into a barrier, in the sum with the number of the work-item.
pub(super) const LATE: u32 = 1 << 16;

/// The work-items that arrive at a barrier after it has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct LateArrivals {
    /// The barrier; `None` if no work-item is late.
    instance: Option<String>,
    threads: Vec<usize>,
}

impl LateArrivals {
    /// Whether a work-item is late at a barrier.
    pub(super) fn contains(&self, thread: usize, instance: &str) -> bool {
        self.instance.as_deref() == Some(instance) && self.threads.contains(&thread)
    }
}

/// The instance of a barrier, and its quorum if it has one. `None` if the cell is not a barrier.
fn barrier(cell: &str) -> Option<(&str, Option<&str>)> {
    let (_, rest) = cell.trim().strip_prefix("cbar")?.split_once(' ')?;
    let mut parts = rest.split(',').map(str::trim);
    Some((parts.next()?, parts.nth(1)))
}

/// The work-items that execute a barrier.
fn arriving(rows: &[Vec<&str>], instance: &str) -> Vec<usize> {
    let of_row = |row: &Vec<&str>| -> Vec<usize> {
        let is_it = |cell: &str| barrier(cell).is_some_and(|it| it.0 == instance);
        row.iter().enumerate().filter(|(_, cell)| is_it(cell)).map(|(thread, _)| thread).collect()
    };
    rows.iter().flat_map(of_row).collect()
}

fn number(quorum: &str) -> Result<usize, String> {
    quorum.parse().map_err(|_| "the quorum is not a number".to_owned())
}

/// Whether fewer work-items have this barrier than its quorum.
pub(super) fn hangs(rows: &[Vec<&str>], instance: &str, quorum: &str) -> Result<bool, String> {
    Ok(arriving(rows, instance).len() < number(quorum)?)
}

/// The possible sets of late work-items.
pub(super) fn late_arrivals(rows: &[Vec<&str>]) -> Result<Vec<LateArrivals>, String> {
    let mut found: Option<(&str, usize, Vec<usize>)> = None;
    for cell in rows.iter().flatten() {
        let Some((instance, Some(quorum))) = barrier(cell) else { continue };
        let (quorum, threads) = (number(quorum)?, arriving(rows, instance));
        if threads.len() <= quorum || found.as_ref().is_some_and(|it| it.0 == instance) {
            continue;
        }
        let is_repeated = threads.iter().any(|it| threads.iter().filter(|other| *other == it).count() > 1);
        if found.is_some() || is_repeated || threads.len() > 16 {
            return Err("more work-items than their quorum arrive at several barriers".to_owned());
        }
        found = Some((instance, threads.len() - quorum, threads));
    }
    let Some((instance, count, threads)) = found else { return Ok(vec![LateArrivals::default()]) };
    let chosen = |set: u32| -> Vec<usize> {
        let is_one = |(index, _): &(usize, &usize)| set >> index & 1 != 0;
        threads.iter().enumerate().filter(is_one).map(|(_, thread)| *thread).collect()
    };
    let sets = (0..1_u32 << threads.len()).filter(|set| set.count_ones() as usize == count);
    Ok(sets.map(|set| LateArrivals { instance: Some(instance.to_owned()), threads: chosen(set) }).collect())
}
