//! The command `fidelity`, and what it compares.

use std::path::Path;

use aegis_sim::experiment::{Direction, Evaluation, Reference, Settings, validate_with_sound_telemetry};
use aegis_sim::metrics::Summary;
use aegis_sim::policy::PolicySpec;
use aegis_sim::sim::{NoObserver, simulate};
use aegis_sim::workload::Trace;
use assert_cmd::Command;

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_document_is_whole_and_the_same_for_any_number_of_threads() {
    let outputs = ["1", "2"].map(|threads| {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let mut command = Command::cargo_bin("aegis-sim").unwrap();
        command.args(["fidelity", "--seeds", "2", "--out", out.to_str().unwrap()]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty());
        [files(&out), files(&out.join("fidelity"))]
    });
    assert!(outputs[0] == outputs[1]);
    let [documents, figures] = &outputs[0];
    let [(name, document)] = documents.as_slice() else { panic!("one document") };
    let document = std::str::from_utf8(document).unwrap();
    assert_eq!(name, "fidelity.md");
    let embedded: Vec<&str> = document
        .lines()
        .filter(|line| line.starts_with("!["))
        .filter_map(|l| l.split(['(', ')']).nth(1))
        .collect();
    let svgs = figures.iter().filter(|(name, _)| name.ends_with(".svg"));
    let mut expected: Vec<String> = svgs.map(|(name, _)| format!("fidelity/{name}")).collect();
    assert_eq!(embedded.len(), 5);
    for figure in embedded {
        expected.retain(|name| name != figure);
    }
    assert!(expected.is_empty(), "not shown: {expected:?}");
    for part in [
        "18 runs on a server with 3 GPUs",
        "under seeds 1 to 2;",
        "in 14 of the 18,",
        "## Targets",
        "### By policy and by trace",
        "### Energy [kJ]",
        "### calibrate cadence",
        "| error of the total runtime, venus left out ",
        "Of the 14 runs with a blind GPU, 8 change. Under exclusive, horus and lucid no job ends at another time",
        "although its policy reads them: aegis on venus.",
        "- Makespan of aegis against exclusive: ",
        "- 95th percentile of slowdown of aegis+peak-mem: ",
    ] {
        assert!(document.contains(part), "{part}");
    }
    // Every table is one: its rows have as many cells as its head.
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        if let Some(next) = lines.peek().filter(|next| line.starts_with('|') && next.starts_with('|')) {
            assert_eq!(cells(line), cells(next), "{line}\n{next}");
        }
    }
}

#[test]
fn differences_are_those_of_runs_under_the_same_seed() {
    let evaluation = Evaluation::builtin();
    let settings = Settings::default();
    let reference = Reference::of_evaluation(&evaluation, None).unwrap();
    let (validation, counterfactual) =
        validate_with_sound_telemetry(&reference, &settings, 3, &|| ()).unwrap();
    let policy: PolicySpec = "aegis+peak-mem".parse().unwrap();
    let world = settings.world(&Trace::open("philly").unwrap()).unwrap();
    let run = |blind: &str, seed: u64| {
        let mut params = settings.params(&policy).unwrap();
        params.set("telemetry_blind_gpu", blind).unwrap();
        Summary::of(&simulate(&world, &policy, &params, seed, &mut NoObserver).unwrap())
    };
    let of_run =
        counterfactual.runs.iter().find(|run| run.trace == "philly" && run.policy == policy).unwrap();
    assert!(of_run.blind && of_run.affected);
    let slowdowns = |blind: &str| [1, 2, 3].map(|seed| run(blind, seed).slowdown.mean);
    let (blind, sound) = (slowdowns("seeded"), slowdowns("none"));
    let change = of_run.figure("slowdown_mean").unwrap();
    let mean = blind.iter().zip(&sound).map(|(blind, sound)| blind - sound).sum::<f64>() / 3.0;
    assert!((change.difference.mean - mean).abs() < 1e-12);
    let median = |mut values: [f64; 3]| {
        values.sort_by(f64::total_cmp);
        values[1]
    };
    assert_eq!((change.as_measured.median, change.sound.median), (median(blind), median(sound)));

    // Runs of policies that do not read what was blind, and runs that were measured with sound telemetry.
    for run in &counterfactual.runs {
        let policy = run.policy.to_string();
        let sees = policy.starts_with("aegis") && !(policy == "aegis" && run.trace == "venus");
        assert_eq!(run.affected, sees, "{policy} on {}", run.trace);
        if !sees {
            let difference = &run.figure("makespan_s").unwrap().difference;
            assert_eq!((difference.mean, difference.direction()), (0.0, Direction::Unclear));
        }
    }
    for (headline, reduction) in validation.headline.iter().zip(&counterfactual.reductions) {
        assert_eq!((&headline.against, headline.measured_pct), (&reduction.against, reduction.measured_pct));
        assert_eq!(headline.simulated_pct, reduction.change.as_measured);
    }
}
