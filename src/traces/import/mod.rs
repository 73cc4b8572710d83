//! Production logs of several formats, read as they are published and written as traces.
//!
//! Logs of any size are read in bounded memory: jobs go through files on disk to be sorted by submission. Every row is
//! kept or counted with the reason why not, see [`Account`].

mod account;
mod aegis;
mod clock;
mod filter;
mod formats;
mod job;
mod philly;
mod rows;
mod source;
mod spool;
mod swf;
mod table;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub use account::{Account, Notice, Reason};
pub use clock::Clock;
pub use filter::Filter;
pub use philly::Attempts;
pub use source::Source;

use crate::cluster::ClusterSpec;
use crate::error::{Error, Result, input_error};
use crate::workload::{Catalogue, Cells, OptionalColumns, RowRenderer, TraceWriter};
use account::Place;
use aegis::AegisReader;
use job::{Demand, Found, Problem};
use rows::{CsvRows, JsonRows, LineRows, each};
use spool::{Spool, Spooled};
use swf::SwfReader;
use table::{Key, Layout, TableReader};

/// A format of production logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Microsoft Philly, cluster_job_log (JSON)
    Philly,
    /// SenseTime Helios, cluster_log.csv
    Helios,
    /// InternLM Acme, trace_seren.csv and trace_kalos.csv
    Acme,
    /// Alibaba PAI 2020, pai_job_*.csv
    Pai,
    /// Alibaba openb 2023, openb_pod_list_*.csv
    Openb,
    /// Standard Workload Format 2.2
    Swf,
    /// Execution trace of the AEGIS artifact
    Aegis,
    /// Any table, with --map; without it, the simulator's own format
    Csv,
}

impl LogFormat {
    pub fn name(self) -> &'static str {
        match self {
            LogFormat::Philly => "philly",
            LogFormat::Helios => "helios",
            LogFormat::Acme => "acme",
            LogFormat::Pai => "pai",
            LogFormat::Openb => "openb",
            LogFormat::Swf => "swf",
            LogFormat::Aegis => "aegis",
            LogFormat::Csv => "csv",
        }
    }

    /// The zone of local times in its public logs.
    pub fn default_zone(self) -> &'static str {
        match self {
            LogFormat::Philly => "America/Los_Angeles",
            LogFormat::Helios | LogFormat::Acme => "Asia/Shanghai",
            _ => "UTC",
        }
    }
}

/// What becomes of jobs that were given shares of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum FractionalGpus {
    /// The share is kept in the column gpu_share, and limits the job's memory and activity in a run
    #[default]
    Share,
    /// The job gets whole GPUs
    RoundUp,
}

/// Where the time axis of a trace starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Origin {
    /// At the first submission that is kept
    #[default]
    First,
    /// At the log's own zero; at 1970-01-01 UTC for dates
    Source,
}

/// Which of the jobs that are left in the end are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    #[default]
    All,
    /// The first by submission.
    Head(u64),
    /// So many at random.
    Sample { count: u64, seed: u64 },
}

/// How to import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub format: LogFormat,
    /// `KEY=COLUMN[:UNIT]`, of [`LogFormat::Csv`].
    pub map: Vec<String>,
    pub delimiter: u8,
    pub comment: Option<u8>,
    pub clock: Clock,
    pub attempts: Attempts,
    pub fractional_gpus: FractionalGpus,
    pub origin: Origin,
    pub filter: Filter,
    pub selection: Selection,
    /// Of [`LogFormat::Aegis`].
    pub catalogue: Catalogue,
    /// To say which jobs are too large for it.
    pub cluster: Option<ClusterSpec>,
    /// Rows that are dropped without an option that asks for it are an error.
    pub strict: bool,
}

impl ImportOptions {
    /// The defaults of a format.
    pub fn new(format: LogFormat) -> Result<ImportOptions> {
        Ok(ImportOptions {
            format,
            map: Vec::new(),
            delimiter: b',',
            comment: (format == LogFormat::Csv).then_some(b'#'),
            clock: Clock::new(format.default_zone(), None)?,
            attempts: Attempts::default(),
            fractional_gpus: FractionalGpus::default(),
            origin: Origin::default(),
            filter: Filter::default(),
            selection: Selection::default(),
            catalogue: Catalogue::builtin(),
            cluster: None,
            strict: false,
        })
    }
}

