use std::io::Write;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::output::{is_stdout, note, place, print, write_to};
use crate::cluster::ClusterSpec;
use crate::error::{Result, input_error};
use crate::report::{Format, atomic};
use crate::traces::import::{
    Attempts, Clock, Filter, FractionalGpus, ImportOptions, LogFormat, Origin, Selection, Source, import,
};
use crate::workload::Catalogue;

/// Turn production logs into a trace
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace import --format philly cluster_job_log.json.gz -o philly.csv
  aegis-sim trace import --format helios cluster_log.csv --vc vcvGl --from 2020-09-01 --to 2020-10-01 -o vc.csv
  aegis-sim trace import --format csv jobs.csv --map submit_s=submitted --map duration_s=minutes:min --map gpus=n -o t.csv
  zcat log.gz | aegis-sim trace import --format swf - -o -

Keys of --map: job_id, submit_s, start_s, end_s, duration_s, gpus, instances, gpu_share, workload, user, vc, state.
Units: s, ms, us, ns, min, h, d or date for times; milli or percent for gpu_share. docs/traces.md has all the rules.

Jobs of a log have no workload: `aegis-sim trace map` gives them one, without which they cannot be run.")]
pub(in crate::cli) struct ImportArgs {
    /// Files, joined in this order; - is standard input; gzip is read as it is
    #[arg(required = true)]
    inputs: Vec<String>,
    #[arg(long, value_enum)]
    format: LogFormat,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// What a column of --format csv holds, and its unit; repeatable
    #[arg(long, value_name = "KEY=COLUMN[:UNIT]")]
    map: Vec<String>,
    /// Separator of a table's fields: one character, or tab
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = one_byte)]
    delimiter: u8,
    /// Lines of a table that start with it are comments [default: # with --format csv and no --map]
    #[arg(long, value_name = "CHARACTER", value_parser = one_byte)]
    comment: Option<u8>,
    /// Zone of times without an offset [default: America/Los_Angeles for philly, Asia/Shanghai for helios and acme, else UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// How dates are written, for strptime, such as "%d/%m/%Y %H:%M" [default: ISO 8601]
    #[arg(long, value_name = "FORMAT")]
    date_format: Option<String>,
    /// Which attempts of a Philly job count [default: sum]
    #[arg(long, value_enum)]
    attempts: Option<Attempts>,
    /// What becomes of shares of GPUs
    #[arg(long, value_enum, default_value_t)]
    fractional_gpus: FractionalGpus,
    /// Where submit_s starts
    #[arg(long, value_enum, default_value_t)]
    origin: Origin,
    /// Keep jobs submitted at or after this date (seconds for logs without dates)
    #[arg(long, value_name = "DATE", allow_hyphen_values = true)]
    from: Option<String>,
    /// Keep jobs submitted before
    #[arg(long, value_name = "DATE", allow_hyphen_values = true)]
    to: Option<String>,
    /// Keep jobs of these virtual clusters or queues
    #[arg(long, value_delimiter = ',')]
    vc: Vec<String>,
    /// Keep jobs of these users
    #[arg(long, value_delimiter = ',')]
    user: Vec<String>,
    /// Keep jobs with at least so many GPUs
    #[arg(long, value_name = "N")]
    min_gpus: Option<u32>,
    /// Keep jobs with at most so many GPUs
    #[arg(long, value_name = "N")]
    max_gpus: Option<u32>,
    /// Keep jobs that ended so, such as completed,failed
    #[arg(long, value_delimiter = ',')]
    states: Vec<String>,
    /// Keep the first N jobs by submission
    #[arg(long, value_name = "N", conflicts_with = "sample", value_parser = clap::value_parser!(u64).range(1..))]
    head: Option<u64>,
    /// Keep N jobs at random
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Seed of --sample
    #[arg(long, default_value_t = 0, requires = "sample")]
    seed: u64,
    /// Catalogue (CSV) whose workloads an AEGIS trace names [default: built in]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    /// Cluster file (TOML): say which jobs are too large for it
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Fail if a row is dropped that no option asks to drop
    #[arg(long)]
    strict: bool,
    /// Write the account as JSON as well
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn one_byte(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r".contains(byte) => Ok(*byte),
        _ => Err("expected one character that is no letter, digit or quote, or tab".to_owned()),
    }
}

