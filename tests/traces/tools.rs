//! `aegis-sim trace stats`, `lint` and `convert` as their users call them.

use std::path::Path;

use crate::common::{aegis_sim, fails, run, succeeds};
use aegis_sim::workload::Trace;
use serde_json::Value;

const TRACE: &str = "\
job_id,submit_s,workload,gpus,duration_s,user,vc,state
application_1,0,unet_voc_1gpu,1,60,ann,research,completed
application_2,30.5,mnist_bs32_1gpu,1,10.25,bob,research,failed
application_3,4000,gpt2_large_wiki_bs8_2gpu,2,,ann,teaching,cancelled
";

/// A file in a directory of its own.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&succeeds(args)).unwrap()
}

fn statistic<'a>(rows: &'a Value, trace: &str, name: &str) -> &'a Value {
    let of = |row: &&Value| row["trace"] == trace && row["statistic"] == name;
    &rows.as_array().unwrap().iter().find(of).unwrap_or_else(|| panic!("no {name} of {trace}"))["value"]
}

#[test]
fn statistics_stand_side_by_side_with_distances_from_the_first() {
    let rows = json(&["trace", "stats", "philly", "saturn", "--format", "json"]);
    assert_eq!(statistic(&rows, "philly", "jobs"), 60);
    assert_eq!(statistic(&rows, "philly", "span_s"), 9404.0);
    // The artifact's manifest of the window has the same span, median and share.
    assert_eq!(statistic(&rows, "philly", "inter_arrival_p50_s"), 8.0);
    assert_eq!(statistic(&rows, "philly", "gpus_2_jobs_fraction"), 2.0 / 60.0);
    assert_eq!(statistic(&rows, "philly", "duration_catalogue_jobs"), 60);
    let of_saturn = |name| statistic(&rows, "saturn", name).as_f64().unwrap();
    assert!(of_saturn("inter_arrival_ks") > 0.1 && of_saturn("inter_arrival_log10_wasserstein") > 0.1);
    let from = |row: &&Value| row["distance_from"] == "philly" && row["trace"] == "saturn";
    assert_eq!(rows.as_array().unwrap().iter().filter(from).count(), 6);
    let table = succeeds(&["trace", "stats", "philly", "saturn", "--format", "markdown"]);
    let heading = table.lines().next().unwrap();
    assert!(
        heading.contains("statistic") && heading.contains("philly") && heading.contains("saturn"),
        "{table}"
    );
    assert!(
        table.contains("inter-arrival time, p50 [s]") && table.contains("from philly: durations"),
        "{table}"
    );
}

#[test]
fn a_cluster_adds_its_load_and_out_has_tables_and_figures() {
    let (dir, path) = file(TRACE);
    let cluster = dir.path().join("c.toml");
    let gpu = "[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 40960\n";
    std::fs::write(&cluster, format!("schema_version = 1\n[[server]]\nname = \"s\"\n{gpu}")).unwrap();
    let out = dir.path().join("out");
    let args =
        ["trace", "stats", &path, "--cluster", cluster.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("offered load") && stderr.contains("t: 1 of 3 jobs have no duration_s"),
        "{stderr}"
    );
    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    for name in ["arrivals", "durations", "gpu_mix"] {
        assert!(read(&format!("{name}.svg")).ends_with(b"</svg>\n"));
        assert!(read(&format!("{name}.png")).starts_with(b"\x89PNG"));
    }
    let rows: Value = serde_json::from_slice(&read("stats.json")).unwrap();
    assert_eq!(statistic(&rows, "t", "jobs_above_cluster"), 1);
    assert_eq!(statistic(&rows, "t", "state_failed_jobs"), 1);
    let csv = String::from_utf8(read("stats.csv")).unwrap();
    assert!(csv.starts_with("schema_version,trace,distance_from,statistic,value\n1,t,,jobs,3\n"), "{csv}");
    assert_eq!(csv.lines().count(), rows.as_array().unwrap().len() + 1);
}

#[test]
fn lint_says_so_of_a_clean_trace() {
    for name in ["philly", "saturn", "venus"] {
        let text = succeeds(&["trace", "lint", name]);
        assert!(text.ends_with(&format!("traces/{name}.csv: 60 jobs, no problem found\n")), "{text}");
    }
    assert_eq!(
        succeeds(&["trace", "lint", "philly", "--format", "csv", "--allow", "equal-submit-times"]),
        ""
    );
}

