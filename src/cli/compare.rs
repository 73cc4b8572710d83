use std::path::PathBuf;

use serde_json::Value;

use super::args::{FormatArg, SettingsArgs, policies};
use super::figures::distributions_by_trace;
use super::output::{make_dir, note_missing_estimates, note_oversized, open_traces, print};
use crate::error::Result;
use crate::experiment::sweep::GEOMEAN;
use crate::experiment::{Comparison, compare};
use crate::metrics::geometric_mean;
use crate::report::plot::{self, Bar, BarGroup};
use crate::report::{Row, atomic, render, rows_to_csv, summary_row};

/// Replay traces under several policies and set them side by side
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim compare --trace philly,saturn,venus --policy lucid,horus,aegis
  aegis-sim compare --trace my.csv --policy aegis --policy aegis+no-thresholds --cluster my.toml --format json

Figures relative to exclusive allocation (1 = the same) come from a run of it on the same trace. Rows with trace
\"geomean\" are geometric means over the traces. With --out: compare.csv and the figures makespan and, per trace,
jct and slowdown as SVG and PNG. docs/formats.md lists the columns.")]
pub(super) struct CompareArgs {
    /// philly, saturn, venus, a CSV file, or - for standard input; repeatable, or a comma list
    #[arg(long, required = true, value_delimiter = ',')]
    trace: Vec<String>,
    /// Policies as for `run`; repeatable, or a comma list
    #[arg(long, required = true, value_delimiter = ',')]
    policy: Vec<String>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Also say how long any policy would take at least, and makespans over that
    #[arg(long)]
    bound: bool,
    /// Directory for the table and figures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

/// Columns of the table, with their headings.
pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("trace", "trace"),
    ("policy", "policy"),
    ("makespan_s", "makespan [s]"),
    ("makespan_vs_exclusive", "/ exclusive"),
    ("jct_mean_s", "JCT mean [s]"),
    ("jct_mean_vs_exclusive", "/ exclusive"),
    ("jct_p95_s", "JCT p95 [s]"),
    ("queue_wait_mean_s", "queue wait mean [s]"),
    ("execution_time_mean_s", "execution mean [s]"),
    ("slowdown_mean", "slowdown mean"),
    ("slowdown_p95", "slowdown p95"),
    ("failed_attempts", "OOMs"),
    ("given_up_jobs", "given up"),
    ("gpu_util_active_mean", "GPU util"),
    ("energy_j", "energy [kJ]"),
];

/// With `--bound`, beside the makespan.
const BOUND_COLUMNS: [(&str, &str); 2] =
    [("makespan_bound_s", "bound [s]"), ("makespan_vs_bound", "/ bound")];

impl CompareArgs {
    pub fn execute(self) -> Result<()> {
        let policies = policies(&self.policy)?;
        let settings = self.settings.load()?;
        let traces = open_traces(&self.trace, &[GEOMEAN])?;
        let worlds = traces.iter().map(|trace| settings.world(trace)).collect::<Result<Vec<_>>>()?;
        worlds.iter().for_each(note_oversized);
        for policy in &policies {
            let params = settings.params(policy)?;
            worlds.iter().for_each(|world| note_missing_estimates(world, policy, &params));
        }
        let comparisons = compare(&worlds, &policies, &settings)?;
        let rows = rows(&comparisons, policies.len(), self.bound);
        if let Some(dir) = &self.out {
            make_dir(dir)?;
            atomic::write(&dir.join("compare.csv"), rows_to_csv(&rows)?.as_bytes())?;
            let groups: Vec<BarGroup> = comparisons.chunks(policies.len()).map(bars).collect();
            plot::write(dir, "makespan", &plot::makespan_bars(&groups))?;
            distributions_by_trace(dir, comparisons.iter().map(|comparison| &comparison.record))?;
        }
        let mut columns = COLUMNS.to_vec();
        if self.bound {
            let after =
                columns.iter().position(|(name, _)| *name == "makespan_vs_exclusive").map_or(0, |i| i + 1);
            columns.splice(after..after, BOUND_COLUMNS);
        }
        print(&render(self.format.format, &rows, &columns)?)
    }
}

fn bars(of_trace: &[Comparison]) -> BarGroup {
    let bar = |comparison: &Comparison| Bar {
        policy: comparison.summary.policy.clone(),
        value: comparison.makespan_vs_exclusive,
        measured: None,
    };
    let label = of_trace.first().map_or(String::new(), |comparison| comparison.summary.trace.clone());
    BarGroup { label, bars: of_trace.iter().map(bar).collect() }
}

/// A row per comparison, and one per policy with geometric means over the traces.
fn rows(comparisons: &[Comparison], policies: usize, bound: bool) -> Vec<Row> {
    let row = |comparison| comparison_row(comparison, bound);
    let mut rows: Vec<Row> = comparisons.iter().map(row).collect();
    for policy in 0..policies {
        let of_policy: Vec<&Row> = rows[..comparisons.len()].iter().skip(policy).step_by(policies).collect();
        rows.push(geomean_row(&of_policy));
    }
    rows
}

fn comparison_row(comparison: &Comparison, bound: bool) -> Row {
    let mut row = summary_row(&comparison.summary);
    row.insert("makespan_vs_exclusive".into(), comparison.makespan_vs_exclusive.into());
    row.insert("jct_mean_vs_exclusive".into(), comparison.jct_mean_vs_exclusive.into());
    if bound {
        row.insert("makespan_bound_s".into(), comparison.bound.makespan_s().into());
        row.insert("makespan_vs_bound".into(), comparison.makespan_vs_bound().into());
    }
    row
}

/// Geometric means of the quantities; counts have none.
fn geomean_row(rows: &[&Row]) -> Row {
    let Some(first) = rows.first() else { return Row::new() };
    let mean = |name: &str, value: &Value| match name {
        "trace" => GEOMEAN.into(),
        _ if value.is_f64() || value.is_null() => {
            let values: Vec<f64> =
                rows.iter().map(|row| row.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)).collect();
            geometric_mean(&values).into()
        }
        "policy" | "seed" | "schema_version" => value.clone(),
        _ => Value::Null,
    };
    first.iter().map(|(name, value)| (name.clone(), mean(name, value))).collect()
}
