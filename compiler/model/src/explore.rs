//! Enumerates the executions that a memory model permits for a launch: combines the runs of the work-items, orders the
//! writes to each location, assigns a write to each read, and checks each candidate against the model.
//!
//! The search enumerates choices, so it visits each consistent execution once without storing the previous ones. It
//! checks the choices for one location before it considers the next location. This is sound because the axioms are
//! monotone: more synchronization never makes a cycle disappear. A model adds each choice to its relations, and undoes it.
//! Runs with the same operations but different values share the relations that do not depend on values (`trace_class`). Values are not
//! chosen in advance: choosing the source of a read keeps only the runs that read the value of this source (`search`).
//!
//! Plain accesses do not synchronize. Once the choices at the locations with atomic accesses are made, happens-before, the
//! races and the order of seq_cst operations are known, and each plain access is checked only with those of its own location.
//!
//! A second pass explains the outcomes that no consistent execution has (`explain`).

mod cells;
mod checker;
mod explain;
mod search;
mod trace_class;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    rc::Rc,
};

use crate::{
    event::{Event, Location, Position, Skeleton, Trace},
    execution::{Execution, Frame},
    verdict::{Rule, Verdict},
};

use checker::ConsistencyChecker;
use search::Search;
use trace_class::{TraceClass, TraceClasses};

/// The memory model that decides which executions are consistent.
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
    /// Whether to find outcomes that are forbidden, with the rule, unless the exploration stops early. This visits inconsistent
    /// executions too, up to the budget again.
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

/// An execution that shows an outcome: its events, and the relations between them.
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
    /// The values of each allowed outcome.
    pub fn values(&self) -> BTreeSet<&Vec<u64>> {
        self.allowed.keys().collect()
    }
}

/// Explores all executions of a launch, and returns the outcomes that a memory model allows.
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

/// Searches for executions in which runs may be incomplete.
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
    let classes = TraceClasses::new(skeleton);
    let mut explorer = Explorer {
        skeleton,
        options,
        found: Outcomes::default(),
        known: HashMap::new(),
        candidates: 0,
        choices: 0,
        pass: Pass::Consistent,
        goal,
    };
    match explorer.pass(&classes, model) {
        Ok(()) if options.explains => {
            explorer.pass = Pass::Forbidden;
            explorer.pass(&classes, model)?;
        }
        Ok(()) | Err(Error::Stopped) => {}
        Err(error) => return Err(error),
    }
    Ok(explorer.found)
}

/// What a pass over the candidates finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The consistent executions.
    Consistent,
    /// Why the other outcomes are forbidden.
    Forbidden,
}

/// What is known about an outcome.
#[derive(Default)]
struct Known {
    /// Whether consistent executions have it, with a data race, and without one.
    is_allowed: bool,
    is_racing: bool,
    is_racefree: bool,
    /// The rule that explains why it is forbidden.
    rule: Option<Rule>,
}

struct Explorer<'s> {
    skeleton: &'s Skeleton,
    options: Options,
    found: Outcomes,
    known: HashMap<Vec<u64>, Known>,
    /// The numbers of candidates and of choices in this pass. A choice is a combination of classes, the position of a write, or the
    /// source of a read.
    candidates: u64,
    choices: u64,
    pass: Pass,
    goal: SearchGoal<'s>,
}

