use crate::policy::{GpuView, Observation, Order, Params, Pressure, RiskSource, available_memory_mib};
use crate::workload::Metric;

/// What a GPU is ordered by, smallest first.
pub(super) fn key(
    gpu: usize,
    view: &GpuView,
    observation: &Observation<'_>,
    risks: &mut dyn RiskSource,
    params: &Params,
) -> f64 {
    match params.placement {
        Order::Magm => -available_memory_mib(view, params),
        Order::Lug => risks.risk(gpu, utilization(params)),
        Order::Bf => available_memory_mib(view, params),
        Order::Ff => gpu as f64,
        Order::Rr => {
            let count = observation.gpus.len();
            let next = observation.last_gpu.map_or(0, |last| last + 1);
            ((gpu + count - next % count) % count) as f64
        }
    }
}

/// What the least utilised GPU is found by. A scheduler whose filter reads nvidia-smi has nothing else.
pub(super) fn utilization(params: &Params) -> Metric {
    match params.pressure {
        Pressure::GpuUtilization => Metric::GpuUtil,
        Pressure::Thresholds | Pressure::None => Metric::Smact,
    }
}
