use std::path::Path;

use crate::error::{Error, Result, input_error};
use crate::policy::{Params, PolicySpec};
use crate::workload::{MAX_SPAN_S, Table};

/// A measured run: what ran under which condition, and its figures by name.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRun {
    pub trace: String,
    pub policy: PolicySpec,
    pub telemetry: Condition,
    /// Under the names of [`Summary::figures`](crate::metrics::Summary::figures).
    pub figures: Vec<(String, f64)>,
}

/// Which GPU's SMACT and SMOCC telemetry read zero during a measured run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A value of the parameter `telemetry_blind_gpu`: none, or this one.
    Known(String),
    /// One of them.
    Unknown,
}

const UNKNOWN: &str = "unknown";

impl Condition {
    /// The parameter value that stands for it when runs are repeated over seeds.
    pub fn over_seeds(&self) -> &str {
        match self {
            Condition::Known(value) => value,
            Condition::Unknown => "seeded",
        }
    }
}

/// Measured runs of a file: CSV with the columns `trace,policy,telemetry_blind_gpu` and one per figure.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRuns {
    source: String,
    runs: Vec<MeasuredRun>,
}

const KEYS: &[&str] = &["trace", "policy", "telemetry_blind_gpu"];
const REQUIRED: &[&str] =
    &["trace", "policy", "telemetry_blind_gpu", "makespan_s", "jct_mean_s", "failed_attempts"];

impl MeasuredRuns {
    pub fn load(path: &Path) -> Result<MeasuredRuns> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// # Errors
    /// [`Error::Input`] with file, line and column for anything that cannot be used.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<MeasuredRuns> {
        let table = Table::parse(source, bytes, REQUIRED)?;
        let mut runs: Vec<MeasuredRun> = Vec::with_capacity(table.len());
        for row in table.rows() {
            let at = |column: &str, error: Error| input_error!("{}: {error}", row.place(column));
            let policy = row.required_text("policy")?.parse().map_err(|e| at("policy", e))?;
            let blind = row.required_text("telemetry_blind_gpu")?;
            let telemetry = if blind == UNKNOWN {
                Condition::Unknown
            } else {
                let known = Params::default().set("telemetry_blind_gpu", blind);
                known.map_err(|error| at("telemetry_blind_gpu", input_error!("{error}, or {UNKNOWN}")))?;
                Condition::Known(blind.to_owned())
            };
            let mut figures = Vec::new();
            for column in table.header().iter().filter(|column| !KEYS.contains(&column.as_str())) {
                let range = if is_fraction(column) { 0.0..=1.0 } else { 0.0..=MAX_SPAN_S };
                if let Some(value) = row.number(column, range)? {
                    figures.push((column.clone(), value));
                }
            }
            let run =
                MeasuredRun { trace: row.required_text("trace")?.to_owned(), policy, telemetry, figures };
            if runs.iter().any(|other| other.trace == run.trace && other.policy == run.policy) {
                return Err(input_error!(
                    "{}: {} on {} comes twice; keep one run per trace and policy",
                    row.place("policy"),
                    run.policy,
                    run.trace
                ));
            }
            runs.push(run);
        }
        Ok(MeasuredRuns { source: source.to_owned(), runs })
    }

    /// The file, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// In the order of the file.
    pub fn runs(&self) -> &[MeasuredRun] {
        &self.runs
    }

    /// The run of an evaluation.
    ///
    /// # Errors
    /// There is none.
    pub fn required(&self, trace: &str, policy: &PolicySpec) -> Result<&MeasuredRun> {
        self.get(trace, policy).ok_or_else(|| {
            input_error!(
                "{} has no run of {policy} on {trace}; add one, or take the pair out of the evaluation",
                self.source
            )
        })
    }

    pub fn get(&self, trace: &str, policy: &PolicySpec) -> Option<&MeasuredRun> {
        self.runs.iter().find(|run| run.trace == trace && run.policy == *policy)
    }
}

/// Figures that are parts of a whole, and not percent.
fn is_fraction(figure: &str) -> bool {
    let activity = ["smact", "smocc", "drama", "gpu_util"];
    let of_activity = figure.strip_suffix("_active_mean").map(|metric| metric.trim_start_matches("true_"));
    figure == "active_share" || of_activity.is_some_and(|metric| activity.contains(&metric))
}

