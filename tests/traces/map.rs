//! Production jobs mapped to workloads, against what the AEGIS evaluation published of its mapping.

use std::path::Path;

use aegis_sim::traces::map::{Extent, Filter, Mapped, Request, Weights, map};
use aegis_sim::workload::{BUILTIN_TRACES, Catalogue, Trace, TraceJob};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{Scratch, aegis_sim, fails, run, succeeds};

/// 127 Philly jobs around the window of the evaluation; its head says where they come from.
const PHILLY: &str = "tests/data/philly_window.csv";
/// The evaluation's window, and the job of its first second that belongs to the window before.
const WINDOW: [&str; 4] = ["--window", "2565270", "--exclude", "76853"];

fn window(jobs: usize, start_s: Option<f64>) -> Extent {
    Extent::Window { jobs, start_s, weights: Weights::default(), keep_durations: false, keep_times: false }
}

fn mapped(trace: &Trace, extent: Extent, filter: Filter, seed: u64) -> Mapped {
    map(trace, &Catalogue::builtin(), &Request { extent, filter, seed }).unwrap()
}

/// A figure of a report, of the window or the eligible jobs.
#[track_caller]
fn figure(report: &Value, name: &str, of: &str) -> f64 {
    let rows = report["figures"].as_array().unwrap();
    let row = rows.iter().find(|row| row["figure"] == name).unwrap_or_else(|| panic!("no {name}: {report}"));
    row[of].as_f64().unwrap()
}

/// AEGIS artifact (GitHub, ehsanyousefzadehasl/AEGIS), evaluation/experiments/traces/representative/manifests/
/// philly_seed42_60jobs.manifest.json: what it says of the selected window.
const MANIFEST: [(&str, f64); 16] = [
    ("jobs", 60.0),
    ("arrival_span_s", 9404.0),
    ("interarrival_p50_s", 8.0),
    ("interarrival_p95_s", 600.0),
    ("zero_interarrivals", 0.05),
    ("duration_p50_s", 3125.0),
    ("duration_p95_s", 7604.8499999999985),
    ("gpu_demand_1", 0.9666666666666667),
    ("gpu_demand_2", 0.03333333333333333),
    ("gpu_service_1", 0.9998637671781074),
    ("gpu_service_2", 0.00013623282189261448),
    ("runtime_under_10m", 0.3333333333333333),
    ("runtime_under_1h", 0.7833333333333333),
    ("runtime_under_6h", 0.9833333333333333),
    ("runtime_under_1d", 1.0),
    ("total_gpu_service_s", 234892.0),
];

#[test]
fn the_philly_window_is_that_of_the_manifest() {
    let scratch = Scratch::new();
    let (out, report) = (scratch.text("mapped.csv"), scratch.text("report.json"));
    let mut args = vec!["trace", "map", PHILLY, "-o", &out, "--report", &report, "--format", "json"];
    args.extend(WINDOW);
    let printed = succeeds(&args);
    assert_eq!(printed, scratch.read("report.json"));
    let report: Value = serde_json::from_str(&printed).unwrap();
    for (name, published) in MANIFEST {
        assert_eq!(figure(&report, name, "window"), published, "{name}");
    }
    assert_eq!(report["left_out"]["excluded"], 1);

    // Of the mapping the manifest says how many workloads it has; nearest ranks of 58 jobs among 50 workloads are at
    // most half a step of 1/49 apart.
    let all = report["mapping"].as_array().unwrap().last().unwrap();
    assert_eq!(all["gpus"], "all");
    assert!(all["distinct_workloads"].as_u64().unwrap() >= 52, "{all}");
    assert!(all["quantile_distance_mean"].as_f64().unwrap() <= 0.005, "{all}");
    assert!(all["quantile_distance_max"].as_f64().unwrap() <= 0.0101, "{all}");

    // The very trace of the evaluation, up to the order of jobs of the same second, which the source does not tell.
    let jobs =
        |trace: &Trace| -> Vec<(f64, u32)> { trace.jobs.iter().map(|j| (j.submit_s, j.gpus)).collect() };
    let workloads = |trace: &Trace| {
        let mut jobs: Vec<_> =
            trace.jobs.iter().map(|j| (j.submit_s as u64, j.gpus, j.workload.clone())).collect();
        jobs.sort_unstable();
        jobs
    };
    let (ours, published) = (Trace::open(&out).unwrap(), Trace::open("philly").unwrap());
    assert_eq!(jobs(&ours), jobs(&published));
    assert_eq!(workloads(&ours), workloads(&published));
    assert!(ours.jobs.iter().all(|job| job.duration_s.is_none() && job.vc.is_some()));
}

