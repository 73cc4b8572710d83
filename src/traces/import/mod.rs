//! Production logs of several formats, read as they are published and written as traces.
//!
//! Logs of any size are read in bounded memory: jobs go through files on disk to be sorted by submission. Every row is
//! kept or counted with the reason why not, see [`Account`].

mod account;
mod aegis;
mod clock;
mod code;
mod filter;
mod formats;
mod job;
mod json;
mod layout;
mod options;
mod philly;
mod rows;
mod sink;
mod source;
mod spool;
mod swf;
mod table;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use account::Account;
pub use clock::Clock;
pub use code::{Notice, Reason};
pub use filter::Filter;
pub use options::{FractionalGpus, ImportOptions, LogFormat, Origin, Selection};
pub use philly::Attempts;
pub use source::Source;

use csv::ByteRecord;

use crate::error::{Result, input_error};
use crate::workload::OptionalColumns;
use aegis::AegisReader;
use clock::Calendar;
use json::JsonRows;
use layout::{Key, Layout};
use rows::{CsvRows, LineRows, each};
use sink::Sink;
use swf::SwfReader;
use table::TableReader;

/// Imports logs, joined in the order given, and writes a trace; `progress` is told of bytes read of the files.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) for a file that is not of the format, or is cut off; if no job is left; and for
/// rows that were dropped under `strict`. Others if something cannot be read or written.
pub fn import(
    options: &ImportOptions,
    sources: &[Source],
    out: &mut dyn Write,
    out_name: &Path,
    progress: &dyn Fn(u64),
) -> Result<Account> {
    let mut reader = Reader::new(options)?;
    let mut sink = Sink::new(options, reader.columns(options));
    for source in sources {
        sink.account.begin_file(source.name());
        reader.file(options, source, &mut sink, progress)?;
    }
    sink.finish(reader.has_dates(), out, out_name)
}

/// Reads the records of a format.
enum Reader {
    Philly,
    Table(Box<TableReader>),
    Aegis(AegisReader),
    Swf(SwfReader),
}

impl Reader {
    fn new(options: &ImportOptions) -> Result<Reader> {
        if options.format != LogFormat::Csv && !options.map.is_empty() {
            return Err(input_error!(
                "--map is for --format csv; the columns of {} are known",
                options.format.name()
            ));
        }
        Ok(match options.format {
            LogFormat::Philly => Reader::Philly,
            LogFormat::Helios => Reader::table(formats::helios()),
            LogFormat::Acme => Reader::table(formats::acme()),
            LogFormat::Pai => Reader::table(formats::pai()),
            LogFormat::Openb => Reader::table(formats::openb()),
            LogFormat::Csv => Reader::table(vec![Layout::parse(&options.map)?]),
            LogFormat::Swf => Reader::Swf(SwfReader::default()),
            LogFormat::Aegis => Reader::Aegis(AegisReader::new(options.catalogue.clone())),
        })
    }

    fn table(layouts: Vec<Layout>) -> Reader {
        Reader::Table(Box::new(TableReader::new(layouts)))
    }

    /// Columns that the format can fill.
    fn columns(&self, options: &ImportOptions) -> OptionalColumns {
        let [gpu_share, user, vc, state] = match self {
            Reader::Philly | Reader::Swf(_) => [false, true, true, true],
            Reader::Aegis(_) => [false; 4],
            Reader::Table(table) => {
                [table.has_shares(), table.has(Key::User), table.has(Key::Vc), table.has(Key::State)]
            }
        };
        let gpu_share = gpu_share && options.fractional_gpus == FractionalGpus::Share;
        OptionalColumns { gpu_share, user, vc, state }
    }

    /// Whether the submissions that were read are dates.
    fn has_dates(&self) -> bool {
        match self {
            Reader::Philly => true,
            Reader::Table(table) => table.has_dates(),
            Reader::Aegis(_) | Reader::Swf(_) => false,
        }
    }

    fn file(
        &mut self,
        options: &ImportOptions,
        source: &Source,
        sink: &mut Sink<'_>,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let name = source.name();
        let bytes_read = Arc::new(AtomicU64::new(0));
        let open = || source::open(source, bytes_read.clone());
        let told = || progress(bytes_read.swap(0, Ordering::Relaxed));
        let csv =
            || -> Result<CsvRows> { Ok(CsvRows::new(name, open()?, options.delimiter, options.comment)) };
        // Tables that were put one behind another have it again.
        let mut header: Option<ByteRecord> = None;
        let calendar = Calendar::new(&options.clock);
        let lines = match self {
            Reader::Philly => each(
                || Ok(JsonRows::new(name, open()?)),
                told,
                |line, text| {
                    philly::read(&calendar, options.attempts, text, &mut |found| sink.take(line, found))
                },
            )?,
            Reader::Swf(swf) => {
                swf.begin_file();
                each(
                    || Ok(LineRows::new(name, open()?)),
                    told,
                    |line, text| swf.read(text).map_or(Ok(()), |found| sink.take(line, found)),
                )?
            }
            Reader::Table(table) => each(csv, told, |line, row| match &header {
                None => table.header(name, line, header.insert(row.clone())),
                Some(header) if header == row => Ok(()),
                Some(_) => sink.take(line, table.read(&calendar, row)),
            })?,
            Reader::Aegis(aegis) => each(csv, told, |line, row| match &header {
                None => aegis.header(name, line, header.insert(row.clone())),
                Some(header) if header == row => Ok(()),
                Some(_) => sink.take(line, aegis.read(row)),
            })?,
        };
        if matches!(self, Reader::Table(_) | Reader::Aegis(_)) && header.is_none() {
            return Err(input_error!(
                "{name} is empty: expected a header line with the columns of {}",
                options.format.name()
            ));
        }
        let header_lines = match self {
            Reader::Philly => None,
            Reader::Swf(_) => Some(0),
            Reader::Table(_) | Reader::Aegis(_) => Some(1),
        };
        sink.account.end_file(lines, header_lines);
        Ok(())
    }
}
