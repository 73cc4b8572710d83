//! How activity varies in time, from the threshold study.

use super::Report;
use crate::error::Result;
use crate::experiment::{Settings, StudyData, StudyReplay, StudyRuns, ThresholdStudy};
use crate::model::{Combination, Telemetry};

/// Candidates for both dwell times, in seconds.
const DWELLS_S: [f64; 4] = [5.0, 10.0, 20.0, 40.0];
/// Candidates for `closing_activity`: 0, 1/10, 2/10, ...
const CLOSING_STEPS: u32 = 10;
/// Where the search starts, whatever the model file holds.
const START: (f64, f64, f64) = (20.0, 20.0, 1.0);
/// Each round looks for the best dwell time, bursty dwell time and closing activity in turn.
const ROUNDS: usize = 2;
/// Runs per setting and sequence, with seeds 1, 2, ...
const SEEDS: u64 = 10;

/// A fit to some of the settings.
struct Fit {
    telemetry: Telemetry,
    /// Of the same settings, once telemetry is fitted.
    blind_share: f64,
    score: f64,
    /// On the settings of the fit.
    study: ThresholdStudy,
}

/// Fits dwell times and closing activity to every other setting of the threshold study, the first included, and
/// tests them on the rest.
///
/// Runs are compared with sound counters first, see [`ThresholdStudy::sound_score`]. The share of sequences with
/// failed counters is a condition of the study, not part of the model: it is fitted afterwards, on the same
/// settings, and explains the study as a whole.
///
/// # Errors
/// Input that cannot be used.
pub fn run_telemetry(data: &StudyData, settings: &Settings) -> Result<Report> {
    let replay = |telemetry: Telemetry, keep: &dyn Fn(usize) -> bool| -> Result<StudyRuns<'_>> {
        let mut settings = settings.clone();
        settings.model.telemetry = telemetry;
        StudyReplay::new(data, &settings)?.runs(SEEDS, keep)
    };
    let fit = |keep: &dyn Fn(usize) -> bool| {
        let evaluate = |telemetry: Telemetry| -> Result<Fit> {
            let runs = replay(telemetry, keep)?;
            let blind_share = runs.blind_share();
            let score = runs.study(0.0).sound_score();
            Ok(Fit { telemetry, blind_share, score, study: runs.study(blind_share) })
        };
        search(settings.model.telemetry, evaluate)
    };
    let (even, odd) = (|index: usize| index.is_multiple_of(2), |index: usize| !index.is_multiple_of(2));
    let chosen = fit(&even)?;
    let tested = replay(chosen.telemetry, &odd)?.study(chosen.blind_share);
    let swapped = fit(&odd)?;
    let tested_swapped = replay(swapped.telemetry, &even)?.study(swapped.blind_share);
    let all = replay(chosen.telemetry, &|_| true)?;
    let whole = all.study(chosen.blind_share);
    let sound = all.study(0.0);
    let start = with(settings.model.telemetry, START);
    let unfitted = replay(start, &odd)?.study(0.0);

    let mut report = Report {
        toml: render(&chosen, &tested, &whole, &sound, settings.model.telemetry),
        lines: Vec::new(),
    };
    let (dwell_s, bursty_dwell_s, closing_activity) = parts(chosen.telemetry);
    report.line("settings", format!("{} x {SEEDS} seeds", data.settings.len()));
    report.line("dwell_s", format!("{dwell_s:.1}"));
    report.line("bursty_dwell_s", format!("{bursty_dwell_s:.1}"));
    report.line("closing_activity", format!("{closing_activity:.1}"));
    report.line("share of sequences with failed counters", format!("{:.2}", chosen.blind_share));
    report.line("error without closing phases, counters sound, test half", describe(&unfitted));
    report.line("error, in the fit", describe(&chosen.study));
    report.line("error, test half", describe(&tested));
    let (dwell_s, bursty_dwell_s, closing_activity) = parts(swapped.telemetry);
    report.line(
        format!(
            "error, halves swapped ({dwell_s:.1}, {bursty_dwell_s:.1}, {closing_activity:.1}, {:.2})",
            swapped.blind_share
        ),
        describe(&tested_swapped),
    );
    report.line("error, counters sound, all settings", describe(&sound));
    report.line("rank correlations, all settings", correlations(&whole));
    Ok(report)
}

