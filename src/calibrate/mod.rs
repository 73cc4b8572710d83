//! Fits the model's constants to measurements and writes them as model files.
//!
//! Everything here is deterministic: the built-in files are, byte for byte, what the functions below make of
//! the built-in data.

mod cadence;
mod crowd;
mod data;
mod factors;
mod host;
mod pairs;
mod render;
mod robust;
mod telemetry;

pub use host::run_host;
pub use telemetry::run_telemetry;

use crate::error::Result;
use crate::model::{Interference, PairFactors};
use crate::workload::Catalogue;

/// Measurements that ship with the simulator: where they stand in the repository, and their bytes.
pub const BUILTIN_PAIRS: (&str, &[u8]) =
    ("experiments/measured/pairs.csv", include_bytes!("../../experiments/measured/pairs.csv"));
pub const BUILTIN_MULTIWAY: (&str, &[u8]) =
    ("experiments/measured/multiway.csv", include_bytes!("../../experiments/measured/multiway.csv"));
pub const BUILTIN_TIMELINES: (&str, &[u8]) =
    ("experiments/measured/timelines.csv", include_bytes!("../../experiments/measured/timelines.csv"));

/// What a calibration hands back.
#[derive(Debug, Clone)]
pub struct Report {
    /// A model file.
    pub toml: String,
    /// Names and values for people.
    pub lines: Vec<(String, String)>,
}

impl Report {
    fn line(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.lines.push((name.into(), value.into()));
    }

    fn errors(&mut self, prefix: &str, candidate: &Candidate<'_>) {
        let Candidate { fit, crowd, .. } = candidate;
        for (name, errors) in [
            ("error, profiles, in the fit", &fit.train),
            ("error, profiles, workload left out", &fit.by_workload),
            ("error, profiles, family left out", &fit.by_family),
            ("error, factors, in the fit", &fit.factors.train),
            ("error, factors, pair left out", &fit.factors.by_pair),
        ] {
            self.line(format!("{prefix}{name}"), errors.describe());
        }
        let Some((_, crowd)) = crowd else { return };
        for (name, errors) in [
            ("crowd error, no crowding", &crowd.without),
            ("crowd error, in the fit", &crowd.train),
            ("crowd error, same jobs left out", &crowd.held_out),
            ("crowd error, without factors", &crowd.profiles),
        ] {
            self.line(format!("{prefix}{name}"), errors.describe());
        }
    }
}

/// Fits the interference model to pairs of jobs and, if given, to runs of more jobs.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used.
pub fn run_pairs(
    pairs_csv: (&str, &[u8]),
    multiway: Option<(&str, &[u8])>,
    catalogue: &Catalogue,
) -> Result<Report> {
    let (source, bytes) = pairs_csv;
    let pairs = data::read_pairs(source, bytes, catalogue)?;
    let crowds = match multiway {
        Some((source, bytes)) => Some((source, data::read_crowds(source, bytes, catalogue)?)),
        None => None,
    };
    let [kernels, traffic] = pairs::fits(&pairs, catalogue).map(|fit| {
        let crowds = crowds.as_ref().map(|(source, crowds)| (*source, crowds.as_slice()));
        Candidate::new(fit, crowds, catalogue)
    });
    let (chosen, rejected) =
        if traffic.score() < kernels.score() { (traffic, kernels) } else { (kernels, traffic) };
    let mut report = Report { toml: render::interference(source, pairs.len(), &chosen), lines: Vec::new() };
    let model = &chosen.model;
    report.line("pairs", pairs.len().to_string());
    report.line("base", format!("{:.3}", model.base));
    report.line("memory_slope", format!("{:.3}", model.memory_slope));
    report.line("traffic", format!("{:.3}", model.traffic));
    report.line("crowding", format!("{:.3}", model.crowding));
    report.line("ridge on log factors", chosen.fit.factors.ridge.to_string());
    let [constant, linear] = pairs::baselines(&pairs, catalogue);
    report.line("error, constant rate, workload left out", constant.describe());
    report.line("error, linear in SMACT, workload left out", linear.describe());
    report.errors("", &chosen);
    report.errors(&format!("rejected, traffic {:.3}: ", rejected.model.traffic), &rejected);
    if let Some((_, crowd)) = &chosen.crowd {
        report.line("crowd errors by case, left out", crowd.held_out.by_case());
        report.line("crowd error, pressures multiplied, no crowding", crowd.product.describe());
    }
    Ok(report)
}

