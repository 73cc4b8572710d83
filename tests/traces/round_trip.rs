//! Traces that are written in another format and imported again are the same, as far as the format can hold them.

use std::path::Path;

use crate::common::config;
use aegis_sim::traces::convert::{AegisFormat, NativeFormat, SPECS, SwfFormat, TraceFormat};
use aegis_sim::traces::import::{ImportOptions, LogFormat, Origin, Source, import};
use aegis_sim::workload::{Catalogue, Trace, TraceJob};
use proptest::prelude::*;

/// A name with whatever people put into one, but no blanks at its ends and no word for "none".
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z]{1,6}",
        1 => "[1-9][0-9]{0,3}",
        1 => "[#;a-z0-9][ -~äß]{0,12}[a-z0-9:,\"]",
    ]
    .prop_filter("words for none", |name| !["nan", "null"].contains(&name.as_str()))
}

/// Jobs with ids of their own, to the microsecond, as imports have them.
fn jobs() -> impl Strategy<Value = Vec<TraceJob>> {
    let state = prop_oneof![Just("completed"), Just("failed"), Just("cancelled")];
    let us = |most: i64| (0..most).prop_map(|us| us as f64 / 1e6);
    let times = (us(10_i64.pow(14)), (1..10_i64.pow(12)).prop_map(|us| us as f64 / 1e6));
    let share = proptest::option::of((1u32..1_000_000).prop_map(|millionths| f64::from(millionths) / 1e6));
    let names = (proptest::option::of(name()), proptest::option::of(name()), proptest::option::of(state));
    let job = (name(), times, 1u32..=65_535, share, names).prop_map(
        |(job_id, (submit_s, duration_s), gpus, gpu_share, (user, vc, state))| TraceJob {
            job_id,
            submit_s,
            gpus,
            duration_s: Some(duration_s),
            gpu_share,
            user,
            vc,
            state: state.map(str::to_owned),
            ..TraceJob::default()
        },
    );
    proptest::collection::vec(job, 1..12).prop_map(|mut jobs| {
        jobs.sort_by(|a, b| a.submit_s.total_cmp(&b.submit_s));
        let mut seen = std::collections::HashSet::new();
        jobs.retain(|job| seen.insert(job.job_id.clone()));
        jobs
    })
}

fn trace(jobs: Vec<TraceJob>) -> Trace {
    Trace { name: "t".to_owned(), source: "t.csv".to_owned(), jobs, notes: Vec::new() }
}

/// Out in one format and back in another's importer, without lines.
fn there_and_back(format: &dyn TraceFormat, as_log: LogFormat, jobs: &[TraceJob]) -> Vec<TraceJob> {
    let trace = trace(jobs.to_vec());
    format.check(&trace).unwrap();
    let mut text = Vec::new();
    format.write(&trace, &mut text).unwrap();
    let options = ImportOptions { origin: Origin::Source, ..ImportOptions::new(as_log).unwrap() };
    let sources = [Source::Bytes { name: "log".to_owned(), bytes: text.into() }];
    let mut out = Vec::new();
    let account = import(&options, &sources, &mut out, Path::new("out"), &|_| {}).unwrap();
    assert_eq!(account.dropped_rows(), 0, "{}", account.to_json());
    let back = Trace::parse("t", "t.csv", &out).unwrap();
    back.jobs.into_iter().map(|job| TraceJob { line: 0, ..job }).collect()
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn its_own_format(jobs in jobs()) {
        prop_assert_eq!(there_and_back(&NativeFormat::default(), LogFormat::Csv, &jobs), jobs);
    }

    /// All but shares of GPUs.
    #[test]
    fn the_standard_workload_format(jobs in jobs(), workloads in proptest::collection::vec("[a-z_]{0,5}", 12)) {
        let jobs: Vec<TraceJob> = jobs
            .into_iter()
            .zip(workloads)
            .map(|(job, workload)| TraceJob { gpu_share: None, workload, ..job })
            .collect();
        let catalogue = Catalogue::builtin();
        let format = SwfFormat { catalogue: &catalogue, cluster: None };
        prop_assert_eq!(there_and_back(&format, LogFormat::Swf, &jobs), jobs);
    }

    /// Submissions and workloads.
    #[test]
    fn the_execution_traces_of_aegis(jobs in jobs(), picks in proptest::collection::vec(0usize..53, 12)) {
        let catalogue = Catalogue::builtin();
        let workloads = catalogue.workloads();
        let jobs: Vec<TraceJob> = jobs
            .iter()
            .zip(picks)
            .enumerate()
            .map(|(number, (job, pick))| TraceJob {
                job_id: number.to_string(),
                submit_s: job.submit_s,
                workload: workloads[pick].name.clone(),
                gpus: workloads[pick].gpus,
                ..TraceJob::default()
            })
            .collect();
        let format = AegisFormat { catalogue: &catalogue, specs: SPECS.to_owned() };
        prop_assert_eq!(there_and_back(&format, LogFormat::Aegis, &jobs), jobs);
    }
}
