//! Runs whose outcome is known.

mod common;

use aegis_sim::cluster::ClusterSpec;
use aegis_sim::engine::Time;
use aegis_sim::metrics::{Resources, Summary};
use aegis_sim::model::Model;
use aegis_sim::policy::{ParamsFile, PolicySpec, resolve_params};
use aegis_sim::sim::{NoObserver, Observer, RunRecord, World, simulate};
use aegis_sim::workload::{Catalogue, Trace};
use common::{Log, What, all_policies};

const HEAD: &str = "workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,initial_memory_mib,\
    memory_growth_s,smact_mean,smocc_mean,drama_mean,gpu_util_mean,horus_estimate_mib,lucid_sharing_score\n";

fn catalogue(rows: &str) -> Catalogue {
    Catalogue::parse("w.csv", format!("{HEAD}{rows}").as_bytes()).unwrap()
}

fn trace(rows: &str) -> Trace {
    Trace::parse("t", "t.csv", format!("job_id,submit_s,workload,gpus\n{rows}").as_bytes()).unwrap()
}

/// A server of 40 GB GPUs with these speeds.
fn cluster(speeds: &[f64]) -> ClusterSpec {
    let gpu = |speed| format!("[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 40960\nspeed = {speed:?}\n");
    let gpus: String = speeds.iter().map(gpu).collect();
    ClusterSpec::parse("c.toml", &format!("schema_version = 1\n[[server]]\nname = \"s\"\n{gpus}")).unwrap()
}

fn world(rows: &str, jobs: &str, speeds: &[f64]) -> World {
    World::new(&trace(jobs), catalogue(rows), cluster(speeds), Model::builtin()).unwrap()
}

fn run_with(
    world: &World,
    policy: &str,
    set: &str,
    settings: &[&str],
    observer: &mut dyn Observer,
) -> RunRecord {
    let policy: PolicySpec = policy.parse().unwrap();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let params = resolve_params(&policy, &[ParamsFile::open(set).unwrap()], &settings).unwrap();
    simulate(world, &policy, &params, 0, observer).unwrap()
}

fn ideal(world: &World, policy: &str, observer: &mut dyn Observer) -> RunRecord {
    run_with(world, policy, "ideal", &[], observer)
}

fn builtin(name: &str) -> World {
    let trace = Trace::open(name).unwrap();
    World::new(&trace, Catalogue::builtin(), ClusterSpec::builtin(), Model::builtin()).unwrap()
}

/// The figures that the AEGIS artifact's trace manifests give for exclusive scheduling.
#[test]
fn exclusive_gives_the_published_figures() {
    // Makespan; JCT mean, p50, p95, p99; waiting mean, p95.
    for (name, expected) in [
        ("philly", [42136.47, 18601.151, 19334.945, 30216.7035, 33371.7081, 16726.779333, 28809.0325]),
        ("saturn", [46644.25, 17077.936, 14268.765, 40449.8515, 43831.0763, 15133.723167, 36316.3115]),
        ("venus", [44005.52, 16070.655, 19079.035, 24224.4605, 24942.2157, 14161.507667, 23586.0835]),
    ] {
        let s = Summary::of(&ideal(&builtin(name), "exclusive", &mut NoObserver));
        let (jct, wait) = (s.jct_s, s.queue_wait_s);
        let got = [s.makespan_s, jct.mean, jct.p50, jct.p95, jct.p99, wait.mean, wait.p95];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() <= 0.01, "{name}: {got}, not {expected}");
        }
    }
}

#[test]
fn a_job_alone_takes_its_own_time() {
    let catalogue = Catalogue::builtin();
    for policy in all_policies() {
        for workload in catalogue.workloads() {
            let trace = trace(&format!("0,7.25,{},{}\n", workload.name, workload.gpus));
            let cluster = ClusterSpec::builtin();
            let world = World::new(&trace, catalogue.clone(), cluster, Model::builtin()).unwrap();
            let record = ideal(&world, &policy, &mut NoObserver);
            let job = &record.jobs[0];
            let expected = Time::from_s(workload.solo_runtime_s);
            assert_eq!(job.end - job.submit, expected, "{} under {policy}", workload.name);
        }
    }
}

/// Round constants, so that a calibration does not move what is worked out by hand.
fn with_round_interference(mut world: World) -> World {
    let text = "schema_version = 1\n[interference]\nbase = 0.125\nmemory_slope = 2.5\nmemory_unit_mib = 40000.0\n\
                traffic = 0.5\ncapacity = 0.625\n";
    world.model.override_with("m.toml", text).unwrap();
    world
}

