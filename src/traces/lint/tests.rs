use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::*;
use crate::model::Model;
use crate::sim::World;
use crate::workload::{BUILTIN_TRACES, Trace};

fn found(bytes: &[u8]) -> Vec<Problem> {
    lint(bytes, &Catalogue::builtin(), &ClusterSpec::builtin()).problems
}

fn is_problem(problem: &Problem) -> bool {
    problem.severity() != Severity::Info
}

#[test]
fn what_is_built_in_has_no_problem() {
    for (name, text) in BUILTIN_TRACES {
        let problems: Vec<_> = found(text.as_bytes()).into_iter().filter(is_problem).collect();
        assert_eq!(problems, [], "{name}");
    }
}

const HEADER: &str = "job_id,submit_s,workload,gpus,duration_s,gpu_share\n";
const JOB: &str = "a,0,mnist_bs32_1gpu,1,,\n";

/// Lines of jobs: submission and duration.
fn jobs(times: impl IntoIterator<Item = (f64, Option<f64>)>) -> String {
    let duration = |s: Option<f64>| s.map_or(String::new(), |s| s.to_string());
    let lines = times.into_iter().enumerate();
    lines.map(|(i, (submit, s))| format!("j{i},{submit},mnist_bs32_1gpu,1,{},\n", duration(s))).collect()
}

