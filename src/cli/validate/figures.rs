//! The figures of a validation.

use std::path::Path;

use crate::error::Result;
use crate::experiment::{Interval, ValidatedRun, Validation};
use crate::report::plot::{self, EcdfPanel, Pair, PairPanel, Twins};

const HOUR_S: f64 = 3600.0;

/// Figures that are drawn of the runs: name, title.
const AGREEMENT: [(&str, &str); 2] = [("makespan_s", "makespan"), ("jct_mean_s", "mean JCT")];
const ERRORS: [(&str, &str); 4] = [
    ("makespan_s", "makespan"),
    ("jct_mean_s", "mean JCT"),
    ("jct_p95_s", "95th percentile of JCT"),
    ("execution_time_mean_s", "mean execution time"),
];

/// Draws what there is data for; names and captions.
pub(in crate::cli) fn write(
    dir: &Path,
    validation: &Validation,
) -> Result<Vec<(&'static str, &'static str)>> {
    let mut drawn = Vec::new();
    let mut add = |name: &'static str, caption, figure| {
        drawn.push((name, caption));
        plot::write(dir, name, &figure)
    };
    add(
        "agreement",
        "Measured and simulated makespan and mean JCT of each run: medians over seeds with 90 % intervals.",
        plot::agreement(&AGREEMENT.map(|(name, title)| panel(validation, name, title, 1.0 / HOUR_S))),
    )?;
    add(
        "errors",
        "Errors of the medians over seeds of each run, with 90 % intervals.",
        plot::errors(&ERRORS.map(|(name, title)| panel(validation, name, title, 1.0))),
    )?;
    let with_jobs = || validation.runs.iter().filter(|run| run.jobs.is_some());
    if with_jobs().next().is_none() {
        return Ok(drawn);
    }
    let mut policies: Vec<String> = Vec::new();
    let mut traces: Vec<&str> = Vec::new();
    for run in with_jobs() {
        let policy = run.policy.to_string();
        if !policies.contains(&policy) {
            policies.push(policy);
        }
        if !traces.contains(&run.trace.as_str()) {
            traces.push(&run.trace);
        }
    }
    let panels: Vec<PairPanel> = policies
        .into_iter()
        .map(|policy| {
            let runs = with_jobs().filter(|run| run.policy.to_string() == policy);
            let pairs = runs.flat_map(job_pairs).collect();
            PairPanel { title: policy, pairs }
        })
        .collect();
    add(
        "job_agreement",
        "Measured and simulated completion time of each job: medians over seeds with 90 % intervals.",
        plot::job_agreement(&panels),
    )?;
    let panels: Vec<EcdfPanel> = traces
        .into_iter()
        .map(|trace| {
            let runs = with_jobs().filter(|run| run.trace == trace);
            EcdfPanel { title: trace.to_owned(), curves: runs.map(twins).collect() }
        })
        .collect();
    add(
        "jct",
        "Distributions of job completion times, measured and simulated: the median over seeds of a run's shortest, second \
         shortest, ... completion time.",
        plot::ecdf_panels(&panels, "job completion time [h]"),
    )?;
    Ok(drawn)
}

fn panel(validation: &Validation, name: &str, title: &str, scale: f64) -> PairPanel {
    let pair = |run: &ValidatedRun| {
        let figure = run.figure(name)?;
        Some(pair(run, figure.measured, figure.simulated, scale))
    };
    PairPanel { title: title.to_owned(), pairs: validation.runs.iter().filter_map(pair).collect() }
}

fn pair(run: &ValidatedRun, measured: f64, simulated: Interval, scale: f64) -> Pair {
    Pair {
        policy: run.policy.to_string(),
        trace: run.trace.clone(),
        measured: measured * scale,
        simulated: [simulated.p5, simulated.median, simulated.p95].map(|value| value * scale),
    }
}

fn job_pairs(run: &ValidatedRun) -> Vec<Pair> {
    let jobs = run.jobs.iter().flat_map(|jobs| &jobs.jobs);
    let both = jobs.filter_map(|job| job.both_jcts_s());
    both.map(|(measured, simulated)| pair(run, measured, simulated, 1.0 / HOUR_S)).collect()
}

fn twins(run: &ValidatedRun) -> Twins {
    let jobs = run.jobs.iter().flat_map(|jobs| &jobs.jobs);
    let ordered = run.jobs.iter().flat_map(|jobs| &jobs.ordered_jcts_s);
    Twins {
        policy: run.policy.to_string(),
        measured: jobs.filter_map(|job| job.measured_jct_s).map(|jct_s| jct_s / HOUR_S).collect(),
        simulated: ordered.map(|jct_s| jct_s / HOUR_S).collect(),
    }
}
