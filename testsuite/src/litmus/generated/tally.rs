//! Checks many generated programs on all processors, and counts the findings.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Finding, Program, Statements, program};

/// Which programs to check.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The number of the first program.
    pub first: u64,
    /// The number of programs.
    pub count: u64,
    /// The number of threads.
    pub threads: usize,
    /// Start no program after this time.
    pub time: Option<Duration>,
    /// Where the statements of the programs are.
    pub statements: Statements,
}

/// The findings in many programs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The programs that were checked.
    pub checked: u64,
    /// Those with a data race in OpenCL.
    pub racing: u64,
    /// Those with too many executions.
    pub undecided: u64,
    /// Those whose outcomes were compared.
    pub compared: u64,
    /// Of the compared ones, those with barriers.
    pub with_barriers: u64,
    /// Of the compared ones, those with 8 operations or more.
    pub long: u64,
    /// Of the compared ones, those whose module loses outcomes that OpenCL allows.
    pub stronger: u64,
    /// The consistent executions of the compared ones.
    pub executions: u64,
    /// The unsound ones, each with its number.
    pub unsound: Vec<(u64, String)>,
}

impl Tally {
    fn add(&mut self, (number, program): (u64, &Program), finding: Finding) {
        self.checked += 1;
        match finding {
            Finding::Racing => self.racing += 1,
            Finding::Undecided => self.undecided += 1,
            Finding::Sound { executions, lost } => {
                self.compared += 1;
                self.with_barriers += u64::from(program.has_barrier);
                self.long += u64::from(program.operations >= 8);
                self.stronger += u64::from(lost > 0);
                self.executions += executions;
            }
            Finding::Unsound(what) => self.unsound.push((number, what)),
        }
    }
}

/// Checks the programs.
pub fn check_all(limit: Limit) -> Tally {
    let begin = Instant::now();
    let next = AtomicU64::new(limit.first);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..limit.threads.max(1) {
            scope.spawn(|| {
                while limit.time.is_none_or(|time| begin.elapsed() < time) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number - limit.first >= limit.count {
                        return;
                    }
                    let program = program(number, limit.statements);
                    let finding = program.check();
                    tally.lock().expect("no worker panics with the lock").add((number, &program), finding);
                }
            });
        }
    });
    tally.into_inner().expect("no worker panicked")
}
