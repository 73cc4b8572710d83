use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{MeasuredJobs, MeasuredRuns, Targets};
use crate::error::{Error, Result, input_error};
use crate::model::{check_schema, parse_toml};
use crate::policy::PolicySpec;

/// A published evaluation: which runs, what was measured, and what is made of it.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Built-in names or paths.
    pub traces: Vec<String>,
    pub policies: Vec<PolicySpec>,
    pub measured: MeasuredRuns,
    pub headline: Headline,
    pub check: Check,
    /// What `validate` holds results to.
    pub validate: Option<Targets>,
    measured_jobs: Option<JobsFile>,
}

/// Where an evaluation has the jobs of its measured runs: read by those who need them.
#[derive(Debug, Clone)]
enum JobsFile {
    Builtin,
    File(PathBuf),
}

/// Reductions of the geometric mean makespan of one policy against others.
#[derive(Debug, Clone)]
pub struct Headline {
    pub policy: PolicySpec,
    pub against: Vec<PolicySpec>,
}

/// What results are held to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Largest mean absolute error of makespans over the cells, in percent.
    pub makespan_mae_pct: f64,
    /// The same of mean JCTs.
    pub jct_mean_mae_pct: f64,
    /// Policies by ascending makespan on every trace.
    pub makespan_order: Vec<String>,
    /// Policy whose failed attempts are compared, and how far they may be from the measured ones per trace.
    pub failed_attempts_policy: String,
    pub failed_attempts_difference: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: u32,
    traces: Vec<String>,
    policies: Vec<String>,
    measured: PathBuf,
    measured_jobs: Option<PathBuf>,
    headline: HeadlineEntry,
    check: Check,
    validate: Option<Targets>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadlineEntry {
    policy: String,
    against: Vec<String>,
}

impl Evaluation {
    /// The evaluation of the AEGIS paper.
    pub fn builtin() -> Evaluation {
        let measured = |_: &Path| {
            let bytes = include_bytes!("../../experiments/measured/runs.csv");
            MeasuredRuns::parse("experiments/measured/runs.csv", bytes)
        };
        let mut evaluation =
            Self::parse("experiments/paper.toml", include_str!("../../experiments/paper.toml"), measured)
                .expect("the built-in evaluation parses: a test sees to it");
        evaluation.measured_jobs = Some(JobsFile::Builtin);
        evaluation
    }

    /// The evaluation of a file, or the built-in one.
    pub fn open(path: Option<&Path>) -> Result<Evaluation> {
        path.map_or_else(|| Ok(Self::builtin()), Self::load)
    }

