//! Traces as production clusters log them: thousands of jobs, shares of GPUs, and gangs that no server can hold.

use std::fmt::Write;

use crate::common::{Log, aegis_sim, fails, run, succeeds};
use aegis_sim::cluster::ClusterSpec;
use aegis_sim::metrics::Summary;
use aegis_sim::model::Model;
use aegis_sim::policy::{PolicySpec, resolve_params};
use aegis_sim::sim::{NoObserver, RunRecord, World, makespan_bound, simulate};
use aegis_sim::workload::{Catalogue, Trace};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp, LogNormal, Uniform};
use serde_json::Value;

const HEADER: &str = "job_id,submit_s,workload,gpus,duration_s,gpu_share\n";
const POLICIES: [&str; 4] = ["exclusive", "horus", "lucid", "aegis"];

fn servers(count: usize, gpus: usize) -> String {
    let server = |i| {
        format!(
            "[[server]]\nname = \"s{i}\"\n[[server.gpu]]\nmodel = \"m\"\ncount = {gpus}\nmemory_mib = 40960\n\
             allocatable_mib = 40437\n"
        )
    };
    format!("schema_version = 1\n{}", (0..count).map(server).collect::<String>())
}

fn world(trace: &str, cluster: &str) -> World {
    let trace = Trace::parse("t", "t.csv", trace.as_bytes()).unwrap();
    let cluster = ClusterSpec::parse("c.toml", cluster).unwrap();
    World::new(&trace, Catalogue::builtin(), cluster, Model::builtin()).unwrap()
}

fn replay(world: &World, policy: &str) -> RunRecord {
    let policy: PolicySpec = policy.parse().unwrap();
    let params = resolve_params(&policy, &[], &[]).unwrap();
    simulate(world, &policy, &params, 1, &mut NoObserver).unwrap()
}

/// Bursts of jobs of all sizes, of which some are kept within a share and some fit no server of eight GPUs.
fn production_trace(jobs: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let gaps = Exp::new(1.0 / 10.0).unwrap();
    let durations = LogNormal::new(6.0, 1.8).unwrap();
    let percent = Uniform::new(0u32, 100).unwrap();
    let catalogue = Catalogue::builtin();
    let names: Vec<&str> = catalogue.names().collect();
    let mut text = HEADER.to_owned();
    let mut submit_s: f64 = 0.0;
    for id in 0..jobs {
        // A third of the jobs come with the one before.
        if percent.sample(&mut rng) >= 33 {
            submit_s += gaps.sample(&mut rng);
        }
        let duration_s: f64 = durations.sample(&mut rng);
        let workload = names[percent.sample(&mut rng) as usize % names.len()];
        let gpus = match percent.sample(&mut rng) {
            0..70 => 1,
            70..80 => 2,
            80..90 => 4,
            90..97 => 8,
            97..99 => 16,
            _ => 4096,
        };
        let share = match percent.sample(&mut rng) {
            0..15 => "0.5",
            15..25 => "0.1",
            _ => "",
        };
        writeln!(text, "{id},{submit_s:.0},{workload},{gpus},{:.0},{share}", duration_s.min(5e6)).unwrap();
    }
    text
}

#[test]
fn no_job_is_lost() {
    let jobs = 3000;
    let world = world(&production_trace(jobs), &servers(12, 8));
    let oversized = world.oversized().unwrap();
    assert!(oversized.jobs > 50 && oversized.largest_gpus == 4096 && oversized.largest_server_gpus == 8);
    for policy in POLICIES {
        let record = replay(&world, policy);
        let summary = Summary::of(&record);
        assert_eq!(summary.completed_jobs + summary.given_up_jobs, jobs, "{policy}");
        assert_eq!(summary.given_up_jobs, oversized.jobs, "{policy}: all others fit");
        for job in &record.jobs {
            let too_large = job.gpus > 8;
            assert_eq!(job.completed(), !too_large, "{policy}: {job:?}");
            assert_eq!(job.attempts == 0, too_large, "{policy}: {job:?}");
        }
        let most_waiting = record.jobs.iter().filter(|job| job.initial_queue_wait_s() > 3600.0).count();
        assert!(most_waiting > jobs / 10, "{policy}: {most_waiting} jobs wait, which is no large queue");
    }
}

