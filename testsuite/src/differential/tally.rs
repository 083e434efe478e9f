//! How programs ended, in each way: figures and the time that they took.

use std::{collections::BTreeMap, fmt, ops::AddAssign, time::Duration};

use super::Way;

/// Of one way.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Runs with the right results.
    pub same: usize,
    /// Runs with others.
    pub different: usize,
    /// Runs that a device has not the features for.
    pub refused: usize,
    /// Runs that did not end in time.
    pub late: usize,
    /// Runs that ended otherwise.
    pub failed: usize,
    /// How long all runs took.
    pub time: Duration,
    /// The programs that are nobody's complaint: a reference did them alone in its way, or they took too long.
    pub seeds: Vec<u64>,
}

/// Of all.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub programs: usize,
    /// Programs with a complaint.
    pub different: usize,
    /// Programs about which there is no majority.
    pub unjudged: usize,
    /// By the names of the ways.
    pub ways: BTreeMap<String, Count>,
}

impl Tally {
    pub(super) fn of(&mut self, way: Way) -> &mut Count {
        self.ways.entry(way.to_string()).or_default()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.different += other.different;
        self.unjudged += other.unjudged;
        for (way, more) in other.ways {
            let count = self.ways.entry(way).or_default();
            count.same += more.same;
            count.different += more.different;
            count.refused += more.refused;
            count.late += more.late;
            count.failed += more.failed;
            count.time += more.time;
            count.seeds.extend(more.seeds);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { programs, different, unjudged, ways } = self;
        writeln!(f, "{programs} programs: {different} with a complaint, {unjudged} without a majority")?;
        writeln!(f, "{:32}  right  wrong  refused  late  failed  seconds", "")?;
        for (way, count) in ways {
            let Count { same, different, refused, late, failed, time, seeds } = count;
            let seconds = time.as_secs_f64();
            write!(f, "{way:32} {same:6} {different:6} {refused:8} {late:5} {failed:7} {seconds:8.1}")?;
            if !seeds.is_empty() {
                write!(f, "  {seeds:?}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
