//! The command `validate`: against the library's own runs, and as its users call it.

use std::path::{Path, PathBuf};
use std::process::Output;

use aegis_sim::experiment::{Evaluation, Settings};
use aegis_sim::metrics::{Summary, quantile_of_sorted};
use aegis_sim::model::Model;
use aegis_sim::policy::PolicySpec;
use aegis_sim::sim::{NoObserver, simulate};
use aegis_sim::workload::Trace;
use assert_cmd::Command;
use serde_json::Value;

const RUNS: &str = "trace,policy,telemetry_blind_gpu,makespan_s,jct_mean_s,failed_attempts\n";

fn validate(args: &[&str]) -> Output {
    Command::cargo_bin("aegis-sim").unwrap().arg("validate").args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = validate(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Fails with exit code 2 and an error that says `says`.
#[track_caller]
fn refused(args: &[&str], says: &str) {
    let output = validate(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty(), "printed results although it failed");
    assert!(stderr.contains("error: ") && stderr.contains(says), "{stderr:?} does not say {says:?}");
}

fn file(dir: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[track_caller]
fn find<'a>(rows: &'a Value, keys: &[(&str, &str)]) -> &'a Value {
    let rows = rows.as_array().unwrap();
    rows.iter().find(|row| keys.iter().all(|(key, value)| row[*key] == *value)).unwrap()
}

/// The evaluation of the paper with changes, and the files that it names.
fn evaluation(dir: &Path, changes: &[(&str, &str)]) -> String {
    std::fs::create_dir(dir.join("measured")).unwrap();
    for name in ["measured/runs.csv", "measured/jobs.csv"] {
        std::fs::copy(Path::new("experiments").join(name), dir.join(name)).unwrap();
    }
    let mut text = std::fs::read_to_string("experiments/paper.toml").unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    file(dir, "e.toml", &text)
}

#[test]
fn figures_are_those_of_the_runs_over_seeds() {
    let found = json(&["--seeds", "4"]);
    assert_eq!((&found["schema_version"], &found["seeds"]), (&1.into(), &4.into()));

    let settings = Settings::default();
    let world = settings.world(&Trace::open("saturn").unwrap()).unwrap();
    let policy: PolicySpec = "aegis+peak-mem".parse().unwrap();
    let mut params = settings.params(&policy).unwrap();
    // The measured run's blind GPU is not known.
    params.set("telemetry_blind_gpu", "seeded").unwrap();
    let records = [1, 2, 3, 4].map(|seed| simulate(&world, &policy, &params, seed, &mut NoObserver).unwrap());
    let interval = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        [0.5, 0.05, 0.95].map(|q| quantile_of_sorted(&values, q))
    };
    let run = [("trace", "saturn"), ("policy", "aegis+peak-mem")];
    let measured = std::fs::read_to_string("experiments/measured/runs.csv").unwrap();
    let mut lines = measured.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(','));
    let header: Vec<&str> = lines.next().unwrap().collect();
    let line: Vec<&str> = lines
        .map(Iterator::collect)
        .find(|line: &Vec<&str>| line[..2] == ["saturn", "aegis+peak-mem"])
        .unwrap();

    let figures = records.each_ref().map(|record| Summary::of(record).figures());
    let over_makespan = Evaluation::builtin().measured;
    let over_makespan = over_makespan.get("saturn", &"aegis+peak-mem".parse().unwrap()).unwrap();
    let idle_w = 3.0 * Model::builtin().power.idle_w;
    let mut compared = 0;
    for (index, (name, _)) in figures[0].iter().enumerate() {
        let Some(column) = header.iter().position(|column| column == name) else { continue };
        let mut measured: f64 = line[column].parse().unwrap();
        // Measured over a window that is longer than the run.
        if ["energy_j", "active_share"].contains(&name.as_str()) {
            measured = over_makespan.figure_over_makespan(name, idle_w).unwrap();
        }
        let row = find(&found["figures"], &[run[0], run[1], ("figure", name)]);
        let expected = interval(figures.iter().map(|figures| figures[index].1.as_f64()).collect());
        assert_eq!(
            [&row["median"], &row["p5"], &row["p95"]].map(|v| v.as_f64().unwrap()),
            expected,
            "{name}"
        );
        assert_eq!(row["measured"].as_f64().unwrap(), measured, "{name}");
        assert_eq!(row["difference"].as_f64().unwrap(), expected[0] - measured, "{name}");
        assert_eq!(row["inside"], expected[1] <= measured && measured <= expected[2], "{name}");
        compared += 1;
    }
    assert!(compared >= 21, "{compared} figures");
    assert_eq!(
        find(&found["figures"], &[run[0], run[1], ("figure", "failed_attempts")])["error_pct"],
        Value::Null
    );

    for (index, job) in records[0].jobs.iter().enumerate() {
        let row = find(&found["jobs"], &[run[0], run[1], ("job_id", &job.id)]);
        let expected = interval(records.iter().map(|record| record.jobs[index].jct_s()).collect());
        let keys = ["jct_median_s", "jct_p5_s", "jct_p95_s"];
        assert_eq!(keys.map(|key| row[key].as_f64().unwrap()), expected, "job {}", job.id);
        let measured = row["measured_jct_s"].as_f64().unwrap();
        assert_eq!(row["error_pct"].as_f64().unwrap(), 100.0 * (expected[0] / measured - 1.0));
    }
}

