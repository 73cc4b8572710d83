//! Quantities over time.

use crate::engine::Time;
use crate::model::SAMPLED_METRICS;
use crate::sim::{Event, EventKind, Observer, RunRecord};

/// Numbers of waiting jobs, each from its instant to the next one's.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Submitted and never dispatched so far.
    pub initial: Vec<(Time, usize)>,
    /// Between a failed attempt and the next.
    pub recovery: Vec<(Time, usize)>,
    /// Both.
    pub total: Vec<(Time, usize)>,
}

impl Waiting {
    pub fn of(record: &RunRecord) -> Waiting {
        let mut initial: Vec<(Time, i64)> = Vec::with_capacity(2 * record.jobs.len());
        let mut recovery = Vec::new();
        let mut last_end: Vec<Option<Time>> = vec![None; record.jobs.len()];
        for job in &record.jobs {
            initial.push((job.submit, 1));
            if job.attempts == 0 {
                initial.push((job.end, -1));
            }
        }
        // A job's attempts stand in their order.
        for attempt in &record.attempts {
            match last_end[attempt.job].replace(attempt.end) {
                None => initial.push((attempt.dispatch, -1)),
                Some(failed) => recovery.extend([(failed, 1), (attempt.dispatch, -1)]),
            }
        }
        let both = [initial.as_slice(), &recovery].concat();
        Waiting { initial: counts(initial), recovery: counts(recovery), total: counts(both) }
    }
}

/// Running sums of changes. One that undoes another within an instant leaves no trace.
fn counts(mut changes: Vec<(Time, i64)>) -> Vec<(Time, usize)> {
    changes.sort_unstable();
    let mut counts: Vec<(Time, usize)> = Vec::new();
    let mut now = 0;
    for at in changes.chunk_by(|a, b| a.0 == b.0) {
        now += at.iter().map(|(_, change)| change).sum::<i64>();
        let count = usize::try_from(now).unwrap_or(0);
        if counts.last().is_none_or(|last| last.1 != count) {
            counts.push((at[0].0, count));
        }
    }
    counts
}

/// Collects the expected activity of the GPUs during a run, as fractions 0..1 averaged over the GPUs, in
/// the order of [`Metric`](crate::workload::Metric).
#[derive(Debug, Clone)]
pub struct ActivitySeries {
    gpus: Vec<[f64; SAMPLED_METRICS]>,
    means: Vec<(Time, [f64; SAMPLED_METRICS])>,
}

impl ActivitySeries {
    /// For a cluster of `gpus` GPUs.
    pub fn new(gpus: usize) -> ActivitySeries {
        ActivitySeries { gpus: vec![[0.0; SAMPLED_METRICS]; gpus], means: Vec::new() }
    }

    /// Means over `bins` equal spans of time from `start` to `end`.
    pub fn binned(&self, start: Time, end: Time, bins: usize) -> Vec<[f64; SAMPLED_METRICS]> {
        binned(&self.means, start, end, bins)
    }
}

/// Means over time, in `bins` equal spans from `start` to `end`, of values that hold from their instant to
/// the next one's. They are zero before the first.
pub(super) fn binned<const N: usize>(
    values: &[(Time, [f64; N])],
    start: Time,
    end: Time,
    bins: usize,
) -> Vec<[f64; N]> {
    let mut means = vec![[0.0; N]; bins];
    let width = (end - start).as_s() / bins as f64;
    if width.is_nan() || width <= 0.0 {
        return means;
    }
    let ends = values.iter().skip(1).map(|(time, _)| *time).chain([end]);
    for ((from, values), to) in values.iter().zip(ends) {
        let from = ((*from - start).as_s() / width).max(0.0);
        let to = ((to - start).as_s() / width).min(bins as f64);
        let touched = (from as usize).min(bins)..(to.ceil().max(0.0) as usize).min(bins);
        for k in touched {
            let share = (to.min(k as f64 + 1.0) - from.max(k as f64)).max(0.0);
            for (mean, value) in means[k].iter_mut().zip(values) {
                *mean += share * value;
            }
        }
    }
    means
}

