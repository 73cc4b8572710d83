//! How activity varies in time, from the threshold study.

use super::Report;
use crate::error::Result;
use crate::experiment::{Settings, StudyData, StudyReplay, StudyRuns, ThresholdStudy};
use crate::model::{Combination, Telemetry};
use crate::workload::{BUILTIN_CATALOGUE, Catalogue};

/// Candidates for both dwell times, in seconds.
const DWELLS_S: [f64; 4] = [5.0, 10.0, 20.0, 40.0];
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

/// Fits dwell times to either half of the threshold study's settings (every other one), tests each fit on the other
/// half, and takes the geometric mean of both.
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
        best(settings.model.telemetry, evaluate)
    };
    let (even, odd) = (|index: usize| index.is_multiple_of(2), |index: usize| !index.is_multiple_of(2));
    let fits = [fit(&even)?, fit(&odd)?];
    let tested = [
        replay(fits[0].telemetry, &odd)?.study(fits[0].blind_share),
        replay(fits[1].telemetry, &even)?.study(fits[1].blind_share),
    ];
    let middle = |of: fn(Telemetry) -> f64| {
        let [a, b] = [&fits[0], &fits[1]].map(|fit| of(fit.telemetry));
        // To a whole second: samples are no finer.
        (a * b).sqrt().round()
    };
    let chosen = Telemetry {
        dwell_s: middle(|telemetry| dwells(telemetry).0),
        bursty_dwell_s: Some(middle(|telemetry| dwells(telemetry).1)),
        ..settings.model.telemetry
    };
    let all = replay(chosen, &|_| true)?;
    let blind_share = all.blind_share();
    let (whole, sound) = (all.study(blind_share), all.study(0.0));

    let mut errors = Vec::new();
    for ((fit, tested), name) in fits.iter().zip(&tested).zip(["first", "second"]) {
        let (dwell_s, bursty_dwell_s) = dwells(fit.telemetry);
        let name = format!(
            "error, fitted to the {name} half ({dwell_s:.0} s, {bursty_dwell_s:.0} s, {:.2})",
            fit.blind_share
        );
        errors.push((format!("{name}, there"), describe(&fit.study)));
        errors.push((format!("{name}, on the other"), describe(tested)));
    }
    errors.push(("error, all settings".to_owned(), describe(&whole)));
    errors.push(("error, all settings, counters sound".to_owned(), describe(&sound)));
    errors.push(("rank correlations, all settings".to_owned(), correlations(&whole)));
    let toml = render(data, &settings.catalogue, chosen, blind_share, &errors);
    let (dwell_s, bursty_dwell_s) = dwells(chosen);
    let mut report = Report { toml, lines: Vec::new() };
    report.line("settings", format!("{} x {SEEDS} seeds", data.settings.len()));
    report.line("dwell_s", format!("{dwell_s:.1}"));
    report.line("bursty_dwell_s", format!("{bursty_dwell_s:.1}"));
    report.line("share of sequences with failed counters", format!("{blind_share:.2}"));
    report.lines.extend(errors);
    Ok(report)
}

/// The best of all combinations of dwell times, the first of equals.
fn best(base: Telemetry, evaluate: impl Fn(Telemetry) -> Result<Fit>) -> Result<Fit> {
    let mut best: Option<Fit> = None;
    for dwell_s in DWELLS_S {
        for bursty_dwell_s in DWELLS_S {
            let fit = evaluate(Telemetry { dwell_s, bursty_dwell_s: Some(bursty_dwell_s), ..base })?;
            if best.as_ref().is_none_or(|best| fit.score < best.score) {
                best = Some(fit);
            }
        }
    }
    Ok(best.expect("there are candidates"))
}

fn dwells(telemetry: Telemetry) -> (f64, f64) {
    (telemetry.dwell_s, telemetry.bursty_dwell_s.unwrap_or(telemetry.dwell_s))
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
    // Ranks of equal values correlate with nothing.
    let shown = |correlation: f64| {
        if correlation.is_finite() { format!("{correlation:.3}") } else { "undefined (all equal)".to_owned() }
    };
    format!(
        "throughput gain {}, worst slowdown {}, deferrals {}",
        shown(study.gain_rank_correlation()),
        shown(study.worst_rank_correlation()),
        shown(study.deferrals_rank_correlation())
    )
}

fn name(combination: Combination) -> &'static str {
    match combination {
        Combination::Sum => "sum",
        Combination::Union => "union",
        Combination::Presence => "presence",
    }
}

