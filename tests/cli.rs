//! The program as its users call it: exit codes, messages, outputs, determinism.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn aegis_sim(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("aegis-sim").unwrap();
    command.args(args);
    command
}

fn output(args: &[&str]) -> Output {
    aegis_sim(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = output(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Fails with exit code 2, one line that starts with `error:`, and says all of `says`.
#[track_caller]
fn refused(command: &mut Command, says: &[&str]) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty(), "printed results although it failed");
    assert!(stderr.lines().any(|line| line.starts_with("error: ")), "{stderr}");
    for part in says {
        assert!(stderr.contains(part), "{stderr:?} does not say {part:?}");
    }
}

const HEADER: &str = "job_id,submit_s,workload,gpus,duration_s\n";
const JOB: &str = "a,0,mnist_bs32_1gpu,1,\n";

#[test]
fn bad_traces_are_refused_with_file_line_column_and_remedy() {
    let lines = |lines: &str| format!("{HEADER}{JOB}{lines}");
    let cases: &[(&[u8], &[&str])] = &[
        (b"job_id,submit_s,gpus\na,0,1\n", &["line 1", "column workload is missing", "expected at least"]),
        (b"", &["is empty", "expected a header"]),
        (HEADER.as_bytes(), &["no job", "add at least one line"]),
        (
            &lines("b,soon,mnist_bs32_1gpu,1,\n").into_bytes(),
            &["line 3, column submit_s", "\"soon\"", "a number"],
        ),
        (&lines("b,-1,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 3, column submit_s: found -1", "from 0"]),
        (&lines("b,NaN,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 3, column submit_s: found NaN"]),
        (&lines("b,inf,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 3, column submit_s: found inf"]),
        (&lines("b,1e300,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 3, column submit_s: found 1e300"]),
        (&lines("b,0,mnist_bs32_1gpu,1,-5\n").into_bytes(), &["line 3, column duration_s: found -5"]),
        (
            &lines("b,0,mnist_bs23_1gpu,1,\n").into_bytes(),
            &["line 3, column workload", "did you mean mnist_bs32_1gpu"],
        ),
        (&lines("b,0,,1,\n").into_bytes(), &["line 3, column workload: blank", "aegis-sim trace map"]),
        (&lines("b,0,mnist_bs32_1gpu,0,\n").into_bytes(), &["line 3, column gpus: found \"0\"", "from 1"]),
        (&lines("b,0,mnist_bs32_1gpu,1.5,\n").into_bytes(), &["line 3, column gpus", "whole number"]),
        (&lines("b,0,mnist_bs32_1gpu,2,\n").into_bytes(), &["line 3, column gpus", "duration_s"]),
        (&lines("a,5,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 3, column job_id", "line 2"]),
        (&lines("b,0,mnist_bs32_1gpu\n").into_bytes(), &["line 3: found 3 fields, expected the header's 5"]),
        (&lines("b,0,mnist_bs32_1gpu,1,,9\n").into_bytes(), &["line 3: found 6 fields"]),
        (&lines("\n\nb,x,mnist_bs32_1gpu,1,\n").into_bytes(), &["line 5, column submit_s"]),
        (
            &lines("b,0,mnist_bs32_1gpu,1,\"\nc,0,mnist_bs32_1gpu,1,\n").into_bytes(),
            &["line 3", "never closes"],
        ),
        (b"job_id;submit_s;workload;gpus\n", &["line 1", "separated by commas"]),
        (b"\x7fELF\x02\x01\x00\x00\xff\xfe", &["is not a text file", "CSV"]),
        (b"job_id,job_id,submit_s,workload,gpus\n", &["line 1: the column job_id comes twice"]),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (index, (bytes, says)) in cases.iter().enumerate() {
        let trace = dir.path().join(format!("trace{index}.csv"));
        std::fs::write(&trace, bytes).unwrap();
        let out = dir.path().join("out");
        let trace = trace.to_str().unwrap();
        let mut says = says.to_vec();
        says.push(trace);
        let args = ["run", "--trace", trace, "--policy", "aegis", "--out", out.to_str().unwrap()];
        refused(&mut aegis_sim(&args), &says);
        assert!(!out.exists(), "wrote something although the input was refused");
    }
}

#[test]
fn bad_arguments_are_refused_with_the_nearest_names() {
    let run = |more: &[&str]| {
        let mut args = vec!["run", "--trace", "philly", "--policy", "aegis"];
        args.extend(more);
        aegis_sim(&args)
    };
    refused(&mut aegis_sim(&["run", "--trace", "phily", "--policy", "aegis"]), &["did you mean philly?"]);
    refused(&mut aegis_sim(&["run", "--trace", "gone.csv", "--policy", "aegis"]), &["cannot read gone.csv"]);
    refused(
        &mut aegis_sim(&["run", "--trace", "philly", "--policy", "agis"]),
        &["did you mean aegis?", "lucid"],
    );
    refused(
        &mut aegis_sim(&["run", "--trace", "philly", "--policy", "aegis+magma"]),
        &["did you mean magm", "+lug"],
    );
    refused(&mut aegis_sim(&["run", "--trace", "philly", "--policy", "lucid+lug"]), &["changes aegis only"]);
    refused(&mut aegis_sim(&["compare", "--trace", "philly", "--policy", "lucid,lucid"]), &["given twice"]);
    refused(&mut aegis_sim(&["compare", "--trace", "philly,philly", "--policy", "lucid"]), &["two traces"]);
    refused(
        &mut run(&["--set", "observation_windw_s=6"]),
        &["did you mean observation_window_s", "0 to 1000000"],
    );
    refused(&mut run(&["--set", "tick_s=-1"]), &["tick_s", "\"-1\"", "from 0"]);
    refused(&mut run(&["--set", "tick_s"]), &["key=value"]);
    refused(&mut run(&["--set", "recovery=never"]), &["idle, floors"]);
    refused(&mut run(&["--set", "telemetry_blind_gpu=3"]), &["3 GPUs"]);
    refused(&mut run(&["--params", "idael"]), &["did you mean ideal?"]);
    refused(&mut run(&["--params", "gone.toml"]), &["cannot read gone.toml"]);
    refused(&mut run(&["--cluster", "gone.toml"]), &["cannot read gone.toml"]);
    refused(&mut run(&["--workloads", "gone.csv"]), &["cannot read gone.csv"]);
    refused(&mut run(&["--model", "gone.toml"]), &["cannot read gone.toml"]);
}

#[test]
fn an_unwritable_output_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let out = file.join("out");
    for command in ["run", "compare"] {
        let args = [command, "--trace", "philly", "--policy", "exclusive", "--out", out.to_str().unwrap()];
        refused(&mut aegis_sim(&args), &["cannot write", out.to_str().unwrap(), "--out"]);
    }
    refused(&mut aegis_sim(&["reproduce", "--out", out.to_str().unwrap()]), &["cannot write"]);
}

#[test]
fn unusual_traces_are_accepted_with_a_note() {
    let run = |bytes: &[u8]| {
        let mut command = aegis_sim(&["run", "--trace", "-", "--policy", "lucid", "--format", "json"]);
        let output = command.write_stdin(bytes).output().unwrap();
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (plain, silence) =
        run(b"job_id,submit_s,workload,gpus\na,0,mnist_bs32_1gpu,1\nb,9,mnist_bs32_1gpu,1\n");
    assert_eq!(silence, "");
    for (bytes, says) in [
        (
            &b"\xef\xbb\xbfjob_id,submit_s,workload,gpus\na,0,mnist_bs32_1gpu,1\nb,9,mnist_bs32_1gpu,1\n"[..],
            "byte-order",
        ),
        (b"job_id,submit_s,workload,gpus\r\na,0,mnist_bs32_1gpu,1\r\nb,9,mnist_bs32_1gpu,1\r\n", "CRLF"),
        (b"job_id,submit_s,workload,gpus\na,0,mnist_bs32_1gpu,1\nb,9,mnist_bs32_1gpu,1", "no line end"),
        (b"job_id,submit_s,workload,gpus\nb,9,mnist_bs32_1gpu,1\na,0,mnist_bs32_1gpu,1\n", "sorted"),
        (b"gpus,note,job_id,workload,submit_s\n1,\"x,y\",a,mnist_bs32_1gpu,0\n1,,b,mnist_bs32_1gpu,9\n", ""),
    ] {
        let (summary, notes) = run(bytes);
        assert_eq!(summary, plain, "{says}");
        assert!(notes.contains(says) && notes.is_empty() == says.is_empty(), "{notes}");
    }
}

#[test]
fn a_job_that_no_gpu_can_hold_is_given_up_and_the_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let cluster = dir.path().join("small.toml");
    let text =
        "schema_version = 1\n[[server]]\nname = \"s\"\n[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 8192.0\n";
    std::fs::write(&cluster, text).unwrap();
    let trace = "job_id,submit_s,workload,gpus\nbig,0,gpt2_xl_wiki_bs2_1gpu,1\nsmall,1,mnist_bs32_1gpu,1\n";
    for policy in ["exclusive", "horus", "lucid", "aegis", "aegis+peak-mem"] {
        for recovery in ["recovery=idle", "recovery=floors"] {
            let cluster = cluster.to_str().unwrap();
            let args = ["run", "--trace", "-", "--policy", policy, "--cluster", cluster, "--set", recovery];
            let output = aegis_sim(&args).args(["--format", "json"]).write_stdin(trace).output().unwrap();
            assert!(output.status.success());
            let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!((&summary["given_up_jobs"], &summary["completed_jobs"]), (&1.into(), &1.into()));
            let notes = String::from_utf8(output.stderr).unwrap();
            assert!(notes.contains("job big (gpt2_xl_wiki_bs2_1gpu) was given up: out of memory"), "{notes}");
        }
    }
}

/// The files of a run by name.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_same_command_gives_the_same_bytes_under_any_threads_zone_and_locale() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = Vec::new();
    let environments: [&[(&str, &str)]; 3] = [
        &[("RAYON_NUM_THREADS", "1"), ("TZ", "UTC"), ("LC_ALL", "C")],
        &[
            ("RAYON_NUM_THREADS", "2"),
            ("TZ", "Asia/Kathmandu"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("LANG", "de_DE.UTF-8"),
        ],
        &[("RAYON_NUM_THREADS", "2"), ("TZ", "America/St_Johns"), ("COLUMNS", "40")],
    ];
    for (index, environment) in environments.iter().enumerate() {
        let mut all = Vec::new();
        for args in [
            &["run", "--trace", "saturn", "--policy", "aegis", "--seed", "7"][..],
            &["compare", "--trace", "saturn,venus", "--policy", "aegis,lucid+none"][..],
            &["compare", "--trace", "saturn,venus", "--policy", "aegis,lucid"],
            &["reproduce"],
            &["reproduce", "--format", "json"],
        ] {
            let out = dir.path().join(format!("{index}-{}", all.len()));
            let mut command = aegis_sim(args);
            let output =
                command.args(["--out", out.to_str().unwrap()]).envs(environment.iter().copied()).output();
            let output = output.unwrap();
            assert_eq!(output.status.success(), !args.contains(&"aegis,lucid+none"));
            all.push((output.stdout, out.is_dir().then(|| files(&out))));
        }
        results.push(all);
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn the_sums_over_jobs_are_those_of_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let summary = json(&[
        "run", "--trace", "venus", "--policy", "aegis", "--seed", "3", "--out", out, "--format", "json",
    ]);
    let stored: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary, stored);

    let read = |name: &str| {
        let mut reader = csv::Reader::from_path(dir.path().join(name)).unwrap();
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        move |column: &str| -> Vec<String> {
            let index = header.iter().position(|name| name == column).unwrap();
            rows.iter().map(|row| row[index].to_owned()).collect()
        }
    };
    let numbers = |column: Vec<String>| column.iter().map(|text| text.parse().unwrap()).collect::<Vec<f64>>();
    let jobs = read("jobs.csv");
    let attempts = read("attempts.csv");
    for (column, figure) in [
        ("jct_s", "jct_mean_s"),
        ("queue_wait_s", "queue_wait_mean_s"),
        ("initial_queue_wait_s", "initial_queue_wait_mean_s"),
        ("execution_time_s", "execution_time_mean_s"),
        ("slowdown", "slowdown_mean"),
        ("normalized_jct", "normalized_jct_mean"),
    ] {
        let values = numbers(jobs(column));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let expected = summary[figure].as_f64().unwrap();
        assert!((mean - expected).abs() <= 1e-9 * expected.abs(), "{column}: {mean} and {expected}");
    }
    let ends = numbers(jobs("end_s"));
    let makespan_s = ends.iter().copied().fold(0.0, f64::max) - numbers(jobs("submit_s"))[0];
    assert!((makespan_s - summary["makespan_s"].as_f64().unwrap()).abs() < 1e-6);
    assert_eq!(numbers(jobs("attempts")).iter().sum::<f64>(), summary["attempts"].as_f64().unwrap());
    let failed = attempts("outcome").iter().filter(|outcome| *outcome == "oom").count();
    assert!(failed > 0, "a case without failures proves less");
    assert_eq!(Some(failed as u64), summary["failed_attempts"].as_u64());
    // Execution time is the time in attempts.
    let spans =
        numbers(attempts("end_s")).iter().sum::<f64>() - numbers(attempts("launch_s")).iter().sum::<f64>();
    assert!((spans - numbers(jobs("execution_time_s")).iter().sum::<f64>()).abs() < 1e-6);
    // Busy and idle time fill the run.
    let busy_and_idle = summary["gpu_busy_s"].as_f64().unwrap() + summary["gpu_idle_s"].as_f64().unwrap();
    assert!((busy_and_idle - 3.0 * makespan_s).abs() < 1e-6);
    // One line per event, each with time and kind, in the order of time.
    let log = std::fs::read_to_string(dir.path().join("events.jsonl")).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.is_sorted_by_key(|event| event["time_s"].as_f64().unwrap()));
    let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!((count("submit"), count("complete"), count("oom")), (60, 60, failed));
    assert!(events.iter().filter(|event| event["kind"] == "reject").all(|event| event["reason"].is_string()));
}