#[test]
fn lint_lists_all_problems_with_exit_code_1() {
    let (_dir, path) = file(&format!("{TRACE}application_4,x,unet_vok_1gpu,8,,,,\napplication_1,1,,1,,,,"));
    let (code, stdout, stderr) = run(&["trace", "lint", &path]);
    assert_eq!(code, 1, "{stderr}");
    for (code, place) in [
        ("error[bad-number]", ", line 5, column submit_s: found \"x\""),
        ("error[unknown-workload]", ", line 5, column workload: "),
        ("warning[gang-too-large]", ", line 5, column gpus: found 8"),
        ("error[duplicate-id]", ", line 6, column job_id: \"application_1\" stands on line 2"),
        ("error[blank-workload]", ", line 6, column workload: blank"),
        ("warning[no-final-newline]", ", line 6: "),
        ("warning[unsorted]", ", line 6, column submit_s: found 1 after 4000 on line 4"),
    ] {
        assert!(stdout.contains(&format!("{code} {path}{place}")), "{code}: {stdout}");
    }
    assert!(
        stdout.contains("did you mean unet_voc_1gpu")
            && stdout.contains("  why: ")
            && stdout.contains("  fix: ")
    );
    let said = format!("error: {path}: 5 jobs, errors: 4, warnings: ");
    assert!(stderr.contains(&said), "{stderr}");

    let (code, stdout, _) = run(&["trace", "lint", &path, "--format", "json"]);
    let problems: Value = serde_json::from_str(&stdout).unwrap();
    let keys: Vec<&String> = problems[0].as_object().unwrap().keys().collect();
    let expected =
        ["schema_version", "code", "severity", "line", "column", "count", "lines", "message", "why", "fix"];
    assert_eq!((code, keys), (1, expected.map(str::to_owned).iter().collect()));
    assert_eq!((&problems[0]["line"], &problems[0]["lines"]), (&5.into(), &Value::from(vec![5])));
}

#[test]
fn lint_counts_what_is_wrong_a_thousand_times_once() {
    let rows: String = (0..5000).map(|i| format!("j{i},{i},unet_voc_1gpu,1,?,,,\n")).collect();
    let (_dir, path) = file(&format!("{}\n{rows}", TRACE.lines().next().unwrap()));
    let (code, stdout, _) = run(&["trace", "lint", &path]);
    assert_eq!(code, 1);
    assert!(stdout.contains("5000 of them, on lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."), "{stdout}");
    assert_eq!(stdout.matches("error[").count(), 1, "{stdout}");
}

#[test]
fn lint_silences_codes_and_refuses_what_cannot_be_read() {
    let (_dir, path) = file("job_id,submit_s,workload,gpus\na,0,,8\n");
    fails(1, &["trace", "lint", &path, "--allow", "blank-workload"], &["errors: 0, warnings: 1"]);
    succeeds(&["trace", "lint", &path, "--allow", "blank-workload,gang-too-large"]);
    fails(2, &["trace", "lint", &path, "--allow", "blank-workloads"], &["blank-workload"]);
    fails(2, &["trace", "lint", "/nonexistent/t.csv"], &["cannot read /nonexistent/t.csv"]);
    fails(2, &["trace", "lint", "filly"], &["did you mean philly"]);
    let not_text =
        aegis_sim().args(["trace", "lint", "-"]).write_stdin(b"\xff\xfej\0o\0".as_slice()).output().unwrap();
    assert_eq!(not_text.status.code(), Some(1));
    assert!(
        String::from_utf8(not_text.stdout)
            .unwrap()
            .contains("error[not-utf-8] standard input: the file is text in UTF-16")
    );
}

/// A job of an SWF file, names put back: id, submission, run time, GPUs, status, user, workload, queue.
type SwfJob = (String, f64, f64, u32, i8, String, String, String);

fn read_swf(text: &str) -> Vec<SwfJob> {
    let names: std::collections::HashMap<(&str, &str), &str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("; ")?.split_once(": "))
        .filter_map(|(key, name)| Some((key.split_once(' ')?, name)))
        .collect();
    let job = |line: &str| -> SwfJob {
        let fields: Vec<&str> = line.split(' ').collect();
        assert_eq!(fields.len(), 18, "{line}");
        let name = |what: &str, field: usize| {
            names.get(&(what, fields[field - 1])).map_or(fields[field - 1], |name| name)
        };
        let named = |what: &str, field: usize| name(what, field).to_owned();
        (
            named("job", 1),
            fields[1].parse().unwrap(),
            fields[3].parse().unwrap(),
            fields[7].parse().unwrap(),
            fields[10].parse().unwrap(),
            named("user", 12),
            named("executable", 14),
            named("queue", 15),
        )
    };
    text.lines().filter(|line| !line.starts_with(';')).map(job).collect()
}

