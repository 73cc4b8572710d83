use super::candidates::Candidate;
use super::goal::{Bound, Goal};
use super::halving::Plan;
use super::sample::{Sample, over_traces_name};
use super::search::Request;
use crate::experiment::sweep::{Estimate, Metric, Resamples};
use crate::workload::Trace;

/// What a search came to.
#[derive(Debug, Clone)]
pub struct Tuned {
    pub request: Request,
    pub plan: Plan,
    /// Runs done, those on held-out data included.
    pub runs: usize,
    pub parameters: Vec<TunedParameter>,
    /// By stage, then metric (the objective first), then trace and, with several, over all of them.
    pub compared: Vec<Compared>,
    pub verdict: Verdict,
}

/// A searched parameter, values as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunedParameter {
    pub key: String,
    pub default: String,
    /// Of the candidate that was best in training.
    pub best: String,
}

/// On which runs figures were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Those by which the best candidate was chosen: its figures are too good on average.
    Training,
    HeldOut,
}

/// A metric of the defaults and of the best candidate: means over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub stage: Stage,
    /// Its name, or that of the mean over all.
    pub trace: String,
    pub metric: Metric,
    pub at_most: Option<f64>,
    pub defaults: f64,
    pub best: f64,
    /// Best less defaults, seed by seed, in the metric's unit.
    pub difference: Estimate,
    /// The same in percent of the defaults' mean; NaN where that is 0.
    pub difference_pct: Estimate,
    is_objective: bool,
}

/// What to do with the best candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Take it: better than the defaults on held-out data, under all bounds. Clear where the interval says so too.
    Better { clear: bool },
    /// Take it: on held-out data the defaults break a bound, and it breaks none, though its objective is not clearly better.
    KeepsBounds,
    /// In training no candidate was better than the defaults.
    DefaultsBest,
    /// The best in training is no better on held-out data.
    NotBetter,
    /// The best in training breaks a bound on held-out data.
    BreaksBound(Miss),
    /// No candidate keeps the bounds in training; this is what the nearest breaks most.
    NoneKeepsBounds(Miss),
}

/// A bound that is broken.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    pub bound: Bound,
    pub trace: String,
    pub value: f64,
}

impl Verdict {
    /// Whether there are parameters to take in place of the defaults.
    pub fn recommends(&self) -> bool {
        matches!(self, Verdict::Better { .. } | Verdict::KeepsBounds)
    }

    /// In one word, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Better { clear: true } => "better",
            Verdict::Better { clear: false } => "not_clearly_better",
            Verdict::KeepsBounds => "keeps_bounds",
            Verdict::DefaultsBest => "defaults_best",
            Verdict::NotBetter => "not_better",
            Verdict::BreaksBound(_) => "breaks_bound",
            Verdict::NoneKeepsBounds(_) => "none_keeps_bounds",
        }
    }
}

impl Tuned {
    pub(super) fn new(
        request: &Request,
        plan: &Plan,
        runs: usize,
        (defaults, best): (&Candidate, &Candidate),
        compared: Vec<Compared>,
        verdict: Verdict,
    ) -> Tuned {
        let pairs = defaults.values.iter().zip(&best.values);
        let parameters = pairs.map(|((key, default), (_, best))| TunedParameter {
            key: key.clone(),
            default: default.clone(),
            best: best.clone(),
        });
        let parameters = parameters.collect();
        Tuned { request: request.clone(), plan: plan.clone(), runs, parameters, compared, verdict }
    }

    /// The objective over all traces.
    pub fn objective(&self, stage: Stage) -> Option<&Compared> {
        Compared::objective(&self.compared, stage)
    }

    /// First and last held-out seed.
    pub fn held_out_seeds(&self) -> (u64, u64) {
        let training = self.request.training_seeds;
        (training + 1, training + self.request.held_out_seeds)
    }
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Training => "training",
            Stage::HeldOut => "held_out",
        }
    }
}

impl Compared {
    pub(super) fn all(
        stage: Stage,
        goal: &Goal,
        traces: &[Trace],
        defaults: &Sample,
        best: &Sample,
    ) -> Vec<Compared> {
        let resamples = Resamples::new(defaults.seeds());
        let of = |figure: usize, metric: &Metric, at_most: Option<f64>| {
            let compared =
                |trace: &str, values: &dyn Fn(&Sample) -> Vec<f64>, mean: &dyn Fn(&Sample) -> f64| {
                    let pairs = || values(best).into_iter().zip(values(defaults));
                    let differences: Vec<f64> = pairs().map(|(best, default)| best - default).collect();
                    let difference = resamples.estimate(&differences);
                    let defaults_mean = mean(defaults);
                    let percent = |value: f64| match defaults_mean == 0.0 {
                        true => f64::NAN,
                        false => 100.0 * value / defaults_mean,
                    };
                    Compared {
                        stage,
                        trace: trace.to_owned(),
                        metric: metric.clone(),
                        at_most,
                        defaults: defaults_mean,
                        best: mean(best),
                        difference,
                        difference_pct: difference.map(percent),
                        is_objective: figure == 0,
                    }
                };
            let mut rows: Vec<Compared> = (0..traces.len())
                .map(|trace| {
                    compared(&traces[trace].name, &|sample| sample.values(trace, figure), &|sample| {
                        sample.mean(trace, figure)
                    })
                })
                .collect();
            if traces.len() > 1 {
                rows.push(compared(
                    over_traces_name(metric),
                    &|sample| sample.values_over_traces(figure, metric),
                    &|sample| sample.mean_over_traces(figure, metric),
                ));
            }
            rows
        };
        let objective = of(0, &goal.objective, None);
        let bounds = goal.bounds.iter().enumerate();
        let bounds = bounds.flat_map(|(bound, of_bound)| {
            of(Goal::figure_of_bound(bound), &of_bound.metric, Some(of_bound.at_most))
        });
        objective.into_iter().chain(bounds).collect()
    }

    /// The objective over all traces: the last of its rows.
    pub(super) fn objective(compared: &[Compared], stage: Stage) -> Option<&Compared> {
        compared.iter().rfind(|compared| compared.is_objective && compared.stage == stage)
    }

    /// By how much it is less than under the defaults: above 0 where it is better.
    pub(super) fn gain(&self) -> f64 {
        -match self.difference_pct.mean.is_nan() {
            true => self.difference.mean,
            false => self.difference_pct.mean,
        }
    }
}
