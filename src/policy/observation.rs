use std::fmt;

use crate::engine::Time;
use crate::workload::{MemoryEstimates, Metric};

/// What a scheduler knows of a job before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct JobProfile {
    pub gpus: usize,
    /// Profiled peak memory of the first GPU, in MiB; a gang uses it for every GPU.
    pub peak_memory_mib: f64,
    pub estimates: MemoryEstimates,
    /// Profiled mean GPU utilisation, 0..1.
    pub gpu_util: f64,
    /// Lucid's class: 0 tiny, 1 medium, 2 jumbo.
    pub lucid_sharing_score: Option<u32>,
}

/// The job at the head of the queue.
#[derive(Debug, Clone, Copy)]
pub struct JobRequest<'a> {
    pub profile: &'a JobProfile,
    /// The job died of OOM before and comes from the recovery queue.
    pub recovered: bool,
    /// Memory per GPU below which a recovered job is not placed again.
    pub recovery_floor_mib: Option<f64>,
    /// No recovery floor is left: only idle GPUs will do, and nobody may join.
    pub forced_idle: bool,
    /// Capacity of the largest GPU that the job has died on alone: only larger ones may do. 0 if it has not.
    pub outgrown_mib: f64,
    /// Capacity of the GPU that it died on last: smaller ones will not do. 0 if it has not died.
    pub died_on_mib: f64,
}

/// When a GPU accepts a further job, by the post-placement observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    Now,
    /// The observation window is open until then.
    At(Time),
    /// The last job placed has not been seen active.
    AwaitingActivity,
    /// A job forced onto this idle GPU has it for itself.
    Reserved,
}

/// A GPU as a scheduler sees it.
#[derive(Debug, Clone)]
pub struct GpuView {
    pub capacity_mib: f64,
    /// At the last telemetry sample.
    pub free_mib: f64,
    /// No process is on it.
    pub idle: bool,
    pub availability: Availability,
    /// Indices of the jobs on it into [`Observation::profiles`].
    pub residents: Vec<usize>,
}

impl GpuView {
    /// Neither under observation nor reserved.
    pub fn is_available(&self, now: Time) -> bool {
        match self.availability {
            Availability::Now => true,
            Availability::At(until) => until <= now,
            Availability::AwaitingActivity | Availability::Reserved => false,
        }
    }
}

/// All that a policy may look at. It holds no reference to the truth of a run.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    pub now: Time,
    pub gpus: &'a [GpuView],
    /// By job.
    pub profiles: &'a [JobProfile],
    /// The GPU that was dispatched to last.
    pub last_gpu: Option<usize>,
}

impl<'a> Observation<'a> {
    /// When telemetry is sampled next: at the next whole second.
    pub fn next_sample(&self) -> Time {
        self.now.next_whole_s()
    }

    /// The profiles of the jobs on a GPU.
    pub fn residents(&self, gpu: usize) -> impl Iterator<Item = &'a JobProfile> {
        let (profiles, gpus) = (self.profiles, self.gpus);
        gpus[gpu].residents.iter().map(move |&job| &profiles[job])
    }
}

/// Runtime pressure from telemetry, worked out only for the GPUs that are asked about.
pub trait RiskSource {
    /// The risk of a metric on a GPU over the last samples: the mean of their mean, median, p95 and EWMA.
    fn risk(&mut self, gpu: usize, metric: Metric) -> f64;

    /// Whether the risk is at a threshold or above, which may be known without working it out.
    fn reaches(&mut self, gpu: usize, metric: Metric, threshold: f64) -> bool {
        self.risk(gpu, metric) >= threshold
    }
}

/// When a job that could not be placed is worth another look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recheck {
    /// At a known time, if nothing changes before.
    At(Time),
    /// When a job arrives, starts, ends or dies.
    OnChange,
}

/// Why a GPU was not taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rejection {
    /// Occupied, and the policy shares no GPU.
    Occupied,
    /// A recovered job waits for idle GPUs.
    RecoveryNeedsIdle,
    Reserved,
    AwaitingActivity,
    Observation {
        until: Time,
    },
    NoEstimate,
    Memory {
        available_mib: f64,
        required_mib: f64,
    },
    Pressure {
        smact: f64,
        smocc: f64,
        drama: Option<f64>,
    },
    /// Pressure by GPU utilisation alone.
    GpuUtilization {
        risk: f64,
    },
    Utilization {
        projected: f64,
    },
    SharingScore {
        projected: u32,
    },
    JobCount {
        projected: usize,
    },
    /// The GPU would do, but the gang needs more of them.
    TooFew {
        found: usize,
    },
}

