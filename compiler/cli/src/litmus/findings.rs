//! The outcomes of a launch by both memory models, and on a device.

use std::{collections::BTreeSet, mem};

use clap::ArgMatches;
use kiln_compiler::{
    interface::Interface,
    opencl::Environment,
    session::{Options as CompilerOptions, Source},
    target::Target,
};
use kiln_memory_model::{
    Launch, Location, Model, Module, Object, Skeleton, Weakening,
    explore::{Options, Outcomes, explore},
    scope, semantics,
};

use super::{cheapest, claim::Claim, herd, names::Names, stress::Observations};
use crate::{
    arguments::LaunchArguments,
    compile,
    exit::{Failure, Outcome},
    files::Files,
    options::CompileOptions,
    run::bytes::{self, Bytes},
};

/// How sources are compiled.
pub(crate) struct Compiler<'a> {
    pub(crate) files: &'a Files,
    pub(crate) shown: &'a CompileOptions,
    /// The options on the command line. `None` for sources that are not the user's.
    pub(crate) matches: Option<&'a ArgMatches>,
}

impl Compiler<'_> {
    /// The options for a target.
    pub(super) fn options(&self, target: Target) -> CompilerOptions {
        match self.matches {
            Some(matches) => self.shown.to_options(target, matches),
            None => CompilerOptions { target, ..CompilerOptions::default() },
        }
    }

    /// The module for an environment, with its lines. Warnings are printed once only.
    pub(super) fn module(
        &self,
        source: &Source,
        environment: Environment,
    ) -> Result<(Module, Interface), Outcome> {
        let mut options = self.options(Target::full(environment));
        options.debug = true;
        options.warnings.none |= environment == Environment::Vulkan;
        let (module, interface) = compile::module(source.clone(), &options, self.files, self.shown)?;
        Ok((Module::new(&module.into_words()), interface))
    }
}

/// How to explore a launch.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) max_iterations: u32,
    pub(super) sub_group: u32,
    pub(super) budget: u64,
    pub(super) thin_air: bool,
}

impl Bounds {
    pub(super) fn options(self) -> Options {
        Options { budget: self.budget, explains: true, ..Options::default() }
    }
}

/// A source, its launch, and the findings.
pub(super) struct Exploration {
    pub(super) source: Source,
    pub(super) interface: Interface,
    pub(super) launch: Launch,
    pub(super) findings: Findings,
}

impl Exploration {
    /// Explores the launch of a source. Returns an outcome if the source has errors.
    pub(super) fn new(
        compiler: &Compiler<'_>,
        source: Source,
        given: &LaunchArguments,
        test: herd::Test,
        bounds: Bounds,
    ) -> Result<Result<Self, Outcome>, Failure> {
        let modules = compiler
            .module(&source, Environment::OpenCl)
            .and_then(|opencl| Ok((opencl, compiler.module(&source, Environment::Vulkan)?)));
        let ((opencl, interface), (vulkan, _)) = match modules {
            Ok(modules) => modules,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let Bytes { mut launch, parameters } = bytes::bytes(given, &interface)?;
        launch.max_iterations = bounds.max_iterations;
        launch.sub_group = bounds.sub_group;
        launch.thin_air = bounds.thin_air;
        launch.assumed = test.claim.as_ref().map_or_else(Vec::new, |it| it.condition.numbers());
        launch.shared_local = test.shared_local;
        // Vulkan has no scope for several devices: the module runs on one.
        let on_all = Launch { devices: test.devices, ..launch.clone() };
        let mut opencl = explored(&opencl, &on_all, Model::OpenCl, bounds.options())?;
        let mut vulkan = explored(&vulkan, &launch, Model::Vulkan, bounds.options())?;
        // The host sees buffers. The module may write what the source only reads: a seq_cst load is a read-modify-write.
        let is_visible = |part: &Location| match part.object {
            Object::Argument(_) => true,
            Object::LocalArgument(..) => launch.shared_local.is_some(),
            _ => false,
        };
        let parts: Vec<Location> = opencl.skeleton.parts.iter().copied().filter(is_visible).collect();
        opencl.project(&parts);
        vulkan.project(&parts);
        let names = Names::new(parameters, &opencl.skeleton, parts, test.registers);
        let findings = Findings {
            names,
            claim: test.claim,
            vulkan,
            opencl,
            weaker: None,
            cheapest: None,
            observations: None,
        };
        Ok(Ok(Self { source, interface, launch, findings }))
    }
}

/// The result for one environment.
pub(super) struct Explored {
    pub(super) skeleton: Skeleton,
    pub(super) found: Outcomes,
}

impl Explored {
    /// Reduces the outcomes to these parts.
    fn project(&mut self, parts: &[Location]) {
        let skeleton = &self.skeleton;
        let value = |outcome: &[u64], part: &Location| {
            let index = skeleton.parts.iter().position(|known| known == part);
            let initial = || skeleton.initial.iter().find(|(known, _)| known == part).map_or(0, |it| it.1);
            index.map_or_else(initial, |index| outcome[index])
        };
        let projected =
            |outcome: Vec<u64>| -> Vec<u64> { parts.iter().map(|part| value(&outcome, part)).collect() };
        let found = &mut self.found;
        found.allowed =
            mem::take(&mut found.allowed).into_iter().map(|(key, it)| (projected(key), it)).collect();
        let forbidden = mem::take(&mut found.forbidden).into_iter().map(|(key, it)| (projected(key), it));
        found.forbidden = forbidden.filter(|(key, _)| !found.allowed.contains_key(key)).collect();
    }
}

/// The findings to print.
pub(super) struct Findings {
    pub(super) names: Names,
    /// The condition of a litmus test.
    pub(super) claim: Option<Claim>,
    pub(super) opencl: Explored,
    pub(super) vulkan: Explored,
    pub(super) weaker: Option<Vec<Weakening>>,
    /// The cheapest forms of the module's operations.
    pub(super) cheapest: Option<cheapest::Found>,
    /// The outcomes on a device, if the launch was run.
    pub(super) observations: Option<Observations>,
}

impl Findings {
    /// The outcomes that the module allows and OpenCL does not.
    pub(super) fn unsound(&self) -> impl Iterator<Item = &Vec<u64>> {
        let is_defined = self.opencl.found.undefined.is_empty();
        let vulkan = self.vulkan.found.allowed.keys().filter(move |_| is_defined);
        vulkan.filter(|outcome| !self.opencl.found.allowed.contains_key(*outcome))
    }

