//! How long jobs really run, and how fast schedulers act, from recorded runs.

use std::collections::BTreeMap;

use super::data::AttemptRow;
use super::pairs::mean;
use crate::error::{Result, input_error};
use crate::workload::Catalogue;

/// Dispatches further apart than this had to wait for more than the scheduler.
const BUSY_INTERVAL_S: f64 = 5.0;

#[derive(Debug, Clone)]
pub struct Cadence {
    /// Mean of runtime over solo runtime in the exclusive runs, by workload.
    pub runtime_factors: BTreeMap<String, f64>,
    pub exclusive_tick_s: f64,
    /// `None` without runs of aegis.
    pub collocating_tick_s: Option<f64>,
    pub detection_lag_s: f64,
    pub dispatch_lag_s: f64,
    pub attempts: usize,
    pub left_out: Vec<LeftOut>,
    /// The same with every factor 1.
    pub job_error_without: f64,
}

/// A trace predicted from the factors of the others.
#[derive(Debug, Clone)]
pub struct LeftOut {
    pub trace: String,
    /// Relative error of the summed runtimes, with sign.
    pub total_error: f64,
    /// Relative errors by job, without sign.
    pub job_errors: Vec<f64>,
}

/// Fits factors and lags to runs recorded on a server with `gpus` GPUs.
///
/// # Errors
/// If there are no exclusive runs, or too few of their dispatches to tell tick and lags by.
pub fn cadence(source: &str, attempts: &[AttemptRow], catalogue: &Catalogue, gpus: usize) -> Result<Cadence> {
    let of = |policy: &str| attempts.iter().filter(|a| a.policy == policy).collect::<Vec<_>>();
    let exclusive = of("exclusive");
    let too_few = |what: &str| input_error!("{source}: no {what}; give the attempts of complete runs");
    if exclusive.is_empty() {
        return Err(too_few("attempt of the policy exclusive"));
    }
    if let Some(attempt) = exclusive.iter().find(|a| catalogue.workloads()[a.workload].gpus as usize > gpus) {
        let name = &catalogue.workloads()[attempt.workload].name;
        return Err(input_error!("{source}: {name} needs more than the {gpus} GPUs of the recorded server"));
    }
    let intervals = intervals(&exclusive);
    let exclusive_tick_s =
        intervals.into_iter().reduce(f64::min).ok_or_else(|| too_few("two exclusive dispatches"))?;
    let busy: Vec<f64> =
        self::intervals(&of("aegis")).into_iter().filter(|&interval| interval < BUSY_INTERVAL_S).collect();
    let waits = waits_for_gpus(&exclusive, catalogue, gpus);
    if waits.is_empty() {
        return Err(too_few("exclusive dispatch that waited for a GPU"));
    }
    let lags: Vec<f64> = exclusive.iter().map(|a| a.launch_s - a.dispatch_s).collect();
    let without = exclusive.iter().map(|a| relative_error(1.0, ratio(a, catalogue)));
    Ok(Cadence {
        runtime_factors: runtime_factors(attempts, catalogue),
        exclusive_tick_s,
        collocating_tick_s: (!busy.is_empty()).then(|| mean(&busy)),
        // A GPU that comes free is seen at the next tick: half a tick later on average.
        detection_lag_s: (mean(&waits) - exclusive_tick_s / 2.0).max(0.0),
        dispatch_lag_s: mean(&lags),
        attempts: exclusive.len(),
        left_out: left_out(&exclusive, catalogue),
        job_error_without: mean(&without.collect::<Vec<_>>()),
    })
}

fn ratio(attempt: &AttemptRow, catalogue: &Catalogue) -> f64 {
    (attempt.end_s - attempt.launch_s) / catalogue.workloads()[attempt.workload].solo_runtime_s
}

fn relative_error(predicted: f64, measured: f64) -> f64 {
    (predicted / measured - 1.0).abs()
}

fn by_workload(attempts: &[&AttemptRow], catalogue: &Catalogue) -> BTreeMap<usize, Vec<f64>> {
    let mut ratios: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for attempt in attempts {
        ratios.entry(attempt.workload).or_default().push(ratio(attempt, catalogue));
    }
    ratios
}

/// Mean of runtime over solo runtime in the exclusive runs, by workload.
pub fn runtime_factors(attempts: &[AttemptRow], catalogue: &Catalogue) -> BTreeMap<String, f64> {
    let exclusive: Vec<&AttemptRow> = attempts.iter().filter(|a| a.policy == "exclusive").collect();
    let named = |(index, factor): (usize, f64)| (catalogue.workloads()[index].name.clone(), factor);
    factors(&exclusive, catalogue).into_iter().map(named).collect()
}

fn factors(attempts: &[&AttemptRow], catalogue: &Catalogue) -> BTreeMap<usize, f64> {
    by_workload(attempts, catalogue).into_iter().map(|(index, ratios)| (index, mean(&ratios))).collect()
}