#[test]
fn aggregates_are_those_of_the_rows() {
    let found = json(&["--seeds", "3"]);
    let figures: Vec<&Value> = found["figures"].as_array().unwrap().iter().collect();
    let of_scope = |row: &Value, scope: &Value| {
        ["trace", "policy"].iter().all(|key| scope[*key].is_null() || scope[*key] == row[*key])
    };
    let scopes = found["aggregate"].as_array().unwrap();
    for scope in scopes {
        let rows: Vec<&&Value> =
            figures.iter().filter(|row| row["figure"] == scope["figure"] && of_scope(row, scope)).collect();
        assert_eq!(scope["runs"], rows.len());
        let errors: Vec<f64> = rows.iter().filter_map(|row| row["error_pct"].as_f64()).collect();
        if let Some(mae) = scope["mae_pct"].as_f64() {
            let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
            assert!((mae - mean).abs() < 1e-9, "{scope}");
            let worst = scope["worst_error_pct"].as_f64().unwrap();
            assert!(
                errors.iter().all(|error| error.abs() <= worst.abs()) && errors.contains(&worst),
                "{scope}"
            );
        }
        let inside = rows.iter().filter(|row| row["inside"] == true).count() as f64;
        assert_eq!(scope["inside_share"].as_f64().unwrap(), inside / rows.len() as f64);
    }
    // All, six policies and three traces.
    assert_eq!(scopes.iter().filter(|scope| scope["figure"] == "makespan_s").count(), 10);

    // Under one seed, medians are the runs.
    let found = json(&["--seeds", "1"]);
    let log_makespan = |policy: &str, key: &str| -> f64 {
        let rows = found["figures"].as_array().unwrap().iter();
        let of_policy = rows.filter(|row| row["figure"] == "makespan_s" && row["policy"] == policy);
        of_policy.map(|row| row[key].as_f64().unwrap().ln()).sum::<f64>() / 3.0
    };
    for reduction in found["headline"].as_array().unwrap() {
        let against = reduction["against"].as_str().unwrap();
        for (key, of) in [
            ("measured_reduction_pct", "measured"),
            ("reduction_median_pct", "median"),
            ("reduction_p5_pct", "median"),
        ] {
            let expected = 100.0 * (1.0 - (log_makespan("aegis", of) - log_makespan(against, of)).exp());
            assert!((reduction[key].as_f64().unwrap() - expected).abs() < 1e-9, "{reduction}");
        }
    }
    assert_eq!(found["headline"].as_array().unwrap().len(), 3);
}

