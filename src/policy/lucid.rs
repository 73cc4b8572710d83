use super::scheduler::below_recovery_floor;
use super::{JobProfile, JobRequest, Observation, Params, Placement, Policy, Recheck, Rejection, RiskSource};

/// Lucid as the AEGIS evaluation ran it: at most `lucid_max_jobs` on a GPU, sharing scores of at most
/// `lucid_max_score` together, profiled peaks that fit; lowest projected score first, then least memory.
pub(super) struct Lucid;

/// A job without a label is taken for the class that shares least.
const JUMBO: u32 = 2;

impl Policy for Lucid {
    fn required_memory_mib(&self, job: &JobRequest<'_>, _: &Params) -> Option<f64> {
        Some(job.profile.peak_memory_mib)
    }

    fn place(
        &self,
        observation: &Observation<'_>,
        job: &JobRequest<'_>,
        _: &mut dyn RiskSource,
        params: &Params,
        out: &mut Placement,
    ) {
        let score = |profile: &JobProfile| profile.lucid_sharing_score.unwrap_or(JUMBO);
        for (gpu, view) in observation.gpus.iter().enumerate() {
            if out.reject_unavailable(gpu, view, observation.now)
                || below_recovery_floor(gpu, view, job, params, out)
            {
                continue;
            }
            let jobs = view.residents.len() + 1;
            let projected = observation.residents(gpu).map(score).sum::<u32>() + score(job.profile);
            let memory_mib = observation.residents(gpu).map(|p| p.peak_memory_mib).sum::<f64>()
                + job.profile.peak_memory_mib;
            let limit_mib = view.capacity_mib - params.lucid_memory_margin_mib;
            let reason = if jobs > params.lucid_max_jobs as usize {
                Rejection::JobCount { projected: jobs }
            } else if projected > params.lucid_max_score {
                Rejection::SharingScore { projected }
            } else if memory_mib > limit_mib {
                Rejection::Memory { available_mib: limit_mib, required_mib: memory_mib }
            } else {
                out.candidate(gpu, f64::from(projected), memory_mib);
                continue;
            };
            out.reject(gpu, reason, Recheck::OnChange);
        }
        out.take_best(job.profile.gpus);
    }
}
