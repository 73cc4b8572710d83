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

/// The fields of a row as text, submission apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells<'a> {
    pub job_id: &'a str,
    pub workload: &'a str,
    pub gpus: u32,
    pub duration_s: &'a str,
    pub gpu_share: &'a str,
    pub user: &'a str,
    pub vc: &'a str,
    pub state: &'a str,
}

/// A row in which the submission is still to be filled in: all of it is known only at the end of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenRow {
    pub text: Vec<u8>,
    /// Where the submission goes.
    pub gap: usize,
}

impl OpenRow {
    /// With its gap filled.
    fn write(&self, submit_s: &str, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.text[..self.gap])?;
        out.write_all(submit_s.as_bytes())?;
        out.write_all(&self.text[self.gap..])
    }
}

impl OptionalColumns {
    fn named(self) -> impl Iterator<Item = &'static str> {
        [(self.gpu_share, "gpu_share"), (self.user, "user"), (self.vc, "vc"), (self.state, "state")]
            .into_iter()
            .filter_map(|(wanted, column)| wanted.then_some(column))
    }
}

/// Makes rows of a trace file.
pub(crate) struct RowRenderer {
    columns: OptionalColumns,
    csv: csv_core::Writer,
}

impl RowRenderer {
    pub fn new(columns: OptionalColumns) -> RowRenderer {
        // Quotes what would read as a comment.
        RowRenderer { columns, csv: csv_core::WriterBuilder::new().comment(Some(b'#')).build() }
    }

    /// Puts a row into `row`.
    pub fn render(&mut self, cells: &Cells<'_>, row: &mut OpenRow) {
        row.text.clear();
        row.text.reserve(96);
        self.field(cells.job_id, &mut row.text);
        row.gap = row.text.len();
        self.field("", &mut row.text);
        self.field(cells.workload, &mut row.text);
        self.field(itoa::Buffer::new().format(cells.gpus), &mut row.text);
        self.field(cells.duration_s, &mut row.text);
        let optional = [
            (self.columns.gpu_share, cells.gpu_share),
            (self.columns.user, cells.user),
            (self.columns.vc, cells.vc),
            (self.columns.state, cells.state),
        ];
        for (_, field) in optional.into_iter().filter(|(wanted, _)| *wanted) {
            self.field(field, &mut row.text);
        }
        // The comma behind the last field is its line end.
        row.text.pop();
        row.text.push(b'\n');
        let _ = self.csv.terminator(&mut [0; 4]);
    }

    /// The field and a comma.
    fn field(&mut self, field: &str, out: &mut Vec<u8>) {
        // What needs no quotes wherever it stands.
        let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        if !field.is_empty() && field.as_bytes().iter().all(is_plain) {
            out.extend_from_slice(field.as_bytes());
            out.push(b',');
            return;
        }
        let mut rest = field.as_bytes();
        let mut buffer = [0; 128];
        loop {
            let (result, read, written) = self.csv.field(rest, &mut buffer);
            out.extend_from_slice(&buffer[..written]);
            rest = &rest[read..];
            if result == csv_core::WriteResult::InputEmpty {
                break;
            }
        }
        let (_, written) = self.csv.delimiter(&mut buffer);
        out.extend_from_slice(&buffer[..written]);
    }
}

/// Writes a trace in the simulator's own format, job by job.
pub struct TraceWriter<W: Write> {
    out: W,
    renderer: RowRenderer,
    row: OpenRow,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the comment lines, each behind `# `, and the header.
    pub fn new(mut out: W, comments: &[String], columns: OptionalColumns) -> io::Result<TraceWriter<W>> {
        for comment in comments {
            writeln!(out, "# {}", comment.replace(['\n', '\r'], " "))?;
        }
        let header: Vec<&str> = ["job_id", "submit_s", "workload", "gpus", "duration_s"]
            .into_iter()
            .chain(columns.named())
            .collect();
        writeln!(out, "{}", header.join(","))?;
        Ok(TraceWriter { out, renderer: RowRenderer::new(columns), row: OpenRow::default() })
    }

    pub fn write(&mut self, job: &TraceJob) -> io::Result<()> {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let cells = Cells {
            job_id: &job.job_id,
            workload: &job.workload,
            gpus: job.gpus,
            duration_s: &number(job.duration_s),
            gpu_share: &number(job.gpu_share),
            user: job.user.as_deref().unwrap_or_default(),
            vc: job.vc.as_deref().unwrap_or_default(),
            state: job.state.as_deref().unwrap_or_default(),
        };
        self.renderer.render(&cells, &mut self.row);
        self.row.write(&job.submit_s.to_string(), &mut self.out)
    }

    pub(crate) fn write_row(&mut self, row: &OpenRow, submit_s: &str) -> io::Result<()> {
        row.write(submit_s, &mut self.out)
    }

    /// Flushes, and gives back what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
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
