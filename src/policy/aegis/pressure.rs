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
    match params.pressure {
        Pressure::None => return None,
        _ if terse => {
            return is_pressed(gpu, risks, params).then_some(Rejection::Pressure {
                smact: f64::NAN,
                smocc: f64::NAN,
                drama: None,
            });
        }
        Pressure::GpuUtilization => {
            let risk = risks.risk(gpu, Metric::GpuUtil);
            return (risk >= params.gpu_util_threshold).then_some(Rejection::GpuUtilization { risk });
        }
        Pressure::Thresholds => {}
    }
    let smact = risks.risk(gpu, Metric::Smact);
    if smact < params.smact_threshold {
        return None;
    }
    let smocc = risks.risk(gpu, Metric::Smocc);
    if smocc >= params.smocc_threshold {
        return Some(Rejection::Pressure { smact, smocc, drama: None });
    }
    let drama = risks.risk(gpu, Metric::Drama);
    (drama >= params.drama_threshold).then_some(Rejection::Pressure { smact, smocc, drama: Some(drama) })
}

/// Whether [`rejection`] has a reason.
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
