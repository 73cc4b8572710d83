//! The published logs that are tables, column by column.

use super::layout::{Key, Layout, Unit};

const SECONDS: Unit = Unit::Times(1.0);

/// SenseTime Helios, `cluster_log.csv` (Hu et al., SC '21).
pub(super) fn helios() -> Vec<Layout> {
    vec![slurm().with(Key::Vc, "vc", Unit::Plain, false)]
}

/// Acme (InternLM, 2023), `trace_seren.csv` and `trace_kalos.csv`: as Helios, without VCs.
pub(super) fn acme() -> Vec<Layout> {
    vec![slurm()]
}

/// Accounts of Slurm: `gpu_num` is the job's total over its nodes.
fn slurm() -> Layout {
    Layout { whole_gpus: true, ..Layout::default() }
        .with(Key::JobId, "job_id", Unit::Plain, true)
        .with(Key::Submit, "submit_time", Unit::Date, true)
        .with(Key::Start, "start_time", Unit::Date, false)
        .with(Key::End, "end_time", Unit::Date, false)
        .with(Key::Duration, "duration", SECONDS, true)
        .with(Key::Gpus, "gpu_num", Unit::Plain, true)
        .with(Key::User, "user", Unit::Plain, false)
        .with(Key::State, "state", Unit::Plain, true)
}

/// Alibaba PAI 2020, the traces of its simulator (Weng et al., NSDI '22). `pai_job_no_estimate_100K.csv` has GPUs per
/// instance, `pai_job_duration_estimate_100K.csv` totals per job.
pub(super) fn pai() -> Vec<Layout> {
    let common = || {
        Layout::default()
            .with(Key::JobId, "job_id", Unit::Plain, true)
            .with(Key::Submit, "submit_time", SECONDS, true)
            .with(Key::Duration, "duration", SECONDS, true)
            .with(Key::Gpus, "num_gpu", Unit::Plain, true)
            .with(Key::User, "user", Unit::Plain, false)
    };
    let totals = common().with(Key::Instances, "num_pod", Unit::Plain, true);
    vec![
        common().with(Key::Instances, "num_inst", Unit::Plain, true),
        Layout { gpus_are_totals: true, ..totals },
    ]
}

/// Alibaba openb 2023, `openb_pod_list_*.csv` (Weng et al., ATC '23). Phases are those at the time of the snapshot, a pod
/// that was `Running` has its end all the same.
pub(super) fn openb() -> Vec<Layout> {
    let pods = Layout::default()
        .with(Key::JobId, "name", Unit::Plain, true)
        .with(Key::Submit, "creation_time", SECONDS, true)
        .with(Key::Start, "scheduled_time", SECONDS, true)
        .with(Key::End, "deletion_time", SECONDS, true)
        .with(Key::Gpus, "num_gpu", Unit::Plain, true)
        .with(Key::GpuShare, "gpu_milli", Unit::Times(1e-3), true)
        .with(Key::State, "pod_phase", Unit::Plain, false);
    vec![Layout { any_state: true, ..pods }]
}
