//! Fits the model's constants to measurements and writes them as model files.
//!
//! Everything here is deterministic: the built-in files are, byte for byte, what the functions below make of
//! the built-in data.

mod cadence;
mod crowd;
mod data;
mod factors;
mod noise;
mod pairs;
mod power;
mod render;
mod repeats;
mod robust;
mod telemetry;

use std::collections::BTreeMap;

pub use noise::run_noise;
pub use power::run_power;
pub use telemetry::run_telemetry;

use crate::cluster::ClusterSpec;
use crate::error::{Result, input_error};
use crate::model::{Interference, Model, PairFactors, Utilization};
use crate::workload::{Catalogue, Trace};
use crowd::CrowdTest;
use factors::Factors;
use pairs::{Fit, Form, Observations, Signal};

/// Measurements that ship with the simulator: where they stand in the repository, and their bytes.
pub const BUILTIN_PAIRS: (&str, &[u8]) =
    ("experiments/measured/pairs.csv", include_bytes!("../../experiments/measured/pairs.csv"));
pub const BUILTIN_MULTIWAY: (&str, &[u8]) =
    ("experiments/measured/multiway.csv", include_bytes!("../../experiments/measured/multiway.csv"));
pub const BUILTIN_TIMELINES: (&str, &[u8]) =
    ("experiments/measured/timelines.csv", include_bytes!("../../experiments/measured/timelines.csv"));
pub const BUILTIN_SOLO_RUNS: (&str, &[u8]) =
    ("experiments/measured/solo_runs.csv", include_bytes!("../../experiments/measured/solo_runs.csv"));

/// What a calibration hands back.
#[derive(Debug, Clone)]
pub struct Report {
    /// A model file.
    pub toml: String,
    /// Names and values for people. Names of errors begin with `error` or `crowd error,`.
    pub lines: Vec<(String, String)>,
}

impl Report {
    /// The lines on errors of what was chosen, in the fit and on what was left out.
    pub fn error_lines(&self) -> impl Iterator<Item = &(String, String)> {
        self.lines.iter().filter(|(name, _)| name.starts_with("error") || name.starts_with("crowd error,"))
    }

    fn line(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.lines.push((name.into(), value.into()));
    }

    fn errors(&mut self, prefix: &str, candidate: &Candidate<'_>) {
        let Candidate { fit, factors, crowd, .. } = candidate;
        for (name, errors) in [
            ("error, profiles, in the fit", &fit.train),
            ("error, profiles, workload left out", &fit.by_workload),
            ("error, profiles, family left out", &fit.by_family),
            ("error, factors, in the fit", &factors.train),
            ("error, factors, pair left out", &factors.by_pair),
        ] {
            self.line(format!("{prefix}{name}"), errors.describe());
        }
        let Some((_, crowd)) = crowd else { return };
        for (name, errors) in [
            ("crowd error, not fitted", &crowd.errors),
            ("crowd error, without a capacity", &crowd.unlimited),
            ("crowd error, without factors", &crowd.profiles),
        ] {
            self.line(format!("{prefix}{name}"), errors.describe());
        }
    }
}

