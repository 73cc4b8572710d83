//! The simulator against a slow, naive, time-stepped model of the same schedulers.
//!
//! The oracle is written from the description of the schedulers and shares no decision code with the
//! simulator: it walks through time in small fixed steps and tries every tick, where the simulator jumps
//! from event to event and skips ticks that cannot change anything.

#[path = "../common/mod.rs"]
mod common;
mod physics;
mod risk;
mod scheduler;
mod stepper;

use std::collections::{BTreeMap, BTreeSet};

use aegis_sim::sim::{NoObserver, Outcome, RunRecord};
use aegis_sim::workload::Metric;
use common::{Case, Log, Shape, What, any_case, config};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use stepper::{Oracle, Try};

/// Both round completions up to a microsecond, after a different number of roundings before.
const TOLERANCE_US: i64 = 100;

const LONGEST_S: f64 = 1000.0;

fn attempts_of(record: &RunRecord) -> Vec<Try> {
    let attempts = record.attempts.iter().map(|attempt| Try {
        job: attempt.job,
        server: record.jobs[attempt.job].server,
        gpus: record.gpus_of(attempt).to_vec(),
        dispatch_us: attempt.dispatch.micros(),
        active_us: attempt.first_activity.map(|time| time.micros()),
        end_us: attempt.end.micros(),
        completed: attempt.outcome == Outcome::Completed,
        collocated: attempt.collocated,
        floor_mib: attempt.floor_mib,
    });
    attempts.collect()
}

/// Servers do not wait for each other: only the order of dispatches on each of them means something.
fn by_server(mut attempts: Vec<Try>) -> Vec<Try> {
    attempts.sort_by_key(|attempt| attempt.server);
    attempts
}

/// The attempt with its times taken out, for exact comparison, and its times.
fn split(attempt: &Try) -> (Try, [i64; 3]) {
    let times = [attempt.dispatch_us, attempt.active_us.unwrap_or(0), attempt.end_us];
    let rest = Try {
        dispatch_us: 0,
        active_us: attempt.active_us.map(|_| 0),
        end_us: 0,
        gpus: attempt.gpus.clone(),
        ..*attempt
    };
    (rest, times)
}

fn agree(case: &Case) -> Result<(), TestCaseError> {
    let world = case.world();
    let record = case.run(&mut NoObserver);
    // Crowds can slow each other down beyond what a walk in small steps has patience for.
    prop_assume!(record.makespan_s() < LONGEST_S);
    let expected = Oracle::new(&world, case.policy().kind, case.params(), case.seed).run();
    let oracles = expected.text();
    let got = by_server(attempts_of(&record));
    let expected_attempts = by_server(expected.attempts);
    for (number, (got, expected)) in got.iter().zip(&expected_attempts).enumerate() {
        let ((got_rest, got_times), (expected_rest, expected_times)) = (split(got), split(expected));
        let close = got_times.iter().zip(expected_times).all(|(a, b)| (a - b).abs() <= TOLERANCE_US);
        prop_assert!(
            got_rest == expected_rest && close,
            "attempt {number}: simulator {got:?}, oracle {expected:?}\nall of the oracle's:\n{oracles}"
        );
    }
    prop_assert_eq!(got.len(), expected_attempts.len());
    let given_up: Vec<bool> = record.jobs.iter().map(|job| job.given_up.is_some()).collect();
    prop_assert_eq!(given_up, expected.given_up);
    Ok(())
}

/// The cases exercise what they are meant to compare.
#[test]
fn cases_reach_what_matters() {
    let mut runner = TestRunner::new(config(1));
    let strategy = any_case(Shape { jobs: 16, runtime_s: 25, noise: 0.4 });
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..600 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let mut log = Log::default();
        let record = case.run(&mut log);
        let mut features = BTreeSet::new();
        for entry in &log.entries {
            match &entry.what {
                What::Reject { kind, .. } => features.insert(*kind),
                What::Dispatch { gpus, collocated: true } if gpus.len() > 1 => features.insert("shared gang"),
                What::Dispatch { collocated: true, .. } => features.insert("shared"),
                What::MemoryGrowth => features.insert("growth"),
                What::AllocationFailed => features.insert("failure"),
                What::GiveUp(_) => features.insert("given up"),
                What::Rate(rate) if *rate < 0.4 => features.insert("slowed down"),
                _ => false,
            };
        }
        let attempts = &record.attempts;
        if attempts.iter().any(|a| a.number > 1 && a.collocated) {
            features.insert("recovered and shared");
        }
        if attempts.iter().any(|a| a.number > 2) {
            features.insert("failed twice");
        }
        if case.cluster.contains("workload_speed") && attempts.iter().any(|a| a.collocated) {
            features.insert("workload speed");
        }
        let world = case.world();
        if !world.knows(Metric::Smact) && attempts.iter().any(|a| a.collocated) {
            features.insert("shared without counters");
        }
        let shared = attempts.iter().any(|a| a.collocated);
        if shared && case.params().noise && case.seed > 0 {
            features.insert("shared with noise");
        }
        if record.jobs.iter().any(|job| job.server == 1) {
            features.insert("second server");
        }
        for feature in features {
            *seen.entry(feature.to_owned()).or_default() += 1;
        }
        *seen.entry(case.policy.split('+').next().unwrap().to_owned()).or_default() += 1;
    }
    println!("{seen:#?}");
    for feature in [
        "awaiting_activity",
        "exclusive",
        "failed twice",
        "failure",
        "given up",
        "gpu_utilization",
        "growth",
        "job_count",
        "lucid",
        "memory",
        "no_estimate",
        "observation",
        "pressure",
        "recovered and shared",
        "recovery_needs_idle",
        "reserved",
        "second server",
        "shared",
        "shared gang",
        "shared with noise",
        "shared without counters",
        "sharing_score",
        "slowed down",
        "too_few_gpus",
        "utilization",
        "workload speed",
    ] {
        assert!(seen.get(feature).is_some_and(|&count| count >= 4), "{feature} in too few cases: {seen:#?}");
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn agrees_on_small_cases(case in any_case(Shape { jobs: 8, runtime_s: 90, noise: 0.4 })) {
        agree(&case)?;
    }

    /// Many short jobs: more dispatches, deaths and shared GPUs per case.
    #[test]
    fn agrees_on_crowded_cases(case in any_case(Shape { jobs: 16, runtime_s: 25, noise: 0.4 })) {
        agree(&case)?;
    }
}