#[test]
fn an_swf_file_holds_what_the_trace_does() {
    let (dir, path) = file(TRACE);
    let out = dir.path().join("t.swf");
    let (code, stdout, stderr) =
        run(&["trace", "convert", &path, "--to", "swf", "-o", out.to_str().unwrap()]);
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    assert!(stderr.contains("note: t: 1 jobs: no duration_s: the run time is the solo runtime"), "{stderr}");
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.starts_with("; Version: 2.2\n"), "{text}");
    let text_of = |text: Option<&str>| text.unwrap_or("-1").to_owned();
    let trace = Trace::open(&path).unwrap();
    for (read, job) in read_swf(&text).iter().zip(&trace.jobs) {
        assert_eq!((&read.0, read.1, read.3), (&job.job_id, job.submit_s, job.gpus));
        assert!(read.2 == job.duration_s.unwrap_or(read.2) && read.2 > 0.0);
        let texts = [text_of(job.user.as_deref()), job.workload.clone(), text_of(job.vc.as_deref())];
        assert_eq!([&read.5, &read.6, &read.7], [&texts[0], &texts[1], &texts[2]]);
    }
    assert_eq!(read_swf(&text).iter().map(|job| job.4).collect::<Vec<_>>(), [1, 0, 5]);
    assert_eq!(succeeds(&["trace", "convert", &path, "--to", "swf", "-o", "-"]), text);
}

#[test]
fn the_artifact_s_format_has_submissions_and_workloads_and_no_more() {
    let (_dir, path) = file(TRACE);
    let (code, stdout, stderr) = run(&["trace", "convert", &path, "--to", "aegis", "-o", "-"]);
    assert_eq!(code, 0, "{stderr}");
    let specs = "evaluation/workloads/training/specs/yaml";
    assert_eq!(
        stdout,
        format!(
            "submit_time_s,task_path\n0.0,{specs}/unet_voc_1gpu.yaml\n30.5,{specs}/mnist_bs32_1gpu.yaml\n\
             4000.0,{specs}/gpt2_large_wiki_bs8_2gpu.yaml\n"
        )
    );
    for said in
        ["3 jobs: the job_id is left out", "2 jobs: duration_s is left out", "3 jobs: the state is left out"]
    {
        assert!(stderr.contains(said), "{stderr}");
    }
    let (_dir, blank) = file("job_id,submit_s,workload,gpus\na,0,,1\n");
    let out = Path::new(&blank).with_extension("out");
    let args = ["trace", "convert", &blank, "--to", "aegis", "-o", out.to_str().unwrap()];
    fails(2, &args, &["line 2, column workload: blank", "aegis-sim trace map"]);
    assert!(!out.exists());
}

#[test]
fn the_own_format_comes_back_the_same() {
    let (_dir, path) = file(&format!("# notes\n{TRACE}application_0,5,,1,,,,\n"));
    let sorted = succeeds(&["trace", "convert", &path, "--to", "csv", "-o", "-"]);
    let lines: Vec<&str> = sorted.lines().collect();
    assert_eq!((lines[0], lines[2]), (TRACE.lines().next().unwrap(), "application_0,5,,1,,,,"));
    let (_dir, again) = file(&sorted);
    assert_eq!(succeeds(&["trace", "convert", &again, "--to", "csv", "-o", "-"]), sorted);
    let (code, few, stderr) =
        run(&["trace", "convert", &again, "--to", "csv", "-o", "-", "--columns", "user"]);
    assert_eq!(
        (code, few.lines().next()),
        (0, Some("job_id,submit_s,workload,gpus,duration_s,user")),
        "{stderr}"
    );
    assert!(
        stderr.contains("left out vc, which 3 jobs have") && stderr.contains("left out state"),
        "{stderr}"
    );
    fails(
        2,
        &["trace", "convert", &again, "--to", "swf", "-o", "-", "--columns", "user"],
        &["--columns is for --to csv"],
    );
}

#[test]
fn no_input_is_overwritten() {
    let (_dir, path) = file("job_id,submit_s,workload,gpus,duration_s\na,0,,1,9\n");
    for args in [
        &["map", &path, "--window", "none", "-o", &path][..],
        &["map", "philly", "--window", "none", "-o", "-", "--catalogue", &path, "--report", &path],
        &["convert", &path, "--to", "csv", "-o", &path],
        &["fit", &path, "-o", &path],
        &["generate", "--like", &path, "--jobs", "3", "-o", &path],
    ] {
        fails(2, &[&["trace"], args].concat(), &["is an input and --"]);
    }
}