#[test]
fn the_same_bytes_come_from_any_number_of_threads() {
    let outputs = ["1", "2"].map(|threads| {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let mut command = Command::cargo_bin("aegis-sim").unwrap();
        command
            .args(["validate", "--seeds", "2", "--out", out.to_str().unwrap()])
            .env("RAYON_NUM_THREADS", threads);
        let printed = command.output().unwrap();
        assert!(printed.status.success());
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&out)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        (printed.stdout, files)
    });
    let names: Vec<&str> = outputs[0].1.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "aggregate.csv",
        "agreement.png",
        "agreement.svg",
        "errors.png",
        "errors.svg",
        "jct.png",
        "jct.svg",
        "job_agreement.png",
        "job_agreement.svg",
        "jobs.csv",
        "report.md",
        "validation.csv",
        "validation.json",
    ];
    assert_eq!(names, expected);
    assert!(outputs[0] == outputs[1]);
}

#[test]
fn measured_runs_of_ones_own_need_no_jobs_and_no_evaluation() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "mine.csv", "job_id,submit_s,workload,gpus\na,0,unet_voc_1gpu,1\nb,9,unet_voc_1gpu,1\n");
    let lines = "philly,lucid,none,36000,14000,0\nmine.csv,aegis+no-thresholds,1,,900,\n";
    let header = RUNS.replace('\n', ",nothing_known\n");
    let runs = header + &lines.replace('\n', ",7\n");
    let runs = file(dir.path(), "runs.csv", &runs);
    let out = dir.path().join("out");
    let found = json(&["--measured", &runs, "--seeds", "3", "--out", out.to_str().unwrap()]);
    let figure = |row: &Value| format!("{} {}", row["trace"], row["figure"]).replace('"', "");
    let figures: Vec<String> = found["figures"].as_array().unwrap().iter().map(figure).collect();
    let expected =
        ["philly makespan_s", "philly jct_mean_s", "philly failed_attempts", "mine.csv jct_mean_s"];
    assert_eq!(figures, expected);
    for key in ["jobs", "job_errors", "headline", "targets"] {
        assert_eq!(found[key], Value::Array(vec![]), "{key}");
    }
    let mine = find(&found["figures"], &[("trace", "mine.csv")]);
    assert_eq!(mine["telemetry_blind_gpu"], "1");
    assert!(out.join("agreement.svg").exists() && !out.join("jobs.csv").exists());

    // With the jobs of one of them, one of which did not complete.
    let jobs = file(
        dir.path(),
        "jobs.csv",
        "trace,policy,job_id,jct_s\nmine.csv,aegis+no-thresholds,b,800\nmine.csv,aegis+no-thresholds,a,\n",
    );
    let found = json(&["--measured", &runs, "--jobs", &jobs, "--seeds", "3"]);
    let rows: Vec<&Value> = found["jobs"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&rows[0]["job_id"], &rows[0]["measured_jct_s"], &rows[0]["error_pct"]),
        (&"a".into(), &Value::Null, &Value::Null)
    );
    assert_eq!((&rows[1]["job_id"], &rows[1]["measured_jct_s"]), (&"b".into(), &800.0.into()));
    assert_eq!(find(&found["job_errors"], &[("scope", "all")])["jobs"], 1);
}

