use crate::policy::{
    GpuView, JobRequest, MemorySource, Params, Placement, Recheck, Rejection, available_memory_mib,
};

/// The memory per GPU that a job must find, in MiB; `None` if the source has no figure for it.
pub(super) fn required_mib(job: &JobRequest<'_>, params: &Params) -> Option<f64> {
    let estimates = &job.profile.estimates;
    let needed = match params.memory_source {
        MemorySource::Free => Some(params.memory_floor_mib),
        MemorySource::Peak => Some(job.profile.peak_memory_mib + params.memory_margin_mib),
        MemorySource::Horus => estimates.horus_mib.map(|mib| mib + params.memory_margin_mib),
        MemorySource::FakeTensor => estimates.faketensor_mib.map(|mib| mib + params.memory_margin_mib),
        MemorySource::GpuMemNet => estimates.gpumemnet_mib.map(|mib| mib + params.memory_margin_mib),
    };
    needed.map(|mib| mib.max(job.recovery_floor_mib.unwrap_or(0.0)))
}

/// Whether [`rejects`] has no reason.
pub(super) fn fits(view: &GpuView, required_mib: Option<f64>, params: &Params) -> bool {
    required_mib.is_some_and(|mib| available_memory_mib(view, params) >= mib)
}

/// Memory feasibility, a hard constraint.
pub(super) fn rejects(
    gpu: usize,
    view: &GpuView,
    required_mib: Option<f64>,
    params: &Params,
    out: &mut Placement,
) -> bool {
    let reason = match required_mib {
        None => Rejection::NoEstimate,
        Some(required_mib) => {
            let available_mib = available_memory_mib(view, params);
            if available_mib >= required_mib {
                return false;
            }
            Rejection::Memory { available_mib, required_mib }
        }
    };
    out.reject(gpu, reason, Recheck::OnChange);
    true
}
