use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Result;
use crate::workload::GpuProfile;

/// How jobs that share a GPU slow each other down.
///
/// A victim's contended rate, as a fraction of its rate alone, is
///
/// ```text
/// 1 / (1 + sum over aggressors a of p_a)
/// p_a = s_a^2 (base + memory_slope m_a) + traffic d_a d_v
/// ```
///
/// where `s` is an aggressor's solo mean SMACT, `m` its peak memory over `memory_unit_mib` (it stands in
/// for kernel length) and `d` the solo mean DRAMA of the aggressor and of the victim: their product is how
/// often both want memory at once, both before the closing phase of a run. Kernels of different processes take turns, so the waits for several
/// aggressors add up; in a product they would wait for each other's waits.
///
/// Where the aggressor's SMACT or the DRAMA of either is not known, `p` follows from [`Utilization`].
///
/// Beside their waits for each other one by one, jobs share the time for which a GPU can be busy: where the sum of
/// their SMACT (GPU utilisation where that is not known) times these rates exceeds `capacity`, all of them run slower
/// in proportion.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    pub base: f64,
    pub memory_slope: f64,
    pub memory_unit_mib: f64,
    /// Pressure where both jobs use memory all the time; none where absent.
    #[serde(default)]
    pub traffic: f64,
    /// Time for which a GPU can be busy with all its jobs together, as a fraction of all time.
    #[serde(default = "Interference::all_time")]
    pub capacity: f64,
    /// Corrections per workload, where pair measurements exist.
    #[serde(default)]
    pub factors: BTreeMap<String, PairFactors>,
    /// What holds without SMACT or DRAMA; where absent, such workloads are refused.
    pub gpu_utilization: Option<Utilization>,
}

/// Pressure where only GPU utilisation is known: `p_a = u_a^2 (base + memory_slope m_a)` with its solo mean `u`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Utilization {
    pub base: f64,
    pub memory_slope: f64,
    /// Corrections per workload; those of the other form are none to this one.
    #[serde(default)]
    pub factors: BTreeMap<String, PairFactors>,
}

/// What a job does to its neighbours on a GPU, and how much it suffers from them.
#[derive(Debug, Clone, Copy)]
pub struct Contention {
    /// Where SMACT and DRAMA are known.
    counters: Option<Counters>,
    /// Share of the time for which it keeps a GPU busy alone: SMACT, or GPU utilisation where that is not known.
    pub busy: f64,
    /// From GPU utilisation.
    utilization: f64,
    utilization_sensitivity: f64,
}

#[derive(Debug, Clone, Copy)]
struct Counters {
    /// Pressure of its kernels, before their sensitivities.
    kernels: f64,
    /// Pressure of its memory traffic on a neighbour with a DRAMA of 1, likewise.
    traffic: f64,
    drama: f64,
    sensitivity: f64,
}

impl Contention {
    /// Of the same job when its activity is this fraction of what it was.
    pub fn at_activity(mut self, fraction: f64) -> Contention {
        self.busy *= fraction;
        self.times(PairFactors { aggressor: fraction, sensitivity: fraction })
    }

    /// The pressure `p` that this job exerts on a victim.
    pub fn pressure_on(&self, victim: &Contention) -> f64 {
        match (self.counters, victim.counters) {
            (Some(own), Some(victim)) => (own.kernels + own.traffic * victim.drama) * victim.sensitivity,
            _ => self.utilization * victim.utilization_sensitivity,
        }
    }

    /// With further factors on what it exerts and suffers.
    pub fn times(mut self, factors: PairFactors) -> Contention {
        if let Some(counters) = &mut self.counters {
            counters.kernels *= factors.aggressor;
            counters.traffic *= factors.aggressor;
            counters.sensitivity *= factors.sensitivity;
        }
        self.utilization *= factors.aggressor;
        self.utilization_sensitivity *= factors.sensitivity;
        self
    }
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
    /// The capacity of a GPU that cannot be busy for more than all of the time.
    pub(crate) fn all_time() -> f64 {
        1.0
    }

