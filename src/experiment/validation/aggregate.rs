use super::{ValidatedFigure, ValidatedJob, ValidatedRun};
use crate::experiment::error_pct;
use crate::metrics::{mean, quantile_of_sorted, rank_correlation};

/// Over which runs an aggregate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    Policy(String),
    Trace(String),
    /// Trace and policy of one.
    Run(String, String),
}

/// Errors of a figure over runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub scope: Scope,
    pub figure: String,
    /// Runs that have the figure.
    pub runs: usize,
    /// In percent; `None` for counts, and where no run has any.
    pub error_pct: Option<Errors>,
    /// Simulated median less measured, in the figure's unit.
    pub difference: Errors,
    /// Share of the runs that were measured inside the 90 % interval over seeds.
    pub inside_share: f64,
    /// Median width of the interval in percent of the median; `None` where no median differs from 0.
    pub width_median_pct: Option<f64>,
}

/// Errors condensed.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    pub mean_absolute: f64,
    /// The one of largest absolute value, with its sign, and trace and policy of its run.
    pub worst: f64,
    pub worst_run: (String, String),
}

/// Errors of the completion times of jobs: of the median over seeds against measured.
#[derive(Debug, Clone, PartialEq)]
pub struct JobErrors {
    pub scope: Scope,
    /// That completed, measured and simulated.
    pub jobs: usize,
    /// Of absolute errors.
    pub error_median_pct: f64,
    pub error_p90_pct: f64,
    /// Share of the jobs that were measured inside the 90 % interval over seeds.
    pub inside_share: f64,
    /// Spearman's, of the jobs of a run; the mean over the runs of a wider scope.
    pub rank_correlation: f64,
}

impl Scope {
    /// All runs, then each policy and each trace, in the order of the runs.
    fn wide(runs: &[&ValidatedRun]) -> Vec<Scope> {
        let mut scopes = vec![Scope::All];
        let policies = runs.iter().map(|run| Scope::Policy(run.policy.to_string()));
        for scope in policies.chain(runs.iter().map(|run| Scope::Trace(run.trace.clone()))) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        scopes
    }

    fn of_run(run: &ValidatedRun) -> Scope {
        Scope::Run(run.trace.clone(), run.policy.to_string())
    }

    fn has(&self, run: &ValidatedRun) -> bool {
        match self {
            Scope::All => true,
            Scope::Policy(policy) => run.policy.to_string() == *policy,
            Scope::Trace(trace) => run.trace == *trace,
            Scope::Run(trace, policy) => run.trace == *trace && run.policy.to_string() == *policy,
        }
    }
}

impl Aggregate {
    /// By scope, then figure.
    pub(super) fn of(runs: &[ValidatedRun]) -> Vec<Aggregate> {
        let mut names: Vec<&str> = Vec::new();
        for figure in runs.iter().flat_map(|run| &run.figures) {
            if !names.contains(&figure.name.as_str()) {
                names.push(&figure.name);
            }
        }
        let scopes = Scope::wide(&runs.iter().collect::<Vec<_>>());
        let pairs = scopes.iter().flat_map(|scope| names.iter().map(move |name| (scope, *name)));
        pairs.filter_map(|(scope, name)| Self::of_figure(runs, scope, name)).collect()
    }

    fn of_figure(runs: &[ValidatedRun], scope: &Scope, name: &str) -> Option<Aggregate> {
        let cells: Vec<(&ValidatedRun, &ValidatedFigure)> = runs
            .iter()
            .filter(|run| scope.has(run))
            .filter_map(|run| Some((run, run.figure(name)?)))
            .collect();
        let errors = |error: &dyn Fn(&ValidatedFigure) -> Option<f64>| {
            Errors::of(cells.iter().filter_map(|(run, figure)| Some((*run, error(figure)?))).collect())
        };
        let inside = cells.iter().filter(|(_, figure)| figure.is_inside()).count();
        let widths_pct: Vec<f64> =
            cells.iter().filter_map(|(_, figure)| figure.simulated.width_pct()).collect();
        Some(Aggregate {
            scope: scope.clone(),
            figure: name.to_owned(),
            runs: cells.len(),
            error_pct: errors(&ValidatedFigure::error_pct),
            difference: errors(&|figure| Some(figure.difference()))?,
            inside_share: inside as f64 / cells.len() as f64,
            width_median_pct: (!widths_pct.is_empty()).then(|| quantile(widths_pct, 0.5)),
        })
    }
}

impl Errors {
    /// `None` of no errors.
    fn of(errors: Vec<(&ValidatedRun, f64)>) -> Option<Errors> {
        let absolute: Vec<f64> = errors.iter().map(|(_, error)| error.abs()).collect();
        let (run, worst) = errors.into_iter().max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
        let worst_run = (run.trace.clone(), run.policy.to_string());
        Some(Errors { mean_absolute: mean(&absolute), worst, worst_run })
    }
}

impl JobErrors {
    /// All runs, by policy and by trace, then each run.
    pub(super) fn of(runs: &[ValidatedRun]) -> Vec<JobErrors> {
        let runs: Vec<&ValidatedRun> = runs.iter().filter(|run| run.jobs.is_some()).collect();
        let each = runs.iter().map(|run| Scope::of_run(run));
        let scopes = Scope::wide(&runs).into_iter().chain(each);
        scopes.filter_map(|scope| Self::of_scope(&runs, scope)).collect()
    }

    fn of_scope(runs: &[&ValidatedRun], scope: Scope) -> Option<JobErrors> {
        let jobs_of = |run: &ValidatedRun| -> Vec<(f64, super::Interval)> {
            let jobs = run.jobs.iter().flat_map(|jobs| &jobs.jobs);
            jobs.filter_map(ValidatedJob::both_jcts_s).collect()
        };
        let by_run: Vec<_> = runs.iter().filter(|run| scope.has(run)).map(|run| jobs_of(run)).collect();
        let correlations = by_run.iter().map(|jobs| {
            let (measured, simulated): (Vec<f64>, Vec<f64>) =
                jobs.iter().map(|(measured, simulated)| (*measured, simulated.median)).unzip();
            rank_correlation(&measured, &simulated)
        });
        let correlations: Vec<f64> = correlations.collect();
        let jobs = by_run.concat();
        if jobs.is_empty() {
            return None;
        }
        let errors_pct = || -> Vec<f64> {
            let errors =
                jobs.iter().filter_map(|(measured, simulated)| error_pct(simulated.median, *measured));
            errors.map(f64::abs).collect()
        };
        let inside = jobs.iter().filter(|(measured, simulated)| simulated.contains(*measured)).count();
        Some(JobErrors {
            scope,
            jobs: jobs.len(),
            error_median_pct: quantile(errors_pct(), 0.5),
            error_p90_pct: quantile(errors_pct(), 0.9),
            inside_share: inside as f64 / jobs.len() as f64,
            rank_correlation: mean(&correlations),
        })
    }
}

fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile_of_sorted(&values, q)
}
