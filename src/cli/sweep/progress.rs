use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::error::Result;
use crate::experiment::sweep::{Better, Experiment, Metric, RunKey};
use crate::metrics::{Summary, geometric_mean, mean};

/// A bar on standard error, if that is a terminal, with the rate, the time that is left and the best setting so far.
pub struct Progress<'e> {
    bar: ProgressBar,
    experiment: &'e Experiment,
    objective: Metric,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By setting that is not through yet: trace and objective of its runs.
    begun: HashMap<usize, Vec<(usize, f64)>>,
    best: Option<f64>,
    failed: usize,
    /// Settings that gave up jobs: they are no candidates.
    giving_up: HashSet<usize>,
}

impl Progress<'_> {
    pub fn new(experiment: &Experiment, runs: usize) -> Result<Progress<'_>> {
        let bar = ProgressBar::new(runs as u64);
        let template = "{wide_bar} {pos} of {len} runs, {rate}, {eta} left{msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // Nobody to tell is no reason to stop.
                let _ = write!(out, "{:.0}/s", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate));
        }
        let objective = Metric::find(&experiment.presentation.metrics[0], true)?;
        Ok(Progress { bar, experiment, objective, state: Mutex::default() })
    }

    pub fn ended(&self, key: RunKey, outcome: Result<&Summary, &str>) {
        self.bar.inc(1);
        if self.bar.is_hidden() {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match outcome {
            Ok(summary) => self.note_best(&mut state, key, summary),
            Err(_) => state.failed += 1,
        }
    }

    /// A setting counts once all its runs are through.
    fn note_best(&self, state: &mut State, key: RunKey, summary: &Summary) {
        let figures = summary.figures();
        let figure = figures.iter().find(|(name, _)| *name == self.objective.figure);
        let Some((_, figure)) = figure.filter(|_| !self.objective.vs_baseline) else { return };
        let design = &self.experiment.design;
        if summary.given_up_jobs > 0 {
            state.giving_up.insert(key.setting);
        }
        let runs = state.begun.entry(key.setting).or_default();
        runs.push((key.trace, figure.as_f64()));
        if runs.len() < design.traces.len() * design.replicates as usize {
            return;
        }
        let runs = state.begun.remove(&key.setting).unwrap_or_default();
        let of_trace = |trace: usize| {
            mean(&runs.iter().filter(|(of, _)| *of == trace).map(|(_, value)| *value).collect::<Vec<_>>())
        };
        let value = geometric_mean(&(0..design.traces.len()).map(of_trace).collect::<Vec<_>>());
        let higher = self.objective.better() == Better::Higher;
        let better = |best: f64| if higher { value > best } else { value < best };
        if !state.giving_up.remove(&key.setting) && state.best.is_none_or(better) {
            state.best = Some(value);
            let failed = if state.failed > 0 { format!(", {} failed", state.failed) } else { String::new() };
            let setting = design.describe(&design.setting(key.setting));
            self.bar.set_message(format!("{failed}; best {} {value:.4}: {setting}", self.objective.name));
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
