//! The threshold study: a validation set of its own.

use crate::cli::validate::report::Sections;
use crate::error::Result;
use crate::experiment::{SettingResult, Settings, StudyData, StudyReplay, ThresholdStudy};
use crate::metrics::mean;
use crate::report::{Row, row};

/// Runs per setting and sequence.
const SEEDS: u64 = 20;
/// What the study is held to: errors in percent, rank correlations.
const GAIN_MAE_PCT: f64 = 5.0;
const GAIN_CORRELATION: f64 = 0.90;
const WORST_CORRELATION: f64 = 0.85;

/// The study replayed under the settings' model.
pub(super) struct Replayed {
    /// With counters failed at random during `blind_share` of the sequences.
    study: ThresholdStudy,
    blind_share: f64,
    /// With sound counters.
    sound: ThresholdStudy,
}

impl Replayed {
    pub fn new(settings: &Settings) -> Result<Replayed> {
        let data = StudyData::builtin();
        let runs = StudyReplay::new(&data, settings)?.runs(SEEDS, |_| true)?;
        let blind_share = runs.blind_share();
        Ok(Replayed { study: runs.study(blind_share), blind_share, sound: runs.study(0.0) })
    }
}

pub(super) fn section(sections: &mut Sections, replayed: &Replayed) {
    let Replayed { study, blind_share, sound } = replayed;
    sections.text += &format!(
        "\
## Threshold study

{} settings of the pressure filter's thresholds on one GPU, each with five sequences of jobs, replayed under {SEEDS} seeds. Some of
the study's counters had failed, and when is not recorded: a share of the sequences with failed counters, the same for all
settings, stands for that ({blind_share:.2}, from the study itself). Settings whose gate was open rank with their mean.

",
        study.settings.len()
    );
    let line = |name: &str, figure: fn(&ThresholdStudy) -> f64, target: Option<(f64, bool)>| {
        let value = figure(study);
        let (target, status) = match target {
            Some((limit, at_most)) => {
                let met = if at_most { value <= limit } else { value >= limit };
                let sign = if at_most { "<=" } else { ">=" };
                (format!("{sign} {limit}"), if met { "met" } else { "missed" })
            }
            None => (String::new(), ""),
        };
        row([
            ("figure", name.into()),
            ("value", format!("{value:.3}").into()),
            ("sound", format!("{:.3}", figure(sound)).into()),
            ("target", target.into()),
            ("status", status.into()),
        ])
    };
    let rows = [
        line(
            "throughput gain, mean absolute error [%]",
            ThresholdStudy::gain_mae_pct,
            Some((GAIN_MAE_PCT, true)),
        ),
        line("throughput gain, bias [%]", ThresholdStudy::gain_bias_pct, None),
        line(
            "throughput gain, rank correlation",
            ThresholdStudy::gain_rank_correlation,
            Some((GAIN_CORRELATION, false)),
        ),
        line(
            "worst slowdown, rank correlation",
            ThresholdStudy::worst_rank_correlation,
            Some((WORST_CORRELATION, false)),
        ),
        line("worst slowdown, mean absolute error [%]", ThresholdStudy::worst_mae_pct, None),
        line("deferrals, rank correlation", ThresholdStudy::deferrals_rank_correlation, None),
    ];
    let columns = [
        ("figure", "figure"),
        ("value", "value"),
        ("sound", "had counters never failed"),
        ("target", "target"),
        ("status", ""),
    ];
    sections.rows(&rows, &columns);
    let open: Vec<&SettingResult> = study.open_gate().collect();
    let of = |figure: fn(&SettingResult) -> f64| {
        mean(&open.iter().map(|setting| figure(setting)).collect::<Vec<_>>())
    };
    let rows: [Row; 2] = [
        ("throughput gain", of(|s| s.measured.throughput_gain), of(|s| s.simulated.throughput_gain)),
        ("worst slowdown", of(|s| s.measured.slowdown_worst), of(|s| s.simulated.slowdown_worst)),
    ]
    .map(|(name, measured, simulated)| {
        row([
            ("figure", name.into()),
            ("measured", format!("{measured:.2}").into()),
            ("simulated", format!("{simulated:.2}").into()),
        ])
    });
    sections.text +=
        &format!("The {} settings whose gate was open (at most 5 deferrals), on average:\n\n", open.len());
    sections.rows(&rows, &[("figure", "figure"), ("measured", "measured"), ("simulated", "simulated")]);
}
