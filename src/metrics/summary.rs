use serde::Serialize;

use super::{Resources, mean, quantile_of_sorted};
use crate::engine::Time;
use crate::sim::{GpuRecord, JobRecord, Outcome, RunRecord};

/// A per-job figure condensed over the jobs that completed. Quantiles interpolate linearly between order
/// statistics. NaN (null in JSON) where no job completed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distribution {
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Distribution {
    pub fn of(mut values: Vec<f64>) -> Distribution {
        // Before sorting: sums of floats depend on the order, and the records' order is the documented one.
        let mean = mean(&values);
        values.sort_by(f64::total_cmp);
        let quantile = |q| quantile_of_sorted(&values, q);
        Distribution { mean, p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) }
    }
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    Count(u64),
    Real(f64),
}

impl Figure {
    pub fn as_f64(self) -> f64 {
        match self {
            Figure::Count(count) => count as f64,
            Figure::Real(real) => real,
        }
    }
}

/// A run condensed.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub trace: String,
    pub policy: String,
    pub seed: u64,
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// From submission to completion.
    pub jct_s: Distribution,
    /// Initial and recovery waits.
    pub queue_wait_s: Distribution,
    /// From submission to first dispatch.
    pub initial_queue_wait_s: Distribution,
    /// In attempts, failed ones included.
    pub execution_time_s: Distribution,
    pub slowdown: Distribution,
    pub normalized_jct: Distribution,
    pub attempts: usize,
    pub failed_attempts: usize,
    /// Failed attempts that were followed by another.
    pub recovered_attempts: usize,
    pub completed_jobs: usize,
    pub given_up_jobs: usize,
    /// From failures to the next dispatches, over all jobs.
    pub recovery_wait_total_s: f64,
    /// GPU-seconds held by at least one job, from dispatch to end.
    pub gpu_busy_s: f64,
    pub gpu_idle_s: f64,
    pub resources: Resources,
    pub gpus: Vec<GpuRecord>,
    pub events: u64,
}

impl Summary {
    pub fn of(record: &RunRecord) -> Summary {
        let over = |figure: fn(&JobRecord) -> f64| {
            Distribution::of(record.jobs.iter().filter(|job| job.completed()).map(figure).collect())
        };
        let failed = record.attempts.iter().filter(|a| a.outcome == Outcome::OutOfMemory).count();
        let completed = record.jobs.iter().filter(|job| job.completed()).count();
        Summary {
            trace: record.trace.clone(),
            policy: record.policy.clone(),
            seed: record.seed,
            makespan_s: record.makespan_s(),
            jct_s: over(JobRecord::jct_s),
            queue_wait_s: over(JobRecord::queue_wait_s),
            initial_queue_wait_s: over(JobRecord::initial_queue_wait_s),
            execution_time_s: over(JobRecord::execution_time_s),
            slowdown: over(JobRecord::slowdown),
            normalized_jct: over(JobRecord::normalized_jct),
            attempts: record.attempts.len(),
            failed_attempts: failed,
            recovered_attempts: record.attempts.iter().filter(|attempt| attempt.number > 1).count(),
            completed_jobs: completed,
            given_up_jobs: record.jobs.len() - completed,
            recovery_wait_total_s: record.jobs.iter().map(|job| job.recovery_wait.as_s()).sum(),
            gpu_busy_s: record.gpus.iter().map(|gpu| gpu.busy_s).sum(),
            gpu_idle_s: record.gpus.iter().map(|gpu| gpu.idle_s).sum(),
            resources: Resources::of(&record.gpus, record.makespan_s()),
            gpus: record.gpus.clone(),
            events: record.events,
        }
    }

    /// The names of [`Summary::figures`], which are the same for every run.
    pub fn figure_names() -> Vec<String> {
        let empty = RunRecord {
            trace: String::new(),
            policy: String::new(),
            seed: 0,
            jobs: Vec::new(),
            attempts: Vec::new(),
            attempt_gpus: Vec::new(),
            gpus: Vec::new(),
            events: 0,
            start: Time::ZERO,
            end: Time::ZERO,
        };
        Summary::of(&empty).figures().into_iter().map(|(name, _)| name).collect()
    }

    /// All figures by name, in the order of every table: quantities in their unit, counts, sums, use of the GPUs.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        let mut figures = vec![("makespan_s".to_owned(), Figure::Real(self.makespan_s))];
        for (quantity, distribution, unit) in [
            ("jct", self.jct_s, "_s"),
            ("queue_wait", self.queue_wait_s, "_s"),
            ("initial_queue_wait", self.initial_queue_wait_s, "_s"),
            ("execution_time", self.execution_time_s, "_s"),
            ("slowdown", self.slowdown, ""),
            ("normalized_jct", self.normalized_jct, ""),
        ] {
            let Distribution { mean, p50, p95, p99 } = distribution;
            for (statistic, value) in [("mean", mean), ("p50", p50), ("p95", p95), ("p99", p99)] {
                figures.push((format!("{quantity}_{statistic}{unit}"), Figure::Real(value)));
            }
        }
        for (name, count) in [
            ("attempts", self.attempts),
            ("failed_attempts", self.failed_attempts),
            ("recovered_attempts", self.recovered_attempts),
            ("completed_jobs", self.completed_jobs),
            ("given_up_jobs", self.given_up_jobs),
        ] {
            figures.push((name.to_owned(), Figure::Count(count as u64)));
        }
        figures.push(("recovery_wait_total_s".to_owned(), Figure::Real(self.recovery_wait_total_s)));
        figures.push(("gpu_busy_s".to_owned(), Figure::Real(self.gpu_busy_s)));
        figures.push(("gpu_idle_s".to_owned(), Figure::Real(self.gpu_idle_s)));
        figures.extend(self.resources.figures().map(|(name, value)| (name.to_owned(), Figure::Real(value))));
        figures
    }
}
