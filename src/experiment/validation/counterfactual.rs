use super::replay::Replay;
use super::{Interval, Reference};
use crate::experiment::reproduction::reduction_pct;
use crate::metrics::mean;
use crate::policy::PolicySpec;

/// The measured runs under their own telemetry conditions, and with sound telemetry on all GPUs, over the same seeds.
#[derive(Debug, Clone)]
pub struct Counterfactual {
    /// In the order of the reference.
    pub runs: Vec<CounterfactualRun>,
    /// Of makespan, then of mean JCT, of the headline policy against each of the others.
    pub reductions: Vec<ReductionChange>,
    /// Of every policy that has a run which sound telemetry changes.
    pub slowdowns: Vec<SlowdownChange>,
}

#[derive(Debug, Clone)]
pub struct CounterfactualRun {
    pub trace: String,
    pub policy: PolicySpec,
    /// Whether a GPU was blind in the measured run.
    pub blind: bool,
    /// Whether some job ends at another time with sound telemetry, under any seed.
    pub affected: bool,
    /// Every figure by its name.
    pub figures: Vec<(String, Change)>,
}

/// By how much less the geometric mean of a figure over the traces is than another policy's, in percent.
#[derive(Debug, Clone)]
pub struct ReductionChange {
    pub figure: &'static str,
    pub policy: PolicySpec,
    pub against: PolicySpec,
    pub measured_pct: f64,
    pub change: Change,
}

/// Means over a policy's traces.
#[derive(Debug, Clone)]
pub struct SlowdownChange {
    pub policy: PolicySpec,
    pub mean: Change,
    pub p95: Change,
}

/// A figure under both conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub as_measured: Interval,
    pub sound: Interval,
    /// As measured less sound, of runs under the same seed: what the blind GPU added.
    pub difference: Difference,
}

/// Differences between pairs of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub mean: f64,
    /// 90 % confidence interval of the mean by the normal approximation; NaN of a single pair.
    pub low: f64,
    pub high: f64,
    /// What single pairs show.
    pub over_seeds: Interval,
}

/// What the confidence interval of a mean difference says of its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Higher,
    Lower,
    /// The interval includes 0.
    Unclear,
}

/// Standard errors to either side of a mean that 90 % of means keep to.
const STANDARD_ERRORS: f64 = 1.645;
const REDUCED: [&str; 2] = ["makespan_s", "jct_mean_s"];

impl Counterfactual {
    /// Of two replays of the reference under the same seeds.
    pub(super) fn of(reference: &Reference, as_measured: &Replay<'_>, sound: &Replay<'_>) -> Counterfactual {
        let replays = Replays { reference, as_measured, sound };
        let runs: Vec<CounterfactualRun> =
            (0..reference.runs.len()).map(|index| replays.run(index)).collect();
        let mut policies: Vec<&PolicySpec> = Vec::new();
        for run in runs.iter().filter(|run| run.affected) {
            if !policies.contains(&&run.policy) {
                policies.push(&run.policy);
            }
        }
        let slowdowns = policies.into_iter().map(|policy| replays.slowdown(policy)).collect();
        Counterfactual { reductions: replays.reductions(), slowdowns, runs }
    }
}

struct Replays<'a> {
    reference: &'a Reference,
    as_measured: &'a Replay<'a>,
    sound: &'a Replay<'a>,
}

