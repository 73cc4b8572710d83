//! The commands of docs/your-own-server.md, run on the files of examples/your-own-server.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// The commands in the fenced `sh` blocks of a document, as arguments.
fn commands(document: &str) -> Vec<Vec<String>> {
    let blocks = document.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty());
    lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

fn rows(csv: &Path) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_path(csv).unwrap().into_deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_command_of_the_walk_through_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root.join("examples/your-own-server")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    let run = |args: &[String]| {
        let mut command = Command::cargo_bin("aegis-sim").unwrap();
        command.current_dir(&dir).args(args).output().unwrap()
    };
    let document = std::fs::read_to_string(root.join("docs/your-own-server.md")).unwrap();
    let commands = commands(&document);
    assert!(commands.len() >= 4, "{commands:?}");
    for command in &commands {
        let (program, args) = command.split_first().unwrap();
        assert_eq!(program, "aegis-sim");
        let output = run(args);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        if let Some(out) = args.iter().position(|arg| arg == "--out") {
            assert!(dir.path().join(&args[out + 1]).exists(), "{command:?}");
        }
    }
    let out = |name: &str| dir.path().join(name);

    // The pairs say more than the baselines do.
    let model = std::fs::read_to_string(out("interference.toml")).unwrap();
    assert!(model.contains("[interference.gpu_utilization.factors.\"detector_bs8\"]"), "{model}");

    for name in ["jobs.csv", "attempts.csv", "events.jsonl", "summary.json", "timeline.svg"] {
        assert!(out("run-smi70").join(name).exists(), "{name}");
    }
    let summary: Value =
        serde_json::from_slice(&std::fs::read(out("run-smi70/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["completed_jobs"], 40);
    assert_eq!(summary["gpus"].as_array().unwrap().len(), 8);
    assert!(summary["gpus"][0]["smact_mean"].is_null());

    let mut makespans = std::collections::HashMap::new();
    for (file, policies) in [("comparison", 4), ("thresholds", 4)] {
        let rows = rows(&out(file).join("compare.csv"));
        let of_trace: Vec<_> = rows.iter().filter(|row| row["trace"] == "trace").collect();
        assert_eq!(of_trace.len(), policies);
        for row in of_trace {
            assert_eq!(
                (row["completed_jobs"].as_str(), row["given_up_jobs"].as_str()),
                ("40", "0"),
                "{row:?}"
            );
            let ratio: f64 = row["makespan_vs_exclusive"].parse().unwrap();
            assert_eq!(ratio < 1.0, row["policy"] != "exclusive", "{row:?}");
            makespans.insert(row["policy"].clone(), ratio);
        }
    }
    // As the document says.
    assert!(makespans["aegis+peak-mem+smi70"] < makespans["aegis+smi70"]);
    assert!(makespans["aegis+smi70"] < makespans["horus"]);

    // What the document says of AEGIS as published.
    let args =
        "run --trace trace.csv --policy aegis --cluster cluster.toml --workloads workloads.csv --out no";
    let output = run(&args.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("+smi70") && stderr.contains("smact_mean"), "{stderr}");
    assert!(!out("no").exists());
}
