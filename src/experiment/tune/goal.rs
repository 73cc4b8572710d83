use std::cmp::Ordering;

use super::sample::Sample;
use crate::error::{Result, input_error};
use crate::experiment::sweep::{Better, Metric, Resamples};

/// What is to become least, and the bounds on the way there.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    pub objective: Metric,
    pub bounds: Vec<Bound>,
}

/// On every trace the mean of a metric over seeds must be at most this, in the metric's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub metric: Metric,
    pub at_most: f64,
}

/// How good a setting is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// By how much it breaks the bound that it breaks most, as a fraction of the bound; 0 where it keeps all.
    pub violation: f64,
    /// In the objective's unit, over all traces.
    pub objective: f64,
}

impl Goal {
    /// From the name of a metric, and bounds such as `slowdown_p95=2.5`.
    ///
    /// # Errors
    /// Unknown metrics, with the nearest names, an objective of which less is not better, and bounds that are no numbers.
    pub fn parse(objective: &str, bounds: &[String]) -> Result<Goal> {
        let objective = metric("--objective", objective)?;
        if objective.better() != Better::Lower {
            return Err(input_error!(
                "--objective {}: less of it is not better; take one such as makespan_s, jct_mean_s, slowdown_mean or energy_j",
                objective.name
            ));
        }
        let mut parsed: Vec<Bound> = Vec::with_capacity(bounds.len());
        for text in bounds {
            let bound = Bound::parse(text)?;
            if parsed.iter().any(|other| other.metric == bound.metric) {
                return Err(input_error!("--max {}: is given twice; remove one", bound.metric.name));
            }
            parsed.push(bound);
        }
        Ok(Goal { objective, bounds: parsed })
    }

    /// The columns that it is worked out from: the objective, each bound, and jobs given up.
    pub(super) fn figures(&self) -> Vec<String> {
        let bounds = self.bounds.iter().map(|bound| bound.metric.figure.clone());
        [self.objective.figure.clone()]
            .into_iter()
            .chain(bounds)
            .chain(["given_up_jobs".to_owned()])
            .collect()
    }

    /// Where a bound's metric stands among [`Goal::figures`].
    pub(super) fn figure_of_bound(bound: usize) -> usize {
        bound + 1
    }

    /// Judges a setting by runs of it beside runs of the defaults on the same traces under the same seeds.
    pub(super) fn score(&self, sample: &Sample, defaults: &Sample) -> Score {
        let given_up = self.bounds.len() + 1;
        let objective = sample.mean_over_traces(0, &self.objective);
        // Less work is no gain.
        let does_less = |trace| sample.mean(trace, given_up) > defaults.mean(trace, given_up);
        let violation = if objective.is_nan() || (0..sample.traces()).any(does_less) {
            f64::INFINITY
        } else {
            self.worst(sample).map_or(0.0, |(violation, ..)| violation)
        };
        Score { violation, objective }
    }

    /// Whether the 95 % intervals of its means lie within the bounds: the mean of a setting that was chosen as the best
    /// within them is a little too good, and could break them under other seeds.
    pub(super) fn keeps_with_room(&self, sample: &Sample, resamples: &Resamples) -> bool {
        let high =
            |bound, trace| resamples.estimate(&sample.values(trace, Self::figure_of_bound(bound))).high;
        self.bounds.iter().enumerate().all(|(index, bound)| {
            (0..sample.traces()).all(|trace| bound.violation(high(index, trace)) == 0.0)
        })
    }

    /// The bound that is broken most: by how much, which one and on which trace; `None` where all are kept.
    pub(super) fn worst(&self, sample: &Sample) -> Option<(f64, usize, usize)> {
        let pairs =
            (0..self.bounds.len()).flat_map(|bound| (0..sample.traces()).map(move |trace| (bound, trace)));
        let broken = pairs.filter_map(|(bound, trace)| {
            let violation = self.bounds[bound].violation(sample.mean(trace, Self::figure_of_bound(bound)));
            (violation > 0.0).then_some((violation, bound, trace))
        });
        // Of equals the first.
        broken.reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
    }
}

impl Bound {
    fn parse(text: &str) -> Result<Bound> {
        let (name, at_most) = text.split_once('=').ok_or_else(|| {
            input_error!("--max {text:?}: expected METRIC=BOUND, such as --max slowdown_p95=2.5")
        })?;
        let metric = metric("--max", name.trim())?;
        if metric.better() == Better::Higher {
            return Err(input_error!("--max {text}: more of it is better, and a bound from above is none"));
        }
        let number: Option<f64> = at_most.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let at_most = number.filter(|number| *number >= 0.0).ok_or_else(|| {
            input_error!("--max {text}: found {:?}; expected a finite number from 0", at_most.trim())
        })?;
        Ok(Bound { metric, at_most })
    }