#[test]
fn compare_holds_makespans_against_the_bound_when_asked() {
    let args = ["compare", "--trace", "philly,saturn", "--policy", "lucid,aegis", "--format", "json"];
    let without = json(&args);
    let with = json(&[&args[..], &["--bound"]].concat());
    for (without, with) in without.as_array().unwrap().iter().zip(with.as_array().unwrap()) {
        let figure = |key: &str| with[key].as_f64().unwrap();
        let ratio = figure("makespan_s") / figure("makespan_bound_s");
        assert!((figure("makespan_vs_bound") / ratio - 1.0).abs() < 1e-9 && ratio > 1.0, "{with}");
        let mut rest = with.as_object().unwrap().clone();
        rest.retain(|key, _| !["makespan_bound_s", "makespan_vs_bound"].contains(&key.as_str()));
        assert_eq!(&rest, without.as_object().unwrap());
    }
    let table = |more: &[&str]| {
        let args = [&["compare", "--trace", "venus", "--policy", "lucid"], more].concat();
        String::from_utf8(output(&args).stdout).unwrap()
    };
    assert!(table(&["--bound"]).contains("bound [s]") && !table(&[]).contains("bound [s]"));
}

#[test]
fn compare_has_the_documented_fields_and_geometric_means() {
    let rows = json(&["compare", "--trace", "philly,saturn", "--policy", "aegis", "--format", "json"]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for field in [
        "trace",
        "policy",
        "makespan_s",
        "jct_mean_s",
        "jct_p50_s",
        "jct_p95_s",
        "jct_p99_s",
        "queue_wait_mean_s",
        "queue_wait_p95_s",
        "initial_queue_wait_mean_s",
        "execution_time_mean_s",
        "execution_time_p95_s",
        "slowdown_mean",
        "slowdown_p95",
        "failed_attempts",
        "recovered_attempts",
        "completed_jobs",
        "active_share",
        "smact_active_mean",
        "smocc_active_mean",
        "true_smact_active_mean",
        "true_smocc_active_mean",
        "drama_active_mean",
        "gpu_util_active_mean",
        "memory_active_mean_mib",
        "power_active_mean_w",
        "energy_j",
        "recovery_wait_total_s",
        "seed",
        "makespan_vs_exclusive",
        "jct_mean_vs_exclusive",
    ] {
        assert!(rows.iter().all(|row| row.get(field).is_some()), "{field}");
    }
    let ratio = |row: usize| rows[row]["makespan_vs_exclusive"].as_f64().unwrap();
    assert_eq!(rows[2]["trace"], "geomean");
    assert!((ratio(2) - (ratio(0) * ratio(1)).sqrt()).abs() < 1e-12);
    assert!(ratio(0) < 1.0);
}

#[test]
fn precedence_is_defaults_params_modifiers_set() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("p.toml");
    std::fs::write(&file, "schema_version = 1\nplacement = \"bf\"\nsmact_threshold = 0.5\n").unwrap();
    let file = file.to_str().unwrap();
    let params = |more: &[&str], policy: &str| {
        let mut args = vec!["run", "--trace", "philly", "--policy", policy, "--format", "json"];
        args.extend(more);
        json(&args)["params"].clone()
    };
    assert_eq!(params(&[], "aegis")["placement"], "magm");
    let from_file = params(&["--params", file], "aegis");
    assert_eq!((&from_file["placement"], &from_file["smact_threshold"]), (&"bf".into(), &0.5.into()));
    assert_eq!(params(&["--params", file], "aegis+lug")["placement"], "lug");
    assert_eq!(params(&["--params", file, "--set", "placement=rr"], "aegis+lug")["placement"], "rr");
}

