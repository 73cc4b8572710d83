//! Synthetic traces: they follow their specification, and a specification can be fitted to a trace.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{fails, run, succeeds};
use aegis_sim::traces::generate::{
    BUILTIN_SPECS, Jobs, Options, Quantiles, Spec, Statistics, fit, ks_distance,
};
use aegis_sim::workload::{Trace, TraceJob};

const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

fn jobs(spec: &Spec, options: Options, count: usize) -> Vec<TraceJob> {
    Jobs::new(spec, &options).unwrap().take(count).collect::<Result<_, _>>().unwrap()
}

fn gaps_s(jobs: &[TraceJob]) -> Vec<f64> {
    jobs.windows(2).map(|pair| pair[1].submit_s - pair[0].submit_s).collect()
}

fn durations_s(jobs: &[TraceJob]) -> Vec<f64> {
    jobs.iter().map(|job| job.duration_s.unwrap()).collect()
}

/// Even draws from a CDF by its inverse, without any randomness of the generator's.
fn even_draws(cdf: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..1000).map(|i| Statistics::quantile(&cdf, (i as f64 + 0.5) / 1000.0)).collect()
}

/// Kolmogorov and Smirnov's distance between two samples, from its definition: the greatest difference between the
/// shares that are no greater than a value, over all values.
fn two_sample_distance(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (sorted(one.to_vec()), sorted(other.to_vec()));
    let share =
        |sample: &[f64], value: f64| sample.partition_point(|&own| own <= value) as f64 / sample.len() as f64;
    let mut values = [&one[..], &other[..]].concat();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.iter().map(|&value| (share(&one, value) - share(&other, value)).abs()).fold(0.0, f64::max)
}

/// Prints what it finds: `cargo test --test traces -- --nocapture follow`.
#[test]
fn traces_follow_their_specification() {
    for (name, _) in BUILTIN_SPECS {
        let spec = Spec::open(name).unwrap();
        let statistics = Statistics::of(&spec, 1.0).unwrap();
        let gap_draws = even_draws(|gap_s| statistics.gap_cdf(gap_s));
        let duration_draws = even_draws(|duration_s| statistics.duration_cdf(duration_s));
        for seed in SEEDS {
            let jobs = jobs(&spec, Options { seed, ..Options::default() }, 100_000);
            let gaps = two_sample_distance(&gaps_s(&jobs), &gap_draws);
            let durations = two_sample_distance(&durations_s(&jobs), &duration_draws);
            let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
            jobs.iter().for_each(|job| *counts.entry(job.gpus).or_default() += 1.0);
            let mix = spec.gpus.iter().map(|gpus| {
                (counts.remove(&gpus.count).unwrap_or_default() / jobs.len() as f64 - gpus.share).abs()
            });
            let mix = mix.fold(0.0, f64::max);
            println!("{name}, seed {seed}: gaps {gaps:.4}, durations {durations:.4}, GPU mix {mix:.5}");
            assert!(gaps < 0.03 && durations < 0.03, "{name}, seed {seed}: {gaps} {durations}");
            assert!(mix < 0.005 && counts.is_empty(), "{name}, seed {seed}: {mix} {counts:?}");
            for vc in &spec.vc {
                let own = jobs.iter().filter(|job| job.vc.as_ref() == Some(&vc.name)).count();
                assert!((own as f64 / jobs.len() as f64 - vc.share).abs() < 0.01, "{name}: {vc:?}");
            }
        }
    }
}

