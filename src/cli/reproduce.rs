use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::args::{FormatArg, SettingsArgs};
use super::figures::distributions_by_trace;
use super::output::{make_dir, print};
use crate::error::{Error, Result, input_error};
use crate::experiment::{Cell, Evaluation, Reduction, Reproduction, reproduce};
use crate::policy::PolicyKind;
use crate::report::plot::{self, Bar, BarGroup};
use crate::report::{Format, Row, SCHEMA_VERSION, atomic, rows_to_csv, rows_to_table, summary_row};

/// Replay the paper's evaluation and set it beside the measured results
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim reproduce
  aegis-sim reproduce --out out --format json
  aegis-sim reproduce --check          exit code 1 unless errors are within the evaluation's limits

Every run is simulated under its measured run's condition: in 14 of the 18, SMACT and SMOCC telemetry of one GPU
read zero. Which one is not known: each is tried, and the run of median makespan is shown. The columns \"sound\" show the
same run with telemetry of all GPUs. With --out: reproduce.json, reproduce.csv and the figures makespan and, per trace, jct and slowdown as
SVG and PNG. docs/formats.md lists the columns.")]
pub(super) struct ReproduceArgs {
    /// Evaluation file (TOML) [default: experiments/paper.toml]
    #[arg(long, value_name = "FILE")]
    evaluation: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Directory for the table and figures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 1 unless the results keep to the evaluation's [check]
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: FormatArg,
}

const COLUMNS: &[(&str, &str)] = &[
    ("trace", "trace"),
    ("policy", "policy"),
    ("makespan_s", "makespan [s]"),
    ("measured_makespan_s", "measured"),
    ("makespan_error_pct", "error [%]"),
    ("sound_makespan_s", "sound"),
    ("jct_mean_s", "JCT mean [s]"),
    ("measured_jct_mean_s", "measured"),
    ("jct_mean_error_pct", "error [%]"),
    ("sound_jct_mean_s", "sound"),
    ("failed_attempts", "OOMs"),
    ("measured_failed_attempts", "measured"),
    ("telemetry_blind_gpu", "blind GPU"),
];

/// Figures whose errors are told, with what their columns and people call them.
const ERRORS: [(&str, &str, &str); 6] = [
    ("makespan_s", "makespan", "makespan"),
    ("jct_mean_s", "jct_mean", "mean JCT"),
    ("execution_time_mean_s", "execution_time_mean", "mean execution time"),
    ("energy_j", "energy", "energy"),
    ("gpu_util_active_mean", "gpu_util_active_mean", "GPU utilisation"),
    ("drama_active_mean", "drama_active_mean", "DRAMA"),
];

impl ReproduceArgs {
    pub fn execute(self) -> Result<()> {
        let evaluation = Evaluation::open(self.evaluation.as_deref())?;
        let settings = self.settings.load()?;
        let reproduction = reproduce(&evaluation, &settings)?;
        let rows: Vec<Row> = reproduction.cells.iter().map(cell_row).collect();
        let json = json_text(&rows, &reproduction)?;
        if let Some(dir) = &self.out {
            make_dir(dir)?;
            atomic::write(&dir.join("reproduce.json"), json.as_bytes())?;
            atomic::write(&dir.join("reproduce.csv"), rows_to_csv(&rows)?.as_bytes())?;
            let groups: Vec<BarGroup> =
                reproduction.cells.chunks(evaluation.policies.len()).map(bars).collect();
            plot::write(dir, "makespan", &plot::makespan_bars(&groups))?;
            distributions_by_trace(dir, reproduction.cells.iter().map(|cell| &cell.record))?;
        }
        print(&match self.format.format {
            Format::Json => json,
            Format::Csv => rows_to_csv(&rows)?,
            format => rows_to_table(format, &rows, COLUMNS) + &closing_lines(&reproduction),
        })?;
        if !self.check {
            return Ok(());
        }
        let shortfalls = reproduction.shortfalls(&evaluation, &settings)?;
        if shortfalls.is_empty() {
            return Ok(());
        }
        Err(Error::Check(format!("the reproduction falls short:\n  {}", shortfalls.join("\n  "))))
    }
}