impl Observer for ActivitySeries {
    fn event(&mut self, event: &Event<'_>) {
        let EventKind::Gpu { gpu, activity, .. } = event.kind else { return };
        let Some(state) = self.gpus.get_mut(gpu) else { return };
        *state = activity;
        let mut means = [0.0; SAMPLED_METRICS];
        for gpu in &self.gpus {
            for (mean, value) in means.iter_mut().zip(gpu) {
                *mean += value / self.gpus.len() as f64;
            }
        }
        match self.means.last_mut() {
            Some(last) if last.0 == event.time => last.1 = means,
            _ => self.means.push((event.time, means)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::cluster::ClusterSpec;
    use crate::model::Model;
    use crate::policy::{PolicyKind, PolicySpec, resolve_params};
    use crate::sim::{World, simulate};
    use crate::workload::{Catalogue, Metric, Trace};

    fn s(s: i64) -> Time {
        Time::from_whole_s(s)
    }

    #[test]
    fn waits_begin_and_end_with_submissions_failures_and_dispatches() {
        let waiting = Waiting::of(&fixture::record());
        // Job 0 from 0 to 5; job 1 from 2 to 5, and again from its failure at 20 to 30.
        assert_eq!(waiting.initial, [(s(0), 1), (s(2), 2), (s(5), 0)]);
        assert_eq!(waiting.recovery, [(s(20), 1), (s(30), 0)]);
        assert_eq!(waiting.total, [(s(0), 1), (s(2), 2), (s(5), 0), (s(20), 1), (s(30), 0)]);
    }

    #[test]
    fn a_job_that_was_never_launched_waits_to_its_end() {
        let mut record = fixture::record();
        record.attempts.clear();
        record.jobs.truncate(1);
        record.jobs[0].attempts = 0;
        assert_eq!(Waiting::of(&record).total, [(s(0), 1), (s(40), 0)]);
    }

    fn gpu(series: &mut ActivitySeries, time: Time, gpu: usize, smact: f64) {
        let kind = EventKind::Gpu { gpu, jobs: 1, used_mib: 0.0, activity: [smact, 0.0, 0.0, 0.0] };
        series.event(&Event { time, job: None, kind });
    }

    #[test]
    fn bins_average_over_time_and_gpus() {
        let mut series = ActivitySeries::new(2);
        gpu(&mut series, s(15), 0, 1.0);
        gpu(&mut series, s(25), 1, 0.2);
        gpu(&mut series, s(25), 1, 0.5);
        gpu(&mut series, s(32), 0, 0.0);
        let smact: Vec<f64> = series.binned(s(10), s(50), 4).iter().map(|bin| bin[0]).collect();
        for (found, expected) in smact.iter().zip([0.25, 0.625, 0.35, 0.25]) {
            assert!((found - expected).abs() < 1e-12, "{smact:?}");
        }
        assert_eq!(series.binned(s(10), s(10), 3), [[0.0; SAMPLED_METRICS]; 3]);
    }

    #[test]
    fn activity_agrees_with_what_the_run_integrates() {
        let trace = Trace::open("philly").unwrap();
        let world =
            World::new(&trace, Catalogue::builtin(), ClusterSpec::builtin(), Model::builtin()).unwrap();
        let policy = PolicySpec::from(PolicyKind::Exclusive);
        let params = resolve_params(&policy, &[], &[]).unwrap();
        let gpus = world.cluster.servers.iter().map(|server| server.gpus.len()).sum();
        let mut series = ActivitySeries::new(gpus);
        let record = simulate(&world, &policy, &params, 0, &mut series).unwrap();
        let bins = series.binned(record.start, record.end, 7);
        let mean = bins.iter().map(|bin| bin[Metric::Smact as usize]).sum::<f64>() / 7.0;
        let integrated = record.gpus.iter().filter_map(|gpu| gpu.smact_mean).sum::<f64>() / gpus as f64;
        assert!((mean - integrated).abs() < 1e-9, "{mean} {integrated}");
    }
}
