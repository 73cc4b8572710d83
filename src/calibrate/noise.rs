//! How runs differ: spreads of runtimes from repeated runs, of start-ups from attempts that died of OOM, and of
//! pressures from pairs that were left out.

use super::data::{self, AttemptRow};
use super::pairs::{self, Errors, Fit, Form, Observations, Signal, mean};
use super::repeats::{Law, collect, law_of};
use super::{Report, factors};
use crate::error::{Result, input_error};
use crate::model::{Model, Noise};
use crate::workload::{BUILTIN_CATALOGUE, Catalogue};

/// Laws that are compared: the host's part grows with this power of the share of time in which the GPU is not used.
/// 0 is one spread for all.
const POWERS: [i32; 4] = [0, 1, 2, 3];
/// Spread of log(start-up / profiled start-up), and the number of attempts: those that died of OOM ended so long
/// after their first activity.
fn startup_sigma(attempts: &[AttemptRow], oom_exit_s: f64, catalogue: &Catalogue) -> Option<(f64, usize)> {
    let logs: Vec<f64> = attempts
        .iter()
        .filter(|attempt| attempt.out_of_memory)
        .map(|attempt| {
            let startup_s = attempt.end_s - attempt.launch_s - oom_exit_s;
            startup_s / catalogue.workloads()[attempt.workload].startup_s
        })
        // A workload without start-up, or one that died at once, has no log.
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .map(f64::ln)
        .collect();
    let centre = mean(&logs);
    let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
    (logs.len() > 1).then(|| ((squares / (logs.len() - 1) as f64).sqrt(), logs.len()))
}

/// Spread of log(pressure / modelled pressure) in pairs that a fit did not know.
struct PressureSpread {
    sigma: f64,
    /// Root mean square of the errors of contended rates, and what run-to-run noise alone makes of it.
    error: f64,
    run_to_run: f64,
}

/// An error of a contended rate comes from the pressure, by the rate's slope, and from the victim's runtimes, alone and
/// in the pair, which vary from run to run.
///
/// The spread is the least-squares fit of what squared errors have beyond the latter to squared slopes: pairs count by how much a
/// pressure matters to them. The many that hardly press on each other have errors of about 0.03 all the same, which no
/// factor on a pressure explains.
fn pressure_spread(data: &Observations<'_>, errors: &Errors, noise: &Noise) -> Option<PressureSpread> {
    let (mut explained, mut weights) = (0.0, 0.0);
    let (mut squares, mut run_to_run) = (Vec::new(), Vec::new());
    for &(k, rate) in &errors.predicted {
        let victim = &data.catalogue.workloads()[data.workloads[data.sides[k][0]]];
        let slope = rate * (1.0 - rate);
        let square = (rate - data.rates[k]).powi(2);
        let runs = 2.0 * (rate * noise.runtime_sigma(victim.profile(0))).powi(2);
        explained += slope.powi(2) * (square - runs);
        weights += slope.powi(4);
        squares.push(square);
        run_to_run.push(runs);
    }
    (weights > 0.0).then(|| PressureSpread {
        sigma: ((explained / weights).max(0.0).sqrt() * 100.0).round() / 100.0,
        error: mean(&squares).sqrt(),
        run_to_run: mean(&run_to_run).sqrt(),
    })
}

/// Spreads of pressures: with pair factors, the pair left out, and from profiles alone, the workload left out.
fn pressures(
    source: &str,
    bytes: &[u8],
    catalogue: &Catalogue,
    noise: &Noise,
) -> Result<[PressureSpread; 2]> {
    let pairs = data::read_pairs(source, bytes, catalogue)?;
    let fit_of = |signal, form| {
        let data = Observations::new(&pairs, catalogue, signal, Model::builtin().telemetry.closing_activity);
        let fit = Fit::new(&data, form);
        (data, fit)
    };
    let (data, fit) = match pairs::without_counters(&pairs, catalogue) {
        Some(_) => fit_of(Signal::Utilization, Form::Kernels),
        None => [Form::Kernels, Form::Traffic]
            .map(|form| fit_of(Signal::Counters, form))
            .into_iter()
            .reduce(|a, b| if b.1.by_workload.score() < a.1.by_workload.score() { b } else { a })
            .expect("there are two"),
    };
    let factors = factors::fit(&data, &fit.pressures(&data));
    let spread = |errors| {
        pressure_spread(&data, errors, noise).ok_or_else(|| {
            input_error!(
                "{source}: too few pairs with a pressure to leave any out; give pairs of more workloads"
            )
        })
    };
    Ok([spread(&factors.by_pair)?, spread(&fit.by_workload)?])
}

