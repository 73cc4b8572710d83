//! What was fitted to what, and how it does on what was left out of the fit.

use crate::calibrate::{
    BUILTIN_MULTIWAY, BUILTIN_PAIRS, BUILTIN_TIMELINES, Report, run_cadence, run_host, run_pairs, run_power,
};
use crate::error::Result;
use crate::experiment::{Evaluation, Settings};

/// Constants, what they were fitted to or chosen by, and what of the measured runs is in sample for that reason.
pub(super) const SOURCES: [[&str; 3]; 8] = [
    ["`interference` but `crowding`", "pairs of jobs on one GPU", "nothing"],
    ["`interference.crowding`", "runs of two to five jobs on one GPU", "nothing"],
    [
        "`runtime_factors`, `noise.runtime_sigma`, `detection_lag_s`, `dispatch_lag_s`, `tick_s`",
        "timelines of the exclusive runs; `tick_s` of the other policies: of the aegis runs",
        "all of the exclusive runs; intervals between dispatches of aegis",
    ],
    [
        "`host.slowdown_per_job`",
        "makespan, mean JCT and mean execution time of horus, aegis and its variants",
        "these figures of these runs",
    ],
    ["`power`", "power and GPU utilisation of all runs", "energy and power of all runs"],
    ["`telemetry.gpu_util_combination`", "GPU utilisation of all runs", "GPU utilisation of all runs"],
    ["`telemetry.dwell_s`", "trials of the threshold study", "nothing"],
    [
        "`memory`",
        "failed attempts of all runs; one moment of the aegis run on saturn; gpt2_xl in the aegis runs",
        "failed attempts, and when they died",
    ],
];

/// What the table comes to.
pub(super) const OUT_OF_SAMPLE: &str = "\
Of makespan, JCTs and execution times, only those of lucid were in no fit of their own; what the others would be out of sample, the
traces left out tell (below).

";

/// A fit done anew, for its errors.
pub(super) struct Calibration {
    /// Command that does it.
    pub command: &'static str,
    pub about: &'static str,
    pub report: Report,
}

/// Fits everything that is fitted to what it was fitted to.
pub(super) fn calibrations(evaluation: &Evaluation, settings: &Settings) -> Result<Vec<Calibration>> {
    let (catalogue, cluster) = (&settings.catalogue, &settings.cluster);
    Ok(vec![
        Calibration {
            command: "calibrate pairs",
            about: "Interference. Rates and speeds are fractions of those alone: their errors are absolute.",
            report: run_pairs(BUILTIN_PAIRS, Some(BUILTIN_MULTIWAY), catalogue)?,
        },
        Calibration {
            command: "calibrate cadence",
            about: "Runtime factors: runtimes of the exclusive runs on a trace, from those on the others.",
            report: run_cadence(BUILTIN_TIMELINES, catalogue, cluster)?,
        },
        Calibration {
            command: "calibrate host",
            about: "Slowdown by a busy host: mean absolute errors of medians over seeds.",
            report: run_host(evaluation, settings)?,
        },
        Calibration {
            command: "calibrate power",
            about: "Power of an active GPU and energy over the measured window: mean absolute and worst error, without \
                    simulating.",
            report: run_power(&evaluation.measured, cluster.gpu_count())?,
        },
    ])
}