impl MeasuredRun {
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// A figure as simulated runs have it: from the first submission to the last end.
    ///
    /// `energy_j` and `active_share` were measured over `energy_window_s`. What that is longer than the makespan,
    /// nothing ran, and the GPUs drew `idle_w`, all of them together in watts. Other figures are as measured; so
    /// are these two where the window or the makespan is not given.
    pub fn figure_over_makespan(&self, name: &str, idle_w: f64) -> Option<f64> {
        let value = self.figure(name)?;
        let spans_s = self.figure("energy_window_s").zip(self.figure("makespan_s"));
        let Some((window_s, makespan_s)) = spans_s.filter(|&(_, makespan_s)| makespan_s > 0.0) else {
            return Some(value);
        };
        Some(match name {
            "energy_j" => value - idle_w * (window_s - makespan_s),
            "active_share" => value * window_s / makespan_s,
            _ => value,
        })
    }
}

/// Error in percent of what was measured; `None` where that is 0.
pub fn error_pct(simulated: f64, measured: f64) -> Option<f64> {
    (measured != 0.0).then(|| 100.0 * (simulated / measured - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "trace,policy,telemetry_blind_gpu,makespan_s,jct_mean_s,failed_attempts\n";

    #[test]
    fn conditions_and_figures_are_read() {
        let text = format!("{HEADER}a,aegis,unknown,10.5,7,\na,lucid,2,9,8,1\n");
        let runs = MeasuredRuns::parse("m.csv", text.as_bytes()).unwrap();
        let aegis = runs.get("a", &"aegis".parse().unwrap()).unwrap();
        assert_eq!((aegis.telemetry.clone(), aegis.telemetry.over_seeds()), (Condition::Unknown, "seeded"));
        assert_eq!((aegis.figure("makespan_s"), aegis.figure("failed_attempts")), (Some(10.5), None));
        let lucid = runs.get("a", &"lucid".parse().unwrap()).unwrap();
        assert_eq!(lucid.telemetry, Condition::Known("2".into()));
        assert!(runs.get("b", &"lucid".parse().unwrap()).is_none());
    }

    #[test]
    fn what_idle_gpus_drew_after_the_run_is_no_energy_to_solution() {
        let header = HEADER.trim_end();
        let text = format!(
            "{header},energy_j,energy_window_s,active_share\na,aegis,none,100,1,0,50000,120,0.5\na,lucid,none,100,1,0,7,,0.5\n"
        );
        let runs = MeasuredRuns::parse("m.csv", text.as_bytes()).unwrap();
        let [aegis, lucid] = runs.runs() else { panic!("two runs") };
        assert_eq!(aegis.figure_over_makespan("energy_j", 200.0), Some(50000.0 - 20.0 * 200.0));
        assert_eq!(aegis.figure_over_makespan("active_share", 200.0), Some(0.6));
        assert_eq!(aegis.figure_over_makespan("makespan_s", 200.0), Some(100.0));
        assert_eq!(lucid.figure_over_makespan("energy_j", 200.0), Some(7.0), "no window");
        assert_eq!(lucid.figure_over_makespan("drama_active_mean", 200.0), None);
    }

    #[test]
    fn shares_are_not_percent() {
        for figure in ["gpu_util_active_mean", "active_share", "true_smact_active_mean"] {
            let text = format!("{},{figure}\na,aegis,none,1,1,0,80\n", HEADER.trim_end());
            let message = MeasuredRuns::parse("m.csv", text.as_bytes()).unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("m.csv, line 2, column {figure}: found 80; expected")),
                "{message}"
            );
        }
        let text = format!("{},power_active_mean_w\na,aegis,none,1,1,0,80\n", HEADER.trim_end());
        assert!(MeasuredRuns::parse("m.csv", text.as_bytes()).is_ok());
    }

    #[test]
    fn mistakes_are_named() {
        for (line, says) in [
            ("a,agis,none,1,1,0", "line 2, column policy: unknown policy \"agis\": did you mean aegis"),
            ("a,aegis,one,1,1,0", "line 2, column telemetry_blind_gpu"),
            ("a,aegis,none,-1,1,0", "line 2, column makespan_s: found -1"),
            ("a,aegis,none,1,1,0\na,aegis,none,1,1,0", "line 3, column policy: aegis on a comes twice"),
        ] {
            let message =
                MeasuredRuns::parse("m.csv", format!("{HEADER}{line}\n").as_bytes()).unwrap_err().to_string();
            assert!(message.starts_with("m.csv, ") && message.contains(says), "{message}");
        }
    }
}
