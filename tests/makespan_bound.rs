//! The lower bound on makespan: answers worked out by hand, and runs of the built-in traces.

mod common;

use aegis_sim::cluster::ClusterSpec;
use aegis_sim::model::Model;
use aegis_sim::policy::{Params, ParamsFile, PolicySpec, resolve_params};
use aegis_sim::sim::{MakespanBound, NoObserver, World, makespan_bound, simulate};
use aegis_sim::workload::{Catalogue, Trace};

const WORKLOADS: &str = "workload,gpu_rank,gpus,solo_runtime_s,startup_s,peak_memory_mib,initial_memory_mib,\
    memory_growth_s,smact_mean,smocc_mean,drama_mean,gpu_util_mean,closing_s\n\
    light,0,1,110,10,1000,,,0.25,0,0,0.25,\n\
    busy,0,1,110,10,1000,,,0.75,0,0,0.75,\n\
    full,0,1,110,10,1000,,,1,0,0,1,\n\
    slow_start,0,1,160,60,1000,,,0.75,0,0,0.75,\n\
    closing,0,1,110,10,1000,,,0.6,0,0,0.6,40\n\
    large,0,1,110,10,30000,,,0.125,0,0,0.125,\n\
    growing,0,1,110,10,30000,10000,5,0.125,0,0,0.125,\n\
    huge,0,1,110,10,50000,,,0.125,0,0,0.125,\n\
    gang,0,2,110,10,1000,,,0.5,0,0,0.5,\n\
    half_idle,0,2,110,10,1000,,,0.5,0,0,0.5,\n\
    half_idle,1,2,110,10,1000,,,0,0,0,0,\n";

/// Jobs wait for each other only where a GPU is saturated; closing phases are half as active.
const MODEL: &str = "schema_version = 1\n[interference]\nbase = 0.0\nmemory_slope = 0.0\nmemory_unit_mib = 40960.0\n\
    capacity = CAPACITY\n[memory]\noom_exit_s = 1.0\nelastic_fraction = 0.0\ngrowth = \"cached\"\n\
    [telemetry]\ndwell_s = 5.0\nclosing_activity = 0.5\ncombination = \"sum\"\ngpu_util_combination = \"presence\"\n";

/// GPUs of 40,000 MiB in one server, each with these further keys.
fn world_on(gpus: &[&str], capacity: &str, jobs: &[(f64, &str)]) -> World {
    let catalogue = Catalogue::parse("w.csv", WORKLOADS.as_bytes()).unwrap();
    let mut trace = String::from("job_id,submit_s,workload,gpus\n");
    for (id, (submit_s, workload)) in jobs.iter().enumerate() {
        trace += &format!("{id},{submit_s},{workload},{}\n", catalogue.get(workload).unwrap().gpus);
    }
    let gpu = |keys| format!("[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 40000\n{keys}\n");
    let gpus: String = gpus.iter().map(gpu).collect();
    let cluster = format!("schema_version = 1\n[[server]]\nname = \"s\"\n{gpus}");
    let mut model = Model::builtin();
    model.override_with("m.toml", &MODEL.replace("CAPACITY", capacity)).unwrap();
    let trace = Trace::parse("t", "t.csv", trace.as_bytes()).unwrap();
    World::new(&trace, catalogue, ClusterSpec::parse("c.toml", &cluster).unwrap(), model).unwrap()
}

fn world(jobs: &[(f64, &str)]) -> World {
    world_on(&[""], "1.0", jobs)
}

fn params(policy: &str, settings: &[&str]) -> Params {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    resolve_params(&policy.parse().unwrap(), &[ParamsFile::open("ideal").unwrap()], &settings).unwrap()
}

fn bound_with(world: &World, settings: &[&str]) -> MakespanBound {
    makespan_bound(world, &params("exclusive", settings), 0)
}

fn bound(world: &World) -> MakespanBound {
    bound_with(world, &[])
}

/// Of a policy that packs GPUs at once, up to their memory.
fn packed_makespan_s(world: &World) -> f64 {
    let settings = ["observation_anchor=none", "memory_floor_mib=0", "memory_guard_fraction=0"];
    let policy: PolicySpec = "aegis+no-thresholds".parse().unwrap();
    let params = params("aegis+no-thresholds", &settings);
    simulate(world, &policy, &params, 0, &mut NoObserver).unwrap().makespan_s()
}

#[test]
fn a_job_alone_takes_as_long_as_on_the_fastest_gpus() {
    let on = |speeds: &[&str], workload| {
        let speeds: Vec<String> = speeds.iter().map(|speed| format!("speed = {speed}")).collect();
        let speeds: Vec<&str> = speeds.iter().map(String::as_str).collect();
        bound(&world_on(&speeds, "1.0", &[(7.0, workload)])).makespan_s()
    };
    assert_eq!(on(&["1.0"], "busy"), 110.0);
    assert_eq!(on(&["1.0", "0.5", "2.0"], "busy"), 10.0 + 100.0 / 2.0);
    // At the pace of the slower of two; but a rank without activity has no pace.
    assert_eq!(on(&["1.0", "0.5", "2.0"], "gang"), 110.0);
    assert_eq!(on(&["0.5", "2.0"], "half_idle"), 10.0 + 100.0 / 2.0);
    assert_eq!(packed_makespan_s(&world(&[(7.0, "busy")])), 110.0);
    assert_eq!(bound_with(&world(&[(7.0, "busy")]), &["dispatch_lag_s=2"]).makespan_s(), 112.0);
}

