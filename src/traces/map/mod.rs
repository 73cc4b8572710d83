//! Production jobs mapped to profiled workloads, as the AEGIS evaluation did it (arXiv 2508.19073): a window of
//! consecutive jobs that looks like the whole trace, and for each of its jobs a workload with its GPU count at the
//! nearest quantile of runtime.

mod assignment;
mod distance;
mod eligible;
mod quality;
mod ranked;
mod statistics;
mod window;

pub use distance::{COMPONENTS, Weights};
pub use eligible::{Filter, LeftOut};
pub use quality::Quality;
pub use statistics::{RUNTIME_STEPS_S, Shape, Statistics};
pub use window::Window;

use eligible::Eligible;

use crate::engine::Time;
use crate::error::Result;
use crate::workload::{Catalogue, Trace, TraceJob};

/// Which jobs are mapped.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// A number of consecutive eligible jobs.
    Window {
        jobs: usize,
        /// The first one is submitted then or later, in seconds; `None`: the window that is nearest to the whole.
        start_s: Option<f64>,
        weights: Weights,
        /// Jobs last as long as in the source, not as long as their workloads.
        keep_durations: bool,
        /// The window starts when it did in the source, not at 0.
        keep_times: bool,
    },
    /// All eligible jobs, with their submissions, GPU counts and durations.
    Whole,
}

/// How a trace is to be mapped.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub extent: Extent,
    pub filter: Filter,
    /// Draws between what is equal; 0 takes the first.
    pub seed: u64,
}

/// A mapped trace.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// In the order of submission.
    pub jobs: Vec<TraceJob>,
    /// Of the jobs that the window was chosen from, or of all that were mapped.
    pub eligible: Statistics,
    /// The GPU counts of `eligible`'s shape.
    pub gpu_counts: Vec<u32>,
    pub window: Option<Window>,
    /// By GPU count of the workloads, then over all.
    pub quality: Vec<Quality>,
    pub left_out: LeftOut,
    /// Workloads in the order of the catalogue, with how many jobs they were given; those without a job left out.
    pub workloads: Vec<(String, usize)>,
    /// What was decided where the input does not say.
    pub notes: Vec<String>,
}

/// Gives jobs of a trace workloads of a catalogue.
///
/// # Errors
/// Jobs without a duration, fewer eligible ones than a window needs, an excluded job that is not there, and (in a window)
/// a GPU count that no workload has.
pub fn map(trace: &Trace, catalogue: &Catalogue, request: &Request) -> Result<Mapped> {
    let source = &trace.source;
    let mut eligible = Eligible::of(trace, &request.filter)?;
    let whole = Statistics::of(&eligible.samples, eligible.gpu_counts.len());
    let mut notes = Vec::new();
    if request.filter.states.is_some() && eligible.without_state > 0 {
        notes.push(format!(
            "{source}: jobs without a state, which count as eligible: {}",
            eligible.without_state
        ));
    }
    let gpu_counts = eligible.gpu_counts.clone();
    let window = match request.extent {
        Extent::Whole => None,
        Extent::Window { jobs, start_s, weights, .. } => {
            let (first, window) = Window::choose(&eligible, &whole, start_s, jobs, weights, source)?;
            eligible.left_out.outside_window = eligible.jobs.len() - jobs;
            eligible.jobs = eligible.jobs[first..first + jobs].to_vec();
            Some(window)
        }
    };
    let any_count = window.is_none();
    let groups = assignment::assign(&eligible.jobs, catalogue, any_count, request.seed, source)?;
    let quality = Quality::of(&groups, &eligible.jobs, catalogue);
    if let Some(Quality { jobs_of_other_counts: others @ 1.., .. }) = quality.last() {
        notes.push(format!(
            "{source}: jobs of a GPU count that no workload of {} has: {others}; each of their GPUs is like one of the \
             {}-GPU workload that they were given",
            catalogue.source(),
            groups[0].gpus
        ));
    }
    let mut jobs: Vec<TraceJob> = eligible.jobs.iter().map(|&job| job.clone()).collect();
    if let Extent::Window { keep_durations, keep_times, .. } = request.extent {
        let start = Time::from_s(jobs[0].submit_s);
        let shared = jobs.iter().filter(|job| job.gpu_share.is_some()).count();
        if !keep_durations && shared > 0 {
            notes.push(format!(
                "{source}: jobs with a share of their GPUs, which run on whole ones as their workloads did: {shared}"
            ));
        }
        for job in &mut jobs {
            if !keep_times {
                job.submit_s = (Time::from_s(job.submit_s) - start).as_s();
            }
            if !keep_durations {
                (job.duration_s, job.gpu_share) = (None, None);
            }
        }
    }
    let mut taken = vec![0; catalogue.workloads().len()];
    for assigned in groups.iter().flat_map(|group| &group.assigned) {
        jobs[assigned.job].workload.clone_from(&catalogue.workloads()[assigned.workload].name);
        taken[assigned.workload] += 1;
    }
    let workloads = catalogue.names().map(str::to_owned).zip(taken).filter(|(_, jobs)| *jobs > 0).collect();
    let left_out = eligible.left_out;
    Ok(Mapped { jobs, eligible: whole, gpu_counts, window, quality, left_out, workloads, notes })
}
