//! What an import is asked to do.

use super::clock::Clock;
use super::filter::Filter;
use super::philly::Attempts;
use crate::cluster::ClusterSpec;
use crate::error::Result;
use crate::workload::Catalogue;

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
    /// As options name it.
    pub fn name(self) -> String {
        value_name(self)
    }

    /// Whether its times may be dates.
    pub fn has_dates(self) -> bool {
        matches!(self, LogFormat::Philly | LogFormat::Helios | LogFormat::Acme | LogFormat::Csv)
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

    /// The rules by which jobs were read, beside those of the format.
    pub(super) fn decisions(&self, has_dates: bool) -> Vec<String> {
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
