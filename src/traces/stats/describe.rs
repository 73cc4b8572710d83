use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use crate::cluster::ClusterSpec;
use crate::engine::Time;
use crate::metrics::sorted;
use crate::workload::{Catalogue, Trace, TraceJob};

/// Numbers of GPUs that are counted together: name, heading and the largest.
pub const GANG_BINS: [(&str, &str, u32); 6] = [
    ("1", "1", 1),
    ("2", "2", 2),
    ("3_to_4", "3-4", 4),
    ("5_to_8", "5-8", 8),
    ("9_to_16", "9-16", 16),
    ("17_up", ">16", u32::MAX),
];

/// The place of a number of GPUs in [`GANG_BINS`].
pub fn gang_bin(gpus: u32) -> usize {
    GANG_BINS.iter().take_while(|(.., largest)| gpus > *largest).count()
}

/// A trace, taken apart.
#[derive(Debug, Clone)]
pub struct Description {
    pub name: String,
    pub jobs: usize,
    pub(super) users: usize,
    pub(super) vcs: usize,
    pub(super) workloads: usize,
    pub(super) unmapped: usize,
    pub(super) shares: Vec<f64>,
    /// Jobs by how they ended; blank where that is not known.
    pub(super) states: BTreeMap<String, usize>,
    pub(super) first_submit_s: f64,
    /// From the first submission, ascending.
    pub submissions_s: Vec<f64>,
    /// Ascending.
    pub inter_arrivals_s: Vec<f64>,
    /// Runtimes alone, ascending.
    pub durations_s: Vec<f64>,
    /// Jobs whose duration is the solo runtime of their workload, and those without any.
    pub catalogue_durations: usize,
    pub unknown_durations: usize,
    /// GPU-seconds by job, ascending, where the duration is known: GPUs, times the share of each, times the duration.
    pub(super) service_gpu_s: Vec<f64>,
    /// Jobs and GPU-seconds by number of GPUs.
    pub gangs: BTreeMap<u32, (usize, f64)>,
    pub(super) peak_per_hour: usize,
    /// Most GPUs in use at a time if no job ever waited.
    pub(super) peak_demand: f64,
    pub(super) offer: Option<Offer>,
}

/// A trace beside a cluster.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub(super) gpus: usize,
    pub(super) above_largest_server: usize,
    pub(super) above_cluster: usize,
    /// Jobs that a cluster without waiting would need more GPUs for.
    pub(super) beyond: usize,
}

impl Description {
    /// Durations that a trace leaves blank are the solo runtimes of the jobs' workloads, on as many GPUs.
    pub fn of(trace: &Trace, catalogue: &Catalogue, cluster: Option<&ClusterSpec>) -> Description {
        let jobs = &trace.jobs;
        let first_s = jobs.first().map_or(0.0, |job| job.submit_s);
        let submissions_s: Vec<f64> = jobs.iter().map(|job| job.submit_s - first_s).collect();
        let inter_arrivals_s = sorted(submissions_s.windows(2).map(|pair| pair[1] - pair[0]));
        let runtime = |job: &TraceJob| {
            job.duration_s.or_else(|| {
                let workload = catalogue.get(&job.workload).filter(|workload| workload.gpus == job.gpus);
                workload.map(|workload| workload.solo_runtime_s)
            })
        };
        let runtimes_s: Vec<Option<f64>> = jobs.iter().map(runtime).collect();
        let demand = |job: &TraceJob| f64::from(job.gpus) * job.gpu_share.unwrap_or(1.0);
        let mut gangs: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
        for (job, runtime_s) in jobs.iter().zip(&runtimes_s) {
            let gang = gangs.entry(job.gpus).or_default();
            gang.0 += 1;
            gang.1 += demand(job) * runtime_s.unwrap_or(0.0);
        }
        let mut states: BTreeMap<String, usize> = BTreeMap::new();
        for job in jobs {
            let state = job.state.as_deref().unwrap_or_default();
            match states.get_mut(state) {
                Some(count) => *count += 1,
                None => drop(states.insert(state.to_owned(), 1)),
            }
        }
        let distinct = |text: fn(&TraceJob) -> Option<&str>| {
            jobs.iter().filter_map(text).filter(|text| !text.is_empty()).collect::<HashSet<_>>().len()
        };
        let capacity = cluster.map_or(usize::MAX, ClusterSpec::gpu_count);
        let at_once =
            jobs.iter().zip(&runtimes_s).map(|(job, runtime)| (job.submit_s, demand(job), *runtime));
        let (peak_demand, beyond) = without_waiting(at_once, capacity as f64);
        let above = |gpus: usize| jobs.iter().filter(|job| job.gpus as usize > gpus).count();
        Description {
            name: trace.name.clone(),
            jobs: jobs.len(),
            users: distinct(|job| job.user.as_deref()),
            vcs: distinct(|job| job.vc.as_deref()),
            workloads: distinct(|job| Some(&job.workload)),
            unmapped: jobs.iter().filter(|job| job.workload.is_empty()).count(),
            shares: jobs.iter().filter_map(|job| job.gpu_share).collect(),
            states,
            first_submit_s: first_s,
            peak_per_hour: peak_per_hour(&submissions_s),
            submissions_s,
            inter_arrivals_s,
            durations_s: sorted(runtimes_s.iter().flatten().copied()),
            catalogue_durations: jobs
                .iter()
                .zip(&runtimes_s)
                .filter(|(job, runtime_s)| job.duration_s.is_none() && runtime_s.is_some())
                .count(),
            unknown_durations: runtimes_s.iter().filter(|runtime_s| runtime_s.is_none()).count(),
            service_gpu_s: sorted(
                jobs.iter().zip(&runtimes_s).filter_map(|(job, runtime_s)| Some(demand(job) * (*runtime_s)?)),
            ),
            gangs,
            peak_demand,
            offer: cluster.map(|cluster| Offer {
                gpus: capacity,
                above_largest_server: above(cluster.largest_server_gpus()),
                above_cluster: above(capacity),
                beyond,
            }),
        }
    }

