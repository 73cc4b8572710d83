//! What a set of production jobs looks like: the figures that windows are compared by.

use super::eligible::Sample;
use crate::engine::Time;
use crate::metrics::{quantile_of_sorted, sorted};

/// Runtimes below which the share of jobs is taken, in seconds: 10 minutes, an hour, 6 hours, a day.
pub const RUNTIME_STEPS_S: [i64; 4] = [600, 3600, 21_600, 86_400];

/// The figures that a distance between two sets of jobs is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Share of jobs that run for less than each of [`RUNTIME_STEPS_S`].
    pub runtime_under: [f64; 4],
    /// Share of jobs by GPU count, in the order of the counts.
    pub gpu_demand: Vec<f64>,
    /// Share of GPU-seconds by GPU count; all 0 where no job runs for any time.
    pub gpu_service: Vec<f64>,
    /// Over as many values as there are jobs: a leading 0, then the gaps between them.
    pub interarrival_p50_s: f64,
    pub interarrival_p95_s: f64,
    /// Share of 0 among those values: jobs that come with the one before.
    pub zero_interarrivals: f64,
}

/// A [`Shape`] and what else is told of a set of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    pub jobs: usize,
    /// First to last submission, in seconds.
    pub span_s: f64,
    pub duration_p50_s: f64,
    pub duration_p95_s: f64,
    /// GPU-seconds.
    pub total_gpu_service_s: f64,
    pub shape: Shape,
}

impl Statistics {
    /// Of jobs in the order of submission, with `counts` different GPU counts. There is at least one.
    pub(super) fn of(samples: &[Sample], counts: usize) -> Statistics {
        let mut tally = Tally::new(counts);
        samples.iter().for_each(|sample| tally.add(sample));
        let gaps = samples.windows(2).map(|pair| pair[1].submit - pair[0].submit);
        let interarrivals = sorted(std::iter::once(Time::ZERO).chain(gaps).map(Time::as_s));
        let durations = sorted(samples.iter().map(|sample| sample.duration.as_s()));
        let zeros = interarrivals.partition_point(|&gap| gap <= 0.0);
        let quantile = |q| quantile_of_sorted(&interarrivals, q);
        Statistics {
            jobs: samples.len(),
            span_s: (samples[samples.len() - 1].submit - samples[0].submit).as_s(),
            duration_p50_s: quantile_of_sorted(&durations, 0.5),
            duration_p95_s: quantile_of_sorted(&durations, 0.95),
            total_gpu_service_s: tally.total_gpu_service_s(),
            shape: tally.shape(quantile(0.5), quantile(0.95), zeros),
        }
    }
}

/// Sums over jobs, in whole numbers: what is added and taken out again leaves no trace.
pub(super) struct Tally {
    jobs: usize,
    under: [usize; 4],
    demand: Vec<usize>,
    service_us: Vec<u128>,
}

impl Tally {
    pub fn new(counts: usize) -> Tally {
        Tally { jobs: 0, under: [0; 4], demand: vec![0; counts], service_us: vec![0; counts] }
    }

    pub fn add(&mut self, sample: &Sample) {
        self.jobs += 1;
        for (under, step_s) in self.under.iter_mut().zip(RUNTIME_STEPS_S) {
            *under += usize::from(sample.duration < Time::from_whole_s(step_s));
        }
        self.demand[sample.count] += 1;
        self.service_us[sample.count] += sample.service_us;
    }

    pub fn remove(&mut self, sample: &Sample) {
        self.jobs -= 1;
        for (under, step_s) in self.under.iter_mut().zip(RUNTIME_STEPS_S) {
            *under -= usize::from(sample.duration < Time::from_whole_s(step_s));
        }
        self.demand[sample.count] -= 1;
        self.service_us[sample.count] -= sample.service_us;
    }

    fn total_gpu_service_s(&self) -> f64 {
        self.service_us.iter().sum::<u128>() as f64 / 1e6
    }

    pub fn shape(&self, interarrival_p50_s: f64, interarrival_p95_s: f64, zeros: usize) -> Shape {
        let of_jobs = |count: usize| count as f64 / self.jobs as f64;
        let total_us = self.service_us.iter().sum::<u128>().max(1) as f64;
        Shape {
            runtime_under: self.under.map(of_jobs),
            gpu_demand: self.demand.iter().map(|&count| of_jobs(count)).collect(),
            gpu_service: self.service_us.iter().map(|&us| us as f64 / total_us).collect(),
            interarrival_p50_s,
            interarrival_p95_s,
            zero_interarrivals: of_jobs(zeros),
        }
    }
}
