use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Aggregate, Scope, ValidatedHeadline};
use crate::error::{Result, did_you_mean, input_error};
use crate::experiment::reproduction::exceeds;
use crate::metrics::Summary;

/// What a validation is held to: limits of an evaluation file's `[validate]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Largest difference of each headline reduction from the measured one, in percentage points.
    pub headline_difference_points: Option<f64>,
    /// By the names of [`Summary::figures`](crate::metrics::Summary::figures).
    #[serde(default)]
    pub figures: BTreeMap<String, FigureLimits>,
}

impl Targets {
    /// Whether there is any limit.
    pub fn has_limits(&self) -> bool {
        self.headline_difference_points.is_some()
            || self.figures.values().any(|limits| *limits != FigureLimits::default())
    }
}

/// Limits of a figure over all runs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureLimits {
    /// Largest mean and largest single absolute error of the medians, in percent.
    pub mean_error_pct: Option<f64>,
    pub worst_error_pct: Option<f64>,
    /// The same of differences, in the figure's unit.
    pub mean_difference: Option<f64>,
    pub worst_difference: Option<f64>,
    /// Least share of the runs that are measured inside the 90 % interval.
    pub inside_share: Option<f64>,
    /// Largest median width of that interval, in percent of the median.
    pub width_median_pct: Option<f64>,
}

/// A limit and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The figure, or the headline reduction.
    pub subject: String,
    /// Key of the limit.
    pub criterion: &'static str,
    pub limit: f64,
    /// `None` where it was not measured, or cannot be worked out.
    pub value: Option<f64>,
    /// Trace and policy of the run that the value is of, where it is of one.
    pub run: Option<(String, String)>,
    pub status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Met,
    Missed,
    /// The measured results lack the figure.
    NotMeasured,
}

const INSIDE_SHARE: &str = "inside_share";

impl Targets {
    /// Refuses limits that nothing can be held to: on what no run has, or out of range.
    pub(in crate::experiment) fn check_limits(&self, source: &str) -> Result<()> {
        let known = Summary::figure_names();
        if let Some(name) = self.figures.keys().find(|name| !known.contains(name)) {
            return Err(input_error!(
                "{source}, key validate.figures.{name}: no run has this figure; {}docs/formats.md lists those of a summary",
                did_you_mean(name, known.iter().map(String::as_str))
            ));
        }
        let headline =
            self.headline_difference_points.map(|limit| ("headline_difference_points".to_owned(), limit));
        let figures = self.figures.iter().flat_map(|(name, limits)| {
            let limits = limits.entries().into_iter();
            limits.filter_map(move |(key, limit)| Some((format!("figures.{name}.{key}"), limit?)))
        });
        for (key, limit) in headline.into_iter().chain(figures) {
            let most = if key.ends_with(INSIDE_SHARE) { 1.0 } else { 1e12 };
            if !(0.0..=most).contains(&limit) {
                return Err(input_error!(
                    "{source}, key validate.{key}: found {limit}; expected a number from 0 to {most}"
                ));
            }
        }
        Ok(())
    }

    /// Holds results against the limits: figures in the order of the aggregates, those that were not measured, headline.
    pub(super) fn compare(&self, aggregates: &[Aggregate], headline: &[ValidatedHeadline]) -> Vec<Target> {
        let all = || aggregates.iter().filter(|aggregate| aggregate.scope == Scope::All);
        let mut targets = Vec::new();
        for aggregate in all() {
            if let Some(limits) = self.figures.get(&aggregate.figure) {
                targets.extend(limits.compare(&aggregate.figure, Some(aggregate)));
            }
        }
        for (name, limits) in &self.figures {
            if all().all(|aggregate| aggregate.figure != *name) {
                targets.extend(limits.compare(name, None));
            }
        }
        if let Some(limit) = self.headline_difference_points {
            targets.extend(headline.iter().map(|reduction| {
                let difference = (reduction.simulated_pct.median - reduction.measured_pct).abs();
                let subject = format!("makespan reduction vs {}", reduction.against);
                Target::new(subject, "headline_difference_points", limit, Some((difference, None)), true)
            }));
        }
        targets
    }
}

type Value = (f64, Option<(String, String)>);

