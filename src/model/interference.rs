use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Result;
use crate::workload::GpuProfile;

/// How jobs that share a GPU slow each other down.
///
/// A victim's contended rate, as a fraction of its rate alone, is
///
/// ```text
/// 1 / ((1 + sum over aggressors a of p_a + crowding * max(0, aggressors - 1)) * saturation)
/// p_a = s_a^2 (base + memory_slope m_a)
/// saturation = 1 + bandwidth_slope * max(0, D - bandwidth_knee), over the same of the victim alone
/// ```
///
/// where `s` is an aggressor's solo mean SMACT, `m` its peak memory over `memory_unit_mib` (it stands in
/// for kernel length) and `D` the sum of the solo mean DRAMA of all jobs on the GPU, the victim included.
/// Kernels of different processes take turns, so the waits for several aggressors add up; in a product they
/// would wait for each other's waits.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    pub base: f64,
    pub memory_slope: f64,
    pub memory_unit_mib: f64,
    /// Sum of DRAMA from which memory bandwidth saturates.
    pub bandwidth_knee: f64,
    /// Slowdown per unit of DRAMA beyond the knee; 0 switches saturation off.
    pub bandwidth_slope: f64,
    /// Slowdown per job beyond the second on a GPU, on top of the pressures; none where absent.
    #[serde(default)]
    pub crowding: f64,
    /// Corrections per workload, where pair measurements exist.
    #[serde(default)]
    pub factors: BTreeMap<String, PairFactors>,
}

/// Factors on the pressure that a workload exerts and suffers; both 1 without measurements.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFactors {
    pub aggressor: f64,
    pub sensitivity: f64,
}

impl Default for PairFactors {
    fn default() -> Self {
        PairFactors { aggressor: 1.0, sensitivity: 1.0 }
    }
}

impl Interference {
    /// The pressure that a job exerts on its neighbours, before their sensitivities.
    pub fn pressure(&self, profile: &GpuProfile, factors: PairFactors) -> f64 {
        let smact = profile.smact.mean;
        let memory = profile.peak_memory_mib / self.memory_unit_mib;
        factors.aggressor * smact * smact * (self.base + self.memory_slope * memory)
    }

    pub fn factors(&self, workload: &str) -> PairFactors {
        self.factors.get(workload).copied().unwrap_or_default()
    }

    /// A victim's solo rate over its contended rate: at least 1, and exactly 1 alone.
    ///
    /// `pressure` is the sum over its neighbours, with their factors, its sensitivity and `strength` in it
    /// already; `strength` scales the other terms.
    pub fn slowdown(
        &self,
        pressure: f64,
        neighbours: usize,
        own_drama: f64,
        drama_sum: f64,
        strength: f64,
    ) -> f64 {
        let crowding = self.crowding * neighbours.saturating_sub(1) as f64;
        // A job's own traffic is in its solo runtime already.
        let saturation = self.saturation(drama_sum) / self.saturation(own_drama);
        (1.0 + pressure + strength * crowding) * (1.0 + strength * (saturation - 1.0))
    }

    fn saturation(&self, drama_sum: f64) -> f64 {
        1.0 + self.bandwidth_slope * (drama_sum - self.bandwidth_knee).max(0.0)
    }

    pub(super) fn check(
        &self,
        check: impl Fn(&str, f64, std::ops::RangeInclusive<f64>) -> Result<()>,
    ) -> Result<()> {
        check("interference.base", self.base, 0.0..=100.0)?;
        check("interference.memory_slope", self.memory_slope, 0.0..=100.0)?;
        check("interference.memory_unit_mib", self.memory_unit_mib, 1.0..=1e9)?;
        check("interference.bandwidth_knee", self.bandwidth_knee, 0.0..=100.0)?;
        check("interference.bandwidth_slope", self.bandwidth_slope, 0.0..=100.0)?;
        check("interference.crowding", self.crowding, 0.0..=100.0)?;
        for (workload, factors) in &self.factors {
            check(&format!("interference.factors.{workload}.aggressor"), factors.aggressor, 0.0..=100.0)?;
            check(&format!("interference.factors.{workload}.sensitivity"), factors.sensitivity, 0.0..=100.0)?;
        }
        Ok(())
    }
}