#[test]
fn a_gang_of_4096_gpus_runs_where_a_server_has_them() {
    let trace = format!(
        "{HEADER}a,0,mnist_bs32_1gpu,1,5000000,\nb,1,mnist_bs32_1gpu,4095,1,0.5\nc,2,bert_base_wiki_bs32_1gpu,4096,60,\n"
    );
    let world = world(&trace, &servers(1, 4096));
    for policy in POLICIES {
        let record = replay(&world, policy);
        assert!(record.jobs.iter().all(|job| job.completed()), "{policy}");
        assert_eq!(record.gpus_of(&record.attempts[2]).len(), 4096);
    }
}

/// Unwatched, a run takes short cuts around figures that nobody reads.
#[test]
fn watching_changes_nothing() {
    let world = world(&production_trace(600), &servers(3, 8));
    let settings = ["telemetry_blind_gpu=1".to_owned()];
    for policy in ["horus", "aegis", "aegis+lug", "aegis+smi60+bf", "aegis+peak-mem"] {
        for settings in [&[][..], &settings[..]] {
            let policy: PolicySpec = policy.parse().unwrap();
            let params = resolve_params(&policy, &[], settings).unwrap();
            let mut log = Log::default();
            let watched = simulate(&world, &policy, &params, 3, &mut log).unwrap();
            let unwatched = simulate(&world, &policy, &params, 3, &mut NoObserver).unwrap();
            assert!(watched.attempts.iter().any(|attempt| attempt.collocated));
            assert_eq!(format!("{watched:?}"), format!("{unwatched:?}"), "{policy} {settings:?}");
        }
    }
}

/// Two jobs whose peaks do not fit a GPU together, unless each is kept within a half of it.
#[test]
fn half_shares_collocate_where_whole_jobs_do_not_fit() {
    let of = |share: &str| {
        let job = |id, submit_s| format!("{id},{submit_s},gpt2_xl_wiki_bs2_1gpu,1,3000,{share}\n");
        world(&format!("{HEADER}{}{}", job("a", 0), job("b", 600)), &servers(1, 1))
    };
    let overlap = |record: &RunRecord| {
        assert!(record.jobs.iter().all(|job| job.completed() && job.attempts == 1));
        record.attempts[1].dispatch < record.attempts[0].end
    };
    assert!(!overlap(&replay(&of(""), "aegis")), "whole jobs take turns");
    let halves = of("0.5");
    let record = replay(&halves, "aegis");
    assert!(overlap(&record), "{:?}", record.attempts);
    assert!(record.gpus[0].peak_memory_mib <= 40437.0 && record.gpus[0].peak_memory_mib > 38000.0);
    assert!(!overlap(&replay(&halves, "exclusive")), "exclusive allocation gives whole GPUs");
    // Alone and within its share a job takes the time that the trace says.
    let exclusive = replay(&halves, "exclusive");
    let peak_mib = exclusive.gpus[0].peak_memory_mib;
    assert_eq!(peak_mib, 0.5 * 40437.0);
    assert!(exclusive.gpus[0].gpu_util_active_mean <= 0.5);
}

/// The catalogue's workload stays what it is beside those that are kept within a share.
#[test]
fn limited_workloads_go_by_their_name_and_leave_the_original_alone() {
    let job = |id, share| format!("{id},0,gpt2_xl_wiki_bs2_1gpu,1,3000,{share}\n");
    let world =
        world(&format!("{HEADER}{}{}{}", job("a", "0.5"), job("b", ""), job("c", "0.5")), &servers(1, 1));
    let (builtin, name) = (Catalogue::builtin(), "gpt2_xl_wiki_bs2_1gpu");
    assert_eq!(world.catalogue.get(name), builtin.get(name));
    assert_eq!(world.workload(1), builtin.get(name).unwrap());
    assert_eq!(world.catalogue.names().count(), builtin.names().count());
    assert_eq!(world.jobs[0].workload, world.jobs[2].workload, "one for each share of a workload");
    let limited = world.workload(0);
    assert_eq!((limited.name.as_str(), limited.lucid_sharing_score), (name, Some(1)));
    assert!(limited.estimates.horus_mib.is_none_or(|mib| mib <= 20_219.0), "{limited:?}");
    assert_eq!(limited.profile(0).peak_memory_mib, 0.5 * 40437.0);
}

#[test]
fn a_share_needs_a_duration() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("t.csv");
    std::fs::write(&trace, format!("{HEADER}a,0,mnist_bs32_1gpu,1,,\nb,0,mnist_bs32_1gpu,1,,0.5\n")).unwrap();
    let trace = trace.to_str().unwrap();
    let args = ["run", "--trace", trace, "--policy", "aegis"];
    fails(2, &args, &["line 3, column gpu_share: found 0.5", "duration_s"]);
}

