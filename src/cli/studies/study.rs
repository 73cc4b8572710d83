use std::path::Path;

use crate::error::Result;
use crate::experiment::sweep::{Estimate, Metric, Over, Results, Setting};
use crate::metrics::mean;

/// What a study found, in sentences, and further figures that it drew into the directory that it was given.
pub(super) struct Found {
    pub sentences: Vec<String>,
    /// Names and captions.
    pub figures: Vec<(String, String)>,
}

pub(super) type Finding = fn(&Study<'_>, &Path) -> Result<Found>;

/// Results as findings ask for them.
pub(super) struct Study<'a> {
    pub results: &'a Results<'a>,
}

impl<'a> Study<'a> {
    pub fn new(results: &'a Results<'a>) -> Study<'a> {
        Study { results }
    }

    /// A setting by its variant and the values of its axes; those that are not named are at their default.
    pub fn at(&self, variant: &str, values: &[(&str, &str)]) -> usize {
        let design = self.results.design();
        let variant =
            design.variants.iter().position(|known| known.name == variant).expect("a variant of the study");
        let mut points = vec![None; design.axes.len()];
        for &index in &design.variants[variant].axes {
            let axis = &design.axes[index];
            let value = values.iter().find(|(name, _)| *name == axis.name);
            points[index] = match value {
                Some((_, value)) => (0..axis.values.len()).find(|&point| axis.label(point) == *value),
                None => axis.default,
            };
            assert!(points[index].is_some(), "a value of axis {}", axis.name);
        }
        design.index_of(&Setting { variant, points })
    }

    /// Values of an axis, as text.
    pub fn values(&self, axis: &str) -> Vec<String> {
        let axis =
            self.results.design().axes.iter().find(|known| known.name == axis).expect("an axis of the study");
        (0..axis.values.len()).map(|point| axis.label(point)).collect()
    }

    pub fn metric(&self, name: &str) -> Metric {
        Metric::find(name, true).expect("a metric of the study")
    }

    /// Over all traces.
    pub fn mean(&self, metric: &str, setting: usize) -> f64 {
        mean(&self.results.values(&self.metric(metric), setting, Over::Traces))
    }

    /// Of a trace.
    pub fn trace_mean(&self, metric: &str, setting: usize, trace: usize) -> f64 {
        mean(&self.results.values(&self.metric(metric), setting, Over::Trace(trace)))
    }

    /// The mean over the traces of what is counted.
    pub fn count(&self, metric: &str, setting: usize) -> f64 {
        let traces = self.results.design().traces.len();
        mean(&(0..traces).map(|trace| self.trace_mean(metric, setting, trace)).collect::<Vec<_>>())
    }

    /// Relative to another setting, over all traces.
    pub fn change(&self, metric: &str, setting: usize, than: usize) -> Estimate {
        self.results.relative_difference(&self.metric(metric), setting, than, Over::Traces)
    }

    /// "3.1 % longer (2.2 to 4.0)", with the words for more and less.
    pub fn says(&self, metric: &str, setting: usize, than: usize, words: [&str; 2]) -> String {
        says(&self.change(metric, setting, than), words)
    }

    /// Traces on which a setting is clearly above another, and clearly below.
    pub fn by_trace(&self, metric: &str, setting: usize, than: usize) -> [Vec<String>; 2] {
        let design = self.results.design();
        let mut sides = [Vec::new(), Vec::new()];
        for (trace, name) in design.traces.iter().enumerate() {
            let change =
                self.results.relative_difference(&self.metric(metric), setting, than, Over::Trace(trace));
            if change.is_clear() {
                sides[usize::from(change.mean < 0.0)].push(name.clone());
            }
        }
        sides
    }

    /// Variants from the least of a metric to the most at some values of the axes: over all traces, or on one.
    pub fn ranking(
        &self,
        metric: &str,
        variants: &[&str],
        values: &[(&str, &str)],
        over: Over,
    ) -> Vec<String> {
        let metric = self.metric(metric);
        let value = |variant: &str| mean(&self.results.values(&metric, self.at(variant, values), over));
        let mut ranked: Vec<(&str, f64)> =
            variants.iter().map(|&variant| (variant, value(variant))).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.into_iter().map(|(variant, _)| variant.to_owned()).collect()
    }
}

/// A relative difference in words: those for more and less.
pub(super) fn says(change: &Estimate, words: [&str; 2]) -> String {
    let Estimate { mean, low, high } = change;
    if !change.is_clear() {
        return format!("not clearly {} or {} ({})", words[0], words[1], range(change));
    }
    let (near, far) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    let word = words[usize::from(*mean < 0.0)];
    format!("{:.1} % {word} ({:.1} to {:.1})", 100.0 * mean.abs(), 100.0 * near, 100.0 * far)
}

/// "+0.3 %, -0.2 to +0.8".
pub(super) fn range(change: &Estimate) -> String {
    let Estimate { mean, low, high } = change;
    format!("{:+.1} %, {:+.1} to {:+.1}", 100.0 * mean, 100.0 * low, 100.0 * high)
}

pub(super) const LENGTH: [&str; 2] = ["longer", "shorter"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_signs() {
        let say = |mean: f64, margin: f64| {
            says(&Estimate { mean, low: mean - margin, high: mean + margin }, LENGTH)
        };
        assert_eq!(say(0.031, 0.009), "3.1 % longer (2.2 to 4.0)");
        assert_eq!(say(-0.031, 0.009), "3.1 % shorter (2.2 to 4.0)");
        assert_eq!(say(0.003, 0.005), "not clearly longer or shorter (+0.3 %, -0.2 to +0.8)");
        assert!(say(f64::NAN, 0.1).starts_with("not clearly"));
    }
}