#[test]
fn mistakes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let runs = |name: &str, line: &str| file(dir.path(), name, &format!("{RUNS}{line}"));
    let good = runs("good.csv", "philly,lucid,none,36000,14000,0\n");
    let unknown = runs("unknown.csv", "phily,lucid,none,36000,14000,0\n");
    refused(
        &["--measured", &unknown],
        "unknown.csv, column trace: unknown trace \"phily\": did you mean philly",
    );
    refused(&["--measured", &runs("empty.csv", "")], "has a header but no run");
    refused(&["--measured", &runs("gpu.csv", "philly,lucid,7,1,1,0\n")], "telemetry_blind_gpu");
    refused(&["--measured", &good, "--check"], "--check has nothing to check");
    refused(
        &["--measured", &good, "--evaluation", "experiments/paper.toml"],
        "no run of exclusive on philly",
    );
    refused(&["--seeds", "0"], "0 is not in 1..");
    refused(&["--seeds", "1", "--set", "telemetry_blind_gpu=none"], "--set telemetry_blind_gpu");
    refused(&["--jobs", dir.path().join("none.csv").to_str().unwrap()], "cannot read");

    let ids: Vec<String> = Trace::open("philly").unwrap().jobs.into_iter().map(|job| job.job_id).collect();
    let head = "trace,policy,job_id,jct_s\n";
    let line = |id: &String| format!("philly,lucid,{id},9\n");
    let all_but_last: String = ids[..ids.len() - 1].iter().map(line).collect();
    let jobs = |name: &str, more: &str| file(dir.path(), name, &format!("{head}{all_but_last}{more}"));
    let with = |jobs: &str, says: &str| refused(&["--measured", &good, "--jobs", jobs, "--seeds", "1"], says);
    let last = &ids[ids.len() - 1];
    with(&jobs("missing.csv", ""), &format!("lucid on philly lacks job {last:?}"));
    with(
        &jobs("extra.csv", "philly,lucid,last,9\n"),
        "line 61, column job_id: trace philly has no job \"last\"",
    );
    with(&jobs("other.csv", "philly,aegis,0,9\n"), "line 61: ");
}

#[test]
fn a_tightened_limit_fails_the_check() {
    let limits = std::fs::read_to_string("experiments/paper.toml").unwrap();
    let (from, _) = limits.split_once("[validate.figures]").unwrap();
    let figures = limits[from.len()..].to_owned();
    for (case, limit, code, says) in [
        (
            "loose",
            "makespan_s = { mean_error_pct = 50.0, worst_error_pct = 90.0 }\nslowdown_mean = { mean_error_pct = 1.0 }",
            0,
            "",
        ),
        (
            "tight",
            "makespan_s = { mean_error_pct = 0.01, worst_error_pct = 90.0 }",
            1,
            "misses 1 of 5 targets:\n  makespan_s: mean_error_pct is",
        ),
        (
            "narrow",
            "makespan_s = { width_median_pct = 0.0, inside_share = 1.0 }",
            1,
            "makespan_s: inside_share is",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let limit = format!("[validate.figures]\n{limit}\n");
        let changes =
            [(figures.as_str(), limit.as_str()), ("difference_points = 1.5", "difference_points = 50.0")];
        let evaluation = evaluation(dir.path(), &changes);
        let output = validate(&["--evaluation", &evaluation, "--check", "--seeds", "3"]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{case}: {stderr}");
        assert!(stderr.contains(says), "{case}: {stderr}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("Targets"), "{case}: results are shown all the same");
        assert_eq!(stdout.contains("not measured"), case == "loose");
    }
}

#[test]
fn limits_on_unknown_figures_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let evaluation = evaluation(dir.path(), &[("\njct_p95_s = {", "\njct_p59_s = {")]);
    let says = "e.toml, key validate.figures.jct_p59_s: no run has this figure; did you mean jct_p95_s";
    refused(&["--evaluation", &evaluation, "--seeds", "1"], says);
}

#[test]
fn documents_hold_the_tables_and_figures() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let output = validate(&["--seeds", "2", "--format", "markdown", "--out", out.to_str().unwrap()]);
    assert!(output.status.success());
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    for line in report.lines().filter(|line| line.starts_with("![")) {
        let name = line.split(['(', ')']).nth(1).unwrap();
        assert!(out.join(name).exists(), "{line}");
    }
    for title in [
        "# Validation",
        "## Targets",
        "## Makespan [s]",
        "## Errors: aegis+horus-mem",
        "](job_agreement.svg)",
    ] {
        assert!(report.contains(title), "{title}");
    }
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("## Errors over all runs\n\n| figure"), "{printed}");
}