impl ImportOptions {
    /// The rules by which jobs were read, beside those of the format.
    fn decisions(&self, has_dates: bool) -> Vec<String> {
        let mut decisions = Vec::new();
        if has_dates {
            decisions.push(format!("times without an offset are local times of {}", self.clock.zone_name()));
        }
        if self.format == LogFormat::Philly {
            decisions.push(format!("attempts: {}", value_name(self.attempts)));
        }
        if self.fractional_gpus == FractionalGpus::RoundUp {
            decisions.push("shares of GPUs: rounded up".to_owned());
        }
        decisions.extend(self.filter.words());
        match self.selection {
            Selection::All => {}
            Selection::Head(count) => decisions.push(format!("the first {count} by submission")),
            Selection::Sample { count, seed } => decisions.push(format!("{count} at random, seed {seed}")),
        }
        decisions
    }
}

fn value_name(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// Imports logs, joined in the order given, and writes a trace; `progress` is told of bytes read of the files.
///
/// # Errors
/// [`Error::Input`] for a file that is not of the format, or is cut off; if no job is left; and for rows that were dropped
/// under `strict`. [`Error::Read`], [`Error::Write`].
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
    sink.has_dates = reader.has_dates();
    sink.account.decisions = options.decisions(sink.has_dates);
    sink.finish(out, out_name)
}

