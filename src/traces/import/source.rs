//! Files of any size as a stream of text: decompressed, with LF line ends, and no line without an end.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result, input_error};

/// Longest line of a table: a file without line ends must not fill the memory.
pub(super) const MAX_LINE_BYTES: u64 = 1 << 20;
/// Longest record of a table or a JSON log. What opens a quote and never closes it would go on to the file's end.
pub(super) const MAX_RECORD_BYTES: u64 = 4 << 20;

const BUFFER_BYTES: usize = 1 << 18;

/// A log.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file by its path, or standard input for `-`.
    File(String),
    /// What a file would hold, and what messages call it.
    Bytes { name: String, bytes: Arc<[u8]> },
}

impl Source {
    /// What messages call it.
    pub fn name(&self) -> &str {
        match self {
            Source::File(name) | Source::Bytes { name, .. } => name,
        }
    }
}

/// Opens a log. What is gzip by its first bytes is decompressed. `bytes_read` counts what is read of the log itself.
pub(super) fn open(source: &Source, bytes_read: Arc<AtomicU64>) -> Result<Box<dyn BufRead>> {
    let name = source.name();
    let raw: Box<dyn Read> = match source {
        Source::File(name) if name == "-" => Box::new(io::stdin().lock()),
        Source::File(path) => Box::new(File::open(path).map_err(|e| Error::read(Path::new(path), e))?),
        Source::Bytes { bytes, .. } => Box::new(io::Cursor::new(bytes.clone())),
    };
    let mut raw = BufReader::with_capacity(BUFFER_BYTES, Counting { inner: raw, bytes_read });
    let head = raw.fill_buf().map_err(|e| Error::read(Path::new(name), e))?;
    if head.starts_with(b"\x1f\x8b") {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(raw))));
    }
    let archives: [(&[u8], &str); 4] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"\xfd7zXZ", "compressed with xz"),
        (b"BZh", "compressed with bzip2"),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    ];
    if let Some((_, what)) = archives.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(input_error!(
            "{name} is {what}; give it unpacked, or on standard input with - as its name (gzip is read as it is)"
        ));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(input_error!("{name} is in UTF-16; save it as UTF-8"));
    }
    Ok(Box::new(raw))
}

struct Counting<R> {
    inner: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// What a reader of records and the [`TextReader`] below it tell each other.
#[derive(Clone, Default)]
pub(super) struct Gauge {
    /// Bytes handed out since a record ended: the reader of records sets it back.
    pub since_record: Rc<Cell<u64>>,
    /// Double quotes in all that was handed out.
    pub quotes: Rc<Cell<u64>>,
}

/// Takes the byte-order mark away, makes CRLF and CR line ends LF, and adds one at the end where there is none.
pub(super) struct TextReader {
    inner: Box<dyn BufRead>,
    gauge: Gauge,
    started: bool,
    /// A CR was the last byte: its line has ended, and an LF that follows belongs to it.
    after_cr: bool,
    last: u8,
    line: u64,
    line_bytes: u64,
}

impl TextReader {
    pub fn new(inner: Box<dyn BufRead>, gauge: Gauge) -> TextReader {
        TextReader { inner, gauge, started: false, after_cr: false, last: b'\n', line: 1, line_bytes: 0 }
    }

    fn skip_mark(&mut self) -> io::Result<()> {
        self.started = true;
        if self.inner.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            self.inner.consume(3);
        }
        Ok(())
    }

    /// Looks at what is handed out.
    fn watch(&mut self, text: &[u8]) -> io::Result<()> {
        let Some(&last) = text.last() else { return Ok(()) };
        self.last = last;
        self.gauge.quotes.set(self.gauge.quotes.get() + memchr::memchr_iter(b'"', text).count() as u64);
        self.gauge.since_record.set(self.gauge.since_record.get() + text.len() as u64);
        if self.gauge.since_record.get() > MAX_RECORD_BYTES {
            return Err(io::Error::other(Oversized::Record));
        }
        match memchr::memrchr(b'\n', text) {
            Some(end) => {
                self.line += memchr::memchr_iter(b'\n', text).count() as u64;
                self.line_bytes = (text.len() - 1 - end) as u64;
            }
            None => self.line_bytes += text.len() as u64,
        }
        if self.line_bytes > MAX_LINE_BYTES {
            return Err(io::Error::other(Oversized::Line(self.line)));
        }
        Ok(())
    }
}

