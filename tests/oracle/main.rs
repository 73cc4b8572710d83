//! The simulator against a slow, naive, time-stepped model of the same schedulers.
//!
//! The oracle is written from the description of the schedulers and shares no decision code with the
//! simulator: it walks through time in small fixed steps and tries every tick, where the simulator jumps
//! from event to event and skips ticks that cannot change anything.

#[path = "../common/mod.rs"]
mod common;
mod risk;
mod scheduler;
mod stepper;

use aegis_sim::sim::{NoObserver, Outcome, RunRecord};
use common::{Case, Shape, any_case, config};
use proptest::prelude::*;
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

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn agrees_on_small_cases(case in any_case(Shape { jobs: 8, runtime_s: 90, noise: 0.2 })) {
        agree(&case)?;
    }

    /// Many short jobs: more dispatches, deaths and shared GPUs per case.
    #[test]
    fn agrees_on_crowded_cases(case in any_case(Shape { jobs: 16, runtime_s: 25, noise: 0.2 })) {
        agree(&case)?;
    }
}