/// A specification whose numbers can be told by hand: single jobs, every wait 1,000 s at an even rate, half of the jobs
/// within 9 s.
#[test]
fn statistics_are_those_that_can_be_told_by_hand() {
    let text = "schema_version = 1\nname = \"x\"\n[arrivals]\nburst_gap_s = 10\nburst_jobs = { points = [[1, 1]] }\n\
                wait_s = { points = [[1, 990]] }\n[[gpus]]\ncount = 1\nshare = 0.5\n[[gpus]]\ncount = 4\nshare = 0.5\n\
                [[durations.class]]\nmin_gpus = 1\nduration_s = { points = [[1, 9]] }\n\
                [[durations.class]]\nmin_gpus = 2\nduration_s = { points = [[0, 99], [1, 999]] }\n";
    let spec = Spec::parse("x.toml", text).unwrap();
    let statistics = Statistics::of(&spec, 1.0).unwrap();
    assert_eq!(statistics.gap_cdf(999.0), 0.0);
    assert!((statistics.gap_cdf(1000.0) - 1.0).abs() < 1e-9);
    assert_eq!([8.0, 9.0, 999.0].map(|s| statistics.duration_cdf(s)), [0.0, 0.5, 1.0]);
    let jobs = jobs(&spec, Options { seed: 7, start_hour: 50.5, rate: 1.0 }, 1000);
    assert!(gaps_s(&jobs).iter().all(|&gap_s| gap_s == 1000.0));
    assert!(jobs.iter().all(|job| (job.gpus == 1) == (job.duration_s == Some(9.0))));
    assert!(ks_distance(&sorted(durations_s(&jobs)), |s| statistics.duration_cdf(s)) < 0.06);
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The night is quiet at whatever hour the trace starts.
#[test]
fn arrivals_keep_to_the_hour_of_the_week() {
    let spec = Spec::open("venus").unwrap();
    for start_hour in [0.0, 30.0] {
        let jobs = jobs(&spec, Options { start_hour, ..Options::default() }, 50_000);
        assert_eq!(jobs[0].submit_s, 0.0);
        let mut by_hour = [0.0_f64; 24];
        for job in &jobs {
            by_hour[((start_hour + job.submit_s / 3600.0) % 24.0) as usize] += 1.0;
        }
        let (night, afternoon) = (by_hour[6] / 50_000.0 * 24.0, by_hour[16] / 50_000.0 * 24.0);
        assert!((night - 0.187).abs() < 0.05 && (afternoon - 1.734).abs() < 0.2, "{night} {afternoon}");
    }
}

/// Fitted to what a specification made, a specification says much the same, and the file says what the fit does.
#[test]
fn a_fit_to_a_generated_trace_is_near_its_specification() {
    let spec = Spec::open("philly").unwrap();
    let made = jobs(&spec, Options { seed: 9, ..Options::default() }, 60_000);
    let trace = Trace { name: "made".into(), source: "made.csv".into(), jobs: made, notes: Vec::new() };
    let fitted = fit(&trace, 0.0).unwrap();
    assert!(fitted.gap_distance < 0.01 && fitted.duration_distance < 0.01, "{fitted:?}");
    let text = fitted.to_toml().unwrap();
    assert!(text.contains("aegis-sim trace fit made.csv"), "{text}");
    let read = Spec::parse("made.csv", &text).unwrap();
    assert_eq!(read, fitted.spec);

    let (was, is) = (Statistics::of(&spec, 1.0).unwrap(), Statistics::of(&read, 1.0).unwrap());
    let gaps = two_sample_distance(&even_draws(|s| was.gap_cdf(s)), &even_draws(|s| is.gap_cdf(s)));
    let durations =
        two_sample_distance(&even_draws(|s| was.duration_cdf(s)), &even_draws(|s| is.duration_cdf(s)));
    assert!(gaps < 0.03 && durations < 0.03, "{gaps} {durations}");
    let ratio = |a: f64, b: f64| (a / b - 1.0).abs();
    assert!(ratio(is.mean_gap_s(), fitted.mean_gap_s) < 0.1, "{} {}", is.mean_gap_s(), fitted.mean_gap_s);
    assert!(ratio(is.mean_gpu_s(), fitted.mean_gpu_s) < 0.1, "{} {}", is.mean_gpu_s(), fitted.mean_gpu_s);
    assert!((read.durations.correlation - spec.durations.correlation).abs() < 0.05);
    assert!((read.arrivals.regular.unwrap().share - spec.arrivals.regular.unwrap().share).abs() < 0.02);
    let deviation = read.arrivals.hourly.iter().zip(&spec.arrivals.hourly).map(|(a, b)| ratio(*a, *b));
    assert!(deviation.fold(0.0, f64::max) < 0.25, "{:?}", read.arrivals.hourly);
}

#[test]
fn a_longer_trace_begins_with_the_shorter_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.csv");
    let generate = |jobs: &str, out: &Path| {
        let out = out.to_str().unwrap();
        succeeds(&["trace", "generate", "--like", "philly", "--jobs", jobs, "--seed", "3", "-o", out])
    };
    let short = generate("500", Path::new("-"));
    assert_eq!(generate("2000", &file), "");
    let long = std::fs::read_to_string(&file).unwrap();
    assert!(long.starts_with(&short) && long.len() > 3 * short.len());
    let header = "# Synthetic trace: aegis-sim ";
    assert!(short.starts_with(header) && short.contains("models/traces/philly.toml\n# seed 3,"), "{short}");
    assert_eq!(generate("500", Path::new("-")), short);

    let trace = Trace::open(file.to_str().unwrap()).unwrap();
    assert_eq!((trace.jobs.len(), trace.notes), (2000, Vec::new()));
    let (first, rest) = trace.jobs.split_first().unwrap();
    assert_eq!((first.job_id.as_str(), first.submit_s, first.workload.as_str()), ("philly-1", 0.0, ""));
    assert!(rest.iter().all(|job| job.vc.is_some() && job.duration_s.is_some()));
}

