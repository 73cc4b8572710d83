use std::collections::BTreeMap;

use super::durations::{DurationClass, Durations};
use super::fit_arrivals::fit_arrivals;
use super::fit_quantiles::{fit_quantiles, round};
use super::spec::{GpuShare, Spec, VcShare};
use super::statistics::{Statistics, ks_distance};
use crate::error::{Result, input_error};
use crate::metrics::{rank_correlation, sorted};
use crate::workload::{Trace, TraceJob};

/// A specification fitted to a trace, and how near it is.
#[derive(Debug, Clone)]
pub struct Fit {
    pub spec: Spec,
    /// The trace's file.
    pub source: String,
    /// Hour of the week at its second 0.
    pub start_hour: f64,
    pub jobs: usize,
    pub span_s: f64,
    /// Distances of Kolmogorov and Smirnov between the specification's distribution and the trace.
    pub gap_distance: f64,
    pub duration_distance: f64,
    /// Of the trace.
    pub mean_gap_s: f64,
    pub mean_gpu_s: f64,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Jobs without which quantiles would be chance.
const LEAST_JOBS: usize = 200;
/// Jobs that make GPU counts a class of durations of their own.
const CLASS_JOBS: usize = 250;

/// Fits a specification to a trace whose second 0 is at an hour of the week, from Monday 00:00.
///
/// # Errors
/// Too few jobs, jobs without durations or in too few bursts.
pub fn fit(trace: &Trace, start_hour: f64) -> Result<Fit> {
    let source = &trace.source;
    let timed: Vec<(&TraceJob, f64)> =
        trace.jobs.iter().filter_map(|job| Some((job, job.duration_s?.ceil()))).collect();
    if timed.is_empty() {
        return Err(input_error!(
            "{source}: no job has a duration; fill in the column duration_s, because durations are half of what is fitted"
        ));
    }
    if timed.len() < LEAST_JOBS {
        return Err(input_error!(
            "{source}: {} jobs with a duration are too few for quantiles; expected at least {LEAST_JOBS}: take a \
             longer trace, or one of the built-in specifications",
            timed.len()
        ));
    }
    let mut notes = Vec::new();
    let untimed = trace.jobs.len() - timed.len();
    if untimed > 0 {
        notes.push(format!("{untimed} of {} jobs have no duration; left them out", trace.jobs.len()));
    }
    if timed.iter().any(|(job, _)| job.gpu_share.is_some()) {
        notes.push("shares of GPUs are not fitted; took them for whole GPUs".to_owned());
    }
    let times_s: Vec<f64> =
        timed.iter().map(|(job, _)| job.submit_s.floor() + (start_hour * 3600.0).floor()).collect();
    let arrivals = fit_arrivals(source, &times_s, &mut notes)?;
    let mut spec = Spec::new(&trace.name, arrivals, fit_durations(&timed));
    spec.source = source.clone();
    spec.gpus = gpu_shares(&timed);
    spec.vc = vc_shares(&timed, &mut notes);

    // What is written must be readable again.
    spec.check()?;

    let gaps = sorted(times_s.windows(2).map(|pair| pair[1] - pair[0]));
    let durations = sorted(timed.iter().map(|(_, duration_s)| *duration_s));
    let gpu_s: f64 = timed.iter().map(|(job, duration_s)| f64::from(job.gpus) * duration_s).sum();
    let statistics = Statistics::of(&spec, 1.0)?;
    let gap_distance = ks_distance(&gaps, |gap_s| statistics.gap_cdf(gap_s));
    let duration_distance = ks_distance(&durations, |duration_s| statistics.duration_cdf(duration_s));
    let span_s = times_s[times_s.len() - 1] - times_s[0];
    Ok(Fit {
        source: source.clone(),
        start_hour,
        jobs: timed.len(),
        span_s,
        gap_distance,
        duration_distance,
        mean_gap_s: span_s / gaps.len() as f64,
        mean_gpu_s: gpu_s / timed.len() as f64,
        notes,
        spec,
    })
}

fn gpu_shares(timed: &[(&TraceJob, f64)]) -> Vec<GpuShare> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (job, _) in timed {
        *counts.entry(job.gpus).or_default() += 1;
    }
    counts.iter().map(|(&count, &jobs)| GpuShare { count, share: share(jobs, timed.len()) }).collect()
}

/// By name. Where only some jobs have one, none is given any: which are without would have to be made up.
fn vc_shares(timed: &[(&TraceJob, f64)], notes: &mut Vec<String>) -> Vec<VcShare> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for vc in timed.iter().filter_map(|(job, _)| job.vc.as_deref()) {
        *counts.entry(vc).or_default() += 1;
    }
    let known: usize = counts.values().sum();
    if known < timed.len() {
        if known > 0 {
            notes.push(format!("no virtual clusters: only {known} of {} jobs have one", timed.len()));
        }
        return Vec::new();
    }
    let mut shares: Vec<VcShare> = counts
        .iter()
        .map(|(name, &jobs)| VcShare { name: (*name).to_owned(), share: share(jobs, timed.len()) })
        .collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.name.cmp(&b.name)));
    shares
}

/// Digits enough for one job in a million.
fn share(jobs: usize, all: usize) -> f64 {
    round(jobs as f64 / all as f64, 1e7).max(1e-7)
}

fn fit_durations(timed: &[(&TraceJob, f64)]) -> Durations {
    let all: Vec<f64> = timed.iter().map(|(_, duration_s)| *duration_s).collect();
    let spearman = rank_correlation(&all[1..], &all[..all.len() - 1]);
    // Of normal scores with that rank correlation; NaN where all durations are the same.
    let normal = 2.0 * libm::sin(std::f64::consts::PI / 6.0 * spearman);
    let correlation = if normal > 0.0 { round(normal, 1e3).min(0.999) } else { 0.0 };

    let mut by_gpus: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (job, duration_s) in timed {
        by_gpus.entry(job.gpus).or_default().push(*duration_s);
    }
    // Counts with few jobs go with the next ones, and the last with those before them if need be.
    let mut classes: Vec<(u32, Vec<f64>)> = Vec::new();
    for (gpus, durations) in by_gpus {
        match classes.last_mut() {
            Some((_, class)) if class.len() < CLASS_JOBS => class.extend(durations),
            _ => classes.push((gpus, durations)),
        }
    }
    if classes.len() > 1
        && let Some((_, rest)) = classes.pop_if(|(_, class)| class.len() < CLASS_JOBS)
    {
        let last = classes.len() - 1;
        classes[last].1.extend(rest);
    }
    let class = classes
        .into_iter()
        .map(|(min_gpus, class)| DurationClass { min_gpus, duration_s: fit_quantiles(&sorted(class), true) })
        .collect();
    Durations { correlation, class }
}
