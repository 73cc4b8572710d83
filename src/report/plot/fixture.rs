//! A run made by hand.

use crate::engine::Time;
use crate::sim::{Attempt, GpuRecord, JobRecord, Outcome, RunRecord};

/// Two jobs on two GPUs: job 1 dies of OOM next to job 0 and completes on the other GPU.
pub(super) fn record() -> RunRecord {
    let s = Time::from_whole_s;
    let job = |id: &str, submit, end, attempts, recovery_wait| JobRecord {
        id: id.to_owned(),
        workload: "resnet50_imagenet_bs64_1gpu".to_owned(),
        gpus: 1,
        server: 0,
        submit,
        solo_runtime: s(30),
        first_dispatch: s(5),
        first_launch: s(6),
        end,
        attempts,
        recovery_wait,
        execution: s(30),
        given_up: None,
    };
    let attempt = |job, number, gpu, dispatch: Time, end, outcome| Attempt {
        job,
        number,
        gpus: gpu..gpu + 1,
        dispatch,
        launch: dispatch + s(1),
        first_activity: Some(dispatch + s(4)),
        end,
        outcome,
        collocated: true,
        floor_mib: None,
    };
    let gpu = |index| GpuRecord {
        server: 0,
        index,
        model: "GPU".to_owned(),
        memory_mib: 40_000.0,
        telemetry_blind: false,
        busy_s: 0.0,
        active_s: 0.0,
        idle_s: 0.0,
        peak_memory_mib: 0.0,
        memory_mean_mib: 0.0,
        smact_mean: Some(0.0),
        smocc_mean: Some(0.0),
        drama_mean: Some(0.0),
        gpu_util_mean: 0.0,
        memory_active_mean_mib: f64::NAN,
        smact_active_mean: f64::NAN,
        smocc_active_mean: f64::NAN,
        drama_active_mean: f64::NAN,
        gpu_util_active_mean: f64::NAN,
        power_active_mean_w: f64::NAN,
        energy_j: 0.0,
    };
    RunRecord {
        trace: "handmade".to_owned(),
        policy: "aegis".to_owned(),
        seed: 0,
        jobs: vec![job("0", s(0), s(40), 1, s(0)), job("1", s(2), s(60), 2, s(10))],
        attempts: vec![
            attempt(0, 1, 0, s(5), s(40), Outcome::Completed),
            attempt(1, 1, 1, s(5), s(20), Outcome::OutOfMemory),
            attempt(1, 2, 2, s(30), s(60), Outcome::Completed),
        ],
        attempt_gpus: vec![0, 0, 1],
        gpus: vec![gpu(0), gpu(1)],
        events: 0,
        start: s(0),
        end: s(60),
    }
}
