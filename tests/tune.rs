//! Parameters tuned from the command line: found, judged on held-out data, written down and taken up again.

use std::path::Path;

use serde_json::Value;

mod common;

use common::{Scratch, fails, run, succeeds};

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&succeeds(args)).unwrap()
}

#[track_caller]
fn refused(args: &[&str], says: &[&str]) {
    fails(2, args, says);
}

/// A figure of the rows of `tune --format json`.
#[track_caller]
fn figure(tuned: &Value, stage: &str, trace: &str, metric: &str, column: &str) -> f64 {
    let rows = tuned["figures"].as_array().unwrap();
    let row =
        rows.iter().find(|row| row["stage"] == stage && row["trace"] == trace && row["metric"] == metric);
    row.unwrap_or_else(|| panic!("no {stage} {trace} {metric}: {tuned}"))[column].as_f64().unwrap()
}

/// A window no admin would take: whatever is searched beats it.
const SLOW: &str = "schema_version = 1\nobservation_window_s = 900\n";
const WINDOWS: &str =
    "schema_version = 1\n[axes]\nobservation_window_s = [20, 30, 900]\nrecovery = [\"idle\", \"floors\"]\n";

#[test]
fn philly_gets_parameters_that_hold_up_or_is_told_that_there_are_none() {
    let scratch = Scratch::new();
    let out = scratch.text("tuned.toml");
    let base = ["tune", "--trace", "philly", "--runs", "300", "--seeds", "9", "--held-out-seeds", "20"];
    let mut args = base.to_vec();
    args.extend(["--out", &out, "--format", "json"]);
    let tuned = json(&args);
    assert!(tuned["runs"].as_u64().unwrap() <= 300, "{tuned}");
    if tuned["recommended"] == true {
        let of = |column| figure(&tuned, "held_out", "philly", "makespan_s", column);
        assert!(of("best") <= of("defaults") && of("change_pct") < 0.0, "{tuned}");
        assert!(scratch.has("tuned.toml"));
    } else {
        assert!(!scratch.has("tuned.toml"));
        assert!(succeeds(&base).contains("keep the defaults"));
    }
}

#[test]
fn a_parameter_file_reproduces_what_the_search_saw() {
    let scratch = Scratch::new();
    let (slow, space) = (scratch.write("slow.toml", SLOW), scratch.write("space.toml", WINDOWS));
    let out = scratch.text("tuned.toml");
    let common = ["--params", &slow, "--set", "tick_s=5"];
    let mut args =
        vec!["tune", "--trace", "philly,venus", "--search", &space, "--seeds", "3", "--runs", "60"];
    args.extend(["--held-out-seeds", "1", "--max", "failed_attempts=100", "--out", &out, "--format", "json"]);
    args.extend(common);
    let tuned = json(&args);
    assert_eq!(
        (&tuned["verdict"], &tuned["recommended"]),
        (&"not_clearly_better".into(), &true.into()),
        "{tuned}"
    );
    let file = std::fs::read_to_string(&out).unwrap();
    for says in [
        "for the least makespan_s under aegis on philly, venus",
        "failed_attempts <= 100",
        "On top of: --params",
        "--set tick_s=5",
        "seeds 1 to 3",
        "Held out, seeds 4 to 4",
        "one seed, and so no interval",
        "[aegis]\nobservation_window_s = ",
        "\nrecovery = \"",
    ] {
        assert!(file.contains(says), "{file}");
    }
    for trace in ["philly", "venus"] {
        for (column, file) in [("defaults", None), ("best", Some(out.as_str()))] {
            let mut args =
                vec!["run", "--trace", trace, "--policy", "aegis", "--seed", "4", "--format", "json"];
            args.extend(common);
            args.extend(file.iter().flat_map(|file| ["--params", file]));
            let summary = json(&args);
            for metric in ["makespan_s", "failed_attempts"] {
                let seen = figure(&tuned, "held_out", trace, metric, column);
                assert_eq!(summary[metric].as_f64().unwrap(), seen, "{trace} {column} {metric}");
            }
        }
    }
    // Means over training seeds, by compare.
    let mean: f64 = ["1", "2", "3"]
        .iter()
        .map(|seed| {
            let mut args = vec!["compare", "--trace", "philly", "--policy", "aegis", "--seed", seed];
            args.extend(common);
            args.extend(["--params", &out, "--format", "json"]);
            json(&args)[0]["makespan_s"].as_f64().unwrap()
        })
        .sum::<f64>()
        / 3.0;
    let seen = figure(&tuned, "training", "philly", "makespan_s", "best");
    assert!((mean - seen).abs() < 1e-9 * mean, "{mean} {seen}");
}

