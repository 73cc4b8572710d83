use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{MeasuredRun, MeasuredRuns};
use crate::error::{Error, Result, did_you_mean, input_error};
use crate::policy::PolicySpec;
use crate::sim::World;
use crate::workload::{Job, MAX_SPAN_S, Table};

/// A job of a measured run.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredJob {
    pub job_id: String,
    /// From submission to completion; `None` if it did not complete.
    pub jct_s: Option<f64>,
    /// Where it stands in its file.
    pub line: u64,
}

/// The jobs of measured runs: CSV with the columns `trace,policy,job_id,jct_s`, a blank `jct_s` for a job that
/// did not complete; other columns are ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredJobs {
    source: String,
    /// By run, in the order of the file.
    runs: Vec<((String, PolicySpec), Vec<MeasuredJob>)>,
}

const REQUIRED: &[&str] = &["trace", "policy", "job_id", "jct_s"];

impl MeasuredJobs {
    pub fn load(path: &Path) -> Result<MeasuredJobs> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// # Errors
    /// [`Error::Input`] with file, line and column for anything that cannot be used.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<MeasuredJobs> {
        let table = Table::parse(source, bytes, REQUIRED)?;
        let mut runs: Vec<((String, PolicySpec), Vec<MeasuredJob>)> = Vec::new();
        for row in table.rows() {
            let policy = row.required_text("policy")?;
            let policy: PolicySpec =
                policy.parse().map_err(|error| input_error!("{}: {error}", row.place("policy")))?;
            let run = (row.required_text("trace")?.to_owned(), policy);
            let job = MeasuredJob {
                job_id: row.required_text("job_id")?.to_owned(),
                jct_s: row.number("jct_s", 0.0..=MAX_SPAN_S)?,
                line: row.line(),
            };
            match runs.iter_mut().find(|(known, _)| *known == run) {
                Some((_, jobs)) => {
                    if let Some(twin) = jobs.iter().find(|other| other.job_id == job.job_id) {
                        return Err(input_error!(
                            "{}: job {:?} of {} on {} stands on line {} already; keep one",
                            row.place("job_id"),
                            job.job_id,
                            run.1,
                            run.0,
                            twin.line
                        ));
                    }
                    jobs.push(job);
                }
                None => runs.push((run, vec![job])),
            }
        }
        Ok(MeasuredJobs { source: source.to_owned(), runs })
    }

    /// Refuses jobs of runs that were not measured, which nothing would be compared with.
    pub fn check_runs(&self, measured: &MeasuredRuns) -> Result<()> {
        for ((trace, policy), jobs) in &self.runs {
            if measured.get(trace, policy).is_none() {
                return Err(input_error!(
                    "{}, line {}: {} has no run of {policy} on {trace}; add it there, or remove its jobs here",
                    self.source,
                    jobs[0].line,
                    measured.source()
                ));
            }
        }
        Ok(())
    }

    /// The measured JCTs of a run, `None` where a job did not complete, in the order of the world's jobs; `None`
    /// for a run without any job in the file.
    ///
    /// # Errors
    /// Jobs that the trace lacks, or that it has and the file lacks.
    pub fn jcts_s(&self, run: &MeasuredRun, world: &World) -> Result<Option<Vec<Option<f64>>>> {
        let of_run =
            self.runs.iter().find(|((trace, policy), _)| *trace == run.trace && *policy == run.policy);
        let Some((_, jobs)) = of_run else { return Ok(None) };
        let in_trace: HashSet<&str> = world.jobs.iter().map(|job| job.id.as_str()).collect();
        if let Some(unknown) = jobs.iter().find(|job| !in_trace.contains(job.job_id.as_str())) {
            return Err(input_error!(
                "{}, line {}, column job_id: trace {} has no job {:?}; {}give the ids of the trace",
                self.source,
                unknown.line,
                run.trace,
                unknown.job_id,
                did_you_mean(&unknown.job_id, in_trace)
            ));
        }
        let by_id: HashMap<&str, Option<f64>> =
            jobs.iter().map(|job| (job.job_id.as_str(), job.jct_s)).collect();
        let measured = |job: &Job| {
            by_id.get(job.id.as_str()).copied().ok_or_else(|| {
                input_error!(
                    "{}: {} on {} lacks job {:?} of the trace; give all of its jobs (jct_s blank for one that did \
                     not complete), or none",
                    self.source,
                    run.policy,
                    run.trace,
                    job.id
                )
            })
        };
        let jcts_s = world.jobs.iter().map(measured).collect::<Result<_>>()?;
        Ok(Some(jcts_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        let head = "trace,policy,job_id,jct_s\n";
        for (lines, says) in [
            ("a,agis,1,2", "line 2, column policy: unknown policy \"agis\": did you mean aegis"),
            ("a,aegis,1,-2", "line 2, column jct_s: found -2"),
            (
                "a,aegis,1,2\na,lucid,1,2\na,aegis,1,2",
                "line 4, column job_id: job \"1\" of aegis on a stands on line 2",
            ),
        ] {
            let text = format!("{head}{lines}\n");
            let message = MeasuredJobs::parse("j.csv", text.as_bytes()).unwrap_err().to_string();
            assert!(message.starts_with("j.csv, ") && message.contains(says), "{message}");
        }
    }
}
