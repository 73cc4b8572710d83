//! Measured runs replayed over many seeds: errors of the medians, and whether the spread over seeds covers what was
//! measured.

mod aggregate;
mod counterfactual;
mod reference;
mod replay;
mod run;
mod targets;

pub use aggregate::{Aggregate, Errors, JobErrors, Scope};
pub use counterfactual::{
    Change, Counterfactual, CounterfactualRun, Difference, Direction, ReductionChange, SlowdownChange,
};
pub use reference::Reference;
pub use run::{Interval, ValidatedFigure, ValidatedJob, ValidatedJobs, ValidatedRun};
pub use targets::{FigureLimits, Status, Target, Targets};

use self::replay::{Replay, SOUND, Telemetry};
use super::Settings;
use super::reproduction::reduction_pct;
use crate::error::{Result, input_error};
use crate::policy::PolicySpec;

/// Measured runs beside the same runs simulated under seeds 1, 2, ..., `seeds`.
#[derive(Debug, Clone)]
pub struct Validation {
    pub seeds: u64,
    /// In the order of the reference.
    pub runs: Vec<ValidatedRun>,
    /// Over all runs, by policy and by trace; in each, one per figure.
    pub aggregates: Vec<Aggregate>,
    /// Likewise of the jobs, and of each run by itself before these; empty where no jobs were measured.
    pub job_errors: Vec<JobErrors>,
    pub headline: Vec<ValidatedHeadline>,
    pub targets: Vec<Target>,
}

/// By how much less makespan the headline policy needs than another, as geometric means over the traces, in percent.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidatedHeadline {
    pub policy: PolicySpec,
    pub against: PolicySpec,
    pub measured_pct: f64,
    /// Over seeds: each run of a policy beside the run of the other under the same seed.
    pub simulated_pct: Interval,
}

/// Replays the reference's runs under seeds 1 to `seeds`, in parallel, each under its measured run's telemetry condition.
///
/// Seed 0 is left out: it is the run without run-to-run noise, and no draw of what might have been measured. `replayed` is
/// called after every simulated run, from any thread.
///
/// # Errors
/// No seed; input that cannot be used.
pub fn validate(
    reference: &Reference,
    settings: &Settings,
    seeds: u64,
    replayed: &(dyn Fn() + Sync),
) -> Result<Validation> {
    Ok(Validation::of(reference, &replay(reference, settings, seeds, Telemetry::AsMeasured, replayed)?))
}

/// Replays as [`validate`] does, and all runs once more with sound telemetry on all GPUs.
///
/// `replayed` is called twice per measured run and seed.
///
/// # Errors
/// As of [`validate`].
pub fn validate_with_sound_telemetry(
    reference: &Reference,
    settings: &Settings,
    seeds: u64,
    replayed: &(dyn Fn() + Sync),
) -> Result<(Validation, Counterfactual)> {
    let replay = |telemetry| replay(reference, settings, seeds, telemetry, replayed);
    let (as_measured, sound) = (replay(Telemetry::AsMeasured)?, replay(Telemetry::Sound)?);
    let counterfactual = Counterfactual::of(reference, &as_measured, &sound);
    Ok((Validation::of(reference, &as_measured), counterfactual))
}

fn replay<'a>(
    reference: &'a Reference,
    settings: &Settings,
    seeds: u64,
    telemetry: Telemetry,
    replayed: &(dyn Fn() + Sync),
) -> Result<Replay<'a>> {
    settings.refuse_condition()?;
    if seeds == 0 {
        return Err(input_error!("0 seeds: expected at least 1; intervals take about 20"));
    }
    Replay::of(reference, settings, seeds, telemetry, replayed)
}

impl Validation {
    fn of(reference: &Reference, replay: &Replay<'_>) -> Validation {
        let runs: Vec<ValidatedRun> =
            (0..reference.runs.len()).map(|index| ValidatedRun::of(replay, index)).collect();
        let aggregates = Aggregate::of(&runs);
        let headline = headline(reference, replay);
        let targets =
            reference.targets.as_ref().map_or(Vec::new(), |targets| targets.compare(&aggregates, &headline));
        let (seeds, job_errors) = (replay.seeds() as u64, JobErrors::of(&runs));
        Validation { seeds, job_errors, runs, aggregates, headline, targets }
    }

    /// The targets that were missed, a sentence each.
    pub fn shortfalls(&self) -> Vec<String> {
        self.targets.iter().filter(|target| target.status == Status::Missed).map(Target::to_string).collect()
    }
}

fn headline(reference: &Reference, replay: &Replay<'_>) -> Vec<ValidatedHeadline> {
    let Some(headline) = &reference.headline else { return Vec::new() };
    let makespan = "makespan_s";
    let of_policy = |policy: &PolicySpec, makespan_s: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let indices = (0..reference.runs.len()).filter(|&index| reference.runs[index].1.policy == *policy);
        indices.map(makespan_s).collect()
    };
    let reduction = |against: &PolicySpec, makespan_s: &dyn Fn(usize) -> f64| {
        reduction_pct(&of_policy(&headline.policy, makespan_s), &of_policy(against, makespan_s))
    };
    let measured = |index: usize| reference.runs[index].1.figure(makespan).unwrap_or(f64::NAN);
    headline
        .against
        .iter()
        .map(|against| {
            let of_seed = |seed: usize| reduction(against, &|index| replay.figure(index, seed, makespan));
            ValidatedHeadline {
                policy: headline.policy.clone(),
                against: against.clone(),
                measured_pct: reduction(against, &measured),
                simulated_pct: Interval::of((0..replay.seeds()).map(of_seed).collect()),
            }
        })
        .collect()
}
