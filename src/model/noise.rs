use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::interference::PairFactors;
use crate::engine::Time;
use crate::workload::GpuProfile;

/// How runs differ from each other, for every seed but 0.
///
/// Factors on runtimes and start-ups are drawn per job. What the interference model gets wrong about a workload
/// holds for a whole run: factors on pressures are drawn per workload and run. All are log-normal: those of jobs with median 1, those on pressures
/// with mean 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of log(runtime / expected runtime) of a job that keeps its GPU busy all the time.
    pub gpu_sigma: f64,
    /// What the host adds to it for a job that never uses its GPU, see [`Noise::runtime_sigma`].
    pub host_sigma: f64,
    /// Standard deviation of log(start-up / profiled start-up).
    pub startup_sigma: f64,
    /// Standard deviation of log(pressure / modelled pressure) between two workloads with pair factors.
    pub interference_sigma: f64,
    /// The same between two workloads without.
    pub extrapolation_sigma: f64,
}

/// What a random number is for. Streams never share numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    Activity = 1,
    ActivityPhase = 2,
    Runtime = 3,
    Startup = 4,
    BlindGpu = 5,
    Aggressor = 6,
    Sensitivity = 7,
    TickPhase = 8,
}

/// A uniform number in [0, 1) that is a function of its arguments alone: the same whatever was drawn before.
pub fn counter_uniform(seed: u64, stream: Stream, job: u64, index: u64) -> f64 {
    // The top 53 bits fill a double's mantissa.
    (counter_bits(seed, stream, job, index) >> 11) as f64 / (1u64 << 53) as f64
}

fn counter_bits(seed: u64, stream: Stream, job: u64, index: u64) -> u64 {
    let mut key = [0u8; 32];
    for (bytes, part) in key.chunks_exact_mut(8).zip([seed, stream as u64, job, index]) {
        bytes.copy_from_slice(&part.to_le_bytes());
    }
    xxh3_64(&key)
}

impl Noise {
    /// Standard deviation of log(runtime / expected runtime) under a profile.
    ///
    /// Whatever a job waits for while its GPU is idle comes from the host, and varies more than what a GPU does. The
    /// variances of both add up: `gpu_sigma^2 + (host_sigma (1 - u)^2)^2` with the solo mean GPU utilisation `u`.
    pub fn runtime_sigma(&self, profile: &GpuProfile) -> f64 {
        libm::hypot(self.gpu_sigma, self.host_sigma * host_share(profile.gpu_util.mean))
    }

    /// The job's runtime over its expected runtime.
    pub fn runtime(&self, seed: u64, job: u64, profile: &GpuProfile) -> f64 {
        log_normal(seed, Stream::Runtime, job, self.runtime_sigma(profile))
    }

    /// The job's start-up over its profiled start-up.
    pub fn startup(&self, seed: u64, job: u64) -> f64 {
        log_normal(seed, Stream::Startup, job, self.startup_sigma)
    }

    /// A run's factors on the pressures that a workload exerts and suffers, with or without pair factors (`measured`).
    ///
    /// Half of a pressure's variance comes from either side. Their mean is 1, for pressures add up: with a median of 1 noise
    /// would make all sharing slower.
    pub fn pressure(&self, seed: u64, workload: &str, measured: bool) -> PairFactors {
        let sigma = if measured { self.interference_sigma } else { self.extrapolation_sigma };
        let factor = |stream| {
            let key = xxh3_64(workload.as_bytes());
            let sigma = sigma * std::f64::consts::FRAC_1_SQRT_2;
            let mean = if seed == 0 { 1.0 } else { libm::exp(sigma * sigma / 2.0) };
            log_normal(seed, stream, key, sigma) / mean
        };
        PairFactors { aggressor: factor(Stream::Aggressor), sensitivity: factor(Stream::Sensitivity) }
    }
}

/// Where the grid of a server's ticks starts: uniform within one period, at 0 for seed 0.
pub fn tick_phase(seed: u64, server: usize, period: Time) -> Time {
    if seed == 0 {
        return Time::ZERO;
    }
    let share = counter_uniform(seed, Stream::TickPhase, server as u64, 0);
    Time::from_micros((share * period.micros() as f64) as i64)
}