impl Read for TextReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if !self.started {
            self.skip_mark()?;
        }
        loop {
            let available = self.inner.fill_buf()?;
            if available.is_empty() {
                if self.last == b'\n' {
                    return Ok(0);
                }
                out[0] = b'\n';
                self.watch(b"\n")?;
                return Ok(1);
            }
            if std::mem::take(&mut self.after_cr) && available[0] == b'\n' {
                self.inner.consume(1);
                continue;
            }
            let most = available.len().min(out.len());
            let (count, taken) = match memchr::memchr(b'\r', &available[..most]) {
                Some(cr) => {
                    out[..cr].copy_from_slice(&available[..cr]);
                    out[cr] = b'\n';
                    self.after_cr = true;
                    (cr + 1, cr + 1)
                }
                None => {
                    out[..most].copy_from_slice(&available[..most]);
                    (most, most)
                }
            };
            self.inner.consume(taken);
            self.watch(&out[..count])?;
            return Ok(count);
        }
    }
}

/// What is too long to be what it should be.
#[derive(Debug, thiserror::Error)]
enum Oversized {
    #[error("a line is longer than {} MiB", MAX_LINE_BYTES >> 20)]
    Line(u64),
    #[error("a record is longer than {} MiB", MAX_RECORD_BYTES >> 20)]
    Record,
}

/// An error of reading, told by what it means for the file. `line` is where the record that was being read starts.
pub(super) fn explain(name: &str, line: u64, error: io::Error) -> Error {
    let oversized = error.get_ref().and_then(|inner| inner.downcast_ref::<Oversized>());
    match (oversized, error.kind()) {
        (Some(Oversized::Line(line)), _) => input_error!(
            "{name}, line {line}: longer than {} MiB, which no line of a table is; check the format, or give it line ends",
            MAX_LINE_BYTES >> 20
        ),
        (Some(Oversized::Record), _) => input_error!(
            "{name}, line {line}: a record that goes on for more than {} MiB: probably a double quote opens there and \
             never closes; close it",
            MAX_RECORD_BYTES >> 20
        ),
        (None, io::ErrorKind::UnexpectedEof) => input_error!(
            "{name}: the gzip stream ends early, after line {line}: the file was cut off; get it again, or unpack what is \
             there and import that"
        ),
        (None, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => input_error!(
            "{name}: the gzip stream is damaged ({error}), after line {line}; get the file again"
        ),
        _ => Error::read(Path::new(name), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &'static [u8]) -> String {
        // A small buffer, so that line ends fall on its borders.
        let inner = BufReader::with_capacity(3, bytes);
        let mut text = String::new();
        TextReader::new(Box::new(inner), Gauge::default()).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn line_ends_are_made_the_same() {
        assert_eq!(text(b"\xef\xbb\xbfa,b\r\n1,2\r\r\n\n3"), "a,b\n1,2\n\n\n3\n");
        assert_eq!(text(b""), "");
        assert_eq!(text(b"\n"), "\n");
        assert_eq!(text(b"a\r"), "a\n");
    }

    #[test]
    fn a_file_without_line_ends_is_not_held_in_memory() {
        let endless = BufReader::with_capacity(1 << 16, io::repeat(b'x'));
        let mut reader = TextReader::new(Box::new(endless), Gauge::default());
        let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        let message = explain("f.csv", 1, error).to_string();
        assert!(message.starts_with("f.csv, line 1: longer than 1 MiB"), "{message}");
    }
}
