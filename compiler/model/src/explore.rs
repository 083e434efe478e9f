//! Enumerates the executions that a memory model permits for a launch: combines the runs of the work-items, orders the
//! writes to each location, assigns a write to each read, and checks each candidate against the model.
//!
//! The search enumerates choices, so it visits each consistent execution once without storing the previous ones. It
//! checks the choices for one location before it considers the next location. This is sound because the axioms are
//! monotone: more synchronization never makes a cycle disappear. Runs with the same operations but different values share
//! the relations that do not depend on values (`shape`). Values are not chosen in advance: choosing the source of a read
//! keeps only the runs that read the value of this source (`search`).
//!
//! Plain accesses do not synchronize. Once the choices at the locations with atomic accesses are made, happens-before, the
//! races and the order of seq_cst operations are known, and each plain access is checked only with those of its own location.

mod cells;
mod search;
mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    rc::Rc,
};

use crate::{
    event::{End, Event, Location, Position, Skeleton, Trace},
    execution::{Execution, Frame},
    opencl,
    verdict::{Rule, Verdict, Violation},
    vulkan,
};

use search::{Runs, Search};
use shape::{Shape, Shapes};

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The model of the Vulkan specification.
    Vulkan,
    /// The model of Vulkan for devices without `vulkanMemoryModelAvailabilityVisibilityChains`.
    VulkanWithoutChains,
    /// The model of the OpenCL specification.
    OpenCl,
}

/// The number of choices that count as one candidate execution in the budget.
const CHOICES: u64 = 16;

/// The options of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The maximum number of candidate executions.
    pub budget: u64,
    /// Whether to find outcomes that are forbidden, with the rule. This visits inconsistent executions too.
    pub explains: bool,
    /// Whether to stop at the first data race.
    pub stops_at_race: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { budget: 20_000_000, explains: false, stops_at_race: false }
    }
}

/// Why the executions cannot be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There are more candidates than the budget.
    TooMany(u64),
    /// An execution has too many events.
    TooLong,
    /// The exploration stopped at a data race, or at an outcome that decides the question.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(budget) => write!(f, "there are more than {budget} candidate executions"),
            Self::TooLong => f.write_str("an execution has too many memory accesses and fences"),
            Self::Stopped => f.write_str("the exploration stopped early"),
        }
    }
}

impl std::error::Error for Error {}

/// An execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The position of each work-item.
    pub positions: Vec<Position>,
    /// The events, in program order, with their work-items.
    pub events: Vec<(usize, Event)>,
    /// The write that each read reads from; `None` for the initial value, and for other events.
    pub reads_from: Vec<Option<usize>>,
    /// The position of each write in the modification order of its location, from 1; 0 for other events.
    pub rank: Vec<usize>,
}

/// A forbidden outcome: an inconsistent execution with this outcome, and the rule that it violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The rule that the execution violates.
    pub rule: Rule,
    /// The events that violate it.
    pub events: (usize, usize),
    /// The execution.
    pub witness: Witness,
}

/// A data race, or a barrier that not all work-items reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The work-items and events that race; `None` for a barrier.
    pub events: Option<(usize, usize)>,
    /// The work-items.
    pub items: (usize, usize),
    /// An execution with it.
    pub witness: Witness,
}

/// The possible outcomes of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The final values of [`Skeleton::parts`], each with the first execution that has them.
    pub allowed: BTreeMap<Vec<u64>, Witness>,
    /// The forbidden outcomes, with [`Options::explains`].
    pub forbidden: BTreeMap<Vec<u64>, Forbidden>,
    /// The data races and diverging barriers, by the instructions, which make the behavior undefined.
    pub undefined: BTreeMap<(u32, u32), Undefined>,
    /// Whether an execution has runs with longer loops. Without [`Launch::keeps_cut`](crate::Launch::keeps_cut) it is unknown.
    pub is_cut: bool,
    /// The outcomes of consistent executions with a data race.
    pub racing: BTreeSet<Vec<u64>>,
    /// The outcomes of consistent executions without a data race.
    pub racefree: BTreeSet<Vec<u64>>,
    /// The number of consistent executions.
    pub executions: u64,
    /// The number of executions that were checked.
    pub candidates: u64,
}

impl Outcomes {
    /// The allowed outcomes.
    pub fn values(&self) -> BTreeSet<&Vec<u64>> {
        self.allowed.keys().collect()
    }
}

/// Explores a launch.
pub fn explore(skeleton: &Skeleton, model: Model, options: Options) -> Result<Outcomes, Error> {
    explore_until(skeleton, model, options, &|_| false)
}

/// Explores a launch until an execution has an outcome that decides the question.
pub fn explore_until(
    skeleton: &Skeleton,
    model: Model,
    options: Options,
    decides: &dyn Fn(&[u64]) -> bool,
) -> Result<Outcomes, Error> {
    let mut found = run(skeleton, model, options, SearchGoal::Outcomes(decides))?;
    let Outcomes { allowed, forbidden, .. } = &mut found;
    forbidden.retain(|outcome, _| !allowed.contains_key(outcome));
    Ok(found)
}

