//! Which jobs of a trace can be mapped, and why the others cannot.

use std::collections::{BTreeMap, HashSet};

use crate::engine::Time;
use crate::error::{Result, did_you_mean, input_error};
use crate::workload::{Trace, TraceJob};

/// Which jobs are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// `None`: any number.
    pub max_gpus: Option<u32>,
    /// Jobs without a state are wanted, too; `None`: any state.
    pub states: Option<Vec<String>>,
    /// Ids of jobs that are not wanted.
    pub exclude: Vec<String>,
}

/// Jobs that were left out, by the first reason that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    pub excluded: usize,
    pub gpus: usize,
    pub state: usize,
    /// Wanted, but outside the window.
    pub outside_window: usize,
}

/// A job as the statistics see it.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub submit: Time,
    pub duration: Time,
    /// Index into [`Eligible::gpu_counts`].
    pub count: usize,
    /// Microseconds on one GPU.
    pub service_us: u128,
}

/// The wanted jobs of a trace.
pub(super) struct Eligible<'a> {
    pub jobs: Vec<&'a TraceJob>,
    pub samples: Vec<Sample>,
    /// The GPU counts that occur, ascending.
    pub gpu_counts: Vec<u32>,
    pub left_out: LeftOut,
    pub without_state: usize,
}

impl<'a> Eligible<'a> {
    /// # Errors
    /// An excluded job that is not there, a wanted one without a duration, and no wanted job at all.
    pub fn of(trace: &'a Trace, filter: &Filter) -> Result<Eligible<'a>> {
        let source = &trace.source;
        let exclude: HashSet<&str> = filter.exclude.iter().map(String::as_str).collect();
        let mut found = HashSet::new();
        let mut left_out = LeftOut::default();
        let mut jobs = Vec::with_capacity(trace.jobs.len());
        let mut without_state = 0;
        for job in &trace.jobs {
            if let Some(&id) = exclude.get(job.job_id.as_str()) {
                found.insert(id);
                left_out.excluded += 1;
            } else if filter.max_gpus.is_some_and(|most| job.gpus > most) {
                left_out.gpus += 1;
            } else if !filter.has_state(job) {
                left_out.state += 1;
            } else {
                without_state += usize::from(job.state.is_none());
                jobs.push(job);
            }
        }
        if let Some(id) = filter.exclude.iter().find(|id| !found.contains(id.as_str())) {
            let ids = trace.jobs.iter().map(|job| job.job_id.as_str());
            return Err(input_error!(
                "--exclude {id}: {source} has no job of that id; {}see its column job_id",
                did_you_mean(id, ids)
            ));
        }
        if jobs.is_empty() {
            return Err(input_error!(
                "{source} has no job to map; left out of {}: {}; change --max-gpus, --states or --exclude",
                trace.jobs.len(),
                reasons(trace, filter, &left_out)
            ));
        }
        let lacking = || jobs.iter().filter(|job| job.duration_s.is_none());
        if let Some(first) = lacking().next() {
            return Err(input_error!(
                "{source}, line {}, column duration_s: job {} has no duration (jobs without one: {}); workloads are \
                 given by how long jobs ran, so fill it in, or leave the job out with --exclude {}",
                first.line,
                first.job_id,
                lacking().count(),
                first.job_id
            ));
        }
        let mut gpu_counts: Vec<u32> = jobs.iter().map(|job| job.gpus).collect();
        gpu_counts.sort_unstable();
        gpu_counts.dedup();
        let samples = jobs.iter().map(|job| sample(job, &gpu_counts)).collect();
        Ok(Eligible { jobs, samples, gpu_counts, left_out, without_state })
    }
}

impl Filter {
    fn has_state(&self, job: &TraceJob) -> bool {
        match (&self.states, &job.state) {
            (Some(states), Some(state)) => states.iter().any(|wanted| wanted.eq_ignore_ascii_case(state)),
            _ => true,
        }
    }
}

fn sample(job: &TraceJob, gpu_counts: &[u32]) -> Sample {
    let duration = Time::from_s(job.duration_s.unwrap_or_default());
    let share_us = (duration.micros() as f64 * job.gpu_share.unwrap_or(1.0)).round() as u128;
    Sample {
        submit: Time::from_s(job.submit_s),
        duration,
        count: gpu_counts.partition_point(|&count| count < job.gpus),
        service_us: share_us * u128::from(job.gpus),
    }
}

/// Why none is left.
fn reasons(trace: &Trace, filter: &Filter, left_out: &LeftOut) -> String {
    let mut reasons = Vec::new();
    if let (1.., Some(most)) = (left_out.gpus, filter.max_gpus) {
        reasons.push(format!("more GPUs than {most}: {}", left_out.gpus));
    }
    if let (1.., Some(wanted)) = (left_out.state, &filter.states) {
        let mut states: BTreeMap<&str, usize> = BTreeMap::new();
        for state in trace.jobs.iter().filter_map(|job| job.state.as_deref()) {
            *states.entry(state).or_default() += 1;
        }
        let states: Vec<String> = states.iter().map(|(state, jobs)| format!("{state} {jobs}")).collect();
        let wanted = wanted.join(" or ");
        reasons.push(format!("state not {wanted}: {} (there are: {})", left_out.state, states.join(", ")));
    }
    if left_out.excluded > 0 {
        reasons.push(format!("excluded: {}", left_out.excluded));
    }
    reasons.join(", ")
}
