//! Fits as model files. Figures are rounded far above what the last bit of a sum can move.

use super::Candidate;
use super::cadence::Cadence;
use super::pairs::MEMORY_UNIT_MIB;

pub fn interference(source: &str, pairs: usize, candidate: &Candidate<'_>) -> String {
    let Candidate { fit, model, crowd } = candidate;
    let option = crowd.as_ref().map_or(String::new(), |(source, _)| format!(" --multiway {source}"));
    let about_crowding = match crowd {
        Some((source, crowd)) => format!(
            "\
# crowding is fitted to runs of several jobs in {source}, all else to pairs.
# Mean absolute relative errors there, by mean and by worst slowdown of a run:
#   without crowding: {}
#   with crowding: {}
#   with crowding, runs of the same jobs left out: {}
# traffic is in the model where it lowers the errors on what is left out.
",
            crowd.without.describe(),
            crowd.train.describe(),
            crowd.held_out.describe()
        ),
        None => "# crowding is not fitted: that takes runs of three and more jobs (--multiway).\n".to_owned(),
    };
    let mut text = format!(
        "\
# Interference between jobs that share a GPU.
#
# rate = 1 / (1 + sum over aggressors of p + crowding max(0, aggressors - 1))
# p = aggressor sensitivity (s^2 (base + memory_slope m) + traffic d d_victim)
# s, d: solo mean SMACT and DRAMA (0..1); m: peak memory / memory_unit_mib; the factors are 1 where not below.
#
# Fitted to {pairs} pairs in {source} by
#   aegis-sim calibrate pairs {source}{option}
# Absolute errors of rates and speeds (fractions of those alone), from profiles, the workload left out:
#   {}
# with factors (ridge {}), the pair left out:
#   {}
{about_crowding}schema_version = 1

[interference]
base = {:.3}
memory_slope = {:.3}
memory_unit_mib = {MEMORY_UNIT_MIB:?}
traffic = {:.3}
crowding = {:.3}
",
        fit.by_workload.describe(),
        fit.factors.ridge,
        fit.factors.by_pair.describe(),
        model.base,
        model.memory_slope,
        model.traffic,
        model.crowding,
    );
    for (workload, factors) in &model.factors {
        text += &format!(
            "\n[interference.factors.\"{workload}\"]\naggressor = {:.3}\nsensitivity = {:.3}\n",
            factors.aggressor, factors.sensitivity
        );
    }
    text
}

pub fn cadence(source: &str, cadence: &Cadence) -> String {
    let left_out: String = cadence
        .left_out
        .iter()
        .map(|left| format!("#   {}: {:+.2} %\n", left.trace, 100.0 * left.total_error))
        .collect();
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
#   tick_s = {:.2} # mean interval between aegis dispatches less than 5 s apart
#   detection_lag_s = {:.2} # mean wait of the first in the queue once its GPUs are free, less half a tick
#   dispatch_lag_s = {:.2}
# models/noise.toml, [noise]:
#   runtime_sigma = {:.3} # pooled over workloads
schema_version = 1

[runtime_factors]
",
        cadence.attempts,
        100.0 * cadence.job_error(),
        100.0 * cadence.job_error_without,
        cadence.exclusive_tick_s,
        cadence.collocating_tick_s,
        cadence.detection_lag_s,
        cadence.dispatch_lag_s,
        cadence.runtime_sigma,
    );
    for (workload, factor) in &cadence.runtime_factors {
        text += &format!("\"{workload}\" = {factor:.5}\n");
    }
    text
}
