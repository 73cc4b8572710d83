//! Power of a GPU by its activity, from what whole runs drew and used: nothing is simulated.

use super::{Report, pairs::mean};
use crate::error::{Result, input_error};
use crate::experiment::{Evaluation, MeasuredRun, MeasuredRuns};
use crate::model::{Power, SAMPLED_METRICS};
use crate::workload::Metric;

/// A measured run, by GPU: means over the run's energy window or over the time in which a GPU was active.
struct Sample {
    trace: String,
    /// Share of the window.
    active_share: f64,
    /// While active, in the order of [`Metric`]; SMACT and SMOCC are not known of blind GPUs, and 0.
    activity: [f64; SAMPLED_METRICS],
    active_w: f64,
    /// While not active.
    idle_w: f64,
    /// Energy over the window, per second of it.
    energy_w: f64,
}

/// What power may follow, beside being idle.
const FORMS: [(&str, &[Metric]); 3] = [
    ("GPU utilisation", &[Metric::GpuUtil]),
    ("DRAMA", &[Metric::Drama]),
    ("both", &[Metric::GpuUtil, Metric::Drama]),
];

/// Relative errors with sign.
#[derive(Default)]
struct Errors {
    active: Vec<f64>,
    energy: Vec<f64>,
}

/// Fits the power of a GPU to measured runs of a cluster with so many GPUs.
///
/// Idle power is what is left of the mean power without active GPUs. The coefficients, at least 0, minimise the
/// squared relative errors of the mean power while active. Of GPU utilisation, DRAMA and both, power follows what does best on traces
/// left out.
///
/// # Errors
/// A run without one of the figures that it takes, or with figures that contradict each other; runs of one trace only.
pub fn run_power(measured: &MeasuredRuns, gpus: usize) -> Result<Report> {
    let source = measured.source();
    let samples =
        measured.runs().iter().map(|run| sample(source, run, gpus)).collect::<Result<Vec<Sample>>>()?;
    let mut traces: Vec<&str> = Vec::new();
    for sample in &samples {
        if !traces.contains(&sample.trace.as_str()) {
            traces.push(&sample.trace);
        }
    }
    if traces.len() < 2 {
        return Err(input_error!(
            "{source}: found runs of {} trace(s); a fit is tested on traces left out, so give runs of two at least",
            traces.len()
        ));
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let by_form = FORMS.map(|(_, metrics)| left_out(&all, &traces, metrics));
    let all_left_out = by_form.each_ref().map(|of_traces| Errors {
        active: of_traces.iter().flat_map(|errors| errors.active.clone()).collect(),
        energy: of_traces.iter().flat_map(|errors| errors.energy.clone()).collect(),
    });
    // Rounded, so that ties do not hang on the last bit; of equals the first, which is the simpler.
    let score = |form: &usize| (mean(&absolute(&all_left_out[*form].active)) * 1e9).round() as i64;
    let chosen = (0..FORMS.len()).min_by_key(score).unwrap_or(0);
    let power = fit(&all, FORMS[chosen].1);
    let errors = errors(&all, &power);
    let idle: Vec<f64> = samples.iter().map(|sample| sample.idle_w).collect();
    let (lowest, highest) =
        (idle.iter().copied().fold(f64::INFINITY, f64::min), idle.iter().copied().fold(0.0, f64::max));

    let mut report = Report { toml: String::new(), lines: Vec::new() };
    report.line("runs", samples.len().to_string());
    report.line("idle_w", format!("{:.1} ({lowest:.1} to {highest:.1})", power.idle_w));
    report.line("gpu_util_w", format!("{:.1}", power.gpu_util_w));
    report.line("drama_w", format!("{:.1}", power.drama_w));
    report.line("error, in the fit", describe(&errors));
    let (mut forms, mut by_trace) = (String::new(), String::new());
    for ((name, _), errors) in FORMS.iter().zip(&all_left_out) {
        report.line(format!("error by {name}, traces left out"), describe(errors));
        forms += &format!("#   {name}: {}\n", describe(errors));
    }
    for (trace, errors) in traces.iter().zip(&by_form[chosen]) {
        report.line(format!("error on {trace}, fitted to the others"), describe(errors));
        by_trace += &format!("#   {trace}: {}\n", describe(errors));
    }
    let given = if *measured == Evaluation::builtin().measured {
        String::new()
    } else {
        format!(" --measured {source}")
    };
    report.toml = format!(
        "\
# Electrical power of a GPU in watts: idle_w + gpu_util_w x GPU utilisation + drama_w x DRAMA.
#
# Fitted to the {} measured runs in {source} by
#   aegis-sim calibrate power{given}
# idle_w: what is left of power_mean_w without the share of active GPUs, {lowest:.1} to {highest:.1} W by run.
# The others: to power_active_mean_w, by what does best on traces left out. Errors there, of the power of an active GPU and of
# the energy over the window, mean and worst run:
{forms}# In the fit: {}
# On each trace, fitted to the others:
{by_trace}schema_version = 1

[power]
idle_w = {:.1}
gpu_util_w = {:.1}
drama_w = {:.1}
",
        samples.len(),
        describe(&errors),
        power.idle_w,
        power.gpu_util_w,
        power.drama_w,
    );
    Ok(report)
}

fn sample(source: &str, run: &MeasuredRun, gpus: usize) -> Result<Sample> {
    let figure = |name: &str| {
        run.figure(name).filter(|&value| value > 0.0).ok_or_else(|| {
            input_error!("{source}: the run of {} on {} has no {name}; fill it in", run.policy, run.trace)
        })
    };
    let mut activity = [0.0; SAMPLED_METRICS];
    activity[Metric::Drama as usize] = figure("drama_active_mean")?;
    activity[Metric::GpuUtil as usize] = figure("gpu_util_active_mean")?;
    let (active_share, active_w) = (figure("active_share")?, figure("power_active_mean_w")?);
    let idle_w = (figure("power_mean_w")? - active_share * active_w) / (1.0 - active_share);
    if !(idle_w > 0.0 && idle_w < active_w) {
        return Err(input_error!(
            "{source}: power_mean_w, power_active_mean_w and active_share of {} on {} leave an idle GPU {idle_w:.1} W; \
             expected more than 0 W and less than an active one",
            run.policy,
            run.trace
        ));
    }
    let energy_w = figure("energy_j")? / (figure("energy_window_s")? * gpus as f64);
    Ok(Sample { trace: run.trace.clone(), active_share, activity, active_w, idle_w, energy_w })
}

/// Weighted least squares by the normal equations of one or two metrics. Where one of two would lower power, the other
/// one does better alone.
fn fit(samples: &[&Sample], metrics: &[Metric]) -> Power {
    let idle_w = rounded(mean(&samples.iter().map(|sample| sample.idle_w).collect::<Vec<_>>()));
    let sum = |term: &dyn Fn(&Sample) -> f64| {
        samples.iter().map(|sample| term(sample) / sample.active_w.powi(2)).sum::<f64>()
    };
    let product =
        |a: Metric, b: Metric| sum(&|sample| sample.activity[a as usize] * sample.activity[b as usize]);
    let target = |a: Metric| sum(&|sample| sample.activity[a as usize] * (sample.active_w - idle_w));
    let mut coefficients = [0.0; SAMPLED_METRICS];
    match *metrics {
        [a, b] => {
            let determinant = product(a, a) * product(b, b) - product(a, b).powi(2);
            let of_a = (target(a) * product(b, b) - target(b) * product(a, b)) / determinant;
            let of_b = (target(b) * product(a, a) - target(a) * product(a, b)) / determinant;
            match (of_a >= 0.0, of_b >= 0.0) {
                (true, true) => (coefficients[a as usize], coefficients[b as usize]) = (of_a, of_b),
                (false, _) => coefficients[b as usize] = target(b) / product(b, b),
                (_, _) => coefficients[a as usize] = target(a) / product(a, a),
            }
        }
        _ => metrics.iter().for_each(|&a| coefficients[a as usize] = target(a) / product(a, a)),
    }
    Power {
        idle_w,
        gpu_util_w: rounded(coefficients[Metric::GpuUtil as usize]),
        drama_w: rounded(coefficients[Metric::Drama as usize]),
    }
}

/// Errors on each trace of a fit to the others.
fn left_out(samples: &[&Sample], traces: &[&str], metrics: &[Metric]) -> Vec<Errors> {
    let on_trace = |trace: &&str| {
        let (test, train): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| sample.trace == *trace);
        errors(&test, &fit(&train, metrics))
    };
    traces.iter().map(on_trace).collect()
}