/// A code, the line and the column that it is found in, and the file.
type Case = (Code, Option<u64>, Option<&'static str>, Vec<u8>);

/// Every code has one.
fn cases() -> Vec<Case> {
    let after = |rest: &str| format!("{HEADER}{JOB}{rest}").into_bytes();
    let trace =
        |times: &mut dyn Iterator<Item = (f64, Option<f64>)>| format!("{HEADER}{}", jobs(times)).into_bytes();
    let evenly = |gap_s: f64, duration_s: f64| (0..12).map(move |i| (f64::from(i) * gap_s, Some(duration_s)));
    let submit = Some("submit_s");
    vec![
        (Code::NotUtf8, Some(3), None, [after("b"), b"\xe9,0,mnist_bs32_1gpu,1,,\n".to_vec()].concat()),
        (Code::NotUtf8, None, None, b"\x1f\x8b\x08".to_vec()),
        (Code::NulByte, Some(3), None, after("b\0,0,mnist_bs32_1gpu,1,,\n")),
        (Code::EmptyFile, None, None, b"# nothing\n\n".to_vec()),
        (Code::WrongDelimiter, Some(1), None, b"job_id;submit_s;workload;gpus\n".to_vec()),
        (Code::MissingColumn, Some(1), Some("gpus"), b"job_id,submit_s,workload\na,0,w\n".to_vec()),
        (Code::DuplicateColumn, Some(1), Some("gpus"), b"job_id,submit_s,workload,gpus,gpus\n".to_vec()),
        (Code::NoJobs, None, None, HEADER.as_bytes().to_vec()),
        (Code::UnclosedQuote, Some(3), None, after("b,0,\"mnist_bs32_1gpu,1,,\nc,1,mnist_bs32_1gpu,1,,\n")),
        (Code::FieldCount, Some(3), None, after("b,0,mnist_bs32_1gpu,1\n")),
        (Code::BlankField, Some(3), submit, after("b,,mnist_bs32_1gpu,1,,\n")),
        (Code::BlankField, Some(3), Some("job_id"), after(",0,mnist_bs32_1gpu,1,,\n")),
        (Code::BadNumber, Some(3), submit, after("b,soon,mnist_bs32_1gpu,1,,\n")),
        (Code::BadNumber, Some(3), Some("gpus"), after("b,0,mnist_bs32_1gpu,1.0,,\n")),
        (Code::BadNumber, Some(3), Some("gpu_share"), after("b,0,mnist_bs32_1gpu,1,,0\n")),
        (Code::DateInNumber, Some(3), submit, after("b,2017-10-09 07:01:55,mnist_bs32_1gpu,1,,\n")),
        (Code::DuplicateId, Some(3), Some("job_id"), after("a,1,mnist_bs32_1gpu,1,,\n")),
        (Code::DuplicateRow, Some(3), Some("job_id"), after(JOB)),
        (Code::BlankWorkload, Some(3), Some("workload"), after("b,0,,1,,\n")),
        (Code::UnknownWorkload, Some(3), Some("workload"), after("b,0,mnist,1,,\n")),
        (Code::GpusDiffer, Some(3), Some("gpus"), after("b,0,mnist_bs32_1gpu,2,,\n")),
        (
            Code::GangTooLarge,
            Some(2),
            Some("gpus"),
            format!("{HEADER}b,0,mnist_bs32_1gpu,4,9,\n").into_bytes(),
        ),
        (Code::ShareWithoutDuration, Some(3), Some("gpu_share"), after("b,0,mnist_bs32_1gpu,1,,0.5\n")),
        (Code::ByteOrderMark, Some(1), None, [b"\xef\xbb\xbf".to_vec(), after("")].concat()),
        (Code::CrLf, Some(3), None, after("b,0,mnist_bs32_1gpu,1,,\r\n")),
        (Code::NoFinalNewline, Some(3), None, after("b,0,mnist_bs32_1gpu,1,,")),
        (Code::MultiLineField, Some(3), Some("job_id"), after("\"b\nc\",0,mnist_bs32_1gpu,1,,\n")),
        (
            Code::MisspeltColumn,
            Some(1),
            Some("Duration"),
            b"job_id,submit_s,workload,gpus,Duration\na,0,mnist_bs32_1gpu,1,5\n".to_vec(),
        ),
        (Code::Unsorted, Some(3), submit, trace(&mut [(5.0, None), (1.0, None)].into_iter())),
        (Code::UnixTime, Some(2), submit, trace(&mut [(1.5e9, None)].into_iter())),
        (Code::LateStart, Some(2), submit, trace(&mut [(1e5, None)].into_iter())),
        (Code::LongSpan, Some(13), submit, trace(&mut evenly(3e7, 60.0))),
        (Code::LongDurations, None, Some("duration_s"), trace(&mut evenly(1e5, 6e5))),
        (Code::ZeroDuration, Some(2), Some("duration_s"), trace(&mut [(0.0, Some(0.0))].into_iter())),
        (
            Code::MissingDuration,
            Some(3),
            Some("duration_s"),
            trace(&mut [(0.0, Some(1.0)), (1.0, None)].into_iter()),
        ),
        (
            Code::DominatingJob,
            Some(14),
            Some("duration_s"),
            trace(&mut evenly(10.0, 60.0).chain([(120.0, Some(1e4))])),
        ),
        (Code::LargeGap, Some(14), submit, trace(&mut evenly(60.0, 60.0).chain([(9000.0, Some(60.0))]))),
        (Code::EqualSubmitTimes, Some(3), submit, trace(&mut [(1.0, None), (1.0, None)].into_iter())),
        (
            Code::IgnoredColumn,
            Some(1),
            Some("queue"),
            b"job_id,submit_s,workload,gpus,queue\na,0,mnist_bs32_1gpu,1,5\n".to_vec(),
        ),
    ]
}

#[test]
fn every_code_is_found_where_it_is_and_not_without_it() {
    for (code, line, column, text) in cases() {
        let problems = found(&text);
        let problem = problems.iter().find(|problem| problem.code == code);
        let problem = problem.unwrap_or_else(|| panic!("{code:?} is not among {problems:?}"));
        assert_eq!(
            (problem.lines.first().copied(), problem.column.as_deref()),
            (line, column),
            "{problem:?}"
        );
        assert!(!problem.message.is_empty() && problem.count >= 1);
        // What else there is must come of the same cause.
        let others = problems.iter().filter(|other| is_problem(other) && other.code != code).count();
        let causes_more = [
            Code::DuplicateColumn,
            Code::EmptyFile,
            Code::LongSpan,
            Code::LongDurations,
            Code::WrongDelimiter,
            Code::MissingColumn,
        ];
        assert!(others == 0 || causes_more.contains(&code), "{code:?}: {problems:?}");
    }
    for code in Code::ALL {
        assert!(cases().iter().any(|(of, ..)| of == code), "{code:?} has no case");
    }
}

#[test]
fn all_problems_of_a_file_are_found_and_lines_behind_an_open_quote_too() {
    let text = format!(
        "{HEADER}{JOB}b,x,mnist_bs32_1gpu,1,,\nc,1,\"mnist_bs32_1gpu,1,,\n# a comment\nd,2,resnet50,1,,\ne,3,mnist_bs23_1gpu,9,\
         -1,\nf,4,mnist_bs32_1gpu\n"
    );
    let problems = found(text.as_bytes());
    let listed: Vec<_> = problems.iter().map(|p| (p.code.name(), p.lines.clone())).collect();
    assert_eq!(
        listed,
        [
            ("bad-number", vec![3]),
            ("unclosed-quote", vec![4]),
            ("unknown-workload", vec![6, 7]),
            ("bad-number", vec![7]),
            ("field-count", vec![8]),
            ("gang-too-large", vec![7]),
        ]
    );
    let unknown = &problems[2].message;
    assert!(
        unknown.contains("\"resnet50\"") && unknown.contains("did you mean mnist_bs32_1gpu"),
        "{unknown}"
    );
}

#[test]
fn numbers_that_may_have_been_something_else_are_explained() {
    for (field, says) in [
        ("1507532515000", "milliseconds since 1970"),
        ("1507532515000000", "microseconds since 1970"),
        ("\"1,5\"", "is the comma a decimal point?"),
    ] {
        let problems = found(format!("{HEADER}a,{field},mnist_bs32_1gpu,1,,\n").as_bytes());
        assert!(problems[0].code == Code::BadNumber && problems[0].message.contains(says), "{problems:?}");
    }
}

/// Traces with mistakes of all kinds, but for a share without a duration, which is for runs to refuse.
fn broken() -> impl Strategy<Value = Vec<u8>> {
    // Mostly sound fields, or hardly any trace would be taken.
    let mostly = |sound: &'static str, odd: &'static [&'static str]| {
        prop_oneof![24 => Just(sound), 1 => select(odd)].prop_map(str::to_owned)
    };
    let id = prop_oneof![24 => "[a-z]{3}", 1 => mostly("a", &["", "\"b\"", "\"b\nc\"", "5\" x", "#d"])];
    let odd =
        &["7.5", "0.5", "1e3", "-0.0", "-1", "nan", "inf", "1e12", "x", "", " 4 ", "2017-10-09", "\"1,5\""];
    let number = prop_oneof![24 => (0u32..100).prop_map(|n| n.to_string()), 1 => select(&odd[..]).prop_map(str::to_owned)];
    let duration = prop_oneof![Just(String::new()), number.clone()];
    let workload = mostly("mnist_bs32_1gpu", &["gpt2_large_wiki_bs8_2gpu", "mnist", ""]);
    let gpus = mostly("1", &["2", "3", "4", "0", "1.0", "70000", ""]);
    let row = (id, number, workload, gpus, duration).prop_map(|(id, submit, workload, gpus, duration)| {
        format!("{id},{submit},{workload},{gpus},{duration}")
    });
    let lines = &["# c \"", "", "a,b", "x,0,\"mnist_bs32_1gpu,1,"][..];
    let rows = vec(prop_oneof![30 => row, 1 => select(lines).prop_map(str::to_owned)], 0..5);
    let header = mostly(
        "job_id,submit_s,workload,gpus,duration_s",
        &[
            "# c\njob_id,submit_s,workload,gpus,duration_s",
            "job_id,submit_s,workload,gpus,",
            "job_id,submit_s,workload,gpus,gpu_share",
            "job_id,submit_s,workload,gpus,gpus",
            "job_id,submit_s,workload,gpu,duration_s",
            "job_id,submit_s,workload,\"gpus,duration_s",
            "",
        ],
    );
    let end = select(&["\n", "\n", "\r\n"][..]);
    let inserted =
        prop::option::weighted(0.1, (any::<prop::sample::Index>(), select(&b"\0\xff\",\n\r#"[..])));
    (prop::bool::weighted(0.1), header, rows, end, any::<bool>(), inserted).prop_map(
        |(mark, header, rows, end, ends, inserted)| {
            let lines = [vec![header], rows].concat();
            let text = lines.join(end) + if ends { end } else { "" };
            let mut bytes = if mark { b"\xef\xbb\xbf".to_vec() } else { vec![] };
            bytes.extend(text.as_bytes());
            if let Some((index, byte)) = inserted {
                let at = index.index(bytes.len() + 1);
                bytes.insert(at, byte);
            }
            bytes
        },
    )
}

#[test]
fn errors_are_what_runs_refuse() {
    let (catalogue, cluster, model) = (Catalogue::builtin(), ClusterSpec::builtin(), Model::builtin());
    let config =
        Config { cases: 3000, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..Config::default() };
    let (taken, refused) = (Cell::new(0), Cell::new(0));
    let checked = TestRunner::new(config).run(&broken(), |bytes| {
        let run = Trace::parse("t", "t.csv", &bytes)
            .and_then(|trace| World::new(&trace, catalogue.clone(), cluster.clone(), model.clone()));
        let Lint { problems, .. } = lint(&bytes, &catalogue, &cluster);
        let errors: Vec<_> = problems.iter().filter(|p| p.severity() == Severity::Error).collect();
        prop_assert_eq!(errors.is_empty(), run.is_ok(), "{:?} {:?}", errors, run.err());
        let kind = if run.is_ok() { &taken } else { &refused };
        kind.set(kind.get() + 1);
        Ok(())
    });
    checked.unwrap();
    // The cases must be of both kinds to say anything.
    let (taken, refused) = (taken.get(), refused.get());
    assert!(taken > 300 && refused > 300, "{taken} {refused}");
}
