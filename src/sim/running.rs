use crate::engine::{Handle, Time};

/// The truth about a job during a run.
#[derive(Debug)]
pub(super) struct JobState {
    pub server: usize,
    /// GPUs of the current attempt, through all servers, by rank.
    pub gpus: Vec<usize>,
    /// Index of the current attempt in the record.
    pub attempt: usize,
    pub attempts: usize,
    pub phase: Phase,
    /// Work left until the closing phase or, in it, until the end, in microseconds alone on a GPU of speed 1.
    pub work_us: f64,
    /// Work of the closing phase before that has begun.
    pub closing_us: f64,
    /// Work per microsecond.
    pub rate: f64,
    /// The round of [`Run::update_rates`](super::run::Run::update_rates) that `rate` was worked out in last.
    pub rated: u64,
    /// When `work_us` was brought up to date.
    pub updated: Time,
    pub completion: Option<Handle>,
    pub growth: Option<Handle>,
    pub recovered: bool,
    pub recovery_floor_mib: Option<f64>,
    pub forced_idle: bool,
    pub outgrown_mib: f64,
    pub died_on_mib: f64,
    /// Whether the GPU that it died on held nothing else.
    pub died_alone: bool,
    /// What the current attempt was placed under: the higher of the policy's requirement and the least
    /// memory available on its GPUs at dispatch, or the former where there is none of the latter.
    pub effective_floor_mib: f64,
    pub failed_at: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    /// Launched, not active on the GPU yet.
    Startup,
    Training,
    /// An allocation did not fit; the process is about to end.
    Dying,
    Done,
}

impl JobState {
    pub fn new(gpus: usize) -> JobState {
        JobState {
            server: 0,
            gpus: Vec::with_capacity(gpus),
            attempt: 0,
            attempts: 0,
            phase: Phase::Queued,
            work_us: 0.0,
            closing_us: 0.0,
            rate: 0.0,
            rated: 0,
            updated: Time::ZERO,
            completion: None,
            growth: None,
            recovered: false,
            recovery_floor_mib: None,
            forced_idle: false,
            outgrown_mib: 0.0,
            died_on_mib: 0.0,
            died_alone: false,
            effective_floor_mib: 0.0,
            failed_at: Time::ZERO,
        }
    }

    /// Books the work done since the last update.
    pub fn progress(&mut self, now: Time) {
        self.work_us = (self.work_us - self.rate * (now - self.updated).micros() as f64).max(0.0);
        self.updated = now;
    }

    /// When the work is done at the current rate. Never early: rounded up, but for rounding errors far
    /// below a microsecond.
    pub fn completion_time(&self) -> Time {
        const ROUNDING_US: f64 = 1e-3;
        self.updated + Time::from_micros((self.work_us / self.rate - ROUNDING_US).ceil().max(0.0) as i64)
    }
}
