use serde::Deserialize;

use super::noise::{Stream, counter_uniform};
use crate::workload::{Activity, GpuProfile, Metric};

/// How activity varies in time, and how that of jobs on one GPU adds up.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Seconds that a job's activity level lasts before the next is drawn.
    pub dwell_s: f64,
    /// The same of bursty workloads, see [`Telemetry::bursty`]; `dwell_s` where absent.
    #[serde(default)]
    pub bursty_dwell_s: Option<f64>,
    /// Activity in the closing phase of a run (a workload's `closing_s`), as a fraction of that before; 1 where
    /// absent.
    #[serde(default = "unchanged")]
    pub closing_activity: f64,
    /// Of SMACT, SMOCC and DRAMA.
    pub combination: Combination,
    /// Of GPU utilisation.
    pub gpu_util_combination: Combination,
}

fn unchanged() -> f64 {
    1.0
}

/// From here on a workload counts as bursty: how far the median of its SMACT lies below its p95, as a fraction
/// of that. Most workloads have 0.01 to 0.15; those that often wait for their data have more.
const BURSTY: f64 = 0.2;

/// How the activities of jobs on one GPU combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combination {
    /// Kernels take turns: activities, each times the pace at which its job progresses, add up, to 1 at most.
    Sum,
    /// Kernels coincide by chance: `1 - prod(1 - pace activity)`.
    Union,
    /// What counts is whether there is a kernel at all, and those of a slowed job last longer:
    /// `1 - prod(1 - activity)` whatever the paces.
    Presence,
}

impl Combination {
    /// The activity of a GPU, so far at `level`, with one more job on it, which alone would have `activity`.
    pub fn add(self, level: f64, activity: f64, pace: f64) -> f64 {
        let union = |activity: f64| level + activity - level * activity;
        match self {
            Combination::Sum => (level + pace * activity).min(1.0),
            Combination::Union => union(pace * activity),
            Combination::Presence => union(activity),
        }
    }
}

/// Values in a sample.
pub const SAMPLED_METRICS: usize = Metric::COUNT;

/// Draws the activity of one job on one GPU, second by second.
///
/// A level `u` in (0, 1) is drawn for every dwell and mapped through each metric's quantile function, so
/// that samples reproduce the workload's mean, median, p95 and max and a job's metrics rise and fall
/// together.
#[derive(Debug, Clone)]
pub struct Sampler {
    curves: [Curve; SAMPLED_METRICS],
    seed: u64,
    job: u64,
    dwell_s: i64,
    phase_s: i64,
    closing_activity: f64,
}

impl Telemetry {
    /// The combination of each sampled metric, in the order of [`Metric`](crate::workload::Metric).
    pub fn combinations(&self) -> [Combination; SAMPLED_METRICS] {
        [self.combination, self.combination, self.combination, self.gpu_util_combination]
    }

    /// Whether a workload's activity comes in bursts, as its own statistics say: its median is far from its
    /// p95.
    pub fn bursty(profile: &GpuProfile) -> bool {
        let Activity { median, p95, .. } = profile.telemetry()[Metric::Smact as usize];
        p95 - median >= BURSTY * p95 && p95 > 0.0
    }

    /// The sampler of a job's activity under a profile.
    pub fn sampler(&self, profile: &GpuProfile, seed: u64, job: u64) -> Sampler {
        let dwell_s = self.bursty_dwell_s.filter(|_| Self::bursty(profile)).unwrap_or(self.dwell_s);
        let dwell_s = (dwell_s.round() as i64).max(1);
        let phase = counter_uniform(seed, Stream::ActivityPhase, job, 0);
        Sampler {
            curves: profile.telemetry().map(|activity| Curve::new(self.before_closing(activity, profile))),
            seed,
            job,
            dwell_s,
            phase_s: (phase * dwell_s as f64) as i64,
            closing_activity: self.closing_activity,
        }
    }

    /// Activity without the closing phase, which the profile's mean holds too.
    fn before_closing(&self, activity: Activity, profile: &GpuProfile) -> Activity {
        let held = profile.mean_over_training(self.closing_activity);
        // No more than a curve through the other statistics can have: anything above is the profile's noise.
        let most = (0.5 * activity.median + 0.45 * activity.p95 + 0.05 * activity.max).max(activity.mean);
        Activity { mean: (activity.mean / held).min(most), ..activity }
    }
}

impl Sampler {
    /// The dwell that a whole second of the run falls in. Within one the values stay the same.
    pub fn dwell(&self, second: i64) -> i64 {
        (second + self.phase_s).div_euclid(self.dwell_s)
    }

    /// The first second after a dwell.
    pub fn dwell_end(&self, dwell: i64) -> i64 {
        (dwell + 1) * self.dwell_s - self.phase_s
    }

    /// What the values of a dwell are scaled by in the closing phase.
    pub fn closing_activity(&self) -> f64 {
        self.closing_activity
    }

    /// The values of a dwell, in the order of [`Metric`](crate::workload::Metric).
    pub fn values(&self, dwell: i64) -> [f64; SAMPLED_METRICS] {
        let level = self.level(dwell);
        std::array::from_fn(|metric| self.curves[metric].quantile(level))
    }

    /// One of a dwell's values.
    pub fn value(&self, dwell: i64, metric: usize) -> f64 {
        self.curves[metric].quantile(self.level(dwell))
    }