/// Fits the interference model to pairs of jobs and tests it on runs of more jobs, if given: from SMACT and DRAMA, and
/// from GPU utilisation alone; where a workload of the pairs has no SMACT or DRAMA, from the latter only.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used.
pub fn run_pairs(
    pairs_csv: (&str, &[u8]),
    multiway: Option<(&str, &[u8])>,
    catalogue: &Catalogue,
) -> Result<Report> {
    let closing_activity = Model::builtin().telemetry.closing_activity;
    let (source, bytes) = pairs_csv;
    let pairs = data::read_pairs(source, bytes, catalogue)?;
    let crowds = match multiway {
        Some((source, bytes)) => Some((source, data::read_crowds(source, bytes, catalogue)?)),
        None => None,
    };
    let crowds = crowds.as_ref().map(|(source, crowds)| (*source, crowds.as_slice()));
    let uncounted = pairs::without_counters(&pairs, catalogue);
    let signal = if uncounted.is_none() { Signal::Counters } else { Signal::Utilization };
    let by_utilization = Observations::new(&pairs, catalogue, Signal::Utilization, closing_activity);
    let utilization = Fit::new(&by_utilization, Form::Kernels);
    let data = Observations::new(&pairs, catalogue, signal, closing_activity);
    let candidate = |form| {
        let fit = Fit::new(&data, form);
        let factors = factors::fit(&data, &fit.pressures(&data));
        let model = match signal {
            Signal::Counters => model_of_counters(&fit, &factors, &utilization),
            Signal::Utilization => model_of_utilization(&fit, &factors),
        };
        Candidate::new(fit, factors, model, crowds, catalogue, closing_activity)
    };
    let kernels = candidate(Form::Kernels);
    let traffic = (signal == Signal::Counters).then(|| candidate(Form::Traffic));
    let (chosen, rejected) = match traffic {
        Some(traffic) if traffic.score() < kernels.score() => (traffic, Some(kernels)),
        traffic => (kernels, traffic),
    };
    let baselines = [Form::Constant, Form::Linear].map(|form| Fit::new(&data, form));
    let described = render::Pairs { source, catalogue, count: pairs.len(), uncounted, baselines: &baselines };
    let toml = match signal {
        Signal::Counters => render::interference(&described, &chosen, &utilization),
        Signal::Utilization => render::utilization(&described, &chosen),
    };
    let mut report = Report { toml, lines: Vec::new() };
    let model = &chosen.model;
    report.line("pairs", pairs.len().to_string());
    match uncounted {
        None => {
            report.line("base", format!("{:.3}", model.base));
            report.line("memory_slope", format!("{:.3}", model.memory_slope));
            report.line("traffic", format!("{:.3}", model.traffic));
        }
        Some(name) => report.line("fitted to GPU utilisation, as SMACT or DRAMA is not known of", name),
    }
    if let Some(form) = &model.gpu_utilization {
        report.line("gpu_utilization.base", format!("{:.3}", form.base));
        report.line("gpu_utilization.memory_slope", format!("{:.3}", form.memory_slope));
    }
    report.line("capacity", format!("{:.2}", model.capacity));
    report.line("ridge on log factors", chosen.factors.ridge.to_string());
    for (name, fit) in
        ["constant rate", &format!("linear in the sum of {}", signal.name())].into_iter().zip(&baselines)
    {
        report.line(format!("error, {name}, workload left out"), fit.by_workload.describe());
        report.line(format!("error, {name}, family left out"), fit.by_family.describe());
    }
    report.errors("", &chosen);
    if signal == Signal::Counters {
        for (name, errors) in [
            ("error, GPU utilisation alone, in the fit", &utilization.train),
            ("error, GPU utilisation alone, workload left out", &utilization.by_workload),
            ("error, GPU utilisation alone, family left out", &utilization.by_family),
        ] {
            report.line(name, errors.describe());
        }
    }
    if let Some(rejected) = &rejected {
        report.errors(&format!("rejected, traffic {:.3}: ", rejected.model.traffic), rejected);
    }
    if let Some((_, crowd)) = &chosen.crowd {
        report.line("crowd errors by case", crowd.errors.by_case());
    }
    Ok(report)
}

/// As the model file has it.
fn model_of_counters(fit: &Fit, factors: &Factors, utilization: &Fit) -> Interference {
    Interference {
        base: rounded(fit.base()),
        memory_slope: rounded(fit.memory_slope()),
        memory_unit_mib: pairs::MEMORY_UNIT_MIB,
        traffic: rounded(fit.traffic()),
        capacity: Interference::all_time(),
        factors: written(factors),
        gpu_utilization: Some(Utilization {
            base: rounded(utilization.base()),
            memory_slope: rounded(utilization.memory_slope()),
            factors: Default::default(),
        }),
    }
}

/// Likewise; what holds for workloads with SMACT and DRAMA stays as it is built in.
fn model_of_utilization(fit: &Fit, factors: &Factors) -> Interference {
    Interference {
        capacity: Interference::all_time(),
        gpu_utilization: Some(Utilization {
            base: rounded(fit.base()),
            memory_slope: rounded(fit.memory_slope()),
            factors: written(factors),
        }),
        ..Model::builtin().interference.without_factors()
    }
}

/// A fit to pairs with what it makes of runs of more jobs.
struct Candidate<'a> {
    fit: Fit,
    factors: Factors,
    /// As the model file has it.
    model: Interference,
    /// The data's name, and the errors.
    crowd: Option<(&'a str, CrowdTest)>,
}

