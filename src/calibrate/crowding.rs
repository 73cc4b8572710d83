//! The constant of crowding, from the measured runs of whole traces.

use rayon::prelude::*;

use super::Report;
use crate::error::Result;
use crate::experiment::{Evaluation, MeasuredRun, Settings};
use crate::metrics::{Summary, mean, quantile_of_sorted};
use crate::model::Crowding;
use crate::policy::PolicyKind;
use crate::sim::{NoObserver, World, simulate};
use crate::workload::Trace;

/// Candidates: 0, `STEP`, 2 `STEP`, ... slowdown per job beyond the second.
const STEP: f64 = 0.02;
const STEPS: usize = 16;
/// Runs per candidate and cell, with seeds 1, 2, ...; their medians are compared with what was measured.
const SEEDS: u64 = 30;

/// Relative errors of a cell's medians: makespan, mean JCT and mean execution time.
type Errors = [f64; 3];

/// Fits crowding to the measured runs of policies that put more than two jobs on a GPU.
///
/// The fit minimises the mean absolute errors of makespan, mean JCT and mean execution time together. The report says how a fit to
/// all other traces does on each trace: one constant that holds for traces it has not seen.
///
/// # Errors
/// Input that cannot be used.
pub fn run_crowding(evaluation: &Evaluation, settings: &Settings) -> Result<Report> {
    let mut cells = Vec::new();
    for (index, name) in evaluation.traces.iter().enumerate() {
        let world = settings.world(&Trace::open(name)?)?;
        // Lucid never has a third job on a GPU, nor has exclusive a second.
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
        .map(|&(step, cell)| cell_errors(&cells[cell].1, cells[cell].2, settings, at(step)))
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
    report.line("per_job", format!("{:.2}", at(chosen).per_job));
    report.line("error without crowding", describe(0, &|_| true));
    report.line("error, in the fit", describe(chosen, &|_| true));
    let mut left_out = String::new();
    for (index, name) in evaluation.traces.iter().enumerate() {
        let others = best(&|trace| trace != index);
        let errors = describe(others, &|trace| trace == index);
        report.line(
            format!("error on {name}, fitted to the others ({:.2})", at(others).per_job),
            errors.clone(),
        );
        left_out += &format!("#   {name}, {:.2} per job: {errors}\n", at(others).per_job);
    }
    report.toml = format!(
        "\
# What the mere number of jobs on a GPU adds to what pairs of them tell.
#
# Fitted to makespan, mean JCT and mean execution time of {} measured runs (horus and aegis with its variants) by
#   aegis-sim calibrate crowding
# Mean absolute errors of the medians over {SEEDS} seeds:
#   without it: {}
#   with it: {}
# On each trace with what fits the others:
{left_out}# Runs of up to five jobs on one GPU alone (models/interference.toml) show less of it.
schema_version = 1

[crowding]
per_job = {:.2} # slowdown per job beyond the second
",
        cells.len(),
        describe(0, &|_| true),
        describe(chosen, &|_| true),
        at(chosen).per_job
    );
    Ok(report)
}

fn at(step: usize) -> Crowding {
    Crowding { per_job: (step as f64 * STEP * 100.0).round() / 100.0 }
}

fn total(errors: Errors) -> f64 {
    errors.iter().map(|error| error.abs()).sum()
}

fn cell_errors(
    world: &World,
    measured: &MeasuredRun,
    settings: &Settings,
    crowding: Crowding,
) -> Result<Errors> {
    let mut world = world.clone();
    world.model.crowding = crowding;
    let mut params = settings.params(&measured.policy)?;
    params.set("telemetry_blind_gpu", &measured.telemetry_blind_gpu)?;
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