    pub fn span_s(&self) -> f64 {
        self.submissions_s.last().copied().unwrap_or(0.0)
    }

    /// Shares of jobs and of GPU-seconds in [`GANG_BINS`]. NaN for the latter where no duration is known.
    pub fn gang_shares(&self) -> [[f64; GANG_BINS.len()]; 2] {
        let mut shares = [[0.0; GANG_BINS.len()]; 2];
        for (&gpus, &(jobs, gpu_s)) in &self.gangs {
            shares[0][gang_bin(gpus)] += jobs as f64;
            shares[1][gang_bin(gpus)] += gpu_s;
        }
        let totals = [self.jobs as f64, self.service_gpu_s.iter().sum()];
        for (shares, total) in shares.iter_mut().zip(totals) {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        shares
    }
}

/// Most submissions in an hour, of those that follow each other from the first submission on.
fn peak_per_hour(submissions_s: &[f64]) -> usize {
    let hours = submissions_s.chunk_by(|a, b| (a / 3600.0).floor() == (b / 3600.0).floor());
    hours.map(<[f64]>::len).max().unwrap_or(0)
}

/// Most GPUs in use at a time if each job ran at its submission, and the jobs whose start takes use above a capacity.
/// Jobs in the order of submission: submission in seconds, GPUs, duration in seconds.
fn without_waiting(jobs: impl Iterator<Item = (f64, f64, Option<f64>)>, capacity: f64) -> (f64, usize) {
    // Sums of shares of GPUs are not exact.
    const SLACK: f64 = 1e-6;
    let mut ends: BinaryHeap<Reverse<(Time, u64)>> = BinaryHeap::new();
    let (mut used, mut peak, mut beyond) = (0.0, 0.0, 0);
    for (submit_s, gpus, duration_s) in jobs {
        let Some(duration_s) = duration_s.filter(|duration_s| *duration_s > 0.0) else { continue };
        let now = Time::from_s(submit_s);
        while let Some(Reverse((_, bits))) = ends.peek().copied().filter(|Reverse((end, _))| *end <= now) {
            ends.pop();
            used -= f64::from_bits(bits);
        }
        used += gpus;
        peak = f64::max(peak, used);
        beyond += usize::from(used > capacity + SLACK);
        ends.push(Reverse((now + Time::from_s(duration_s), gpus.to_bits())));
    }
    (peak, beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_free_gpus_for_submissions_at_the_same_time() {
        let jobs =
            [(0.0, 2.0, Some(10.0)), (5.0, 2.0, Some(10.0)), (10.0, 2.0, Some(1.0)), (20.0, 3.0, None)];
        assert_eq!(without_waiting(jobs.into_iter(), 3.0), (4.0, 2));
    }

    #[test]
    fn bins_hold_all_numbers_of_gpus() {
        let bins = [1, 2, 3, 4, 5, 8, 9, 16, 17, 65_535].map(gang_bin);
        assert_eq!(bins, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    }
}