#[test]
fn threads_do_not_matter() {
    let scratch = Scratch::new();
    let outputs = ["1", "4"].map(|jobs| {
        let out = scratch.text(&format!("tuned-{jobs}.toml"));
        let mut args =
            vec!["tune", "--trace", "saturn", "--runs", "120", "--seeds", "3", "--held-out", "half"];
        args.extend(["--held-out-seeds", "10", "--max", "slowdown_mean=5", "--jobs", jobs, "--out", &out]);
        let stdout = succeeds(&args).replace(&out, "FILE");
        (stdout, std::fs::read(Path::new(&out)).ok())
    });
    assert_eq!(outputs[0], outputs[1]);
    assert!(outputs[0].0.contains("the second half of the jobs under seeds 4 to 13"), "{}", outputs[0].0);
}

#[test]
fn where_nothing_better_is_found_it_says_so_and_writes_nothing() {
    let scratch = Scratch::new();
    let out = scratch.text("tuned.toml");
    let worse = "schema_version = 1\n[axes]\nobservation_window_s = [900, 1200]\n";
    let space = scratch.write("space.toml", worse);
    let base = ["tune", "--trace", "philly", "--search", &space, "--seeds", "2", "--held-out-seeds", "2"];
    let with = |more: &[&str]| succeeds(&[&base, more].concat());
    let stdout = with(&["--out", &out]);
    for says in
        ["No better parameters found: keep the defaults.", "Nothing is written to", "better in training"]
    {
        assert!(stdout.contains(says), "{stdout}");
    }
    let stdout = with(&["--out", &out, "--max", "slowdown_p95=0.5", "--max", "failed_attempts=1000"]);
    for says in
        ["No candidate keeps the bounds", "slowdown_p95 ", " % above its bound of 0.5", "Nothing is written"]
    {
        assert!(stdout.contains(says), "{stdout}");
    }
    assert!(!scratch.has("tuned.toml"));
    assert_eq!(scratch.files(), 1, "left something behind");
}

#[test]
fn mistakes_are_refused_before_anything_runs() {
    let scratch = Scratch::new();
    let space = |axes: &str| format!("schema_version = 1\n[axes]\n{axes}\n");
    let scene = scratch.write("scene.toml", space("smact_threshold = [0.5]\ngpu_count = [2, 3]"));
    let slip = scratch.write("slip.toml", space("smact_treshold = [0.5]"));
    let one = scratch.write("one.csv", "job_id,submit_s,workload,gpus\na,0,mnist_bs32_1gpu,1\n");
    let unwritable = scratch.text("no/such/folder.toml");
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--trace", "phily"], &["did you mean philly?"]),
        (&["--trace", "philly,philly"], &["two traces are named \"philly\""]),
        (&["--trace", "philly", "--objective", "makespan"], &["--objective", "did you mean makespan_s"]),
        (&["--trace", "philly", "--objective", "completed_jobs"], &["less of it is not better"]),
        (&["--trace", "philly", "--max", "slowdown_p59=2"], &["did you mean slowdown_p95"]),
        (&["--trace", "philly", "--runs", "100"], &["--runs 100", "takes 254 runs already"]),
        (&["--trace", "philly", "--seeds", "0"], &["--seeds 0: expected 1 to"]),
        (&["--trace", "philly", "--search", &scene], &["scene.toml, line 4", "gpu_count is no choice"]),
        (&["--trace", "philly", "--search", &slip], &["slip.toml, line 3", "did you mean smact_threshold"]),
        (&["--trace", &one, "--held-out", "half"], &["one.csv: one job has no halves"]),
        (&["--trace", "philly", "--out", &unwritable], &["cannot write", "folder.toml"]),
    ];
    for (args, says) in cases {
        refused(&[&["tune"], args].concat(), says);
    }
    let (_, _, stderr) = run(&[
        "tune",
        "--trace",
        &one,
        "--policy",
        "aegis+lug",
        "--runs",
        "30",
        "--seeds",
        "2",
        "--held-out-seeds",
        "2",
    ]);
    assert!(stderr.contains("note: placement is not searched: +lug sets it"), "{stderr}");
}
