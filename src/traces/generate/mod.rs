//! Synthetic traces: a specification of published or fitted statistics, and the traces that follow it.
//!
//! Jobs come in bursts. Within one the gaps are those of scripts and do not depend on the time of day; after
//! `burst_gap_s` seconds of silence begins a wait for the next burst, on a clock that runs faster in the busy hours of
//! the week. Some waits may have a fixed length instead. GPUs, durations and virtual clusters are drawn per job. Every
//! distribution of a specification can be worked out without drawing: [`Statistics`].

mod arrivals;
mod durations;
mod fit;
mod fit_arrivals;
mod fit_quantiles;
mod quantiles;
mod render;
mod spec;
mod statistics;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use arrivals::Arrivals;
use durations::Draws;

use crate::error::{Result, input_error};
use crate::workload::{MAX_SPAN_S, OptionalColumns, TraceJob};

pub use durations::{DurationClass, Durations};
pub use fit::{Fit, fit};
pub use quantiles::{Quantiles, Tail};
pub use spec::{ArrivalSpec, BUILTIN_SPECS, GpuShare, Regular, Spec, VcShare};
pub use statistics::{Statistics, ks_distance};

/// What random numbers are for. Each has its own stream, so that none shifts another's.
#[derive(Clone, Copy)]
enum Purpose {
    Arrivals = 1,
    Gpus = 2,
    Durations = 3,
    Vc = 4,
}

fn rng(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose as u64);
    rng
}

/// What a trace is to be beside its specification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    pub seed: u64,
    /// The hour of the week, from Monday 00:00, at which the first job comes.
    pub start_hour: f64,
    /// Jobs arrive so many times as fast, on average.
    pub rate: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 0, start_hour: 0.0, rate: 1.0 }
    }
}

/// The jobs of a synthetic trace, one by one and without end: the first `n` are the trace of `n` jobs.
pub struct Jobs<'a> {
    spec: &'a Spec,
    arrivals: Arrivals<'a>,
    gpus: WeightedAliasIndex<f64>,
    gpu_rng: ChaCha8Rng,
    durations: Draws<'a>,
    vc: Option<WeightedAliasIndex<f64>>,
    vc_rng: ChaCha8Rng,
    made: u64,
}

impl<'a> Jobs<'a> {
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if no waits between bursts are short enough for the rate.
    pub fn new(spec: &'a Spec, options: &Options) -> Result<Jobs<'a>> {
        let Options { seed, start_hour, rate } = *options;
        let rate = rate * spec.arrivals.rate;
        let weights = |shares: Vec<f64>| WeightedAliasIndex::new(shares).expect("shares are checked");
        let vc = (!spec.vc.is_empty()).then(|| weights(spec.vc.iter().map(|vc| vc.share).collect()));
        Ok(Jobs {
            spec,
            arrivals: Arrivals::new(&spec.source, &spec.arrivals, seed, start_hour, rate)?,
            gpus: weights(spec.gpus.iter().map(|gpus| gpus.share).collect()),
            gpu_rng: rng(seed, Purpose::Gpus),
            durations: Draws::new(&spec.durations, rng(seed, Purpose::Durations)),
            vc,
            vc_rng: rng(seed, Purpose::Vc),
            made: 0,
        })
    }

    pub fn spec(&self) -> &'a Spec {
        self.spec
    }

    /// The columns that all jobs have beside the usual ones.
    pub fn columns(&self) -> OptionalColumns {
        OptionalColumns { vc: self.vc.is_some(), ..OptionalColumns::default() }
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<TraceJob>;

    fn next(&mut self) -> Option<Result<TraceJob>> {
        self.made += 1;
        let submit_s = self.arrivals.next_s();
        if submit_s > MAX_SPAN_S {
            return Some(Err(input_error!(
                "{}: job {} would come later than the {MAX_SPAN_S:e} s that a trace may last; make fewer jobs, or raise \
                 the rate",
                self.spec.source,
                self.made
            )));
        }
        let gpus = self.spec.gpus[self.gpus.sample(&mut self.gpu_rng)].count;
        Some(Ok(TraceJob {
            job_id: format!("{}-{}", self.spec.name, self.made),
            submit_s,
            gpus,
            duration_s: Some(self.durations.next_s(gpus)),
            vc: self.vc.as_ref().map(|vc| self.spec.vc[vc.sample(&mut self.vc_rng)].name.clone()),
            ..TraceJob::default()
        }))
    }
}
