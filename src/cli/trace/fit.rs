use std::path::{Path, PathBuf};

use super::generate::check_start_hour;
use crate::cli::output::{is_stdout, note, open_trace, print};
use crate::error::Result;
use crate::report::atomic;
use crate::traces::generate::fit;

/// Fit the statistics of a synthetic trace to a trace
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace fit my.csv -o my.toml
  aegis-sim trace fit my.csv --start-hour 33.5 -o my.toml   # its second 0 is Tuesday 09:30
  aegis-sim trace generate --like my.toml --jobs 100000 -o longer.csv

Fitted are bursts, gaps, waits with their daily and weekly cycle, GPU counts, durations by GPU count and the shares of
virtual clusters. The file says how near it is to the trace, and may be edited: models/traces/README.md lists its keys.")]
pub(in crate::cli) struct FitArgs {
    /// A CSV file of 200 jobs or more, with durations, or - for standard input
    #[arg(value_name = "TRACE")]
    trace: String,
    /// File for the specification (TOML), or - for standard output
    #[arg(short = 'o', long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Hour of the week at the trace's second 0: 0 is Monday 00:00
    #[arg(long, value_name = "HOUR", default_value_t = 0.0)]
    start_hour: f64,
}

impl FitArgs {
    pub fn execute(self) -> Result<()> {
        check_start_hour(self.start_hour)?;
        super::refuse_overwriting([Path::new(&self.trace)], &[("--out", Some(&self.out))])?;
        let fit = fit(&open_trace(&self.trace)?, self.start_hour)?;
        fit.notes.iter().for_each(|text| note(text));
        let text = fit.to_toml()?;
        match is_stdout(&self.out) {
            true => print(&text)?,
            false => atomic::write(&self.out, text.as_bytes())?,
        }
        if self.start_hour == 0.0 {
            note("second 0 of the trace is taken for Monday 00:00; --start-hour says otherwise");
        }
        note(&format!(
            "fitted to {} jobs; KS distance of gaps {:.4}, of durations {:.4}",
            fit.jobs, fit.gap_distance, fit.duration_distance
        ));
        Ok(())
    }
}
