use crate::cluster::ClusterSpec;
use crate::error::Result;
use crate::model::Model;
use crate::policy::JobProfile;
use crate::workload::{Catalogue, Job, Trace, Workload, resolve};

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

impl World {
    /// Joins a trace with the catalogue and checks that every job can run on the cluster.
    ///
    /// # Errors
    /// See [`resolve`].
    pub fn new(trace: &Trace, catalogue: Catalogue, cluster: ClusterSpec, model: Model) -> Result<World> {
        let jobs = resolve(trace, &catalogue, cluster.largest_server_gpus())?;
        let profiles = jobs.iter().map(|job| profile(job, &catalogue.workloads()[job.workload])).collect();
        Ok(World { trace_name: trace.name.clone(), catalogue, cluster, model, jobs, profiles })
    }

    /// GPUs of all servers.
    pub fn gpu_count(&self) -> usize {
        self.cluster.gpu_count()
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
