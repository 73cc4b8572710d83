use super::{
    Availability, Decision, GpuView, JobRequest, Observation, Params, Placement, Policy, Recheck, Recovery,
    Rejection, RiskSource,
};

/// One step of the scheduler loop that all policies share, for the job at the head of the queue.
///
/// Enough idle GPUs: the lowest ones, whatever the filters would say; but where a server's GPUs differ, not
/// ones that are known to be too small as a whole, if enough of them are not. Otherwise, unless the job has to
/// wait for idle GPUs (a recovered job under `recovery = "idle"`, one with no recovery floor left, or any
/// job of a policy that does not collocate), what the policy's own placement finds.
pub fn decide(
    policy: &dyn Policy,
    observation: &Observation<'_>,
    job: &JobRequest<'_>,
    risks: &mut dyn RiskSource,
    params: &Params,
    out: &mut Placement,
) -> Decision {
    out.clear();
    let wanted = job.profile.gpus;
    let needed_mib =
        policy.required_memory_mib(job, params).unwrap_or(0.0).max(job.recovery_floor_mib.unwrap_or(0.0));
    // GPUs that are large enough: as the policy believes, else as far as the job has found out, else all.
    let larger = |view: &GpuView| view.capacity_mib > job.outgrown_mib;
    let as_large = |view: &GpuView| larger(view) && view.capacity_mib >= job.died_on_mib;
    let believed = |view: &GpuView| as_large(view) && view.capacity_mib >= needed_mib;
    let tiers: [&dyn Fn(&GpuView) -> bool; 3] = [&believed, &as_large, &larger];
    let enough = |tier: &&&dyn Fn(&GpuView) -> bool| {
        observation.gpus.iter().filter(|view| tier(view)).count() >= wanted
    };
    let tier = tiers.iter().find(enough);
    let idle = |view: &GpuView| {
        view.idle && view.availability == Availability::Now && tier.is_none_or(|tier| tier(view))
    };
    for (gpu, view) in observation.gpus.iter().enumerate() {
        if out.gpus.len() < wanted && idle(view) {
            out.gpus.push(gpu);
        }
    }
    if out.gpus.len() == wanted {
        return Decision::Idle;
    }
    let found = out.gpus.len();
    out.gpus.clear();
    let must_be_idle = if !policy.collocates() {
        Some(Rejection::Occupied)
    } else if job.forced_idle || (job.recovered && params.recovery == Recovery::Idle) {
        Some(Rejection::RecoveryNeedsIdle)
    } else {
        None
    };
    if let Some(reason) = must_be_idle {
        for (gpu, view) in observation.gpus.iter().enumerate() {
            let reason = if idle(view) { Rejection::TooFew { found } } else { reason };
            out.reject(gpu, reason, Recheck::OnChange);
        }
        return Decision::Wait(Recheck::OnChange);
    }
    policy.place(observation, job, risks, params, out);
    if out.gpus.is_empty() {
        Decision::Wait(out.recheck.unwrap_or(Recheck::OnChange))
    } else {
        Decision::Collocated
    }
}

/// Free memory at the last sample less the guard, in MiB.
pub fn available_memory_mib(view: &GpuView, params: &Params) -> f64 {
    view.free_mib - params.memory_guard_mib.max(params.memory_guard_fraction * view.capacity_mib)
}

/// The least memory that a job which died of OOM asks for next, in MiB; `None` if no bucket is left.
///
/// Buckets lie at every `recovery_bucket_fraction` of the GPU's memory short of all of it (25, 50 and 75 %),
/// with further ones in between so that no step exceeds `recovery_bucket_step_mib`. The next is the first
/// above the floor that failed.
pub fn next_recovery_floor_mib(failed_floor_mib: f64, capacity_mib: f64, params: &Params) -> Option<f64> {
    let step_mib = params.recovery_bucket_step_mib;
    let anchors = (1..)
        .map(|number| f64::from(number) * params.recovery_bucket_fraction)
        .take_while(|&share| share < 1.0)
        .map(|share| share * capacity_mib);
    let mut below: Option<f64> = None;
    for anchor in anchors {
        if let Some(below) = below {
            let steps = ((failed_floor_mib - below) / step_mib).floor().max(0.0) + 1.0;
            let between = below + steps * step_mib;
            if between < anchor {
                return Some(between);
            }
        }
        if anchor > failed_floor_mib {
            return Some(anchor);
        }
        below = Some(anchor);
    }
    None
}

/// Rejects a GPU that offers a recovered job less than its floor; `true` if it did.
pub(super) fn below_recovery_floor(
    gpu: usize,
    view: &GpuView,
    job: &JobRequest<'_>,
    params: &Params,
    out: &mut Placement,
) -> bool {
    let available_mib = available_memory_mib(view, params);
    match job.recovery_floor_mib {
        Some(required_mib) if available_mib < required_mib => {
            out.reject(gpu, Rejection::Memory { available_mib, required_mib }, Recheck::OnChange);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{ParamsFile, PolicyKind};

    #[test]
    fn recovery_floors_climb_as_documented() {
        let params = ParamsFile::defaults(PolicyKind::Aegis);
        let mut floors = Vec::new();
        let mut failed = 5120.0;
        while let Some(next) = next_recovery_floor_mib(failed, 40960.0, &params) {
            floors.push(next);
            failed = next;
        }
        assert_eq!(floors, [10240.0, 18432.0, 20480.0, 28672.0, 30720.0]);
        assert_eq!(next_recovery_floor_mib(12000.0, 40960.0, &params), Some(18432.0));
        assert_eq!(next_recovery_floor_mib(19000.0, 40960.0, &params), Some(20480.0));
        assert_eq!(next_recovery_floor_mib(0.0, 40960.0, &params), Some(10240.0));
        assert_eq!(next_recovery_floor_mib(40448.0, 40960.0, &params), None);
    }
}
