use serde::Serialize;

use crate::engine::Time;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    /// An allocation did not fit.
    OutOfMemory,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::OutOfMemory => "oom",
        }
    }
}

/// One launch of a job.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub job: usize,
    /// From 1.
    pub number: usize,
    /// Numbered through all servers, in the order of ranks; a range of [`RunRecord::attempt_gpus`].
    pub gpus: std::ops::Range<usize>,
    pub dispatch: Time,
    pub launch: Time,
    pub first_activity: Option<Time>,
    pub end: Time,
    pub outcome: Outcome,
    /// Whether it could have met another job at dispatch.
    pub collocated: bool,
    /// Memory per GPU that the policy placed it under; `None` where the policy asked for none.
    pub floor_mib: Option<f64>,
}

/// What became of a job.
#[derive(Debug, Clone)]
pub struct JobRecord {
    pub id: String,
    pub workload: String,
    pub gpus: usize,
    /// That of a job without attempts is 0, and its dispatch, launch and end are its submission.
    pub server: usize,
    pub submit: Time,
    pub solo_runtime: Time,
    pub first_dispatch: Time,
    pub first_launch: Time,
    /// End of the last attempt.
    pub end: Time,
    pub attempts: usize,
    /// From each failure to the next dispatch, added up.
    pub recovery_wait: Time,
    /// Time in attempts, failed ones included.
    pub execution: Time,
    /// Why the job was given up; `None` if it completed.
    pub given_up: Option<&'static str>,
}

impl JobRecord {
    pub fn completed(&self) -> bool {
        self.given_up.is_none()
    }

    pub fn initial_queue_wait_s(&self) -> f64 {
        (self.first_dispatch - self.submit).as_s()
    }

    pub fn queue_wait_s(&self) -> f64 {
        (self.first_dispatch - self.submit + self.recovery_wait).as_s()
    }

    pub fn execution_time_s(&self) -> f64 {
        self.execution.as_s()
    }

    /// Job completion time: from submission to the end.
    pub fn jct_s(&self) -> f64 {
        (self.end - self.submit).as_s()
    }

    /// Execution time over solo runtime, which counts as 1 s at least.
    pub fn slowdown(&self) -> f64 {
        self.execution_time_s() / self.solo_runtime.as_s().max(1.0)
    }

    /// JCT over solo runtime, which counts as 1 s at least.
    pub fn normalized_jct(&self) -> f64 {
        self.jct_s() / self.solo_runtime.as_s().max(1.0)
    }
}

/// Integrals of a GPU's state over the run, from the first submission to the last end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuRecord {
    pub server: usize,
    /// Index within the server.
    pub index: usize,
    pub model: String,
    pub memory_mib: f64,
    /// SMACT and SMOCC telemetry of this GPU read zero.
    pub telemetry_blind: bool,
    /// Held by at least one job, from dispatch to end.
    pub busy_s: f64,
    /// With at least one process that computes: active. One that starts up or only holds memory does not.
    pub active_s: f64,
    pub idle_s: f64,
    pub peak_memory_mib: f64,
    /// Means over the run.
    pub memory_mean_mib: f64,
    /// `None`, like the next two, where some workload of the trace has no such figure.
    pub smact_mean: Option<f64>,
    pub smocc_mean: Option<f64>,
    pub drama_mean: Option<f64>,
    pub gpu_util_mean: f64,
    /// Means over the time in which it is active; NaN (null in JSON) where it never is.
    pub memory_active_mean_mib: f64,
    pub smact_active_mean: f64,
    pub smocc_active_mean: f64,
    pub drama_active_mean: f64,
    pub gpu_util_active_mean: f64,
    pub power_active_mean_w: f64,
    pub energy_j: f64,
}

/// All that a run leaves behind.
#[derive(Debug, Clone)]
pub struct RunRecord {
    pub trace: String,
    pub policy: String,
    pub seed: u64,
    /// In the order of submission.
    pub jobs: Vec<JobRecord>,
    /// In the order of dispatch.
    pub attempts: Vec<Attempt>,
    pub attempt_gpus: Vec<usize>,
    pub gpus: Vec<GpuRecord>,
    /// Events taken from the queue or the arrivals.
    pub events: u64,
    /// First submission.
    pub start: Time,
    /// Last end of a job.
    pub end: Time,
}

impl RunRecord {
    /// From the first submission to the last end.
    pub fn makespan_s(&self) -> f64 {
        (self.end - self.start).as_s()
    }

    /// The GPUs of an attempt.
    pub fn gpus_of(&self, attempt: &Attempt) -> &[usize] {
        &self.attempt_gpus[attempt.gpus.clone()]
    }
}
