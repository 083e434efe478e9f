//! `kiln litmus --progress`: under which schedulers every run of a launch ends.

use std::fmt::Write as _;

use kiln_compiler::{opencl::Environment, session::Source};
use kiln_memory_model::{
    Model, draw,
    explore::{Options, explore},
    progress::{Finding, Progress, Scheduler, State, Stuck, study},
};
use serde_json::json;

use super::{
    findings::{Bounds, Compiler},
    herd,
    names::Names,
    text::described,
};
use crate::{
    arguments::LaunchArguments,
    exit::{Failure, Outcome},
    run::bytes::{self, Bytes},
};

/// The findings for all schedulers.
pub(super) struct Table {
    names: Names,
    /// The schedulers and their findings: for work-groups, for the work-items of a group, or for both, if there are several.
    rows: Vec<(Progress, Finding)>,
    /// The data races, which make the behavior undefined.
    races: Vec<String>,
}

impl Table {
    /// Explores the launch of a source. Returns an outcome if the source has errors.
    pub(super) fn new(
        compiler: &Compiler<'_>,
        source: &Source,
        given: &LaunchArguments,
        test: herd::Test,
        bounds: Bounds,
    ) -> Result<Result<Self, Outcome>, Failure> {
        let (module, interface) = match compiler.module(source, Environment::OpenCl) {
            Ok(module) => module,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let Bytes { mut launch, parameters } = bytes::bytes(given, &interface)?;
        (launch.max_iterations, launch.sub_group) = (bounds.max_iterations, bounds.sub_group);
        (launch.keeps_cut, launch.keeps_spins) = (true, true);
        (launch.devices, launch.shared_local) = (test.devices, test.shared_local);
        let skeleton = module.skeleton(&launch)?;
        let options = Options { explains: false, ..bounds.options() };
        let parts = skeleton.parts.clone();
        let names = Names::new(parameters, &skeleton, parts, test.registers);
        let found = explore(&skeleton, Model::OpenCl, options)?;
        let named = |location| names.location(location);
        let races = found.undefined.values().filter(|it| it.events.is_some());
        let races = races.map(|it| described(it, &named)).collect();
        let schedulers = schedulers(launch.global != launch.local, launch.local != [1; 3]);
        let findings = study(&skeleton, Model::OpenCl, &schedulers, options)?;
        let rows = schedulers.into_iter().zip(findings).collect();
        Ok(Ok(Self { names, rows, races }))
    }

    /// The table as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for race in &self.races {
            let _ = writeln!(text, "{race}");
        }
        if !self.races.is_empty() {
            text.push_str(
                "The behavior is undefined (OpenCL API 3.3.6): nothing is certain about its end.\n\n",
            );
        }
        let _ = writeln!(
            text,
            "{:13}{:13}{:56}every run ends",
            "work-groups", "work-items", "the scheduler runs"
        );
        // A launch that hangs under the first scheduler, the strongest, hangs under all.
        let shown = if self.hangs_always() { &self.rows[..1] } else { &self.rows[..] };
        for (progress, finding) in shown {
            let which = match (progress.groups, progress.items) {
                (groups, Scheduler::Fair) => meaning(groups).to_owned(),
                (Scheduler::Fair, items) => meaning(items).to_owned(),
                (groups, items) => format!("{}, {}", meaning(groups), meaning(items)),
            };
            let ends = match finding {
                Finding::Ends => "yes".to_owned(),
                Finding::Unknown => "unknown: loops have more iterations than --iterations allows".to_owned(),
                Finding::Stuck(stuck) => format!("no: {}", self.states(stuck).join("; ")),
            };
            let (groups, items) = (progress.groups.to_string(), progress.items.to_string());
            let _ = writeln!(text, "{groups:13}{items:13}{which:56}{ends}");
        }
        text
    }

    /// The table as JSON.
    pub(super) fn json(&self) -> String {
        let row = |(progress, finding): &(Progress, Finding)| {
            let (ends, states) = match finding {
                Finding::Ends => (Some(true), Vec::new()),
                Finding::Unknown => (None, Vec::new()),
                Finding::Stuck(stuck) => (Some(false), self.states(stuck)),
            };
            json!({
                "work_groups": progress.groups.to_string(),
                "work_items": progress.items.to_string(),
                "ends": ends,
                "states": states,
            })
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        format!("{:#}\n", json!({ "progress": rows, "races": self.races }))
    }

    /// The result: the launch has undefined behavior, or is stuck even if every work-item is scheduled.
    pub(super) fn outcome(&self) -> Outcome {
        match () {
            () if !self.races.is_empty() => Outcome::Undefined,
            () if self.hangs_always() => Outcome::Diagnostics,
            () => Outcome::Success,
        }
    }

    /// Whether the launch can hang even if every work-item is scheduled.
    fn hangs_always(&self) -> bool {
        matches!(self.rows.first(), Some((_, Finding::Stuck(_))))
    }

    /// Why a launch is stuck: first the work-items that wait, and then those that do not run.
    fn states(&self, Stuck { witness, states }: &Stuck) -> Vec<String> {
        let names = |location| self.names.location(location);
        let shown = |index: usize| {
            let (item, event) = &witness.events[index];
            draw::position(*item, event)
        };
        let mut waiting = Vec::new();
        let mut others = Vec::new();
        for (item, state) in states.iter().enumerate() {
            match *state {
                State::Done => {}
                State::Spins(from) => {
                    let repeated = witness.events.iter().skip(from).take_while(|it| it.0 == item);
                    let read = repeated.filter(|(_, event)| event.location.is_some());
                    let read: Vec<String> = read.map(|(_, event)| draw::label(event, &names)).collect();
                    waiting.push(match witness.events.get(from) {
                        Some((owner, _)) if *owner == item => {
                            format!("{} repeats forever ({})", shown(from), read.join("; "))
                        }
                        _ => format!("work-item {item} is in a loop without an end"),
                    });
                }
                State::Waits(at) => waiting.push(format!("{} waits at the barrier", shown(at))),
                State::Runs => waiting.push(format!("work-item {item} is still running")),
                State::Stopped => {
                    let last = witness.events.iter().rposition(|it| it.0 == item);
                    others.push(format!("{} is not scheduled again", shown(last.unwrap_or_default())));
                }
                State::NotStarted => others.push(format!("work-item {item} is not started")),
            }
        }
        waiting.extend(others);
        waiting
    }
}

/// The schedulers to study: of the work-groups, of the work-items of a group, and the weakest of both.
fn schedulers(has_groups: bool, has_items: bool) -> Vec<Progress> {
    let within = |it: Scheduler| Progress { sub_groups: it, items: it, ..Progress::default() };
    let mut all = vec![Progress::default()];
    let others = || Scheduler::ALL.into_iter().skip(1);
    if has_groups {
        all.extend(others().map(|groups| Progress { groups, ..Progress::default() }));
    }
    if has_items {
        all.extend(others().map(within));
    }
    if has_groups && has_items {
        all.push(Progress { groups: Scheduler::Unfair, ..within(Scheduler::Unfair) });
    }
    all
}

/// The work-groups or work-items that a scheduler keeps running.
fn meaning(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Fair => "all",
        Scheduler::Linear => "those that have started, and those before them",
        Scheduler::FirstAndOccupant => "those that have started, and the first unfinished",
        Scheduler::Occupant => "those that have started",
        Scheduler::First => "the first unfinished",
        Scheduler::Unfair => "any one",
    }
}
