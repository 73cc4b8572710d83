use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

/// Run-to-run noise, drawn per job for every seed but 0.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of log(runtime / expected runtime).
    pub runtime_sigma: f64,
    /// Standard deviation of log(start-up / profiled start-up).
    pub startup_sigma: f64,
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
    /// The job's runtime over its expected runtime.
    pub fn runtime(&self, seed: u64, job: u64) -> f64 {
        log_normal(seed, Stream::Runtime, job, self.runtime_sigma)
    }

    /// The job's start-up over its profiled start-up.
    pub fn startup(&self, seed: u64, job: u64) -> f64 {
        log_normal(seed, Stream::Startup, job, self.startup_sigma)
    }
}

/// A factor with median 1; exactly 1 for seed 0.
fn log_normal(seed: u64, stream: Stream, job: u64, sigma: f64) -> f64 {
    if seed == 0 {
        return 1.0;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(counter_bits(seed, stream, job, 0));
    let normal: f64 = StandardNormal.sample(&mut rng);
    libm::exp(sigma * normal)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let noise = Noise { runtime_sigma: 0.05, startup_sigma: 0.2 };
        assert_eq!((noise.runtime(0, 5), noise.startup(0, 5)), (1.0, 1.0));
        let n = 4_000;
        let logs: Vec<f64> = (0..n).map(|job| noise.runtime(11, job).ln()).collect();
        let mean = logs.iter().sum::<f64>() / n as f64;
        let sd = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        assert!(mean.abs() < 0.005 && (sd - 0.05).abs() < 0.003, "{mean} {sd}");
    }
}