    /// What a workload does and suffers under a profile before its closing phase, in which its activity is
    /// `closing_activity` of what it was; all pressures multiplied by `strength`.
    pub fn contention(
        &self,
        workload: &str,
        profile: &GpuProfile,
        strength: f64,
        closing_activity: f64,
    ) -> Contention {
        let training = 1.0 / profile.mean_over_training(closing_activity);
        let memory = profile.peak_memory_mib / self.memory_unit_mib;
        let factors = self.factors(workload);
        let counters = profile.smact.zip(profile.drama).map(|(smact, drama)| {
            let (smact, drama) = (smact.mean * training, drama.mean * training);
            Counters {
                kernels: factors.aggressor
                    * smact
                    * smact
                    * (self.base + self.memory_slope * memory)
                    * strength,
                traffic: factors.aggressor * self.traffic * drama * strength,
                drama,
                sensitivity: factors.sensitivity,
            }
        });
        let (mut utilization, mut utilization_sensitivity) = (0.0, 1.0);
        if let Some(form) = &self.gpu_utilization {
            let factors = form.factors.get(workload).copied().unwrap_or_default();
            let util = profile.gpu_util.mean * training;
            utilization =
                factors.aggressor * util * util * (form.base + form.memory_slope * memory) * strength;
            utilization_sensitivity = factors.sensitivity;
        }
        let busy = profile.smact.unwrap_or(profile.gpu_util).mean * training;
        Contention { counters, busy, utilization, utilization_sensitivity }
    }

    pub fn factors(&self, workload: &str) -> PairFactors {
        self.factors.get(workload).copied().unwrap_or_default()
    }

    /// Whether pairs were measured of a workload, for the form that its own profile leads to.
    pub fn is_measured(&self, workload: &str, profile: &GpuProfile) -> bool {
        match profile.smact.zip(profile.drama) {
            Some(_) => self.factors.contains_key(workload),
            None => self.gpu_utilization.as_ref().is_some_and(|form| form.factors.contains_key(workload)),
        }
    }

    /// The sections that hold factors per workload, by name.
    pub(super) fn factor_sections(&self) -> Vec<(&'static str, &BTreeMap<String, PairFactors>)> {
        let utilization = self.gpu_utilization.as_ref();
        [("interference.factors", &self.factors)]
            .into_iter()
            .chain(utilization.map(|form| ("interference.gpu_utilization.factors", &form.factors)))
            .collect()
    }

    /// From profiles alone.
    pub fn without_factors(mut self) -> Interference {
        self.factors.clear();
        if let Some(form) = &mut self.gpu_utilization {
            form.factors.clear();
        }
        self
    }

    /// How much slower jobs run that would keep a GPU busy for these shares of the time: at least 1. A job by itself is
    /// never slowed.
    pub fn saturation(&self, shares: impl IntoIterator<Item = f64>) -> f64 {
        let (jobs, load) = shares.into_iter().fold((0, 0.0), |(jobs, sum), share| (jobs + 1, sum + share));
        if jobs > 1 { (load / self.capacity).max(1.0) } else { 1.0 }
    }

    /// The most for which the jobs of a GPU together keep it busy, as a fraction of all time, at a strength of
    /// interference; a job by itself may for more.
    ///
    /// At `x` times the capacity all are slowed by `1 + strength (x - 1)`, and `x` over that is at most
    /// `max(1, 1 / strength)`. Without interference there is no limit.
    pub(crate) fn most_busy(&self, strength: f64) -> f64 {
        self.capacity * (1.0 / strength).max(1.0)
    }

