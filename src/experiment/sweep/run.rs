use std::collections::BTreeMap;
use std::sync::Mutex;

use rayon::prelude::*;
use serde_json::Value;

use super::design::{Design, RunKey};
use super::experiment::{Experiment, Runner};
use super::metric::figure_columns;
use super::store::{RunLine, Store, line_of};
use crate::error::{Error, Result};
use crate::experiment::makespan_vs_bound;
use crate::metrics::Summary;
use crate::sim::MakespanBound;

/// What watches a sweep: called after each run with its summary, from any thread.
pub type Watch<'a> = &'a (dyn Fn(RunKey, Result<&Summary, &str>) + Sync);

/// Does the runs of a folder that are still to do, on `threads` threads, and adds each as it ends.
///
/// # Errors
/// A run that cannot be written down. Runs that fail are results.
pub fn sweep(experiment: &Experiment, store: Store, threads: usize, watch: Watch<'_>) -> Result<Store> {
    let open = store.open_runs();
    let runner = experiment.runner();
    let store = Mutex::new(store);
    pool(threads)?.install(|| {
        open.par_iter().try_for_each(|&run| {
            let line = watched(&runner, experiment.design.run(run), watch);
            store.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).add(run, line)
        })
    })?;
    Ok(store.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// All runs of an experiment, kept in memory.
///
/// # Errors
/// Threads that cannot be started.
pub fn run_all(experiment: &Experiment, threads: usize, watch: Watch<'_>) -> Result<Vec<Option<RunLine>>> {
    let runner = experiment.runner();
    let one = |run: usize| Some(watched(&runner, experiment.design.run(run), watch));
    Ok(pool(threads)?.install(|| (0..experiment.design.run_count()).into_par_iter().map(one).collect()))
}

fn watched(runner: &Runner<'_>, key: RunKey, watch: Watch<'_>) -> RunLine {
    let outcome = runner.run(key);
    watch(key, outcome.as_ref().map(|(summary, _)| summary).map_err(String::as_str));
    run_line(&outcome)
}

/// How long a run takes on average, in seconds: some of them, spread over the design, for about as long as told.
pub fn seconds_per_run(experiment: &Experiment, at_most_s: f64) -> f64 {
    let runs = experiment.design.run_count();
    let runner: Runner<'_> = experiment.runner();
    let begun = std::time::Instant::now();
    let sample = 64.min(runs);
    let mut done = 0;
    while done < sample && begun.elapsed().as_secs_f64() < at_most_s {
        // Steps of the golden ratio: wherever it stops, what is done lies all over the design.
        let run = ((done as f64 * 0.618_033_988_749_895).fract() * runs as f64) as usize;
        let _ = runner.run(experiment.design.run(run));
        done += 1;
    }
    begun.elapsed().as_secs_f64() / done.max(1) as f64
}

pub(in crate::experiment) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::Input(format!("cannot start {threads} threads: {error}; give fewer with --jobs"))
    })
}

/// Its figures in the order of the columns, and the error, as fields of CSV.
fn run_line(outcome: &Result<(Summary, MakespanBound), String>) -> RunLine {
    let (values, error) = match outcome {
        Ok((summary, bound)) => {
            let figures = summary.figures().into_iter().map(|(_, figure)| Value::from(figure));
            let of_bound = [bound.makespan_s(), makespan_vs_bound(summary, bound)].map(Value::from);
            (figures.chain(of_bound).map(text).collect(), String::new())
        }
        Err(error) => (vec![String::new(); figure_columns().len()], error.replace(['\n', '\r'], " ")),
    };
    line_of(values.iter().map(String::as_str).chain([error.as_str()]))
}

/// Blank for what is no number.
fn text(value: Value) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

/// The failures of a sweep as one error, if there are any.
///
/// # Errors
/// [`Error::Check`] with how many runs failed and the first reasons.
pub fn check_failures(design: &Design, failures: &BTreeMap<usize, String>) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = failures
        .iter()
        .take(3)
        .map(|(&run, reason)| format!("{}: {reason}", design.describe_run(design.run(run))))
        .collect();
    let more =
        if failures.len() > shown.len() { "\n  ... (the column error of results.csv has all)" } else { "" };
    Err(Error::Check(format!("{} runs failed:\n  {}{more}", failures.len(), shown.join("\n  "))))
}
