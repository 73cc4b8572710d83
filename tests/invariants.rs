//! What holds in every run, whatever the policy, the parameters and the seed.

mod common;

use std::collections::HashMap;

use aegis_sim::engine::Time;
use aegis_sim::policy::Params;
use aegis_sim::sim::{RunRecord, World, makespan_bound};
use aegis_sim::workload::Metric;
use common::{Case, Log, Shape, What, any_case, config};
use proptest::prelude::*;

type Checked = Result<(), TestCaseError>;

struct Ran {
    world: World,
    params: Params,
    record: RunRecord,
    log: Log,
}

fn run(case: &Case) -> Ran {
    let mut log = Log::default();
    let record = case.run(&mut log);
    Ran { world: case.world(), params: case.params(), record, log }
}

impl Ran {
    /// Of a job on every GPU.
    fn speeds(&self, job: usize) -> Vec<f64> {
        let name = &self.record.jobs[job].workload;
        let gpus = self.world.cluster.servers.iter().flat_map(|server| &server.gpus);
        gpus.map(|gpu| gpu.speed_of(name)).collect()
    }

    fn memory_never_exceeds_what_can_be_allocated(&self) -> Checked {
        let gpus: Vec<_> = self.world.cluster.servers.iter().flat_map(|server| &server.gpus).collect();
        for entry in &self.log.entries {
            if let What::Gpu { gpu, used_mib, .. } = entry.what {
                prop_assert!(
                    used_mib <= gpus[gpu].allocatable_mib,
                    "GPU {gpu} at {}: {used_mib}",
                    entry.time
                );
            }
        }
        for (record, gpu) in self.record.gpus.iter().zip(gpus) {
            prop_assert!(record.peak_memory_mib <= gpu.allocatable_mib);
        }
        Ok(())
    }

    fn time_never_goes_back(&self) -> Checked {
        prop_assert!(self.log.entries.is_sorted_by(|a, b| a.time <= b.time));
        Ok(())
    }

    fn first_dispatches_follow_submission(&self) -> Checked {
        let mut newest: HashMap<usize, usize> = HashMap::new();
        for attempt in self.record.attempts.iter().filter(|attempt| attempt.number == 1) {
            let job = &self.record.jobs[attempt.job];
            prop_assert!(attempt.dispatch >= job.submit);
            if let Some(before) = newest.insert(job.server, attempt.job) {
                prop_assert!(before < attempt.job, "job {} before job {before}", attempt.job);
            }
        }
        Ok(())
    }

    fn every_job_ends_once(&self) -> Checked {
        for (job, record) in self.record.jobs.iter().enumerate() {
            let count =
                |wanted: fn(&What) -> bool| self.log.of_job(job).filter(|entry| wanted(&entry.what)).count();
            let completed = count(|what| *what == What::Complete);
            let given_up = count(|what| matches!(what, What::GiveUp(reason) if !reason.is_empty()));
            prop_assert_eq!((completed, given_up), if record.completed() { (1, 0) } else { (0, 1) });
            prop_assert_eq!(count(|what| matches!(what, What::Dispatch { .. })), record.attempts);
            prop_assert_eq!(count(|what| *what == What::OutOfMemory), record.attempts - completed);
        }
        Ok(())
    }

    fn attempts_are_sound(&self) -> Checked {
        let mut ends: HashMap<usize, Time> = HashMap::new();
        for attempt in &self.record.attempts {
            let gpus = self.record.gpus_of(attempt);
            let job = &self.record.jobs[attempt.job];
            prop_assert_eq!(gpus.len(), job.gpus);
            for (i, &gpu) in gpus.iter().enumerate() {
                prop_assert!(!gpus[..i].contains(&gpu), "the same GPU twice");
                prop_assert_eq!(self.record.gpus[gpu].server, job.server);
            }
            prop_assert!(attempt.dispatch <= attempt.launch && attempt.launch <= attempt.end);
            if let Some(before) = ends.insert(attempt.job, attempt.end) {
                prop_assert!(before <= attempt.dispatch, "attempts overlap");
            }
        }
        Ok(())
    }