    pub(super) fn check(
        &self,
        check: impl Fn(&str, f64, std::ops::RangeInclusive<f64>) -> Result<()>,
    ) -> Result<()> {
        check("interference.base", self.base, 0.0..=100.0)?;
        check("interference.memory_slope", self.memory_slope, 0.0..=100.0)?;
        check("interference.memory_unit_mib", self.memory_unit_mib, 1.0..=1e9)?;
        check("interference.traffic", self.traffic, 0.0..=100.0)?;
        check("interference.capacity", self.capacity, 0.01..=1e6)?;
        if let Some(form) = &self.gpu_utilization {
            check("interference.gpu_utilization.base", form.base, 0.0..=100.0)?;
            check("interference.gpu_utilization.memory_slope", form.memory_slope, 0.0..=100.0)?;
        }
        for (section, factors) in self.factor_sections() {
            for (workload, factors) in factors {
                check(&format!("{section}.{workload}.aggressor"), factors.aggressor, 0.0..=100.0)?;
                check(&format!("{section}.{workload}.sensitivity"), factors.sensitivity, 0.0..=100.0)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Interference, PairFactors};
    use crate::model::Model;
    use crate::workload::Catalogue;

    #[test]
    fn a_gpu_saturates_beyond_its_capacity_and_with_the_second_job() {
        let interference = Interference { capacity: 0.5, ..Model::builtin().interference };
        assert_eq!(interference.saturation([0.25, 0.25]), 1.0);
        assert_eq!(interference.saturation([0.5, 0.25, 0.25]), 2.0);
        assert_eq!((interference.saturation([]), interference.saturation([0.9])), (1.0, 1.0));
    }

    /// Without SMACT or DRAMA on either side, GPU utilisation decides.
    #[test]
    fn utilization_stands_in_where_counters_are_unknown() {
        let text = "schema_version = 1\n[interference]\nbase = 0.5\nmemory_slope = 0.0\nmemory_unit_mib = 1000.0\n\
                    traffic = 1.0\n[interference.factors.a]\naggressor = 3.0\nsensitivity = 5.0\n\
                    [interference.gpu_utilization]\nbase = 0.25\nmemory_slope = 2.0\n\
                    [interference.gpu_utilization.factors.b]\naggressor = 2.0\nsensitivity = 0.5\n";
        let mut model = Model::builtin();
        model.override_with("m.toml", text).unwrap();
        let rows = "workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,smact_mean,drama_mean,gpu_util_mean\n\
                    a,1,10,1,500,0.5,0.25,0.75\nb,1,10,1,250,,,0.5\nc,1,10,1,250,0.5,,1\n";
        let catalogue = Catalogue::parse("w.csv", rows.as_bytes()).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| {
            model.interference.contention(name, catalogue.get(name).unwrap().profile(0), 1.0, 1.0)
        });
        // Kernels and traffic, with the factors of both sides.
        assert_eq!(a.pressure_on(&a), 3.0 * (0.25 * 0.5 + 0.25 * 0.25) * 5.0);
        assert_eq!(a.pressure_on(&b), 0.5625 * (0.25 + 2.0 * 0.5) * 0.5);
        assert_eq!(b.pressure_on(&a), 2.0 * 0.25 * (0.25 + 2.0 * 0.25));
        assert_eq!(c.pressure_on(&a), 0.25 + 2.0 * 0.25, "SMACT alone is not enough");
        let measured = |name| model.interference.is_measured(name, catalogue.get(name).unwrap().profile(0));
        assert_eq!(["a", "b", "c"].map(measured), [true, true, false]);
    }

    #[test]
    fn further_factors_multiply_pressures() {
        let interference = Model::builtin().interference;
        let catalogue = Catalogue::builtin();
        for known in [true, false] {
            let [a, b] = ["unet_voc_1gpu", "mnist_bs32_1gpu"].map(|name| {
                let mut workload = catalogue.get(name).unwrap().clone();
                if !known {
                    workload.forget_counters();
                }
                interference.contention(name, workload.profile(0), 1.0, 1.0)
            });
            let louder = a.times(PairFactors { aggressor: 2.0, sensitivity: 0.25 });
            let softer = b.times(PairFactors { aggressor: 4.0, sensitivity: 0.125 });
            assert_eq!(louder.pressure_on(&softer), 0.25 * a.pressure_on(&b));
            assert_eq!(softer.pressure_on(&louder), b.pressure_on(&a));
        }
    }
}
