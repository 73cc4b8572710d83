use super::baseline::{Baseline, BaselineRow};
use crate::error::Result;
use crate::experiment::sweep::{Experiment, Manifest, Metric, Over, Results, run_all};

/// What an experiment's metrics under tolerance come to.
pub struct Measured {
    /// By trace, then setting, then metric.
    pub values: Baseline,
    /// For each row, why it has no value although it should; `None` without failed runs.
    pub errors: Vec<Option<String>>,
}

/// Does all runs of an experiment on `threads` threads (0: one per core), calls `tick` after each, and puts their metrics into
/// `empty`, a [`Baseline::of`] the experiment. The values do not depend on the number of threads.
///
/// # Errors
/// Threads that cannot be started. Runs that fail are results.
pub fn measure(
    experiment: &Experiment,
    empty: Baseline,
    threads: usize,
    tick: &(dyn Fn() + Sync),
) -> Result<Measured> {
    let lines = run_all(experiment, threads, &|_, _| tick())?;
    let mut manifest = Manifest::of(experiment, None)?;
    // Other metrics are not worked out.
    manifest.presentation.metrics = experiment.tolerances.keys().cloned().collect();
    manifest.presentation.plots.clear();
    let results = Results::new(&manifest, &lines)?;
    let design = &experiment.design;
    let metrics =
        experiment.tolerances.keys().map(|name| Metric::find(name, true)).collect::<Result<Vec<_>>>()?;
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for (trace, name) in design.traces.iter().enumerate() {
        for (index, setting) in design.settings().enumerate() {
            for metric in &metrics {
                let fields = design.setting_fields(&setting).into_iter();
                let key = [name.clone()].into_iter().chain(fields).chain([metric.name.clone()]);
                // As a file holds them, which is trimmed when it is read.
                let key = key.map(|field| field.trim().to_owned()).collect();
                let value = results.estimate(metric, index, Over::Trace(trace)).mean;
                rows.push(BaselineRow { key, value });
                let reasons = results.failures_of(metric, index, trace);
                let first = reasons.first();
                errors.push(first.map(|first| format!("{} runs failed, the first: {first}", reasons.len())));
            }
        }
    }
    Ok(Measured { values: Baseline { rows, ..empty }, errors })
}