/// Fits all run-to-run noise. What data are not given for stays as it is built in.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used, and timelines
/// in which no workload ran twice under the policy exclusive.
pub fn run_noise(
    timelines: (&str, &[u8]),
    solo_runs: Option<(&str, &[u8])>,
    pairs_csv: Option<(&str, &[u8])>,
    catalogue: &Catalogue,
) -> Result<Report> {
    let (source, bytes) = timelines;
    let attempts = data::read_attempts(source, bytes, catalogue, None)?;
    let solo = match solo_runs {
        Some((source, bytes)) => data::read_solo_runs(source, bytes, catalogue)?,
        None => Vec::new(),
    };
    let runs = collect(&attempts, &solo, catalogue);
    let repeated: usize = runs.iter().map(|runs| runs.exclusive.len() - 1).sum();
    if repeated == 0 {
        return Err(input_error!(
            "{source}: no workload has two attempts of the policy exclusive; give the attempts of more runs"
        ));
    }
    let (law, offsets) = law_of(&runs);
    let likelihoods = POWERS.map(|power| {
        let scatters = runs.iter().map(|runs| runs.scatter((1.0 - runs.gpu_util).powi(power)));
        Law::fit(&scatters.collect::<Vec<_>>()).log_likelihood
    });
    let Model { noise: builtin, memory, .. } = Model::builtin();
    let startup = startup_sigma(&attempts, memory.oom_exit_s, catalogue);
    let mut noise = Noise {
        gpu_sigma: (law.gpu_sigma * 1e4).round() / 1e4,
        host_sigma: (law.host_sigma * 1e4).round() / 1e4,
        startup_sigma: startup.map_or(builtin.startup_sigma, |(sigma, _)| (sigma * 1e3).round() / 1e3),
        ..builtin
    };
    let spreads = match pairs_csv {
        Some((source, bytes)) => Some(pressures(source, bytes, catalogue, &noise)?),
        None => None,
    };
    if let Some([interference, extrapolation]) = &spreads {
        (noise.interference_sigma, noise.extrapolation_sigma) = (interference.sigma, extrapolation.sigma);
    }

    let mut report = Report { toml: String::new(), lines: Vec::new() };
    let further: usize = runs.iter().map(|runs| runs.other[1].len()).sum();
    let counted = format!(
        "{} exclusive, {further} solo, {} profiles; {} workloads",
        repeated + runs.len(),
        runs.len(),
        runs.len()
    );
    report.line("runs", counted.clone());
    report.line("gpu_sigma", format!("{:.4}", noise.gpu_sigma));
    report.line("host_sigma", format!("{:.4}", noise.host_sigma));
    report.line("startup_sigma", format!("{:.3}", noise.startup_sigma));
    report.line("interference_sigma", format!("{:.2}", noise.interference_sigma));
    report.line("extrapolation_sigma", format!("{:.2}", noise.extrapolation_sigma));
    let likelihoods: Vec<String> = POWERS
        .iter()
        .zip(likelihoods)
        .map(|(power, likelihood)| match power {
            0 => format!("{likelihood:.1} without host_sigma"),
            _ => format!("{likelihood:.1} with (1 - u)^{power}"),
        })
        .collect();
    report.line("log likelihood of the exclusive attempts", likelihoods.join(", "));
    let offset = |name: &str, offset: Option<[f64; 2]>| match offset {
        Some([gpu, host]) => format!("{name} {:+.1} %, {:+.1} %", 100.0 * gpu, 100.0 * (gpu + host)),
        None => format!("{name} none"),
    };
    let offsets = format!("{}; {}", offset("profiles", offsets[0]), offset("solo runs", offsets[1]));
    report.line("longer than exclusive, u = 1 and u = 0", offsets.clone());
    let described = spreads.as_ref().map(|spreads| {
        let describe = |spread: &PressureSpread| {
            format!("{:.3}, of which from run to run {:.3}", spread.error, spread.run_to_run)
        };
        spreads.each_ref().map(describe)
    });
    if let Some([with_factors, without]) = &described {
        report.line("error, contended rates (rms), factors, pair left out", with_factors.as_str());
        report.line("error, contended rates (rms), profiles, workload left out", without.as_str());
    }
    let command = command(source, solo_runs, pairs_csv, catalogue);
    let about_startup = match startup {
        Some((_, count)) => format!(
            "# startup_sigma: {count} attempts that died of OOM, whose runtime less oom_exit_s (memory.toml) is a start-up. How long\n\
             # a process takes to die is in it too."
        ),
        None => {
            "# startup_sigma is the built-in one: that takes two attempts that died of OOM (outcome oom)."
                .to_owned()
        }
    };
    let about_pressures = match &described {
        Some([with_factors, without]) => format!(
            "\
# interference_sigma, extrapolation_sigma: errors of contended rates in pairs, with factors per workload and the pair left
# out, and from profiles with the workload left out, less what varies from run to run; pairs count by how much a pressure
# matters to their rates. Root mean squares:
#   {with_factors}
#   {without}"
        ),
        None => "# interference_sigma and extrapolation_sigma are the built-in ones: they take pairs (--pairs).".to_owned(),
    };
    report.toml = format!(
        "\
# How runs differ, for every seed but 0. Factors are log-normal with median 1; sigma is the standard deviation of the log.
#
# Runtimes, by job: sigma^2 = gpu_sigma^2 + (host_sigma (1 - u)^2)^2 with the solo mean GPU utilisation u.
# Start-ups, by job: startup_sigma.
# Pressures, by workload and run, half of the variance from the aggressor and half from the victim: interference_sigma
# with pair factors, extrapolation_sigma without.
#
# Fitted by
#   {command}
# gpu_sigma, host_sigma: runs alone ({counted}),
# the other sources' offsets from the exclusive runs, linear in (1 - u)^2, taken out (at u = 1 and u = 0):
#   {offsets}
# Log likelihood of the exclusive attempts by power of 1 - u:
#   {}
{about_startup}
{about_pressures}
schema_version = 1

[noise]
gpu_sigma = {:.4}
host_sigma = {:.4}
startup_sigma = {:.3}
interference_sigma = {:.2}
extrapolation_sigma = {:.2}
",
        likelihoods.join(", "),
        noise.gpu_sigma,
        noise.host_sigma,
        noise.startup_sigma,
        noise.interference_sigma,
        noise.extrapolation_sigma,
    );
    Ok(report)
}

