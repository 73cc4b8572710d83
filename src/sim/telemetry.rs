use std::collections::VecDeque;

use super::risk::{Run, risk};
use crate::engine::Time;
use crate::model::{Combination, SAMPLED_METRICS, Sampler};
use crate::policy::RiskSource;
use crate::workload::Metric;

/// Telemetry of all GPUs at 1 Hz, worked out when asked for.
///
/// Between two changes on a GPU its samples are a function of the second alone, so they are filled in just
/// before a change, and before a question, for as far back as the window reaches. Activity stays the same for seconds
/// on end: what is kept are runs of equal samples.
pub(super) struct TelemetryStore {
    gpus: Vec<Series>,
    window: usize,
    combinations: [Combination; SAMPLED_METRICS],
    /// Scratch of one window.
    runs: Vec<Run>,
}

struct Series {
    blind: bool,
    /// Samples of the last window at least, each from its second to the next one's or to `next`.
    samples: VecDeque<(i64, [f64; SAMPLED_METRICS])>,
    /// First second of the run.
    first: i64,
    /// First second that has no sample yet.
    next: i64,
    /// First second whose sample may differ from the last one.
    steady_until: i64,
    active: Vec<Source>,
    used_mib: f64,
    /// Memory in use at the last sample before the latest change, and the second after it.
    sampled_mib: f64,
    memory_next: i64,
    risks: [Option<Risk>; SAMPLED_METRICS],
    verdicts: [Option<Verdict>; SAMPLED_METRICS],
}

/// A risk, the same at the samples of these seconds.
#[derive(Clone, Copy)]
struct Risk {
    from: i64,
    until: i64,
    value: f64,
    /// The lowest and the highest sample of the window.
    range: (f64, f64),
}

/// On which side of a threshold a risk is at the samples of these seconds.
#[derive(Clone, Copy)]
struct Verdict {
    from: i64,
    until: i64,
    threshold: f64,
    reaches: bool,
}

/// A risk lies between the lowest and the highest sample, but for rounding errors far below this fraction.
const ROUNDING: f64 = 1e-9;
/// How many stretches of equal samples are worth looking ahead for.
const AHEAD: usize = 32;

struct Source {
    job: usize,
    sampler: Sampler,
    pace: f64,
    closing: bool,
    dwell: i64,
    values: [f64; SAMPLED_METRICS],
}

impl Source {
    /// Of its activity that is left.
    fn share(&self) -> f64 {
        if self.closing { self.sampler.closing_activity() } else { 1.0 }
    }
}

impl TelemetryStore {
    /// `blind` holds the GPUs whose SMACT and SMOCC read zero.
    pub fn new(
        blind: &[bool],
        window: usize,
        start: Time,
        combinations: [Combination; SAMPLED_METRICS],
    ) -> TelemetryStore {
        let first = start.ceil_to(Time::from_whole_s(1)).whole_s();
        let series = |&blind: &bool| Series {
            blind,
            samples: VecDeque::with_capacity(window + 1),
            first,
            next: first,
            steady_until: first,
            active: Vec::with_capacity(8),
            used_mib: 0.0,
            sampled_mib: 0.0,
            memory_next: first,
            risks: [None; SAMPLED_METRICS],
            verdicts: [None; SAMPLED_METRICS],
        };
        TelemetryStore {
            gpus: blind.iter().map(series).collect(),
            window,
            combinations,
            runs: Vec::with_capacity(window),
        }
    }

    /// Fills in the samples before the second `until`: to be called before every change.
    pub fn sample_until(&mut self, gpu: usize, until: i64) {
        let series = &mut self.gpus[gpu];
        series.fill(until, self.window, &self.combinations);
        series.steady_until = series.steady_until.min(until);
        for risk in series.risks.iter_mut().flatten() {
            risk.until = risk.until.min(until);
        }
        for verdict in series.verdicts.iter_mut().flatten() {
            verdict.until = verdict.until.min(until);
        }
        if until > series.memory_next {
            series.sampled_mib = series.used_mib;
            series.memory_next = until;
        }
    }

    pub fn start(&mut self, gpu: usize, job: usize, sampler: Sampler, pace: f64) {
        let values = [0.0; SAMPLED_METRICS];
        let source = Source { job, sampler, pace, closing: false, dwell: i64::MIN, values };
        self.gpus[gpu].active.push(source);
    }

    pub fn stop(&mut self, gpu: usize, job: usize) {
        self.gpus[gpu].active.retain(|source| source.job != job);
    }

    pub fn set_pace(&mut self, gpu: usize, job: usize, pace: f64) {
        if let Some(source) = self.source_mut(gpu, job) {
            source.pace = pace;
        }
    }

