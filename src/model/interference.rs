use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Result;
use crate::workload::GpuProfile;

/// How jobs that share a GPU slow each other down.
///
/// A victim's contended rate, as a fraction of its rate alone, is
///
/// ```text
/// 1 / (1 + sum over aggressors a of p_a + crowding * max(0, aggressors - 1))
/// p_a = s_a^2 (base + memory_slope m_a) + traffic d_a d_v
/// ```
///
/// where `s` is an aggressor's solo mean SMACT, `m` its peak memory over `memory_unit_mib` (it stands in
/// for kernel length) and `d` the solo mean DRAMA of the aggressor and of the victim: their product is how
/// often both want memory at once. Kernels of different processes take turns, so the waits for several
/// aggressors add up; in a product they would wait for each other's waits.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    pub base: f64,
    pub memory_slope: f64,
    pub memory_unit_mib: f64,
    /// Pressure where both jobs use memory all the time; none where absent.
    #[serde(default)]
    pub traffic: f64,
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
    /// The pressure that a job's kernels exert on its neighbours, before their sensitivities.
    pub fn pressure(&self, profile: &GpuProfile, factors: PairFactors) -> f64 {
        let smact = profile.smact.mean;
        let memory = profile.peak_memory_mib / self.memory_unit_mib;
        factors.aggressor * smact * smact * (self.base + self.memory_slope * memory)
    }

    /// The pressure that a job's memory traffic exerts on a neighbour with a DRAMA of 1.
    pub fn traffic(&self, profile: &GpuProfile, factors: PairFactors) -> f64 {
        factors.aggressor * self.traffic * profile.drama.mean
    }

    pub fn factors(&self, workload: &str) -> PairFactors {
        self.factors.get(workload).copied().unwrap_or_default()
    }

    /// What the number of a victim's neighbours alone adds to their pressures.
    pub fn crowding(&self, neighbours: usize) -> f64 {
        self.crowding * neighbours.saturating_sub(1) as f64
    }

    pub(super) fn check(
        &self,
        check: impl Fn(&str, f64, std::ops::RangeInclusive<f64>) -> Result<()>,
    ) -> Result<()> {
        check("interference.base", self.base, 0.0..=100.0)?;
        check("interference.memory_slope", self.memory_slope, 0.0..=100.0)?;
        check("interference.memory_unit_mib", self.memory_unit_mib, 1.0..=1e9)?;
        check("interference.traffic", self.traffic, 0.0..=100.0)?;
        check("interference.crowding", self.crowding, 0.0..=100.0)?;
        for (workload, factors) in &self.factors {
            check(&format!("interference.factors.{workload}.aggressor"), factors.aggressor, 0.0..=100.0)?;
            check(&format!("interference.factors.{workload}.sensitivity"), factors.sensitivity, 0.0..=100.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    #[test]
    fn crowding_starts_with_the_second_neighbour() {
        let mut interference = Model::builtin().interference;
        interference.crowding = 0.125;
        assert_eq!(
            [0, 1, 2, 4].map(|neighbours| interference.crowding(neighbours)),
            [0.0, 0.0, 0.125, 0.375]
        );
    }
}