/// A goal of an exploration that does not search for outcomes.
pub(crate) trait Goal {
    /// Whether to explore executions of these runs.
    fn wants(&mut self, traces: &[&Trace]) -> bool;

    /// Whether a consistent execution of these runs matches the goal.
    fn accepts(&self, execution: &Execution) -> bool;

    /// Records a matching execution. The exploration then skips other executions of the same runs.
    fn record(&mut self, witness: Witness);
}

/// Searches for executions of runs that need not be whole.
pub(crate) fn search(
    skeleton: &Skeleton,
    model: Model,
    options: Options,
    goal: &mut dyn Goal,
) -> Result<(), Error> {
    run(skeleton, model, options, SearchGoal::Goal(goal)).map(drop)
}

/// The goal of a search.
enum SearchGoal<'s> {
    /// All outcomes, or those until one that decides the question.
    Outcomes(&'s dyn Fn(&[u64]) -> bool),
    Goal(&'s mut dyn Goal),
}

fn run<'s>(
    skeleton: &'s Skeleton,
    model: Model,
    options: Options,
    goal: SearchGoal<'s>,
) -> Result<Outcomes, Error> {
    let shapes = Shapes::new(skeleton);
    let mut explorer = Explorer { skeleton, options, found: Outcomes::default(), choices: 0, goal };
    let mut chosen = Vec::new();
    match explorer.choose(&shapes, model, &mut chosen) {
        Ok(()) | Err(Error::Stopped) => Ok(explorer.found),
        Err(error) => Err(error),
    }
}

/// The memory model, prepared for one frame.
enum Judge {
    Vulkan(Box<vulkan::Model>),
    OpenCl(Box<opencl::Model>),
}

impl Judge {
    fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        match self {
            Self::Vulkan(model) => model.check(execution),
            Self::OpenCl(model) => model.check(execution),
        }
    }

    /// Checks an access, given the happens-before relation of the last `check`, with the known accesses of its location.
    fn check_access(&mut self, execution: &Execution, access: usize) -> Result<(), Violation> {
        match self {
            Self::Vulkan(model) => model.check_access(execution, access),
            Self::OpenCl(model) => model.check_access(execution, access),
        }
    }

    /// Whether an access is before another one of its location, by happens-before or Vulkan's location order.
    fn is_before(&self, execution: &Execution, a: usize, b: usize) -> bool {
        match self {
            Self::Vulkan(model) => model.is_located_before(a, b),
            Self::OpenCl(model) => model.happens_before(execution, a, b),
        }
    }

    /// Whether no modification order of the model contains both writes. Then the read-modify-write need not read from the other
    /// write.
    fn are_unordered(&self, modify: usize, other: usize) -> bool {
        match self {
            Self::Vulkan(model) => !model.are_ordered(modify, other),
            Self::OpenCl(_) => false,
        }
    }

    fn judge(&mut self, execution: &Execution) -> Verdict {
        match self {
            Self::Vulkan(model) => model.judge(execution),
            Self::OpenCl(model) => model.judge(execution),
        }
    }
}

struct Explorer<'s> {
    skeleton: &'s Skeleton,
    options: Options,
    found: Outcomes,
    /// The number of choices: combinations of shapes, positions of writes and sources of reads.
    choices: u64,
    goal: SearchGoal<'s>,
}

