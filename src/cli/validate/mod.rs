pub(super) mod figures;
pub(super) mod report;
pub(super) mod rows;

use std::path::{Path, PathBuf};

use super::args::{FormatArg, InputArgs};
use super::output::{make_dir, note, print, with_progress};
use crate::error::{Error, Result, input_error};
use crate::experiment::{Evaluation, MeasuredJobs, MeasuredRuns, Reference, Validation, validate};
use crate::report::{Format, atomic, rows_to_csv};

/// Replay measured runs over many seeds: errors of the medians, and whether the intervals cover what was measured
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim validate
  aegis-sim validate --out out --format markdown
  aegis-sim validate --measured my-runs.csv --jobs my-jobs.csv --cluster my-server.toml
  aegis-sim validate --check           exit code 1 unless results keep to the evaluation's [validate]

Every run is replayed under seeds 1 to --seeds; seed 0, the run without run-to-run noise, is left out. Each is compared by its
median over seeds and by its 90 % interval, from the 5th to the 95th percentile. Runs have the telemetry condition of their
measured run; where it is not known which GPU was blind, it is drawn for every seed.
With --measured alone the traces and policies are those of the file. With --out: validation.csv, jobs.csv, aggregate.csv,
validation.json, report.md, and the figures agreement, errors, job_agreement and jct as SVG and PNG. docs/formats.md lists
the columns; experiments/README.md those of the measured files.")]
pub(super) struct ValidateArgs {
    /// Evaluation file (TOML): runs, headline and targets [default: experiments/paper.toml, unless --measured is given]
    #[arg(long, value_name = "FILE")]
    evaluation: Option<PathBuf>,
    /// Measured runs (CSV), in place of the evaluation's
    #[arg(long, value_name = "FILE")]
    measured: Option<PathBuf>,
    /// Jobs of the measured runs (CSV) [default: the evaluation's, or none]
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,
    /// Runs for each measured run: seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    #[command(flatten)]
    inputs: InputArgs,
    /// Directory for tables, report and figures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 1 unless the results keep to the evaluation's [validate]
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: FormatArg,
}

impl ValidateArgs {
    pub fn execute(self) -> Result<()> {
        let reference = self.reference()?;
        if self.check && !reference.has_targets() {
            return Err(input_error!(
                "--check has nothing to check: give --evaluation FILE with a table [validate], such as that of \
                 experiments/paper.toml"
            ));
        }
        reference.notes().for_each(note);
        let settings = self.inputs.load()?;
        let validation = with_progress(reference.run_count() as u64 * self.seeds, |replayed| {
            validate(&reference, &settings, self.seeds, replayed)
        })?;
        let json = rows::json_text(&validation)?;
        if let Some(dir) = &self.out {
            write(dir, &validation, &json)?;
        }
        print(&match self.format.format {
            Format::Json => json,
            Format::Csv => rows_to_csv(&rows::figure_rows(&validation))?,
            format => report::sections(format, &validation),
        })?;
        let shortfalls = validation.shortfalls();
        if self.check && !shortfalls.is_empty() {
            return Err(Error::Check(format!(
                "the validation misses {} of {} targets:\n  {}",
                shortfalls.len(),
                validation.targets.len(),
                shortfalls.join("\n  ")
            )));
        }
        Ok(())
    }

    fn reference(&self) -> Result<Reference> {
        let jobs = self.jobs.as_deref().map(MeasuredJobs::load).transpose()?;
        let measured = self.measured.as_deref().map(MeasuredRuns::load).transpose()?;
        match (measured, &self.measured, &self.evaluation) {
            (Some(measured), Some(path), None) => {
                Reference::of_runs(&measured, jobs, path.parent().unwrap_or(Path::new(".")))
            }
            (measured, _, evaluation) => {
                let mut evaluation = Evaluation::open(evaluation.as_deref())?;
                if let Some(measured) = measured {
                    evaluation.measure(measured);
                }
                Reference::of_evaluation(&evaluation, jobs)
            }
        }
    }
}

fn write(dir: &Path, validation: &Validation, json: &str) -> Result<()> {
    make_dir(dir)?;
    let write = |name: &str, text: &str| atomic::write(&dir.join(name), text.as_bytes());
    write("validation.json", json)?;
    write("validation.csv", &rows_to_csv(&rows::figure_rows(validation))?)?;
    write("aggregate.csv", &rows_to_csv(&rows::aggregate_rows(validation))?)?;
    let jobs = rows::job_rows(validation);
    if !jobs.is_empty() {
        write("jobs.csv", &rows_to_csv(&jobs)?)?;
    }
    let figures = figures::write(dir, validation)?;
    write("report.md", &report::document(validation, &figures))
}
