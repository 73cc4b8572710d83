mod memory;
mod order;
mod pressure;

use super::{
    GpuView, JobRequest, Observation, Order, Params, Placement, Policy, Pressure, Recheck, RiskSource,
};
use crate::workload::Metric;

/// AEGIS: a chain of filters (memory feasibility, post-placement observation, runtime pressure), then an
/// order of the GPUs that are left.
pub(super) struct Aegis;

impl Policy for Aegis {
    fn required_memory_mib(&self, job: &JobRequest<'_>, params: &Params) -> Option<f64> {
        memory::required_mib(job, params)
    }

    fn reads(&self, metric: Metric, params: &Params) -> bool {
        if params.placement == Order::Rr {
            return false;
        }
        let filter = match params.pressure {
            Pressure::Thresholds => metric != Metric::GpuUtil,
            Pressure::GpuUtilization => metric == Metric::GpuUtil,
            Pressure::None => false,
        };
        filter || params.placement == Order::Lug && metric == order::utilization(params)
    }

    fn place(
        &self,
        observation: &Observation<'_>,
        job: &JobRequest<'_>,
        risks: &mut dyn RiskSource,
        params: &Params,
        out: &mut Placement,
    ) {
        // Round robin takes the next available GPU, whatever its memory and pressure.
        let filtered = params.placement != Order::Rr;
        let required_mib = memory::required_mib(job, params);
        // Where too few GPUs are left for a gang whatever their pressure, one that is pressed says when to look again: the
        // others need not be asked. It matters to gangs that wait for thousands of GPUs.
        let hopeless = out.terse && filtered && job.profile.gpus > 1 && {
            let open = |view: &&GpuView| {
                view.is_available(observation.now) && memory::fits(view, required_mib, params)
            };
            observation.gpus.iter().filter(open).count() < job.profile.gpus
        };
        let mut pressed = false;
        for (gpu, view) in observation.gpus.iter().enumerate() {
            let rejected = filtered && memory::rejects(gpu, view, required_mib, params, out)
                || out.reject_unavailable(gpu, view, observation.now);
            if rejected {
                continue;
            }
            if hopeless && pressed {
                continue;
            }
            // Last, as it is the only filter that costs anything.
            if let Some(reason) =
                filtered.then(|| pressure::rejection(gpu, risks, params, out.terse)).flatten()
            {
                pressed = true;
                out.reject(gpu, reason, Recheck::At(observation.next_sample()));
                continue;
            }
            let key = order::key(gpu, view, observation, risks, params);
            out.candidate(gpu, key, 0.0);
        }
        out.take_best(job.profile.gpus);
    }
}