/// Improves one figure at a time: all combinations would be ten times as many.
fn search(base: Telemetry, evaluate: impl Fn(Telemetry) -> Result<Fit>) -> Result<Fit> {
    let mut best = evaluate(with(base, START))?;
    for _ in 0..ROUNDS {
        let closing = (0..=CLOSING_STEPS).map(|step| f64::from(step) / f64::from(CLOSING_STEPS));
        let candidates: [Vec<(f64, f64, f64)>; 3] = [
            closing.map(|closing| (0.0, 0.0, closing)).collect(),
            DWELLS_S.map(|dwell_s| (dwell_s, 0.0, 0.0)).to_vec(),
            DWELLS_S.map(|dwell_s| (0.0, dwell_s, 0.0)).to_vec(),
        ];
        for (figure, candidates) in candidates.into_iter().enumerate() {
            for candidate in candidates {
                let mut next = parts(best.telemetry);
                match figure {
                    0 => next.2 = candidate.2,
                    1 => next.0 = candidate.0,
                    _ => next.1 = candidate.1,
                }
                if next == parts(best.telemetry) {
                    continue;
                }
                let fit = evaluate(with(base, next))?;
                if fit.score < best.score {
                    best = fit;
                }
            }
        }
    }
    Ok(best)
}

/// Telemetry with these dwell times and closing activity.
fn with(base: Telemetry, (dwell_s, bursty_dwell_s, closing_activity): (f64, f64, f64)) -> Telemetry {
    Telemetry { dwell_s, bursty_dwell_s: Some(bursty_dwell_s), closing_activity, ..base }
}

fn parts(telemetry: Telemetry) -> (f64, f64, f64) {
    let bursty_dwell_s = telemetry.bursty_dwell_s.unwrap_or(telemetry.dwell_s);
    (telemetry.dwell_s, bursty_dwell_s, telemetry.closing_activity)
}

fn describe(study: &ThresholdStudy) -> String {
    format!(
        "throughput gain {:.2} % (bias {:+.2} %), worst slowdown {:.2} %",
        study.gain_mae_pct(),
        study.gain_bias_pct(),
        study.worst_mae_pct()
    )
}

fn correlations(study: &ThresholdStudy) -> String {
    format!(
        "throughput gain {:.3}, worst slowdown {:.3}, deferrals {:.3}",
        study.gain_rank_correlation(),
        study.worst_rank_correlation(),
        study.deferrals_rank_correlation()
    )
}

fn name(combination: Combination) -> &'static str {
    match combination {
        Combination::Sum => "sum",
        Combination::Union => "union",
        Combination::Presence => "presence",
    }
}

fn render(
    fit: &Fit,
    tested: &ThresholdStudy,
    whole: &ThresholdStudy,
    sound: &ThresholdStudy,
    kept: Telemetry,
) -> String {
    let (dwell_s, bursty_dwell_s, closing_activity) = parts(fit.telemetry);
    format!(
        "\
# How activity varies in time, and how that of jobs on one GPU adds up.
#
# dwell_s, bursty_dwell_s and closing_activity are fitted to every other setting of the threshold study
# (experiments/measured/threshold_settings.csv: sequences of jobs on one GPU, the next let in when the gate is open) by
#   aegis-sim calibrate telemetry
# The study's SMACT and SMOCC counters failed at times, so errors count up to a limit: what lies beyond was not seen by
# counters. With them failed at random during {:.2} of the sequences (fitted to the same half), mean absolute errors are
#   in the fit: {}
#   on the other half: {}
#   in all settings, had counters never failed: {}
# and rank correlations over all settings: {}
schema_version = 1

[telemetry]
# Seconds that a job's activity level lasts before the next is drawn: of steady workloads, and of those whose median SMACT
# lies a fifth or more below its p95.
dwell_s = {dwell_s:.1}
bursty_dwell_s = {bursty_dwell_s:.1}
# Activity in the closing phase of a run (validation; closing_s of the catalogue) as a fraction of that before.
closing_activity = {closing_activity:.1}
# Activities, each scaled by its job's pace, add up: kernels of different processes take turns. Source: activity
# integrated over the A100 runs (mean x duration x GPUs) over the profiles' own (mean x solo runtime) is the same
# when jobs share heavily as when they run alone: SMACT 0.98 and 0.96, DRAMA 1.04 and 1.01 (venus, aegis and
# exclusive, the two runs on venus with sound telemetry). A union would lose a tenth of it by sharing.
combination = \"{}\"
# GPU utilisation counts time with any kernel at all, and the kernels of a slowed job last longer: activities whatever the
# pace coincide by chance. No policy reads it. Source: gpu_util_active_mean of the 18 A100 runs (measured/runs.csv): medians over
# twenty seeds have a mean absolute error of 0.9 % (worst run 2.1 %); as a union of activities scaled by pace 6.2 % (15.4 %),
# since crowded GPUs come out idle that are not; as a sum scaled by pace 1.3 % (3.6 %).
gpu_util_combination = \"{}\"
",
        fit.blind_share,
        describe(&fit.study),
        describe(tested),
        describe(sound),
        correlations(whole),
        name(kept.combination),
        name(kept.gpu_util_combination),
    )
}