#[test]
fn every_command_copes_where_all_jobs_are_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name).to_str().unwrap().to_owned()
    };
    let jobs: String = (0..20).map(|i| format!("j{i},{i},mnist_bs32_1gpu,{},60,\n", 4 + i)).collect();
    let trace = file("t.csv", &format!("{HEADER}{jobs}"));
    let note = "20 of 20 jobs need more GPUs than the largest server has (3; up to 23 needed; first: job j0)";
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    for policy in POLICIES {
        let args = ["run", "--trace", &trace, "--policy", policy, "--format", "json", "--out", out];
        let (code, stdout, stderr) = run(&args);
        assert_eq!((code, stderr.matches("note: ").count()), (0, 1), "{stderr}");
        assert!(stderr.contains(note), "{stderr}");
        let summary: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&summary["given_up_jobs"], &summary["completed_jobs"]), (&20.into(), &0.into()));
        assert_eq!((&summary["makespan_s"], &summary["jct_mean_s"]), (&0.0.into(), &Value::Null));
    }
    let jobs = std::fs::read_to_string(dir.path().join("out/jobs.csv")).unwrap();
    let first = jobs.lines().nth(1).unwrap();
    assert!(
        first.starts_with("j0,mnist_bs32_1gpu,4,,0.0,,,0.0,given_up,needs more GPUs than any"),
        "{first}"
    );

    let all = POLICIES.join(",");
    let args = ["compare", "--trace", &trace, "--policy", &all, "--bound", "--format", "json"];
    let (code, stdout, stderr) = run(&args);
    assert!(code == 0 && stderr.contains(note), "{stderr}");
    let rows: Vec<Value> = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&rows[0]["makespan_bound_s"], &rows[0]["makespan_vs_bound"]), (&0.0.into(), &Value::Null));

    let experiment = |oversized: &str| {
        let text = format!(
            "schema_version = 1\ntraces = [\"t.csv\"]\npolicies = [\"aegis\", \"lucid\"]\n{oversized}"
        );
        file("e.toml", &text)
    };
    let sweep_to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let rows = succeeds(&["sweep", &experiment(""), "--out", &sweep_to("swept"), "--format", "json"]);
    assert!(rows.contains("given_up_jobs"), "{rows}");
    fails(
        1,
        &["sweep", &experiment("oversized_jobs = \"refuse\"\n"), "--out", &sweep_to("refused")],
        &["20 of the jobs need more GPUs", "give_up"],
    );
    let args = ["tune", "--trace", &trace, "--policy", "aegis", "--runs", "20", "--seeds", "1"];
    let (code, _, stderr) = run(&args);
    assert!(code != 101 && stderr.contains(note), "{code} {stderr}");
}

/// The waits of a trace count from its first submission to its last, and its end is that of the last job that ran.
#[test]
fn jobs_that_are_given_up_do_not_lengthen_a_run() {
    let job = |id, submit_s, gpus| format!("{id},{submit_s},mnist_bs32_1gpu,{gpus},60,\n");
    let trace = format!("{HEADER}{}{}", job("a", 0, 1), job("b", 1_000_000, 9));
    let world = world(&trace, &servers(1, 8));
    let record = replay(&world, "exclusive");
    assert!(record.makespan_s() < 120.0, "{}", record.makespan_s());
    let params = resolve_params(&"exclusive".parse().unwrap(), &[], &[]).unwrap();
    let bound = makespan_bound(&world, &params, 1);
    assert_eq!(bound.left_out_jobs, 1);
    assert!(bound.makespan_s() <= record.makespan_s());
}

#[test]
fn of_many_jobs_that_were_given_up_the_first_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let cluster = dir.path().join("c.toml");
    std::fs::write(
        &cluster,
        "schema_version = 1\n[[server]]\nname = \"s\"\n[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 8192\n",
    )
    .unwrap();
    let jobs: String = (0..13).map(|i| format!("j{i},{i},gpt2_xl_wiki_bs2_1gpu,1,60,\n")).collect();
    let cluster = cluster.to_str().unwrap();
    let args = ["run", "--trace", "-", "--policy", "exclusive", "--cluster", cluster];
    let output = aegis_sim().args(args).write_stdin(format!("{HEADER}{jobs}")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stderr.matches("was given up: out of memory").count(), 10, "{stderr}");
    assert!(stderr.contains("3 more jobs were given up"), "{stderr}");
}