const PAIR: &str =
    "long,1,300,5,9000,,,0.45,0.2,0.5,0.4,9000,1\nshort,1,100,5,9000,,,0.6,0.3,0.45,0.5,9000,1\n";

#[test]
fn a_job_left_alone_is_back_at_full_speed() {
    let world = with_round_interference(world(PAIR, "0,0,long,1\n1,1,short,1\n", &[1.0]));
    for policy in ["horus", "lucid", "aegis", "aegis+rr+no-thresholds"] {
        let mut log = Log::default();
        let record = ideal(&world, policy, &mut log);
        let rates: Vec<f64> = log
            .of_job(0)
            .filter_map(|entry| if let What::Rate(rate) = entry.what { Some(rate) } else { None })
            .collect();
        assert_eq!(rates.len(), 3, "{policy}: {rates:?}");
        assert_eq!((rates[0], rates[2]), (1.0, 1.0), "{policy}");
        assert!(rates[1] < 0.9, "{policy}: {rates:?}");
        // The short job's kernels, and the traffic of both.
        let traffic = 0.5 * 0.45 * 0.5;
        let long = 1.0 + 0.36 * (0.125 + 2.5 * 9000.0 / 40000.0) + traffic;
        let short = 1.0 + 0.2025 * (0.125 + 2.5 * 9000.0 / 40000.0) + traffic;
        let saturation = (0.45 / long + 0.6 / short) / 0.625;
        assert!(saturation > 1.1, "{saturation}");
        assert!((rates[1] - 1.0 / (long * saturation)).abs() < 1e-12, "{policy}: {rates:?}");
        assert!(record.jobs[0].end < record.jobs[0].submit + Time::from_whole_s(400), "{policy}");
    }
}

/// At 10 s a job completes, one dies of OOM, one arrives, one becomes active, one grows, and the scheduler
/// can dispatch.
#[test]
fn events_of_one_instant_come_in_the_documented_order() {
    let rows = "ends,1,10,0,1000,,,0.1,0.1,0.1,0.1,,0\n\
                dies,1,60,8.2,50000,,,0.1,0.1,0.1,0.1,,0\n\
                starts,1,60,10,1000,,,0.1,0.1,0.1,0.1,,0\n\
                grows,1,60,0,2000,1000,10,0.1,0.1,0.1,0.1,,0\n";
    // Submitted so that the order of insertion is not the order of events.
    let jobs = "0,0,grows,1\n1,0,starts,1\n2,0,dies,1\n3,0,ends,1\n4,10,ends,1\n";
    let world = world(rows, jobs, &[1.0; 4]);
    for policy in ["exclusive", "aegis"] {
        let mut log = Log::default();
        ideal(&world, policy, &mut log);
        let at_ten: Vec<(usize, &What)> = log
            .entries
            .iter()
            .filter(|entry| entry.time == Time::from_whole_s(10))
            .filter(|entry| !matches!(entry.what, What::Rate(_) | What::Gpu { .. } | What::Reject { .. }))
            .filter_map(|entry| Some((entry.job?, &entry.what)))
            .collect();
        let to = |gpu| What::Dispatch { gpus: vec![gpu], collocated: false };
        let expected = [
            (3, &What::Complete),
            (2, &What::OutOfMemory),
            (2, &What::Recover),
            (4, &What::Submit { server: Some(0) }),
            (1, &What::FirstActivity),
            (0, &What::MemoryGrowth),
            // The recovery queue comes first; then the other idle GPU, where the job is active at once.
            (2, &to(2)),
            (4, &to(3)),
            (4, &What::FirstActivity),
        ];
        assert_eq!(at_ten, expected, "{policy}");
    }
}

#[test]
fn a_job_of_no_duration_has_its_wait_for_jct() {
    let rows = "none,1,0,8,1000,,,0.1,0.1,0.1,0.1,1000,0\nlong,1,100,5,9000,,,0.9,0.5,0.5,0.9,9000,2\n";
    let world = world(rows, "0,0,long,1\n1,3,none,1\n2,3,none,1\n", &[1.0]);
    for policy in all_policies() {
        for set in ["ideal", "default"] {
            let record = run_with(&world, &policy, set, &[], &mut NoObserver);
            for job in &record.jobs[1..] {
                assert!(job.completed() && job.execution == Time::ZERO, "{policy}: {job:?}");
                assert_eq!(job.end, job.first_launch, "{policy}");
                if set == "ideal" {
                    assert_eq!(job.jct_s(), job.queue_wait_s(), "{policy}");
                }
            }
        }
    }
}

