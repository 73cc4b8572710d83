//! A trace as a whole: what is possible, and most likely not meant.

use super::code::Code;
use super::problem::Problems;
use super::rows::{Rows, Seen};

const DAY_S: f64 = 86_400.0;
/// The years 2000 to 2100 in seconds since 1970.
const UNIX_TIME_S: std::ops::Range<f64> = 9.4e8..4.2e9;
/// No public trace of a cluster is as long.
const LONG_SPAN_S: f64 = 5.0 * 365.0 * DAY_S;
/// Medians of public traces are minutes to an hour: in milliseconds, they are more than this.
const LONG_MEDIAN_S: f64 = 2.0 * DAY_S;
/// Fewer jobs than this say nothing of what is usual among them.
const FEW: usize = 10;
/// How many times as long a job is than anything else about a trace, to dominate it.
const DOMINATES: f64 = 2.0;
/// Share of the span that a large gap is, and its least length.
const LARGE_GAP: (f64, f64) = (0.5, 3600.0);

pub(super) fn check(rows: &Rows, cluster_gpus: usize, problems: &mut Problems) {
    let seen = &rows.seen;
    let submit = rows.submit_column.map(|index| (index, "submit_s"));
    let duration = rows.duration_column.map(|index| (index, "duration_s"));
    for pair in seen.windows(2).filter(|pair| pair[1].submit_s < pair[0].submit_s) {
        let message =
            || format!("found {} after {} on line {}", pair[1].submit_s, pair[0].submit_s, pair[0].line);
        problems.add(Code::Unsorted, Some(pair[1].line), submit, message);
    }
    if seen.iter().any(|job| job.duration_s.is_some()) {
        for job in seen.iter().filter(|job| job.blank_duration) {
            let message = || "blank, where other jobs have a duration".to_owned();
            problems.add(Code::MissingDuration, Some(job.line), duration, message);
        }
    }
    let mut sorted: Vec<&Seen> = seen.iter().collect();
    sorted.sort_by(|a, b| a.submit_s.total_cmp(&b.submit_s));
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return };
    let span_s = last.submit_s - first.submit_s;
    if UNIX_TIME_S.contains(&first.submit_s) {
        let message = || format!("the first submission is at {} s", first.submit_s);
        problems.add(Code::UnixTime, Some(first.line), submit, message);
    } else if first.submit_s > DAY_S {
        let message = || format!("the first submission is at {} s", first.submit_s);
        problems.add(Code::LateStart, Some(first.line), submit, message);
    }
    if span_s > LONG_SPAN_S {
        let years = span_s / (365.0 * DAY_S);
        let message = || format!("submissions span {span_s} s, which is {years:.0} years");
        problems.add(Code::LongSpan, Some(last.line), submit, message);
    }
    let mut equal: Vec<u64> = sorted
        .windows(2)
        .filter(|pair| pair[0].submit_s == pair[1].submit_s)
        .map(|pair| pair[1].line)
        .collect();
    equal.sort_unstable();
    for line in equal {
        let message = || "submitted at the time of another job".to_owned();
        problems.add(Code::EqualSubmitTimes, Some(line), submit, message);
    }
    if seen.len() < FEW {
        return;
    }
    let mut durations_s: Vec<f64> = seen.iter().filter_map(|job| job.duration_s).collect();
    let middle = durations_s.len() / 2;
    if durations_s.len() >= FEW {
        let (_, median_s, _) = durations_s.select_nth_unstable_by(middle, f64::total_cmp);
        if *median_s >= LONG_MEDIAN_S {
            let message =
                || format!("the median duration is {median_s} s, which is {:.0} days", *median_s / DAY_S);
            problems.add(Code::LongDurations, None, duration, message);
        }
    }
    let gaps = sorted.windows(2).map(|pair| (pair[1].submit_s - pair[0].submit_s, pair));
    if let Some((gap_s, pair)) = gaps.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let (share, least_s) = LARGE_GAP;
        if gap_s >= least_s && gap_s >= share * span_s {
            let message = || format!("no job for {gap_s} s of {span_s} s, since line {}", pair[0].line);
            problems.add(Code::LargeGap, Some(pair[1].line), submit, message);
        }
    }
    check_longest(seen, span_s, cluster_gpus, duration, problems);
}

fn check_longest(
    seen: &[Seen],
    span_s: f64,
    cluster_gpus: usize,
    duration: Option<(usize, &str)>,
    problems: &mut Problems,
) {
    let runtimes = || seen.iter().filter_map(|job| Some((job, job.runtime_s?)));
    let Some((longest, longest_s)) = runtimes().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let others = || runtimes().filter(|(job, _)| job.line != longest.line);
    let gpu_s: f64 = others().map(|(job, runtime_s)| job.gpus * runtime_s).sum();
    let second_s = others().map(|(_, runtime_s)| runtime_s).fold(0.0, f64::max);
    // No makespan of the others is shorter.
    let others_s = span_s.max(gpu_s / cluster_gpus as f64).max(second_s);
    if others().count() >= FEW - 1 && longest_s > DOMINATES * others_s {
        let message = || format!("runs for {longest_s} s, all others together for {others_s:.0} s at least");
        problems.add(Code::DominatingJob, Some(longest.line), duration, message);
    }
}