    fn level(&self, dwell: i64) -> f64 {
        counter_uniform(self.seed, Stream::Activity, self.job, dwell as u64)
    }
}

/// A quantile function through median, p95 and max with a given mean.
///
/// From the bottom: a quiet share of the time at 0, a straight line to the median as steep as the way from
/// there to p95, a power curve to p95, a straight line to the maximum. The mean decides the quiet share
/// (training pauses between epochs, to validate or to write a checkpoint), or, where activity is too low
/// for the straight middle, the exponent of the power curve.
#[derive(Debug, Clone, Copy)]
struct Curve {
    activity: Activity,
    /// Share of the time without activity, up to a half.
    quiet: f64,
    /// Activity at the end of that share.
    low: f64,
    /// Exponent between median and p95.
    middle: f64,
}

const STEEPEST: f64 = 1e3;

impl Curve {
    fn new(activity: Activity) -> Curve {
        let Activity { mean, median, p95, max } = activity;
        let top = 0.05 * (p95 + max) / 2.0;
        let rise = p95 - median;
        // Mean of the lower half if the middle is straight.
        let wanted = (mean - top - 0.45 * (median + p95) / 2.0) / 0.5;
        let lower_mean = wanted.clamp(0.0, median);
        let active_mean = median - rise.min(median) / 2.0;
        let (quiet, low) = if lower_mean < active_mean {
            (0.5 * (1.0 - lower_mean / active_mean), median - rise.min(median))
        } else {
            (0.0, 2.0 * lower_mean - median)
        };
        let middle_mean = (mean - top - 0.5 * lower_mean) / 0.45;
        let middle = if wanted == lower_mean || rise <= 0.0 {
            1.0
        } else {
            (rise / (middle_mean - median).max(rise / STEEPEST) - 1.0).clamp(0.0, STEEPEST)
        };
        Curve { activity, quiet, low, middle }
    }

    fn quantile(&self, u: f64) -> f64 {
        let Activity { median, p95, max, .. } = self.activity;
        if u < self.quiet {
            0.0
        } else if u < 0.5 {
            self.low + (median - self.low) * (u - self.quiet) / (0.5 - self.quiet)
        } else if u < 0.95 {
            median + (p95 - median) * power((u - 0.5) / 0.45, self.middle)
        } else {
            p95 + (max - p95) * (u - 0.95) / 0.05
        }
    }
}

fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 1.0 { base } else { libm::pow(base, exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::workload::Catalogue;

    fn statistics(mut samples: Vec<f64>) -> (f64, f64, f64, f64) {
        samples.sort_by(f64::total_cmp);
        let n = samples.len();
        let mean = samples.iter().sum::<f64>() / n as f64;
        (mean, samples[n / 2], samples[n * 95 / 100], samples[n - 1])
    }

    /// Every metric of every workload, over many dwells, the closing phase included.
    #[test]
    fn samples_reproduce_the_profile() {
        for workload in Catalogue::builtin().workloads() {
            let profile = workload.profile(0);
            let telemetry = Telemetry { dwell_s: 1.0, bursty_dwell_s: None, ..Model::builtin().telemetry };
            let sampler = telemetry.sampler(profile, 0, 1);
            let closes = (20_000.0 * (1.0 - profile.closing_share)) as i64;
            let sample = |second| {
                let scale = if second < closes { 1.0 } else { sampler.closing_activity() };
                sampler.values(sampler.dwell(second)).map(|value| scale * value)
            };
            let samples: Vec<_> = (0..20_000).map(sample).collect();
            for (metric, expected) in profile.telemetry().into_iter().enumerate() {
                let (mean, median, p95, max) = statistics(samples.iter().map(|s| s[metric]).collect());
                let close = |got: f64, want: f64| (got - want).abs() <= 0.015 + 0.02 * want;
                assert!(
                    close(mean, expected.mean)
                        && close(median, expected.median)
                        && close(p95, expected.p95)
                        && close(max, expected.max),
                    "{} metric {metric}: {mean} {median} {p95} {max} for {expected:?}",
                    workload.name
                );
            }
        }
    }

    #[test]
    fn activities_combine_with_or_without_pace() {
        let two = |combination: Combination| combination.add(combination.add(0.0, 0.5, 1.0), 0.5, 0.5);
        assert_eq!(two(Combination::Sum), 0.75);
        assert_eq!(two(Combination::Union), 0.625);
        assert_eq!(two(Combination::Presence), 0.75);
        assert_eq!(Combination::Sum.add(0.9, 0.5, 1.0), 1.0);
        assert_eq!(Combination::Presence.add(0.9, 0.5, 0.25), 0.95);
    }

    #[test]
    fn bursts_last_and_jobs_differ() {
        let catalogue = Catalogue::builtin();
        let profile = catalogue.get("dlrm_criteo_bs32768_1gpu").unwrap().profile(0);
        let telemetry = Telemetry { dwell_s: 80.0, bursty_dwell_s: Some(10.0), ..Model::builtin().telemetry };
        let series = |job| -> Vec<f64> {
            let sampler = telemetry.sampler(profile, 0, job);
            (0..1000).map(|s| sampler.values(sampler.dwell(s))[0]).collect()
        };
        let changes = series(1).windows(2).filter(|w| w[0] != w[1]).count();
        assert!((20..=100).contains(&changes), "{changes}");
        assert_ne!(series(1), series(2));
        assert_eq!(series(1), series(1));
    }
}
