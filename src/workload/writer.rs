use std::io::{self, Write};

use super::TraceJob;

/// Columns of a trace file that are written only if they are of use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OptionalColumns {
    pub gpu_share: bool,
    pub user: bool,
    pub vc: bool,
    pub state: bool,
}

impl OptionalColumns {
    /// Those that some job has a value for.
    pub fn of<'a>(jobs: impl IntoIterator<Item = &'a TraceJob>) -> OptionalColumns {
        jobs.into_iter().fold(OptionalColumns::default(), |columns, job| OptionalColumns {
            gpu_share: columns.gpu_share || job.gpu_share.is_some(),
            user: columns.user || job.user.is_some(),
            vc: columns.vc || job.vc.is_some(),
            state: columns.state || job.state.is_some(),
        })
    }
}

/// Writes a trace in the simulator's own format, job by job.
pub struct TraceWriter<W: Write> {
    csv: csv::Writer<W>,
    columns: OptionalColumns,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the comment lines, each behind `# `, and the header.
    pub fn new(mut out: W, comments: &[String], columns: OptionalColumns) -> io::Result<TraceWriter<W>> {
        for comment in comments {
            writeln!(out, "# {}", comment.replace(['\n', '\r'], " "))?;
        }
        // Quotes what would read as a comment.
        let mut csv = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(out);
        for column in ["job_id", "submit_s", "workload", "gpus", "duration_s"] {
            csv.write_field(column)?;
        }
        let optional = [
            (columns.gpu_share, "gpu_share"),
            (columns.user, "user"),
            (columns.vc, "vc"),
            (columns.state, "state"),
        ];
        for (_, column) in optional.into_iter().filter(|(wanted, _)| *wanted) {
            csv.write_field(column)?;
        }
        csv.write_record(None::<&[u8]>)?;
        Ok(TraceWriter { csv, columns })
    }

    pub fn write(&mut self, job: &TraceJob) -> io::Result<()> {
        let csv = &mut self.csv;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        csv.write_field(&job.job_id)?;
        csv.write_field(job.submit_s.to_string())?;
        csv.write_field(&job.workload)?;
        csv.write_field(job.gpus.to_string())?;
        csv.write_field(number(job.duration_s))?;
        if self.columns.gpu_share {
            csv.write_field(number(job.gpu_share))?;
        }
        let texts =
            [(self.columns.user, &job.user), (self.columns.vc, &job.vc), (self.columns.state, &job.state)];
        for (_, text) in texts.into_iter().filter(|(wanted, _)| *wanted) {
            csv.write_field(text.as_deref().unwrap_or_default())?;
        }
        csv.write_record(None::<&[u8]>)?;
        Ok(())
    }

    /// Gives back what was written to.
    pub fn finish(self) -> io::Result<W> {
        self.csv.into_inner().map_err(|error| error.into_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Trace;

    #[test]
    fn what_is_written_is_read_again() {
        let first = TraceJob {
            job_id: "#1, \"a\"".into(),
            submit_s: 0.5,
            workload: "w".into(),
            gpus: 2,
            duration_s: Some(1e9 + 0.125),
            gpu_share: Some(0.25),
            user: Some("u\nv".into()),
            vc: Some("vc".into()),
            state: Some("completed".into()),
            line: 3,
        };
        let second = TraceJob { job_id: "2".into(), submit_s: 1e-6, gpus: 1, line: 5, ..TraceJob::default() };
        for columns in [OptionalColumns::of([&first, &second]), OptionalColumns::default()] {
            let mut writer = TraceWriter::new(Vec::new(), &["from\nhere".to_owned()], columns).unwrap();
            writer.write(&second).unwrap();
            writer.write(&first).unwrap();
            let bytes = writer.finish().unwrap();
            let trace = Trace::parse("t", "t.csv", &bytes).unwrap();
            let mut expected =
                vec![TraceJob { line: 3, ..second.clone() }, TraceJob { line: 4, ..first.clone() }];
            if columns == OptionalColumns::default() {
                for job in &mut expected {
                    (job.gpu_share, job.user, job.vc, job.state) = (None, None, None, None);
                }
            }
            assert_eq!(trace.jobs, expected);
        }
    }
}