fn errors(samples: &[&Sample], power: &Power) -> Errors {
    let mut errors = Errors::default();
    for sample in samples {
        let active_w = power.of(&sample.activity);
        let energy_w = sample.active_share * active_w + (1.0 - sample.active_share) * power.idle_w;
        errors.active.push(active_w / sample.active_w - 1.0);
        errors.energy.push(energy_w / sample.energy_w - 1.0);
    }
    errors
}

fn absolute(errors: &[f64]) -> Vec<f64> {
    errors.iter().map(|error| error.abs()).collect()
}

fn describe(errors: &Errors) -> String {
    let [active, energy] = [&errors.active, &errors.energy].map(|errors| {
        let errors = absolute(errors);
        let worst = errors.iter().copied().fold(0.0, f64::max);
        format!("{:.2} % (worst {:.2} %)", 100.0 * mean(&errors), 100.0 * worst)
    });
    format!("power {active}, energy {energy}")
}

/// To the digits that the model file has.
fn rounded(watts: f64) -> f64 {
    (watts * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "trace,policy,telemetry_blind_gpu,makespan_s,jct_mean_s,failed_attempts,active_share,\
        gpu_util_active_mean,drama_active_mean,power_active_mean_w,power_mean_w,energy_window_s,energy_j\n";

    /// Runs of GPUs that draw 50 W + `watts` by GPU utilisation and DRAMA, half of the time.
    fn runs(watts: impl Fn(f64, f64) -> f64, traces: [&str; 2]) -> String {
        let mut text = HEADER.to_owned();
        for (trace, policy, gpu_util, drama) in [
            (traces[0], "exclusive", 0.5, 0.4),
            (traces[0], "aegis", 0.75, 0.1),
            (traces[1], "exclusive", 0.6, 0.3),
            (traces[1], "aegis", 0.9, 0.35),
        ] {
            let active_w = 50.0 + watts(gpu_util, drama);
            let mean_w = (active_w + 50.0) / 2.0;
            let energy_j = 2.0 * 100.0 * mean_w;
            text += &format!(
                "{trace},{policy},none,90,9,0,0.5,{gpu_util},{drama},{active_w},{mean_w},100,{energy_j}\n"
            );
        }
        text
    }

    fn fitted(text: &str) -> Result<Report> {
        run_power(&MeasuredRuns::parse("m.csv", text.as_bytes()).unwrap(), 2)
    }

    #[test]
    fn the_form_that_made_the_data_is_found() {
        for (gpu_util_w, drama_w) in [(200.0, 0.0), (0.0, 300.0), (150.0, 80.0)] {
            let text = runs(|gpu_util, drama| gpu_util_w * gpu_util + drama_w * drama, ["a", "b"]);
            let toml = fitted(&text).unwrap().toml;
            let expected =
                format!("[power]\nidle_w = 50.0\ngpu_util_w = {gpu_util_w:.1}\ndrama_w = {drama_w:.1}\n");
            assert!(toml.ends_with(&expected), "{toml}");
            assert!(toml.contains("#   aegis-sim calibrate power --measured m.csv\n"), "{toml}");
            assert!(toml.contains("power 0.00 % (worst 0.00 %), energy 0.00 % (worst 0.00 %)"), "{toml}");
        }
    }

    #[test]
    fn a_coefficient_is_never_negative() {
        let text = runs(|gpu_util, drama| 250.0 * gpu_util - 40.0 * drama, ["a", "b"]);
        let runs = MeasuredRuns::parse("m.csv", text.as_bytes()).unwrap();
        let samples: Vec<Sample> = runs.runs().iter().map(|run| sample("m.csv", run, 2).unwrap()).collect();
        let power = fit(&samples.iter().collect::<Vec<_>>(), FORMS[2].1);
        assert_eq!(power.drama_w, 0.0);
        assert!(power.gpu_util_w > 200.0, "{power:?}");
    }

    #[test]
    fn mistakes_are_named() {
        let good = runs(|gpu_util, _| 200.0 * gpu_util, ["a", "b"]);
        for (text, says) in [
            (
                good.replace(",drama_active_mean", ",other"),
                "the run of exclusive on a has no drama_active_mean",
            ),
            (good.replace("0.5,0.5,0.4,150", "0.5,0.5,0.4,15"), "leave an idle GPU 185.0 W"),
            (
                runs(|gpu_util, _| 200.0 * gpu_util, ["a", "a"])
                    .replace("a,exclusive,none,90,9,0,0.5,0.6", "a,lucid,none,90,9,0,0.5,0.6")
                    .replace("a,aegis,none,90,9,0,0.5,0.9", "a,horus,none,90,9,0,0.5,0.9"),
                "found runs of 1 trace(s)",
            ),
        ] {
            let message = fitted(&text).unwrap_err().to_string();
            assert!(message.starts_with("m.csv: ") && message.contains(says), "{message}");
        }
    }
}