impl Explorer<'_> {
    /// Visits all candidates.
    fn pass(&mut self, classes: &TraceClasses, model: Model) -> Result<(), Error> {
        (self.candidates, self.choices) = (0, 0);
        self.choose(classes, model, &mut Vec::new())
    }

    /// Chooses a class for each work-item.
    fn choose<'t>(
        &mut self,
        classes: &'t TraceClasses,
        model: Model,
        chosen: &mut Vec<&'t TraceClass>,
    ) -> Result<(), Error> {
        let Some(next) = classes.items.get(chosen.len()) else {
            let Some(possible) = classes.possible(chosen) else { return self.count_choice() };
            return self.combine(chosen, possible, model);
        };
        let has_goal = matches!(self.goal, SearchGoal::Goal(_));
        for class in next.iter().filter(|class| has_goal || class.trace.is_complete()) {
            self.count_choice()?;
            chosen.push(class);
            let result = match classes.can_be_supplied(chosen) {
                true => self.choose(classes, model, chosen),
                false => Ok(()),
            };
            chosen.pop();
            result?;
        }
        Ok(())
    }

    /// Explores the runs with these classes and values.
    fn combine(
        &mut self,
        classes: &[&TraceClass],
        possible: Vec<Vec<u32>>,
        model: Model,
    ) -> Result<(), Error> {
        let traces: Vec<_> = classes.iter().map(|class| &class.trace).collect();
        if let SearchGoal::Goal(goal) = &mut self.goal
            && !goal.wants(&traces)
        {
            return Ok(());
        }
        let frame = Frame::new(&traces, &self.skeleton.positions, &self.skeleton.system);
        let frame = Rc::new(frame.ok_or(Error::TooLong)?);
        let checker = ConsistencyChecker::new(&frame, model).ok_or(Error::TooLong)?;
        if self.pass == Pass::Consistent && checker.is_impossible() {
            return self.count();
        }
        let mut search = Search::new(self.skeleton, classes, possible, frame, checker);
        match self.visit_cell(&mut search, 0) {
            Err(Error::Stopped) if matches!(self.goal, SearchGoal::Goal(_)) => Ok(()),
            result => result,
        }
    }

    /// Records a consistent execution.
    fn finish(&mut self, search: &mut Search<'_>) -> Result<(), Error> {
        if search.racing_read().is_some() {
            return Ok(());
        }
        if let SearchGoal::Goal(goal) = &mut self.goal {
            if !goal.accepts(&search.execution) {
                return Ok(());
            }
            goal.record(search.witness());
            return Err(Error::Stopped);
        }
        search.find_outcome();
        let outcome = &search.outcome;
        // `entry` would copy the outcome of every execution.
        if !self.known.contains_key(outcome) {
            self.known.insert(outcome.clone(), Known::default());
        }
        let Some(known) = self.known.get_mut(outcome) else { return Ok(()) };
        if let Verdict::Race(a, b) = search.verdict {
            if !std::mem::replace(&mut known.is_racing, true) {
                self.found.racing.insert(outcome.clone());
            }
            self.found.undefine(search, Some((a, b)), (a, b));
        } else if !search.is_cut && !std::mem::replace(&mut known.is_racefree, true) {
            self.found.racefree.insert(outcome.clone());
        }
        let stops = self.options.stops_at_race && !self.found.racing.is_empty();
        if search.is_cut {
            self.found.is_cut = true;
            return if stops { Err(Error::Stopped) } else { Ok(()) };
        }
        if let Some(items) = search.diverges {
            self.found.undefine(search, None, items);
        }
        self.found.executions += 1;
        if !std::mem::replace(&mut known.is_allowed, true) {
            self.found.allowed.insert(outcome.clone(), search.witness());
        }
        let decides = matches!(self.goal, SearchGoal::Outcomes(decides) if decides(outcome));
        if stops || decides { Err(Error::Stopped) } else { Ok(()) }
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
        self.candidates += 1;
        match self.candidates > self.options.budget {
            true => Err(Error::TooMany(self.options.budget)),
            false => Ok(()),
        }
    }
}

impl Outcomes {
    /// Records a data race of these events, or a barrier that these work-items do not both reach.
    fn undefine(&mut self, search: &Search<'_>, events: Option<(usize, usize)>, pair: (usize, usize)) {
        let frame = &search.frame;
        let (key, items) = match events {
            Some((a, b)) => ((frame.events[a].site, frame.events[b].site), (frame.items[a], frame.items[b])),
            None => ((u32::MAX, u32::MAX), pair),
        };
        let entry = self.undefined.entry(key);
        entry.or_insert_with(|| Undefined { events, items, witness: search.witness() });
    }
}

/// The initial value of a location.
fn initial(skeleton: &Skeleton, location: Location) -> u64 {
    skeleton.initial.iter().find(|(known, _)| *known == location).map_or(0, |it| it.1)
}