/// With the order of its runtimes, every published trace is its own mapping: quantiles, ties and repeats are those of
/// the evaluation, for 58 + 2, 56 + 4 and 57 + 3 jobs.
#[test]
fn published_traces_map_to_themselves() {
    let catalogue = Catalogue::builtin();
    for (name, _) in BUILTIN_TRACES {
        let mut trace = Trace::open(name).unwrap();
        for job in &mut trace.jobs {
            job.duration_s = Some(catalogue.get(&job.workload).unwrap().solo_runtime_s);
        }
        let again = mapped(&trace, window(60, None), Filter::default(), 0);
        for (job, published) in again.jobs.iter().zip(&trace.jobs) {
            assert_eq!(job.workload, published.workload, "{name}, job {}", job.job_id);
        }
    }
}

#[test]
fn the_window_that_is_chosen_is_the_nearest() {
    let trace = Trace::open(PHILLY).unwrap();
    let filter = Filter { max_gpus: Some(8), ..Filter::default() };
    let distance = |start_s| {
        let request = Request { extent: window(5, start_s), filter: filter.clone(), seed: 0 };
        // Jobs of 4 and 8 GPUs have no workloads.
        map(&trace, &many_gpus(), &request).map(|mapped| mapped.window.unwrap())
    };
    let best = distance(None).unwrap();
    assert_eq!((best.rank, best.candidates), (1, 127 - 4));
    let mut further = 0;
    for job in &trace.jobs {
        if let Ok(other) = distance(Some(job.submit_s)) {
            assert!(other.distance() >= best.distance(), "{} is nearer", other.start_s);
            assert_eq!(other.rank == 1, other.distance() == best.distance());
            further += usize::from(other.rank > 1);
        }
    }
    assert!(further > 100);
}

/// Workloads of 1, 2, 4 and 8 GPUs.
fn many_gpus() -> Catalogue {
    let mut text = String::from("workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,gpu_util_mean\n");
    for gpus in [1, 2, 4, 8] {
        text += &format!("a{gpus},{gpus},100,1,1000,0.5\nb{gpus},{gpus},200,1,1000,0.5\n");
    }
    Catalogue::parse("many.csv", text.as_bytes()).unwrap()
}

#[test]
fn mapped_traces_run() {
    let scratch = Scratch::new();
    let out = scratch.text("mapped.csv");
    succeeds(&["trace", "map", PHILLY, "-o", &out, "--window", "none", "--max-gpus", "2"]);
    let summary: Value = serde_json::from_str(&succeeds(&[
        "run",
        "--trace",
        &out,
        "--policy",
        "exclusive",
        "--format",
        "json",
    ]))
    .unwrap();
    assert_eq!(summary["completed_jobs"], 92);

    let mut args = vec!["trace", "map", PHILLY, "-o", "-"];
    args.extend(WINDOW);
    let (code, text, told) = run(&args);
    assert!(code == 0 && told.contains("60 of 127 jobs") && told.contains("jobs without a state"), "{told}");
    let ran = aegis_sim()
        .args(["run", "--trace", "-", "--policy", "exclusive", "--format", "json"])
        .write_stdin(text)
        .output()
        .unwrap();
    let summary: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(summary["completed_jobs"], 60);
    // As long as the published trace takes, or nearly so: two jobs of the same second change places.
    let published: Value = serde_json::from_str(&succeeds(&[
        "run",
        "--trace",
        "philly",
        "--policy",
        "exclusive",
        "--format",
        "json",
    ]))
    .unwrap();
    let makespan = |summary: &Value| summary["makespan_s"].as_f64().unwrap();
    assert!((makespan(&summary) / makespan(&published) - 1.0).abs() < 0.05, "{summary}");
}

