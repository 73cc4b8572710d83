use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use super::MAX_SPAN_S;
use super::table::{Row, Table, parse_number};
use crate::error::{Error, Result, check_builtin_or_path, input_error};

/// One line of a trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceJob {
    pub job_id: String,
    pub submit_s: f64,
    /// Empty where the workload is not known, as in imported traces: such a trace can be mapped, not run.
    pub workload: String,
    pub gpus: u32,
    /// Overrides the workload's solo runtime.
    pub duration_s: Option<f64>,
    /// The share of each of its GPUs that the job was given, above 0 and below 1; `None` for whole GPUs.
    pub gpu_share: Option<f64>,
    pub user: Option<String>,
    /// Virtual cluster, queue or tenant.
    pub vc: Option<String>,
    /// How it ended: `completed`, `failed`, `cancelled`, `timeout`, `node_fail`, or as its source has it.
    pub state: Option<String>,
    /// Where the job stands in its file.
    pub line: u64,
}

/// Jobs in the order of their submission.
///
/// The file format is CSV with the columns `job_id,submit_s,workload,gpus` and optionally
/// `duration_s,gpu_share,user,vc,state`; other columns are ignored and lines that start with `#` are comments.
#[derive(Debug, Clone)]
pub struct Trace {
    pub name: String,
    /// The file, for messages.
    pub source: String,
    pub jobs: Vec<TraceJob>,
    /// What was accepted although it is unusual.
    pub notes: Vec<String>,
}

/// The traces that ship with the simulator: name and CSV text.
pub const BUILTIN_TRACES: [(&str, &str); 3] = [
    ("philly", include_str!("../../traces/philly.csv")),
    ("saturn", include_str!("../../traces/saturn.csv")),
    ("venus", include_str!("../../traces/venus.csv")),
];

/// The columns of a trace file.
pub(crate) const REQUIRED: &[&str] = &["job_id", "submit_s", "workload", "gpus"];
pub(crate) const OPTIONAL: &[&str] = &["duration_s", "gpu_share", "user", "vc", "state"];
/// Of `submit_s` and `duration_s`, and of `gpus`.
pub(crate) const TIMES_S: RangeInclusive<f64> = 0.0..=MAX_SPAN_S;
pub(crate) const GANGS: RangeInclusive<u32> = 1..=u16::MAX as u32;

/// A trace file, not parsed.
pub(crate) struct RawTrace {
    pub name: String,
    /// The file, for messages.
    pub source: String,
    pub bytes: Cow<'static, [u8]>,
}

impl RawTrace {
    /// A built-in trace by name, a file by path, or standard input for `-`.
    pub fn open(name: &str) -> Result<RawTrace> {
        if let Some((builtin, text)) = BUILTIN_TRACES.iter().find(|(builtin, _)| *builtin == name) {
            let source = format!("traces/{builtin}.csv");
            return Ok(RawTrace { name: (*builtin).to_owned(), source, bytes: text.as_bytes().into() });
        }
        if name == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|e| Error::read(Path::new("standard input"), e))?;
            let (name, source) = ("stdin".to_owned(), "standard input".to_owned());
            return Ok(RawTrace { name, source, bytes: bytes.into() });
        }
        let path = Path::new(name);
        check_builtin_or_path("trace", name, &BUILTIN_TRACES, "CSV")?;
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        let stem = path.file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
        Ok(RawTrace { name: stem.into_owned(), source: name.to_owned(), bytes: bytes.into() })
    }
}

impl Trace {
    /// A built-in trace by name, a file by path, or standard input for `-`.
    pub fn open(name: &str) -> Result<Trace> {
        let raw = RawTrace::open(name)?;
        Self::parse(&raw.name, &raw.source, &raw.bytes)
    }

    /// Parses a trace. Jobs out of order are sorted by submission (stably), with a note.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and column for anything that cannot be used.
    pub fn parse(name: &str, source: &str, bytes: &[u8]) -> Result<Trace> {
        let table = Table::parse(source, bytes, REQUIRED)?;
        let mut jobs = Vec::with_capacity(table.len());
        let mut lines: HashMap<&str, u64> = HashMap::with_capacity(table.len());
        for row in table.rows() {
            let job_id = row.required_text("job_id")?;
            if let Some(before) = lines.insert(job_id, row.line()) {
                return Err(input_error!(
                    "{}: {job_id:?} stands on line {before} already; give each job its own id",
                    row.place("job_id")
                ));
            }
            jobs.push(job(row, job_id)?);
        }
        if jobs.is_empty() {
            return Err(input_error!("{source} has a header but no job; add at least one line"));
        }
        let mut notes = table.notes().to_vec();
        if !jobs.is_sorted_by(|a, b| a.submit_s <= b.submit_s) {
            jobs.sort_by(|a, b| a.submit_s.total_cmp(&b.submit_s));
            notes.push(format!("{source}: jobs are not in the order of submit_s; sorted them"));
        }
        Ok(Trace { name: name.to_owned(), source: source.to_owned(), jobs, notes })
    }

