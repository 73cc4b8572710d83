use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::Deserialize;

use super::quantiles::Quantiles;

/// How long jobs run alone, by how many GPUs they have.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Durations {
    /// Of the normal scores of successive jobs' durations: 0 where they have nothing to do with each other.
    #[serde(default)]
    pub correlation: f64,
    /// Ascending in `min_gpus`.
    pub class: Vec<DurationClass>,
}

/// The durations of jobs with at least so many GPUs, and fewer than the next class has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationClass {
    pub min_gpus: u32,
    pub duration_s: Quantiles,
}

impl Durations {
    pub fn of(&self, gpus: u32) -> &Quantiles {
        let after = self.class.partition_point(|class| class.min_gpus <= gpus);
        &self.class[after.saturating_sub(1)].duration_s
    }
}

/// Durations as a first-order autoregression of normal scores, which keeps the distribution of each as it is.
pub(super) struct Draws<'a> {
    durations: &'a Durations,
    rng: ChaCha8Rng,
    score: f64,
    /// Of what is new in a score.
    sigma: f64,
}

impl<'a> Draws<'a> {
    pub fn new(durations: &'a Durations, mut rng: ChaCha8Rng) -> Draws<'a> {
        let score = StandardNormal.sample(&mut rng);
        let sigma = (1.0 - durations.correlation * durations.correlation).sqrt();
        Draws { durations, rng, score, sigma }
    }

    /// Whole seconds, for a job with so many GPUs.
    pub fn next_s(&mut self, gpus: u32) -> f64 {
        let new: f64 = StandardNormal.sample(&mut self.rng);
        self.score = self.durations.correlation * self.score + self.sigma * new;
        let p = 0.5 * libm::erfc(-self.score * std::f64::consts::FRAC_1_SQRT_2);
        self.durations.of(gpus).whole(p)
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantiles::Tail;
    use super::*;
    use crate::metrics::rank_correlation;
    use crate::traces::generate::{Purpose, ks_distance, rng};

    fn log_uniform() -> Quantiles {
        Quantiles { points: vec![[0.0, 0.0], [0.99, 10_000.0]], tail: Some(Tail { alpha: 1.0, max: 1e6 }) }
    }

    #[test]
    fn correlated_draws_keep_their_distribution() {
        for correlation in [0.0, 0.6] {
            let class = vec![DurationClass { min_gpus: 1, duration_s: log_uniform() }];
            let durations = Durations { correlation, class };
            let mut draws = Draws::new(&durations, rng(1, Purpose::Durations));
            let mut drawn: Vec<f64> = (0..50_000).map(|_| draws.next_s(1)).collect();
            // Spearman's coefficient of normal scores that correlate by r is 6 / pi asin(r / 2).
            let expected = 6.0 / std::f64::consts::PI * (correlation / 2.0).asin();
            let found = rank_correlation(&drawn[1..], &drawn[..drawn.len() - 1]);
            assert!((found - expected).abs() < 0.02, "{found} {expected}");
            drawn.sort_by(f64::total_cmp);
            let distance = ks_distance(&drawn, |x| log_uniform().cdf(x));
            assert!(distance < 0.015, "{distance}");
        }
    }

    #[test]
    fn a_class_ends_where_the_next_begins() {
        let class = |min_gpus, value| DurationClass { min_gpus, duration_s: Quantiles::constant(value) };
        let durations = Durations { correlation: 0.0, class: vec![class(1, 10.0), class(4, 40.0)] };
        assert_eq!([1, 3, 4, 64].map(|gpus| durations.of(gpus).max()), [10.0, 10.0, 40.0, 40.0]);
    }
}
