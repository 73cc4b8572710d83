use serde::Deserialize;

use super::SAMPLED_METRICS;
use crate::workload::Metric;

/// Electrical power of a GPU as a function of what runs on it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Of a GPU on which nothing computes, in watts.
    pub idle_w: f64,
    /// What a GPU utilisation of 1 adds, in watts.
    pub gpu_util_w: f64,
    /// What a DRAMA of 1 adds, in watts.
    pub drama_w: f64,
}

impl Power {
    /// Power of a GPU at an activity, in watts.
    pub fn of(&self, activity: &[f64; SAMPLED_METRICS]) -> f64 {
        self.idle_w
            + self.gpu_util_w * activity[Metric::GpuUtil as usize]
            + self.drama_w * activity[Metric::Drama as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_adds_to_idle_power() {
        let power = Power { idle_w: 50.0, gpu_util_w: 200.0, drama_w: 100.0 };
        assert_eq!(power.of(&[0.0; SAMPLED_METRICS]), 50.0);
        // SMACT, SMOCC, DRAMA, GPU utilisation.
        assert_eq!(power.of(&[0.9, 0.5, 0.25, 0.75]), 50.0 + 25.0 + 150.0);
    }
}
