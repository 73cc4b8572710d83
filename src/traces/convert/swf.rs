//! The Standard Workload Format, version 2.2, of the Parallel Workloads Archive.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use super::{TraceFormat, count, said};
use crate::cluster::ClusterSpec;
use crate::error::Result;
use crate::workload::{Catalogue, Trace, TraceJob};

/// Jobs as the Standard Workload Format has them, with GPUs in place of processors.
///
/// It has numbers only: what a trace names is numbered, and comments say what the numbers stand for.
#[derive(Debug, Clone)]
pub struct SwfFormat<'a> {
    /// For the run times of jobs without `duration_s`.
    pub catalogue: &'a Catalogue,
    /// For the numbers of nodes and processors; without, processors are those of the largest job.
    pub cluster: Option<&'a ClusterSpec>,
}

impl SwfFormat<'_> {
    fn run_s(&self, job: &TraceJob) -> Option<f64> {
        let workload = || self.catalogue.get(&job.workload).filter(|workload| workload.gpus == job.gpus);
        job.duration_s.or_else(|| workload().map(|workload| workload.solo_runtime_s))
    }
}

/// Field 11, and whether that is all that the trace says.
fn status(state: &str) -> (i8, bool) {
    match state {
        "completed" => (1, true),
        "failed" => (0, true),
        "cancelled" => (5, true),
        "timeout" | "node_fail" => (0, false),
        _ => (-1, state.is_empty()),
    }
}

impl TraceFormat for SwfFormat<'_> {
    fn check(&self, _: &Trace) -> Result<()> {
        Ok(())
    }

    fn losses(&self, trace: &Trace) -> Vec<String> {
        let jobs = &trace.jobs;
        let from_catalogue = jobs.iter().filter(|job| job.duration_s.is_none() && self.run_s(job).is_some());
        let inexact = |of: i8| {
            let state = |job: &&TraceJob| job.state.as_deref().map(status) == Some((of, false));
            jobs.iter().filter(state).count()
        };
        let broken = |job: &TraceJob| {
            let texts = [Some(&job.job_id), Some(&job.workload), job.user.as_ref(), job.vc.as_ref()];
            texts.into_iter().flatten().any(|text| text.contains(char::is_control))
        };
        said([
            (from_catalogue.count(), "no duration_s: the run time is the solo runtime of the workload"),
            (count(trace, |job| self.run_s(job).is_none()), "the run time is not known: -1"),
            (count(trace, |job| job.gpu_share.is_some()), "gpu_share is left out: processors are whole"),
            (inexact(0), "timed out, or their node failed: their status is 0, failed"),
            (inexact(-1), "ended in a state that SWF has no number for: their status is -1, unknown"),
            (
                count(trace, broken),
                "a name has line ends or other control characters: blanks in the comments",
            ),
        ])
    }

    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        let jobs = &trace.jobs;
        let ids = Numbers::of(jobs.iter().map(|job| job.job_id.as_str()));
        let users = Numbers::of(jobs.iter().filter_map(|job| job.user.as_deref()));
        let workloads =
            Numbers::of(jobs.iter().map(|job| job.workload.as_str()).filter(|name| !name.is_empty()));
        let queues = Numbers::of(jobs.iter().filter_map(|job| job.vc.as_deref()));
        self.write_header(trace, out)?;
        for (what, numbers) in
            [("job", &ids), ("user", &users), ("executable", &workloads), ("queue", &queues)]
        {
            for (number, name) in &numbers.named {
                writeln!(out, "; {what} {number}: {}", name.replace(char::is_control, " "))?;
            }
        }
        let number = |value: Option<f64>| value.map_or(Cow::Borrowed("-1"), |value| value.to_string().into());
        for job in jobs {
            let (id, gpus) = (ids.get(&job.job_id), job.gpus);
            let (submit_s, run_s) = (job.submit_s, number(self.run_s(job)));
            let (status, _) = job.state.as_deref().map_or((-1, true), status);
            let user = users.get(job.user.as_deref().unwrap_or_default());
            let executable = workloads.get(&job.workload);
            let queue = queues.get(job.vc.as_deref().unwrap_or_default());
            writeln!(
                out,
                "{id} {submit_s} -1 {run_s} {gpus} -1 -1 {gpus} -1 -1 {status} {user} -1 {executable} {queue} -1 -1 -1"
            )?;
        }
        Ok(())
    }
}

impl SwfFormat<'_> {
    fn write_header(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        let jobs = &trace.jobs;
        writeln!(out, "; Version: 2.2")?;
        writeln!(out, "; Computer: not known")?;
        let source = trace.source.replace(char::is_control, " ");
        writeln!(out, "; Conversion: aegis-sim {}, from {source}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "; MaxJobs: {}", jobs.len())?;
        writeln!(out, "; MaxRecords: {}", jobs.len())?;
        writeln!(out, "; UnixStartTime: 0")?;
        writeln!(out, "; TimeZoneString: UTC")?;
        match self.cluster {
            Some(cluster) => {
                writeln!(out, "; MaxNodes: {}", cluster.servers.len())?;
                writeln!(out, "; MaxProcs: {}", cluster.gpu_count())?;
            }
            None => writeln!(out, "; MaxProcs: {}", jobs.iter().map(|job| job.gpus).max().unwrap_or(0))?,
        }
        writeln!(out, "; Note: processors are GPUs")?;
        writeln!(
            out,
            "; Note: times count from the start of the trace; its date is not known, and UnixStartTime is 0"
        )?;
        if self.cluster.is_none() {
            writeln!(out, "; Note: the machine is not known, and MaxProcs is the GPUs of the largest job")?;
        }
        writeln!(
            out,
            "; Note: \"; user 1: name\" and the like, below, say what numbers stand for; others are as they were"
        )
    }
}