fn traces<'a>(attempts: &[&'a AttemptRow]) -> Vec<&'a str> {
    let mut traces: Vec<&str> = attempts.iter().map(|a| a.trace.as_str()).collect();
    traces.sort_unstable();
    traces.dedup();
    traces
}

/// The attempts of one trace in the order of their dispatch.
fn dispatched<'a>(attempts: &[&'a AttemptRow], trace: &str) -> Vec<&'a AttemptRow> {
    let mut of_trace: Vec<_> = attempts.iter().copied().filter(|a| a.trace == trace).collect();
    of_trace.sort_by(|a, b| a.dispatch_s.total_cmp(&b.dispatch_s));
    of_trace
}

fn intervals(attempts: &[&AttemptRow]) -> Vec<f64> {
    let of_trace = |trace| {
        let attempts = dispatched(attempts, trace);
        attempts.windows(2).map(|pair| pair[1].dispatch_s - pair[0].dispatch_s).collect::<Vec<_>>()
    };
    traces(attempts).into_iter().flat_map(of_trace).collect()
}

/// How long after its GPUs came free each job was dispatched, where it was first in the queue by then.
fn waits_for_gpus(attempts: &[&AttemptRow], catalogue: &Catalogue, gpus: usize) -> Vec<f64> {
    let mut waits = Vec::new();
    for trace in traces(attempts) {
        let mut free = vec![0.0; gpus];
        let mut previous: f64 = 0.0;
        for attempt in dispatched(attempts, trace) {
            let wanted = catalogue.workloads()[attempt.workload].gpus as usize;
            free.sort_by(f64::total_cmp);
            let ready = free[wanted - 1];
            if ready > attempt.submit_s.max(previous) {
                waits.push(attempt.dispatch_s - ready);
            }
            free[..wanted].fill(attempt.end_s);
            previous = attempt.dispatch_s;
        }
    }
    waits
}

fn left_out(attempts: &[&AttemptRow], catalogue: &Catalogue) -> Vec<LeftOut> {
    let predict_trace = |trace: &str| {
        let (test, train): (Vec<&AttemptRow>, Vec<&AttemptRow>) =
            attempts.iter().partition(|a| a.trace == trace);
        let factors = factors(&train, catalogue);
        let (mut predicted, mut measured, mut job_errors) = (0.0, 0.0, Vec::new());
        for attempt in test {
            let factor = factors.get(&attempt.workload).copied().unwrap_or(1.0);
            let ratio = ratio(attempt, catalogue);
            let solo_s = catalogue.workloads()[attempt.workload].solo_runtime_s;
            predicted += factor * solo_s;
            measured += ratio * solo_s;
            job_errors.push(relative_error(factor, ratio));
        }
        LeftOut { trace: trace.to_owned(), total_error: predicted / measured - 1.0, job_errors }
    };
    traces(attempts).into_iter().map(predict_trace).collect()
}

impl Cadence {
    /// Mean absolute relative error of a left-out job's runtime.
    pub fn job_error(&self) -> f64 {
        mean(&self.left_out.iter().flat_map(|left| left.job_errors.iter().copied()).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_and_factors_of_a_made_up_run() {
        let catalogue = Catalogue::builtin();
        let workload = catalogue.position("unet_voc_1gpu").unwrap();
        let solo_s = catalogue.workloads()[workload].solo_runtime_s;
        let attempt = |trace: &str, policy: &str, dispatch_s: f64, factor: f64| AttemptRow {
            trace: trace.to_owned(),
            policy: policy.to_owned(),
            workload,
            submit_s: 0.0,
            dispatch_s,
            launch_s: dispatch_s + 0.25,
            end_s: dispatch_s + 0.25 + factor * solo_s,
            out_of_memory: false,
        };
        let mut attempts: Vec<AttemptRow> =
            (0..3).map(|i| attempt("a", "exclusive", 2.0 * f64::from(i), 1.1)).collect();
        // The first GPU comes free with the first end; the job is dispatched 1.5 s later.
        attempts.push(attempt("a", "exclusive", attempts[0].end_s + 1.5, 1.1));
        attempts.extend([attempt("b", "aegis", 1.0, 2.0), attempt("b", "aegis", 4.0, 2.0)]);
        let got = cadence("t.csv", &attempts, &catalogue, 3).unwrap();
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got} {want}");
        near(got.runtime_factors["unet_voc_1gpu"], 1.1);
        near(got.exclusive_tick_s, 2.0);
        near(got.collocating_tick_s.unwrap(), 3.0);
        near(got.detection_lag_s, 0.5);
        near(got.dispatch_lag_s, 0.25);
        // Nothing is known of a trace's workloads where there is no other trace.
        near(got.left_out[0].total_error, 1.0 / 1.1 - 1.0);
        let message = cadence("t.csv", &attempts[4..], &catalogue, 3).unwrap_err().to_string();
        assert!(message.starts_with("t.csv: no attempt of the policy exclusive"), "{message}");
    }
}
