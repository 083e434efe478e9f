//! Finds the cheapest forms of the operations of an emitted module with which a launch stays sound.
//!
//! A form is an instruction with its scope and semantics. A changed module is sound if Vulkan's model allows no outcome of the
//! launch that OpenCL's model forbids for the source, and the module has no data race, and no barrier that not all work-items
//! reach. The search starts with the emitted module. It takes the operation with the highest cost first, tries the
//! steps to cheaper forms (`steps`), cheapest first, and keeps the first that is sound. It ends when no step of any
//! operation is sound. The result is a local minimum: other sequences of steps can lead to another one.
//!
//! Operations that the launch does not reach keep their forms.

mod proof;
mod reasons;
mod steps;

use std::{collections::BTreeSet, fmt};

use crate::{
    event::Location,
    explore::{Error, Model, Options},
    module::{Launch, Module, Synchronization, Unsupported, edit::Form},
};

use proof::Proof;
pub use reasons::Reason;
pub use steps::{Cost, Step};
use steps::{cost, merged, steps};

/// Why nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// The source has undefined behavior.
    Undefined,
    /// Loops were cut after the bound: longer runs are not explored.
    Cut,
    /// Later launches can see program-scope variables.
    ProgramVariables,
    /// The emitted module is not sound, which is a bug in the compiler.
    Unsound(Objection),
    /// A module cannot be run.
    Unsupported(Unsupported),
    /// There are too many executions.
    Explore(Error),
}

impl From<Unsupported> for Unchanged {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}

impl From<Error> for Unchanged {
    fn from(error: Error) -> Self {
        Self::Explore(error)
    }
}

impl fmt::Display for Unchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("the launch has undefined behavior"),
            Self::Cut => f.write_str("a loop has more iterations than are explored"),
            Self::ProgramVariables => {
                f.write_str("the kernel uses program-scope variables, which later launches can see")
            }
            Self::Unsound(_) => f.write_str("the module allows what OpenCL forbids, which is a bug in Kiln"),
            Self::Unsupported(what) => what.fmt(f),
            Self::Explore(error) => error.fmt(f),
        }
    }
}

/// What would be wrong with a cheaper form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The module would allow this outcome: the values of [`Cheapest::parts`].
    Outcome(Vec<u64>),
    /// These lines would race.
    Race(u32, u32),
    /// Not all work-items would reach a barrier.
    Barrier,
    /// The runs would have more iterations of loops than are explored.
    Cut,
}

/// An operation of a module and its cheapest form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cheaper {
    /// The operation in the emitted module.
    pub from: Synchronization,
    /// The cheapest form. `None` if the operation is dropped.
    pub to: Option<Synchronization>,
    /// Why it can have this form, if it changes.
    pub reasons: Vec<Reason>,
    /// What would be wrong with each cheaper form that differs in one step.
    pub objections: Vec<(Step, Objection)>,
    /// Whether the launch reaches it.
    pub is_reached: bool,
    /// The costs before and after.
    pub cost: (Cost, Cost),
}

