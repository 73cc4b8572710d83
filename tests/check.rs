//! Experiments held to a baseline, from the command line.

use std::path::PathBuf;

use assert_cmd::Command;

/// 3 settings of 2 metrics on two traces under 2 seeds: 12 runs of 20 jobs.
const EXPERIMENT: &str = "\
schema_version = 1
title = \"Windows\"
traces = [\"philly\", \"venus\"]
policies = [\"aegis\"]
replicates = 2
[fixed]
job_count = 20
[axes]
observation_window_s = [0, 30]
[[variant]]
name = \"alone\"
policy = \"exclusive\"
without = [\"observation_window_s\"]
[tolerance]
makespan_s = { relative = 0.02 }
completed_jobs = {}
";
const VALUES: usize = 3 * 2 * 2;

struct Scratch {
    dir: tempfile::TempDir,
}

struct Output {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Scratch {
    /// With an experiment and its baseline.
    fn new() -> Scratch {
        let scratch = Scratch { dir: tempfile::tempdir().unwrap() };
        scratch.write("e.toml", EXPERIMENT);
        let made = scratch.check(&["--update"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("aegis-sim").unwrap();
        command.current_dir(self.dir.path()).env_remove("GITHUB_STEP_SUMMARY");
        command.args(["check", "--experiment", "e.toml", "--baseline", "b.csv"]).args(args);
        command
    }

    fn output(&self, mut command: Command) -> Output {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn check(&self, args: &[&str]) -> Output {
        self.output(self.command(args))
    }

    #[track_caller]
    fn fails(&self, code: i32, args: &[&str], says: &[&str]) -> Output {
        let output = self.check(args);
        assert_eq!(output.code, code, "{args:?}: {}", output.stderr);
        for part in says {
            assert!(output.stderr.contains(part), "{args:?}: {:?} does not say {part:?}", output.stderr);
        }
        output
    }

    /// Sets the value in a line of the baseline.
    fn set_value(&self, start: &str, value: impl Fn(f64) -> String) {
        let change = |line: &str| {
            let Some(rest) = line.strip_prefix(start) else { return format!("{line}\n") };
            format!("{start}{},1\n", value(rest.trim_end_matches(",1").parse().unwrap()))
        };
        let text = self.read("b.csv");
        assert!(text.contains(start), "{text}");
        self.write("b.csv", &text.lines().map(change).collect::<String>());
    }
}

const ROW: &str = "venus,aegis,aegis,30,makespan_s,";

#[test]
fn an_untouched_experiment_is_the_same_on_any_number_of_threads() {
    let scratch = Scratch::new();
    let text = scratch.read("b.csv");
    assert!(
        text.contains("# experiment: Windows\n# replicates: 2\n# first_seed: 1\ntrace,variant,policy,"),
        "{text}"
    );
    assert!(text.contains("\nphilly,alone,exclusive,,completed_jobs,20.0,1\n"), "{text}");
    for jobs in ["1", "3"] {
        let output = scratch.check(&["--jobs", jobs]);
        assert_eq!(
            (output.code, output.stdout),
            (0, format!("{VALUES} values against b.csv: {VALUES} same\n"))
        );
        assert_eq!(scratch.check(&["--update", "--jobs", jobs]).code, 0);
        assert_eq!(scratch.read("b.csv"), text);
    }
    let all = scratch.check(&["--all"]).stdout;
    assert_eq!(all.matches("same").count(), VALUES + 1, "{all}");
    assert_eq!(scratch.check(&["--format", "csv"]).stdout.lines().count(), VALUES + 1);
}

#[test]
fn what_is_beyond_its_tolerance_fails_and_is_named() {
    let scratch = Scratch::new();
    scratch.set_value(ROW, |value| (value / 1.05).to_string());
    let output = scratch.fails(
        1,
        &[],
        &[
            "1 of 12 values fail against b.csv",
            "venus, aegis, observation_window_s 30, makespan_s: ",
            " in the baseline, +5 %, allowed 2 %",
            "check --update",
        ],
    );
    assert!(output.stdout.contains("11 same, 1 worse"), "{}", output.stdout);
    scratch.set_value(ROW, |value| (value * 1.04).to_string());
    assert!(scratch.check(&[]).stdout.ends_with("11 same, 1 within\n"));
    scratch.set_value(ROW, |value| (value * 1.05).to_string());
    let better = scratch.check(&[]);
    assert!(better.code == 0 && better.stdout.contains("1 better; keep"), "{}", better.stdout);
    // Of another direction, with nothing allowed.
    scratch.set_value("philly,alone,exclusive,,completed_jobs,", |_| "21".to_owned());
    scratch.fails(
        1,
        &[],
        &["philly, alone (exclusive), completed_jobs: 20 against 21 in the baseline, -1, allowed 0"],
    );
}

#[test]
fn rows_without_a_counterpart_fail_until_they_are_updated() {
    let scratch = Scratch::new();
    let text = scratch.read("b.csv");
    scratch.write("b.csv", &text.replace(ROW, "venus,aegis,aegis,45,makespan_s,"));
    scratch.fails(
        1,
        &[],
        &[
            "2 of 13 values fail",
            "venus, aegis, observation_window_s 30, makespan_s: ",
            ", and not in the baseline: add it with check --update",
            "venus, aegis, observation_window_s 45, makespan_s: ",
            "no longer in the experiment: remove it with check --update",
        ],
    );
    let updated = scratch.check(&["--update"]);
    assert!(updated.code == 0 && updated.stdout.contains("gone"), "{}", updated.stdout);
    assert_eq!(scratch.read("b.csv"), text);
    scratch.set_value(ROW, |_| String::new());
    scratch.fails(1, &[], &["against none in the baseline"]);
}

#[test]
fn a_change_under_test_comes_from_the_command_line() {
    let scratch = Scratch::new();
    let before = scratch.read("b.csv");
    scratch.fails(2, &["--set", "observation_window_s=9"], &["the experiment varies it"]);
    scratch.fails(
        2,
        &["--params", "default"],
        &["--params default: the experiment varies observation_window_s"],
    );
    let slow =
        scratch.fails(1, &["--set", "tick_s=600"], &["philly, aegis, observation_window_s 0, makespan_s: "]);
    assert!(slow.stdout.contains("worse"), "{}", slow.stdout);
    let updated = scratch.check(&["--set", "tick_s=600", "--update"]);
    assert!(updated.code == 0 && updated.stdout.contains("worse"), "{}", updated.stderr);
    assert_ne!(scratch.read("b.csv"), before);
    assert!(scratch.read("b.csv").contains("# changes: --set tick_s=600\n"));
    assert_eq!(scratch.check(&["--set", "tick_s=600"]).code, 0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let scratch = Scratch::new();
    let text = scratch.read("b.csv");
    scratch.write("e.toml", &EXPERIMENT.replace("replicates = 2", "replicates = 3\nfirst_seed = 7"));
    scratch.fails(2, &[], &["b.csv: of an experiment with replicates = 2; found 3", "noise"]);
    let updated = scratch.fails(0, &["--update"], &["note: not compared: b.csv: of an experiment"]);
    assert!(updated.stdout.contains("12 missing"));
    assert!(scratch.read("b.csv").contains("# replicates: 3\n# first_seed: 7\n"));
    scratch.write(
        "e.toml",
        &EXPERIMENT
            .replace("[fixed]", "[fixed]\nmemory_floor_mib = 1000")
            .replace("[axes]", "[axes]\nsmact_threshold = [0.5]"),
    );
    scratch.write("b.csv", &text);
    scratch.fails(2, &[], &["no column smact_threshold, an axis of the experiment"]);
    scratch.write("e.toml", EXPERIMENT.split("[tolerance]").next().unwrap());
    scratch.fails(2, &[], &["e.toml: no metric has a tolerance", "[tolerance]\n  makespan_s = { relative"]);
    scratch.write("e.toml", EXPERIMENT);
    scratch.write("b.csv", &(text.clone() + "philly,alone,exclusive,,completed_jobs,20,1\n"));
    scratch.fails(
        2,
        &[],
        &["b.csv, line 18: philly, alone, exclusive, completed_jobs is on line 10 already"],
    );
    // Another file by mistake: not overwritten either.
    for other in ["job_id,submit_s\n", "trace,variant,policy,metric,value,schema_version\n"] {
        scratch.write("b.csv", other);
        scratch.fails(2, &[], &["b.csv"]);
        scratch.fails(2, &["--update"], &["b.csv"]);
        assert_eq!(scratch.read("b.csv"), other);
    }
    std::fs::remove_file(scratch.path("b.csv")).unwrap();
    scratch.fails(2, &[], &["there is no baseline b.csv", "--update"]);
    scratch.fails(2, &["--update", "--format", "github"], &["--update shows changes"]);
}

#[test]
fn failing_runs_fail_and_make_no_baseline() {
    let scratch = Scratch::new();
    let before = scratch.read("b.csv");
    // Jobs of two GPUs, and servers of one.
    let small = EXPERIMENT.replace("job_count = 20", "job_count = 20\ngpu_count = 1");
    let refused = small.replace("replicates = 2", "replicates = 2\noversized_jobs = \"refuse\"");
    scratch.write("e.toml", &refused);
    let says = [
        "venus, aegis, observation_window_s 0, completed_jobs: 2 runs failed, the first: ",
        "server has (1)",
    ];
    let failed = scratch.fails(1, &[], &says);
    assert!(failed.stdout.contains("failed"), "{}", failed.stdout);
    scratch.fails(
        1,
        &["--update"],
        &["b.csv is left as it was, since runs failed", "venus, alone (exclusive), makespan_s: 2 runs"],
    );
    assert_eq!(scratch.read("b.csv"), before);
}

#[test]
fn ci_systems_get_their_formats() {
    let scratch = Scratch::new();
    scratch.set_value(ROW, |value| (value / 1.05).to_string());
    scratch.write("summary.md", "before\n");
    let mut command = scratch.command(&["--format", "github", "--out", "check.xml"]);
    command.env("GITHUB_STEP_SUMMARY", scratch.path("summary.md"));
    let output = scratch.output(command);
    assert_eq!(output.code, 1);
    let start =
        "::error title=worse%3A venus%2C aegis%2C observation_window_s 30%2C makespan_s::venus, aegis, ";
    assert!(output.stdout.starts_with(start), "{}", output.stdout);
    assert!(output.stdout.contains("+5 %25, allowed 2 %25\n"), "{}", output.stdout);
    let summary = scratch.read("summary.md");
    assert!(
        summary.starts_with("before\n## Windows: failed\n") && summary.contains("| venus | aegis"),
        "{summary}"
    );
    let xml = scratch.read("check.xml");
    assert!(
        xml.contains("tests=\"12\" skipped=\"0\" failures=\"1\" errors=\"0\"")
            && xml.contains("type=\"worse\""),
        "{xml}"
    );
    let printed = scratch.check(&["--format", "junit"]);
    assert_eq!((printed.code, printed.stdout), (1, xml));
    let json: serde_json::Value = serde_json::from_str(&scratch.check(&["--format", "json"]).stdout).unwrap();
    let worse: Vec<_> = json.as_array().unwrap().iter().filter(|row| row["outcome"] == "worse").collect();
    assert_eq!((worse.len(), &worse[0]["trace"]), (1, &"venus".into()));
    assert!(scratch.check(&["--format", "markdown"]).stdout.starts_with("| trace"));
}