/// A fit to pairs with what it makes of runs of more jobs.
struct Candidate<'a> {
    fit: pairs::Fit,
    /// As the model file has it.
    model: Interference,
    /// The data's name, and the fit.
    crowd: Option<(&'a str, crowd::CrowdFit)>,
}

impl<'a> Candidate<'a> {
    fn new(fit: pairs::Fit, crowds: Option<(&'a str, &[data::Crowd])>, catalogue: &Catalogue) -> Self {
        let mut model = Interference {
            base: rounded(fit.base),
            memory_slope: rounded(fit.memory_slope),
            memory_unit_mib: pairs::MEMORY_UNIT_MIB,
            traffic: rounded(fit.traffic),
            crowding: 0.0,
            factors: fit.factors.of.iter().map(|(name, &factors)| (name.clone(), written(factors))).collect(),
        };
        let crowd = crowds.map(|(source, crowds)| (source, crowd::fit(crowds, &model, catalogue)));
        if let Some((_, crowd)) = &crowd {
            model.crowding = rounded(crowd.crowding);
        }
        Candidate { fit, model, crowd }
    }

    /// Errors on what was left out: of pair speeds, plus of crowds where there are any.
    fn score(&self) -> f64 {
        let crowd = self.crowd.as_ref().map_or(0.0, |(_, crowd)| crowd.held_out.score());
        self.fit.by_workload.score() + crowd
    }
}

/// Fits runtime factors and the schedulers' lags to recorded runs.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used.
pub fn run_cadence(timelines: (&str, &[u8]), catalogue: &Catalogue) -> Result<Report> {
    let (source, bytes) = timelines;
    let attempts = data::read_attempts(source, bytes, catalogue)?;
    let cadence = cadence::cadence(source, &attempts, catalogue)?;
    let mut report = Report { toml: render::cadence(source, &cadence), lines: Vec::new() };
    report.line("exclusive attempts", cadence.attempts.to_string());
    report.line("tick_s [exclusive]", format!("{:.2}", cadence.exclusive_tick_s));
    report.line("tick_s [all]", format!("{:.2}", cadence.collocating_tick_s));
    report.line("detection_lag_s [all]", format!("{:.2}", cadence.detection_lag_s));
    report.line("dispatch_lag_s [all]", format!("{:.2}", cadence.dispatch_lag_s));
    report.line("runtime_sigma [noise]", format!("{:.3}", cadence.runtime_sigma));
    for left in &cadence.left_out {
        let value = format!("{:+.2} %", 100.0 * left.total_error);
        report.line(format!("error of the total runtime, {} left out", left.trace), value);
    }
    report.line("error of a job's runtime, trace left out", format!("{:.2} %", 100.0 * cadence.job_error()));
    report.line("the same without factors", format!("{:.2} %", 100.0 * cadence.job_error_without));
    Ok(report)
}

/// To the digits that model files have, so that what follows from a fit follows from its file.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn written(factors: PairFactors) -> PairFactors {
    // A factor is never 0: such a workload would be one that nothing can disturb.
    let at_least = |value: f64| rounded(value).max(0.001);
    PairFactors { aggressor: at_least(factors.aggressor), sensitivity: at_least(factors.sensitivity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_same(got: &str, file: &str) {
        let different = got.lines().zip(file.lines()).find(|(got, file)| got != file);
        assert!(got == file, "first difference (fit, file): {different:?}");
    }

    #[test]
    fn the_builtin_interference_is_reproduced() {
        let report = run_pairs(BUILTIN_PAIRS, Some(BUILTIN_MULTIWAY), &Catalogue::builtin()).unwrap();
        assert_same(&report.toml, include_str!("../../models/interference.toml"));
    }

    #[test]
    fn the_builtin_cadence_is_reproduced() {
        let report = run_cadence(BUILTIN_TIMELINES, &Catalogue::builtin()).unwrap();
        assert_same(&report.toml, include_str!("../../models/cadence.toml"));
    }
}