/// How much of the host's variation a job takes over that uses its GPU for a share `gpu_util` of its time.
pub(crate) fn host_share(gpu_util: f64) -> f64 {
    (1.0 - gpu_util).powi(2)
}

/// A factor with median 1; exactly 1 for seed 0.
fn log_normal(seed: u64, stream: Stream, key: u64, sigma: f64) -> f64 {
    if seed == 0 {
        return 1.0;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(counter_bits(seed, stream, key, 0));
    let normal: f64 = StandardNormal.sample(&mut rng);
    libm::exp(sigma * normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Catalogue;

    const NOISE: Noise = Noise {
        gpu_sigma: 0.03,
        host_sigma: 0.16,
        startup_sigma: 0.2,
        interference_sigma: 0.1,
        extrapolation_sigma: 0.3,
    };

    fn mean_and_sd(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, square.sqrt())
    }

    #[test]
    fn numbers_are_uniform_and_streams_differ() {
        let n = 20_000;
        let mean = (0..n).map(|i| counter_uniform(7, Stream::Activity, 3, i)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert_ne!(counter_bits(0, Stream::Activity, 1, 0), counter_bits(0, Stream::Activity, 0, 1));
        assert_ne!(counter_bits(0, Stream::Runtime, 1, 1), counter_bits(0, Stream::Startup, 1, 1));
    }

    #[test]
    fn seed_zero_is_noise_free_and_others_have_the_stated_spread() {
        let catalogue = Catalogue::builtin();
        let mut profile = catalogue.workloads()[0].profile(0).clone();
        profile.gpu_util.mean = 0.5;
        assert_eq!((NOISE.runtime(0, 5, &profile), NOISE.startup(0, 5)), (1.0, 1.0));
        assert_eq!(NOISE.pressure(0, "a", false), PairFactors::default());
        assert_eq!(tick_phase(0, 1, Time::from_s(2.0)), Time::ZERO);
        let runtimes: Vec<f64> = (0..4_000).map(|job| NOISE.runtime(11, job, &profile).ln()).collect();
        // A quarter of 0.16 from the host, and 0.03.
        let (mean, sd) = mean_and_sd(&runtimes);
        assert!(mean.abs() < 0.005 && (sd - 0.05).abs() < 0.003, "{mean} {sd}");
        profile.gpu_util.mean = 1.0;
        assert_eq!(NOISE.runtime_sigma(&profile), 0.03);
    }

    /// Both sides together have the stated spread, each for itself, and what a run draws stays.
    #[test]
    fn pressures_differ_between_runs_and_workloads() {
        for (measured, sigma) in [(true, 0.1), (false, 0.3)] {
            let of = |seed| {
                let victim = NOISE.pressure(seed, "victim", measured);
                NOISE.pressure(seed, "aggressor", measured).aggressor * victim.sensitivity
            };
            let (mean, sd) = mean_and_sd(&(1..4_000).map(|seed| of(seed).ln()).collect::<Vec<_>>());
            // Of a log-normal with mean 1.
            assert!(
                (mean + sigma * sigma / 2.0).abs() < 0.02 && (sd / sigma - 1.0).abs() < 0.05,
                "{mean} {sd}"
            );
            assert_eq!(of(9), of(9));
        }
        let one = NOISE.pressure(9, "one", true);
        assert!(one.aggressor != one.sensitivity && one != NOISE.pressure(9, "other", true));
    }

    #[test]
    fn phases_are_uniform_within_a_tick() {
        let period = Time::from_s(3.5);
        let phases: Vec<f64> = (1..2_000).map(|seed| tick_phase(seed, 0, period).as_s()).collect();
        assert!(phases.iter().all(|phase| (0.0..3.5).contains(phase)));
        assert!((phases.iter().sum::<f64>() / phases.len() as f64 - 1.75).abs() < 0.05);
        assert_ne!(tick_phase(3, 0, period), tick_phase(3, 1, period));
        assert_eq!(tick_phase(3, 0, Time::ZERO), Time::ZERO);
    }
}
