use std::path::Path;

use super::Targets;
use crate::error::{Result, input_error};
use crate::experiment::{Evaluation, Headline, MeasuredJobs, MeasuredRun, MeasuredRuns, Settings};
use crate::sim::World;
use crate::workload::Trace;

/// What simulated runs are compared with: measured runs and their traces.
#[derive(Debug, Clone)]
pub struct Reference {
    pub(super) traces: Vec<Trace>,
    /// Index of the trace, and the run.
    pub(super) runs: Vec<(usize, MeasuredRun)>,
    pub(super) jobs: Option<MeasuredJobs>,
    pub(super) headline: Option<Headline>,
    pub(super) targets: Option<Targets>,
}

impl Reference {
    /// The runs of an evaluation, by trace, then policy, with its headline and targets; `jobs` in place of its own.
    ///
    /// # Errors
    /// Traces that cannot be used; a run that the measured results lack; jobs of runs that these lack.
    pub fn of_evaluation(evaluation: &Evaluation, jobs: Option<MeasuredJobs>) -> Result<Reference> {
        let whole = Self::of_whole_runs(evaluation)?;
        let jobs = jobs.map_or_else(|| evaluation.measured_jobs(), |jobs| Ok(Some(jobs)))?;
        jobs.as_ref().map_or(Ok(()), |jobs| jobs.check_runs(&evaluation.measured))?;
        let (headline, targets) = (Some(evaluation.headline.clone()), evaluation.validate.clone());
        Ok(Reference { jobs, headline, targets, ..whole })
    }

    /// The runs of an evaluation, by trace, then policy, without their jobs, headline and targets.
    ///
    /// # Errors
    /// Traces that cannot be used; a run that the measured results lack.
    pub fn of_whole_runs(evaluation: &Evaluation) -> Result<Reference> {
        let traces =
            evaluation.traces.iter().map(|name| Trace::open(name)).collect::<Result<Vec<Trace>>>()?;
        let mut runs = Vec::with_capacity(traces.len() * evaluation.policies.len());
        for (index, trace) in traces.iter().enumerate() {
            for policy in &evaluation.policies {
                runs.push((index, evaluation.measured.required(&trace.name, policy)?.clone()));
            }
        }
        Ok(Reference { traces, runs, jobs: None, headline: None, targets: None })
    }

    /// Measured runs by themselves, in the order of their file. Their traces are built-in names, files beside `dir`, or
    /// paths.
    ///
    /// # Errors
    /// No run; traces that cannot be used; jobs of runs that were not measured.
    pub fn of_runs(measured: &MeasuredRuns, jobs: Option<MeasuredJobs>, dir: &Path) -> Result<Reference> {
        let mut names: Vec<&str> = Vec::new();
        let mut traces = Vec::new();
        let mut runs = Vec::with_capacity(measured.runs().len());
        for run in measured.runs() {
            let known = names.iter().position(|name| *name == run.trace);
            let index = known.map_or_else(
                || {
                    let beside = dir.join(&run.trace);
                    let name =
                        if beside.is_file() { beside.display().to_string() } else { run.trace.clone() };
                    let trace = Trace::open(&name)
                        .map_err(|error| input_error!("{}, column trace: {error}", measured.source()))?;
                    names.push(&run.trace);
                    traces.push(trace);
                    Ok(names.len() - 1)
                },
                Ok,
            )?;
            runs.push((index, run.clone()));
        }
        if runs.is_empty() {
            return Err(input_error!("{} has a header but no run; add one line per run", measured.source()));
        }
        jobs.as_ref().map_or(Ok(()), |jobs| jobs.check_runs(measured))?;
        Ok(Reference { traces, runs, jobs, headline: None, targets: None })
    }

    /// Only the runs for which `keep` holds, without headline, targets and jobs.
    pub fn only(&self, keep: impl Fn(&MeasuredRun) -> bool) -> Reference {
        let runs = self.runs.iter().filter(|(_, run)| keep(run)).cloned().collect();
        Reference { traces: self.traces.clone(), runs, jobs: None, headline: None, targets: None }
    }

    /// Measured runs to be replayed under each seed.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is anything that results are held to.
    pub fn has_targets(&self) -> bool {
        self.targets.as_ref().is_some_and(Targets::has_limits)
    }

    /// What was accepted although it is unusual.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.traces.iter().flat_map(|trace| &trace.notes).map(String::as_str)
    }

    pub(super) fn worlds(&self, settings: &Settings) -> Result<Vec<World>> {
        self.traces.iter().map(|trace| settings.world(trace)).collect()
    }
}