/// Changing one input moves the reproduction: nothing is looked up.
#[test]
fn reproduce_follows_its_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let cells = |args: &[&str]| -> Vec<(String, f64)> {
        let mut all = vec!["reproduce", "--format", "json"];
        all.extend(args);
        let cells = json(&all)["cells"].clone();
        let key = |cell: &Value| format!("{} {}", cell["trace"], cell["policy"]).replace('"', "");
        cells.as_array().unwrap().iter().map(|c| (key(c), c["makespan_s"].as_f64().unwrap())).collect()
    };
    let before = cells(&[]);

    // One solo runtime x 1.1: gpt2_xl ends last in all three traces under exclusive.
    let catalogue = std::fs::read_to_string("models/workloads.csv").unwrap();
    let slower =
        catalogue.replace("gpt2_xl_wiki_bs2_1gpu,0,1,14448.63", "gpt2_xl_wiki_bs2_1gpu,0,1,15893.493");
    assert_ne!(catalogue, slower);
    let workloads = dir.path().join("w.csv");
    std::fs::write(&workloads, slower).unwrap();
    let after = cells(&["--workloads", workloads.to_str().unwrap()]);
    let moved = before.iter().zip(&after).filter(|(a, b)| a.1 != b.1).count();
    assert!(moved >= 15, "only {moved} of 18 cells moved");

    // One trace's arrivals: every submission of philly comes 5000 s later than the first.
    let philly = std::fs::read_to_string("traces/philly.csv").unwrap();
    let later: String = philly
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            match fields[1].parse::<u64>() {
                Ok(submit_s) if fields[0] != "0" => {
                    format!("{},{},{},{}\n", fields[0], submit_s + 5000, fields[2], fields[3])
                }
                _ => format!("{line}\n"),
            }
        })
        .collect();
    std::fs::write(dir.path().join("philly.csv"), later).unwrap();
    std::fs::copy("experiments/measured/runs.csv", dir.path().join("runs.csv")).unwrap();
    let evaluation = std::fs::read_to_string("experiments/paper.toml").unwrap();
    let evaluation =
        evaluation.replace("\"philly\"", "\"philly.csv\"").replace("measured/runs.csv", "runs.csv");
    let file = dir.path().join("e.toml");
    std::fs::write(&file, evaluation).unwrap();
    let after = cells(&["--evaluation", file.to_str().unwrap()]);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.1 != after.1, before.0.starts_with("philly"), "{before:?} {after:?}");
    }
}

