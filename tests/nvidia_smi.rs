//! Servers and workloads that are not those of the evaluation: GPUs of different speeds, and profiles of which
//! only nvidia-smi's GPU utilisation is known.

mod common;

use aegis_sim::cluster::ClusterSpec;
use aegis_sim::experiment::Settings;
use aegis_sim::metrics::Summary;
use aegis_sim::model::Model;
use aegis_sim::policy::{ParamsFile, PolicySpec, resolve_params};
use aegis_sim::report::summary_json;
use aegis_sim::sim::{NoObserver, Observer, RunRecord, World, simulate};
use aegis_sim::workload::{Catalogue, Trace};
use common::{Log, What};

const HEAD: &str = "workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,gpu_util_mean\n";
/// Alone on a GPU at three quarters, a half and a quarter of its time.
const ROWS: &str =
    "busy,1,500,0,4000,0.75\nhalf,1,500,0,4000,0.5\nlight,1,500,0,4000,0.25\ngang,2,110,10,4000,0.5\n";

fn world(jobs: &str, gpus: &str) -> aegis_sim::Result<World> {
    let trace = Trace::parse("t", "t.csv", format!("job_id,submit_s,workload,gpus\n{jobs}").as_bytes())?;
    let catalogue = Catalogue::parse("w.csv", format!("{HEAD}{ROWS}").as_bytes())?;
    let cluster =
        ClusterSpec::parse("c.toml", &format!("schema_version = 1\n[[server]]\nname = \"s\"\n{gpus}"))?;
    World::new(&trace, catalogue, cluster, Model::builtin())
}

fn gpu(more: &str) -> String {
    format!("[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 24576\n{more}\n")
}

fn run(world: &World, policy: &str, observer: &mut dyn Observer) -> aegis_sim::Result<RunRecord> {
    let policy: PolicySpec = policy.parse()?;
    let params = resolve_params(&policy, &[ParamsFile::open("ideal")?], &[])?;
    simulate(world, &policy, &params, 0, observer)
}

#[test]
fn a_threshold_on_gpu_utilisation_rejects_what_memory_alone_accepts() {
    let world = world("0,0,busy,1\n1,1,light,1\n", &gpu("")).unwrap();
    for (policy, shares) in [
        ("aegis+smi60", false),
        ("aegis+smi70", false),
        ("aegis+smi80", true),
        ("aegis+memory-only", true),
        ("aegis+smi70+rr", true),
    ] {
        let mut log = Log::default();
        let record = run(&world, policy, &mut log).unwrap();
        assert_eq!(record.attempts[1].collocated, shares, "{policy}");
        let rejected = What::Reject { gpu: 0, kind: "gpu_utilization" };
        assert_eq!(log.entries.iter().any(|entry| entry.what == rejected), !shares, "{policy}");
        // Observed from its first activity for 30 s, or to the end of the other job.
        let expected_s = if shares { 30.0 } else { 500.0 };
        assert_eq!(record.jobs[1].first_dispatch.as_s(), expected_s, "{policy}");
    }
}

#[test]
fn the_least_utilised_gpu_is_found_by_gpu_utilisation() {
    let jobs = "0,0,half,1\n1,1,light,1\n2,100,light,1\n";
    let world = world(jobs, &format!("{}{}", gpu(""), gpu(""))).unwrap();
    for (policy, expected) in [("aegis+smi70+lug", 1), ("aegis+smi70+ff", 0), ("aegis+smi70", 0)] {
        let record = run(&world, policy, &mut NoObserver).unwrap();
        assert_eq!(record.gpus_of(&record.attempts[2]), [expected], "{policy}");
    }
}

#[test]
fn telemetry_that_is_not_known_is_refused() {
    let world = world("0,0,busy,1\nb,1,light,1\n", &gpu("")).unwrap();
    for (policy, reads) in [
        ("aegis", "reads SMACT, SMOCC, DRAMA telemetry"),
        ("aegis+peak-mem+ff", "reads SMACT, SMOCC, DRAMA telemetry"),
        ("aegis+lug+memory-only", "reads SMACT telemetry"),
    ] {
        let message = run(&world, policy, &mut NoObserver).unwrap_err().to_string();
        for says in
            [reads, "w.csv has none of busy, the workload of job 0", "smact_mean", "+smi70", "+memory-only"]
        {
            assert!(message.contains(says), "{policy}: {message}");
        }
    }
    for policy in ["exclusive", "horus", "lucid", "aegis+rr", "aegis+smi40+lug", "aegis+memory-only"] {
        let record = run(&world, policy, &mut NoObserver).unwrap();
        // Not known is not 0.
        let gpu = &record.gpus[0];
        assert_eq!((gpu.smact_mean, gpu.smocc_mean, gpu.drama_mean), (None, None, None), "{policy}");
        assert!(gpu.gpu_util_mean > 0.2, "{policy}");
        let params = ParamsFile::defaults(policy.parse::<PolicySpec>().unwrap().kind);
        let json = summary_json(&Summary::of(&record), &params).unwrap();
        assert!(json.contains("\"smact_mean\": null"), "{json}");
    }
}

