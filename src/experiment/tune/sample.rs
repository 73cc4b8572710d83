use crate::experiment::sweep::{GEOMEAN, Metric};
use crate::metrics::{geometric_mean, mean};

/// What stands in place of a trace for the mean over all of them, of metrics that may be 0 and have no geometric mean.
pub const MEAN: &str = "mean";

/// Figures of one setting's runs: by trace, then seed, then in the order of [`Goal::figures`](super::Goal::figures).
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample(Vec<Vec<Vec<f64>>>);

impl Sample {
    pub fn of(runs: Vec<Vec<Vec<f64>>>) -> Sample {
        Sample(runs)
    }

    /// Adds runs under further seeds.
    pub fn extend(&mut self, more: Sample) {
        if self.0.is_empty() {
            self.0 = more.0;
        } else {
            self.0.iter_mut().zip(more.0).for_each(|(own, more)| own.extend(more));
        }
    }

    pub fn traces(&self) -> usize {
        self.0.len()
    }

    pub fn seeds(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// A figure by seed.
    pub fn values(&self, trace: usize, figure: usize) -> Vec<f64> {
        self.0[trace].iter().map(|run| run[figure]).collect()
    }

    /// Over seeds.
    pub fn mean(&self, trace: usize, figure: usize) -> f64 {
        mean(&self.values(trace, figure))
    }

    /// Over traces, of means over seeds.
    pub fn mean_over_traces(&self, figure: usize, metric: &Metric) -> f64 {
        let means: Vec<f64> = (0..self.traces()).map(|trace| self.mean(trace, figure)).collect();
        over_traces(metric, &means)
    }

    /// Over traces, by seed.
    pub fn values_over_traces(&self, figure: usize, metric: &Metric) -> Vec<f64> {
        let of_seed = |seed: usize| self.0.iter().map(|runs| runs[seed][figure]).collect::<Vec<f64>>();
        (0..self.seeds()).map(|seed| over_traces(metric, &of_seed(seed))).collect()
    }
}

/// What [`Sample::mean_over_traces`] is: `geomean`, or of what may be 0 `mean`.
pub(super) fn over_traces_name(metric: &Metric) -> &'static str {
    if may_be_zero(metric) { MEAN } else { GEOMEAN }
}

fn may_be_zero(metric: &Metric) -> bool {
    metric.is_count() || metric.figure.contains("wait")
}

fn over_traces(metric: &Metric, values: &[f64]) -> f64 {
    match values {
        // As it is: the way by logarithms would round it.
        [value] => *value,
        _ if may_be_zero(metric) => mean(values),
        _ => geometric_mean(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_seeds_and_then_over_traces() {
        let mut sample = Sample::of(vec![vec![vec![1.0]], vec![vec![3.0]]]);
        sample.extend(Sample::of(vec![vec![vec![3.0]], vec![vec![13.0]]]));
        assert_eq!((sample.traces(), sample.seeds(), sample.mean(1, 0)), (2, 2, 8.0));
        let metric = |name| Metric::find(name, false).unwrap();
        assert!((sample.mean_over_traces(0, &metric("makespan_s")) - 4.0).abs() < 1e-12);
        assert_eq!(sample.mean_over_traces(0, &metric("failed_attempts")), 5.0);
        assert_eq!(sample.values_over_traces(0, &metric("failed_attempts")), [2.0, 8.0]);
    }
}