/// Energy is compared over the makespan: what was measured over a longer window less what idle GPUs drew in the rest of it.
#[test]
fn reproduce_compares_energy_over_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let evaluation = std::fs::read_to_string("experiments/paper.toml").unwrap();
    std::fs::write(dir.path().join("e.toml"), evaluation.replace("measured/runs.csv", "runs.csv")).unwrap();
    let measured = std::fs::read_to_string("experiments/measured/runs.csv").unwrap();
    let model = dir.path().join("m.toml");
    std::fs::write(&model, "schema_version = 1\n[power]\nidle_w = 100.0\ngpu_util_w = 0.0\ndrama_w = 0.0\n")
        .unwrap();
    let cell = |measured: &str| {
        std::fs::write(dir.path().join("runs.csv"), measured).unwrap();
        let file = dir.path().join("e.toml");
        let args = ["reproduce", "--format", "json", "--evaluation", file.to_str().unwrap(), "--model"];
        json(&[&args[..], &[model.to_str().unwrap()]].concat())["cells"][0].clone()
    };
    let number = |cell: &Value, key: &str| cell[key].as_f64().unwrap();
    let before = cell(&measured);
    // Idle or not, each of the three GPUs draws 100 W.
    let energy_j = number(&before, "energy_j");
    assert!((energy_j / (300.0 * number(&before, "makespan_s")) - 1.0).abs() < 1e-9, "{energy_j}");
    let error = 100.0 * (energy_j / number(&before, "measured_energy_j") - 1.0);
    assert!((number(&before, "energy_error_pct") - error).abs() < 1e-9, "{error}");
    // The window of philly's exclusive run, 1000 s longer.
    let longer = measured.replace(",42944.939,", ",43944.939,");
    assert_ne!(longer, measured);
    let after = cell(&longer);
    let less = number(&before, "measured_energy_j") - number(&after, "measured_energy_j");
    assert!((less - 300_000.0).abs() < 1e-3, "{less}");
}

