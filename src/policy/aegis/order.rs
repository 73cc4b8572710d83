use crate::policy::{GpuView, Observation, Order, Params, RiskSource, available_memory_mib};
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
        Order::Lug => risks.risk(gpu, Metric::Smact),
        Order::Bf => available_memory_mib(view, params),
        Order::Ff => gpu as f64,
        Order::Rr => {
            let count = observation.gpus.len();
            let next = observation.last_gpu.map_or(0, |last| last + 1);
            ((gpu + count - next % count) % count) as f64
        }
    }
}