impl Cheaper {
    /// Whether the form changes.
    pub fn is_changed(&self) -> bool {
        self.to.as_ref() != Some(&self.from)
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cheapest {
    /// The words of the module with the cheapest forms.
    pub words: Vec<u32>,
    /// The atomic operations, fences and barriers, in the order of the emitted module.
    pub operations: Vec<Cheaper>,
    /// The locations whose final values are an outcome.
    pub parts: Vec<Location>,
    /// The number of modules that were explored.
    pub explored: usize,
}

/// An operation during the search.
struct Operation {
    site: usize,
    start: Form,
    form: Form,
    merged: bool,
    objections: Vec<(Step, Objection)>,
}

/// The state of the search.
struct Search {
    module: Module,
    proof: Proof,
    operations: Vec<Operation>,
}

/// Searches for the cheapest forms of the operations of a module with these words, for a launch of the source. The budget is
/// for all explorations together.
pub fn cheapest(
    source: &Module,
    words: &[u32],
    launch: &Launch,
    model: Model,
    options: Options,
) -> Result<Cheapest, Unchanged> {
    let module = Module::new(words);
    let mut proof = Proof::new(source, launch, model, options)?;
    let skeleton = proof.start(&module)?;
    let events = skeleton.traces.iter().flatten().flat_map(|trace| &trace.events);
    let reached: BTreeSet<usize> = events.map(|event| event.site as usize).collect();
    let sites = module.sites(&launch.kernel).into_iter().filter(|site| reached.contains(site));
    let operations = sites.filter_map(|site| {
        let form = module.form(site)?;
        Some(Operation { site, start: form.clone(), form, merged: false, objections: Vec::new() })
    });
    let mut search = Search { operations: operations.collect(), module: module.clone(), proof };
    while search.round()? {}
    let Search { module: changed, proof, operations } = search;
    let all = module.synchronization_by_site().into_iter().map(|(site, from)| {
        let Some(it) = operations.iter().find(|it| it.site == site) else {
            let same = steps::cost(&module.form(site).unwrap_or_else(Form::dropped));
            let (to, reasons, objections) = (Some(from.clone()), Vec::new(), Vec::new());
            return Cheaper { from, to, reasons, objections, is_reached: false, cost: (same, same) };
        };
        let to = changed.synchronization_by_site().into_iter().find(|(other, _)| *other == site);
        let reasons = match it.merged {
            true => vec![Reason::Merged],
            false => reasons::reasons(&skeleton, site as u32, &it.start, &it.form),
        };
        Cheaper {
            from,
            to: to.map(|(_, to)| to),
            reasons,
            objections: it.objections.clone(),
            is_reached: true,
            cost: (cost(&it.start), cost(&it.form)),
        }
    });
    Ok(Cheapest {
        operations: all.collect(),
        words: changed.write(words),
        parts: proof.parts,
        explored: proof.explored,
    })
}

/// Explores a module again, from its words: what is wrong with it, if it is not sound for a launch of the source.
pub fn objection(
    source: &Module,
    module: &Module,
    launch: &Launch,
    model: Model,
    options: Options,
) -> Result<Option<Objection>, Unchanged> {
    Proof::new(source, launch, model, options)?.objection(module)
}

impl Search {
    /// Takes steps for each operation, the one with the highest cost first, until none is sound. Returns whether one was.
    fn round(&mut self) -> Result<bool, Unchanged> {
        let mut order: Vec<usize> = (0..self.operations.len()).collect();
        order.sort_by_key(|it| std::cmp::Reverse(cost(&self.operations[*it].form)));
        let mut has_changed = false;
        for index in order {
            while self.step(index)? {
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    /// Takes the first sound step of an operation. Returns whether there is one; if not, records why.
    fn step(&mut self, index: usize) -> Result<bool, Unchanged> {
        let Operation { site, ref form, .. } = self.operations[index];
        let mut objections = Vec::new();
        for (step, form) in steps(&self.module, site, form) {
            let mut changed = self.module.clone();
            changed.set_form(site, &form);
            match self.proof.objection(&changed)? {
                None => {
                    self.module = changed;
                    self.operations[index].form = form;
                    return Ok(true);
                }
                Some(objection) => objections.push((step, objection)),
            }
        }
        if self.merge(index, &mut objections)? {
            return Ok(true);
        }
        self.operations[index].objections = objections;
        Ok(false)
    }

    /// Merges a fence with the next operation, if that is a fence of the same block and no access is between them.
    fn merge(&mut self, index: usize, objections: &mut Vec<(Step, Objection)>) -> Result<bool, Unchanged> {
        let is_fence = |it: &Operation| it.form.op == spirv::Op::MemoryBarrier;
        let rest = self.operations.iter().enumerate().skip(index + 1);
        let Some((next, second)) = rest.into_iter().find(|(_, it)| it.form.op != spirv::Op::Nop) else {
            return Ok(false);
        };
        let first = &self.operations[index];
        if !is_fence(first) || !is_fence(second) || self.module.has_access_between(first.site, second.site) {
            return Ok(false);
        }
        let (form, sites) = (merged(&first.form, &second.form), (first.site, second.site));
        let mut changed = self.module.clone();
        changed.set_form(sites.0, &form);
        changed.set_form(sites.1, &Form::dropped());
        if let Some(objection) = self.proof.objection(&changed)? {
            objections.push((Step::Merge, objection));
            return Ok(false);
        }
        self.module = changed;
        self.operations[index].form = form;
        let second = &mut self.operations[next];
        (second.form, second.merged, second.objections) = (Form::dropped(), true, Vec::new());
        Ok(true)
    }
}

/// A module that differs from another one in a step of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The number of the operation in [`Module::synchronization`].
    pub operation: usize,
    /// The step.
    pub step: Step,
    /// The words of the module.
    pub words: Vec<u32>,
}

/// The modules that differ from one with these words in one step of one operation of a kernel. If the module is the result of a
/// search, those for operations that its launch reaches are not sound.
pub fn one_step_cheaper(words: &[u32], kernel: &str) -> Vec<Mutant> {
    let module = Module::new(words);
    let sites = module.sites(kernel);
    let mut mutants = Vec::new();
    for (operation, (site, _)) in module.synchronization_by_site().into_iter().enumerate() {
        let Some(form) = module.form(site).filter(|_| sites.contains(&site)) else { continue };
        for (step, form) in steps(&module, site, &form) {
            let mut changed = module.clone();
            changed.set_form(site, &form);
            mutants.push(Mutant { operation, step, words: changed.write(words) });
        }
    }
    mutants
}