#[test]
fn noise_is_calibrated_to_what_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("noise.toml");
    let out = out.to_str().unwrap();
    json(&["calibrate", "noise", "--format", "json", "--out", out]);
    assert_eq!(std::fs::read_to_string(out).unwrap(), include_str!("../models/noise.toml"));

    let solo = dir.path().join("solo.csv");
    let with_solo = |text: &str| {
        std::fs::write(&solo, text).unwrap();
        aegis_sim(&["calibrate", "noise", "--solo", solo.to_str().unwrap(), "--out", out])
    };
    refused(
        &mut with_solo("workload,runtime_s\nmnist_bs23_1gpu,140\n"),
        &["line 2", "did you mean mnist_bs32"],
    );
    refused(
        &mut with_solo("workload,runtime_s\nmnist_bs32_1gpu,0\n"),
        &["line 2, column runtime_s: found 0"],
    );
    // One run less of every workload but one.
    with_solo("workload,runtime_s\nmnist_bs32_1gpu,140\n").assert().success();
    let text = std::fs::read_to_string(out).unwrap();
    assert!(text.contains("180 exclusive, 1 solo, 53 profiles") && text.contains("solo runs none"), "{text}");
    // What it writes is a model file.
    let args = ["run", "--trace", "philly", "--policy", "lucid", "--seed", "3", "--model", out];
    aegis_sim(&args).assert().success();
}