/// Reads the records of a format.
enum Reader {
    Philly,
    Table(TableReader),
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
            LogFormat::Helios => Reader::Table(TableReader::new(formats::helios())),
            LogFormat::Acme => Reader::Table(TableReader::new(formats::acme())),
            LogFormat::Pai => Reader::Table(TableReader::new(formats::pai())),
            LogFormat::Openb => Reader::Table(TableReader::new(formats::openb())),
            LogFormat::Csv => Reader::Table(TableReader::new(vec![Layout::parse(&options.map)?])),
            LogFormat::Swf => Reader::Swf(SwfReader::default()),
            LogFormat::Aegis => Reader::Aegis(AegisReader::new(options.catalogue.clone())),
        })
    }

    /// Columns that the format can fill.
    fn columns(&self, options: &ImportOptions) -> OptionalColumns {
        let [gpu_share, user, vc, state] = match self {
            Reader::Philly | Reader::Swf(_) => [false, true, true, true],
            Reader::Aegis(_) => [false; 4],
            Reader::Table(table) => {
                let shares = table.has(Key::GpuShare) || options.format == LogFormat::Pai;
                [
                    shares || options.format == LogFormat::Csv,
                    table.has(Key::User),
                    table.has(Key::Vc),
                    table.has(Key::State),
                ]
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
        let counter = bytes_read.clone();
        let open = move || source::open(source, counter);
        let told = || progress(bytes_read.swap(0, Ordering::Relaxed));
        let csv =
            || -> Result<CsvRows> { Ok(CsvRows::new(name, open()?, options.delimiter, options.comment)) };
        let mut has_header = false;
        let lines = match self {
            Reader::Philly => each(
                || Ok(JsonRows::new(name, source::open(source, bytes_read.clone())?)),
                told,
                |line, text| {
                    philly::read(&options.clock, options.attempts, text, &mut |found| sink.take(line, found))
                },
            )?,
            Reader::Swf(swf) => {
                swf.begin_file();
                each(
                    || Ok(LineRows::new(name, source::open(source, bytes_read.clone())?)),
                    told,
                    |line, text| swf.read(text).map_or(Ok(()), |found| sink.take(line, found)),
                )?
            }
            Reader::Table(table) => each(csv, told, |line, row| {
                if !std::mem::replace(&mut has_header, true) {
                    return table.header(name, line, row);
                }
                sink.take(line, table.read(&options.clock, row))
            })?,
            Reader::Aegis(aegis) => each(csv, told, |line, row| {
                if !std::mem::replace(&mut has_header, true) {
                    return aegis.header(name, line, row);
                }
                sink.take(line, aegis.read(row))
            })?,
        };
        if matches!(self, Reader::Table(_) | Reader::Aegis(_)) && !has_header {
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

/// Takes jobs, drops what is to be dropped and writes the others.
struct Sink<'a> {
    options: &'a ImportOptions,
    account: Account,
    columns: OptionalColumns,
    renderer: RowRenderer,
    spool: Spool,
    last_us: i64,
    has_dates: bool,
    numbers: [String; 2],
}

impl<'a> Sink<'a> {
    fn new(options: &'a ImportOptions, columns: OptionalColumns) -> Sink<'a> {
        Sink {
            options,
            account: Account::new(options.format.name()),
            columns,
            renderer: RowRenderer::new(columns),
            spool: Spool::new(),
            last_us: i64::MIN,
            has_dates: false,
            numbers: Default::default(),
        }
    }

    fn take(&mut self, line: u64, found: Result<Found<'_>, Problem>) -> Result<()> {
        self.account.count_row();
        let found = found.and_then(|found| {
            let left_out = self.options.filter.leaves_out(&found.job);
            left_out.map_or(Ok(found), |reason| Err(reason.into()))
        });
        let Found { mut job, notices } = match found {
            Ok(found) => found,
            Err(problem) => {
                let place = self.account.place(line, problem.detail);
                self.account.drop_row(problem.reason, place);
                return Ok(());
            }
        };
        for notice in notices {
            self.notice(notice, line);
        }
        if job.demand.share.is_some() {
            match self.options.fractional_gpus {
                FractionalGpus::Share => self.notice(Notice::GpuShare, line),
                FractionalGpus::RoundUp => {
                    job.demand = Demand { share: None, ..job.demand };
                    self.notice(Notice::RoundedUp, line);
                }
            }
        }
        if job.state.is_none() && self.options.filter.names_states() {
            self.notice(Notice::NotForStates, line);
        }
        if job.submit_us < self.last_us {
            self.notice(Notice::OutOfOrder, line);
        }
        self.last_us = self.last_us.max(job.submit_us);
        let [duration_s, share] = &mut self.numbers;
        duration_s.clear();
        if let Some(us) = job.duration_us {
            push_seconds(us, duration_s);
        }
        *share = job.demand.share.map_or(String::new(), |share| share.to_string());
        let cells = Cells {
            job_id: &job.id,
            workload: &job.workload,
            gpus: job.demand.gpus,
            duration_s,
            gpu_share: share,
            user: job.user.as_deref().unwrap_or_default(),
            vc: job.vc.as_deref().unwrap_or_default(),
            state: job.state.as_deref().unwrap_or_default(),
        };
        let Place { file, .. } = self.account.place(line, None);
        let mut spooled = Spooled {
            submit_us: job.submit_us,
            number: 0,
            file: file as u32,
            line,
            gpus: job.demand.gpus,
            row: Default::default(),
        };
        self.renderer.render(&cells, &mut spooled.row);
        self.spool.push(&job.id, spooled).map_err(spool_error)
    }

    fn notice(&mut self, notice: Notice, line: u64) {
        let place = self.account.place(line, None);
        self.account.notice(notice, place);
    }

    fn finish(mut self, out: &mut dyn Write, out_name: &Path) -> Result<Account> {
        let failed = |error| Error::write(out_name, error);
        self.check_losses()?;
        let (jobs, repeated) =
            std::mem::replace(&mut self.spool, Spool::new()).finish().map_err(spool_error)?;
        let mut choice = Choice::new(self.options.selection, repeated.others());
        let mut writer: Option<TraceWriter<&mut dyn Write>> = None;
        let mut out = Some(out);
        let mut submit_s = String::new();
        let mut origin = None;
        for job in jobs {
            let job = job.map_err(spool_error)?;
            let place = Place { file: job.file as usize, line: job.line, detail: None };
            let dropped =
                if repeated.contains(job.number) { Some(Reason::DuplicateId) } else { choice.next() };
            if let Some(reason) = dropped {
                self.account.drop_row(reason, place);
                continue;
            }
            // With --sample the first job that is kept may be a later one.
            let origin_us = *origin.get_or_insert(match self.options.origin {
                Origin::First => job.submit_us,
                Origin::Source => 0,
            });
            if job.submit_us < origin_us {
                return Err(input_error!(
                    "job on line {} was submitted before the log's zero, which no trace can hold; leave --origin source away",
                    job.line
                ));
            }
            if writer.is_none()
                && let Some(out) = out.take()
            {
                let comments = self.comments(origin_us);
                writer = Some(TraceWriter::new(out, &comments, self.columns).map_err(failed)?);
            }
            self.account.keep(job.submit_us);
            if let Some(cluster) = &self.options.cluster {
                let larger = [
                    (cluster.largest_server_gpus(), Notice::LargerThanServer),
                    (cluster.gpu_count(), Notice::LargerThanCluster),
                ];
                for (_, notice) in larger.into_iter().filter(|(gpus, _)| job.gpus as usize > *gpus) {
                    self.account.notice(notice, place.clone());
                }
            }
            submit_s.clear();
            push_seconds(job.submit_us - origin_us, &mut submit_s);
            if let Some(writer) = &mut writer {
                writer.write_row(&job.row.text, job.row.gap, &submit_s).map_err(failed)?;
            }
        }
        self.check_losses()?;
        if self.account.kept() == 0 {
            let why = self.account.losses().map_or(String::new(), |(_, first)| format!(": {first}"));
            return Err(input_error!(
                "no job is left of {} rows{why}; see what --format and the filters expect",
                self.account.rows_read()
            ));
        }
        out_flush(writer).map_err(failed)?;
        Ok(self.account)
    }

    fn check_losses(&self) -> Result<()> {
        match self.account.losses() {
            Some((count, first)) if self.options.strict => Err(input_error!(
                "{first}; {count} of {} rows would be dropped, which --strict forbids: mend them, or import without it",
                self.account.rows_read()
            )),
            _ => Ok(()),
        }
    }

    /// What stands at the head of the trace.
    fn comments(&self, origin_us: i64) -> Vec<String> {
        let mut comments = vec![format!(
            "imported by aegis-sim {} from {} ({})",
            env!("CARGO_PKG_VERSION"),
            self.account.files().collect::<Vec<_>>().join(", "),
            self.options.format.name()
        )];
        comments.push(match self.options.origin {
            Origin::First if self.has_dates => {
                format!("submit_s 0 is {}", self.options.clock.show(origin_us))
            }
            Origin::First => format!("submit_s 0 is {} s of the log's time", origin_us as f64 / 1e6),
            Origin::Source => "submit_s is the log's own time".to_owned(),
        });
        comments.extend(self.account.decisions.iter().cloned());
        comments
    }
}

fn out_flush(writer: Option<TraceWriter<&mut dyn Write>>) -> std::io::Result<()> {
    writer.map_or(Ok(()), |writer| writer.finish().flush())
}

fn spool_error(error: std::io::Error) -> Error {
    Error::Write { path: std::env::temp_dir(), source: error }
}

/// Seconds with as many decimals as needed.
fn push_seconds(us: i64, text: &mut String) {
    if us < 0 {
        text.push('-');
    }
    let us = us.unsigned_abs();
    text.push_str(itoa::Buffer::new().format(us / 1_000_000));
    if us % 1_000_000 != 0 {
        text.push_str(format!(".{:06}", us % 1_000_000).trim_end_matches('0'));
    }
}

/// Which of so many jobs are written, one after the other.
struct Choice {
    selection: Selection,
    /// Jobs that are still to come, and how many of them are still to be taken.
    left: u64,
    wanted: u64,
    draws: ChaCha8Rng,
}

impl Choice {
    fn new(selection: Selection, jobs: u64) -> Choice {
        let (wanted, seed) = match selection {
            Selection::All => (jobs, 0),
            Selection::Head(count) => (count.min(jobs), 0),
            Selection::Sample { count, seed } => (count.min(jobs), seed),
        };
        Choice { selection, left: jobs, wanted, draws: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Why the next job is left out, if it is. A sample takes each with the probability that leaves the others as likely.
    fn next(&mut self) -> Option<Reason> {
        let left_out = match self.selection {
            Selection::All => None,
            Selection::Head(_) => (self.wanted == 0).then_some(Reason::BeyondHead),
            Selection::Sample { .. } => {
                let draw = (u128::from(self.draws.next_u64()) * u128::from(self.left)) >> 64;
                (draw >= u128::from(self.wanted)).then_some(Reason::NotSampled)
            }
        };
        self.left -= 1;
        self.wanted -= u64::from(left_out.is_none());
        left_out
    }
}