    /// 0 where it is kept. A bound of 0 has no fractions: there it is the value itself.
    fn violation(&self, value: f64) -> f64 {
        if value <= self.at_most {
            0.0
        } else if value.is_nan() {
            f64::INFINITY
        } else {
            (value - self.at_most) / if self.at_most > 0.0 { self.at_most } else { 1.0 }
        }
    }
}

fn metric(option: &str, name: &str) -> Result<Metric> {
    if name.ends_with("_vs_baseline") {
        return Err(input_error!(
            "{option} {name}: there is no baseline here; take a metric of the runs themselves"
        ));
    }
    Metric::find(name, false).map_err(|problem| input_error!("{option}: {problem}"))
}

impl Score {
    pub fn keeps_bounds(&self) -> bool {
        self.violation == 0.0
    }

    /// Better first: those that keep the bounds by objective, then the others by how much they miss.
    pub fn rank(&self, other: &Score) -> Ordering {
        self.violation.total_cmp(&other.violation).then(self.objective.total_cmp(&other.objective))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One trace, one seed per row of objective, bounded metric and jobs given up.
    fn sample(rows: &[[f64; 3]]) -> Sample {
        Sample::of(vec![rows.iter().map(|row| row.to_vec()).collect()])
    }

    fn goal(bound: &str) -> Goal {
        Goal::parse("makespan_s", &[bound.to_owned()]).unwrap()
    }

    #[test]
    fn those_that_keep_the_bounds_come_first() {
        let (goal, defaults) = (goal("slowdown_p95=2"), sample(&[[100.0, 1.0, 0.0]]));
        let score = |rows: &[[f64; 3]]| goal.score(&sample(rows), &defaults);
        let slow = score(&[[300.0, 2.0, 0.0]]);
        let fast = score(&[[200.0, 1.0, 0.0]]);
        let misses = score(&[[50.0, 2.5, 0.0]]);
        let misses_more = score(&[[10.0, 3.0, 0.0]]);
        let does_less = score(&[[5.0, 1.0, 1.0]]);
        assert!(slow.keeps_bounds() && (misses.violation, misses_more.violation) == (0.25, 0.5));
        let mut all = [does_less, misses_more, slow, misses, fast];
        all.sort_by(Score::rank);
        assert_eq!(all, [fast, slow, misses, misses_more, does_less]);
        // The mean over seeds counts.
        assert!(score(&[[1.0, 3.0, 0.0], [1.0, 1.0, 0.0]]).keeps_bounds());
        assert!(!score(&[[f64::NAN, 1.0, 0.0]]).keeps_bounds());
    }

    #[test]
    fn room_is_for_the_whole_interval() {
        let goal = goal("slowdown_p95=2");
        let room = |slowdowns: [f64; 4]| {
            let rows = slowdowns.map(|slowdown| [1.0, slowdown, 0.0]);
            goal.keeps_with_room(&sample(&rows), &Resamples::new(4))
        };
        assert!(room([1.9, 1.8, 1.9, 1.8]) && room([2.0; 4]));
        assert!(!room([1.9, 1.0, 1.9, 3.0]) && !room([2.1; 4]));
    }

    #[test]
    fn every_trace_must_keep_a_bound() {
        let goal = goal("failed_attempts=0");
        let traces = |failed: [f64; 2]| {
            Sample::of(failed.iter().map(|failed| vec![vec![1.0, *failed, 0.0]]).collect())
        };
        assert!(goal.score(&traces([0.0, 0.0]), &traces([0.0, 0.0])).keeps_bounds());
        assert_eq!(goal.worst(&traces([0.0, 3.0])), Some((3.0, 0, 1)));
        assert_eq!(goal.worst(&traces([3.0, 3.0])), Some((3.0, 0, 0)));
    }

    #[test]
    fn mistakes_are_named() {
        for (objective, bounds, says) in [
            ("makespan", &[][..], "--objective: unknown metric \"makespan\": did you mean makespan_s"),
            ("completed_jobs", &[], "less of it is not better"),
            ("makespan_s_vs_baseline", &[], "no baseline"),
            ("makespan_s", &["slowdown_p59=2"], "did you mean slowdown_p95"),
            ("makespan_s", &["slowdown_p95"], "expected METRIC=BOUND"),
            ("makespan_s", &["slowdown_p95=fast"], "found \"fast\"; expected a finite number from 0"),
            ("makespan_s", &["slowdown_p95=-1"], "found \"-1\""),
            ("makespan_s", &["slowdown_p95=2", "slowdown_p95=3"], "is given twice"),
        ] {
            let bounds: Vec<String> = bounds.iter().map(|bound| (*bound).to_owned()).collect();
            let message = Goal::parse(objective, &bounds).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