impl Replays<'_> {
    fn run(&self, index: usize) -> CounterfactualRun {
        let measured = self.as_measured.measured(index);
        let bits = |jcts_s: &[f64]| jcts_s.iter().map(|jct_s| jct_s.to_bits()).collect::<Vec<_>>();
        let mut pairs = self.as_measured.jcts_s(index).zip(self.sound.jcts_s(index));
        let figures =
            self.as_measured.names().iter().map(|(name, _)| {
                (name.clone(), self.change(&|replay, seed| replay.figure(index, seed, name)))
            });
        CounterfactualRun {
            trace: measured.trace.clone(),
            policy: measured.policy.clone(),
            blind: measured.telemetry.over_seeds() != super::SOUND,
            affected: pairs.any(|(as_measured, sound)| bits(as_measured) != bits(sound)),
            figures: figures.collect(),
        }
    }

    fn reductions(&self) -> Vec<ReductionChange> {
        let Some(headline) = &self.reference.headline else { return Vec::new() };
        let of_figure = |figure: &'static str| {
            headline.against.iter().map(move |against| {
                let reduction = |value: &dyn Fn(usize) -> f64| {
                    let values = |policy| self.runs_of(policy).into_iter().map(value).collect::<Vec<_>>();
                    reduction_pct(&values(&headline.policy), &values(against))
                };
                let measured = |index: usize| self.as_measured.measured(index).figure(figure);
                ReductionChange {
                    figure,
                    policy: headline.policy.clone(),
                    against: against.clone(),
                    measured_pct: reduction(&|index| measured(index).unwrap_or(f64::NAN)),
                    change: self
                        .change(&|replay, seed| reduction(&|index| replay.figure(index, seed, figure))),
                }
            })
        };
        REDUCED.into_iter().flat_map(of_figure).collect()
    }

    fn slowdown(&self, policy: &PolicySpec) -> SlowdownChange {
        let runs = self.runs_of(policy);
        let over_traces = |figure: &str| {
            self.change(&|replay, seed| {
                mean(&runs.iter().map(|&run| replay.figure(run, seed, figure)).collect::<Vec<_>>())
            })
        };
        SlowdownChange {
            policy: policy.clone(),
            mean: over_traces("slowdown_mean"),
            p95: over_traces("slowdown_p95"),
        }
    }

    fn runs_of(&self, policy: &PolicySpec) -> Vec<usize> {
        let runs = self.reference.runs.iter().enumerate();
        runs.filter(|(_, (_, run))| run.policy == *policy).map(|(index, _)| index).collect()
    }

    fn change(&self, value: &dyn Fn(&Replay<'_>, usize) -> f64) -> Change {
        let over_seeds =
            |replay| (0..self.as_measured.seeds()).map(|seed| value(replay, seed)).collect::<Vec<f64>>();
        Change::of(over_seeds(self.as_measured), over_seeds(self.sound))
    }
}

impl CounterfactualRun {
    pub fn figure(&self, name: &str) -> Option<&Change> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, change)| change)
    }
}

impl Change {
    fn of(as_measured: Vec<f64>, sound: Vec<f64>) -> Change {
        let differences = as_measured.iter().zip(&sound).map(|(a, b)| a - b).collect();
        Change {
            difference: Difference::of(differences),
            as_measured: Interval::of(as_measured),
            sound: Interval::of(sound),
        }
    }
}

impl Difference {
    fn of(differences: Vec<f64>) -> Difference {
        let centre = mean(&differences);
        let count = differences.len() as f64;
        let variance = differences.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (count - 1.0);
        let margin = STANDARD_ERRORS * (variance / count).sqrt();
        Difference {
            mean: centre,
            low: centre - margin,
            high: centre + margin,
            over_seeds: Interval::of(differences),
        }
    }

    pub fn direction(&self) -> Direction {
        if self.low > 0.0 {
            Direction::Higher
        } else if self.high < 0.0 {
            Direction::Lower
        } else {
            Direction::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_pairs() {
        // Pairs that differ by 1, 2, 3, however far apart they are from each other: 2 +- 1.645 / sqrt(3).
        let change = Change::of(vec![101.0, 12.0, 53.0], vec![100.0, 10.0, 50.0]);
        assert_eq!((change.difference.mean, change.difference.over_seeds.median), (2.0, 2.0));
        assert!((change.difference.high - 2.0 - 1.645 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!((change.as_measured.median, change.sound.median), (53.0, 50.0));
    }

    #[test]
    fn directions_follow_signs_and_are_unclear_about_zero() {
        for (differences, direction) in [
            (vec![1.0, 2.0, 3.0], Direction::Higher),
            (vec![-1.0, -2.0, -3.0], Direction::Lower),
            (vec![-1.0, 2.0, -3.0], Direction::Unclear),
            (vec![0.0, 0.0], Direction::Unclear),
            (vec![5.0], Direction::Unclear),
        ] {
            assert_eq!(Difference::of(differences.clone()).direction(), direction, "{differences:?}");
        }
    }
}