impl ImportArgs {
    /// Refuses options that would do nothing.
    fn check_options(&self) -> Result<()> {
        use LogFormat::{Aegis, Philly, Swf};
        let format = self.format;
        let idle = [
            ("--attempts", "philly", self.attempts.is_some() && format != Philly),
            ("--workloads", "aegis", self.workloads.is_some() && format != Aegis),
            ("--comment", "tables", self.comment.is_some() && matches!(format, Philly | Swf)),
            ("--date-format", "logs with dates", self.date_format.is_some() && !format.has_dates()),
        ];
        if let Some((option, of, _)) = idle.iter().find(|(_, _, idle)| *idle) {
            return Err(input_error!(
                "{option} is for {of}, and does nothing with --format {}",
                format.name()
            ));
        }
        if self.comment == Some(self.delimiter) {
            return Err(input_error!("--comment and --delimiter are the same character; change one of them"));
        }
        Ok(())
    }

    /// Refuses to overwrite what is read, or the trace with the report.
    fn check_files(&self) -> Result<()> {
        if self.inputs.iter().filter(|name| *name == "-").count() > 1 {
            return Err(input_error!("standard input (-) is given twice; it can be read once"));
        }
        if self.report.as_deref() == Some(Path::new("-")) {
            return Err(input_error!("--report - : expected a file; the account is printed anyway"));
        }
        let options = [self.cluster.as_deref(), self.workloads.as_deref()];
        let outputs = [("--out", Some(self.out.as_path())), ("--report", self.report.as_deref())];
        super::refuse_overwriting(
            self.inputs.iter().map(Path::new).chain(options.into_iter().flatten()),
            &outputs,
        )?;
        if self.report.as_ref() == Some(&self.out) {
            return Err(input_error!(
                "--out and --report name the same file; choose another for one of them"
            ));
        }
        Ok(())
    }

    fn options(&self) -> Result<ImportOptions> {
        let zone = self.timezone.as_deref().unwrap_or(self.format.default_zone());
        let clock = Clock::new(zone, self.date_format.clone())?;
        let mut filter = Filter::default()
            .in_states(&self.states)
            .with_gpus(self.min_gpus, self.max_gpus)?
            .submitted(&clock, self.from.as_deref(), self.to.as_deref())?;
        (filter.vcs, filter.users) = (self.vc.clone(), self.user.clone());
        let defaults = ImportOptions::new(self.format)?;
        Ok(ImportOptions {
            map: self.map.clone(),
            delimiter: self.delimiter,
            comment: self.comment.or(defaults.comment.filter(|_| self.map.is_empty())),
            attempts: self.attempts.unwrap_or_default(),
            fractional_gpus: self.fractional_gpus,
            origin: self.origin,
            filter,
            selection: match (self.head, self.sample) {
                (Some(count), _) => Selection::Head(count),
                (_, Some(count)) => Selection::Sample { count, seed: self.seed },
                _ => Selection::All,
            },
            catalogue: Catalogue::load_or_builtin(self.workloads.as_deref())?,
            cluster: self.cluster.as_deref().map(ClusterSpec::load).transpose()?,
            strict: self.strict,
            clock,
            ..defaults
        })
    }

    pub fn execute(self) -> Result<()> {
        self.check_options()?;
        self.check_files()?;
        let options = self.options()?;
        let bar = bar(&self.inputs);
        let progress = |bytes| bar.inc(bytes);
        let sources: Vec<Source> = self.inputs.iter().cloned().map(Source::File).collect();
        let account = write_to(&self.out, |out| import(&options, &sources, out, place(&self.out), &progress));
        bar.finish_and_clear();
        let Some(account) = account? else { return Ok(()) };
        if let Some(path) = &self.report {
            atomic::write(path, account.to_json().as_bytes())?;
        }
        let table = account.to_table(Format::Table);
        if is_stdout(&self.out) {
            let _ = std::io::stderr().write_all(table.as_bytes());
            return Ok(());
        }
        print(&table)?;
        if account.lacks_workloads() {
            note(&format!(
                "jobs have no workload yet: `aegis-sim trace map {} -o mapped.csv` gives them one",
                self.out.display()
            ));
        }
        Ok(())
    }
}

/// By bytes of the files, as far as their sizes are known.
fn bar(inputs: &[String]) -> ProgressBar {
    let sizes: Option<Vec<u64>> = inputs
        .iter()
        .map(|name| std::fs::metadata(name).ok().filter(std::fs::Metadata::is_file).map(|file| file.len()))
        .collect();
    let (bar, template) = match sizes {
        Some(sizes) => {
            (ProgressBar::new(sizes.iter().sum()), "{wide_bar} {bytes} of {total_bytes}, {eta} left")
        }
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
