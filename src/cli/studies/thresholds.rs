//! Which of the three metrics of the pressure filter matters.

use std::path::Path;

use super::study::{Found, LENGTH, Study};
use crate::cli::fidelity::words::names;
use crate::error::Result;
use crate::metrics::mean;
use crate::report::plot::{self, Line, LinePanel, LineSeries, XAxis};

const METRICS: [&str; 3] = ["SMACT", "SMOCC", "DRAMA"];
/// Values that the study crosses with all others; the rest are single settings at the ends.
const CROSSED: [&[&str]; 3] = [
    &["0.5", "0.65", "0.8", "0.9"],
    &["0.2", "0.35", "0.45", "0.55", "0.65"],
    &["0.2", "0.3", "0.4", "0.5", "0.6"],
];

/// A setting of the crossed part, with its thresholds as indices into [`CROSSED`].
struct Crossed {
    setting: usize,
    levels: [usize; 3],
}

pub(super) fn findings(study: &Study<'_>, dir: &Path) -> Result<Found> {
    let crossed = crossed(study);
    let (default, none) = (study.at("thresholds", &[]), study.at("no thresholds", &[]));
    let shares = |metric: &str| {
        let of: Vec<f64> = crossed.iter().map(|crossed| study.mean(metric, crossed.setting)).collect();
        let shares: Vec<String> = METRICS
            .iter()
            .enumerate()
            .map(|(i, name)| format!("the {name} threshold by {:.0} %", 100.0 * explained(&crossed, &of, i)))
            .collect();
        names(&shares)
    };
    let ranked = study.results.ranked(&study.metric("makespan_s"));
    let place = 1 + ranked.iter().position(|(index, ..)| *index == default).unwrap_or(0);
    let (best, ..) = ranked[0];
    let design = study.results.design();
    let (last, ..) = ranked[ranked.len() - 1];
    let described = |setting: usize| design.describe(&design.setting(setting)).replace("_threshold", "");
    let slow = |setting: usize| study.mean("slowdown_mean", setting);
    let sentences = vec![
        format!(
            "Without thresholds makespan is {} than with the default 0.65/0.35/0.50 (SMACT/SMOCC/DRAMA), and mean slowdown {:.2} instead of \
             {:.2}.",
            study.says("makespan_s", none, default, LENGTH),
            slow(none),
            slow(default)
        ),
        format!(
            "The default is number {place} of {} by makespan; the first ({}) is {}, with a mean slowdown of {:.2}, the last ({}) {}, with \
             {:.2}.",
            ranked.len(),
            described(best),
            study.says("makespan_s", best, default, LENGTH),
            slow(best),
            described(last),
            study.says("makespan_s", last, default, LENGTH),
            slow(last)
        ),
        format!(
            "Which metric matters: over the {} settings in which all three vary, the variance of makespan between settings goes back to {}; \
             that of mean slowdown to {}. The rest is in how they act together.",
            crossed.len(),
            shares("makespan_s"),
            shares("slowdown_mean")
        ),
    ];
    let figures = ["makespan_s", "slowdown_mean"].map(|metric| {
        let name = format!("effects_{metric}");
        plot::write(dir, &name, &effects(study, &crossed, metric))?;
        let words = study.metric(metric).words(None);
        Ok((name, format!("{words} over each threshold, means over the settings of the other two")))
    });
    Ok(Found { sentences, figures: figures.into_iter().collect::<Result<_>>()? })
}

fn crossed(study: &Study<'_>) -> Vec<Crossed> {
    let levels = |value: &str| -> Option<[usize; 3]> {
        let parts: Vec<&str> = value.split('/').collect();
        let mut levels = [0; 3];
        for (i, level) in levels.iter_mut().enumerate() {
            *level = CROSSED[i].iter().position(|known| parts.get(i) == Some(known))?;
        }
        Some(levels)
    };
    let values = study.values("thresholds");
    let of = |value: &String| {
        levels(value)
            .map(|levels| Crossed { setting: study.at("thresholds", &[("thresholds", value)]), levels })
    };
    values.iter().filter_map(of).collect()
}

/// The mean of values over the settings with one level of a threshold.
fn level_mean(crossed: &[Crossed], values: &[f64], threshold: usize, level: usize) -> f64 {
    let of_level = crossed.iter().zip(values).filter(|(crossed, _)| crossed.levels[threshold] == level);
    mean(&of_level.map(|(_, value)| *value).collect::<Vec<_>>())
}

/// Share of the variance of values that the means over the levels of one threshold have.
fn explained(crossed: &[Crossed], values: &[f64], threshold: usize) -> f64 {
    let overall = mean(values);
    let square = |value: f64| (value - overall) * (value - overall);
    let between: f64 = crossed
        .iter()
        .map(|crossed_here| square(level_mean(crossed, values, threshold, crossed_here.levels[threshold])))
        .sum();
    between / values.iter().map(|&value| square(value)).sum::<f64>()
}

/// Means over the other two thresholds, against each.
fn effects(study: &Study<'_>, crossed: &[Crossed], metric: &str) -> plot::Figure {
    let mut values: Vec<&str> = CROSSED.concat();
    values.sort_by(|a, b| a.parse::<f64>().unwrap_or(0.0).total_cmp(&b.parse().unwrap_or(0.0)));
    values.dedup();
    let (label, divisor) = study.metric(metric).label(None);
    let traces = study.results.design().traces.iter().enumerate();
    let panels: Vec<LinePanel> = traces
        .map(|(trace, title)| {
            let of: Vec<f64> = crossed
                .iter()
                .map(|crossed| study.trace_mean(metric, crossed.setting, trace) / divisor)
                .collect();
            let line = |threshold: usize| {
                let at = |value: &&str| {
                    let level = CROSSED[threshold].iter().position(|known| known == value);
                    [level.map_or(f64::NAN, |level| level_mean(crossed, &of, threshold, level)); 3]
                };
                Line::Sparse(values.iter().map(at).collect())
            };
            let series = METRICS.iter().enumerate().map(|(threshold, name)| LineSeries {
                name: format!("{name} threshold"),
                line: line(threshold),
            });
            LinePanel { title: title.clone(), label: label.clone(), series: series.collect() }
        })
        .collect();
    let x = XAxis::Numbers {
        label: "threshold (means over the other two)".to_owned(),
        values: values.iter().filter_map(|value| value.parse().ok()).collect(),
        log: false,
        default: None,
    };
    plot::lines(&x, &panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_is_explained_by_what_causes_it() {
        let grid: Vec<Crossed> =
            (0..4).flat_map(|a| (0..5).map(move |b| Crossed { setting: 0, levels: [a, b, 0] })).collect();
        let values: Vec<f64> = grid.iter().map(|crossed| 3.0 * crossed.levels[0] as f64).collect();
        assert!((explained(&grid, &values, 0) - 1.0).abs() < 1e-12);
        assert!(explained(&grid, &values, 1).abs() < 1e-12);
        // Variances 1.25 and 2 of 0..4 and 0..5.
        let both: Vec<f64> =
            grid.iter().map(|crossed| (crossed.levels[0] + crossed.levels[1]) as f64).collect();
        assert!((explained(&grid, &both, 0) - 1.25 / 3.25).abs() < 1e-12);
    }
}
