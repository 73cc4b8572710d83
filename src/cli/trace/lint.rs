use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::args::FormatArg;
use crate::cli::output::{note, print};
use crate::cluster::ClusterSpec;
use crate::error::{Error, Result};
use crate::report::{Format, Row, SCHEMA_VERSION, render, row};
use crate::traces::lint::{Code, Lint, Problem, Severity, lint};
use crate::workload::{Catalogue, RawTrace};

/// Say what is wrong with a trace, why it matters and how to mend it
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace lint my.csv
  aegis-sim trace lint my.csv --cluster my.toml --workloads my-workloads.csv
  aegis-sim trace lint imported.csv --allow blank-workload,gang-too-large     before its jobs have workloads
  zcat my.csv.gz | aegis-sim trace lint - --format json

Errors are what `run` refuses with the same cluster and workloads, warnings what it takes and what is likely not meant; problems of
one kind are one entry. Exit code: 0 none, 1 errors or warnings, 2 the file cannot be read. docs/trace-lint.md explains the codes.")]
pub(in crate::cli) struct LintArgs {
    /// A CSV file, philly, saturn, venus, or - for standard input
    #[arg(value_name = "IN")]
    trace: String,
    /// Cluster file (TOML) that the trace is to run on [default: 3 x A100 40 GB, models/cluster.toml]
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Workload catalogue (CSV) [default: 53 A100 workloads, models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    /// Do not report these problems; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',', hide_possible_values = true)]
    allow: Vec<Code>,
    #[command(flatten)]
    format: FormatArg,
}

impl LintArgs {
    pub fn execute(self) -> Result<()> {
        let raw = RawTrace::open(&self.trace)?;
        let catalogue = Catalogue::load_or_builtin(self.workloads.as_deref())?;
        let cluster =
            self.cluster.as_ref().map_or_else(|| Ok(ClusterSpec::builtin()), |p| ClusterSpec::load(p))?;
        cluster.check_workloads(&catalogue)?;
        let Lint { jobs, mut problems } = lint(&raw.bytes, &catalogue, &cluster);
        problems.retain(|problem| !self.allow.contains(&problem.code));
        let count = |severity| problems.iter().filter(|p| p.severity() == severity).count();
        let [errors, warnings] = [Severity::Error, Severity::Warning].map(count);
        let clean = format!("{}: {jobs} jobs, no problem found", raw.source);
        let format = self.format.format;
        print(&match format {
            Format::Table => {
                let end = if errors + warnings == 0 { clean.clone() + "\n" } else { String::new() };
                problems.iter().map(|problem| text(&raw.source, problem)).collect::<String>() + &end
            }
            _ => render(format, &rows(&problems, format), &COLUMNS)?,
        })?;
        if errors + warnings > 0 {
            return Err(Error::Check(format!(
                "{}: {jobs} jobs, errors: {errors}, warnings: {warnings} (each kind counts once); docs/trace-lint.md explains \
                 them, and --allow CODE silences one",
                raw.source
            )));
        }
        if format != Format::Table {
            note(&clean);
        }
        Ok(())
    }
}

/// Headings, in Markdown. The message has what the column has not.
const COLUMNS: [(&str, &str); 7] = [
    ("severity", "severity"),
    ("code", "code"),
    ("line", "line"),
    ("column", "column"),
    ("count", "count"),
    ("message", "found"),
    ("fix", "what to do"),
];

fn rows(problems: &[Problem], format: Format) -> Vec<Row> {
    let row = |problem: &Problem| {
        let lines = match format {
            Format::Json => problem.lines.clone().into(),
            _ => joined(&problem.lines, " ").into(),
        };
        row([
            ("schema_version", SCHEMA_VERSION.into()),
            ("code", problem.code.name().into()),
            ("severity", problem.severity().name().into()),
            ("line", problem.lines.first().copied().map_or(Value::Null, Value::from)),
            ("column", problem.column.clone().map_or(Value::Null, Value::from)),
            ("count", problem.count.into()),
            ("lines", lines),
            ("message", problem.message.clone().into()),
            ("why", problem.code.why().into()),
            ("fix", problem.fix.clone().into()),
        ])
    };
    problems.iter().map(row).collect()
}

fn joined(lines: &[u64], between: &str) -> String {
    lines.iter().map(u64::to_string).collect::<Vec<_>>().join(between)
}

/// As a compiler would put it.
fn text(source: &str, problem: &Problem) -> String {
    let mut text = format!("{}[{}] {source}", problem.severity().name(), problem.code.name());
    // Writing to a string cannot fail.
    if let Some(line) = problem.lines.first() {
        let _ = write!(text, ", line {line}");
    }
    if let Some(column) = problem.column.as_ref().filter(|column| !column.is_empty()) {
        let _ = write!(text, ", column {column}");
    }
    let _ = writeln!(text, ": {}", problem.message);
    if problem.count > 1 {
        let named = problem.lines.len() as u64;
        let more = if problem.count > named { ", ..." } else { "" };
        let _ =
            writeln!(text, "  {} of them, on lines {}{more}", problem.count, joined(&problem.lines, ", "));
    }
    if problem.severity() != Severity::Info {
        let _ = writeln!(text, "  why: {}\n  fix: {}", problem.code.why(), problem.fix);
    }
    text
}