#[test]
fn jobs_at_once_share_the_time_of_their_gpu() {
    let two = world(&[(0.0, "busy"), (0.0, "busy")]);
    assert_eq!(bound(&two).gpu_time_s, 10.0 + 2.0 * 75.0);
    assert_eq!(bound(&two).makespan_s(), packed_makespan_s(&two), "the bound is reached");
    // Half the activity in 40 of 100 s: 0.75 before, 0.375 in them, 0.6 on average.
    let closing = world(&[(0.0, "closing"), (0.0, "closing")]);
    assert_eq!(bound(&closing).gpu_time_s, 10.0 + 2.0 * 60.0);
    // Two GPUs, two ranks, half of the time each.
    let gangs = world_on(&["", ""], "1.0", &[(0.0, "gang"), (0.0, "gang"), (0.0, "gang")]);
    assert_eq!(bound(&gangs).gpu_time_s, 10.0 + 3.0 * 50.0);
    // A job by itself is not slowed below a capacity that it exceeds, and counts for no more than it.
    assert_eq!(bound(&world_on(&[""], "0.5", &[(0.0, "busy"), (0.0, "busy")])).gpu_time_s, 210.0);
    // At half the strength, GPUs come to do up to twice their capacity.
    assert_eq!(bound_with(&two, &["interference_strength=0.5"]).gpu_time_s, 10.0 + 75.0);
    assert_eq!(bound_with(&two, &["interference_strength=2"]).gpu_time_s, 160.0);
    assert_eq!(bound_with(&two, &["interference_strength=0"]).gpu_time_s, 10.0);
}

#[test]
fn gpu_time_is_worth_the_speed_of_its_gpu() {
    let jobs = [(0.0, "full"), (0.0, "full"), (0.0, "full")];
    let of = |slow| bound(&world_on(&["", slow], "1.0", &jobs)).gpu_time_s;
    assert_eq!(of("speed = 0.5"), 10.0 + 300.0 / 1.5);
    // All work at twice the speed on a GPU that counts as half of one.
    assert_eq!(of("speed = 0.5\nworkload_speed = { full = 2.0 }"), 10.0 + 300.0 * 0.25 / 1.5);
}

#[test]
fn jobs_hold_their_first_allocation_while_they_run() {
    let three = world(&[(0.0, "large"), (0.0, "large"), (0.0, "large")]);
    assert_eq!(bound(&three).memory_s, 10.0 + 300.0 * 0.75);
    assert_eq!(bound(&three).makespan_s(), 235.0);
    assert!(packed_makespan_s(&three) >= 235.0);
    assert_eq!(bound(&world(&[(0.0, "growing"); 3])).memory_s, 10.0 + 300.0 * 0.25);
}

#[test]
fn late_jobs_have_only_the_time_that_is_left() {
    let late = [(5.0, "light"), (1005.0, "busy"), (1005.0, "busy")];
    assert_eq!(bound(&world(&late)).gpu_time_s, 1000.0 + 10.0 + 2.0 * 75.0);
    assert_eq!(bound(&world(&late)).makespan_s(), packed_makespan_s(&world(&late)));
    // Nobody computes before 10 s; from 60 s on there is work of 150 s left.
    let jobs = [(0.0, "light"), (0.0, "slow_start"), (0.0, "slow_start")];
    assert_eq!(bound(&world(&jobs)).gpu_time_s, 60.0 + 150.0);
}

#[test]
fn jobs_that_fit_nowhere_are_left_out() {
    let with_huge = world(&[(0.0, "busy"), (0.0, "huge"), (0.0, "busy")]);
    let found = bound(&with_huge);
    assert_eq!((found.left_out_jobs, found.makespan_s()), (1, 160.0));
    let none = bound(&world(&[(0.0, "huge")]));
    assert_eq!((none.left_out_jobs, none.makespan_s()), (1, 0.0));
}

/// Whatever packs the jobs of the built-in traces, and under whatever noise.
#[test]
fn no_policy_beats_the_bound_on_the_builtin_traces() {
    let policies = [
        "exclusive",
        "lucid",
        "horus",
        "aegis",
        "aegis+no-thresholds",
        "aegis+peak-mem+no-thresholds",
        "aegis+gpumemnet-mem+bf",
        "aegis+smi80",
        "aegis+lug",
    ];
    for name in ["philly", "saturn", "venus"] {
        let trace = Trace::open(name).unwrap();
        let world =
            World::new(&trace, Catalogue::builtin(), ClusterSpec::builtin(), Model::builtin()).unwrap();
        for (seed, policy) in (0..4).flat_map(|seed| policies.map(|policy| (seed, policy))) {
            let spec: PolicySpec = policy.parse().unwrap();
            let params = resolve_params(&spec, &[], &[]).unwrap();
            let makespan_s = simulate(&world, &spec, &params, seed, &mut NoObserver).unwrap().makespan_s();
            let bound_s = makespan_bound(&world, &params, seed).makespan_s();
            assert!(
                makespan_s >= bound_s,
                "{name}, {policy}, seed {seed}: {makespan_s} s, bound {bound_s} s"
            );
            assert!(bound_s >= 0.4 * makespan_s, "{name}, {policy}, seed {seed}: says little");
        }
    }
}
