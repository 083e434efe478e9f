//! Decides whether a changed module is sound for a launch.

use std::{cell::RefCell, collections::BTreeSet};

use super::{Objection, Unchanged};
use crate::{
    event::{Location, Object, Skeleton},
    explore::{Error, Model, Options, Outcomes, Undefined, explore, explore_until},
    module::{Launch, Module},
};

/// The outcomes that OpenCL allows for a launch of the source.
pub(super) struct Proof {
    launch: Launch,
    model: Model,
    options: Options,
    /// The parts of an outcome that the host can see.
    pub(super) parts: Vec<Location>,
    allowed: BTreeSet<Vec<u64>>,
    /// The number of modules that were explored.
    pub(super) explored: usize,
}

impl Proof {
    /// Explores the source.
    pub(super) fn new(
        source: &Module,
        launch: &Launch,
        model: Model,
        options: Options,
    ) -> Result<Self, Unchanged> {
        let launch = Launch { only_consistent: true, ..launch.clone() };
        let mut options = Options { explains: false, stops_at_race: true, ..options };
        let skeleton = source.skeleton(&launch)?;
        let mut events = skeleton.traces.iter().flatten().flat_map(|trace| &trace.events);
        if events.any(|it| it.location.is_some_and(|it| it.object == Object::Program)) {
            return Err(Unchanged::ProgramVariables);
        }
        let found = explore(&skeleton, Model::OpenCl, options)?;
        if !found.undefined.is_empty() {
            return Err(Unchanged::Undefined);
        }
        if skeleton.is_cut || found.is_cut {
            return Err(Unchanged::Cut);
        }
        let is_visible = |part: &Location| match part.object {
            Object::Argument(_) => true,
            Object::LocalArgument(..) => launch.shared_local.is_some(),
            _ => false,
        };
        let parts: Vec<Location> = skeleton.parts.iter().copied().filter(is_visible).collect();
        let allowed = found.allowed.keys().map(|outcome| projected(&skeleton, &parts, outcome)).collect();
        options.budget = options.budget.saturating_sub(found.candidates);
        Ok(Self { launch, model, options, parts, allowed, explored: 0 })
    }

    /// The runs of the emitted module, which must be sound.
    pub(super) fn start(&mut self, module: &Module) -> Result<Skeleton, Unchanged> {
        match self.objection(module)? {
            None => Ok(module.skeleton(&self.launch)?),
            Some(Objection::Cut) => Err(Unchanged::Cut),
            Some(objection) => Err(Unchanged::Unsound(objection)),
        }
    }

    /// What is wrong with a module, if it is not sound.
    pub(super) fn objection(&mut self, module: &Module) -> Result<Option<Objection>, Unchanged> {
        self.explored += 1;
        let skeleton = module.skeleton(&self.launch)?;
        if skeleton.is_cut {
            return Ok(Some(Objection::Cut));
        }
        let new = RefCell::new(None);
        let is_new = |outcome: &[u64]| {
            let outcome = projected(&skeleton, &self.parts, outcome);
            let is_new = !self.allowed.contains(&outcome);
            if is_new {
                new.replace(Some(outcome));
            }
            is_new
        };
        let found = explore_until(&skeleton, self.model, self.options, &is_new)?;
        let Some(budget) = self.options.budget.checked_sub(found.candidates) else {
            return Err(Error::TooMany(self.options.budget).into());
        };
        self.options.budget = budget;
        if let Some(outcome) = new.into_inner() {
            return Ok(Some(Objection::Outcome(outcome)));
        }
        Ok(undefined(&found).or_else(|| found.is_cut.then_some(Objection::Cut)))
    }
}

/// The first race or diverging barrier.
fn undefined(found: &Outcomes) -> Option<Objection> {
    let Undefined { events, witness, .. } = found.undefined.values().next()?;
    let line = |event: usize| witness.events[event].1.line;
    Some(events.map_or(Objection::Barrier, |(a, b)| Objection::Race(line(a), line(b))))
}

/// The values of these parts in an outcome of a launch.
fn projected(skeleton: &Skeleton, parts: &[Location], outcome: &[u64]) -> Vec<u64> {
    let value = |part: &Location| {
        let initial = || skeleton.initial.iter().find(|(known, _)| known == part).map_or(0, |it| it.1);
        skeleton.parts.binary_search(part).map_or_else(|_| initial(), |index| outcome[index])
    };
    parts.iter().map(value).collect()
}
