use crate::policy::{Params, Pressure, Rejection, RiskSource};
use crate::workload::Metric;

/// The runtime-pressure filter: rejects a GPU whose SMACT risk and one of whose SMOCC and DRAMA risks are
/// at or above their thresholds, or, where nvidia-smi is all there is, one whose GPU utilisation risk is. Metrics
/// that cannot change the verdict are not worked out.
pub(super) fn rejection(
    gpu: usize,
    risks: &mut dyn RiskSource,
    params: &Params,
    terse: bool,
) -> Option<Rejection> {
    if !is_pressed(gpu, risks, params) {
        return None;
    }
    if terse {
        return Some(Rejection::Pressure { smact: f64::NAN, smocc: f64::NAN, drama: None });
    }
    let mut risk = |metric| risks.risk(gpu, metric);
    if params.pressure == Pressure::GpuUtilization {
        return Some(Rejection::GpuUtilization { risk: risk(Metric::GpuUtil) });
    }
    let (smact, smocc) = (risk(Metric::Smact), risk(Metric::Smocc));
    let drama = (smocc < params.smocc_threshold).then(|| risk(Metric::Drama));
    Some(Rejection::Pressure { smact, smocc, drama })
}

/// Whether the filter rejects the GPU.
fn is_pressed(gpu: usize, risks: &mut dyn RiskSource, params: &Params) -> bool {
    let mut reaches = |metric, threshold| risks.reaches(gpu, metric, threshold);
    match params.pressure {
        Pressure::None => false,
        Pressure::GpuUtilization => reaches(Metric::GpuUtil, params.gpu_util_threshold),
        Pressure::Thresholds => {
            reaches(Metric::Smact, params.smact_threshold)
                && (reaches(Metric::Smocc, params.smocc_threshold)
                    || reaches(Metric::Drama, params.drama_threshold))
        }
    }
}
