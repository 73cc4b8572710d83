//! Fits as model files. Figures are rounded far above what the last bit of a sum can move.

use super::Candidate;
use super::cadence::Cadence;
use super::pairs::{Fit, Signal};
use crate::model::{Interference, PairFactors};
use crate::workload::{BUILTIN_CATALOGUE, Catalogue};

/// Where a fit comes from, and what is simpler.
pub struct Pairs<'a> {
    pub source: &'a str,
    pub catalogue: &'a Catalogue,
    pub count: usize,
    /// A workload without SMACT or DRAMA.
    pub uncounted: Option<&'a str>,
    /// A constant rate, and one linear in the sum of both jobs' signals.
    pub baselines: &'a [Fit; 2],
}

impl Pairs<'_> {
    /// What was fitted to which data by which command.
    fn origin(&self, candidate: &Candidate<'_>) -> String {
        let Pairs { source, count, .. } = self;
        let multiway =
            candidate.crowd.as_ref().map_or(String::new(), |(source, _)| format!(" --multiway {source}"));
        let workloads = match self.catalogue.source() {
            BUILTIN_CATALOGUE => String::new(),
            other => format!(" --workloads {other}"),
        };
        format!(
            "\
# Fitted to {count} pairs in {source} by
#   aegis-sim calibrate pairs {source}{multiway}{workloads}
"
        )
    }

    /// Errors of the chosen form and of the baselines.
    fn errors(&self, candidate: &Candidate<'_>, signal: Signal) -> String {
        let Candidate { fit, factors, .. } = candidate;
        let [constant, linear] = self.baselines;
        format!(
            "\
# Absolute errors of rates and speeds (fractions of those alone), from profiles, the workload left out:
#   {}
# the family of workloads (model architecture) left out:
#   {}
# with factors (ridge {}), the pair left out:
#   {}
# Baselines, the workload left out: a constant rate, and one linear in the sum of both jobs' {}:
#   {}
#   {}
",
            fit.by_workload.describe(),
            fit.by_family.describe(),
            factors.ridge,
            factors.by_pair.describe(),
            signal.name(),
            constant.by_workload.describe(),
            linear.by_workload.describe(),
        )
    }
}

const ABOUT_UTILIZATION: &str = "\
# Where the aggressor's SMACT or the DRAMA of either is not known, from GPU utilisation, [interference.gpu_utilization]:
# p = aggressor sensitivity u^2 (base + memory_slope m)
# s, d, u: solo mean SMACT, DRAMA and GPU utilisation (0..1); m: peak memory / memory_unit_mib; the factors are 1 where
# not below.
#
";

const HEAD: &str = "\
# Interference between jobs that share a GPU.
#
# rate = 1 / (1 + sum over aggressors of p); all are lower in proportion where the sum of s x rate exceeds capacity
# p = aggressor sensitivity (s^2 (base + memory_slope m) + traffic d d_victim)
";

pub fn interference(pairs: &Pairs<'_>, candidate: &Candidate<'_>, utilization: &Fit) -> String {
    let model = &candidate.model;
    let mut text = format!(
        "\
{HEAD}{ABOUT_UTILIZATION}{}{}\
# From GPU utilisation alone, the workload left out:
#   {}
# the family left out:
#   {}
{}# traffic is in the model where it lowers the errors on what is left out.
schema_version = 1

{}",
        pairs.origin(candidate),
        pairs.errors(candidate, Signal::Counters),
        utilization.by_workload.describe(),
        utilization.by_family.describe(),
        crowds(candidate),
        constants(model),
    );
    for (workload, factors) in &model.factors {
        text += &factor_section("interference.factors", workload, factors);
    }
    text
}

/// The same where SMACT or DRAMA is not known.
pub fn utilization(pairs: &Pairs<'_>, candidate: &Candidate<'_>) -> String {
    let model = &candidate.model;
    let mut text = format!(
        "\
{HEAD}{ABOUT_UTILIZATION}{}\
# to GPU utilisation alone, as SMACT or DRAMA is not known of {}; the constants for workloads with
# both, base, memory_slope and traffic in [interference], are the built-in ones.
{}{}schema_version = 1

{}",
        pairs.origin(candidate),
        pairs.uncounted.unwrap_or_default(),
        pairs.errors(candidate, Signal::Utilization),
        crowds(candidate),
        constants(model),
    );
    for (workload, factors) in model.gpu_utilization.iter().flat_map(|form| &form.factors) {
        text += &factor_section("interference.gpu_utilization.factors", workload, factors);
    }
    text
}

fn crowds(candidate: &Candidate<'_>) -> String {
    let Some((source, crowd)) = &candidate.crowd else { return String::new() };
    format!(
        "\
# Mean absolute relative errors by mean and by worst slowdown of runs of several jobs in {source},
# to which nothing is fitted:
#   {}
#   without a capacity: {}
",
        crowd.errors.describe(),
        crowd.unlimited.describe(),
    )
}

fn constants(model: &Interference) -> String {
    let mut text = format!(
        "\
[interference]
base = {:.3}
memory_slope = {:.3}
memory_unit_mib = {:?}
traffic = {:.3}
capacity = {:.2} # a GPU cannot be busy for more than all of the time
",
        model.base, model.memory_slope, model.memory_unit_mib, model.traffic, model.capacity,
    );
    if let Some(form) = &model.gpu_utilization {
        text += &format!(
            "\n[interference.gpu_utilization]\nbase = {:.3}\nmemory_slope = {:.3}\n",
            form.base, form.memory_slope
        );
    }
    text
}

fn factor_section(section: &str, workload: &str, factors: &PairFactors) -> String {
    let name = toml::Value::from(workload);
    format!(
        "\n[{section}.{name}]\naggressor = {:.3}\nsensitivity = {:.3}\n",
        factors.aggressor, factors.sensitivity
    )
}

pub fn cadence(source: &str, cadence: &Cadence) -> String {
    let left_out: String = cadence
        .left_out
        .iter()
        .map(|left| format!("#   {}: {:+.2} %\n", left.trace, 100.0 * left.total_error))
        .collect();
    let collocating_tick = cadence.collocating_tick_s.map_or(String::new(), |tick_s| {
        format!("#   tick_s = {tick_s:.2} # mean interval between aegis dispatches less than 5 s apart\n")
    });
    let mut text = format!(
        "\
# Runtime in a run over the profile's solo runtime, by workload.
#
# Means over the {} attempts of the exclusive runs in {source}, by
#   aegis-sim calibrate cadence {source}
# Total runtime of a trace predicted from the other traces:
{left_out}# Mean absolute error of a job's runtime there: {:.2} %; with the profile's solo runtime as it is: {:.2} %.
#
# The same runs give constants that live elsewhere.
# models/params/default.toml, [exclusive]:
#   tick_s = {:.2} # shortest interval between dispatches
# models/params/default.toml, [all]:
{collocating_tick}#   detection_lag_s = {:.2} # mean wait of the first in the queue once its GPUs are free, less half a tick
#   dispatch_lag_s = {:.2}
schema_version = 1

[runtime_factors]
",
        cadence.attempts,
        100.0 * cadence.job_error(),
        100.0 * cadence.job_error_without,
        cadence.exclusive_tick_s,
        cadence.detection_lag_s,
        cadence.dispatch_lag_s,
    );
    for (workload, factor) in &cadence.runtime_factors {
        text += &format!("\"{workload}\" = {factor:.5}\n");
    }
    text
}