    fn waits_and_executions_add_up(&self) -> Checked {
        let lag = Time::from_s(self.params.dispatch_lag_s);
        for job in &self.record.jobs {
            let lags = Time::from_micros(lag.micros() * job.attempts as i64);
            let parts = job.first_dispatch - job.submit + job.recovery_wait + job.execution + lags;
            prop_assert_eq!(job.end - job.submit, parts);
        }
        Ok(())
    }

    /// Work done is work asked, and nothing is faster than alone. Without noise and runtime factors.
    fn work_is_done_once(&self) -> Checked {
        for (job, record) in self.record.jobs.iter().enumerate().filter(|(_, record)| record.completed()) {
            let spec = &self.world.jobs[job];
            let asked_us = (spec.solo_runtime - spec.startup).micros() as f64;
            let (mut done_us, mut since, mut rate, mut changes) = (0.0, Time::ZERO, 0.0, 0);
            for entry in self.log.of_job(job) {
                done_us += rate * (entry.time - since).micros() as f64;
                since = entry.time;
                match entry.what {
                    // What a failed attempt did is lost.
                    What::Dispatch { .. } => (done_us, rate) = (0.0, 0.0),
                    What::Rate(new) => (rate, changes) = (new, changes + 1),
                    What::Complete => break,
                    _ => {}
                }
            }
            let allowed_us = 2.0 * f64::from(changes.max(1));
            prop_assert!((done_us - asked_us).abs() <= allowed_us, "job {job}: {done_us} of {asked_us} us");
            let last = self.record.attempts.iter().rfind(|attempt| attempt.job == job).unwrap();
            let speeds = self.speeds(job);
            let fastest = self.record.gpus_of(last).iter().map(|&gpu| speeds[gpu]).fold(0.0, f64::max);
            let alone_us = spec.startup.micros() as f64 + asked_us / fastest;
            prop_assert!((last.end - last.launch).micros() as f64 >= alone_us - 1.0);
            prop_assert!(record.execution >= last.end - last.launch);
        }
        Ok(())
    }