impl<'a> Candidate<'a> {
    fn new(
        fit: Fit,
        factors: Factors,
        model: Interference,
        crowds: Option<(&'a str, &[data::Crowd])>,
        catalogue: &Catalogue,
        closing_activity: f64,
    ) -> Self {
        let test = |crowds| CrowdTest::of(crowds, &model, catalogue, closing_activity);
        let crowd = crowds.map(|(source, crowds)| (source, test(crowds)));
        Candidate { fit, factors, model, crowd }
    }

    /// Errors on what was left out: of pair speeds, plus of crowds where there are any.
    fn score(&self) -> f64 {
        let crowd = self.crowd.as_ref().map_or(0.0, |(_, crowd)| crowd.errors.score());
        self.fit.by_workload.score() + crowd
    }
}

/// Runtime factors from the built-in exclusive runs on all traces but one.
pub fn runtime_factors_without(trace: &str, catalogue: &Catalogue) -> Result<BTreeMap<String, f64>> {
    let (source, bytes) = BUILTIN_TIMELINES;
    let mut attempts = data::read_attempts(source, bytes, catalogue, None)?;
    attempts.retain(|attempt| attempt.trace != trace);
    Ok(cadence::runtime_factors(&attempts, catalogue))
}

/// Fits runtime factors and the schedulers' lags to runs recorded on the cluster's one server; to one run, if its `trace` is
/// given.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used.
pub fn run_cadence(
    timelines: (&str, &[u8]),
    trace: Option<&Trace>,
    catalogue: &Catalogue,
    cluster: &ClusterSpec,
) -> Result<Report> {
    let (source, bytes) = timelines;
    let attempts = data::read_attempts(source, bytes, catalogue, trace)?;
    let [server] = cluster.servers.as_slice() else {
        return Err(input_error!(
            "{}: found {} servers; the runs of {source} are those of one server, so give a file with that one",
            cluster.source,
            cluster.servers.len()
        ));
    };
    let cadence = cadence::cadence(source, &attempts, catalogue, server.gpus.len())?;
    let mut report = Report { toml: render::cadence(source, &cadence), lines: Vec::new() };
    report.line("exclusive attempts", cadence.attempts.to_string());
    report.line("tick_s [exclusive]", format!("{:.2}", cadence.exclusive_tick_s));
    if let Some(tick_s) = cadence.collocating_tick_s {
        report.line("tick_s [all]", format!("{tick_s:.2}"));
    }
    report.line("detection_lag_s [all]", format!("{:.2}", cadence.detection_lag_s));
    report.line("dispatch_lag_s [all]", format!("{:.2}", cadence.dispatch_lag_s));
    for left in &cadence.left_out {
        let value = format!("{:+.2} %", 100.0 * left.total_error);
        report.line(format!("error of the total runtime, {} left out", left.trace), value);
    }
    report.line("error of a job's runtime, trace left out", format!("{:.2} %", 100.0 * cadence.job_error()));
    report.line(
        "error of a job's runtime, without factors",
        format!("{:.2} %", 100.0 * cadence.job_error_without),
    );
    Ok(report)
}

/// To the digits that model files have, so that what follows from a fit follows from its file.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn written(factors: &Factors) -> BTreeMap<String, PairFactors> {
    // A factor is never 0: such a workload would be one that nothing can disturb.
    let at_least = |value: f64| rounded(value).max(0.001);
    let both = |factors: &PairFactors| PairFactors {
        aggressor: at_least(factors.aggressor),
        sensitivity: at_least(factors.sensitivity),
    };
    factors.of.iter().map(|(name, factors)| (name.clone(), both(factors))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterSpec;
    use crate::experiment::Evaluation;

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
    fn the_builtin_power_is_reproduced() {
        let report = run_power(&Evaluation::builtin().measured, ClusterSpec::builtin().gpu_count()).unwrap();
        assert_same(&report.toml, include_str!("../../models/power.toml"));
    }

    #[test]
    fn the_builtin_cadence_is_reproduced() {
        let report =
            run_cadence(BUILTIN_TIMELINES, None, &Catalogue::builtin(), &ClusterSpec::builtin()).unwrap();
        assert_same(&report.toml, include_str!("../../models/cadence.toml"));
    }

    #[test]
    fn the_builtin_noise_is_reproduced() {
        let report =
            run_noise(BUILTIN_TIMELINES, Some(BUILTIN_SOLO_RUNS), Some(BUILTIN_PAIRS), &Catalogue::builtin());
        assert_same(&report.unwrap().toml, include_str!("../../models/noise.toml"));
    }

    #[test]
    fn runs_are_those_of_the_server_that_is_given() {
        let text =
            "schema_version = 1\n[[server]]\nname = \"a\"\n[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 8\n";
        let refused = |text: &str| {
            let cluster = ClusterSpec::parse("c.toml", text).unwrap();
            run_cadence(BUILTIN_TIMELINES, None, &Catalogue::builtin(), &cluster).unwrap_err().to_string()
        };
        let message = refused(text);
        assert!(message.contains("needs more than the 1 GPUs of the recorded server"), "{message}");
        let message =
            refused(&format!("{text}{}", text.replace("schema_version = 1", "").replace("\"a\"", "\"b\"")));
        assert!(message.starts_with("c.toml: found 2 servers"), "{message}");
    }
}
