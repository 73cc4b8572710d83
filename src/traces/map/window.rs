//! Which run of consecutive jobs stands for a trace.

use super::distance::{Weights, distances};
use super::eligible::{Eligible, Sample};
use super::ranked::Ranked;
use super::statistics::{Shape, Statistics, Tally};
use crate::engine::Time;
use crate::error::{Result, input_error};

/// The jobs of a window, beside all eligible ones.
#[derive(Debug, Clone)]
pub struct Window {
    /// On the clock of the source.
    pub start_s: f64,
    pub first_job_id: String,
    pub last_job_id: String,
    /// As many windows could have been chosen.
    pub candidates: usize,
    /// How many of them are nearer to the whole, plus 1.
    pub rank: usize,
    pub weights: Weights,
    /// Of [`COMPONENTS`](super::COMPONENTS), from the window to all eligible jobs.
    pub distances: [f64; 5],
    pub statistics: Statistics,
    /// The GPU counts of the shapes.
    pub gpu_counts: Vec<u32>,
}

impl Window {
    /// The weighted sum of the distances.
    pub fn distance(&self) -> f64 {
        self.weights.total(&self.distances)
    }

    /// The window of `length` jobs that starts with the first one at or after `start_s` or, without one, the nearest
    /// to the whole, of equally near ones the first. Gives back its place among the eligible jobs, too.
    pub(super) fn choose(
        eligible: &Eligible<'_>,
        whole: &Statistics,
        start_s: Option<f64>,
        length: usize,
        weights: Weights,
        source: &str,
    ) -> Result<(usize, Window)> {
        let jobs = eligible.samples.len();
        if length == 0 || length > jobs {
            return Err(input_error!(
                "{source}: found {jobs} eligible jobs, a window needs {length} (--jobs, at least 1); ask for fewer, or \
                 let more be eligible with --max-gpus and --states"
            ));
        }
        let totals = totals(&eligible.samples, &whole.shape, length, &weights);
        let chosen = match start_s {
            None => (0..totals.len()).fold(0, |best, i| if totals[i] < totals[best] { i } else { best }),
            Some(start_s) => {
                let first = eligible.jobs.partition_point(|job| job.submit_s < start_s);
                if jobs - first < length {
                    return Err(input_error!(
                        "--window {start_s}: {source} has {} eligible jobs from then on, the window needs {length}; \
                         the last one that can start a window was submitted at {}",
                        jobs - first,
                        eligible.jobs[jobs - length].submit_s
                    ));
                }
                first
            }
        };
        let samples = &eligible.samples[chosen..chosen + length];
        let statistics = Statistics::of(samples, eligible.gpu_counts.len());
        let window = Window {
            start_s: eligible.jobs[chosen].submit_s,
            first_job_id: eligible.jobs[chosen].job_id.clone(),
            last_job_id: eligible.jobs[chosen + length - 1].job_id.clone(),
            candidates: totals.len(),
            rank: totals.iter().filter(|&&total| total < totals[chosen]).count() + 1,
            weights,
            distances: distances(&statistics.shape, &whole.shape),
            statistics,
            gpu_counts: eligible.gpu_counts.clone(),
        };
        Ok((chosen, window))
    }
}

/// The distance from the whole of every window, by its first job: one pass, whatever the length.
fn totals(samples: &[Sample], whole: &Shape, length: usize, weights: &Weights) -> Vec<f64> {
    let counts = whole.gpu_demand.len();
    let mut tally = Tally::new(counts);
    let gap = |job: usize| samples[job].submit - samples[job - 1].submit;
    // The 0 before the first job of a window is there all the time.
    let mut gaps = Ranked::new(std::iter::once(Time::ZERO).chain((1..samples.len()).map(gap)).collect());
    gaps.add(Time::ZERO);
    let mut totals = Vec::with_capacity(samples.len() - length + 1);
    for (job, sample) in samples.iter().enumerate() {
        tally.add(sample);
        if job > 0 && length > 1 {
            gaps.add(gap(job));
        }
        if job + 1 < length {
            continue;
        }
        let first = job + 1 - length;
        let shape = tally.shape(gaps.quantile(0.5), gaps.quantile(0.95), gaps.count_of_least());
        totals.push(weights.total(&distances(&shape, whole)));
        tally.remove(&samples[first]);
        // The gap before the next window's first job.
        if length > 1 {
            gaps.remove(gap(first + 1));
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(jobs: &[(i64, i64, usize)]) -> Vec<Sample> {
        let mut submit_s = 0;
        let sample = |&(gap_s, duration_s, count): &(i64, i64, usize)| {
            submit_s += gap_s;
            Sample {
                submit: Time::from_whole_s(submit_s),
                duration: Time::from_whole_s(duration_s),
                count,
                service_us: (duration_s * 1_000_000) as u128 * (count + 1) as u128,
            }
        };
        jobs.iter().map(sample).collect()
    }

    proptest::proptest! {
        /// What slides is what is worked out for each window alone, to the last bit.
        #[test]
        fn sliding_is_exact(
            jobs in proptest::collection::vec((0i64..5, 0i64..100_000, 0usize..3), 1..60),
            length in 1usize..60,
        ) {
            let samples = samples(&jobs);
            let length = length.min(samples.len());
            let whole = Statistics::of(&samples, 3).shape;
            let alone: Vec<f64> = samples
                .windows(length)
                .map(|window| Weights::default().total(&distances(&Statistics::of(window, 3).shape, &whole)))
                .collect();
            proptest::prop_assert_eq!(totals(&samples, &whole, length, &Weights::default()), alone);
        }
    }
}