#[test]
fn a_whole_trace_keeps_its_jobs_and_columns() {
    let scratch = Scratch::new();
    let source = scratch.write(
        "jobs.csv",
        "job_id,submit_s,workload,gpus,duration_s,gpu_share,user,vc,state\n\
         a,7.25,,1,10,0.5,u,,failed\nb,8,old,3,20.5,,,v,completed\nc,8,,2,30,,,,\n",
    );
    let out = scratch.text("mapped.csv");
    let (_, _, told) = run(&["trace", "map", &source, "-o", &out, "--window", "none"]);
    assert!(told.contains("jobs of a GPU count that no workload of models/workloads.csv has: 1;"), "{told}");
    let text = scratch.read("mapped.csv");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    // The 3-GPU job is ranked with that of 1 GPU, and the one on 2 GPUs is alone.
    assert_eq!(
        lines,
        [
            "job_id,submit_s,workload,gpus,duration_s,gpu_share,user,vc,state",
            "a,7.25,resnet18_cifar100_bs128_20e_1gpu,1,10,0.5,u,,failed",
            "b,8,gpt2_xl_wiki_bs2_1gpu,3,20.5,,,v,completed",
            "c,8,xlnet_base_cased_wiki_bs8_2gpu,2,30,,,,",
        ]
    );
}

#[test]
fn a_window_keeps_times_and_durations_on_request() {
    let scratch = Scratch::new();
    let out = scratch.text("mapped.csv");
    let mut args = vec!["trace", "map", PHILLY, "-o", &out, "--keep-durations", "--keep-times"];
    args.extend(WINDOW);
    succeeds(&args);
    let (ours, source) = (Trace::open(&out).unwrap(), Trace::open(PHILLY).unwrap());
    let known = |job: &TraceJob| (job.job_id.clone(), job.submit_s, job.gpus, job.duration_s);
    let source: Vec<_> = source.jobs.iter().map(known).collect();
    assert_eq!(ours.jobs[0].submit_s, 2_565_270.0);
    assert!(ours.jobs.iter().all(|job| source.contains(&known(job))));
}

/// A job that runs as long as its workload runs on whole GPUs, as the workload did.
#[test]
fn a_window_without_durations_has_no_shares() {
    let scratch = Scratch::new();
    let source = scratch
        .write("jobs.csv", "job_id,submit_s,workload,gpus,duration_s,gpu_share\na,0,,1,10,0.5\nb,1,,1,20,\n");
    let out = scratch.text("mapped.csv");
    let (_, _, told) = run(&["trace", "map", &source, "-o", &out, "--jobs", "2"]);
    assert!(told.contains("jobs with a share of their GPUs") && told.contains("did: 1"), "{told}");
    succeeds(&["run", "--trace", &out, "--policy", "exclusive"]);
    succeeds(&["trace", "map", &source, "-o", &out, "--jobs", "2", "--keep-durations"]);
    assert_eq!(Trace::open(&out).unwrap().jobs[0].gpu_share, Some(0.5));
}

