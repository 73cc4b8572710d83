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

/// A line of counts with as many points as can be told apart: where there are more, the lowest and the highest of each of
/// `slices` equal spans of time.
pub(super) fn outline(counts: &[(Time, usize)], slices: usize) -> Vec<(Time, usize)> {
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else { return Vec::new() };
    let span = (last.0 - first.0).micros().max(1);
    if counts.len() <= 2 * slices {
        return counts.to_vec();
    }
    let slice =
        |at: &(Time, usize)| i128::from((at.0 - first.0).micros()) * slices as i128 / (i128::from(span) + 1);
    let mut outline = Vec::with_capacity(4 * slices);
    for of_slice in counts.chunk_by(|a, b| slice(a) == slice(b)) {
        let ends = [of_slice.first(), of_slice.last()];
        let extremes = [of_slice.iter().min_by_key(|at| at.1), of_slice.iter().max_by_key(|at| at.1)];
        let mut kept: Vec<_> = ends.into_iter().chain(extremes).flatten().copied().collect();
        kept.sort_unstable_by_key(|at| at.0);
        kept.dedup();
        outline.extend(kept);
    }
    outline
}

/// Collects the expected activity of the GPUs during a run, as fractions 0..1 averaged over the GPUs, in
/// the order of [`Metric`](crate::workload::Metric).
#[derive(Debug, Clone)]
pub struct ActivitySeries {
    gpus: Vec<[f64; SAMPLED_METRICS]>,
    means: Vec<(Time, [f64; SAMPLED_METRICS])>,
    /// Since when `gpus` are not in `means` yet: a gang changes all of its GPUs at one instant.
    changed: Option<Time>,
}

impl ActivitySeries {
    /// For a cluster of `gpus` GPUs.
    pub fn new(gpus: usize) -> ActivitySeries {
        ActivitySeries { gpus: vec![[0.0; SAMPLED_METRICS]; gpus], means: Vec::new(), changed: None }
    }

    fn mean(&self) -> [f64; SAMPLED_METRICS] {
        let mut means = [0.0; SAMPLED_METRICS];
        for gpu in &self.gpus {
            for (mean, value) in means.iter_mut().zip(gpu) {
                *mean += value / self.gpus.len() as f64;
            }
        }
        means
    }

    /// Means over `bins` equal spans of time from `start` to `end`.
    pub fn binned(&self, start: Time, end: Time, bins: usize) -> Vec<[f64; SAMPLED_METRICS]> {
        let latest = self.changed.map(|time| (time, self.mean()));
        let means: Vec<_> = self.means.iter().copied().chain(latest).collect();
        binned(&means, start, end, bins)
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
        if gpu >= self.gpus.len() {
            return;
        }
        if let Some(before) = self.changed.filter(|before| *before != event.time) {
            self.means.push((before, self.mean()));
        }
        self.changed = Some(event.time);
        self.gpus[gpu] = activity;
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

    #[test]
    fn an_outline_keeps_ends_and_extremes() {
        let counts: Vec<_> = (0..10_000).map(|i| (s(i), (i * 7919 % 1000) as usize)).collect();
        assert_eq!(outline(&counts, 5_000), counts);
        let outline = outline(&counts, 100);
        assert!(outline.len() <= 400 && outline.is_sorted_by(|a, b| a.0 < b.0), "{}", outline.len());
        let most = |line: &[(Time, usize)]| line.iter().map(|at| at.1).max();
        assert_eq!(most(&outline), most(&counts));
        assert_eq!((outline.first(), outline.last()), (counts.first(), counts.last()));
        assert!(super::outline(&[], 3).is_empty());
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
