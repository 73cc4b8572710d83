//! Which workload stands for which job: the one at the nearest quantile of runtime.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::error::{Result, input_error};
use crate::workload::{Catalogue, TraceJob};

/// Jobs and the workloads that they are given.
pub(super) struct Group {
    /// GPU count of the workloads.
    pub gpus: u32,
    /// How many workloads the catalogue has for it.
    pub workloads: usize,
    /// In the order of submission.
    pub assigned: Vec<Assigned>,
}

pub(super) struct Assigned {
    /// Index among the jobs.
    pub job: usize,
    /// Index into the catalogue's workloads.
    pub workload: usize,
    /// Difference between the quantiles of both.
    pub distance: f64,
}

/// Gives each job a workload, within groups of jobs and workloads of the same GPU count.
///
/// The quantile of a job is its rank by duration among the jobs of its group, and that of a workload its rank by solo
/// runtime among the group's workloads, from 0 to 1. Jobs that last equally long have different ranks all the same,
/// which spreads them over the workloads. Under seed 0 they are in the order of submission, and of two workloads
/// that are equally near the one that runs for less time is taken; other seeds draw both.
///
/// With `any_count`, jobs of a GPU count that the catalogue lacks are in the group of its smallest one.
///
/// # Errors
/// Without `any_count`, a GPU count that the catalogue lacks.
pub(super) fn assign(
    jobs: &[&TraceJob],
    catalogue: &Catalogue,
    any_count: bool,
    seed: u64,
    source: &str,
) -> Result<Vec<Group>> {
    let mut pools: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, workload) in catalogue.workloads().iter().enumerate() {
        pools.entry(workload.gpus).or_default().push(index);
    }
    let smallest = *pools.keys().next().expect("a catalogue has a workload");
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let count = match pools.contains_key(&job.gpus) {
            true => job.gpus,
            false if any_count => smallest,
            false => return Err(lacking(job, &pools, catalogue, source)),
        };
        members.entry(count).or_default().push(index);
    }
    let mut random = (seed != 0).then(|| ChaCha8Rng::seed_from_u64(seed));
    let group = |(gpus, members): (u32, Vec<usize>)| {
        let pool = &pools[&gpus];
        let duration_s = |index: usize| jobs[members[index]].duration_s.unwrap_or_default();
        let runtime_s = |index: usize| catalogue.workloads()[pool[index]].solo_runtime_s;
        let by_runtime = order(pool.len(), runtime_s, &mut random);
        let mut assigned: Vec<Assigned> = order(members.len(), duration_s, &mut random)
            .into_iter()
            .enumerate()
            .map(|(rank, member)| {
                let (place, distance) = nearest(quantile(rank, members.len()), pool.len(), &mut random);
                Assigned { job: members[member], workload: pool[by_runtime[place]], distance }
            })
            .collect();
        assigned.sort_unstable_by_key(|assigned| assigned.job);
        Group { gpus, workloads: pool.len(), assigned }
    };
    Ok(members.into_iter().map(group).collect())
}

/// From 0 to 1; what is alone is in the middle.
fn quantile(rank: usize, count: usize) -> f64 {
    if count == 1 { 0.5 } else { rank as f64 / (count - 1) as f64 }
}

/// Ascending by value, equal ones in their order or as drawn.
fn order(count: usize, value: impl Fn(usize) -> f64, random: &mut Option<ChaCha8Rng>) -> Vec<usize> {
    let mut order: Vec<(f64, u64, usize)> = (0..count)
        .map(|index| (value(index), random.as_mut().map_or(0, |random| random.next_u64()), index))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    order.into_iter().map(|(.., index)| index).collect()
}

/// Of `count` places in order, the one whose quantile is nearest, and how far away it is.
fn nearest(of: f64, count: usize, random: &mut Option<ChaCha8Rng>) -> (usize, f64) {
    // The two around it, and one more on each side against rounding.
    let below = ((of * (count - 1) as f64) as usize).saturating_sub(1);
    let places = (below..count.min(below + 4)).map(|place| (place, (of - quantile(place, count)).abs()));
    let mut equal: Vec<(usize, f64)> = Vec::with_capacity(2);
    for (place, distance) in places {
        match equal.first() {
            Some(&(_, least)) if distance > least => {}
            Some(&(_, least)) if distance == least => equal.push((place, distance)),
            _ => equal = vec![(place, distance)],
        }
    }
    match random {
        Some(random) if equal.len() > 1 => equal[(random.next_u64() % equal.len() as u64) as usize],
        _ => equal[0],
    }
}

