//! Experiments from the command line: resumed, sharded, merged, and refused where they are wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod common;

use common::{aegis_sim, fails, succeeds};

/// Contents of all files of a folder, by name.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

#[track_caller]
fn same_files(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}

/// 4 settings on two traces under 6 seeds: 48 runs of 20 jobs.
const EXPERIMENT: &str = "\
schema_version = 1
traces = [\"philly\", \"venus\"]
policies = [\"exclusive\", \"aegis\"]
replicates = 6
metrics = [\"makespan_s\", \"slowdown_mean\", \"makespan_s_vs_baseline\"]
baseline = \"exclusive\"
[fixed]
job_count = 20
[axes]
observation_window_s = [0, 30]
";

struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { dir: tempfile::tempdir().unwrap() }
    }

    /// With the experiment and the path of its results, which are there.
    fn swept() -> (Scratch, String, String) {
        let scratch = Scratch::new();
        let experiment = scratch.write("e.toml", EXPERIMENT);
        let out = scratch.text("out");
        succeeds(&["sweep", &experiment, "--out", &out]);
        (scratch, experiment, out)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.text(name)
    }
}

#[test]
fn threads_do_not_matter_and_nothing_is_left_behind() {
    let scratch = Scratch::new();
    let experiment = scratch.write("e.toml", EXPERIMENT);
    let (one, many) = (scratch.text("one"), scratch.text("many"));
    let printed = succeeds(&["sweep", &experiment, "--out", &one, "--jobs", "1"]);
    assert_eq!(succeeds(&["sweep", &experiment, "--out", &many, "--jobs", "5"]), printed);
    same_files(&scratch.path("one"), &scratch.path("many"));
    let names: Vec<String> =
        files(&scratch.path("one")).into_keys().filter(|name| !name.contains("svg")).collect();
    assert!(
        names.starts_with(&["experiment.json".to_owned()]) && names.contains(&"results.csv".to_owned()),
        "{names:?}"
    );
    let results = std::fs::read_to_string(scratch.path("one").join("results.csv")).unwrap();
    assert_eq!(results.lines().count(), 1 + 48);
    // The baseline is 1 to itself.
    let runs = std::fs::read_to_string(scratch.path("one").join("runs.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(runs.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let ratios: Vec<(String, f64)> = reader
        .records()
        .map(|row| row.unwrap())
        .map(|row| {
            (row[column("variant")].to_owned(), row[column("makespan_s_vs_baseline_mean")].parse().unwrap())
        })
        .collect();
    assert!(files(&scratch.path("one")).contains_key("lines_makespan_s_vs_baseline.png"));
    assert_eq!(ratios.len(), 4 * 3, "two traces and their mean");
    assert!(ratios.iter().all(|(variant, ratio)| (variant == "exclusive") == (*ratio == 1.0)), "{ratios:?}");
}

/// Kills sweeps after some runs, which is a random moment of those after it, and goes on.
#[test]
fn killed_sweeps_resume_to_the_same_bytes() {
    let scratch = Scratch::new();
    let experiment = scratch.write("e.toml", EXPERIMENT);
    let whole = scratch.text("whole");
    succeeds(&["sweep", &experiment, "--out", &whole]);
    for (round, moments) in [[0, 7, 1], [13, 2, 5], [1, 1, 21]].into_iter().enumerate() {
        let out = scratch.text(&format!("killed{round}"));
        let journal = Path::new(&out).join("journal.csv");
        for wanted in moments {
            let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
            let before = lines();
            let mut child = Command::new(assert_cmd::cargo::cargo_bin("aegis-sim"))
                .args(["sweep", &experiment, "--out", &out, "--resume"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            while lines() < before + wanted && child.try_wait().unwrap().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // What a crash in the middle of a write leaves.
        let mut text = std::fs::read_to_string(&journal).unwrap_or_default();
        text += "47,3000";
        std::fs::write(&journal, text).unwrap();
        std::fs::write(Path::new(&out).join(".aegis-sim-a1b2c3"), "half").unwrap();
        succeeds(&["sweep", &experiment, "--out", &out, "--resume"]);
        same_files(Path::new(&out), Path::new(&whole));
        succeeds(&["sweep", &experiment, "--out", &out, "--resume"]);
        same_files(Path::new(&out), Path::new(&whole));
    }
}

/// A run that is done is not done again: its line stays, whatever it says.
#[test]
fn resuming_keeps_what_is_there() {
    let (scratch, experiment, out) = Scratch::swept();
    let path = scratch.path("out").join("results.csv");
    let whole = std::fs::read_to_string(&path).unwrap();
    let second = whole.lines().nth(2).unwrap();
    let figures: Vec<&str> = second.split(',').skip(5).collect();
    let line = format!("1,12345.5,{}\n", figures[1..figures.len() - 1].join(","));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(scratch.path("out").join("journal.csv"), line).unwrap();
    succeeds(&["sweep", &experiment, "--out", &out, "--resume"]);
    let again = std::fs::read_to_string(&path).unwrap();
    for (number, (before, after)) in whole.lines().zip(again.lines()).enumerate() {
        assert_eq!(before == after, number != 2, "line {number}");
    }
    assert!(again.contains(",12345.5,"));
}

#[test]
fn shards_merge_to_the_same_bytes() {
    let scratch = Scratch::new();
    let experiment = scratch.write("e.toml", EXPERIMENT);
    let (whole, parts, merged) = (scratch.text("whole"), scratch.text("parts"), scratch.text("merged"));
    succeeds(&["sweep", &experiment, "--out", &whole]);
    for shard in ["1/3", "3/3"] {
        succeeds(&["sweep", &experiment, "--out", &parts, "--shard", shard]);
    }
    fails(2, &["merge", &parts, "--out", &merged], &["16 of 48 runs are missing", "these are 1/3, 3/3"]);
    // As a Slurm job array says it.
    let slurm = [("ID", "12"), ("MIN", "10"), ("STEP", "2"), ("COUNT", "3")];
    let mut second = aegis_sim();
    for (name, value) in slurm {
        second.env(format!("SLURM_ARRAY_TASK_{name}"), value);
    }
    second.args(["sweep", &experiment, "--out", &parts, "--shard", "auto"]).assert().success();
    succeeds(&["merge", &parts, "--out", &merged]);
    same_files(&scratch.path("merged"), &scratch.path("whole"));

    // Each by itself, in any order, from a Kubernetes indexed Job.
    let others = scratch.text("others");
    for index in ["0", "1", "2"] {
        let mut command = aegis_sim();
        command.env("JOB_COMPLETION_INDEX", index);
        command.args(["sweep", &experiment, "--out", &others, "--shard", "auto/3"]).assert().success();
    }
    let folder =
        |index: usize| scratch.path("others").join(format!("shard-{index}-of-3")).display().to_string();
    let again = scratch.text("again");
    succeeds(&["merge", &folder(3), &folder(1), &folder(2), "--out", &again]);
    same_files(&scratch.path("again"), &scratch.path("whole"));

    fails(
        2,
        &["merge", &parts, &folder(1), "--out", &again],
        &["both have exclusive, observation_window_s 0 on philly under seed 1"],
    );
    let other = scratch.write("other.toml", &EXPERIMENT.replace("[0, 30]", "[0, 60]"));
    let mixed = scratch.text("mixed");
    succeeds(&["sweep", &other, "--out", &mixed, "--shard", "3/3"]);
    fails(2, &["merge", &folder(1), &folder(2), &mixed, "--out", &again], &["another experiment"]);
    let unfinished = scratch.path("others").join("shard-2-of-3");
    std::fs::remove_file(unfinished.join("results.csv")).unwrap();
    fails(2, &["merge", &others, "--out", &again], &["shard-2-of-3 is not complete", "--resume"]);
    std::fs::create_dir(scratch.path("empty")).unwrap();
    fails(2, &["merge", &scratch.text("empty"), "--out", &again], &["no folder of a sweep"]);
}

#[test]
fn folders_of_other_results_are_refused() {
    let (scratch, experiment, out) = Scratch::swept();
    fails(2, &["sweep", &experiment, "--out", &out], &["holds results", "--resume"]);
    let other = scratch.write("other.toml", &EXPERIMENT.replace("replicates = 6", "replicates = 5"));
    fails(
        2,
        &["sweep", &other, "--out", &out, "--resume"],
        &["another experiment", "6 seeds from 1 against 5 seeds from 1"],
    );
    // Titles and figures may change.
    let text = EXPERIMENT
        .replace("traces =", "title = \"Another\"\ntraces =")
        .replace("\"slowdown_mean\"", "\"jct_mean_s\"");
    let redrawn = scratch.write("redrawn.toml", &text);
    succeeds(&["sweep", &redrawn, "--out", &out, "--resume"]);
    let runs = std::fs::read_to_string(scratch.path("out").join("runs.csv")).unwrap();
    assert!(
        runs.starts_with("trace,variant,policy,observation_window_s,replicates,failed_runs,makespan_s_mean"),
        "{runs}"
    );
    assert!(runs.contains("jct_mean_s_mean"));
    let drawn = files(&scratch.path("out"));
    assert!(
        drawn.contains_key("lines_jct_mean_s.svg") && !drawn.contains_key("lines_slowdown_mean.svg"),
        "{:?}",
        drawn.keys()
    );
}

#[test]
fn failing_runs_are_results() {
    let scratch = Scratch::new();
    // Two jobs of three need two GPUs.
    let trace = "job_id,submit_s,workload,gpus\na,0,mnist_bs32_1gpu,1\nb,5,resnet50_cifar100_bs128_2gpu,2\n";
    scratch.write("gangs.csv", trace);
    let text = "schema_version = 1\ntraces = [\"gangs.csv\"]\npolicies = [\"aegis\"]\noversized_jobs = \"refuse\"\n[axes]\ngpu_count = [1, 2]\n";
    let name = |workload: &str| trace.replace("resnet50_cifar100_bs128_2gpu", workload);
    let two = succeeds(&["list", "workloads", "--format", "csv"]);
    let workload =
        two.lines().find(|line| line.split(',').nth(1) == Some("2")).unwrap().split(',').next().unwrap();
    scratch.write("gangs.csv", &name(workload));
    let experiment = scratch.write("e.toml", text);
    let out = scratch.text("out");
    fails(
        1,
        &["sweep", &experiment, "--out", &out],
        &["1 runs failed", "gpu_count 1 on gangs", "than the largest server has (1)"],
    );
    let results = std::fs::read_to_string(scratch.path("out").join("results.csv")).unwrap();
    assert_eq!(results.lines().count(), 3);
    assert!(results.contains("than the largest server has (1)"), "{results}");
    fails(1, &["sweep", &experiment, "--out", &out, "--resume"], &["1 runs failed"]);
    let dropping = scratch.write("d.toml", &text.replace("\"refuse\"", "\"drop\""));
    succeeds(&["sweep", &dropping, "--out", &scratch.text("dropped")]);
}

#[test]
fn plans_cost_nothing() {
    let scratch = Scratch::new();
    let experiment = scratch.write("e.toml", EXPERIMENT);
    let text = succeeds(&["sweep", &experiment, "--plan"]);
    assert!(
        text.contains("4 settings x 2 traces x 6 seeds = 48 runs") && text.contains(" ms a run"),
        "{text}"
    );
    assert!(succeeds(&["sweep", &experiment, "--plan", "--shard", "1/5"]).contains("10 of 48 runs"));
}

#[test]
fn bad_experiments_are_refused_with_file_and_line() {
    let scratch = Scratch::new();
    let head = "schema_version = 1\ntraces = [\"philly\"]\npolicies = [\"aegis\"]\n";
    let check = |text: &str, says: &[&str]| {
        let experiment = scratch.write("bad.toml", text);
        let out = scratch.text("out");
        fails(2, &["sweep", &experiment, "--out", &out], says);
        assert!(!scratch.path("out").exists(), "{text}");
    };
    let with = |rest: &str, says: &[&str]| check(&format!("{head}{rest}"), says);
    with("[axes]\nsmact_treshold = [0.5]\n", &["bad.toml, line 5", "did you mean smact_threshold"]);
    with("[axes]\n\nsmact_threshold = []\n", &["bad.toml, line 6", "has no value"]);
    with("[axes]\nobservation_window_s = { start = 0, stop = 300, step = -10 }\n", &["line 5", "never ends"]);
    with("[axes]\n[axes.observation_window_s]\nstart = 0\nstop = 300\nstep = 0\n", &["line 5", "never ends"]);
    with(
        "[fixed]\nsmact_threshold = 0.5\n[axes]\nsmact_threshold = [0.5, 0.6]\n",
        &["bad.toml, line 5", "is fixed and on axis smact_threshold as well"],
    );
    with("metrics = [\"makespan\"]\n", &["bad.toml, line 4", "did you mean makespan_s"]);
    with("[fixed]\nsmact_threshold = 5\n", &["line 5", "found \"5\"; expected a number from 0 to 1"]);
    with("[axes]\ngpu_count = [0]\n", &["line 5", "expected a whole number from 1 to 4096"]);
    with("[axis]\n", &["bad.toml", "line 4", "axis"]);
    with("baseline = \"exclusiv\"\n", &["line 4", "is no variant"]);
    with("replicates = 0\n", &["line 4", "expected 1 to"]);
    with("[[plot]]\nkind = \"lines\"\n", &["line 4", "0 axes"]);
    with("[[plot]]\nkind = \"pie\"\n", &["line 5", "pie"]);
    with("[[variant]]\npolicy = \"aegis\"\n", &["line 5", "a name of its own"]);
    with("[[variant]]\npolicy = \"lucid+lug\"\n", &["line 5", "changes aegis only"]);
    with(
        "[[variant]]\npolicy = \"aegis+lug\"\n[axes]\nplacement = [\"bf\"]\n",
        &["line 5", "+lug sets placement"],
    );
    with(
        "[[variant]]\nname = \"b\"\npolicy = \"aegis\"\nwithout = [\"smact\"]\n[axes]\nsmact_threshold = [1]\n",
        &["line 7", "did you mean smact_threshold"],
    );
    with("[tolerance]\nmakespan = { relative = 0.1 }\n", &["line 5", "did you mean makespan_s"]);
    with("[tolerance]\nmakespan_s = { relative = -0.1 }\n", &["line 5", "expected a number from 0"]);
    check("schema_version = 1\ntraces = []\npolicies = [\"aegis\"]\n", &["name at least one"]);
    check("schema_version = 1\ntraces = [\"philly\"]\n", &["name at least one policy"]);
    check(&head.replace("philly", "phily"), &["line 2", "did you mean philly"]);
    check(&head.replace("\"philly\"", "\"philly\", \"philly\""), &["line 2", "named twice"]);
    check(&head.replace("aegis", "aegsi"), &["line 3", "did you mean aegis"]);
    check(&head.replace("= 1", "= 2"), &["schema_version 2"]);
    with(
        "params = [\"ideal\"]\n[axes]\ntick_s = [1, 2]\n",
        &["line 3", "the parameter set ideal sets tick_s, and an axis varies it"],
    );
    let axes = ["smact", "smocc", "drama"]
        .map(|name| format!("{name}_threshold = {{ start = 0, stop = 1, points = 1000 }}\n"));
    with(&format!("[axes]\n{}", axes.concat()), &["1000000000 settings", "expected at most"]);
    fails(2, &["sweep", &scratch.text("none.toml"), "--out", &scratch.text("out")], &["none.toml"]);
}

/// Rows of a table in CSV as maps.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Results that were edited are refused, or taken for what they are.
#[test]
fn edited_results_are_refused() {
    let (scratch, experiment, out) = Scratch::swept();
    let path = scratch.path("out").join("results.csv");
    let whole = std::fs::read_to_string(&path).unwrap();
    let second: Vec<&str> = whole.lines().nth(1).unwrap().split(',').collect();
    let makespan = second[5];
    let edit = |text: String, says: &[&str]| {
        std::fs::write(&path, text).unwrap();
        fails(2, &["sweep", &experiment, "--out", &out, "--resume"], says);
        assert!(!scratch.path("out").join("journal.csv").exists(), "a journal is left behind");
    };
    edit(
        whole.replace("makespan_s,jct_mean_s", "jct_mean_s,makespan_s"),
        &["results.csv, line 1", "not the columns"],
    );
    for junk in ["abc", "NaN", "1e400", "-5"] {
        edit(whole.replacen(makespan, junk, 1), &["results.csv, line 2", "expected numbers"]);
    }
    edit(whole.replacen("philly", "venus", 1), &["results.csv, line 2", "on philly under seed 1"]);
    edit(format!("{whole}{whole}"), &["results.csv, line 50", "more rows than there are runs"]);
    edit(whole.lines().take(9).collect::<Vec<_>>().join("\n"), &["results.csv, line 10", "ends before"]);
    std::fs::remove_file(&path).unwrap();
    let journal = scratch.path("out").join("journal.csv");
    let line =
        |makespan: &str| format!("0,{}\n", [&[makespan], &second[6..second.len() - 1]].concat().join(","));
    for junk in [
        line("abc"),
        line("NaN"),
        line(makespan).replace('\n', "\r\n"),
        "x\n".into(),
        line(makespan).replacen('0', "48", 1),
    ] {
        std::fs::write(&journal, junk).unwrap();
        fails(2, &["sweep", &experiment, "--out", &out, "--resume"], &["journal.csv, line 1", "remove it"]);
    }
    // The same again is what a crash in the end leaves; other figures for one run are none of a sweep's.
    std::fs::write(&journal, line(makespan) + &line("9")).unwrap();
    fails(
        2,
        &["sweep", &experiment, "--out", &out, "--resume"],
        &["journal.csv, line 2", "with other figures"],
    );
    std::fs::write(&journal, line(makespan) + &line(makespan)).unwrap();
    succeeds(&["sweep", &experiment, "--out", &out, "--resume"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
}

/// A folder's description that was edited is refused, and never followed.
#[test]
fn edited_descriptions_are_refused() {
    let (scratch, experiment, out) = Scratch::swept();
    let path = scratch.path("out").join("experiment.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let edits: [(&str, serde_json::Value, &str); 8] = [
        ("/design/variants/0/axes", serde_json::json!([9]), "identity"),
        ("/design/replicates", 7.into(), "identity"),
        ("/figures", serde_json::json!([]), "identity"),
        ("/runs", 49.into(), "number of runs"),
        ("/presentation/metrics", serde_json::json!([]), "no metric"),
        ("/presentation/plots/0/x", "gpu_count".into(), "unknown axis"),
        ("/presentation/plots/0/at", serde_json::json!({ "observation_window_s": 9 }), "has no point 9"),
        ("/presentation/plots/0/name", "../x".into(), "the name of a file"),
    ];
    for (place, value, says) in edits {
        let mut edited = whole.clone();
        *edited.pointer_mut(place).unwrap() = value;
        std::fs::write(&path, edited.to_string()).unwrap();
        fails(2, &["sweep", &experiment, "--out", &out, "--resume"], &["experiment.json", says]);
        fails(2, &["merge", &out, "--out", &scratch.text("merged")], &["experiment.json", says]);
    }
}

/// What a run says of a file does not depend on where the experiment lies.
#[test]
fn failures_name_files_as_the_experiment_does() {
    let scratch = Scratch::new();
    scratch.write("gangs.csv", "job_id,submit_s,workload,gpus,duration_s\na,0,mnist_bs32_1gpu,4,60\n");
    let text =
        "schema_version = 1\ntraces = [\"gangs.csv\"]\npolicies = [\"aegis\"]\noversized_jobs = \"refuse\"\n";
    let experiment = scratch.write("e.toml", text);
    fails(
        1,
        &["sweep", &experiment, "--out", &scratch.text("here")],
        &["gangs.csv: 1 of the jobs need more GPUs", "oversized_jobs"],
    );
    let mut there = aegis_sim();
    there.current_dir(scratch.path("")).args(["sweep", "e.toml", "--out", "there"]).assert().code(1);
    same_files(&scratch.path("here"), &scratch.path("there"));
}

/// Settings that do less work are no better for it, and more completed jobs are better than fewer.
#[test]
fn what_is_best_comes_first() {
    let scratch = Scratch::new();
    let text = "schema_version = 1\ntraces = [\"philly\"]\npolicies = [\"aegis\"]\nreplicates = 1\nmetrics = [\"METRIC\"]\n\
                [axes]\ngpu_memory_mib = [600, 24576, 40960]\n";
    for metric in ["makespan_s", "completed_jobs", "jct_mean_s"] {
        let experiment = scratch.write("e.toml", &text.replace("METRIC", metric));
        let out = scratch.text(metric);
        let (code, stdout, stderr) = common::run(&["sweep", &experiment, "--out", &out]);
        assert!(code == 0 && stderr.contains("settings give up jobs"), "{stderr}");
        let place = |memory: &str| {
            stdout.find(&format!(" {memory} ")).unwrap_or_else(|| panic!("{memory}: {stdout}"))
        };
        assert!(place("40960") < place("24576"), "{stdout}");
        // One seed has no interval.
        let runs = std::fs::read_to_string(Path::new(&out).join("runs.csv")).unwrap();
        let blank = |row: &BTreeMap<String, String>| row[&format!("{metric}_low")].is_empty();
        assert!(rows(&runs).iter().all(blank), "{runs}");
    }
}

#[test]
fn repeated_runs_are_pointed_out() {
    let scratch = Scratch::new();
    let text = "schema_version = 1\ntraces = [\"philly\"]\npolicies = [\"exclusive\", \"aegis\"]\n[fixed]\njob_count = 3\n\
                [axes]\nsmact_threshold = [0.5, 0.6]\n";
    let experiment = scratch.write("e.toml", text);
    let (_, _, stderr) = common::run(&["sweep", &experiment, "--out", &scratch.text("out")]);
    assert!(stderr.contains("exclusive does not depend on smact_threshold"), "{stderr}");
    assert!(!stderr.contains("aegis does not"), "{stderr}");
    fails(
        2,
        &["sweep", &experiment, "--out", &scratch.text("many"), "--jobs", "100000"],
        &["100000", "1..=1024"],
    );
}

#[test]
fn merges_repeat_and_divisions_do_not_mix() {
    let scratch = Scratch::new();
    let experiment = scratch.write("e.toml", EXPERIMENT);
    let parts = scratch.text("parts");
    for shard in ["1/2", "2/2"] {
        let (code, _, stderr) = common::run(&["sweep", &experiment, "--out", &parts, "--shard", shard]);
        assert!(code == 0 && stderr.contains(&format!("shard {shard}: 24 runs in")), "{stderr}");
    }
    let merged = scratch.path("parts").join("merged").display().to_string();
    for _ in 0..2 {
        succeeds(&["merge", &parts, "--out", &merged]);
    }
    succeeds(&["sweep", &experiment, "--out", &scratch.text("other"), "--shard", "1/3"]);
    let first = scratch.path("parts").join("shard-1-of-2").display().to_string();
    fails(
        2,
        &["merge", &first, &scratch.text("other"), "--out", &scratch.text("m")],
        &["3 shards", "of 2; name shards of the same"],
    );
}
