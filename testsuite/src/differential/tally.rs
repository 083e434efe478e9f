//! Statistics of program runs by configuration: results and run times.

use std::{collections::BTreeMap, fmt, ops::AddAssign, time::Duration};

use super::Configuration;

/// The counts of one configuration.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Runs with the correct results.
    pub same: usize,
    /// Runs with different results.
    pub different: usize,
    /// Runs rejected because the device lacks a feature.
    pub rejected: usize,
    /// Runs that timed out.
    pub late: usize,
    /// Runs that failed otherwise.
    pub failed: usize,
    /// The total time of all runs.
    pub time: Duration,
    /// Programs that differ only in a reference, or that timed out.
    pub seeds: Vec<u64>,
}

/// The counts of all configurations.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of programs.
    pub programs: usize,
    /// The number of programs with a failure.
    pub different: usize,
    /// The number of programs without a majority result.
    pub unjudged: usize,
    /// The counts, by the name of the configuration.
    pub configurations: BTreeMap<String, Count>,
}

impl Tally {
    pub(super) fn count_mut(&mut self, configuration: Configuration) -> &mut Count {
        self.configurations.entry(configuration.to_string()).or_default()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.different += other.different;
        self.unjudged += other.unjudged;
        for (configuration, more) in other.configurations {
            let count = self.configurations.entry(configuration).or_default();
            count.same += more.same;
            count.different += more.different;
            count.rejected += more.rejected;
            count.late += more.late;
            count.failed += more.failed;
            count.time += more.time;
            count.seeds.extend(more.seeds);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { programs, different, unjudged, configurations } = self;
        writeln!(f, "{programs} programs: {different} with a complaint, {unjudged} without a majority")?;
        writeln!(f, "{:32}  right  wrong rejected  late  failed  seconds", "")?;
        for (configuration, count) in configurations {
            let Count { same, different, rejected, late, failed, time, seeds } = count;
            let seconds = time.as_secs_f64();
            write!(
                f,
                "{configuration:32} {same:6} {different:6} {rejected:8} {late:5} {failed:7} {seconds:8.1}"
            )?;
            if !seeds.is_empty() {
                write!(f, "  {seeds:?}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
