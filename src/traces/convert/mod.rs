//! Traces in the formats of others. What a format cannot hold is said, with counts.

mod aegis;
mod swf;

use std::io::{self, Write};

use crate::error::Result;
use crate::workload::{OptionalColumns, Trace, TraceJob, TraceWriter};

pub use aegis::{AegisFormat, SPECS};
pub use swf::SwfFormat;

/// A format to write.
pub trait TraceFormat {
    /// Refuses a trace that makes no sense in this format, before anything is written.
    fn check(&self, trace: &Trace) -> Result<()>;

    /// What of a trace the format does not hold, or not as the trace has it, for people.
    fn losses(&self, trace: &Trace) -> Vec<String>;

    /// The jobs in the order of the trace.
    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()>;
}

/// The simulator's own CSV: jobs in the order of submission, columns in the order of the documentation.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeFormat {
    /// Those that some job has a value for, if none are given.
    pub columns: Option<OptionalColumns>,
}

impl TraceFormat for NativeFormat {
    fn check(&self, _: &Trace) -> Result<()> {
        Ok(())
    }

    fn losses(&self, trace: &Trace) -> Vec<String> {
        let Some(kept) = self.columns else { return Vec::new() };
        let lost = [
            (kept.gpu_share, "gpu_share", count(trace, |job| job.gpu_share.is_some())),
            (kept.user, "user", count(trace, |job| job.user.is_some())),
            (kept.vc, "vc", count(trace, |job| job.vc.is_some())),
            (kept.state, "state", count(trace, |job| job.state.is_some())),
        ];
        let lost = lost.into_iter().filter(|(kept, _, jobs)| !kept && *jobs > 0);
        lost.map(|(_, column, jobs)| format!("left out {column}, which {jobs} jobs have")).collect()
    }

    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns.unwrap_or_else(|| OptionalColumns::of(&trace.jobs));
        let mut writer = TraceWriter::new(out, &[], columns)?;
        trace.jobs.iter().try_for_each(|job| writer.write(job))?;
        writer.finish().map(drop)
    }
}

fn count(trace: &Trace, which: impl Fn(&TraceJob) -> bool) -> usize {
    trace.jobs.iter().filter(|job| which(job)).count()
}

/// Losses by their number of jobs: those of none are none.
fn said<const N: usize>(losses: [(usize, &str); N]) -> Vec<String> {
    let losses = losses.into_iter().filter(|(jobs, _)| *jobs > 0);
    losses.map(|(jobs, what)| format!("{jobs} jobs: {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_format_is_sorted_and_whole_unless_columns_are_chosen() {
        let text =
            "# c\nstate,gpus,submit_s,workload,job_id,duration_s,x\nfailed,2,9.50,w,b,1e2,1\n,1,0,,a,,2\n";
        let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
        let written = |format: NativeFormat| {
            let mut out = Vec::new();
            format.write(&trace, &mut out).unwrap();
            (String::from_utf8(out).unwrap(), format.losses(&trace))
        };
        let (text, losses) = written(NativeFormat::default());
        assert_eq!(text, "job_id,submit_s,workload,gpus,duration_s,state\na,0,,1,,\nb,9.5,w,2,100,failed\n");
        assert!(losses.is_empty());
        let chosen = OptionalColumns { user: true, ..OptionalColumns::default() };
        let (text, losses) = written(NativeFormat { columns: Some(chosen) });
        assert_eq!(text, "job_id,submit_s,workload,gpus,duration_s,user\na,0,,1,,\nb,9.5,w,2,100,\n");
        assert_eq!(losses, ["left out state, which 1 jobs have"]);
    }
}