#[test]
fn a_rate_shortens_the_trace() {
    let load = |rate: &str| {
        let (code, _, stderr) =
            run(&["trace", "generate", "--like", "saturn", "--jobs", "20000", "--rate", rate, "--seed", "2"]);
        assert_eq!(code, 0, "{stderr}");
        let after = stderr.split("arrive within ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        assert!(stderr.starts_with("note: 20000 jobs") && stderr.contains("offered load"), "{stderr}");
        after.parse::<f64>().unwrap()
    };
    let ratio = load("1") / load("4");
    assert!((ratio - 4.0).abs() < 0.6, "{ratio}");
}

#[test]
fn fit_then_generate_at_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (trace, spec) = (path("own.csv"), path("own.toml"));
    succeeds(&["trace", "generate", "--like", "venus", "--jobs", "3000", "-o", &trace]);
    let (code, stdout, stderr) = run(&["trace", "fit", &trace, "-o", &spec]);
    assert!(code == 0 && stdout.is_empty() && stderr.contains("note: fitted to 3000 jobs; KS"), "{stderr}");
    assert_eq!(succeeds(&["trace", "fit", &trace]), std::fs::read_to_string(&spec).unwrap());
    let again = succeeds(&["trace", "generate", "--like", &spec, "--jobs", "10"]);
    assert!(again.contains("\nown-10,"), "{again}");
}

#[test]
fn mistakes_are_told_and_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let out = path("out.csv");
    let generate = |more: &[&str], says: &[&str]| {
        let args = [&["trace", "generate", "--jobs", "10", "-o", &out], more].concat();
        fails(2, &args, says);
        assert!(!Path::new(&out).exists());
    };
    generate(&["--like", "venu"], &["did you mean venus"]);
    generate(
        &["--like", "philly", "--rate", "50"],
        &["cannot arrive 50 times as fast", "choose a rate of up to"],
    );
    generate(&["--like", "philly", "--rate", "0"], &["--rate 0", "expected a number"]);
    generate(&["--like", "philly", "--start-hour", "168"], &["--start-hour 168", "Monday"]);
    generate(&["--like", &path("none.toml")], &["none.toml", "cannot read"]);
    fails(2, &["trace", "generate", "--like", "philly", "--jobs", "0"], &["--jobs"]);
    let missing = path("missing/out.csv");
    fails(2, &["trace", "generate", "--like", "philly", "--jobs", "1", "-o", &missing], &["missing/out.csv"]);

    let odd = path("odd.toml");
    let text = std::fs::read_to_string("models/traces/venus.toml").unwrap();
    std::fs::write(&odd, text.replace("wait_s =", "waits =")).unwrap();
    generate(&["--like", &odd], &["odd.toml cannot be used", "unknown field `waits`", "did you mean wait_s"]);

    let fit = |rows: &dyn Fn(usize) -> String, count: usize, says: &[&str]| {
        let (trace, spec) = (path("t.csv"), path("t.toml"));
        let rows: String = (0..count).map(rows).collect();
        std::fs::write(&trace, format!("job_id,submit_s,workload,gpus,duration_s\n{rows}")).unwrap();
        fails(2, &["trace", "fit", &trace, "-o", &spec], says);
        assert!(!Path::new(&spec).exists());
    };
    fit(&|i| format!("{i},{i}00,,1,\n"), 500, &["t.csv", "no job has a duration"]);
    fit(&|i| format!("{i},{i}00,,1,60\n"), 50, &["t.csv", "50 jobs with a duration are too few"]);
    fit(&|i| format!("{i},5,,1,60\n"), 500, &["t.csv", "come in 1 bursts"]);
    fails(2, &["trace", "fit", "philly"], &["no job has a duration"]);
}

/// What the built-in specifications say of a mean does not depend on how many draws one would take.
#[test]
fn means_of_durations_are_those_of_the_jobs() {
    for name in ["venus", "saturn"] {
        let spec = Spec::open(name).unwrap();
        let statistics = Statistics::of(&spec, 1.0).unwrap();
        let durations = durations_s(&jobs(&spec, Options { seed: 4, ..Options::default() }, 200_000));
        let mean = durations.iter().sum::<f64>() / durations.len() as f64;
        assert!((mean / statistics.mean_duration_s() - 1.0).abs() < 0.03, "{name}: {mean}");
    }
    assert_eq!(Quantiles::constant(5.0).whole_mean(), 5.0);
}