fn lacking(
    job: &TraceJob,
    pools: &BTreeMap<u32, Vec<usize>>,
    catalogue: &Catalogue,
    source: &str,
) -> crate::error::Error {
    let counts: Vec<String> = pools.keys().map(u32::to_string).collect();
    input_error!(
        "{source}, line {}, column gpus: job {} needs {} GPUs, and {} has workloads of {} only; lower --max-gpus, \
         give another catalogue with --catalogue, or map the whole trace with --window none",
        job.line,
        job.job_id,
        job.gpus,
        catalogue.source(),
        counts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(workloads: &[(u32, f64)]) -> Catalogue {
        let mut text = String::from("workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,gpu_util_mean\n");
        for (index, (gpus, runtime_s)) in workloads.iter().enumerate() {
            text += &format!("w{index},{gpus},{runtime_s},0,100,0.5\n");
        }
        Catalogue::parse("w.csv", text.as_bytes()).unwrap()
    }

    fn job(gpus: u32, duration_s: f64) -> TraceJob {
        TraceJob { gpus, duration_s: Some(duration_s), ..TraceJob::default() }
    }

    /// Workloads by job, and the distances.
    fn assigned(
        jobs: &[TraceJob],
        workloads: &[(u32, f64)],
        any_count: bool,
        seed: u64,
    ) -> Vec<(usize, f64)> {
        let jobs: Vec<&TraceJob> = jobs.iter().collect();
        let groups = assign(&jobs, &catalogue(workloads), any_count, seed, "t.csv").unwrap();
        let mut all: Vec<_> =
            groups.iter().flat_map(|g| &g.assigned).map(|a| (a.job, (a.workload, a.distance))).collect();
        all.sort_by_key(|(job, _)| *job);
        all.into_iter().map(|(_, assigned)| assigned).collect()
    }

    #[test]
    fn ranks_meet_within_a_gpu_count() {
        let workloads = [(1, 30.0), (1, 10.0), (2, 5.0), (1, 20.0), (2, 1.0)];
        // Quantiles 1/3, 0, 2/3 and 1 among 0, 1/2 and 1; those of 2 GPUs are 0 and 1.
        let jobs = [job(1, 2.0), job(2, 9.0), job(1, 1.0), job(1, 3.0), job(2, 8.0), job(1, 4.0)];
        let sixth = 0.5 - 1.0 / 3.0;
        let expected = [(3, sixth), (2, 0.0), (1, 0.0), (3, 2.0 / 3.0 - 0.5), (4, 0.0), (0, 0.0)];
        assert_eq!(assigned(&jobs, &workloads, false, 0), expected);
        assert_eq!(assigned(&jobs, &workloads, false, 7), expected, "there is nothing to draw");
    }

    #[test]
    fn equal_durations_are_spread_in_their_order_or_as_drawn() {
        let workloads: Vec<(u32, f64)> = (0..8).map(|i| (1, f64::from(i))).collect();
        let jobs = vec![job(1, 60.0); 8];
        let of = |seed| -> Vec<usize> {
            assigned(&jobs, &workloads, false, seed).into_iter().map(|(workload, _)| workload).collect()
        };
        assert_eq!(of(0), [0, 1, 2, 3, 4, 5, 6, 7]);
        let mut drawn = of(1);
        assert_ne!(drawn, of(0));
        drawn.sort_unstable();
        assert_eq!(drawn, of(0));
    }

    #[test]
    fn of_equally_near_workloads_the_seed_draws() {
        // Quantiles 0, 1/2, 1 and 0, 1: the middle one is as far from both.
        let jobs = [job(1, 1.0), job(1, 2.0), job(1, 3.0)];
        let middle = |seed| assigned(&jobs, &[(1, 5.0), (1, 6.0)], false, seed)[1];
        assert_eq!(middle(0), (0, 0.5));
        let drawn: Vec<(usize, f64)> = (1..20).map(middle).collect();
        assert!(drawn.contains(&(0, 0.5)) && drawn.contains(&(1, 0.5)), "{drawn:?}");
        // What is alone is in the middle.
        assert_eq!(assigned(&jobs[..1], &[(1, 5.0), (1, 6.0), (1, 7.0)], false, 0), [(1, 0.0)]);
    }

    #[test]
    fn a_count_without_workloads_is_refused_or_like_the_smallest() {
        let jobs = [job(8, 50.0), job(1, 1.0), job(2, 7.0)];
        let workloads = [(2, 1.0), (1, 2.0), (1, 3.0)];
        assert_eq!(assigned(&jobs, &workloads, true, 0), [(2, 0.0), (1, 0.0), (0, 0.0)]);
        let jobs: Vec<&TraceJob> = jobs.iter().collect();
        let refused = assign(&jobs, &catalogue(&workloads), false, 0, "t.csv").err().unwrap().to_string();
        assert!(refused.contains("needs 8 GPUs, and w.csv has workloads of 1, 2 only"), "{refused}");
    }
}
