use super::GpuSpec;
use crate::engine::Time;
use crate::model::{Combination, Contention, Power, SAMPLED_METRICS};

/// A job's process on a GPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resident {
    pub job: usize,
    /// Training: holds memory and exerts pressure.
    pub active: bool,
    /// Holds this much memory.
    pub memory_mib: f64,
    /// Of its workload on this GPU.
    pub speed: f64,
    pub contention: Contention,
    /// Solo means of the sampled metrics.
    pub activity: [f64; SAMPLED_METRICS],
    /// Current progress as a fraction of the pace alone on this GPU.
    pub pace: f64,
}

impl Resident {
    /// Uses the GPU while it trains: some ranks of some gangs only hold it.
    pub fn computes(&self) -> bool {
        self.active && self.activity.iter().any(|&mean| mean > 0.0)
    }
}

/// The truth about a GPU at one moment of a run.
#[derive(Debug)]
pub(crate) struct GpuState {
    pub spec: GpuSpec,
    /// The server that it belongs to.
    pub server: usize,
    pub residents: Vec<Resident>,
    pub used_mib: f64,
    /// By how much its load slows its residents down, beside their pressures.
    pub saturation: f64,
    pub meter: GpuMeter,
    combinations: [Combination; SAMPLED_METRICS],
    power: Power,
}

impl GpuState {
    pub fn new(
        spec: GpuSpec,
        server: usize,
        combinations: [Combination; SAMPLED_METRICS],
        power: Power,
    ) -> GpuState {
        let residents = Vec::with_capacity(8);
        GpuState {
            spec,
            server,
            residents,
            used_mib: 0.0,
            saturation: 1.0,
            meter: GpuMeter::default(),
            combinations,
            power,
        }
    }

    pub fn resident(&self, job: usize) -> Option<&Resident> {
        self.residents.iter().find(|resident| resident.job == job)
    }

    pub fn resident_mut(&mut self, job: usize) -> Option<&mut Resident> {
        self.residents.iter_mut().find(|resident| resident.job == job)
    }

    /// By how much a resident's neighbours slow it down one by one: 1 without any.
    pub fn waiting(&self, own: &Resident) -> f64 {
        let others = self.residents.iter().filter(|other| other.job != own.job && other.computes());
        1.0 + others.map(|other| other.contention.pressure_on(&own.contention)).sum::<f64>()
    }

    /// What can still be allocated.
    pub fn free_mib(&self) -> f64 {
        self.spec.allocatable_mib - self.used_mib
    }

    /// Adds up memory again after a change: sums that are carried along drift.
    pub fn update_memory(&mut self) {
        self.used_mib = self.residents.iter().map(|resident| resident.memory_mib).sum();
    }

    /// Expected activity of the residents together, from their means.
    pub fn expected_activity(&self) -> [f64; SAMPLED_METRICS] {
        let mut total = [0.0; SAMPLED_METRICS];
        for resident in self.residents.iter().filter(|resident| resident.active) {
            for (metric, level) in total.iter_mut().enumerate() {
                *level = self.combinations[metric].add(*level, resident.activity[metric], resident.pace);
            }
        }
        total
    }

    /// Books the time since the last change under the state that held during it.
    pub fn book(&mut self, now: Time) {
        let span_s = (now - self.meter.since).as_s();
        if span_s > 0.0 {
            let activity = self.expected_activity();
            let meter = &mut self.meter;
            if !self.residents.is_empty() {
                meter.busy_s += span_s;
            }
            let energy_j = span_s * self.power.of(&activity);
            meter.energy_j += energy_j;
            if self.residents.iter().any(Resident::computes) {
                meter.active_s += span_s;
                meter.active_memory_mib_s += span_s * self.used_mib;
                meter.active_energy_j += energy_j;
            }
            meter.memory_mib_s += span_s * self.used_mib;
            for (total, value) in meter.activity_s.iter_mut().zip(activity) {
                *total += span_s * value;
            }
        }
        self.meter.since = now;
        self.meter.peak_mib = self.meter.peak_mib.max(self.used_mib);
    }
}

/// Running integrals over time of a GPU's state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GpuMeter {
    since: Time,
    /// Held by at least one job, from dispatch to end.
    pub busy_s: f64,
    /// With at least one process that computes.
    pub active_s: f64,
    pub memory_mib_s: f64,
    /// While active.
    pub active_memory_mib_s: f64,
    pub peak_mib: f64,
    /// There is none but while active.
    pub activity_s: [f64; SAMPLED_METRICS],
    pub energy_j: f64,
    /// While active.
    pub active_energy_j: f64,
}

impl GpuMeter {
    /// Starts the integrals at an instant.
    pub fn start(&mut self, now: Time) {
        self.since = now;
    }
}
