use super::replay::Replay;
use crate::experiment::error_pct;
use crate::metrics::quantile_of_sorted;
use crate::policy::PolicySpec;

/// A measured run beside its simulated ones.
#[derive(Debug, Clone)]
pub struct ValidatedRun {
    pub trace: String,
    pub policy: PolicySpec,
    /// The condition of the simulated runs, as the parameter of that name.
    pub telemetry_blind_gpu: String,
    /// What was measured and a summary has, in the order of the summary's figures.
    pub figures: Vec<ValidatedFigure>,
    /// `None` where the run's jobs were not measured.
    pub jobs: Option<ValidatedJobs>,
}

/// Median and 90 % interval over seeds: from the 5th to the 95th percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub median: f64,
    pub p5: f64,
    pub p95: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ValidatedFigure {
    /// As in [`Summary::figures`](crate::metrics::Summary::figures).
    pub name: String,
    /// A number of things, whose error is a difference.
    pub is_count: bool,
    pub measured: f64,
    pub simulated: Interval,
}

/// The jobs of a run.
#[derive(Debug, Clone)]
pub struct ValidatedJobs {
    /// In the order of submission.
    pub jobs: Vec<ValidatedJob>,
    /// The distribution of a run: of the shortest completion times over seeds the median, of the second shortest, and
    /// so on. As many as completed under every seed.
    pub ordered_jcts_s: Vec<f64>,
}

/// Completion time of a job; `None` where it did not complete, under any seed.
#[derive(Debug, Clone)]
pub struct ValidatedJob {
    pub job_id: String,
    pub measured_jct_s: Option<f64>,
    pub simulated_jct_s: Option<Interval>,
}

impl Interval {
    pub fn of(mut values: Vec<f64>) -> Interval {
        values.sort_by(f64::total_cmp);
        let quantile = |q| quantile_of_sorted(&values, q);
        Interval { median: quantile(0.5), p5: quantile(0.05), p95: quantile(0.95) }
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.p5..=self.p95).contains(&value)
    }

    /// Of the median; `None` where that is 0.
    pub fn width_pct(&self) -> Option<f64> {
        (self.median != 0.0).then(|| 100.0 * (self.p95 - self.p5) / self.median)
    }
}

impl ValidatedFigure {
    /// Simulated median less measured, in the figure's unit.
    pub fn difference(&self) -> f64 {
        self.simulated.median - self.measured
    }

    /// Error of the median in percent; `None` for counts, and where nothing was measured.
    pub fn error_pct(&self) -> Option<f64> {
        if self.is_count { None } else { error_pct(self.simulated.median, self.measured) }
    }

    pub fn is_inside(&self) -> bool {
        self.simulated.contains(self.measured)
    }
}

impl ValidatedJob {
    /// Measured and simulated; `None` where either is missing.
    pub fn both_jcts_s(&self) -> Option<(f64, Interval)> {
        self.measured_jct_s.zip(self.simulated_jct_s)
    }
}

impl ValidatedRun {
    pub(super) fn of(replay: &Replay<'_>, run: usize) -> ValidatedRun {
        let measured = replay.measured(run);
        let idle_w = replay.world(run).idle_w();
        let over_seeds =
            |name: &str| (0..replay.seeds()).map(|seed| replay.figure(run, seed, name)).collect();
        let figures = replay.names().iter().filter_map(|(name, is_count)| {
            Some(ValidatedFigure {
                name: name.clone(),
                is_count: *is_count,
                measured: measured.figure_over_makespan(name, idle_w)?,
                simulated: Interval::of(over_seeds(name)),
            })
        });
        ValidatedRun {
            trace: measured.trace.clone(),
            policy: measured.policy.clone(),
            telemetry_blind_gpu: measured.telemetry.over_seeds().to_owned(),
            figures: figures.collect(),
            jobs: replay.measured_jcts_s(run).map(|measured| ValidatedJobs::of(replay, run, measured)),
        }
    }

    pub fn figure(&self, name: &str) -> Option<&ValidatedFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

impl ValidatedJobs {
    fn of(replay: &Replay<'_>, run: usize, measured_jcts_s: &[Option<f64>]) -> ValidatedJobs {
        let jobs = replay.world(run).jobs.iter().zip(measured_jcts_s).enumerate();
        let jobs = jobs.map(|(index, (job, measured_jct_s))| {
            let completed: Vec<f64> =
                replay.jcts_s(run).map(|jcts_s| jcts_s[index]).filter(|jct_s| !jct_s.is_nan()).collect();
            ValidatedJob {
                job_id: job.id.clone(),
                measured_jct_s: *measured_jct_s,
                simulated_jct_s: (!completed.is_empty()).then(|| Interval::of(completed)),
            }
        });
        let sorted = |jcts_s: &[f64]| {
            let mut sorted: Vec<f64> = jcts_s.iter().copied().filter(|jct_s| !jct_s.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        let by_seed: Vec<Vec<f64>> = replay.jcts_s(run).map(sorted).collect();
        let ranks = by_seed.iter().map(Vec::len).min().unwrap_or(0);
        let median = |rank: usize| Interval::of(by_seed.iter().map(|jcts_s| jcts_s[rank]).collect()).median;
        ValidatedJobs { jobs: jobs.collect(), ordered_jcts_s: (0..ranks).map(median).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_percent_and_of_counts_differences() {
        let figure = |is_count, measured| ValidatedFigure {
            name: "x".into(),
            is_count,
            measured,
            simulated: Interval::of((0..=20).map(f64::from).collect()),
        };
        let real = figure(false, 8.0);
        assert_eq!(real.simulated, Interval { median: 10.0, p5: 1.0, p95: 19.0 });
        assert_eq!((real.error_pct(), real.difference(), real.is_inside()), (Some(25.0), 2.0, true));
        assert_eq!(real.simulated.width_pct(), Some(180.0));
        assert_eq!((figure(true, 8.0).error_pct(), figure(false, 0.0).error_pct()), (None, None));
        assert!(figure(true, 1.0).is_inside() && !figure(true, 0.5).is_inside());
    }
}