    /// Reads an evaluation file and the measured runs that it names, relative to itself. Traces that are
    /// files are relative to it, too.
    pub fn load(path: &Path) -> Result<Evaluation> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        let mut evaluation =
            Self::parse(&path.display().to_string(), &text, |name| MeasuredRuns::load(&dir.join(name)))?;
        for trace in &mut evaluation.traces {
            let beside = dir.join(&*trace);
            if beside.is_file() {
                *trace = beside.display().to_string();
            }
        }
        if let Some(JobsFile::File(jobs)) = &mut evaluation.measured_jobs {
            *jobs = dir.join(&*jobs);
        }
        Ok(evaluation)
    }

    /// Reads the jobs of the measured runs; `None` where the evaluation names no file of them.
    pub fn measured_jobs(&self) -> Result<Option<MeasuredJobs>> {
        let jobs = match &self.measured_jobs {
            None => return Ok(None),
            Some(JobsFile::Builtin) => {
                let bytes = include_bytes!("../../experiments/measured/jobs.csv");
                MeasuredJobs::parse("experiments/measured/jobs.csv", bytes)
            }
            Some(JobsFile::File(path)) => MeasuredJobs::load(path),
        };
        jobs.map(Some)
    }

    /// Has other measured runs, without the jobs that belong to the ones before.
    pub fn measure(&mut self, measured: MeasuredRuns) {
        self.measured = measured;
        self.measured_jobs = None;
    }

    fn parse(
        source: &str,
        text: &str,
        measured: impl FnOnce(&Path) -> Result<MeasuredRuns>,
    ) -> Result<Evaluation> {
        let file: File = parse_toml(source, text)?;
        check_schema(source, file.schema_version)?;
        let policy = |key: &str, name: &String| {
            name.parse::<PolicySpec>().map_err(|error| input_error!("{source}, key {key}: {error}"))
        };
        let policies = |key: &str, names: &[String]| {
            names.iter().map(|name| policy(key, name)).collect::<Result<Vec<PolicySpec>>>()
        };
        let evaluation = Evaluation {
            policies: policies("policies", &file.policies)?,
            headline: Headline {
                policy: policy("headline.policy", &file.headline.policy)?,
                against: policies("headline.against", &file.headline.against)?,
            },
            measured: measured(&file.measured)?,
            traces: file.traces,
            check: file.check,
            validate: file.validate,
            measured_jobs: file.measured_jobs.map(JobsFile::File),
        };
        if let Some(targets) = &evaluation.validate {
            targets.check_limits(source)?;
        }
        if evaluation.traces.is_empty() || evaluation.policies.is_empty() {
            return Err(input_error!("{source}: traces and policies need at least one entry each"));
        }
        let twice = |names: &[String]| (1..names.len()).find(|&i| names[..i].contains(&names[i]));
        let policies: Vec<String> = evaluation.policies.iter().map(PolicySpec::to_string).collect();
        for (key, names) in [
            ("traces", &evaluation.traces),
            ("policies", &policies),
            ("check.makespan_order", &evaluation.check.makespan_order),
        ] {
            if let Some(index) = twice(names) {
                return Err(input_error!(
                    "{source}, key {key}: {:?} is given twice; remove one",
                    names[index]
                ));
            }
        }
        for (key, limit) in [
            ("makespan_mae_pct", evaluation.check.makespan_mae_pct),
            ("jct_mean_mae_pct", evaluation.check.jct_mean_mae_pct),
        ] {
            if !(0.0..=1000.0).contains(&limit) {
                return Err(input_error!(
                    "{source}, key check.{key}: found {limit}; expected a number from 0 to 1000"
                ));
            }
        }
        let headline = std::iter::once(&evaluation.headline.policy).chain(&evaluation.headline.against);
        for policy in headline {
            if !evaluation.policies.contains(policy) {
                return Err(input_error!(
                    "{source}, key headline: {policy} is not among the policies; add it"
                ));
            }
        }
        for name in evaluation.check.makespan_order.iter().chain([&evaluation.check.failed_attempts_policy]) {
            if !evaluation.policies.iter().any(|policy| policy.to_string() == *name) {
                return Err(input_error!("{source}, key check: {name:?} is not among the policies; add it"));
            }
        }
        Ok(evaluation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_evaluation_has_18_measured_runs() {
        let evaluation = Evaluation::builtin();
        for trace in &evaluation.traces {
            for policy in &evaluation.policies {
                assert!(evaluation.measured.get(trace, policy).is_some(), "{policy} on {trace}");
            }
        }
        assert_eq!(evaluation.traces.len() * evaluation.policies.len(), 18);
    }

    #[test]
    fn mistakes_are_named() {
        let good = include_str!("../../experiments/paper.toml");
        for (from, to, says) in [
            ("\"horus\", ", "\"horsu\", ", "key policies: unknown policy \"horsu\": did you mean horus"),
            (
                "policy = \"aegis\"",
                "policy = \"aegis+lug\"",
                "key headline: aegis+lug is not among the policies",
            ),
            (
                "makespan_order = [\"aegis\"",
                "makespan_order = [\"aegsi\"",
                "key check: \"aegsi\" is not among",
            ),
            ("schema_version = 1", "schema_version = 7", "schema_version 7"),
            ("makespan_mae_pct = 3.0", "makespan_mae_pct = nan", "key check.makespan_mae_pct: found NaN"),
            ("[check]", "[chekc]", "line 14"),
            ("\"saturn\"", "\"philly\"", "key traces: \"philly\" is given twice"),
        ] {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good);
            let measured = |_: &Path| {
                MeasuredRuns::parse("m.csv", include_bytes!("../../experiments/measured/runs.csv"))
            };
            let message = Evaluation::parse("e.toml", &text, measured).unwrap_err().to_string();
            assert!(message.starts_with("e.toml") && message.contains(says), "{message}");
        }
    }
}