impl Rejection {
    /// A short name that stays the same while only figures change.
    pub fn kind(&self) -> &'static str {
        match self {
            Rejection::Occupied => "occupied",
            Rejection::RecoveryNeedsIdle => "recovery_needs_idle",
            Rejection::Reserved => "reserved",
            Rejection::AwaitingActivity => "awaiting_activity",
            Rejection::Observation { .. } => "observation",
            Rejection::NoEstimate => "no_estimate",
            Rejection::Memory { .. } => "memory",
            Rejection::Pressure { .. } => "pressure",
            Rejection::GpuUtilization { .. } => "gpu_utilization",
            Rejection::Utilization { .. } => "utilization",
            Rejection::SharingScore { .. } => "sharing_score",
            Rejection::JobCount { .. } => "job_count",
            Rejection::TooFew { .. } => "too_few_gpus",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Occupied => write!(f, "has a job, and this policy shares no GPU"),
            Rejection::RecoveryNeedsIdle => write!(f, "not idle, as a recovered job needs it"),
            Rejection::Reserved => write!(f, "reserved for a job forced to run alone"),
            Rejection::AwaitingActivity => write!(f, "its newest job has not been active yet"),
            Rejection::Observation { until } => write!(f, "observed until {until} s"),
            Rejection::NoEstimate => write!(f, "the job has no memory estimate"),
            Rejection::Memory { available_mib, required_mib } => {
                write!(f, "{available_mib:.0} MiB available, {required_mib:.0} MiB required")
            }
            Rejection::Pressure { smact, smocc, drama } => {
                write!(f, "pressure: SMACT risk {smact:.3}, SMOCC risk {smocc:.3}")?;
                drama.map_or(Ok(()), |drama| write!(f, ", DRAMA risk {drama:.3}"))
            }
            Rejection::GpuUtilization { risk } => write!(f, "pressure: GPU utilisation risk {risk:.3}"),
            Rejection::Utilization { projected } => write!(f, "projected utilisation {projected:.3}"),
            Rejection::SharingScore { projected } => write!(f, "projected sharing score {projected}"),
            Rejection::JobCount { projected } => write!(f, "would hold {projected} jobs"),
            Rejection::TooFew { found } => write!(f, "fits, but only {found} GPUs do"),
        }
    }
}

/// What came of looking for GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Onto idle GPUs, in `Placement::gpus`.
    Idle,
    /// Onto GPUs that may hold jobs, in `Placement::gpus`.
    Collocated,
    Wait(Recheck),
}

/// Where a decision is written to; kept between decisions so that none of them allocates.
#[derive(Debug, Default)]
pub struct Placement {
    /// Chosen GPUs, in the order of the gang's ranks.
    pub gpus: Vec<usize>,
    /// GPUs that were not taken, with the reason.
    pub rejections: Vec<(usize, Rejection)>,
    pub recheck: Option<Recheck>,
    /// Nobody reads the figures of rejections: those that take work may be NaN.
    pub terse: bool,
    candidates: Vec<(f64, f64, usize)>,
}

impl Placement {
    pub(super) fn clear(&mut self) {
        self.gpus.clear();
        self.rejections.clear();
        self.candidates.clear();
        self.recheck = None;
    }

    pub(super) fn reject(&mut self, gpu: usize, reason: Rejection, recheck: Recheck) {
        self.rejections.push((gpu, reason));
        self.recheck = Some(self.recheck.map_or(recheck, |before| before.min(recheck)));
    }

    /// Rejects a GPU that is under observation or reserved; `true` if it was.
    pub(super) fn reject_unavailable(&mut self, gpu: usize, view: &GpuView, now: Time) -> bool {
        match view.availability {
            Availability::Now => return false,
            Availability::At(until) if until <= now => return false,
            Availability::At(until) => self.reject(gpu, Rejection::Observation { until }, Recheck::At(until)),
            Availability::AwaitingActivity => {
                self.reject(gpu, Rejection::AwaitingActivity, Recheck::OnChange);
            }
            Availability::Reserved => self.reject(gpu, Rejection::Reserved, Recheck::OnChange),
        }
        true
    }

    /// A GPU that passed all filters; smaller keys are taken first, then smaller second keys and indices.
    pub(super) fn candidate(&mut self, gpu: usize, key: f64, second: f64) {
        self.candidates.push((key, second, gpu));
    }

    /// Takes the best `wanted` candidates, or none if there are fewer.
    pub(super) fn take_best(&mut self, wanted: usize) {
        let found = self.candidates.len();
        if found < wanted {
            for i in 0..found {
                let gpu = self.candidates[i].2;
                self.reject(gpu, Rejection::TooFew { found }, Recheck::OnChange);
            }
            return;
        }
        self.candidates
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        self.gpus.extend(self.candidates[..wanted].iter().map(|candidate| candidate.2));
    }
}
