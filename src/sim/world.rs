use std::collections::HashMap;

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
    /// Workloads of jobs that are kept within a share of their GPUs stand behind all others, under the same names.
    pub catalogue: Catalogue,
    pub cluster: ClusterSpec,
    pub model: Model,
    /// In the order of submission.
    pub jobs: Vec<Job>,
    /// What schedulers know of each job.
    pub(super) profiles: Vec<JobProfile>,
    largest_server_gpus: usize,
}

/// The jobs of a world that no server can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oversized<'a> {
    pub jobs: usize,
    /// The id of the one that is submitted first.
    pub first: &'a str,
    /// The most GPUs that one of them needs.
    pub largest_gpus: usize,
    pub largest_server_gpus: usize,
}

impl Oversized<'_> {
    /// Why such a job is given up.
    pub const REASON: &'static str = "needs more GPUs than any server has";
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
    /// Joins a trace with the catalogue and checks that the cluster and the model can run it.
    ///
    /// Jobs that need more GPUs than any server has are part of it, see [`World::oversized`].
    ///
    /// # Errors
    /// See [`resolve`] and [`ClusterSpec::check_workloads`]; and a workload without SMACT or DRAMA under a model
    /// that has no pressure from GPU utilisation.
    pub fn new(trace: &Trace, mut catalogue: Catalogue, cluster: ClusterSpec, model: Model) -> Result<World> {
        cluster.check_workloads(&catalogue)?;
        let mut jobs = resolve(trace, &catalogue)?;
        limit(&mut jobs, &mut catalogue, &cluster, &model);
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
        let largest_server_gpus = cluster.largest_server_gpus();
        let trace_name = trace.name.clone();
        Ok(World { trace_name, catalogue, cluster, model, jobs, profiles, largest_server_gpus })
    }

    /// Jobs that no server can hold, for they need more GPUs at once than any has: a run gives them up as they are
    /// submitted. `None` where there are none.
    pub fn oversized(&self) -> Option<Oversized<'_>> {
        let mut jobs = self.jobs.iter().filter(|job| job.gpus > self.largest_server_gpus);
        let first = jobs.next()?;
        let mut oversized = Oversized {
            jobs: 1,
            first: &first.id,
            largest_gpus: first.gpus,
            largest_server_gpus: self.largest_server_gpus,
        };
        for job in jobs {
            oversized.jobs += 1;
            oversized.largest_gpus = oversized.largest_gpus.max(job.gpus);
        }
        Some(oversized)
    }

    pub(super) fn is_oversized(&self, job: usize) -> bool {
        self.jobs[job].gpus > self.largest_server_gpus
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
        // Noise is that of the unlimited workload: a job that is kept from its GPU does not wait for its host.
        let limited = self.workload(job);
        let workload = self.catalogue.get(&limited.name).unwrap_or(limited);
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

/// Gives jobs that are kept within a share of their GPUs workloads that do so.
fn limit(jobs: &mut [Job], catalogue: &mut Catalogue, cluster: &ClusterSpec, model: &Model) {
    let gpus = cluster.servers.iter().flat_map(|server| &server.gpus);
    let smallest_mib = gpus.map(|gpu| gpu.allocatable_mib).fold(f64::INFINITY, f64::min);
    let closing_activity = model.telemetry.closing_activity;
    let mut limited: HashMap<(usize, u64), usize> = HashMap::new();
    for job in jobs {
        let Some(share) = job.gpu_share else { continue };
        job.workload = *limited.entry((job.workload, share.to_bits())).or_insert_with(|| {
            catalogue.add_limited(job.workload, share, share * smallest_mib, closing_activity)
        });
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
