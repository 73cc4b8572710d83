use crate::error::{Result, did_you_mean, input_error};
use crate::metrics::Summary;

/// Figures beside those of a summary.
pub(super) const BOUND: [&str; 2] = ["makespan_bound_s", "makespan_vs_bound"];
const VS_BASELINE: &str = "_vs_baseline";

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Lower,
    Higher,
    /// Neither: it describes.
    Neither,
}

/// The figures of every run, in the order of their columns.
pub fn figure_columns() -> Vec<String> {
    Summary::figure_names().into_iter().chain(BOUND.map(str::to_owned)).collect()
}

/// A figure that an experiment asks for: that of a run, or, with the ending `_vs_baseline`, over that of the baseline
/// variant's run on the same trace under the same seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    /// The column that it is worked out from.
    pub figure: String,
    pub vs_baseline: bool,
}

impl Metric {
    /// # Errors
    /// Unknown, with the nearest names; relative to a baseline where there is none.
    pub fn find(name: &str, has_baseline: bool) -> Result<Metric> {
        let (figure, vs_baseline) = match name.strip_suffix(VS_BASELINE) {
            Some(figure) => (figure, true),
            None => (name, false),
        };
        let columns = figure_columns();
        if !columns.iter().any(|column| column == figure) {
            let relative =
                if has_baseline { format!(", and each with {VS_BASELINE} behind it") } else { String::new() };
            return Err(input_error!(
                "unknown metric {name:?}: {}metrics are {}{relative}",
                did_you_mean(figure, columns.iter().map(String::as_str)),
                columns.join(", ")
            ));
        }
        if vs_baseline && !has_baseline {
            return Err(input_error!(
                "metric {name:?} needs a baseline: add baseline = \"exclusive\", or another variant"
            ));
        }
        Ok(Metric { name: name.to_owned(), figure: figure.to_owned(), vs_baseline })
    }

    /// Whether it counts something: there is no geometric mean of what may be 0.
    pub fn is_count(&self) -> bool {
        ["attempts", "failed_attempts", "recovered_attempts", "completed_jobs", "given_up_jobs"]
            .contains(&self.figure.as_str())
    }

    pub fn better(&self) -> Better {
        let figure = self.figure.as_str();
        let lower = [
            "makespan",
            "jct",
            "queue_wait",
            "initial_queue_wait",
            "execution_time",
            "slowdown",
            "normalized_jct",
        ];
        let cost = ["failed_attempts", "given_up_jobs", "recovery_wait_total_s", "energy_j"];
        match figure {
            "makespan_bound_s" => Better::Neither,
            "completed_jobs" => Better::Higher,
            _ if cost.contains(&figure) => Better::Lower,
            _ if lower.iter().any(|quantity| figure.starts_with(quantity)) => Better::Lower,
            _ => Better::Neither,
        }
    }

    /// The name of its quantity, the unit that it is shown in, if it has one, and what a value is divided by for that.
    fn unit(&self) -> (&str, Option<&'static str>, f64) {
        let units = [("_s", "h", 3600.0), ("_j", "MJ", 1e6), ("_mib", "GiB", 1024.0), ("_w", "W", 1.0)];
        let known = units
            .into_iter()
            .find_map(|(end, unit, divisor)| Some((self.figure.strip_suffix(end)?, Some(unit), divisor)));
        known.unwrap_or((&self.figure, None, 1.0))
    }

    /// What it is called, without its unit.
    pub fn words(&self, baseline: Option<&str>) -> String {
        let word = |word: &str| match word {
            "util" => "utilisation".to_owned(),
            "vs" => "/".to_owned(),
            _ => spoken(word),
        };
        let words: Vec<String> = self.unit().0.split('_').map(word).collect();
        // "mean JCT" is what people say.
        let words = match words.as_slice() {
            [rest @ .., statistic] if ["mean", "p50", "p95", "p99"].contains(&statistic.as_str()) => {
                format!("{statistic} {}", rest.join(" "))
            }
            _ => words.join(" "),
        };
        match self.vs_baseline {
            true => format!("{words} / {}", baseline.unwrap_or("baseline")),
            false => words,
        }
    }

    /// What it is called on an axis, with the unit, and what a value is divided by for that unit.
    pub fn label(&self, baseline: Option<&str>) -> (String, f64) {
        let words = self.words(baseline);
        match self.unit() {
            (_, Some(unit), divisor) if !self.vs_baseline => (format!("{words} [{unit}]"), divisor),
            _ => (words, 1.0),
        }
    }
}

/// A word of a name as people write it: abbreviations in capitals.
pub fn spoken(word: &str) -> String {
    match word {
        "jct" | "gpu" | "smact" | "smocc" | "drama" => word.to_uppercase(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_or_refused() {
        let found = Metric::find("jct_mean_s_vs_baseline", true).unwrap();
        assert_eq!((found.figure.as_str(), found.vs_baseline), ("jct_mean_s", true));
        for (name, has_baseline, says) in [
            ("makespan", true, "did you mean makespan_s"),
            ("makespan_s_vs_baseline", false, "needs a baseline"),
            ("makespam_s_vs_baseline", true, "did you mean makespan_s"),
        ] {
            let message = Metric::find(name, has_baseline).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn labels_have_units_and_every_figure_has_a_direction() {
        let label = |name: &str| Metric::find(name, true).unwrap().label(Some("exclusive"));
        assert_eq!(label("makespan_s"), ("makespan [h]".into(), 3600.0));
        assert_eq!(label("jct_p95_s"), ("p95 JCT [h]".into(), 3600.0));
        assert_eq!(label("slowdown_mean"), ("mean slowdown".into(), 1.0));
        assert_eq!(label("energy_j"), ("energy [MJ]".into(), 1e6));
        assert_eq!(label("gpu_util_active_mean"), ("mean GPU utilisation active".into(), 1.0));
        assert_eq!(label("makespan_vs_bound"), ("makespan / bound".into(), 1.0));
        assert_eq!(label("makespan_s_vs_baseline"), ("makespan / exclusive".into(), 1.0));
        let better = |name: &str| Metric::find(name, true).unwrap().better();
        assert_eq!(better("queue_wait_p95_s"), Better::Lower);
        assert_eq!(better("makespan_vs_bound"), Better::Lower);
        assert_eq!(better("completed_jobs"), Better::Higher);
        assert_eq!(better("gpu_util_active_mean"), Better::Neither);
        assert_eq!(better("makespan_bound_s"), Better::Neither);
    }
}
