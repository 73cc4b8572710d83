mod render;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::args::{JobsArg, ParamsArgs};
use super::output::{note, print, with_progress};
use crate::error::{Error, Result, input_error};
use crate::experiment::gate::{Baseline, Deviation, Gate, Outcome, measure};
use crate::experiment::sweep::Experiment;
use crate::report::{Format, Row, atomic, render as render_rows};

/// Hold an experiment's metrics to a stored baseline: what CI runs before a change of policy goes in
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim check --experiment experiments/paper_check.toml --baseline experiments/paper_baseline.csv
  aegis-sim check --experiment e.toml --baseline b.csv --set smact_threshold=0.30       what would that change?
  aegis-sim check --experiment e.toml --baseline b.csv --update                         accept what has changed
  aegis-sim check --experiment e.toml --baseline b.csv --format github --out check.xml  in a GitHub workflow

Runs the experiment and compares every metric of its [tolerance], as a mean over seeds, on every trace and under every setting.
Same and within tolerance pass, and so does better; worse, changed (a metric that is neither better lower nor higher), missing
from the baseline, failed, and gone from the experiment do not: exit code 1. experiments/README.md tells how to adopt it, and
docs/formats.md lists the columns. The format github also appends to the file that GITHUB_STEP_SUMMARY names.")]
pub(super) struct CheckArgs {
    /// Experiment file (TOML) with [tolerance]
    #[arg(long, value_name = "FILE")]
    experiment: String,
    /// Baseline file (CSV)
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Write the baseline anew, after showing what changes in it
    #[arg(long, conflicts_with = "out")]
    update: bool,
    #[command(flatten)]
    change: ParamsArgs,
    #[command(flatten)]
    jobs: JobsArg,
    /// Show what passes too; json, csv and junit always have it
    #[arg(long)]
    all: bool,
    /// Also write JUnit XML to this file; with --format junit, in place of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = CheckFormat::Table)]
    format: CheckFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// For reading in a terminal
    Table,
    /// Every value and column, for programs
    Json,
    /// Every value and column, for spreadsheets
    Csv,
    /// The table for a document
    Markdown,
    /// Annotations and job summary of a GitHub workflow
    Github,
    /// Test report for CI systems
    Junit,
}

/// Values that a message names; tables have all.
const SHOWN: usize = 10;

impl CheckArgs {
    pub fn execute(self) -> Result<()> {
        if self.update && matches!(self.format, CheckFormat::Github | CheckFormat::Junit) {
            return Err(input_error!(
                "--update shows changes, and no failures: take --format table, json, csv or markdown"
            ));
        }
        let mut experiment = Experiment::open(&self.experiment)?;
        experiment.notes().for_each(note);
        if experiment.tolerances.is_empty() {
            return Err(input_error!(
                "{}: no metric has a tolerance, so that there is nothing to check; add for example\n  [tolerance]\n  \
                 makespan_s = {{ relative = 0.02 }}",
                self.experiment
            ));
        }
        experiment.change(&self.change.params, &self.change.assignments)?;
        let stored = self.stored()?;
        // What needs no runs is refused before them.
        let mut expected = Baseline::of(&experiment);
        expected.changes = self.change.words().join(" ");
        let baseline = self.comparable(stored, &expected)?;
        let runs = experiment.design.run_count() as u64;
        let measured = with_progress(runs, |tick| measure(&experiment, expected, self.jobs.threads(), tick))?;
        let gate = Gate::new(&measured, baseline.as_ref(), &experiment.tolerances)?;
        let shown = Shown { gate, title: &experiment.presentation.title, baseline: &self.baseline };
        self.show(&shown)?;
        if self.update {
            shown.check_runs()?;
            atomic::write(&self.baseline, measured.values.text()?.as_bytes())?;
            note(&format!("{}: written, {} values", self.baseline.display(), measured.values.rows.len()));
            return Ok(());
        }
        shown.check()
    }

    /// The baseline's file; `None` where there is none yet and one is to be made.
    fn stored(&self) -> Result<Option<Baseline>> {
        let name = self.baseline.display().to_string();
        match std::fs::read(&self.baseline) {
            Ok(bytes) => {
                let baseline = Baseline::parse(&name, &bytes)?;
                baseline.notes.iter().for_each(|text| note(text));
                Ok(Some(baseline))
            }
            Err(error) if error.kind() == ErrorKind::NotFound && self.update => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(input_error!(
                "there is no baseline {name}: make it with check --update, from a state that is known to be good"
            )),
            Err(error) => Err(Error::read(&self.baseline, error)),
        }
    }