    /// What observers are told of the GPUs adds up to what the record says of them.
    fn gpu_events_add_up(&self) -> Checked {
        let span_s = self.record.makespan_s();
        let power = self.world.model.power;
        // Memory, activities, power, being active, and memory and power while active.
        let state_of = |used_mib: f64, activity: [f64; 4]| {
            let active = if activity.iter().any(|&level| level > 0.0) { 1.0 } else { 0.0 };
            let [a, b, c, d] = activity;
            let power_w = power.idle_w + power.gpu_util_w * d + power.drama_w * c;
            [used_mib, a, b, c, d, power_w, active, active * used_mib, active * power_w]
        };
        let empty = state_of(0.0, [0.0; 4]);
        for (index, record) in self.record.gpus.iter().enumerate() {
            let (mut busy_s, mut sums, mut state, mut since) = (0.0, [0.0; 9], (0, empty), self.record.start);
            let mut book = |until: Time, next: (usize, [f64; 9])| {
                let passed_s = (until - since).as_s();
                busy_s += if state.0 > 0 { passed_s } else { 0.0 };
                sums = std::array::from_fn(|i| sums[i] + passed_s * state.1[i]);
                (state, since) = (next, until);
            };
            for entry in &self.log.entries {
                if let What::Gpu { gpu, jobs, used_mib, activity } = entry.what
                    && gpu == index
                {
                    book(entry.time, (jobs, state_of(used_mib, activity)));
                }
            }
            book(self.record.end, (0, empty));
            let over_run = |mean: Option<f64>| mean.map(|mean| mean * span_s);
            let while_active = |mean: f64| if record.active_s > 0.0 { record.active_s * mean } else { 0.0 };
            let activity =
                [record.smact_mean, record.smocc_mean, record.drama_mean, Some(record.gpu_util_mean)];
            let known = Metric::ALL.map(|metric| self.world.knows(metric));
            prop_assert_eq!(activity.map(|mean| mean.is_some()), known);
            let [smact, smocc, drama, gpu_util] = activity.map(over_run);
            let expected = [
                Some(record.memory_mean_mib * span_s),
                smact,
                smocc,
                drama,
                gpu_util,
                Some(record.energy_j),
                Some(record.active_s),
                Some(while_active(record.memory_active_mean_mib)),
                Some(while_active(record.power_active_mean_w)),
            ];
            prop_assert!((busy_s - record.busy_s).abs() < 1e-3, "GPU {index}: busy {busy_s}, {record:?}");
            for (sum, expected) in sums.iter().zip(expected).filter_map(|(sum, e)| Some((sum, e?))) {
                prop_assert!(
                    (sum - expected).abs() <= 1e-6 * (1.0 + sum),
                    "GPU {index}: {sums:?}, {record:?}"
                );
            }
            // There is no activity but while active.
            let while_active_means = [
                record.smact_active_mean,
                record.smocc_active_mean,
                record.drama_active_mean,
                record.gpu_util_active_mean,
            ];
            for ((sum, mean), _) in
                sums[1..5].iter().zip(while_active_means).zip(known).filter(|(_, known)| *known)
            {
                prop_assert!((sum - while_active(mean)).abs() <= 1e-6 * (1.0 + sum), "{sums:?}, {record:?}");
            }
        }
        Ok(())
    }

    /// Unless it gave up a job that others might not.
    fn makespan_is_not_below_the_bound(&self) -> Checked {
        let bound = makespan_bound(&self.world, &self.params, self.record.seed);
        let given_up = self.record.jobs.iter().filter(|job| !job.completed()).count();
        prop_assert!(given_up >= bound.left_out_jobs, "{given_up} jobs given up, {bound:?}");
        if given_up == bound.left_out_jobs {
            let makespan_s = self.record.makespan_s();
            prop_assert!(makespan_s >= bound.makespan_s(), "makespan {makespan_s} s, {bound:?}");
        }
        Ok(())
    }

    fn no_gpu_is_shared(&self) -> Checked {
        for (i, one) in self.record.attempts.iter().enumerate() {
            for other in &self.record.attempts[..i] {
                let meet = one.dispatch < other.end && other.dispatch < one.end;
                let common = self.record.gpus_of(one).iter().any(|g| self.record.gpus_of(other).contains(g));
                prop_assert!(!(meet && common), "{one:?} shares a GPU with {other:?}");
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn invariants_hold(case in any_case(Shape { jobs: 40, runtime_s: 300, noise: 0.4 })) {
        let ran = run(&case);
        ran.memory_never_exceeds_what_can_be_allocated()?;
        ran.time_never_goes_back()?;
        ran.first_dispatches_follow_submission()?;
        ran.every_job_ends_once()?;
        ran.attempts_are_sound()?;
        ran.waits_and_executions_add_up()?;
        ran.gpu_events_add_up()?;
        ran.makespan_is_not_below_the_bound()?;
        if !ran.params.noise && !ran.params.runtime_factors {
            ran.work_is_done_once()?;
        }
        if case.policy == "exclusive" {
            ran.no_gpu_is_shared()?;
        }
    }

    /// Nothing but the arguments decides, watched or not.
    #[test]
    fn runs_repeat(case in any_case(Shape { jobs: 20, runtime_s: 100, noise: 0.5 })) {
        let watched = case.run(&mut Log::default());
        let unwatched = case.run(&mut aegis_sim::sim::NoObserver);
        prop_assert_eq!(format!("{watched:?}"), format!("{unwatched:?}"));
    }
}
