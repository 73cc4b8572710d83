//! How well the workloads fit the jobs that they stand for.

use std::collections::BTreeMap;

use super::assignment::Group;
use crate::workload::{Catalogue, TraceJob};

/// Of the jobs that were given workloads of one GPU count, or of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// GPU count of the workloads; `None` for all.
    pub gpus: Option<u32>,
    pub jobs: usize,
    /// Those of the jobs whose own GPU count is another, which no workload has.
    pub jobs_of_other_counts: usize,
    /// How many workloads there were to choose from.
    pub workloads: usize,
    /// How many of them were taken.
    pub distinct_workloads: usize,
    /// Jobs of the workload that was taken most often.
    pub most_jobs_per_workload: usize,
    /// Differences between the runtime quantiles of a job and its workload.
    pub quantile_distance_mean: f64,
    pub quantile_distance_max: f64,
}

impl Quality {
    /// By GPU count of the workloads, then over all.
    pub(super) fn of(groups: &[Group], jobs: &[&TraceJob], catalogue: &Catalogue) -> Vec<Quality> {
        let mut rows: Vec<Quality> = groups
            .iter()
            .map(|group| Quality::over(Some(group.gpus), std::slice::from_ref(group), jobs))
            .collect();
        rows.push(Quality { workloads: catalogue.workloads().len(), ..Quality::over(None, groups, jobs) });
        rows
    }

    fn over(gpus: Option<u32>, groups: &[Group], jobs: &[&TraceJob]) -> Quality {
        let assigned =
            || groups.iter().flat_map(|group| group.assigned.iter().map(move |of| (group.gpus, of)));
        let count = assigned().count();
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        assigned().for_each(|(_, of)| *taken.entry(of.workload).or_default() += 1);
        Quality {
            gpus,
            jobs: count,
            jobs_of_other_counts: assigned().filter(|(gpus, of)| jobs[of.job].gpus != *gpus).count(),
            workloads: groups.iter().map(|group| group.workloads).sum(),
            distinct_workloads: taken.len(),
            most_jobs_per_workload: taken.values().copied().max().unwrap_or(0),
            quantile_distance_mean: assigned().map(|(_, of)| of.distance).sum::<f64>() / count as f64,
            quantile_distance_max: assigned().map(|(_, of)| of.distance).fold(0.0, f64::max),
        }
    }
}