    fn comparable(&self, stored: Option<Baseline>, expected: &Baseline) -> Result<Option<Baseline>> {
        let aligned =
            stored.map(|stored| stored.aligned_with(&self.baseline.display().to_string(), expected));
        match aligned.transpose() {
            Err(problem) if self.update => {
                note(&format!("not compared: {problem}"));
                Ok(None)
            }
            aligned => aligned,
        }
    }

    fn show(&self, shown: &Shown<'_>) -> Result<()> {
        if let Some(path) = &self.out {
            atomic::write(path, render::junit(shown)?.as_bytes())?;
        }
        // What passes changes the file, too.
        let quiet = |outcome| outcome == Outcome::Same || outcome == Outcome::Within && !self.update;
        let wanted = |deviation: &&Deviation| self.all || !quiet(deviation.outcome);
        print(&match self.format {
            CheckFormat::Table => shown.table(Format::Table, wanted)? + &shown.summary() + "\n",
            CheckFormat::Markdown => shown.table(Format::Markdown, wanted)? + "\n" + &shown.summary() + "\n",
            CheckFormat::Json => shown.table(Format::Json, |_| true)?,
            CheckFormat::Csv => shown.table(Format::Csv, |_| true)?,
            CheckFormat::Junit if self.out.is_some() => String::new(),
            CheckFormat::Junit => render::junit(shown)?,
            CheckFormat::Github => render::annotations(shown) + &shown.summary() + "\n",
        })?;
        if self.format == CheckFormat::Github
            && let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty())
        {
            render::append(Path::new(&path), &render::job_summary(shown, wanted)?)?;
        }
        Ok(())
    }
}

/// A comparison with what it is called.
struct Shown<'a> {
    gate: Gate,
    title: &'a str,
    baseline: &'a Path,
}

impl Shown<'_> {
    /// A table of some rows; nothing for people where there are none.
    fn table(&self, format: Format, wanted: impl FnMut(&&Deviation) -> bool) -> Result<String> {
        let wanted = self.gate.deviations.iter().filter(wanted);
        let rows: Vec<Row> = wanted.map(|deviation| self.gate.row(deviation)).collect();
        if rows.is_empty() && matches!(format, Format::Table | Format::Markdown) {
            return Ok(String::new());
        }
        let same_name = rows.iter().all(|row| row["variant"] == row["policy"]);
        let keys =
            self.gate.columns.iter().map(String::as_str).filter(|name| !(same_name && *name == "policy"));
        let columns = keys.map(|name| (name, name)).chain([
            ("outcome", "outcome"),
            ("baseline", "baseline"),
            ("value", "value"),
            ("difference", "difference"),
            ("difference_pct", "[%]"),
            ("allowed", "allowed"),
        ]);
        render_rows(format, &rows, &columns.collect::<Vec<_>>())
    }

    /// One line on all of it.
    fn summary(&self) -> String {
        let better = match self.gate.count(Outcome::Better) {
            0 => "",
            _ => "; keep what is better with --update",
        };
        let (values, tally) = (self.gate.deviations.len(), self.gate.tally());
        format!("{values} values against {}: {tally}{better}", self.baseline.display())
    }

    /// # Errors
    /// [`Error::Check`] that names what fails.
    fn check(&self) -> Result<()> {
        let failures: Vec<&Deviation> = self.gate.failures().collect();
        if failures.is_empty() {
            return Ok(());
        }
        Err(Error::Check(format!(
            "{} of {} values fail against {}:\n  {}\nif that is meant, accept it with check --update",
            failures.len(),
            self.gate.deviations.len(),
            self.baseline.display(),
            self.sentences(&failures, "the table has all").join("\n  ")
        )))
    }

    /// # Errors
    /// Runs failed: a baseline of them would be blank.
    fn check_runs(&self) -> Result<()> {
        let failed = self.gate.deviations.iter().filter(|deviation| deviation.outcome == Outcome::Failed);
        let failed: Vec<&Deviation> = failed.collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(Error::Check(format!(
            "{} is left as it was, since runs failed:\n  {}",
            self.baseline.display(),
            self.sentences(&failed, "the table has all").join("\n  ")
        )))
    }

    /// A sentence each, the first of them where there are many.
    fn sentences(&self, deviations: &[&Deviation], more: &str) -> Vec<String> {
        let shown = if deviations.len() > SHOWN { SHOWN - 1 } else { deviations.len() };
        let mut sentences: Vec<String> =
            deviations[..shown].iter().map(|deviation| self.gate.sentence(deviation)).collect();
        if deviations.len() > shown {
            sentences.push(format!("... and {} more ({more})", deviations.len() - shown));
        }
        sentences
    }
}