    /// From now on a job is in its closing phase.
    pub fn set_closing(&mut self, gpu: usize, job: usize) {
        if let Some(source) = self.source_mut(gpu, job) {
            source.closing = true;
        }
    }

    fn source_mut(&mut self, gpu: usize, job: usize) -> Option<&mut Source> {
        self.gpus[gpu].active.iter_mut().find(|source| source.job == job)
    }

    pub fn set_used_mib(&mut self, gpu: usize, used_mib: f64) {
        self.gpus[gpu].used_mib = used_mib;
    }

    /// Memory in use at the last sample, that of second `now`.
    pub fn sampled_used_mib(&self, gpu: usize, now: i64) -> f64 {
        let series = &self.gpus[gpu];
        if now >= series.memory_next { series.used_mib } else { series.sampled_mib }
    }

    /// The risks of the GPUs from `first_gpu` on, at the sample of second `now`.
    pub fn risks(&mut self, first_gpu: usize, now: i64) -> Risks<'_> {
        Risks { store: self, first_gpu, now }
    }
}

impl Series {
    fn fill(&mut self, until: i64, window: usize, combinations: &[Combination; SAMPLED_METRICS]) {
        let window = window as i64;
        let mut second = self.next.max(until - window);
        if second > self.next {
            self.samples.clear();
        }
        while second < until {
            let mut sample = [0.0; SAMPLED_METRICS];
            self.steady_until = i64::MAX;
            for source in &mut self.active {
                // Counted from the start of the run: the origin of a trace's clock must not matter.
                let dwell = source.sampler.dwell(second - self.first);
                if dwell != source.dwell {
                    source.dwell = dwell;
                    source.values = source.sampler.values(dwell);
                }
                self.steady_until = self.steady_until.min(source.sampler.dwell_end(dwell) + self.first);
                let share = source.share();
                for (metric, level) in sample.iter_mut().enumerate() {
                    *level = combinations[metric].add(*level, share * source.values[metric], source.pace);
                }
            }
            if self.blind {
                sample[Metric::Smact as usize] = 0.0;
                sample[Metric::Smocc as usize] = 0.0;
            }
            while self.samples.get(1).is_some_and(|(begins, _)| *begins <= second + 1 - window) {
                self.samples.pop_front();
            }
            if self.samples.back().is_none_or(|(_, before)| *before != sample) {
                self.samples.push_back((second, sample));
            }
            second = self.steady_until.min(until);
        }
        self.next = self.next.max(until);
    }

    /// The sample that a metric has at a second to come if nothing changes before, and the first second whose sample may
    /// differ from it.
    fn ahead(&self, second: i64, metric: usize, combinations: &[Combination; SAMPLED_METRICS]) -> (f64, i64) {
        let (mut level, mut end) = (0.0, i64::MAX);
        for source in &self.active {
            let dwell = source.sampler.dwell(second - self.first);
            end = end.min(source.sampler.dwell_end(dwell) + self.first);
            let value = source.share() * source.sampler.value(dwell, metric);
            level = combinations[metric].add(level, value, source.pace);
        }
        let blind = self.blind && (metric == Metric::Smact as usize || metric == Metric::Smocc as usize);
        (if blind { 0.0 } else { level }, end)
    }

    /// The runs of one metric's samples from second `from` to `until`, in their order; returns how many samples they are.
    fn runs(&self, metric: usize, from: i64, until: i64, runs: &mut Vec<Run>) -> usize {
        runs.clear();
        let ends = self.samples.iter().skip(1).map(|(begins, _)| *begins).chain([until]);
        for ((begins, sample), end) in self.samples.iter().zip(ends) {
            let times = usize::try_from(end - from.max(*begins)).unwrap_or(0);
            match runs.last_mut() {
                _ if times == 0 => {}
                Some((value, before)) if *value == sample[metric] => *before += times,
                _ => runs.push((sample[metric], times)),
            }
        }
        usize::try_from(until - from).unwrap_or(0)
    }
}

/// Answers a scheduler's questions about one server's GPUs.
pub(super) struct Risks<'a> {
    store: &'a mut TelemetryStore,
    first_gpu: usize,
    now: i64,
}

