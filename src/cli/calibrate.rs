use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::args::{FormatArg, SettingsArgs};
use super::output::print;
use crate::calibrate::{
    BUILTIN_MULTIWAY, BUILTIN_PAIRS, BUILTIN_SOLO_RUNS, BUILTIN_TIMELINES, Report, run_cadence, run_noise,
    run_pairs, run_power, run_telemetry,
};
use crate::cluster::ClusterSpec;
use crate::error::{Error, Result};
use crate::experiment::{Evaluation, MeasuredRuns, StudyData};
use crate::report::{Row, atomic, render, row};
use crate::workload::{Catalogue, Trace};

/// Fit the model to measurements and write it as a file for --model
#[derive(Args)]
#[command(after_help = "Examples:
  aegis-sim calibrate pairs                                        the built-in fit, with its errors
  aegis-sim calibrate pairs my-pairs.csv --workloads my.csv --out my-interference.toml
  aegis-sim calibrate cadence my-timelines.csv --workloads my.csv --cluster my.toml --out my-cadence.toml
  aegis-sim calibrate noise my-timelines.csv --pairs my-pairs.csv --workloads my.csv --out my-noise.toml
  aegis-sim calibrate power --measured my-runs.csv --cluster my-server.toml --out my-power.toml
  aegis-sim calibrate telemetry --out my-telemetry.toml

Without a data file, each fits what is built in, and writes the built-in model file byte for byte.
experiments/README.md lists the columns of the data files.")]
pub(super) struct CalibrateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Interference, from runtimes of jobs alone and in pairs
    Pairs {
        /// Pair runtimes (CSV) [default: experiments/measured/pairs.csv]
        pairs: Option<PathBuf>,
        /// Runs of three and more jobs on a GPU (CSV), to test the fit on [default: built in with the built-in pairs]
        #[arg(long, value_name = "FILE")]
        multiway: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Runtime factors and scheduler cadence, from timelines of exclusive runs
    Cadence {
        /// Timelines (CSV) [default: experiments/measured/timelines.csv]
        timelines: Option<PathBuf>,
        /// The trace that was run, by name or file: then the timeline need not say what its jobs are
        #[arg(long, requires = "timelines")]
        trace: Option<String>,
        /// The server that the runs were recorded on (TOML) [default: 3 x A100 40 GB, models/cluster.toml]
        #[arg(long, value_name = "FILE")]
        cluster: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Run-to-run noise, from repeated runs, attempts that died of OOM, and what the interference model gets wrong
    Noise {
        /// Timelines (CSV) [default: experiments/measured/timelines.csv]
        timelines: Option<PathBuf>,
        /// Pair runtimes (CSV), for the spread of pressures [default: built in with the built-in timelines]
        #[arg(long, value_name = "FILE")]
        pairs: Option<PathBuf>,
        /// Further runs of workloads alone (CSV) [default: built in with the built-in timelines]
        #[arg(long, value_name = "FILE")]
        solo: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Power of a GPU by its activity, from power and utilisation of measured runs
    Power {
        /// Measured runs (CSV) [default: experiments/measured/runs.csv]
        #[arg(long, value_name = "FILE")]
        measured: Option<PathBuf>,
        /// Cluster file (TOML) of the measured runs, for its number of GPUs [default: models/cluster.toml]
        #[arg(long, value_name = "FILE")]
        cluster: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// How activity varies in time, from a study of the thresholds of the pressure filter
    Telemetry {
        /// Settings of the study (CSV) [default: experiments/measured/threshold_settings.csv]
        #[arg(requires = "jobs")]
        study: Option<PathBuf>,
        /// Its sequences of jobs (CSV) [default: experiments/measured/threshold_jobs.csv]
        #[arg(long, value_name = "FILE", requires = "study")]
        jobs: Option<PathBuf>,
        #[command(flatten)]
        settings: SettingsArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Args)]
struct Common {
    /// Workload catalogue (CSV) [default: models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
struct OutputArgs {
    /// Write the model file here
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

impl CalibrateArgs {
    pub fn execute(self) -> Result<()> {
        let (report, output) = match self.what {
            What::Pairs { pairs, multiway, common } => {
                let pairs = pairs.as_deref().map(read).transpose()?;
                let multiway = multiway.as_deref().map(read).transpose()?;
                // Other people's pairs are not tested on what is built in.
                let builtin_multiway = pairs.is_none().then_some(BUILTIN_MULTIWAY);
                let multiway = multiway.as_ref().map(borrow).or(builtin_multiway);
                let pairs = pairs.as_ref().map_or(BUILTIN_PAIRS, borrow);
                (run_pairs(pairs, multiway, &common.catalogue()?)?, common.output)
            }
            What::Cadence { timelines, trace, cluster, common } => {
                let trace = trace.as_deref().map(Trace::open).transpose()?;
                let cluster =
                    cluster.as_deref().map_or_else(|| Ok(ClusterSpec::builtin()), ClusterSpec::load)?;
                let timelines = timelines.as_deref().map(read).transpose()?;
                let timelines = timelines.as_ref().map_or(BUILTIN_TIMELINES, borrow);
                (run_cadence(timelines, trace.as_ref(), &common.catalogue()?, &cluster)?, common.output)
            }
            What::Noise { timelines, pairs, solo, common } => {
                let [timelines, pairs, solo] =
                    [timelines, pairs, solo].map(|path| path.as_deref().map(read).transpose());
                let (timelines, pairs, solo) = (timelines?, pairs?, solo?);
                // Other people's runs are not mixed with what is built in.
                let builtin = |data| timelines.is_none().then_some(data);
                let pairs = pairs.as_ref().map(borrow).or(builtin(BUILTIN_PAIRS));
                let solo = solo.as_ref().map(borrow).or(builtin(BUILTIN_SOLO_RUNS));
                let timelines = timelines.as_ref().map_or(BUILTIN_TIMELINES, borrow);
                (run_noise(timelines, solo, pairs, &common.catalogue()?)?, common.output)
            }
            What::Power { measured, cluster, output } => {
                let builtin = || Ok(Evaluation::builtin().measured);
                let measured = measured.as_deref().map_or_else(builtin, MeasuredRuns::load)?;
                let cluster =
                    cluster.as_deref().map_or_else(|| Ok(ClusterSpec::builtin()), ClusterSpec::load)?;
                (run_power(&measured, cluster.gpu_count())?, output)
            }
            What::Telemetry { study, jobs, settings, output } => {
                let data = match (study, jobs) {
                    (Some(study), Some(jobs)) => {
                        StudyData::parse(borrow(&read(&study)?), borrow(&read(&jobs)?))?
                    }
                    _ => StudyData::builtin(),
                };
                (run_telemetry(&data, &settings.load()?)?, output)
            }
        };
        output.write(&report)
    }
}

impl Common {
    fn catalogue(&self) -> Result<Catalogue> {
        Catalogue::load_or_builtin(self.workloads.as_deref())
    }
}

impl OutputArgs {
    fn write(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.out {
            atomic::write(path, report.toml.as_bytes())?;
        }
        let rows: Vec<Row> = report
            .lines
            .iter()
            .map(|(name, value)| row([("name", name.as_str().into()), ("value", value.as_str().into())]))
            .collect();
        print(&render(self.format.format, &rows, &[("name", "name"), ("value", "value")])?)
    }
}

type Source = (String, Vec<u8>);

fn read(path: &Path) -> Result<Source> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    Ok((path.display().to_string(), bytes))
}

fn borrow(source: &Source) -> (&str, &[u8]) {
    (&source.0, &source.1)
}