    /// The same jobs, arriving `scale` times as fast: gaps between submissions divided by it.
    pub fn with_arrival_rate(mut self, scale: f64) -> Trace {
        let first_s = self.jobs.first().map_or(0.0, |job| job.submit_s);
        for job in &mut self.jobs {
            job.submit_s = first_s + (job.submit_s - first_s) / scale;
        }
        self
    }

    /// The first `count` jobs. Where there are fewer, the trace starts over, a mean gap after its last submission, as
    /// often as needed; ids of the second round end in `-2`, and so on.
    pub fn with_job_count(mut self, count: usize) -> Trace {
        let own = std::mem::take(&mut self.jobs);
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return self };
        let span_s = last.submit_s - first.submit_s;
        let round_s = span_s + span_s / (own.len() - 1).max(1) as f64;
        self.jobs = (0..count)
            .map(|i| {
                let (round, job) = (i / own.len(), &own[i % own.len()]);
                let job_id = match round {
                    0 => job.job_id.clone(),
                    _ => format!("{}-{}", job.job_id, round + 1),
                };
                TraceJob { job_id, submit_s: job.submit_s + round as f64 * round_s, ..job.clone() }
            })
            .collect();
        self
    }

    /// Without its first `count` jobs; the others keep their submit times.
    pub fn without_first_jobs(mut self, count: usize) -> Trace {
        self.jobs.drain(..count.min(self.jobs.len()));
        self
    }

    /// Without the jobs that need more GPUs at once.
    pub fn with_gangs_up_to(mut self, gpus: usize) -> Trace {
        self.jobs.retain(|job| job.gpus as usize <= gpus);
        self
    }
}

fn job(row: Row<'_>, job_id: &str) -> Result<TraceJob> {
    Ok(TraceJob {
        job_id: job_id.to_owned(),
        submit_s: row.required_number("submit_s", TIMES_S)?,
        workload: row.text("workload").unwrap_or_default().to_owned(),
        gpus: row.required_integer("gpus", GANGS)?,
        duration_s: row.number("duration_s", TIMES_S)?,
        gpu_share: row.parsed("gpu_share", parse_share)?.flatten(),
        user: row.text("user").map(str::to_owned),
        vc: row.text("vc").map(str::to_owned),
        state: row.text("state").map(str::to_owned),
        line: row.line(),
    })
}

/// `None` for whole GPUs.
pub(crate) fn parse_share(text: &str) -> Result<Option<f64>, String> {
    match parse_number(text, &(0.0..=1.0))? {
        0.0 => Err("found 0; expected the share of each GPU that the job was given, above 0 to 1".to_owned()),
        share => Ok((share < 1.0).then_some(share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let text = "job_id,submit_s,workload,gpus\na,10,w,1\nb,20,w,2\nc,40,w,1\n";
        Trace::parse("t", "t.csv", text.as_bytes()).unwrap()
    }

    fn submissions(trace: &Trace) -> Vec<(&str, f64)> {
        trace.jobs.iter().map(|job| (job.job_id.as_str(), job.submit_s)).collect()
    }

    #[test]
    fn a_rate_divides_the_gaps() {
        assert_eq!(submissions(&trace().with_arrival_rate(2.0)), [("a", 10.0), ("b", 15.0), ("c", 25.0)]);
        assert_eq!(submissions(&trace().with_arrival_rate(0.5)), [("a", 10.0), ("b", 30.0), ("c", 70.0)]);
        assert_eq!(trace().with_arrival_rate(1.0).jobs, trace().jobs);
    }

    #[test]
    fn a_trace_is_cut_or_starts_over() {
        assert_eq!(submissions(&trace().with_job_count(2)), [("a", 10.0), ("b", 20.0)]);
        // 30 s long and 15 s between jobs on average.
        let longer = trace().with_job_count(7);
        assert_eq!(
            submissions(&longer)[2..],
            [("c", 40.0), ("a-2", 55.0), ("b-2", 65.0), ("c-2", 85.0), ("a-3", 100.0)]
        );
        assert_eq!(trace().with_job_count(3).jobs, trace().jobs);
        let one = Trace { jobs: trace().jobs[..1].to_vec(), ..trace() };
        assert_eq!(submissions(&one.with_job_count(2)), [("a", 10.0), ("a-2", 10.0)]);
    }

    #[test]
    fn the_rest_of_a_trace_keeps_its_submit_times() {
        assert_eq!(submissions(&trace().without_first_jobs(1)), [("b", 20.0), ("c", 40.0)]);
        assert_eq!(trace().without_first_jobs(9).jobs, []);
    }

    #[test]
    fn large_gangs_are_left_out() {
        assert_eq!(submissions(&trace().with_gangs_up_to(1)), [("a", 10.0), ("c", 40.0)]);
    }
}