impl RiskSource for Risks<'_> {
    fn risk(&mut self, gpu: usize, metric: Metric) -> f64 {
        self.worked_out(gpu, metric).value
    }

    fn reaches(&mut self, gpu: usize, metric: Metric, threshold: f64) -> bool {
        let series = &self.store.gpus[self.first_gpu + gpu];
        if let Some(verdict) = series.verdicts[metric as usize]
            && (verdict.from..verdict.until).contains(&self.now)
            && verdict.threshold == threshold
        {
            return verdict.reaches;
        }
        let Risk { value, range, .. } = self.worked_out(gpu, metric);
        let reaches = value >= threshold;
        let series = &mut self.store.gpus[self.first_gpu + gpu];
        // As long as all samples are on one side, so is the risk.
        let clear = |low: f64, high: f64| match reaches {
            true => low >= threshold * (1.0 + ROUNDING),
            false => high <= threshold * (1.0 - ROUNDING),
        };
        let mut until = self.now + 1;
        if clear(range.0, range.1) {
            until = series.steady_until.max(until);
            for _ in 0..AHEAD {
                if until == i64::MAX {
                    break;
                }
                let (level, end) = series.ahead(until, metric as usize, &self.store.combinations);
                if !clear(level, level) {
                    break;
                }
                until = end;
            }
        }
        series.verdicts[metric as usize] = Some(Verdict { from: self.now, until, threshold, reaches });
        reaches
    }
}

impl Risks<'_> {
    fn worked_out(&mut self, gpu: usize, metric: Metric) -> Risk {
        let (window, now) = (self.store.window, self.now);
        let series = &mut self.store.gpus[self.first_gpu + gpu];
        let metric = metric as usize;
        if let Some(risk) = series.risks[metric]
            && (risk.from..risk.until).contains(&now)
        {
            return risk;
        }
        series.fill(now + 1, window, &self.store.combinations);
        let from = (now + 1 - window as i64).max(series.first);
        let runs = &mut self.store.runs;
        let count = series.runs(metric, from, now + 1, runs);
        let steady = runs.len() == 1 && count == window;
        let value = risk(count, runs);
        // A whole window of one value remains one until another value comes.
        let until = if steady { series.steady_until.max(now + 1) } else { now + 1 };
        let range = runs.first().zip(runs.last()).map_or((0.0, 0.0), |(low, high)| (low.0, high.0));
        let risk = Risk { from: now, until, value, range };
        series.risks[metric] = Some(risk);
        risk
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Telemetry};
    use crate::workload::{Activity, GpuProfile};

    fn steady(level: f64) -> GpuProfile {
        let activity = Activity { mean: level, median: level, p95: level, max: level };
        GpuProfile {
            peak_memory_mib: 1.0,
            initial_memory_mib: 1.0,
            memory_growth_s: 0.0,
            smact: Some(activity),
            smocc: Some(activity),
            drama: Some(activity),
            gpu_util: activity,
            counter_share: 1.0,
            closing_s: 0.0,
            closing_share: 0.0,
        }
    }

    #[test]
    fn jobs_add_up_and_pace_scales_them() {
        let combinations = [Combination::Union, Combination::Union, Combination::Union, Combination::Sum];
        let mut store = TelemetryStore::new(&[false, true], 30, Time::ZERO, combinations);
        for gpu in 0..2 {
            let sampler =
                Telemetry { dwell_s: 1.0, ..Model::builtin().telemetry }.sampler(&steady(0.5), 0, 1);
            store.start(gpu, 1, sampler.clone(), 1.0);
            store.start(gpu, 2, sampler, 0.5);
        }
        let mut risks = store.risks(0, 100);
        assert!((risks.risk(0, Metric::Smact) - (1.0 - 0.5 * 0.75)).abs() < 1e-12);
        assert!((risks.risk(0, Metric::GpuUtil) - 0.75).abs() < 1e-12);
        assert_eq!(risks.risk(1, Metric::Smact), 0.0, "blind");
        assert!((risks.risk(1, Metric::Drama) - 0.625).abs() < 1e-12, "blind to SMACT and SMOCC only");
    }

    #[test]
    fn a_change_shows_from_the_next_sample() {
        let mut store =
            TelemetryStore::new(&[false], 4, Time::ZERO, Model::builtin().telemetry.combinations());
        // At 10.5 s a job starts: samples up to second 10 are quiet.
        store.sample_until(0, 11);
        store.start(
            0,
            1,
            Telemetry { dwell_s: 1.0, ..Model::builtin().telemetry }.sampler(&steady(0.8), 0, 1),
            1.0,
        );
        store.set_used_mib(0, 100.0);
        assert_eq!((store.sampled_used_mib(0, 10), store.sampled_used_mib(0, 11)), (0.0, 100.0));
        assert_eq!(store.risks(0, 10).risk(0, Metric::Smact), 0.0);
        let partly = store.risks(0, 12).risk(0, Metric::Smact);
        assert!(partly > 0.2 && partly < 0.8, "{partly}");
        assert_eq!(store.risks(0, 14).risk(0, Metric::Smact), 0.8);
    }
}
