use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::design::{Design, Setting};
use super::manifest::Manifest;
use super::metric::{Better, Metric};
use super::store::{RunLine, fields};
use crate::error::{Result, input_error};
use crate::metrics::{geometric_mean, mean, quantile_of_sorted};

/// Runs of an experiment, ready to be condensed.
pub struct Results<'a> {
    pub manifest: &'a Manifest,
    /// By column of a figure, then by run; NaN where there is none.
    figures: BTreeMap<String, Vec<f64>>,
    /// Why runs failed, by run.
    pub failures: BTreeMap<usize, String>,
    resamples: Resamples,
}

/// A mean over seeds with its 95 % interval; NaN without values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// The figure that says whether runs did the same work.
const GIVEN_UP: &str = "given_up_jobs";

/// Over what a figure is condensed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Trace(usize),
    /// Geometric means over the traces; of counts there are none.
    Traces,
}

impl<'a> Results<'a> {
    /// # Errors
    /// Lines that are no results of this experiment.
    pub fn new(manifest: &'a Manifest, lines: &[Option<RunLine>]) -> Result<Results<'a>> {
        let mut wanted = BTreeMap::new();
        let plots =
            manifest.presentation.plots.iter().flat_map(|plot| [Some(&plot.metric), plot.against.as_ref()]);
        let given_up = [GIVEN_UP.to_owned()];
        for name in manifest.presentation.metrics.iter().chain(plots.flatten()).chain(&given_up) {
            let metric = Metric::find(name, true)?;
            let column = manifest.figures.iter().position(|column| *column == metric.figure);
            let column =
                column.ok_or_else(|| input_error!("the results have no column {}", metric.figure))?;
            wanted.insert(metric.figure, column);
        }
        let mut figures: BTreeMap<String, Vec<f64>> =
            wanted.keys().map(|name| (name.clone(), vec![f64::NAN; lines.len()])).collect();
        let mut failures = BTreeMap::new();
        for (run, line) in lines.iter().enumerate() {
            let Some(fields) = line.as_deref().and_then(fields) else { continue };
            match fields.get(manifest.figures.len()) {
                Some(error) if !error.is_empty() => {
                    failures.insert(run, error.to_owned());
                }
                _ => {
                    for (name, &column) in &wanted {
                        let value = fields.get(column).and_then(|text| text.parse().ok());
                        if let (Some(value), Some(values)) = (value, figures.get_mut(name)) {
                            values[run] = value;
                        }
                    }
                }
            }
        }
        let resamples = Resamples::new(manifest.design.replicates as usize);
        Ok(Results { manifest, figures, failures, resamples })
    }

    pub fn design(&self) -> &'a Design {
        &self.manifest.design
    }

    /// A metric of a setting, by seed; NaN where a run failed or has no such figure.
    pub fn values(&self, metric: &Metric, setting: usize, over: Over) -> Vec<f64> {
        match over {
            Over::Trace(trace) => self.of_trace(metric, setting, trace),
            Over::Traces if metric.is_count() => vec![f64::NAN; self.design().replicates as usize],
            Over::Traces => {
                let traces: Vec<Vec<f64>> = (0..self.design().traces.len())
                    .map(|trace| self.of_trace(metric, setting, trace))
                    .collect();
                let seeds = self.design().replicates as usize;
                let of_seed = |seed: usize| traces.iter().map(|values| values[seed]).collect::<Vec<f64>>();
                (0..seeds).map(|seed| of_positive(&of_seed(seed))).collect()
            }
        }
    }

    fn of_trace(&self, metric: &Metric, setting: usize, trace: usize) -> Vec<f64> {
        let own = self.figure(&metric.figure, setting, trace);
        if !metric.vs_baseline {
            return own.to_vec();
        }
        match self.counterpart(setting) {
            Some(baseline) => own
                .iter()
                .zip(self.figure(&metric.figure, baseline, trace))
                .map(|(own, other)| own / other)
                .collect(),
            None => vec![f64::NAN; own.len()],
        }
    }