/// Positive whole numbers for names: the names themselves, if all are such numbers, or else from 1 in the order in which
/// they first occur.
struct Numbers<'a> {
    numbers: HashMap<&'a str, u64>,
    /// Names that are not their own numbers.
    named: Vec<(u64, &'a str)>,
}

impl<'a> Numbers<'a> {
    fn of(names: impl Iterator<Item = &'a str>) -> Numbers<'a> {
        let mut numbers = HashMap::new();
        let mut order = Vec::new();
        for name in names {
            if !numbers.contains_key(name) {
                order.push(name);
                numbers.insert(name, order.len() as u64);
            }
        }
        if let Some(own) = order.iter().map(|name| Some((*name, own_number(name)?))).collect() {
            return Numbers { numbers: own, named: Vec::new() };
        }
        let named = (1..).zip(order).filter(|(number, name)| own_number(name) != Some(*number)).collect();
        Numbers { numbers, named }
    }

    /// -1 for a name that there is none of.
    fn get(&self, name: &str) -> Cow<'static, str> {
        self.numbers.get(name).map_or("-1".into(), |number| number.to_string().into())
    }
}

/// The number that a name is, and that is written just like it.
fn own_number(name: &str) -> Option<u64> {
    let number: i64 = name.parse().ok()?;
    (number > 0 && number.to_string() == name).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (Vec<String>, Vec<String>) {
        let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
        let catalogue = Catalogue::builtin();
        let format = SwfFormat { catalogue: &catalogue, cluster: None };
        let mut out = Vec::new();
        format.write(&trace, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (comments, jobs) = text.lines().map(str::to_owned).partition(|line| line.starts_with(';'));
        assert!(format.check(&trace).is_ok());
        (comments, jobs)
    }

    #[test]
    fn fields_stand_where_the_format_has_them() {
        let (comments, jobs) = written(
            "job_id,submit_s,workload,gpus,duration_s,user,vc,state\n7,0.5,,4,0,12,3,completed\n8,1,,1,10.25,4,3,failed\n\
             12,1,,2,,,,cancelled\n",
        );
        assert_eq!(
            jobs,
            [
                "7 0.5 -1 0 4 -1 -1 4 -1 -1 1 12 -1 -1 3 -1 -1 -1",
                "8 1 -1 10.25 1 -1 -1 1 -1 -1 0 4 -1 -1 3 -1 -1 -1",
                "12 1 -1 -1 2 -1 -1 2 -1 -1 5 -1 -1 -1 -1 -1 -1 -1",
            ]
        );
        assert!(jobs.iter().all(|job| job.split(' ').count() == 18));
        for header in
            ["; Version: 2.2", "; MaxJobs: 3", "; MaxProcs: 4", "; UnixStartTime: 0", "; TimeZoneString: UTC"]
        {
            assert!(comments.iter().any(|line| line == header), "{header}");
        }
        assert!(
            !comments.iter().any(|line| line.starts_with("; user")),
            "names that are numbers need no comment"
        );
    }

    #[test]
    fn names_are_numbered_and_comments_say_whose_numbers_they_are() {
        let (comments, jobs) = written(
            "job_id,submit_s,workload,gpus,user,vc,state\n0,0,unet_voc_1gpu,1,2,b: c,timeout\nx,1,unet_voc_1gpu,1,1,a,odd\n\
             3,2,mine,9,01,a,\n",
        );
        let mapped: Vec<&str> = comments
            .iter()
            .filter(|line| line.contains(": "))
            .map(String::as_str)
            .skip_while(|line| !line.starts_with("; job"))
            .collect();
        assert_eq!(
            mapped,
            [
                "; job 1: 0",
                "; job 2: x",
                "; user 1: 2",
                "; user 2: 1",
                "; user 3: 01",
                "; executable 1: unet_voc_1gpu",
                "; executable 2: mine",
                "; queue 1: b: c",
                "; queue 2: a",
            ]
        );
        let runtime_s = Catalogue::builtin().get("unet_voc_1gpu").unwrap().solo_runtime_s;
        assert_eq!(
            jobs,
            [
                format!("1 0 -1 {runtime_s} 1 -1 -1 1 -1 -1 0 1 -1 1 1 -1 -1 -1"),
                format!("2 1 -1 {runtime_s} 1 -1 -1 1 -1 -1 -1 2 -1 1 2 -1 -1 -1"),
                "3 2 -1 -1 9 -1 -1 9 -1 -1 -1 3 -1 2 2 -1 -1 -1".to_owned(),
            ]
        );
    }

    #[test]
    fn what_is_lost_is_said_with_counts() {
        let text = "job_id,submit_s,workload,gpus,duration_s,gpu_share,state,user\na,0,unet_voc_1gpu,1,,,timeout,\n\
                    b,0,,1,5,0.5,odd,\nc,0,,1,,,completed,\"u\nv\"\n";
        let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
        let catalogue = Catalogue::builtin();
        let losses = SwfFormat { catalogue: &catalogue, cluster: None }.losses(&trace);
        assert_eq!(losses.len(), 6);
        assert!(losses.iter().all(|loss| loss.starts_with("1 jobs: ")), "{losses:?}");
    }
}