    /// Whether the behavior is defined and all runs were explored: all outcomes that are not in the list are forbidden.
    pub(super) fn is_complete(&self) -> bool {
        let is_complete = |it: &Explored| it.found.undefined.is_empty() && !it.skeleton.is_cut;
        is_complete(&self.opencl) && is_complete(&self.vulkan)
    }

    /// The outcomes of interleavings: as if every access were seq_cst for the device.
    pub(super) fn sequential(&self, bounds: Bounds) -> Result<BTreeSet<Vec<u64>>, Failure> {
        let mut skeleton = self.opencl.skeleton.clone();
        for event in skeleton.events_mut().filter(|event| event.location.is_some()) {
            event.is_atomic = true;
            event.scope = scope::DEVICE;
            event.semantics = semantics::SEQUENTIALLY_CONSISTENT
                | semantics::WORKGROUP_MEMORY
                | semantics::CROSS_WORKGROUP_MEMORY;
        }
        let found = explore(&skeleton, Model::OpenCl, Options { explains: false, ..bounds.options() })?;
        let mut explored = Explored { skeleton, found };
        explored.project(self.names.locations());
        Ok(explored.found.allowed.into_keys().collect())
    }

    /// All outcomes that are known: allowed by a model, or explained.
    pub(super) fn outcomes(&self) -> Vec<Vec<u64>> {
        let (opencl, vulkan) = (&self.opencl.found, &self.vulkan.found);
        let mut all: Vec<Vec<u64>> = opencl.allowed.keys().chain(vulkan.allowed.keys()).cloned().collect();
        all.extend(opencl.forbidden.keys().cloned());
        all.sort();
        all.dedup();
        all
    }

    /// How often the device showed outcomes that Vulkan forbids for the module.
    pub(super) fn violations(&self) -> u64 {
        let is_forbidden = |outcome: &Vec<u64>| !self.vulkan.found.allowed.contains_key(outcome);
        match &self.observations {
            Some(observations) if self.is_complete() => {
                let known = observations.counts.iter().filter(|(outcome, _)| is_forbidden(outcome));
                known.map(|(_, count)| count).sum::<u64>() + observations.others
            }
            _ => 0,
        }
    }

    /// Whether the condition of the test is true in OpenCL, and for the module. The inner `None` means that it is not
    /// understood.
    pub(super) fn verdicts(&self) -> Option<Option<[bool; 2]>> {
        let claim = self.claim.as_ref()?;
        let holds =
            |it: &Explored| claim.holds(it.found.allowed.keys().map(|values| self.names.parts(values)));
        Some(holds(&self.opencl).zip(holds(&self.vulkan)).map(<[bool; 2]>::from))
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.violations() > 0 {
            return Outcome::Forbidden;
        }
        let has_new_race = !self.vulkan.found.undefined.is_empty();
        match self.opencl.found.undefined.is_empty() {
            false => Outcome::Undefined,
            true if has_new_race || self.unsound().next().is_some() => Outcome::Diagnostics,
            true => Outcome::Success,
        }
    }
}

fn explored(module: &Module, launch: &Launch, model: Model, options: Options) -> Result<Explored, Failure> {
    let skeleton = module.skeleton(launch)?;
    // Explain forbidden outcomes by OpenCL's model. If exploring them exceeds the budget, explore only the allowed
    // ones.
    let explains = model == Model::OpenCl;
    let found = explore(&skeleton, model, Options { explains, ..options })
        .or_else(|_| explore(&skeleton, model, Options { explains: false, ..options }))?;
    Ok(Explored { skeleton, found })
}