    /// The setting of the baseline variant that another is relative to.
    fn counterpart(&self, setting: usize) -> Option<usize> {
        let design = self.design();
        let baseline = self.manifest.presentation.baseline.as_ref()?;
        let variant = design.variants.iter().position(|variant| variant.name == *baseline)?;
        design.counterpart(&design.setting(setting), variant)
    }

    fn figure(&self, name: &str, setting: usize, trace: usize) -> &[f64] {
        let first = self.design().first_run(setting, trace);
        &self.figures[name][first..first + self.design().replicates as usize]
    }

    pub fn estimate(&self, metric: &Metric, setting: usize, over: Over) -> Estimate {
        self.resamples.estimate(&self.values(metric, setting, over))
    }

    /// The difference of two settings, seed by seed.
    pub fn difference(&self, metric: &Metric, setting: usize, other: usize, over: Over) -> Estimate {
        let (own, other) = (self.values(metric, setting, over), self.values(metric, other, over));
        let differences: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own - other).collect();
        self.resamples.estimate(&differences)
    }

    /// The same relative to the other, as a fraction.
    pub fn relative_difference(&self, metric: &Metric, setting: usize, other: usize, over: Over) -> Estimate {
        let (own, other) = (self.values(metric, setting, over), self.values(metric, other, over));
        let differences: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other - 1.0).collect();
        self.resamples.estimate(&differences)
    }

    /// Failed runs of a setting on a trace.
    pub fn failed(&self, setting: usize, trace: usize) -> usize {
        self.reasons(setting, trace).count()
    }

    fn reasons(&self, setting: usize, trace: usize) -> impl Iterator<Item = &str> {
        let first = self.design().first_run(setting, trace);
        let runs = first..first + self.design().replicates as usize;
        self.failures.range(runs).map(|(_, reason)| reason.as_str())
    }

    /// Why runs failed that a metric needs: those of the setting, and of the baseline variant where it is relative to that.
    pub fn failures_of(&self, metric: &Metric, setting: usize, trace: usize) -> Vec<&str> {
        let other = self.counterpart(setting).filter(|other| metric.vs_baseline && *other != setting);
        [Some(setting), other]
            .into_iter()
            .flatten()
            .flat_map(|setting| self.reasons(setting, trace))
            .collect()
    }

    /// Where rows are made of: each trace and, with several, the means over them.
    pub fn overs(&self) -> Vec<Over> {
        let traces = self.design().traces.len();
        (0..traces).map(Over::Trace).chain((traces > 1).then_some(Over::Traces)).collect()
    }

    pub fn objective(&self) -> Result<Metric> {
        Metric::find(&self.manifest.presentation.metrics[0], true)
    }

    /// Over all traces, or the one that there is.
    pub fn all(&self) -> Over {
        if self.design().traces.len() > 1 { Over::Traces } else { Over::Trace(0) }
    }

    /// Jobs that a setting gives up, all seeds together: on a trace, or on all of them.
    pub fn given_up(&self, setting: usize, over: Over) -> f64 {
        let traces = match over {
            Over::Trace(trace) => trace..trace + 1,
            Over::Traces => 0..self.design().traces.len(),
        };
        let counts = traces.flat_map(|trace| self.figure(GIVEN_UP, setting, trace));
        counts.filter(|count| count.is_finite()).sum()
    }

    /// The settings with a value, best first: by jobs given up, as makespans of less work are no gain, and by means over
    /// all traces.
    pub fn ranked(&self, metric: &Metric) -> Vec<(usize, Setting, f64)> {
        let all = self.all();
        let sign = match metric.better() {
            Better::Lower => 1.0,
            Better::Higher => -1.0,
            // In the order of the design.
            Better::Neither => 0.0,
        };
        let mut ranked: Vec<(f64, usize, Setting, f64)> = self
            .design()
            .settings()
            .enumerate()
            .map(|(index, setting)| {
                let value = mean(&self.values(metric, index, all));
                (self.given_up(index, Over::Traces), index, setting, value)
            })
            .filter(|(.., value)| !value.is_nan())
            .collect();
        ranked.sort_by(|a, b| {
            a.0.total_cmp(&b.0).then((sign * a.3).total_cmp(&(sign * b.3))).then(a.1.cmp(&b.1))
        });
        ranked.into_iter().map(|(_, index, setting, value)| (index, setting, value)).collect()
    }
}

