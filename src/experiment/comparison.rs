use rayon::prelude::*;

use super::Settings;
use crate::error::Result;
use crate::metrics::Summary;
use crate::policy::{PolicyKind, PolicySpec};
use crate::sim::{NoObserver, RunRecord, World, simulate};

/// A run and how it compares with exclusive allocation on the same trace.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub record: RunRecord,
    pub summary: Summary,
    /// Over exclusive's; NaN where that is 0.
    pub makespan_vs_exclusive: f64,
    pub jct_mean_vs_exclusive: f64,
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
    let records = tasks
        .par_iter()
        .map(|&(world, policy)| {
            simulate(&worlds[world], policy, &settings.params(policy)?, settings.seed, &mut NoObserver)
        })
        .collect::<Result<Vec<RunRecord>>>()?;
    let mut comparisons = Vec::with_capacity(worlds.len() * policies.len());
    for of_world in records.chunks(1 + policies.len()) {
        let (baseline, records) = of_world.split_at(1);
        let baseline = Summary::of(&baseline[0]);
        comparisons.extend(records.iter().map(|record| {
            let summary = Summary::of(record);
            Comparison {
                makespan_vs_exclusive: summary.makespan_s / baseline.makespan_s,
                jct_mean_vs_exclusive: summary.jct_s.mean / baseline.jct_s.mean,
                summary,
                record: record.clone(),
            }
        }));
    }
    Ok(comparisons)
}
