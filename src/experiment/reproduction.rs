use rayon::prelude::*;

use super::{Condition, Evaluation, MeasuredRun, Reference, Settings, error_pct, validate};
use crate::error::Result;
use crate::metrics::{Summary, geometric_mean};
use crate::policy::{PolicyKind, PolicySpec};
use crate::sim::{NoObserver, RunRecord, World, simulate};
use crate::workload::Trace;

/// A simulated run under its measured run's condition, and beside it.
#[derive(Debug, Clone)]
pub struct Cell {
    pub policy: PolicySpec,
    pub measured: MeasuredRun,
    /// Power of all GPUs together when idle, in watts.
    pub idle_w: f64,
    /// The condition of the run: `none`, or the index of the GPU whose SMACT and SMOCC telemetry read zero.
    pub telemetry_blind_gpu: String,
    pub record: RunRecord,
    pub summary: Summary,
    pub makespan_vs_exclusive: f64,
    pub jct_mean_vs_exclusive: f64,
    /// The same run with sound telemetry on all GPUs.
    pub sound: Summary,
}

/// By how much less makespan the headline policy needs than another, in percent.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduction {
    pub against: PolicySpec,
    pub simulated_pct: f64,
    pub measured_pct: f64,
    /// With sound telemetry on all GPUs.
    pub sound_pct: f64,
}

/// An evaluation's runs, simulated beside measured.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// By trace, then policy, as the evaluation lists them.
    pub cells: Vec<Cell>,
    pub headline: Vec<Reduction>,
}

/// Runs an evaluation, in parallel.
///
/// # Errors
/// Input that cannot be used; a run that the measured results lack.
pub fn reproduce(evaluation: &Evaluation, settings: &Settings) -> Result<Reproduction> {
    settings.refuse_condition()?;
    let worlds = evaluation
        .traces
        .iter()
        .map(|name| settings.world(&Trace::open(name)?))
        .collect::<Result<Vec<World>>>()?;
    let tasks: Vec<(&World, &PolicySpec)> = worlds
        .iter()
        .flat_map(|world| evaluation.policies.iter().map(move |policy| (world, policy)))
        .collect();
    let mut cells = tasks
        .par_iter()
        .map(|(world, policy)| cell(evaluation, settings, world, policy))
        .collect::<Result<Vec<Cell>>>()?;
    for of_trace in cells.chunks_mut(evaluation.policies.len()) {
        let exclusive = of_trace.iter().find(|cell| cell.policy.kind == PolicyKind::Exclusive);
        let baseline = exclusive.map(|cell| (cell.summary.makespan_s, cell.summary.jct_s.mean));
        for cell in of_trace {
            let (makespan_s, jct_mean_s) = baseline.unwrap_or((f64::NAN, f64::NAN));
            cell.makespan_vs_exclusive = cell.summary.makespan_s / makespan_s;
            cell.jct_mean_vs_exclusive = cell.summary.jct_s.mean / jct_mean_s;
        }
    }
    let headline = headline(evaluation, &cells);
    Ok(Reproduction { cells, headline })
}

fn cell(evaluation: &Evaluation, settings: &Settings, world: &World, policy: &PolicySpec) -> Result<Cell> {
    let measured = evaluation.measured.required(&world.trace_name, policy)?;
    let mut params = settings.params(policy)?;
    let run = |params: &_| simulate(world, policy, params, settings.seed, &mut NoObserver);
    params.set("telemetry_blind_gpu", "none")?;
    let sound = Summary::of(&run(&params)?);
    // Where it is not known which GPU was blind, each may have been: the run of median makespan stands for all.
    let conditions = match &measured.telemetry {
        Condition::Known(value) => vec![value.clone()],
        Condition::Unknown => (0..world.cluster.largest_server_gpus()).map(|gpu| gpu.to_string()).collect(),
    };
    let mut runs = Vec::with_capacity(conditions.len());
    for condition in conditions {
        params.set("telemetry_blind_gpu", &condition)?;
        runs.push((condition, run(&params)?));
    }
    runs.sort_by_key(|(_, record)| record.end - record.start);
    let (telemetry_blind_gpu, record) = runs.swap_remove((runs.len() - 1) / 2);
    Ok(Cell {
        telemetry_blind_gpu,
        policy: policy.clone(),
        measured: measured.clone(),
        idle_w: world.idle_w(),
        summary: Summary::of(&record),
        record,
        makespan_vs_exclusive: f64::NAN,
        jct_mean_vs_exclusive: f64::NAN,
        sound,
    })
}