/// The geometric mean, NaN unless all values are positive: counts that may be 0 have none.
fn of_positive(values: &[f64]) -> f64 {
    if values.iter().all(|value| *value > 0.0) { geometric_mean(values) } else { f64::NAN }
}

/// A whole number from 0 to below `count`. The high half of a product: as good as even for counts far below 2^64.
pub(in crate::experiment) fn draw_below(rng: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize
}

/// Bootstrap: the same resamples for all figures, so that equal data have equal intervals.
pub struct Resamples {
    /// Indices of each resample, one after the other.
    indices: Vec<u32>,
    size: usize,
}

/// Enough for the second digit of an interval's width.
const RESAMPLES: usize = 2000;

impl Resamples {
    pub fn new(size: usize) -> Resamples {
        let mut rng = ChaCha8Rng::seed_from_u64(size as u64);
        // Of many values the mean hardly varies, and its resamples would fill memory.
        let count = (20_000_000 / size.max(1)).clamp(100, RESAMPLES);
        Resamples { indices: (0..count * size).map(|_| draw_below(&mut rng, size) as u32).collect(), size }
    }

    /// The mean and its 95 % percentile interval. NaN where any value is; of one value there is no interval.
    pub fn estimate(&self, values: &[f64]) -> Estimate {
        if values.is_empty() || values.len() != self.size || values.iter().any(|value| !value.is_finite()) {
            return Estimate { mean: f64::NAN, low: f64::NAN, high: f64::NAN };
        }
        let mean = mean(values);
        // One value says nothing of how values vary.
        if values.len() == 1 {
            return Estimate { mean, low: f64::NAN, high: f64::NAN };
        }
        if values.iter().all(|value| value == &values[0]) {
            return Estimate { mean: values[0], low: values[0], high: values[0] };
        }
        let resample =
            |indices: &[u32]| indices.iter().map(|&i| values[i as usize]).sum::<f64>() / self.size as f64;
        let mut means: Vec<f64> = self.indices.chunks(self.size).map(resample).collect();
        means.sort_by(f64::total_cmp);
        Estimate { mean, low: quantile_of_sorted(&means, 0.025), high: quantile_of_sorted(&means, 0.975) }
    }
}

impl Estimate {
    /// The same in another unit.
    pub fn map(self, unit: impl Fn(f64) -> f64) -> Estimate {
        Estimate { mean: unit(self.mean), low: unit(self.low), high: unit(self.high) }
    }

    /// Whether the interval lies on one side of 0.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_mean() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let Estimate { mean, low, high } = Resamples::new(400).estimate(&values);
        // Standard deviation 5.77, of the mean 0.288: 1.96 times that on either side.
        assert_eq!(mean, 9.5);
        assert!((low - 8.935).abs() < 0.06 && (high - 10.065).abs() < 0.06, "{low} {high}");
        let again = Resamples::new(400).estimate(&values);
        assert_eq!((again.low, again.high), (low, high));
    }

    #[test]
    fn what_has_no_interval_says_so() {
        let of = |values: &[f64]| Resamples::new(values.len()).estimate(values);
        assert_eq!(of(&[3.0, 3.0]), Estimate { mean: 3.0, low: 3.0, high: 3.0 });
        let one = of(&[3.0]);
        assert!(one.mean == 3.0 && one.low.is_nan() && one.high.is_nan() && !one.is_clear());
        assert!(of(&[]).mean.is_nan() && of(&[1.0, f64::NAN]).mean.is_nan());
        assert!(!of(&[]).is_clear() && !of(&[-1.0, 1.0, 0.0]).is_clear() && of(&[1.0, 2.0]).is_clear());
    }
}
