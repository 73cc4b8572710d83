use crate::sim::GpuRecord;

/// What a run made of its GPUs, over all of them. A GPU is active while a process computes on it; means while
/// active are weighted by time, and NaN (null in JSON) where no GPU ever is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resources {
    /// Active GPU-time over GPUs x makespan; NaN where that is 0.
    pub active_share: f64,
    /// As the telemetry read it: 0 on a GPU that it was blind on.
    pub smact_active_mean: f64,
    pub smocc_active_mean: f64,
    /// What sound counters would have shown.
    pub true_smact_active_mean: f64,
    pub true_smocc_active_mean: f64,
    pub drama_active_mean: f64,
    pub gpu_util_active_mean: f64,
    pub memory_active_mean_mib: f64,
    /// Of one GPU.
    pub power_active_mean_w: f64,
    /// Energy to solution: of all GPUs, from the first submission to the last end.
    pub energy_j: f64,
}

impl Resources {
    pub fn of(gpus: &[GpuRecord], makespan_s: f64) -> Resources {
        let active_s: f64 = gpus.iter().map(|gpu| gpu.active_s).sum();
        let active_mean = |figure: &dyn Fn(&GpuRecord) -> f64| {
            let active = gpus.iter().filter(|gpu| gpu.active_s > 0.0);
            active.map(|gpu| gpu.active_s * figure(gpu)).sum::<f64>() / active_s
        };
        let read = |gpu: &GpuRecord, truth: f64| if gpu.telemetry_blind { 0.0 } else { truth };
        Resources {
            active_share: active_s / (gpus.len() as f64 * makespan_s),
            smact_active_mean: active_mean(&|gpu| read(gpu, gpu.smact_active_mean)),
            smocc_active_mean: active_mean(&|gpu| read(gpu, gpu.smocc_active_mean)),
            true_smact_active_mean: active_mean(&|gpu| gpu.smact_active_mean),
            true_smocc_active_mean: active_mean(&|gpu| gpu.smocc_active_mean),
            drama_active_mean: active_mean(&|gpu| gpu.drama_active_mean),
            gpu_util_active_mean: active_mean(&|gpu| gpu.gpu_util_active_mean),
            memory_active_mean_mib: active_mean(&|gpu| gpu.memory_active_mean_mib),
            power_active_mean_w: active_mean(&|gpu| gpu.power_active_mean_w),
            energy_j: gpus.iter().map(|gpu| gpu.energy_j).sum(),
        }
    }

    /// By name, in the order of every table.
    pub fn figures(&self) -> [(&'static str, f64); 10] {
        [
            ("active_share", self.active_share),
            ("smact_active_mean", self.smact_active_mean),
            ("smocc_active_mean", self.smocc_active_mean),
            ("true_smact_active_mean", self.true_smact_active_mean),
            ("true_smocc_active_mean", self.true_smocc_active_mean),
            ("drama_active_mean", self.drama_active_mean),
            ("gpu_util_active_mean", self.gpu_util_active_mean),
            ("memory_active_mean_mib", self.memory_active_mean_mib),
            ("power_active_mean_w", self.power_active_mean_w),
            ("energy_j", self.energy_j),
        ]
    }
}
