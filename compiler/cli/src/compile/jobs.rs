//! Compiles several sources on as many threads as there are processors, and reports them in order.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::show;
use crate::{
    exit::{Failure, Outcome},
    options::CompileOptions,
    progress,
};

/// The result of a source: the text to print and the outcome.
pub(crate) type JobResult = Result<(String, Outcome), Failure>;

/// Runs a job for each source. Prints the reports in order, and returns the worst outcome.
pub(crate) fn each(
    sources: &[String],
    options: &CompileOptions,
    job: impl Fn(&str) -> JobResult + Sync,
) -> Result<Outcome, Failure> {
    let jobs = match sources {
        [source] => vec![job(source)],
        _ => {
            let done = AtomicUsize::new(0);
            let what = || format!("compiled {} of {} sources", done.load(Ordering::Relaxed), sources.len());
            progress::show_while(&what, || {
                in_parallel(sources, &|source: &str| {
                    let job = job(source);
                    done.fetch_add(1, Ordering::Relaxed);
                    job
                })
            })
        }
    };
    let (mut reports, mut failures) = (Vec::new(), Vec::new());
    let mut worst = Outcome::Success;
    for job in jobs {
        match job {
            Ok((text, outcome)) => {
                reports.push(text);
                worst = worst.max(outcome);
            }
            Err(Failure(reason)) => failures.push(reason),
        }
    }
    show(&reports, options);
    if failures.is_empty() { Ok(worst) } else { Err(Failure(failures.join("\nkiln: error: "))) }
}

fn in_parallel(sources: &[String], job: &(impl Fn(&str) -> JobResult + Sync)) -> Vec<JobResult> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<JobResult>>> = sources.iter().map(|_| Mutex::new(None)).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(index) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < sources.len())
                {
                    let outcome = job(&sources[index]);
                    *done[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                }
            });
        }
    });
    done.into_iter().filter_map(|job| job.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
