use std::io::{self, Write};

use super::{TraceFormat, count, said};
use crate::error::{Result, input_error};
use crate::workload::{Catalogue, Trace};

/// Where the artifact keeps the specifications of its workloads.
pub const SPECS: &str = "evaluation/workloads/training/specs/yaml";

/// The execution trace of the AEGIS artifact: a submission and the specification of a workload per line.
#[derive(Debug, Clone)]
pub struct AegisFormat<'a> {
    /// What the specifications say of GPUs, as the catalogue has it from them.
    pub catalogue: &'a Catalogue,
    /// The directory of the specifications.
    pub specs: String,
}

impl TraceFormat for AegisFormat<'_> {
    fn check(&self, trace: &Trace) -> Result<()> {
        let unusable = |workload: &str| workload.is_empty() || workload.contains(['/', '\\', '\n', '\r']);
        match trace.jobs.iter().find(|job| unusable(&job.workload)) {
            None => Ok(()),
            Some(job) if job.workload.is_empty() => Err(input_error!(
                "{}, line {}, column workload: blank, and {} jobs are like that; the AEGIS format is made of workloads, so give \
                 each job one with `aegis-sim trace map`, or take --to swf",
                trace.source,
                job.line,
                count(trace, |job| job.workload.is_empty())
            )),
            Some(job) => Err(input_error!(
                "{}, line {}, column workload: found {:?}; the AEGIS format makes a file name of it, so give it a name \
                 without slashes and line ends",
                trace.source,
                job.line,
                job.workload
            )),
        }
    }

    fn losses(&self, trace: &Trace) -> Vec<String> {
        let numbered = trace.jobs.iter().enumerate().filter(|(i, job)| job.job_id != i.to_string()).count();
        let gpus = |workload: &str| self.catalogue.get(workload).map(|workload| workload.gpus);
        said([
            (numbered, "the job_id is left out, and is not the job's place in the trace, from 0"),
            (
                count(trace, |job| job.duration_s.is_some()),
                "duration_s is left out: they run as their workload does",
            ),
            (
                count(trace, |job| gpus(&job.workload) != Some(job.gpus)),
                "gpus is left out, and is not that of the workload in the catalogue",
            ),
            (count(trace, |job| job.gpu_share.is_some()), "gpu_share is left out"),
            (count(trace, |job| job.user.is_some()), "the user is left out"),
            (count(trace, |job| job.vc.is_some()), "the vc is left out"),
            (count(trace, |job| job.state.is_some()), "the state is left out"),
        ])
    }

    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(["submit_time_s", "task_path"])?;
        let dir = self.specs.trim_end_matches('/');
        let slash = if dir.is_empty() { "" } else { "/" };
        for job in &trace.jobs {
            let path = format!("{dir}{slash}{}.yaml", job.workload);
            csv.write_record([one_decimal_at_least(job.submit_s), path])?;
        }
        csv.flush()
    }
}

/// As the artifact writes times, but with all digits that it takes to read the same number again.
fn one_decimal_at_least(value: f64) -> String {
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(catalogue: &Catalogue) -> AegisFormat<'_> {
        AegisFormat { catalogue, specs: SPECS.to_owned() }
    }

    #[test]
    fn lines_are_those_of_the_artifact_and_losses_are_said() {
        let text =
            "job_id,submit_s,workload,gpus,duration_s,user\n0,0,unet_voc_1gpu,1,,\nx,1.000721,mine,2,9,u\n";
        let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
        let catalogue = Catalogue::builtin();
        let mut out = Vec::new();
        format(&catalogue).write(&trace, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "submit_time_s,task_path\n0.0,evaluation/workloads/training/specs/yaml/unet_voc_1gpu.yaml\n\
             1.000721,evaluation/workloads/training/specs/yaml/mine.yaml\n"
        );
        let losses = format(&catalogue).losses(&trace);
        assert_eq!(losses.len(), 4);
        assert!(losses.iter().all(|loss| loss.starts_with("1 jobs: ")), "{losses:?}");
        assert!(format(&catalogue).losses(&Trace::open("philly").unwrap()).is_empty());
    }

    #[test]
    fn jobs_without_workloads_are_refused() {
        let catalogue = Catalogue::builtin();
        for (workload, says) in [("", "line 2, column workload: blank, and 1 jobs"), ("a/b", "found \"a/b\"")]
        {
            let text = format!("job_id,submit_s,workload,gpus\n0,0,{workload},1\n");
            let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
            let message = format(&catalogue).check(&trace).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