#[test]
fn a_job_that_fits_nowhere_is_given_up() {
    let rows = "huge,1,100,2,50000,,,0.5,0.2,0.2,0.5,40000,0\nsmall,1,50,2,2000,,,0.2,0.1,0.1,0.1,3000,0\n";
    let world = world(rows, "0,0,small,1\n1,1,huge,1\n2,2,small,1\n", &[1.0, 1.0]);
    for policy in all_policies() {
        for recovery in ["recovery=idle", "recovery=floors"] {
            for set in ["ideal", "default"] {
                let record = run_with(&world, &policy, set, &[recovery], &mut NoObserver);
                let given_up: Vec<bool> = record.jobs.iter().map(|job| job.given_up.is_some()).collect();
                assert_eq!(given_up, [false, true, false], "{policy} {recovery} {set}");
                assert!(record.jobs[1].given_up.is_some_and(|reason| reason.contains("memory")));
                assert!(record.jobs[1].attempts >= 2, "{policy} {recovery} {set}");
            }
        }
    }
}

#[test]
fn a_blind_gpu_is_never_under_pressure() {
    let world = builtin("philly");
    let rejected = |settings: &[&str], gpu: usize| {
        let mut log = Log::default();
        run_with(&world, "aegis", "default", settings, &mut log);
        let reject = What::Reject { gpu, kind: "pressure" };
        log.entries.iter().filter(|entry| entry.what == reject).count()
    };
    for gpu in 0..3 {
        let blind = format!("telemetry_blind_gpu={gpu}");
        assert_eq!(rejected(&[&blind], gpu), 0);
        assert!(rejected(&[], gpu) > 0 && rejected(&[&blind], (gpu + 1) % 3) > 0);
    }
}

#[test]
fn a_gang_runs_at_its_slowest_gpu() {
    let rows = "gang,2,110,10,9000,,,0.5,0.2,0.2,0.5,9000,1\nshort,1,1000,5,9000,,,0.6,0.3,0.3,0.3,9000,1\n";
    let alone = world(rows, "0,0,gang,2\n", &[1.0, 0.5]);
    assert_eq!(ideal(&alone, "lucid", &mut NoObserver).jobs[0].jct_s(), 10.0 + 100.0 / 0.5);
    // The neighbour joins on GPU 0 (as fast as GPU 1): the gang is held back there alone.
    let shared = with_round_interference(world(rows, "0,0,gang,2\n1,1,short,1\n", &[1.0, 1.0]));
    let mut log = Log::default();
    let record = ideal(&shared, "lucid", &mut log);
    assert_eq!(record.gpus_of(&record.attempts[1]), [0]);
    let rate =
        log.of_job(0).filter_map(|e| if let What::Rate(rate) = e.what { Some(rate) } else { None }).last();
    let traffic = 0.5 * 0.3 * 0.2;
    let gang = 1.0 + 0.36 * (0.125 + 2.5 * 9000.0 / 40000.0) + traffic;
    let short = 1.0 + 0.25 * (0.125 + 2.5 * 9000.0 / 40000.0) + traffic;
    let expected = 1.0 / (gang * ((0.5 / gang + 0.6 / short) / 0.625));
    assert!((rate.unwrap() - expected).abs() < 1e-12, "{rate:?}");
}

#[test]
fn skipped_ticks_do_not_shift_the_grid() {
    let world = builtin("saturn");
    for policy in ["exclusive", "horus", "lucid", "aegis", "aegis+rr"] {
        for tick_us in [1_700_000, 3_500_000] {
            let tick = format!("tick_s={}", tick_us as f64 / 1e6);
            let record = run_with(&world, policy, "default", &[&tick], &mut NoObserver);
            assert!(record.attempts.iter().all(|a| a.dispatch.micros() % tick_us == 0), "{policy} {tick}");
            assert!(record.attempts.windows(2).all(|two| two[0].dispatch < two[1].dispatch), "{policy}");
        }
    }
}