/// Makespans over exclusive's, the measured ones over its measured one.
fn bars(of_trace: &[Cell]) -> BarGroup {
    let exclusive = of_trace.iter().find(|cell| cell.policy.kind == PolicyKind::Exclusive);
    let measured_exclusive = exclusive.and_then(|cell| cell.measured.figure("makespan_s"));
    let bar = |cell: &Cell| Bar {
        policy: cell.policy.to_string(),
        value: cell.makespan_vs_exclusive,
        measured: cell.measured.figure("makespan_s").zip(measured_exclusive).map(|(own, base)| own / base),
    };
    let label = of_trace.first().map_or(String::new(), |cell| cell.summary.trace.clone());
    BarGroup { label, bars: of_trace.iter().map(bar).collect() }
}

/// A cell's simulated figures, the measured ones, errors, and those of the run with sound telemetry.
fn cell_row(cell: &Cell) -> Row {
    let mut row = summary_row(&cell.summary);
    let figures: Vec<String> = cell.summary.figures().into_iter().map(|(name, _)| name).collect();
    row.insert("makespan_vs_exclusive".into(), cell.makespan_vs_exclusive.into());
    row.insert("jct_mean_vs_exclusive".into(), cell.jct_mean_vs_exclusive.into());
    row.insert("telemetry_blind_gpu".into(), cell.telemetry_blind_gpu.as_str().into());
    for name in &figures {
        if let Some(measured) = cell.measured_figure(name) {
            let count = row.get(name).is_some_and(Value::is_u64);
            let value = if count { Value::from(measured as u64) } else { measured.into() };
            row.insert(format!("measured_{name}"), value);
        }
    }
    for (name, short, _) in ERRORS {
        row.insert(format!("{short}_error_pct"), cell.error_pct(name).into());
    }
    row.insert("sound_makespan_s".into(), cell.sound.makespan_s.into());
    row.insert("sound_jct_mean_s".into(), cell.sound.jct_s.mean.into());
    row.insert("sound_failed_attempts".into(), cell.sound.failed_attempts.into());
    row
}

fn json_text(rows: &[Row], reproduction: &Reproduction) -> Result<String> {
    let mut headline = Row::new();
    for reduction in &reproduction.headline {
        let name = format!("reduction_vs_{}_pct", reduction.against);
        headline.insert(name.clone(), reduction.simulated_pct.into());
        headline.insert(format!("measured_{name}"), reduction.measured_pct.into());
        headline.insert(format!("sound_{name}"), reduction.sound_pct.into());
    }
    for (name, short, _) in ERRORS {
        headline.insert(format!("{short}_mae_pct"), reproduction.mean_absolute_error_pct(name).into());
    }
    let value = json!({ "schema_version": SCHEMA_VERSION, "cells": rows, "headline": headline });
    let text = serde_json::to_string_pretty(&value);
    text.map(|text| text + "\n").map_err(|error| input_error!("cannot write the results as JSON: {error}"))
}

/// The headline reductions and the errors over all cells.
fn closing_lines(reproduction: &Reproduction) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    line(String::new());
    for Reduction { against, simulated_pct, measured_pct, sound_pct } in &reproduction.headline {
        line(format!(
            "- Makespan against {against} (geometric mean): {:+.1} % simulated, {:+.1} % measured; {:+.1} % with sound \
             telemetry",
            -simulated_pct, -measured_pct, -sound_pct
        ));
    }
    let errors = ERRORS
        .map(|(name, _, called)| format!("{called} {:.2} %", reproduction.mean_absolute_error_pct(name)));
    let runs = reproduction.cells.len();
    line(format!("- Mean absolute error over {runs} runs: {}", errors.join(", ")));
    text
}
