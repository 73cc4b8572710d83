use super::{Catalogue, Trace, Workload};
use crate::engine::Time;
use crate::error::{Result, did_you_mean, input_error};

/// A job of a run: a trace line joined with its workload.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: String,
    pub submit: Time,
    pub gpus: usize,
    /// Runtime alone, start-up included, before runtime factors and noise.
    pub solo_runtime: Time,
    pub startup: Time,
    /// Index into the catalogue's workloads.
    pub workload: usize,
    /// The share of each of its GPUs that it keeps within; `None` for whole GPUs.
    pub gpu_share: Option<f64>,
}

/// Joins a trace with a catalogue, in the order of the trace.
///
/// # Errors
/// A workload that the catalogue lacks; and without `duration_s` a GPU count that is not the workload's, or a share of
/// GPUs.
pub fn resolve(trace: &Trace, catalogue: &Catalogue) -> Result<Vec<Job>> {
    trace
        .jobs
        .iter()
        .map(|job| {
            let place = |column: &str| format!("{}, line {}, column {column}", trace.source, job.line);
            if job.workload.is_empty() {
                return Err(input_error!(
                    "{}: blank; give each job a workload of the catalogue, by hand or with `aegis-sim trace map`",
                    place("workload")
                ));
            }
            let Some(index) = catalogue.position(&job.workload) else {
                let names = catalogue.workloads().iter().map(|w| w.name.as_str());
                return Err(input_error!(
                    "{}: unknown workload {:?}; {}see `aegis-sim list workloads`, or give a catalogue of your \
                     own with --workloads",
                    place("workload"),
                    job.workload,
                    did_you_mean(&job.workload, names)
                ));
            };
            let workload = &catalogue.workloads()[index];
            if job.duration_s.is_none() {
                let profiled = |column: &str, problem: String| Err(input_error!("{}: {problem}", place(column)));
                if job.gpus != workload.gpus {
                    return profiled("gpus", other_count(job.gpus, workload));
                }
                if let Some(share) = job.gpu_share {
                    return profiled("gpu_share", limited(share, workload));
                }
            }
            let solo_runtime_s = job.duration_s.unwrap_or(workload.solo_runtime_s);
            Ok(Job {
                id: job.job_id.clone(),
                submit: Time::from_s(job.submit_s),
                gpus: job.gpus as usize,
                solo_runtime: Time::from_s(solo_runtime_s),
                startup: Time::from_s(workload.startup_s.min(solo_runtime_s)),
                workload: index,
                gpu_share: job.gpu_share,
            })
        })
        .collect()
}

fn other_count(gpus: u32, workload: &Workload) -> String {
    format!(
        "found {gpus}, but {} was profiled on {}; use that count, or say with duration_s how long the job runs on {gpus}",
        workload.name, workload.gpus
    )
}

fn limited(share: f64, workload: &Workload) -> String {
    format!(
        "found {share}, but {} was profiled on whole GPUs; say with duration_s how long the job runs within that share, or \
         leave the share blank",
        workload.name
    )
}
