use super::{MemorySource, Params, PolicyKind, Pressure};

/// Whether a run under a policy depends on a parameter. The others are as in `params`, but for those that `varied` says
/// may be anything.
pub fn parameter_matters(
    kind: PolicyKind,
    key: &str,
    params: &Params,
    varied: &dyn Fn(&str) -> bool,
) -> bool {
    let pressure = |mode| params.pressure == mode || varied("pressure");
    let free = params.memory_source == MemorySource::Free;
    let aegis = kind == PolicyKind::Aegis;
    match key {
        "memory_source" | "placement" | "pressure" => aegis,
        "memory_floor_mib" => aegis && (free || varied("memory_source")),
        "memory_margin_mib" => aegis && (!free || varied("memory_source")),
        "smact_threshold" | "smocc_threshold" | "drama_threshold" => aegis && pressure(Pressure::Thresholds),
        "gpu_util_threshold" => aegis && pressure(Pressure::GpuUtilization),
        // Idle GPUs are under no observation, and a job that died waits for them anyway.
        "observation_window_s" | "observation_anchor" | "recovery" | "interference_strength" => {
            kind != PolicyKind::Exclusive
        }
        _ if key.starts_with("recovery_bucket_") => kind != PolicyKind::Exclusive,
        _ if key.starts_with("horus_") => kind == PolicyKind::Horus,
        _ if key.starts_with("lucid_") => kind == PolicyKind::Lucid,
        _ => true,
    }
}