impl Explorer<'_> {
    /// Chooses a shape for each work-item.
    fn choose<'t>(
        &mut self,
        shapes: &'t Shapes,
        model: Model,
        chosen: &mut Vec<&'t Shape>,
    ) -> Result<(), Error> {
        let Some(next) = shapes.items.get(chosen.len()) else {
            let Some(possible) = shapes.possible(chosen) else { return self.count_choice() };
            return self.combine(chosen, possible, model);
        };
        let has_goal = matches!(self.goal, SearchGoal::Goal(_));
        for shape in next.iter().filter(|shape| has_goal || shape.trace.is_whole()) {
            self.count_choice()?;
            chosen.push(shape);
            let result = match shape::can_be_supplied(chosen, &shapes.items[chosen.len()..]) {
                true => self.choose(shapes, model, chosen),
                false => Ok(()),
            };
            chosen.pop();
            result?;
        }
        Ok(())
    }

    /// Explores the runs with these shapes and values.
    fn combine(&mut self, shapes: &[&Shape], possible: Vec<Vec<u32>>, model: Model) -> Result<(), Error> {
        let traces: Vec<_> = shapes.iter().map(|shape| &shape.trace).collect();
        if let SearchGoal::Goal(goal) = &mut self.goal
            && !goal.wants(&traces)
        {
            return Ok(());
        }
        let frame = Frame::new(&traces, &self.skeleton.positions, &self.skeleton.system);
        let frame = Rc::new(frame.ok_or(Error::TooLong)?);
        let vulkan = |has_chains| {
            let model = vulkan::Model::new(&frame, has_chains).ok_or(Error::TooLong)?;
            Ok(Judge::Vulkan(Box::new(model)))
        };
        let judge = match model {
            Model::Vulkan => vulkan(true)?,
            Model::VulkanWithoutChains => vulkan(false)?,
            Model::OpenCl => Judge::OpenCl(Box::new(opencl::Model::new(&frame))),
        };
        let cells = cells::cells(&frame, self.skeleton);
        let find = |part: &Location| cells.iter().position(|cell| cell.location == *part);
        let initial = |part: &Location| initial(self.skeleton, *part);
        let mut first = 0;
        let runs = shapes.iter().zip(possible).map(|(shape, possible)| {
            let start = first;
            first += shape.trace.events.len();
            Runs { shape, possible, first: start }
        });
        let mut search = Search {
            judge,
            shared: self.skeleton.parts.iter().map(find).collect(),
            execution: Execution::new(Rc::clone(&frame)),
            written: vec![0; frame.count()],
            runs: runs.collect(),
            outcome: self.skeleton.parts.iter().map(initial).collect(),
            verdict: Verdict::Possible,
            diverges: frame.divergence(),
            is_cut: shapes.iter().any(|shape| shape.trace.end == End::Cut),
            synchronizing_cells: cells.iter().filter(|cell| !cell.never_synchronizes).count(),
            cells,
            frame,
        };
        match self.visit_cell(&mut search, 0, None) {
            Err(Error::Stopped) if matches!(self.goal, SearchGoal::Goal(_)) => Ok(()),
            result => result,
        }
    }

    /// Records the result of a complete candidate.
    fn finish(&mut self, search: &mut Search<'_>, violation: Option<Violation>) -> Result<(), Error> {
        let violation = violation.or_else(|| search.racing_read());
        let verdict = violation.map_or(search.verdict, Verdict::Impossible);
        if let SearchGoal::Goal(goal) = &mut self.goal {
            if matches!(verdict, Verdict::Impossible(_)) || !goal.accepts(&search.execution) {
                return Ok(());
            }
            goal.record(search.witness());
            return Err(Error::Stopped);
        }
        let outcome = search.outcome();
        match verdict {
            Verdict::Impossible(violation) => {
                if self.options.explains {
                    self.forbid(search, outcome, violation);
                }
                return Ok(());
            }
            Verdict::Race(a, b) => {
                self.undefine(search, Some((a, b)), (a, b));
                self.found.racing.insert(outcome.clone());
            }
            Verdict::Possible if search.is_cut => {}
            Verdict::Possible => drop(self.found.racefree.insert(outcome.clone())),
        }
        let stops = self.options.stops_at_race && !self.found.racing.is_empty();
        if search.is_cut {
            self.found.is_cut = true;
            return if stops { Err(Error::Stopped) } else { Ok(()) };
        }
        if let Some(items) = search.diverges {
            self.undefine(search, None, items);
        }
        self.found.executions += 1;
        let decides = matches!(self.goal, SearchGoal::Outcomes(decides) if decides(&outcome));
        self.found.allowed.entry(outcome).or_insert_with(|| search.witness());
        if stops || decides { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Records a forbidden outcome. Of several explanations, keeps the one by the rule that is checked last, whose execution
    /// is the nearest to a consistent one.
    fn forbid(&mut self, search: &Search<'_>, outcome: Vec<u64>, violation: Violation) {
        let known = self.found.forbidden.get(&outcome);
        if known.is_none_or(|known| known.rule < violation.rule) {
            let events = (violation.first, violation.second);
            let forbidden = Forbidden { rule: violation.rule, events, witness: search.witness() };
            self.found.forbidden.insert(outcome, forbidden);
        }
    }

    fn undefine(&mut self, search: &Search<'_>, events: Option<(usize, usize)>, pair: (usize, usize)) {
        let frame = &search.frame;
        let (key, items) = match events {
            Some((a, b)) => ((frame.events[a].site, frame.events[b].site), (frame.items[a], frame.items[b])),
            None => ((u32::MAX, u32::MAX), pair),
        };
        let entry = self.found.undefined.entry(key);
        entry.or_insert_with(|| Undefined { events, items, witness: search.witness() });
    }

    /// Counts a choice. An error if the budget is exceeded.
    fn count_choice(&mut self) -> Result<(), Error> {
        self.choices += 1;
        match self.choices / CHOICES > self.options.budget {
            true => Err(Error::TooMany(self.options.budget)),
            false => Ok(()),
        }
    }

    /// Counts a candidate. An error if the budget is exceeded.
    fn count(&mut self) -> Result<(), Error> {
        self.found.candidates += 1;
        match self.found.candidates > self.options.budget {
            true => Err(Error::TooMany(self.options.budget)),
            false => Ok(()),
        }
    }
}

/// The initial value of a location.
fn initial(skeleton: &Skeleton, location: Location) -> u64 {
    skeleton.initial.iter().find(|(known, _)| *known == location).map_or(0, |it| it.1)
}