#[test]
fn of_equally_loaded_servers_the_lowest_takes_the_job() {
    let runtimes = [0.8, 0.1, 0.7, 5.0];
    let row = |(i, runtime)| format!("w{i},1,{runtime},0,1000,,,0.1,0.1,0.1,0.1,,0\n");
    let rows: String = runtimes.iter().enumerate().map(row).collect();
    let server =
        |name| format!("[[server]]\nname = \"{name}\"\n[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 40960\n");
    let text = format!("schema_version = 1\n{}{}", server("a"), server("b"));
    let cluster = ClusterSpec::parse("c.toml", &text).unwrap();
    let trace = trace("0,0,w0,1\n1,0,w1,1\n2,0,w2,1\n3,0,w3,1\n");
    let world = World::new(&trace, catalogue(&rows), cluster, Model::builtin()).unwrap();
    let record = ideal(&world, "exclusive", &mut NoObserver);
    // 0.8 s wait on one server and 0.1 s + 0.7 s on the other, which add up to less in floating point.
    let servers: Vec<usize> = record.jobs.iter().map(|job| job.server).collect();
    assert_eq!(servers, [0, 1, 1, 0]);
}

/// A job that starts and dies at once, on a GPU whose last sample still shows the memory of a job before it.
#[test]
fn recovery_floors_rise_until_a_job_is_given_up() {
    let rows = "holds,1,10.5,0,30000,,,0.5,0.2,0.2,0.5,30000,2\nhuge,1,100,0,50000,,,0.5,0.2,0.2,0.5,,2\n";
    let mut world = world(rows, "0,0,holds,1\n1,1,huge,1\n", &[1.0]);
    world
        .model
        .override_with(
            "m.toml",
            "schema_version = 1\n[memory]\noom_exit_s = 0.0\ngrowth = \"required\"\nelastic_fraction = 0.0\n",
        )
        .unwrap();
    for policy in all_policies() {
        for recovery in ["recovery=idle", "recovery=floors"] {
            let record =
                run_with(&world, &policy, "ideal", &[recovery, "memory_floor_mib=20000"], &mut NoObserver);
            let job = &record.jobs[1];
            assert!(job.given_up.is_some() && job.attempts <= 7, "{policy} {recovery}: {job:?}");
        }
    }
}

/// A GPU under pressure is looked at again at the next sample, and not another one only then.
#[test]
fn a_window_that_ends_between_two_samples_is_not_missed() {
    let rows = "busy,1,16,0,4000,,,0.95,0.6,0.3,0.3,,\nlight,1,60,0,4000,,,0.1,0.1,0.1,0.1,,\n";
    let world = world(rows, "0,0,busy,1\n1,0.25,light,1\n2,0.75,light,1\n", &[1.0, 1.0]);
    let settings = ["observation_window_s=2", "telemetry_samples=1"];
    let record = run_with(&world, "aegis", "ideal", &settings, &mut NoObserver);
    assert_eq!(record.gpus_of(&record.attempts[2]), [1]);
    assert_eq!(record.jobs[2].first_dispatch, Time::from_s(2.25));
}

/// A job known or found to be too large for one GPU goes to a larger one of the server.
#[test]
fn small_gpus_do_not_stop_a_job_that_a_large_one_holds() {
    let cluster = ClusterSpec::parse(
        "c.toml",
        "schema_version = 1\n[[server]]\nname = \"a\"\n\
         [[server.gpu]]\nmodel = \"small\"\ncount = 2\nmemory_mib = 16384.0\n\
         [[server.gpu]]\nmodel = \"big\"\nmemory_mib = 81920.0\n",
    )
    .unwrap();
    let text = "job_id,submit_s,workload,gpus\n0,0,llama3_width_8layer_wiki_bs1_1gpu,1\n\
                1,10,llama3_width_8layer_wiki_bs1_1gpu,1\n";
    let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
    let world = World::new(&trace, Catalogue::builtin(), cluster, Model::builtin()).unwrap();
    for policy in all_policies() {
        for recovery in ["recovery=idle", "recovery=floors"] {
            let record = run_with(&world, &policy, "default", &[recovery], &mut NoObserver);
            for job in &record.jobs {
                assert!(job.completed(), "{policy}, {recovery}: {job:?}");
            }
        }
    }
}

