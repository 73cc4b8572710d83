use rayon::prelude::*;

use super::Settings;
use crate::error::Result;
use crate::metrics::Summary;
use crate::policy::{PolicyKind, PolicySpec};
use crate::sim::{MakespanBound, NoObserver, RunRecord, World, makespan_bound, simulate};

/// A run and how it compares with exclusive allocation on the same trace.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub record: RunRecord,
    pub summary: Summary,
    /// Over exclusive's; NaN where that is 0.
    pub makespan_vs_exclusive: f64,
    pub jct_mean_vs_exclusive: f64,
    /// Under the run's parameters and seed.
    pub bound: MakespanBound,
}

impl Comparison {
    /// See [`makespan_vs_bound`].
    pub fn makespan_vs_bound(&self) -> f64 {
        makespan_vs_bound(&self.summary, &self.bound)
    }
}

/// Makespan over what no policy can beat: at least 1. NaN where the run gave up a job that a policy could have
/// completed, for then it did less than the bound counts.
pub fn makespan_vs_bound(summary: &Summary, bound: &MakespanBound) -> f64 {
    if summary.given_up_jobs == bound.left_out_jobs {
        summary.makespan_s / bound.makespan_s()
    } else {
        f64::NAN
    }
}

/// Runs every policy on every world, in parallel; by world, then policy. Exclusive is run where it is not
/// asked for, to compare with.
///
/// # Errors
/// Parameters that do not fit the cluster.
pub fn compare(worlds: &[World], policies: &[PolicySpec], settings: &Settings) -> Result<Vec<Comparison>> {
    let exclusive = PolicySpec::from(PolicyKind::Exclusive);
    let tasks: Vec<(usize, &PolicySpec)> = (0..worlds.len())
        .flat_map(|world| std::iter::once(&exclusive).chain(policies).map(move |policy| (world, policy)))
        .collect();
    let runs = tasks
        .par_iter()
        .map(|&(world, policy)| {
            let (world, params) = (&worlds[world], settings.params(policy)?);
            let record = simulate(world, policy, &params, settings.seed, &mut NoObserver)?;
            Ok((record, makespan_bound(world, &params, settings.seed)))
        })
        .collect::<Result<Vec<(RunRecord, MakespanBound)>>>()?;
    let mut comparisons = Vec::with_capacity(worlds.len() * policies.len());
    for of_world in runs.chunks(1 + policies.len()) {
        let (baseline, runs) = of_world.split_at(1);
        let baseline = Summary::of(&baseline[0].0);
        comparisons.extend(runs.iter().map(|(record, bound)| {
            let summary = Summary::of(record);
            Comparison {
                makespan_vs_exclusive: summary.makespan_s / baseline.makespan_s,
                jct_mean_vs_exclusive: summary.jct_s.mean / baseline.jct_s.mean,
                summary,
                record: record.clone(),
                bound: *bound,
            }
        }));
    }
    Ok(comparisons)
}