fn command(
    timelines: &str,
    solo_runs: Option<(&str, &[u8])>,
    pairs_csv: Option<(&str, &[u8])>,
    catalogue: &Catalogue,
) -> String {
    let mut command = format!("aegis-sim calibrate noise {timelines}");
    if let Some((source, _)) = pairs_csv {
        command += &format!(" --pairs {source}");
    }
    if let Some((source, _)) = solo_runs {
        command += &format!(" --solo {source}");
    }
    if catalogue.source() != BUILTIN_CATALOGUE {
        command += &format!(" --workloads {}", catalogue.source());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got / want - 1.0).abs() < tolerance, "{got} {want}");
    }

    #[test]
    fn what_is_not_given_stays_built_in() {
        let catalogue = Catalogue::builtin();
        let head = "trace,policy,workload,submit_s,dispatch_s,launch_s,end_s,outcome\n";
        let line = |policy: &str, runtime_s: f64, outcome: &str| {
            format!("t,{policy},unet_voc_1gpu,0,0,0,{runtime_s},{outcome}\n")
        };
        let exclusive = line("exclusive", 1900.0, "completed") + &line("exclusive", 1938.0, "completed");
        let report = run_noise(("t.csv", format!("{head}{exclusive}").as_bytes()), None, None, &catalogue);
        let mut model = Model::builtin();
        let builtin = model.noise;
        model.override_with("n.toml", &report.unwrap().toml).unwrap();
        let pressures = |noise: Noise| (noise.interference_sigma, noise.extrapolation_sigma);
        assert_eq!(pressures(model.noise), pressures(builtin));
        assert_eq!(model.noise.startup_sigma, builtin.startup_sigma);
        // One difference, of 2 %.
        let unet = catalogue.get("unet_voc_1gpu").unwrap();
        near(model.noise.runtime_sigma(unet.profile(0)), 0.02_f64.ln_1p() / 2f64.sqrt(), 0.02);

        // Start-ups of a half and of twice the profile's.
        let oom_exit_s = model.memory.oom_exit_s;
        let died = line("aegis", unet.startup_s / 2.0 + oom_exit_s, "oom")
            + &line("aegis", unet.startup_s * 2.0 + oom_exit_s, "oom");
        let text = format!("{head}{exclusive}{died}");
        let report = run_noise(("t.csv", text.as_bytes()), None, None, &catalogue).unwrap();
        model.override_with("n.toml", &report.toml).unwrap();
        near(model.noise.startup_sigma, 4f64.ln() / 2f64.sqrt(), 0.001);

        let once = line("exclusive", 1900.0, "completed");
        let error = run_noise(("t.csv", format!("{head}{once}").as_bytes()), None, None, &catalogue);
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("t.csv: no workload has two attempts of the policy exclusive"),
            "{message}"
        );
    }

    /// Pairs of the built-in model with a factor on every pressure: the spread of the factors comes back.
    #[test]
    fn a_known_spread_of_pressures_is_recovered() {
        let catalogue = Catalogue::builtin();
        let noise = Noise { gpu_sigma: 0.001, host_sigma: 0.0, ..Model::builtin().noise };
        let pairs =
            data::read_pairs(super::super::BUILTIN_PAIRS.0, super::super::BUILTIN_PAIRS.1, &catalogue);
        let pairs = pairs.unwrap();
        let mut data = Observations::new(&pairs, &catalogue, Signal::Counters, 1.0);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut errors = Errors::default();
        for k in 0..data.rates.len() {
            let pressure = 0.1 + 0.9 * (k as f64 / data.rates.len() as f64);
            let normal: f64 = StandardNormal.sample(&mut rng);
            errors.predicted.push((k, 1.0 / (1.0 + pressure)));
            data.rates[k] = 1.0 / (1.0 + pressure * (0.2 * normal).exp());
        }
        near(pressure_spread(&data, &errors, &noise).unwrap().sigma, 0.2, 0.11);
        assert!(pressure_spread(&data, &Errors::default(), &noise).is_none());
    }
}