/// The origin of a trace's clock is no input.
#[test]
fn shifting_a_trace_shifts_its_results() {
    let run = |shift_s: u64| {
        let text: String = include_str!("../traces/philly.csv")
            .lines()
            .map(|line| {
                let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
                if let Ok(submit_s) = fields[1].parse::<u64>() {
                    fields[1] = (submit_s + shift_s).to_string();
                }
                fields.join(",") + "\n"
            })
            .collect();
        let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
        let world =
            World::new(&trace, Catalogue::builtin(), ClusterSpec::builtin(), Model::builtin()).unwrap();
        let record = run_with(&world, "aegis", "default", &[], &mut NoObserver);
        (record.makespan_s(), record.attempts.len(), record.attempt_gpus)
    };
    // A multiple of the tick, so that the grid lies the same.
    assert_eq!(run(0), run(1_509_080_400));
}

/// Servers with nothing queued are not alike if one of them is busy.
#[test]
fn a_job_goes_to_the_idle_one_of_two_servers_without_a_queue() {
    let server = |name: &str| {
        format!(
            "[[server]]\nname = \"{name}\"\n[[server.gpu]]\nmodel = \"m\"\ncount = 2\nmemory_mib = 40960.0\n"
        )
    };
    let text = format!("schema_version = 1\n{}{}", server("a"), server("b"));
    let cluster = ClusterSpec::parse("c.toml", &text).unwrap();
    let jobs: String = (0..4).map(|i| format!("{i},{},mnist_bs32_1gpu,1\n", 10 * i)).collect();
    let trace =
        Trace::parse("t", "t.csv", format!("job_id,submit_s,workload,gpus\n{jobs}").as_bytes()).unwrap();
    let world = World::new(&trace, Catalogue::builtin(), cluster, Model::builtin()).unwrap();
    let record = run_with(&world, "exclusive", "default", &[], &mut NoObserver);
    assert_eq!(record.jobs.iter().map(|job| job.server).collect::<Vec<_>>(), [0, 1, 0, 1]);
}

/// A job that died next to another waits for a GPU as large as that one; one that died alone for a larger one.
#[test]
fn a_job_that_died_does_not_come_back_on_a_gpu_that_is_known_to_be_too_small() {
    let run = |memories: [f64; 2], policy: &str, sizes: [u32; 3]| {
        let gpus =
            memories.map(|mib| format!("[[server.gpu]]\nmodel = \"m\"\nmemory_mib = {mib:?}\n")).concat();
        let text = format!("schema_version = 1\n[[server]]\nname = \"s\"\n{gpus}");
        let cluster = ClusterSpec::parse("c.toml", &text).unwrap();
        let rows: String = ["mini", "small", "large"]
            .iter()
            .zip(sizes)
            .map(|(name, mib)| format!("{name},1,900,5,{mib},.2,.1,.1,.2\n"))
            .collect();
        let header = "workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,smact_mean,smocc_mean,drama_mean,gpu_util_mean\n";
        let catalogue = Catalogue::parse("w.csv", format!("{header}{rows}").as_bytes()).unwrap();
        let jobs = "job_id,submit_s,workload,gpus\na,0,mini,1\nb,10,small,1\nL,100,large,1\n";
        let trace = Trace::parse("t", "t.csv", jobs.as_bytes()).unwrap();
        let world = World::new(&trace, catalogue, cluster, Model::builtin()).unwrap();
        let record = run_with(&world, policy, "default", &[], &mut NoObserver);
        let large = &record.jobs[2];
        assert!(large.completed(), "{policy}: {large:?}");
        let gpus: Vec<usize> =
            record.attempts.iter().filter(|attempt| attempt.job == 2).map(|a| record.gpus_of(a)[0]).collect();
        gpus
    };
    // The large job joins the small one on GPU 1, dies, and must not try GPU 0.
    assert_eq!(run([12288.0, 24576.0], "aegis", [11000, 5000, 23000]), [1, 1]);
    // It dies alone on GPU 0, although the last sample still showed the job before it.
    assert_eq!(run([24576.0, 81920.0], "exclusive", [15000, 15000, 70000]), [0, 1]);
}

const POWER: &str = "schema_version = 1\n[power]\nidle_w = 50.0\ngpu_util_w = 200.0\ndrama_w = 100.0\n";

fn assert_figures(got: &Resources, expected: [(&str, f64); 10]) {
    for ((name, got), (of, expected)) in got.figures().into_iter().zip(expected) {
        assert_eq!(name, of);
        assert!((got - expected).abs() <= 1e-9 * expected, "{name}: {got}, not {expected}");
    }
}

