//! `kiln devices --litmus`: the litmus tests under stress on a device, and a certificate in JSON.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    time::{Duration, Instant},
};

use kiln_compiler::session::Source;
use kiln_runtime::{Device, Instance, Selector};
use serde_json::{Map, Value, json as object};

use super::{
    findings::{Bounds, Compiler, Exploration, Findings},
    herd, runtime_options,
    stress::{self, Limit, Observations, Stress},
    suite::{self, Test},
};
use crate::{
    arguments::{DevicesCommand, LaunchArguments},
    exit::{Failure, Outcome, failure},
    files::{Files, print},
    options::CompileOptions,
    run::bytes,
};

/// A test that was run.
struct TestRun {
    name: String,
    findings: Findings,
    observations: Observations,
    /// The outcomes that are possible if the accesses of all work-items are interleaved.
    sequential: BTreeSet<Vec<u64>>,
}

impl TestRun {
    /// The observed outcomes that no interleaving allows, with their numbers.
    fn weak(&self) -> impl Iterator<Item = (&Vec<u64>, u64)> {
        let counts = self.observations.counts.iter().map(|(outcome, count)| (outcome, *count));
        counts.filter(|(outcome, count)| *count > 0 && !self.sequential.contains(*outcome))
    }
}

/// Runs the tests, and prints the certificate.
pub(crate) fn certify(command: &DevicesCommand) -> Result<Outcome, Failure> {
    let selector = command.device.as_deref().map_or(Selector::Default, Selector::from);
    let device = Instance::for_device(runtime_options(), &selector)?.device(&selector)?;
    let filter = command.filter.as_deref().unwrap_or_default();
    let tests: Vec<Test> = suite::tests().into_iter().filter(|test| test.name.contains(filter)).collect();
    if tests.is_empty() {
        return failure(format!(
            "no litmus test has a name with `{filter}`; an example of a name is `MP, relaxed`"
        ));
    }
    let (begin, time) = (Instant::now(), stress::duration(command.seconds)?);
    let (mut ran, mut worst) = (Vec::new(), Outcome::Success);
    let count = tests.len();
    for (number, test) in tests.into_iter().enumerate() {
        let left = time.saturating_sub(begin.elapsed()).max(Duration::from_millis(1));
        let limit = Limit {
            instances: command.instances.div_ceil(count as u64),
            time: Some(left / (count - number) as u32),
        };
        let it = match run(test, &device, limit)? {
            Ok(it) => it,
            Err(outcome) => return Ok(outcome),
        };
        worst = worst.max(it.findings.outcome());
        if !command.json {
            print(&test_lines(&it))?;
        }
        ran.push(it);
    }
    let forbidden: u64 = ran.iter().map(|it| it.findings.violations()).sum();
    let instances: u64 = ran.iter().map(|it| it.observations.instances).sum();
    if command.json {
        print(&format!("{:#}\n", certificate(&device, &ran, begin.elapsed())))?;
    } else {
        let weak = ran.iter().filter(|it| it.weak().next().is_some()).count();
        print(&format!(
            "{} ({}): {instances} instances of {count} tests in {:.1} s. {weak} tests show weak outcomes; \
             {forbidden} instances have a forbidden outcome.\n",
            device.name(),
            device.info().driver,
            begin.elapsed().as_secs_f64()
        ))?;
    }
    Ok(worst)
}

fn run(test: Test, device: &Device, limit: Limit) -> Result<Result<TestRun, Outcome>, Failure> {
    let (files, shown) = (Files::default(), CompileOptions::default());
    let compiler = Compiler { files: &files, shown: &shown, matches: None };
    let given = bytes::launch(&LaunchArguments::default(), &test.source)?;
    let source = Source { name: format!("{}.cl", test.name), text: test.source.into_bytes() };
    let bounds = Bounds { max_iterations: 1, sub_group: 1, budget: 5_000_000, thin_air: false };
    let named = herd::Test { registers: test.registers, ..herd::Test::default() };
    let mut exploration = match Exploration::new(&compiler, source, &given, named, bounds)? {
        Ok(exploration) => exploration,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let mut stress = match Stress::new(&compiler, &exploration, device)? {
        Ok(stress) => stress,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let mut observations = Observations::on(device.info());
    stress.run(limit, &mut observations)?;
    exploration.findings.observations = Some(observations.clone());
    let sequential = exploration.findings.sequential(bounds)?;
    Ok(Ok(TestRun { name: test.name, findings: exploration.findings, observations, sequential }))
}

/// A line for a test, and one for each weak or forbidden outcome.
fn test_lines(it: &TestRun) -> String {
    let (observations, forbidden) = (&it.observations, it.findings.violations());
    let kinds = observations.counts.values().filter(|count| **count > 0).count();
    let verdict =
        if forbidden == 0 { "nothing forbidden".to_owned() } else { format!("{forbidden} FORBIDDEN") };
    let mut text =
        format!("{}: {} instances, {kinds} outcomes, {verdict}\n", it.name, observations.instances);
    for (outcome, count) in it.weak() {
        let is_allowed = it.findings.vulkan.found.allowed.contains_key(outcome);
        let kind = if is_allowed { "weak" } else { "forbidden" };
        let _ = writeln!(text, "    {kind}: {}: {count}", it.findings.names.outcome(outcome));
    }
    for outcome in &observations.examples {
        let _ = writeln!(text, "    forbidden: {}", it.findings.names.outcome(outcome));
    }
    text
}

fn certificate(device: &Device, ran: &[TestRun], time: Duration) -> Value {
    let info = device.info();
    let tests = ran.iter().map(|it| {
        let named = |values: &Vec<u64>| {
            let parts = it.findings.names.parts(values);
            Value::Object(
                parts.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<Map<_, _>>(),
            )
        };
        let observations = &it.observations;
        let outcomes = it.findings.outcomes().into_iter().map(|outcome| {
            object!({
                "outcome": named(&outcome),
                "count": observations.counts.get(&outcome).copied().unwrap_or_default(),
                "is_allowed_by_opencl": it.findings.opencl.found.allowed.contains_key(&outcome),
                "is_allowed_by_vulkan": it.findings.vulkan.found.allowed.contains_key(&outcome),
                "is_weak": !it.sequential.contains(&outcome),
            })
        });
        object!({
            "name": it.name,
            "instances": observations.instances,
            "forbidden": it.findings.violations(),
            "outcomes": outcomes.collect::<Vec<_>>(),
            "other": observations.others,
            "other_examples": observations.examples.iter().map(named).collect::<Vec<_>>(),
        })
    });
    object!({
        "kiln": env!("CARGO_PKG_VERSION"),
        "device": info.name,
        "driver": info.driver,
        "known_driver_bugs": info.driver_bugs().map(|bug| bug.name()).collect::<Vec<_>>(),
        "seconds": time.as_secs_f64(),
        "instances": ran.iter().map(|it| it.observations.instances).sum::<u64>(),
        "forbidden": ran.iter().map(|it| it.findings.violations()).sum::<u64>(),
        "tests": tests.collect::<Vec<_>>(),
    })
}