fn headline(evaluation: &Evaluation, cells: &[Cell]) -> Vec<Reduction> {
    let reduction_pct = |against: &PolicySpec, makespan_s: &dyn Fn(&Cell) -> f64| {
        let makespans_s = |policy: &PolicySpec| -> Vec<f64> {
            cells.iter().filter(|cell| cell.policy == *policy).map(makespan_s).collect()
        };
        reduction_pct(&makespans_s(&evaluation.headline.policy), &makespans_s(against))
    };
    evaluation
        .headline
        .against
        .iter()
        .map(|against| Reduction {
            against: against.clone(),
            simulated_pct: reduction_pct(against, &|cell| cell.summary.makespan_s),
            measured_pct: reduction_pct(against, &|cell| {
                cell.measured.figure("makespan_s").unwrap_or(f64::NAN)
            }),
            sound_pct: reduction_pct(against, &|cell| cell.sound.makespan_s),
        })
        .collect()
}

/// By how much less the geometric mean of makespans is than that of others, in percent.
pub(super) fn reduction_pct(makespans_s: &[f64], others_s: &[f64]) -> f64 {
    100.0 * (1.0 - geometric_mean(makespans_s) / geometric_mean(others_s))
}

impl Cell {
    /// A measured figure from the first submission to the last end: see [`MeasuredRun::figure_over_makespan`].
    pub fn measured_figure(&self, name: &str) -> Option<f64> {
        self.measured.figure_over_makespan(name, self.idle_w)
    }

    /// Error of a figure in percent of the measured one; `None` where that is missing or 0.
    pub fn error_pct(&self, name: &str) -> Option<f64> {
        let figures = self.summary.figures();
        let (_, simulated) = figures.iter().find(|(known, _)| known == name)?;
        error_pct(simulated.as_f64(), self.measured_figure(name)?)
    }
}

impl Reproduction {
    /// Mean absolute error of a figure over the cells, in percent; NaN where none has it.
    pub fn mean_absolute_error_pct(&self, name: &str) -> f64 {
        let errors: Vec<f64> =
            self.cells.iter().filter_map(|cell| cell.error_pct(name)).map(f64::abs).collect();
        crate::metrics::mean(&errors)
    }

    /// What falls short of the evaluation's check, a sentence each.
    ///
    /// # Errors
    /// As of [`reproduce`].
    pub fn shortfalls(&self, evaluation: &Evaluation, settings: &Settings) -> Result<Vec<String>> {
        let check = &evaluation.check;
        let mut found = Vec::new();
        for (name, limit) in [("makespan_s", check.makespan_mae_pct), ("jct_mean_s", check.jct_mean_mae_pct)]
        {
            let error = self.mean_absolute_error_pct(name);
            if exceeds(error, limit) {
                found.push(format!("{name}: mean absolute error {error:.2} %, expected at most {limit} %"));
            }
        }
        for of_trace in self.cells.chunks(evaluation.policies.len()) {
            let find = |name: &String| of_trace.iter().find(|cell| cell.policy.to_string() == *name);
            for pair in check.makespan_order.windows(2) {
                let (Some(less), Some(more)) = (find(&pair[0]), find(&pair[1])) else { continue };
                if less.summary.makespan_s >= more.summary.makespan_s {
                    found.push(format!(
                        "{}: makespan of {} ({:.0} s) is not below that of {} ({:.0} s)",
                        less.summary.trace,
                        less.policy,
                        less.summary.makespan_s,
                        more.policy,
                        more.summary.makespan_s
                    ));
                }
            }
        }
        found.extend(failed_attempts_shortfalls(evaluation, settings)?);
        Ok(found)
    }
}

/// Runs for a median that is checked.
const CHECK_SEEDS: u64 = 20;

/// Failed attempts are held to their limit as medians over seeds: those of a single run are largely chance.
fn failed_attempts_shortfalls(evaluation: &Evaluation, settings: &Settings) -> Result<Vec<String>> {
    let check = &evaluation.check;
    let checked = Reference::of_whole_runs(evaluation)?
        .only(|run| run.policy.to_string() == check.failed_attempts_policy);
    let mut found = Vec::new();
    for run in validate(&checked, settings, CHECK_SEEDS, &|| {})?.runs {
        let (simulated, measured) = run
            .figure("failed_attempts")
            .map_or((f64::NAN, f64::NAN), |failed| (failed.simulated.median, failed.measured));
        if exceeds((simulated - measured).abs(), check.failed_attempts_difference as f64) {
            found.push(format!(
                "{}: {simulated} failed attempts of {} (median over seeds 1 to {CHECK_SEEDS}), measured {measured}; \
                 expected a difference of at most {}",
                run.trace, run.policy, check.failed_attempts_difference
            ));
        }
    }
    Ok(found)
}

/// Whether an error is beyond its limit; one that could not be worked out (NaN) is.
pub(super) fn exceeds(error: f64, limit: f64) -> bool {
    error.is_nan() || limit.is_nan() || error > limit
}