/// Active from 20 to 100 s with the gang on GPU 0, and from 110 to 150 s with the other job; never on GPU 1, although
/// the gang's second rank holds memory there.
#[test]
fn energy_and_means_while_active_are_those_worked_out_by_hand() {
    let head = HEAD.replace("workload,gpus", "workload,gpu_rank,gpus");
    let rows = "gang,0,2,100,20,9000,,,0.6,0.3,0.25,0.5,9000,1\ngang,1,,,,428,,,0,0,0,0,,\n\
                solo,0,1,50,10,5000,,,0.3,0.15,0.1,0.25,5000,1\n";
    let catalogue = Catalogue::parse("w.csv", format!("{head}{rows}").as_bytes()).unwrap();
    let trace = trace("0,0,gang,2\n1,100,solo,1\n");
    let mut world = World::new(&trace, catalogue, cluster(&[1.0, 1.0]), Model::builtin()).unwrap();
    world.model.override_with("m.toml", POWER).unwrap();
    for (blind, read) in [("none", 1.0), ("0", 0.0), ("1", 1.0)] {
        let setting = format!("telemetry_blind_gpu={blind}");
        let record = run_with(&world, "exclusive", "ideal", &[&setting], &mut NoObserver);
        assert_eq!(record.gpus.iter().map(|gpu| gpu.active_s).collect::<Vec<_>>(), [120.0, 0.0]);
        assert!(record.gpus[1].power_active_mean_w.is_nan());
        let smact = (80.0 * 0.6 + 40.0 * 0.3) / 120.0;
        let energy_j = 2.0 * 150.0 * 50.0 + 80.0 * (100.0 + 25.0) + 40.0 * (50.0 + 10.0);
        assert_figures(
            &Summary::of(&record).resources,
            [
                ("active_share", 120.0 / 300.0),
                ("smact_active_mean", read * smact),
                ("smocc_active_mean", read * smact / 2.0),
                ("true_smact_active_mean", smact),
                ("true_smocc_active_mean", smact / 2.0),
                ("drama_active_mean", (80.0 * 0.25 + 40.0 * 0.1) / 120.0),
                ("gpu_util_active_mean", (80.0 * 0.5 + 40.0 * 0.25) / 120.0),
                ("memory_active_mean_mib", (80.0 * 9000.0 + 40.0 * 5000.0) / 120.0),
                ("power_active_mean_w", 50.0 + (80.0 * 125.0 + 40.0 * 60.0) / 120.0),
                ("energy_j", energy_j),
            ],
        );
    }
}

/// Two jobs that share a GPU slow each other down: SMACT goes with their pace, GPU utilisation does not.
#[test]
fn a_shared_gpu_is_utilised_whatever_the_pace() {
    let world = with_round_interference(world(PAIR, "0,0,long,1\n1,0,short,1\n", &[1.0]));
    let record = ideal(&world, "lucid", &mut NoObserver);
    let [long, short] = [0, 1].map(|job| record.jobs[job].end.as_s());
    assert!(long > short, "{long} {short}");
    // The kernels of both are there until the shorter one ends.
    let gpu = &record.gpus[0];
    let [first, second] = [0, 1].map(|attempt| record.attempts[attempt].first_activity.unwrap().as_s());
    let (together_s, alone_s) = (short - second, second - first + long - short);
    assert!(together_s > 95.0, "{together_s}");
    let expected = (together_s * (1.0 - 0.6 * 0.5) + alone_s * 0.4) / (together_s + alone_s);
    assert!((gpu.gpu_util_active_mean - expected).abs() < 1e-9, "{} {expected}", gpu.gpu_util_active_mean);
    // What a job does to the multiprocessors is its work times its SMACT, however long it takes.
    let smact_s = 295.0 * 0.45 + 95.0 * 0.6;
    assert!((gpu.smact_active_mean * gpu.active_s - smact_s).abs() < 1e-3, "{}", gpu.smact_active_mean);
}

#[test]
fn a_run_without_activity_has_no_means_of_it() {
    let mut world = world("holder,1,100,10,9000,,,0,0,0,0,9000,1\n", "0,0,holder,1\n", &[1.0, 1.0]);
    world.model.override_with("m.toml", POWER).unwrap();
    let got = Summary::of(&ideal(&world, "exclusive", &mut NoObserver)).resources;
    assert_eq!((got.active_share, got.energy_j), (0.0, 2.0 * 100.0 * 50.0));
    for (name, value) in &got.figures()[1..9] {
        assert!(value.is_nan(), "{name}: {value}");
    }
}
