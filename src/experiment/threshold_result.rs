//! The replayed threshold study beside the measured one: errors and rank correlations.

use super::threshold_data::StudyFigures;
use crate::metrics::{mean, rank_correlation};

/// Up to so many deferrals, a setting's gate counts as open: all such settings ran the same schedule.
const OPEN_DEFERRALS: f64 = 5.0;
/// Relative errors from which on a setting is taken to have run with failed counters. Settings that did not
/// repeat within a tenth of that (0.4 % in gain).
const GAIN_LIMIT: f64 = 0.03;
const DEFERRALS_LIMIT: f64 = 0.1;
/// Figures that differ by less rank as equals: repeats of one schedule have a standard deviation of 0.008 in gain
/// and 0.005 in worst slowdown.
const REPEAT: f64 = 0.01;

/// A setting, measured and simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingResult {
    /// Of SMACT, SMOCC and DRAMA risk.
    pub thresholds: [f64; 3],
    pub measured: StudyFigures,
    /// Means over the seeds.
    pub simulated: StudyFigures,
}

/// The study, replayed, in the order of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdStudy {
    pub settings: Vec<SettingResult>,
}

impl ThresholdStudy {
    /// Mean absolute error of the throughput gain, in percent of the measured gain.
    pub fn gain_mae_pct(&self) -> f64 {
        mean(&self.gain_errors_pct().iter().map(|error| error.abs()).collect::<Vec<_>>())
    }

    /// Mean error of the throughput gain, with sign, in percent.
    pub fn gain_bias_pct(&self) -> f64 {
        mean(&self.gain_errors_pct())
    }

    fn gain_errors_pct(&self) -> Vec<f64> {
        let error = |setting: &SettingResult| {
            100.0 * (setting.simulated.throughput_gain / setting.measured.throughput_gain - 1.0)
        };
        self.settings.iter().map(error).collect()
    }

    /// What fits of telemetry minimise, from runs with sound telemetry: errors of throughput gain and deferrals,
    /// mean over the settings whose gates closed. An error counts as 1 from 3 %
    /// of the gain or 10 % of the deferrals on: settings that ran with failed counters are further off, and
    /// say nothing of telemetry. Rounded, so that ties do not hang on the last bit.
    pub fn sound_score(&self) -> f64 {
        let errors: Vec<f64> = self
            .settings
            .iter()
            .filter(|setting| !is_open(setting))
            .map(|SettingResult { measured, simulated, .. }| {
                let gain = simulated.throughput_gain / measured.throughput_gain - 1.0;
                let deferrals = simulated.deferrals / measured.deferrals - 1.0;
                (gain.abs() / GAIN_LIMIT).min(1.0) + (deferrals.abs() / DEFERRALS_LIMIT).min(1.0)
            })
            .collect();
        rounded(mean(&errors))
    }

    /// What explains the study as a whole: errors of gain and worst slowdown count alike.
    pub(super) fn score(&self) -> f64 {
        rounded(self.gain_mae_pct() + self.worst_mae_pct())
    }

    /// Mean absolute error of the worst slowdown, in percent of the measured one.
    pub fn worst_mae_pct(&self) -> f64 {
        let error = |setting: &SettingResult| {
            100.0 * (setting.simulated.slowdown_worst / setting.measured.slowdown_worst - 1.0).abs()
        };
        mean(&self.settings.iter().map(error).collect::<Vec<_>>())
    }

    /// Spearman's rank correlation of measured and simulated throughput gains.
    pub fn gain_rank_correlation(&self) -> f64 {
        self.correlation(|figures| figures.throughput_gain)
    }

    /// The same of worst slowdowns.
    pub fn worst_rank_correlation(&self) -> f64 {
        self.correlation(|figures| figures.slowdown_worst)
    }

    /// The same of deferrals.
    pub fn deferrals_rank_correlation(&self) -> f64 {
        self.correlation(|figures| figures.deferrals)
    }

    /// The settings whose gates were open, as measured. Their differences are noise of the study.
    pub fn open_gate(&self) -> impl Iterator<Item = &SettingResult> {
        self.settings.iter().filter(|setting| is_open(setting))
    }

    /// Settings with an open gate count with their mean, or their noise would be ranked.
    fn correlation(&self, figure: fn(&StudyFigures) -> f64) -> f64 {
        let ranked = |side: fn(&SettingResult) -> &StudyFigures| {
            let open: Vec<f64> = self.open_gate().map(|setting| figure(side(setting))).collect();
            let of =
                |setting: &SettingResult| if is_open(setting) { mean(&open) } else { figure(side(setting)) };
            self.settings.iter().map(|setting| (of(setting) / REPEAT).round()).collect::<Vec<f64>>()
        };
        rank_correlation(&ranked(|setting| &setting.measured), &ranked(|setting| &setting.simulated))
    }
}

fn rounded(score: f64) -> f64 {
    (score * 1e9).round() / 1e9
}

fn is_open(setting: &SettingResult) -> bool {
    setting.measured.deferrals <= OPEN_DEFERRALS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_error_and_rank_count_by_its_gate() {
        let setting = |gain: f64, simulated_gain: f64, deferrals: f64| {
            let figures = |throughput_gain, deferrals| StudyFigures {
                throughput_gain,
                slowdown_mean: 1.0,
                slowdown_worst: throughput_gain,
                deferrals,
            };
            SettingResult {
                thresholds: [0.5; 3],
                measured: figures(gain, deferrals),
                simulated: figures(simulated_gain, deferrals),
            }
        };
        // The two open gates are in another order than measured, and count with their means.
        let settings = vec![
            setting(2.0, 2.2, 0.0),
            setting(2.1, 2.0, 3.0),
            setting(1.0, 1.1, 9.0),
            setting(1.5, 1.5, 6.0),
        ];
        let study = ThresholdStudy { settings };
        assert!((study.gain_rank_correlation() - 1.0).abs() < 1e-12);
        assert!((study.gain_mae_pct() - (10.0 + 100.0 / 21.0 + 10.0) / 4.0).abs() < 1e-9);
        // A tenth counts as 1, and 0 as 0: deferrals are right, and the open gates count for nothing.
        assert_eq!(study.sound_score(), 0.5);
        assert_eq!(study.open_gate().count(), 2);
    }
}
