//! Records of a file, one by one, read on a thread of their own.

use std::io::{BufRead, BufReader};
use std::sync::mpsc::{channel, sync_channel};

use csv::ByteRecord;

use super::source::{Gauge, TextReader, explain};
use crate::error::{Error, Result, input_error};

/// Reads records in the order of the file.
pub(super) trait Rows {
    type Row: Default + Send;

    /// Puts the next record into `row`, and gives back the line on which it starts; `None` at the end.
    fn next(&mut self, row: &mut Self::Row) -> Result<Option<u64>>;

    /// Lines of what was read so far.
    fn lines(&self) -> u64;

    fn bytes(row: &Self::Row) -> usize;
}

/// A batch has this many records, or fewer large ones.
const BATCH_ROWS: usize = 512;
const BATCH_BYTES: usize = 1 << 20;

/// Calls `take` with the line of each record and the record, and `tell` now and then, while another thread reads on;
/// gives back the file's lines.
pub(super) fn each<R: Rows>(
    open: impl FnOnce() -> Result<R> + Send,
    tell: impl Fn(),
    mut take: impl FnMut(u64, &R::Row) -> Result<()>,
) -> Result<u64> {
    std::thread::scope(|scope| {
        let (full, batches) = sync_channel::<(Vec<(u64, R::Row)>, usize)>(4);
        let (used, empty) = channel::<Vec<(u64, R::Row)>>();
        let reader = scope.spawn(move || -> Result<u64> {
            let mut rows = open()?;
            loop {
                let mut batch = empty.try_recv().unwrap_or_default();
                let (mut count, mut bytes) = (0, 0);
                while count < BATCH_ROWS && bytes < BATCH_BYTES {
                    if count == batch.len() {
                        batch.push(Default::default());
                    }
                    let (line, row) = &mut batch[count];
                    match rows.next(row)? {
                        Some(start) => *line = start,
                        None => break,
                    }
                    bytes += R::bytes(row);
                    count += 1;
                }
                // Nobody takes them any more: `take` has failed.
                if count == 0 || full.send((batch, count)).is_err() {
                    return Ok(rows.lines());
                }
            }
        });
        for (batch, count) in batches {
            for (line, row) in &batch[..count] {
                take(*line, row)?;
            }
            tell();
            // Large records are not kept for their room.
            if batch[..count].iter().map(|(_, row)| R::bytes(row)).sum::<usize>() <= 2 * BATCH_BYTES {
                let _ = used.send(batch);
            }
        }
        match reader.join() {
            Ok(lines) => lines,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Records of a table, the header first.
pub(super) struct CsvRows {
    name: String,
    reader: csv::Reader<TextReader>,
    gauge: Gauge,
    /// The last record: its line, and whether it goes over several.
    start: u64,
    spans_lines: bool,
}

impl CsvRows {
    pub fn new(name: &str, source: Box<dyn BufRead>, delimiter: u8, comment: Option<u8>) -> CsvRows {
        let gauge = Gauge::default();
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(comment)
            .buffer_capacity(1 << 16)
            .from_reader(TextReader::new(source, gauge.clone()));
        CsvRows { name: name.to_owned(), reader, gauge, start: 1, spans_lines: false }
    }

    fn explain(&self, line: u64, error: csv::Error) -> Error {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => explain(&self.name, line, error),
            other => input_error!("{}: not readable as CSV: {other:?}", self.name),
        }
    }
}

impl Rows for CsvRows {
    type Row = ByteRecord;

    fn next(&mut self, row: &mut ByteRecord) -> Result<Option<u64>> {
        loop {
            let before = self.reader.position().line();
            let read = self.reader.read_byte_record(row);
            self.gauge.since_record.set(0);
            if !read.map_err(|error| self.explain(before, error))? {
                if self.gauge.quotes.get() % 2 == 1 && self.spans_lines {
                    return Err(input_error!(
                        "{}, line {}: a double quote opens here and never closes; close it, or write \"\" for a quote \
                         that belongs to the text",
                        self.name,
                        self.start
                    ));
                }
                return Ok(None);
            }
            let end = self.reader.position().line();
            // Comments and blank lines before the record count, and so do line ends in its fields.
            let inside = match end - before {
                // The last record ends with the file, if a quote is open.
                1 if !row.as_slice().ends_with(b"\n") => 0,
                0 => 0,
                _ => memchr::memchr_iter(b'\n', row.as_slice()).count() as u64,
            };
            self.spans_lines = inside > 0;
            self.start = (end - 1).saturating_sub(inside).max(before);
            let is_blank = row.len() == 1 && row[0].trim_ascii().is_empty();
            if !is_blank {
                return Ok(Some(self.start));
            }
        }
    }

    fn lines(&self) -> u64 {
        self.reader.position().line() - 1
    }

    fn bytes(row: &ByteRecord) -> usize {
        row.as_slice().len()
    }
}

/// Lines that are not blank.
pub(super) struct LineRows {
    name: String,
    reader: BufReader<TextReader>,
    gauge: Gauge,
    line: u64,
}

impl LineRows {
    pub fn new(name: &str, source: Box<dyn BufRead>) -> LineRows {
        let gauge = Gauge::default();
        let reader = BufReader::with_capacity(1 << 16, TextReader::new(source, gauge.clone()));
        LineRows { name: name.to_owned(), reader, gauge, line: 0 }
    }
}

impl Rows for LineRows {
    type Row = Vec<u8>;

    fn next(&mut self, row: &mut Vec<u8>) -> Result<Option<u64>> {
        loop {
            row.clear();
            let read =
                self.reader.read_until(b'\n', row).map_err(|e| explain(&self.name, self.line + 1, e))?;
            self.gauge.since_record.set(0);
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !row.trim_ascii().is_empty() {
                return Ok(Some(self.line));
            }
        }
    }

    fn lines(&self) -> u64 {
        self.line
    }

    fn bytes(row: &Vec<u8>) -> usize {
        row.len()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Records with their lines, and the lines of all.
    type Read<Row> = (Vec<(u64, Row)>, u64);

    pub fn all<R: Rows<Row: Clone>>(open: impl FnOnce() -> R + Send) -> Result<Read<R::Row>> {
        let mut rows = Vec::new();
        let lines = each(
            || Ok(open()),
            || {},
            |line, row| {
                rows.push((line, row.clone()));
                Ok(())
            },
        )?;
        Ok((rows, lines))
    }

    fn csv(text: &'static str) -> Result<(Vec<u64>, u64)> {
        let (rows, lines) = all(|| CsvRows::new("f.csv", Box::new(text.as_bytes()), b',', Some(b'#')))?;
        Ok((rows.into_iter().map(|(line, _)| line).collect(), lines))
    }

    #[test]
    fn rows_of_tables_have_the_lines_of_an_editor() {
        assert_eq!(
            csv("# c\n\na,b\r\n1,2\n  \n\n# d\n3,x\n\"4\n5\",y\n6,\"z\n\n\"").unwrap(),
            (vec![3, 4, 8, 9, 11], 13)
        );
        assert_eq!(csv("").unwrap(), (vec![], 0));
    }

    #[test]
    fn a_quote_that_never_closes_is_found() {
        let message = csv("a,b\n1,2\n3,\"x\n4,5\n6,7\n").unwrap_err().to_string();
        assert!(message.starts_with("f.csv, line 3: a double quote opens here"), "{message}");
        let long: &'static str =
            Box::leak(format!("a,b\n1,\"x\n{}", "1,2\n".repeat(2 << 20)).into_boxed_str());
        let message = csv(long).unwrap_err().to_string();
        assert!(message.starts_with("f.csv, line 2: a record that goes on"), "{message}");
    }
}