/// Neighbours of which only GPU utilisation is known slow each other down by it.
#[test]
fn pressure_follows_gpu_utilisation() {
    let mut world = world("0,0,busy,1\n1,1,light,1\n", &gpu("")).unwrap();
    let head =
        "schema_version = 1\n[interference]\nbase = 9.0\nmemory_slope = 9.0\nmemory_unit_mib = 8000.0\n";
    let text = format!("{head}[interference.gpu_utilization]\nbase = 0.25\nmemory_slope = 0.5\n");
    world.model.override_with("m.toml", &text).unwrap();
    let mut log = Log::default();
    run(&world, "aegis+memory-only", &mut log).unwrap();
    let rates: Vec<f64> =
        log.of_job(0).filter_map(|e| if let What::Rate(rate) = e.what { Some(rate) } else { None }).collect();
    assert_eq!(rates, [1.0, 1.0 / (1.0 + 0.0625 * (0.25 + 0.5 * 0.5))]);

    // A model from before that section cannot say.
    let mut model = Model::builtin();
    model.override_with("m.toml", head).unwrap();
    let jobs = Trace::parse("t", "t.csv", b"job_id,submit_s,workload,gpus\n0,0,busy,1\n").unwrap();
    let message = World::new(&jobs, world.catalogue, world.cluster, model).unwrap_err().to_string();
    assert!(
        message.contains("busy has no SMACT") && message.contains("[interference.gpu_utilization]"),
        "{message}"
    );
}

#[test]
fn a_workload_runs_at_its_own_speed() {
    let gpus =
        [gpu("speed = 0.5\nworkload_speed = { gang = 2.0, light = 1.25 }"), gpu("speed = 4.0")].concat();
    let run = |jobs: &str| {
        let mut log = Log::default();
        let record = run(&world(jobs, &gpus).unwrap(), "exclusive", &mut log).unwrap();
        (record.jobs[0].jct_s(), log)
    };
    assert_eq!(run("0,0,busy,1\n").0, 1000.0);
    let (jct_s, log) = run("0,0,light,1\n");
    assert_eq!(jct_s, 400.0);
    // At its own full pace: utilisation is that of the profile.
    let levels = log.entries.iter().filter_map(|entry| match entry.what {
        What::Gpu { activity, .. } => Some(activity[3]),
        _ => None,
    });
    assert_eq!(levels.fold(0.0, f64::max), 0.25);
    // A gang at the slower of its two speeds, 2 and 4.
    let (jct_s, log) = run("0,0,gang,2\n");
    assert_eq!(jct_s, 60.0);
    let rates: Vec<f64> = log
        .entries
        .iter()
        .filter_map(|entry| if let What::Rate(rate) = entry.what { Some(rate) } else { None })
        .collect();
    assert_eq!(rates, [2.0]);
}

#[test]
fn names_that_no_workload_has_are_refused() {
    let message = world("0,0,busy,1\n", &gpu("workload_speed = { bussy = 2.0 }")).unwrap_err().to_string();
    assert!(message.starts_with("c.toml") && message.contains("did you mean busy?"), "{message}");

    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let workloads = path("w.csv", &format!("{HEAD}{ROWS}"));
    let model = path("m.toml", "schema_version = 1\n[runtime_factors]\nhalv = 1.5\n");
    let message = Settings::load(None, Some(&workloads), &[model], &[]).unwrap_err().to_string();
    assert!(message.contains("m.toml, key runtime_factors: unknown workload \"halv\""), "{message}");
    assert!(message.contains("did you mean half?"), "{message}");
}

/// The built-in factors hold for edited copies of the built-in catalogue, not for workloads of another machine that
/// only share a name with a built-in one.
#[test]
fn builtin_factors_stay_with_the_builtin_catalogue() {
    let dir = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        let path = dir.path().join("w.csv");
        std::fs::write(&path, text).unwrap();
        Settings::load(None, Some(&path), &[], &[]).unwrap().model
    };
    let builtin = Model::builtin();
    let edited = load(&include_str!("../models/workloads.csv").replace(",140.45,", ",99,"));
    assert_eq!(edited.runtime_factors, builtin.runtime_factors);
    assert_eq!(edited.interference, builtin.interference);
    let own = load(&format!("{HEAD}mnist_bs32_1gpu,1,99,5,1000,0.2\n"));
    assert!(own.runtime_factors.is_empty() && own.interference.factors.is_empty());
    assert_eq!(own.interference.memory_slope, builtin.interference.memory_slope);
}