/// A timeline of one exclusive run needs no more than its times where the trace says the rest.
#[test]
fn cadence_takes_jobs_from_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let whole = include_str!("../experiments/measured/timelines.csv");
    let mut lines = whole.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |column: &str| header.iter().position(|known| *known == column).unwrap();
    let kept = ["job_id", "dispatch_s", "launch_s", "end_s"].map(place);
    let mut text = "job_id,dispatch_s,launch_s,end_s\n".to_owned();
    for fields in lines.map(|line| line.split(',').collect::<Vec<_>>()) {
        if fields[..2] == ["venus", "exclusive"] {
            text += &(kept.map(|column| fields[column]).join(",") + "\n");
        }
    }
    let path = dir.path().join("t.csv");
    std::fs::write(&path, &text).unwrap();
    let timeline = path.to_str().unwrap();
    let model = dir.path().join("m.toml");
    let lines = json(&[
        "calibrate",
        "cadence",
        timeline,
        "--trace",
        "venus",
        "--format",
        "json",
        "--out",
        model.to_str().unwrap(),
    ]);
    let value = |name: &str| lines.as_array().unwrap().iter().find(|line| line["name"] == name).cloned();
    assert_eq!(value("exclusive attempts").unwrap()["value"], "60");
    // Which is a matter of runs that share GPUs.
    assert_eq!(value("tick_s [all]"), None);
    let factors = std::fs::read_to_string(&model).unwrap();
    assert!(factors.contains("\"gpt2_xl_wiki_bs2_1gpu\" = "), "{factors}");

    std::fs::write(&path, text.replacen("\n0,", "\nnone,", 1)).unwrap();
    refused(
        &mut aegis_sim(&["calibrate", "cadence", timeline, "--trace", "venus"]),
        &["t.csv, line 2, column job_id", "no job \"none\"", "give the trace that was run"],
    );
}

#[test]
fn a_failed_check_is_exit_code_1() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy("experiments/measured/runs.csv", dir.path().join("runs.csv")).unwrap();
    let evaluation = std::fs::read_to_string("experiments/paper.toml").unwrap();
    let strict = evaluation
        .replace("makespan_mae_pct = 3.0", "makespan_mae_pct = 0.0")
        .replace("measured/runs.csv", "runs.csv");
    assert_ne!(strict, evaluation);
    let file = dir.path().join("e.toml");
    std::fs::write(&file, strict).unwrap();
    let output = output(&["reproduce", "--check", "--evaluation", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("makespan_s: mean absolute error") && stderr.contains("expected at most 0"),
        "{stderr}"
    );
    assert!(!output.stdout.is_empty(), "results are shown all the same");
}

#[test]
fn lists_name_everything() {
    for (what, count) in [("traces", 3), ("policies", 20), ("workloads", 53)] {
        assert_eq!(json(&["list", what, "--format", "json"]).as_array().unwrap().len(), count);
    }
    let parameters = json(&["list", "parameters", "--format", "json"]);
    assert!(
        parameters.as_array().unwrap().iter().all(|row| row["range"].is_string() && row["meaning"] != "")
    );
}
