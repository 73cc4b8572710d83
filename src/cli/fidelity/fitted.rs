//! What was fitted to what, and how it does on what was left out of the fit.

use crate::calibrate::{
    BUILTIN_MULTIWAY, BUILTIN_PAIRS, BUILTIN_SOLO_RUNS, BUILTIN_TIMELINES, Report, run_cadence, run_noise,
    run_pairs, run_power, run_telemetry,
};
use crate::error::Result;
use crate::experiment::{Evaluation, Settings, StudyData};

/// Constants, what they were fitted to or chosen by, and what of the measured runs is in sample for that reason.
pub(super) const SOURCES: [[&str; 3]; 8] = [
    ["`interference`", "pairs of jobs on one GPU; `capacity` is 1 by its meaning", "nothing"],
    [
        "`runtime_factors`, `detection_lag_s`, `dispatch_lag_s`, `tick_s`",
        "timelines of the exclusive runs; `tick_s` of the other policies: of the aegis runs",
        "all of the exclusive runs; intervals between dispatches of aegis",
    ],
    ["`power`", "power and GPU utilisation of all runs", "energy and power of all runs"],
    ["`telemetry.gpu_util_combination`", "GPU utilisation of all runs", "GPU utilisation of all runs"],
    ["dwell times in `telemetry`", "the threshold study", "nothing"],
    ["`telemetry.closing_activity`", "pairs of jobs, and runs of two to five jobs, on one GPU", "nothing"],
    [
        "`noise`",
        "repeats among the exclusive runs, further runs of workloads alone, failed attempts of aegis, errors on pairs",
        "widths of intervals, not medians",
    ],
    [
        "`memory`",
        "failed attempts of all runs; one moment of the aegis run on saturn; gpt2_xl in the aegis runs",
        "failed attempts, and when they died",
    ],
];

/// What the table comes to.
pub(super) const OUT_OF_SAMPLE: &str = "\
So makespan, JCTs and execution times of the runs in which jobs share GPUs (horus, lucid, aegis and its variants) are predictions: no
constant was fitted to them. But which mechanisms there are, and constants between which other data do not decide (dwell times, closing
activity), was settled with these runs in view. Those of exclusive are not predictions; what they would be out of sample, the traces
left out tell (below).

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
            report: run_cadence(BUILTIN_TIMELINES, None, catalogue, cluster)?,
        },
        Calibration {
            command: "calibrate noise",
            about: "Run-to-run noise: what is drawn for the error of the interference model.",
            report: run_noise(BUILTIN_TIMELINES, Some(BUILTIN_SOLO_RUNS), Some(BUILTIN_PAIRS), catalogue)?,
        },
        Calibration {
            command: "calibrate telemetry",
            about: "Dwell times: the threshold study replayed, each half of its settings with what fits the other.",
            report: run_telemetry(&StudyData::builtin(), settings)?,
        },
        Calibration {
            command: "calibrate power",
            about: "Power of an active GPU and energy over the measured window: mean absolute and worst error, without \
                    simulating.",
            report: run_power(&evaluation.measured, cluster.gpu_count())?,
        },
    ])
}
