//! The examples for job arrays do what a sweep on one machine does, byte by byte.

use std::path::{Path, PathBuf};
use std::process::Command;

const EXPERIMENT: &str = "\
schema_version = 1
traces = [\"philly\"]
policies = [\"lucid\", \"aegis\"]
replicates = 5
[fixed]
job_count = 8
[axes]
arrival_rate_scale = [1, 2]
";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/many-machines").join(name)
}

/// A command that finds the program by its name, and no array that this process may itself be in.
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let binary = assert_cmd::cargo::cargo_bin("aegis-sim");
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(program);
    command.env("PATH", path).env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
    command
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the eight tasks and merges their shards, which are then those of a whole sweep.
fn check(task: impl Fn(&Path, usize)) {
    let dir = tempfile::tempdir().unwrap();
    let experiment = dir.path().join("my-experiment.toml");
    std::fs::write(&experiment, EXPERIMENT).unwrap();
    for index in 1..=8 {
        task(dir.path(), index);
    }
    let sweep = |args: &[&str]| succeeds(command("aegis-sim").current_dir(dir.path()).args(args));
    sweep(&["merge", "results", "--out", "merged"]);
    sweep(&["sweep", "my-experiment.toml", "--out", "whole"]);
    let mut compared = 0;
    for entry in std::fs::read_dir(dir.path().join("whole")).unwrap() {
        let path = entry.unwrap().path();
        let merged = dir.path().join("merged").join(path.file_name().unwrap());
        assert!(
            std::fs::read(&path).unwrap() == std::fs::read(&merged).unwrap(),
            "{} differs",
            merged.display()
        );
        compared += 1;
    }
    assert!(compared > 3, "tables and figures");
}

#[test]
fn slurm() {
    let script = std::fs::read_to_string(example("slurm.sh")).unwrap();
    assert!(script.contains("#SBATCH --array=1-8\n"));
    check(|dir, index| {
        let array =
            [("ID", index.to_string()), ("COUNT", "8".into()), ("MIN", "1".into()), ("STEP", "1".into())];
        let array = array.map(|(name, value)| (format!("SLURM_ARRAY_TASK_{name}"), value));
        let mut bash = command("bash");
        succeeds(
            bash.arg(example("slurm.sh"))
                .args(["my-experiment.toml", "results"])
                .envs(array)
                .current_dir(dir),
        );
    });
}

#[test]
fn kubernetes() {
    let manifest = std::fs::read_to_string(example("kubernetes.yaml")).unwrap();
    assert!(manifest.contains("completions: 8\n") && manifest.contains("completionMode: Indexed\n"));
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("command: ")).unwrap();
    let words: Vec<String> = serde_json::from_str(line).unwrap();
    check(|dir, index| {
        // The volumes are mounted at the root.
        let local = |word: &String| word.replace("/experiments/", "").replace("/results", "results");
        let mut pod = command(&words[0]);
        pod.env("JOB_COMPLETION_INDEX", (index - 1).to_string()).current_dir(dir);
        succeeds(pod.args(words[1..].iter().map(local)));
    });
}

/// As GNU parallel would call it, which not every machine has.
#[test]
fn parallel() {
    let script = std::fs::read_to_string(example("parallel.sh")).unwrap();
    let line = script.lines().find(|line| line.starts_with("parallel ")).unwrap();
    let (call, shards) = line.split_once(" ::: ").unwrap();
    assert_eq!(shards, "1 2 3 4 5 6 7 8");
    let call = call.strip_prefix("parallel \"$@\" ").unwrap();
    check(|dir, index| {
        let call = call.replace("{}", &index.to_string());
        let text = format!("experiment=my-experiment.toml results=results\n{call}");
        succeeds(command("bash").args(["-euo", "pipefail", "-c", &text]).current_dir(dir));
    });
}
