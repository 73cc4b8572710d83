use super::scheduler::below_recovery_floor;
use super::{JobProfile, JobRequest, Observation, Params, Placement, Policy, Recheck, Rejection, RiskSource};

/// Horus as the AEGIS evaluation ran it: a GPU takes a job while predicted utilisations add up to at most
/// `horus_utilization_cap`; lowest projected utilisation first. No telemetry, no memory check.
pub(super) struct Horus;

/// Sums of profiled fractions that should be exactly the cap must not fail on rounding.
const TOLERANCE: f64 = 1e-9;

impl Policy for Horus {
    fn required_memory_mib(&self, _: &JobRequest<'_>, _: &Params) -> Option<f64> {
        None
    }

    fn place(
        &self,
        observation: &Observation<'_>,
        job: &JobRequest<'_>,
        _: &mut dyn RiskSource,
        params: &Params,
        out: &mut Placement,
    ) {
        let unestimated =
            |profile: &JobProfile| params.horus_needs_estimate && profile.estimates.horus_mib.is_none();
        for (gpu, view) in observation.gpus.iter().enumerate() {
            if unestimated(job.profile) {
                out.reject(gpu, Rejection::NoEstimate, Recheck::OnChange);
                continue;
            }
            if out.reject_unavailable(gpu, view, observation.now)
                || below_recovery_floor(gpu, view, job, params, out)
            {
                continue;
            }
            // A job without an estimate is booked at nothing while it is resident.
            let booked: f64 =
                observation.residents(gpu).filter(|profile| !unestimated(profile)).map(|p| p.gpu_util).sum();
            let projected = booked + job.profile.gpu_util;
            if projected > params.horus_utilization_cap + TOLERANCE {
                out.reject(gpu, Rejection::Utilization { projected }, Recheck::OnChange);
            } else {
                out.candidate(gpu, projected, 0.0);
            }
        }
        out.take_best(job.profile.gpus);
    }
}
