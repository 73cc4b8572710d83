//! The constant of the host, from the measured runs of whole traces.

use rayon::prelude::*;

use super::Report;
use crate::error::Result;
use crate::experiment::{Evaluation, MeasuredRun, Settings};
use crate::metrics::{Summary, mean, quantile_of_sorted};
use crate::model::Host;
use crate::policy::PolicyKind;
use crate::sim::{NoObserver, World, simulate};
use crate::workload::Trace;

/// Candidates: 0, `STEP`, 2 `STEP`, ... slowdown per job beyond the free ones.
const STEP: f64 = 0.005;
const STEPS: usize = 14;
/// Runs per candidate and cell, with seeds 1, 2, ...; their medians are compared with what was measured.
const SEEDS: u64 = 30;

/// Relative errors of a cell's medians: makespan, mean JCT and mean execution time.
type Errors = [f64; 3];

/// Fits the slowdown by a busy host to the measured runs of policies that share GPUs freely.
///
/// The fit minimises the mean absolute errors of makespan, mean JCT and mean execution time together. The
/// report says how a fit to all other traces does on each trace.
///
/// # Errors
/// Input that cannot be used.
pub fn run_host(evaluation: &Evaluation, settings: &Settings) -> Result<Report> {
    let mut cells = Vec::new();
    for (index, name) in evaluation.traces.iter().enumerate() {
        let world = settings.world(&Trace::open(name)?)?;
        // Under these two a host has little to do; their runs are left to test the fit.
        for policy in &evaluation.policies {
            if matches!(policy.kind, PolicyKind::Exclusive | PolicyKind::Lucid) {
                continue;
            }
            if let Some(measured) = evaluation.measured.get(&world.trace_name, policy) {
                cells.push((index, world.clone(), measured));
            }
        }
    }
    let tasks: Vec<(usize, usize)> =
        (0..=STEPS).flat_map(|step| (0..cells.len()).map(move |cell| (step, cell))).collect();
    let errors = tasks
        .par_iter()
        .map(|&(step, cell)| cell_errors(&cells[cell].1, cells[cell].2, settings, at(settings, step)))
        .collect::<Result<Vec<Errors>>>()?;
    let by_step: Vec<&[Errors]> = errors.chunks(cells.len()).collect();
    let best = |keep: &dyn Fn(usize) -> bool| {
        let score = |step: &usize| {
            let kept = (0..cells.len()).filter(|&cell| keep(cells[cell].0));
            // Rounded, so that ties do not hang on the last bit.
            (mean(&kept.map(|cell| total(by_step[*step][cell])).collect::<Vec<_>>()) * 1e9).round() as i64
        };
        (0..=STEPS).min_by_key(score).unwrap_or(0)
    };
    let describe = |step: usize, keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<usize> = (0..cells.len()).filter(|&cell| keep(cells[cell].0)).collect();
        let mean_of = |figure: usize| {
            100.0 * mean(&kept.iter().map(|&cell| by_step[step][cell][figure].abs()).collect::<Vec<_>>())
        };
        format!(
            "makespan {:.2} %, mean JCT {:.2} %, mean execution time {:.2} %",
            mean_of(0),
            mean_of(1),
            mean_of(2)
        )
    };

    let chosen = best(&|_| true);
    let mut report = Report { toml: String::new(), lines: Vec::new() };
    report.line("runs", format!("{} x {SEEDS} seeds x {} candidates", cells.len(), STEPS + 1));
    report.line("slowdown_per_job", format!("{:.3}", at(settings, chosen).slowdown_per_job));
    report.line("error without it", describe(0, &|_| true));
    report.line("error, in the fit", describe(chosen, &|_| true));
    let mut left_out = String::new();
    for (index, name) in evaluation.traces.iter().enumerate() {
        let others = best(&|trace| trace != index);
        let errors = describe(others, &|trace| trace == index);
        report.line(
            format!("error on {name}, fitted to the others ({:.3})", at(settings, others).slowdown_per_job),
            errors.clone(),
        );
        left_out += &format!("#   {name}, {:.3} per job: {errors}\n", at(settings, others).slowdown_per_job);
    }
    report.toml = format!(
        "\
# How jobs slow each other down outside the GPUs.
#
# free_jobs: runs of up to five jobs on a host of three GPUs (experiments/measured/multiway.csv) are explained without it.
# slowdown_per_job: fitted to makespan, mean JCT and mean execution time of {} measured runs (horus and aegis with its
# variants) by
#   aegis-sim calibrate host
# Mean absolute errors of the medians over {SEEDS} seeds:
#   without it: {}
#   with it: {}
# On each trace with what fits the others:
{left_out}schema_version = 1

[host]
gpus = {} # of the host that was measured; one with more is taken to be larger in proportion
free_jobs = {:.1}
slowdown_per_job = {:.3} # of all jobs of the host, per training job beyond the free ones
",
        cells.len(),
        describe(0, &|_| true),
        describe(chosen, &|_| true),
        settings.model.host.gpus,
        settings.model.host.free_jobs,
        at(settings, chosen).slowdown_per_job
    );
    Ok(report)
}

/// A candidate: the model's free jobs with another slowdown.
fn at(settings: &Settings, step: usize) -> Host {
    Host { slowdown_per_job: (step as f64 * STEP * 1000.0).round() / 1000.0, ..settings.model.host }
}

fn total(errors: Errors) -> f64 {
    errors.iter().map(|error| error.abs()).sum()
}

fn cell_errors(world: &World, measured: &MeasuredRun, settings: &Settings, host: Host) -> Result<Errors> {
    let mut world = world.clone();
    world.model.host = host;
    let mut params = settings.params(&measured.policy)?;
    params.set("telemetry_blind_gpu", measured.telemetry.over_seeds())?;
    let summaries = (1..=SEEDS)
        .map(|seed| Ok(Summary::of(&simulate(&world, &measured.policy, &params, seed, &mut NoObserver)?)))
        .collect::<Result<Vec<Summary>>>()?;
    let error = |name: &str, figure: fn(&Summary) -> f64| {
        let mut values: Vec<f64> = summaries.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        quantile_of_sorted(&values, 0.5) / measured.figure(name).unwrap_or(f64::NAN) - 1.0
    };
    Ok([
        error("makespan_s", |s| s.makespan_s),
        error("jct_mean_s", |s| s.jct_s.mean),
        error("execution_time_mean_s", |s| s.execution_time_s.mean),
    ])
}
