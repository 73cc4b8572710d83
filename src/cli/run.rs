use std::path::{Path, PathBuf};

use super::args::{FormatArg, SettingsArgs};
use super::compare::COLUMNS;
use super::figures::distributions;
use super::output::{
    make_dir, note, note_given_up, note_missing_estimates, note_oversized, open_trace, print,
};
use crate::error::Result;
use crate::metrics::Summary;
use crate::policy::PolicySpec;
use crate::report::plot::{self, ActivitySeries};
use crate::report::{
    EventLog, Format, Tee, atomic, attempt_rows, job_rows, render, rows_to_csv, summary_json, summary_row,
};
use crate::sim::{NoObserver, RunRecord, simulate};

/// Replay one trace under one policy
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim run --trace philly --policy aegis
  aegis-sim run --trace my.csv --policy aegis+peak-mem --set observation_window_s=60 --out out
  zcat my.csv.gz | aegis-sim run --trace - --policy lucid --format json

With --out: jobs.csv, attempts.csv, summary.json, events.jsonl and the figures timeline, activity, jct and
slowdown as SVG and PNG (no timeline of very many jobs). docs/formats.md lists their columns.")]
pub(super) struct RunArgs {
    /// philly, saturn, venus, a CSV file, or - for standard input
    #[arg(long)]
    trace: String,
    /// exclusive, horus, lucid, aegis, or aegis with modifiers such as aegis+peak-mem+lug
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Directory for the records and figures of the run
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

/// Draws the figures of a run.
fn figures(dir: &Path, record: &RunRecord, series: &ActivitySeries) -> Result<()> {
    if plot::too_many_for_timeline(record) {
        plot::remove(dir, "timeline")?;
        note(&format!(
            "no figure timeline: {} jobs on {} GPUs are more than it could show; attempts.csv has them",
            record.jobs.len(),
            record.gpus.len()
        ));
    } else {
        plot::write(dir, "timeline", &plot::timeline(record))?;
    }
    plot::write(dir, "activity", &plot::activity(record, series))?;
    distributions(dir, "", &[record])
}

impl RunArgs {
    pub fn execute(self) -> Result<()> {
        let policy: PolicySpec = self.policy.parse()?;
        let settings = self.settings.load()?;
        let params = settings.params(&policy)?;
        let world = settings.world(&open_trace(&self.trace)?)?;
        note_oversized(&world);
        note_missing_estimates(&world, &policy, &params);
        let seed = settings.seed;
        let record = match &self.out {
            None => simulate(&world, &policy, &params, seed, &mut NoObserver)?,
            Some(dir) => {
                // Refused before anything is written.
                crate::sim::Run::new(&world, &policy, &params, seed)?;
                make_dir(dir)?;
                let mut log = EventLog::create(&dir.join("events.jsonl"), &world, &policy.to_string(), seed)?;
                let mut activity = ActivitySeries::new(world.gpu_count());
                let record = simulate(&world, &policy, &params, seed, &mut Tee(&mut log, &mut activity))?;
                log.finish()?;
                atomic::write(&dir.join("jobs.csv"), rows_to_csv(&job_rows(&record))?.as_bytes())?;
                atomic::write(&dir.join("attempts.csv"), rows_to_csv(&attempt_rows(&record))?.as_bytes())?;
                figures(dir, &record, &activity)?;
                record
            }
        };
        let summary = Summary::of(&record);
        let json = summary_json(&summary, &params)?;
        if let Some(dir) = &self.out {
            atomic::write(&dir.join("summary.json"), json.as_bytes())?;
        }
        note_given_up(&record);
        print(&match self.format.format {
            Format::Json => json,
            format => {
                let absolute: Vec<_> =
                    COLUMNS.iter().copied().filter(|(name, _)| !name.ends_with("_vs_exclusive")).collect();
                render(format, &[summary_row(&summary)], &absolute)?
            }
        })
    }
}