/// Where dwell times come from, and how errors are to be read.
fn head(data: &StudyData, catalogue: &Catalogue, blind_share: f64) -> String {
    let StudyData { settings_source, jobs_source, .. } = data;
    let builtin = *data == StudyData::builtin();
    let mut command = "aegis-sim calibrate telemetry".to_owned();
    if !builtin {
        command += &format!(" {settings_source} --jobs {jobs_source}");
    }
    if catalogue.source() != BUILTIN_CATALOGUE {
        command += &format!(" --workloads {}", catalogue.source());
    }
    // What was seen of the built-in study need not hold for others.
    let remarks = if builtin {
        "\
# The study says little about them: from 5 to 40 s its errors hardly differ. The study's SMACT and SMOCC counters failed at
# times, so errors count up to a limit: what lies beyond was not seen by counters. With them failed at random during a share
# of the sequences"
    } else {
        "\
# Errors count up to a limit, as the study's SMACT and SMOCC counters may have failed at times: what lies beyond was not seen
# by counters. With them failed at random during a share of the sequences
#"
    };
    format!(
        "\
# dwell_s and bursty_dwell_s are geometric means of what fits either half of the settings of the threshold study
# ({settings_source}: sequences of jobs on one GPU, the next let in when the gate is open), by
#   {command}
{remarks} (the third figure in brackets; {blind_share:.2} for all settings), mean absolute errors are
"
    )
}

fn render(
    data: &StudyData,
    catalogue: &Catalogue,
    chosen: Telemetry,
    blind_share: f64,
    errors: &[(String, String)],
) -> String {
    let head = head(data, catalogue, blind_share);
    let (dwell_s, bursty_dwell_s) = dwells(chosen);
    let closing_activity = chosen.closing_activity;
    let errors: String = errors.iter().map(|(name, value)| format!("# {name}:\n#   {value}\n")).collect();
    format!(
        "\
# How activity varies in time, and how that of jobs on one GPU adds up.
#
{head}{errors}schema_version = 1

[telemetry]
# Seconds that a job's activity level lasts before the next is drawn: of steady workloads, and of those whose median SMACT
# lies a fifth or more below its p95.
dwell_s = {dwell_s:.1}
bursty_dwell_s = {bursty_dwell_s:.1}
# Activity in the closing phase of a run (validation; closing_s of the catalogue) as a fraction of that before. Not fitted
# here: of 0, 0.2, 0.3, 0.4, 0.6 and 1, with pressures fitted to pairs under each, 0.2 and 0.3 have the lowest errors on
# pairs that are left out and on runs of several jobs (models/interference.toml; 8.9 % there without a closing phase).
closing_activity = {closing_activity:.1}
# Activities, each scaled by its job's pace, add up: kernels of different processes take turns. Source: activity
# integrated over the A100 runs (mean x duration x GPUs) over the profiles' own (mean x solo runtime) is the same
# when jobs share heavily as when they run alone: SMACT 0.98 and 0.96, DRAMA 1.04 and 1.01 (venus, aegis and
# exclusive, the two runs on venus with sound telemetry). A union would lose a tenth of it by sharing.
combination = \"{}\"
# GPU utilisation counts time with any kernel at all, and the kernels of a slowed job last longer: activities whatever the
# pace coincide by chance. Only +smi40 to +smi80 read it. Source: gpu_util_active_mean of the 18 A100 runs (measured/runs.csv): medians over
# twenty seeds have a mean absolute error of 0.9 % (worst run 2.1 %); as a union of activities scaled by pace 6.2 % (15.4 %),
# since crowded GPUs come out idle that are not; as a sum scaled by pace 1.3 % (3.6 %).
gpu_util_combination = \"{}\"
",
        name(chosen.combination),
        name(chosen.gpu_util_combination),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two settings that measured the same, so that nothing can be ranked.
    const SETTINGS: &str = "smact_threshold,smocc_threshold,drama_threshold,throughput_gain_mean,slowdown_mean,\
                            slowdown_worst,deferrals\n1,1,1,2,1.5,2,0\n0,0,0,2,1.5,2,0\n";
    const JOBS: &str = "sequence,position,workload,variant,solo_runtime_s\n\
                        a,1,unet_voc_1gpu,short,300\na,2,unet_voc_1gpu,short,300\n";

    #[test]
    fn a_study_of_ones_own_is_named() {
        let data = StudyData::parse(("s.csv", SETTINGS.as_bytes()), ("j.csv", JOBS.as_bytes())).unwrap();
        let toml = run_telemetry(&data, &Settings::default()).unwrap().toml;
        for says in ["# (s.csv: sequences", "#   aegis-sim calibrate telemetry s.csv --jobs j.csv\n"] {
            assert!(toml.contains(says), "{says}: {toml}");
        }
        for builtin in ["threshold_settings.csv", "says little", "NaN"] {
            assert!(!toml.contains(builtin), "{builtin}: {toml}");
        }
    }

    #[test]
    fn the_builtin_study_has_the_head_of_the_builtin_model() {
        let file = include_str!("../../models/telemetry.toml");
        // The share is a result of the fit.
        let (_, share) = file.split_once("(the third figure in brackets; ").unwrap();
        let share = share.split(' ').next().unwrap().parse().unwrap();
        let head = head(&StudyData::builtin(), &Catalogue::builtin(), share);
        assert!(file.contains(&head), "{head}");
    }
}