#[test]
fn the_seed_decides_between_equals() {
    let scratch = Scratch::new();
    let mapped = |name: &str, seed: &str| {
        let out = scratch.text(name);
        succeeds(&["trace", "map", PHILLY, "-o", &out, "--window", "2565270", "--seed", seed]);
        let text = scratch.read(name);
        assert!(text.contains(&format!("--seed {seed}\n")));
        text
    };
    let body = |text: &str| -> String {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.to_owned() + "\n").collect()
    };
    assert_eq!(mapped("a", "1"), mapped("b", "1"));
    let bodies: Vec<String> = ["0", "1", "2", "3"].map(|seed| body(&mapped("c", seed))).into();
    assert!(bodies.iter().any(|other| *other != bodies[0]));
    // Equal durations change places, no more: which workloads are taken is the same.
    let workloads = |body: &str| {
        let mut names: Vec<String> =
            body.lines().map(|line| line.split(',').nth(2).unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert!(bodies.iter().all(|other| workloads(other) == workloads(&bodies[0])));
}

#[test]
fn the_quality_is_printed_in_every_format() {
    let scratch = Scratch::new();
    let out = scratch.text("mapped.csv");
    let print = |format: &str| {
        let mut args = vec!["trace", "map", PHILLY, "-o", &out, "--format", format];
        args.extend(WINDOW);
        succeeds(&args)
    };
    let csv = print("csv");
    assert!(
        csv.starts_with("part,subject,figure,value,schema_version\ndistance,runtime,weight,0.35,1\n"),
        "{csv}"
    );
    assert!(csv.contains("\nfigure,duration_p50_s,window,3125.0,1\n"), "{csv}");
    assert!(csv.contains("\nmapping,2,jobs,2,1\n"), "{csv}");
    assert!(print("markdown").contains("| gpu_demand "));
    assert!(print("table").contains("│ total_gpu_service_s   234892"));
}

#[test]
fn what_cannot_be_mapped_is_refused_with_a_reason() {
    let scratch = Scratch::new();
    let out = scratch.text("mapped.csv");
    let states = scratch.write(
        "states.csv",
        "job_id,submit_s,workload,gpus,duration_s,state\na,0,,1,5,failed\nb,1,,1,5,timeout\nc,2,,3,,Completed\n",
    );
    let refused = |input: &str, options: &[&str], says: &[&str]| {
        let mut args = vec!["trace", "map", input, "-o", &out];
        args.extend(options);
        fails(2, &args, says);
        assert!(!Path::new(&out).exists());
    };
    refused("philly", &[], &["column duration_s: job 0 has no duration (jobs without one: 60)"]);
    refused(
        &states,
        &[],
        &["more GPUs than 2: 1", "state not completed: 2 (there are: Completed 1, failed 1, timeout 1)"],
    );
    refused(&states, &["--max-gpus", "4"], &["line 4, column duration_s", "--exclude c"]);
    refused(&states, &["--states", "any"], &["found 2 eligible jobs, a window needs 60"]);
    refused(PHILLY, &["--jobs", "0"], &["--jobs"]);
    refused(
        PHILLY,
        &["--max-gpus", "8"],
        &["column gpus: job", "models/workloads.csv has workloads of 1, 2 only"],
    );
    refused(
        PHILLY,
        &["--window", "2574000"],
        &["eligible jobs from then on, the window needs 60", "submitted at"],
    );
    refused(PHILLY, &["--window", "first"], &["expected auto, none"]);
    refused(PHILLY, &["--exclude", "7685"], &["--exclude 7685", "did you mean 76850"]);
    refused(PHILLY, &["--weight", "bursts=1"], &["did you mean burst?"]);
    refused(PHILLY, &["--window", "none", "--keep-times"], &["--keep-times is about a window"]);
    refused(PHILLY, &["--report", &out], &["name the same file"]);
}

fn jobs() -> impl Strategy<Value = Trace> {
    let gap = prop_oneof![Just(0.0), (0u32..5000).prop_map(f64::from), 0.0..100.0f64];
    let duration = prop_oneof![Just(0.0), (0u32..50).prop_map(f64::from), 0.0..1e6f64];
    let state = prop::option::of(prop::sample::select(&["completed", "failed", "COMPLETED"][..]));
    let job = (gap, duration, prop::sample::select(&[1u32, 1, 1, 2, 2, 3, 8][..]), state);
    (0.0..1e6f64, prop::collection::vec(job, 1..80)).prop_map(|(start_s, jobs)| {
        let mut submit_s = start_s;
        let jobs = jobs.into_iter().enumerate().map(|(i, (gap_s, duration_s, gpus, state))| {
            submit_s += gap_s;
            TraceJob {
                job_id: i.to_string(),
                submit_s,
                gpus,
                duration_s: Some(duration_s),
                state: state.map(str::to_owned),
                ..TraceJob::default()
            }
        });
        Trace { name: "t".into(), source: "t.csv".into(), jobs: jobs.collect(), notes: Vec::new() }
    })
}

proptest! {
    /// All that changes in a whole trace is the workload, and jobs that run longer get workloads that do.
    #[test]
    fn a_whole_trace_has_the_arrivals_and_gpus_of_its_source(trace in jobs(), seed in 0u64..3) {
        let catalogue = Catalogue::builtin();
        let mapped = mapped(&trace, Extent::Whole, Filter::default(), seed);
        let blank: Vec<_> =
            mapped.jobs.iter().map(|job| TraceJob { workload: String::new(), ..job.clone() }).collect();
        prop_assert_eq!(&blank, &trace.jobs);
        for a in &mapped.jobs {
            let of = |job: &TraceJob| catalogue.get(&job.workload).unwrap().clone();
            prop_assert_eq!(of(a).gpus, if a.gpus == 2 { 2 } else { 1 });
            for b in mapped.jobs.iter().filter(|b| of(b).gpus == of(a).gpus) {
                prop_assert!(a.duration_s >= b.duration_s || of(a).solo_runtime_s <= of(b).solo_runtime_s);
            }
        }
    }

    #[test]
    fn a_window_has_the_arrivals_and_gpus_of_consecutive_jobs(
        trace in jobs(),
        length in 1usize..20,
        from in prop::option::of(0usize..80),
        seed in 0u64..3,
    ) {
        let eligible: Vec<&TraceJob> = trace
            .jobs
            .iter()
            .filter(|job| job.gpus <= 2 && job.state.as_deref() != Some("failed"))
            .collect();
        prop_assume!(!eligible.is_empty());
        let length = length.min(eligible.len());
        let start_s = from.map(|from| eligible[from.min(eligible.len() - length)].submit_s);
        let filter =
            Filter { max_gpus: Some(2), states: Some(vec!["completed".into()]), ..Filter::default() };
        let mapped = mapped(&trace, window(length, start_s), filter, seed);
        let first = eligible.iter().position(|job| job.job_id == mapped.jobs[0].job_id).unwrap();
        if let Some(start_s) = start_s {
            prop_assert_eq!(first, eligible.iter().position(|job| job.submit_s == start_s).unwrap());
        }
        prop_assert_eq!(mapped.jobs.len(), length);
        let micros = |s: f64| (s * 1e6).round() as i64;
        let start = micros(eligible[first].submit_s);
        for (job, source) in mapped.jobs.iter().zip(&eligible[first..]) {
            prop_assert_eq!(&job.job_id, &source.job_id);
            prop_assert_eq!(micros(job.submit_s), micros(source.submit_s) - start);
            prop_assert_eq!((job.gpus, job.duration_s), (source.gpus, None));
            prop_assert_eq!(Catalogue::builtin().get(&job.workload).unwrap().gpus, source.gpus);
        }
        // No workload is taken more often than even shares and a half step at both ends ask for.
        for quality in &mapped.quality[..mapped.quality.len() - 1] {
            let most = quality.jobs.div_ceil(quality.workloads - 1) + 1;
            prop_assert!(quality.most_jobs_per_workload <= most, "{:?}", quality);
        }
    }
}
