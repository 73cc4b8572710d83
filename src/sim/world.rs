use crate::cluster::ClusterSpec;
use crate::engine::Time;
use crate::error::{Result, input_error};
use crate::model::Model;
use crate::policy::{JobProfile, Params, Policy, PolicySpec};
use crate::workload::{Catalogue, Job, Metric, Trace, Workload, resolve};

/// Everything about a run but the policy and its parameters.
#[derive(Debug, Clone)]
pub struct World {
    pub trace_name: String,
    pub catalogue: Catalogue,
    pub cluster: ClusterSpec,
    pub model: Model,
    /// In the order of submission.
    pub jobs: Vec<Job>,
    /// What schedulers know of each job.
    pub(super) profiles: Vec<JobProfile>,
}

/// A run of a job alone, runtime factors and noise included. Work is in microseconds on a GPU of speed 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunAlone {
    /// From launch to first activity, on any GPU.
    pub startup: Time,
    /// Before the closing phase.
    pub training_us: f64,
    pub closing_us: f64,
}

impl World {
    /// Joins a trace with the catalogue and checks that every job can run on the cluster.
    ///
    /// # Errors
    /// See [`resolve`] and [`ClusterSpec::check_workloads`]; and a workload without SMACT or DRAMA under a model
    /// that has no pressure from GPU utilisation.
    pub fn new(trace: &Trace, catalogue: Catalogue, cluster: ClusterSpec, model: Model) -> Result<World> {
        cluster.check_workloads(&catalogue)?;
        let jobs = resolve(trace, &catalogue, cluster.largest_server_gpus())?;
        if model.interference.gpu_utilization.is_none() {
            let counted =
                |workload: &Workload| [Metric::Smact, Metric::Drama].map(|m| workload.knows(m)) == [true; 2];
            let workloads = jobs.iter().map(|job| &catalogue.workloads()[job.workload]);
            if let Some(workload) = workloads.into_iter().find(|workload| !counted(workload)) {
                return Err(input_error!(
                    "{}: {} has no SMACT or no DRAMA, and the model has no [interference.gpu_utilization] to work \
                     out its pressure from GPU utilisation; add that section to the model, or fill in the columns",
                    catalogue.source(),
                    workload.name
                ));
            }
        }
        let profiles = jobs.iter().map(|job| profile(job, &catalogue.workloads()[job.workload])).collect();
        Ok(World { trace_name: trace.name.clone(), catalogue, cluster, model, jobs, profiles })
    }

    /// GPUs of all servers.
    pub fn gpu_count(&self) -> usize {
        self.cluster.gpu_count()
    }

    /// Power of all GPUs together when idle, in watts.
    pub fn idle_w(&self) -> f64 {
        self.gpu_count() as f64 * self.model.power.idle_w
    }

    /// Whether all workloads of the trace have a metric.
    pub fn knows(&self, metric: Metric) -> bool {
        (0..self.jobs.len()).all(|job| self.workload(job).knows(metric))
    }

    /// Checks that what a policy reads of telemetry is known of every workload of the trace.
    pub(super) fn check_telemetry(
        &self,
        name: &PolicySpec,
        policy: &dyn Policy,
        params: &Params,
    ) -> Result<()> {
        let missing = |workload: &Workload| -> Vec<Metric> {
            let read = Metric::ALL.into_iter().filter(|&metric| policy.reads(metric, params));
            read.filter(|&metric| !workload.knows(metric)).collect()
        };
        for job in 0..self.jobs.len() {
            let workload = self.workload(job);
            let missing = missing(workload);
            if !missing.is_empty() {
                let list = |text: fn(Metric) -> &'static str, end: &str| {
                    missing
                        .iter()
                        .map(|&metric| format!("{}{end}", text(metric)))
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                return Err(input_error!(
                    "{name} reads {} telemetry, and {} has none of {}, the workload of job {}: fill in {}, or take \
                     +smi70 (pressure from GPU utilisation alone) or +memory-only (no pressure filter; not with +lug)",
                    list(Metric::name, ""),
                    self.catalogue.source(),
                    workload.name,
                    self.jobs[job].id,
                    list(Metric::column, "_mean"),
                ));
            }
        }
        Ok(())
    }

    /// What a job's run takes alone on a GPU of speed 1, the same in all its attempts.
    pub(super) fn run_alone(&self, job: usize, params: &Params, noise_seed: u64) -> RunAlone {
        let spec = &self.jobs[job];
        let workload = self.workload(job);
        let factor = if params.runtime_factors {
            self.model.runtime_factors.get(&workload.name).copied().unwrap_or(1.0)
        } else {
            1.0
        };
        let noise = self.model.noise;
        let scale = |time: Time, by: f64| if by == 1.0 { time } else { Time::from_s(time.as_s() * by) };
        let varied = noise.runtime(noise_seed, job as u64, workload.profile(0));
        let runtime = scale(spec.solo_runtime, factor * varied);
        let startup = scale(spec.startup, noise.startup(noise_seed, job as u64)).min(runtime);
        let work_us = (runtime - startup).micros() as f64;
        let closing_us = work_us.min(Time::from_s(workload.profile(0).closing_s).micros() as f64);
        RunAlone { startup, training_us: work_us - closing_us, closing_us }
    }

    pub fn workload(&self, job: usize) -> &Workload {
        &self.catalogue.workloads()[self.jobs[job].workload]
    }
}

fn profile(job: &Job, workload: &Workload) -> JobProfile {
    let first = workload.profile(0);
    JobProfile {
        gpus: job.gpus,
        peak_memory_mib: first.peak_memory_mib,
        estimates: workload.estimates,
        gpu_util: first.gpu_util.mean,
        lucid_sharing_score: workload.lucid_sharing_score,
    }
}