impl FigureLimits {
    fn entries(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("mean_error_pct", self.mean_error_pct),
            ("worst_error_pct", self.worst_error_pct),
            ("mean_difference", self.mean_difference),
            ("worst_difference", self.worst_difference),
            (INSIDE_SHARE, self.inside_share),
            ("width_median_pct", self.width_median_pct),
        ]
    }

    fn compare(&self, figure: &str, aggregate: Option<&Aggregate>) -> Vec<Target> {
        let value = |criterion: &str, aggregate: &Aggregate| -> Option<Value> {
            let error_pct = aggregate.error_pct.as_ref();
            let difference = &aggregate.difference;
            match criterion {
                "mean_error_pct" => error_pct.map(|errors| (errors.mean_absolute, None)),
                "worst_error_pct" => {
                    error_pct.map(|errors| (errors.worst.abs(), Some(errors.worst_run.clone())))
                }
                "mean_difference" => Some((difference.mean_absolute, None)),
                "worst_difference" => Some((difference.worst.abs(), Some(difference.worst_run.clone()))),
                INSIDE_SHARE => Some((aggregate.inside_share, None)),
                _ => aggregate.width_median_pct.map(|width| (width, None)),
            }
        };
        let limits = self.entries().into_iter().filter_map(|(criterion, limit)| Some((criterion, limit?)));
        limits
            .map(|(criterion, limit)| {
                let value = aggregate.and_then(|aggregate| value(criterion, aggregate));
                Target::new(figure.to_owned(), criterion, limit, value, aggregate.is_some())
            })
            .collect()
    }
}

impl Target {
    fn new(
        subject: String,
        criterion: &'static str,
        limit: f64,
        value: Option<Value>,
        measured: bool,
    ) -> Target {
        let (value, run) = value.map_or((None, None), |(value, run)| (Some(value), run));
        // One that cannot be worked out is missed.
        let found = value.unwrap_or(f64::NAN);
        let missed = match criterion {
            INSIDE_SHARE => exceeds(limit, found),
            _ => exceeds(found, limit),
        };
        let status = match (measured, missed) {
            (false, _) => Status::NotMeasured,
            (true, true) => Status::Missed,
            (true, false) => Status::Met,
        };
        Target { subject, criterion, limit, value, run, status }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Target { subject, criterion, limit, value, run, .. } = self;
        let bound = if *criterion == INSIDE_SHARE { "at least" } else { "at most" };
        match value {
            Some(value) => write!(f, "{subject}: {criterion} is {value:.3}")?,
            None => write!(f, "{subject}: {criterion} cannot be worked out")?,
        }
        if let Some((trace, policy)) = run {
            write!(f, " ({policy} on {trace})")?;
        }
        write!(f, ", expected {bound} {limit}")
    }
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Met => "met",
            Status::Missed => "missed",
            Status::NotMeasured => "not measured",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::validation::Errors;

    #[test]
    fn limits_are_met_missed_or_not_measured() {
        let limits = "headline_difference_points = 1.0\n[figures]\n\
            makespan_s = { mean_error_pct = 2.0, worst_error_pct = 2.5, inside_share = 0.9, width_median_pct = 3.0 }\n\
            nothing_j = { mean_error_pct = 1.0 }";
        let targets: Targets = toml::from_str(limits).unwrap();
        let errors = Errors { mean_absolute: 2.0, worst: -2.6, worst_run: ("t".into(), "p".into()) };
        let aggregate = Aggregate {
            scope: Scope::All,
            figure: "makespan_s".into(),
            runs: 2,
            error_pct: Some(errors.clone()),
            difference: errors,
            inside_share: 0.89,
            width_median_pct: None,
        };
        let found = targets.compare(&[aggregate], &[]);
        let statuses: Vec<_> = found.iter().map(|target| (target.criterion, target.status)).collect();
        assert_eq!(
            statuses,
            [
                ("mean_error_pct", Status::Met),
                ("worst_error_pct", Status::Missed),
                ("inside_share", Status::Missed),
                ("width_median_pct", Status::Missed),
                ("mean_error_pct", Status::NotMeasured),
            ]
        );
        assert_eq!(
            found[1].to_string(),
            "makespan_s: worst_error_pct is 2.600 (p on t), expected at most 2.5"
        );
    }

    #[test]
    fn limits_out_of_range_and_unknown_figures_are_refused() {
        for (limits, says) in [
            ("headline_difference_points = -1.0", "key validate.headline_difference_points: found -1"),
            (
                "figures.energy_j.inside_share = 1.5",
                "key validate.figures.energy_j.inside_share: found 1.5; expected a number from 0 to 1",
            ),
            (
                "figures.energy_j.mean_error_pct = nan",
                "key validate.figures.energy_j.mean_error_pct: found NaN",
            ),
            (
                "figures.makespan.mean_error_pct = 1.0",
                "key validate.figures.makespan: no run has this figure; did you mean makespan_s",
            ),
        ] {
            let targets: Targets = toml::from_str(limits).unwrap();
            let message = targets.check_limits("e.toml").unwrap_err().to_string();
            assert!(message.starts_with(&format!("e.toml, {says}")), "{message}");
        }
    }
}
