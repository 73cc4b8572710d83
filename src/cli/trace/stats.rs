use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::args::FormatArg;
use crate::cli::output::{make_dir, note, open_traces, print};
use crate::cluster::ClusterSpec;
use crate::error::Result;
use crate::report::plot::{self, ArrivalPanel, BarPanel, Quantity};
use crate::report::{Format, Row, SCHEMA_VERSION, atomic, render, row, rows_to_csv, rows_to_table};
use crate::traces::stats::{Description, GANG_BINS, Statistic, distances, gang_bin, statistics};
use crate::workload::Catalogue;

/// Describe traces, side by side
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace stats philly saturn venus
  aegis-sim trace stats philly.csv window.csv --cluster my.toml --out out     how far the window is from the whole
  zcat my.csv.gz | aegis-sim trace stats - --format json

Durations are runtimes alone: duration_s or, where that is blank, the solo runtime of the workload. With several traces, each stands
beside the first, with its distances from it. With --out: stats.csv, stats.json and the figures arrivals, durations and
gpu_mix as SVG and PNG. docs/formats.md lists the statistics.")]
pub(in crate::cli) struct StatsArgs {
    /// CSV files, philly, saturn, venus, or - for standard input
    #[arg(value_name = "IN", required = true)]
    traces: Vec<String>,
    /// Cluster file (TOML): adds the load that each trace offers to it
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Workload catalogue (CSV) [default: 53 A100 workloads, models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    /// Directory for the statistics and the figures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

impl StatsArgs {
    pub fn execute(self) -> Result<()> {
        let catalogue = Catalogue::load_or_builtin(self.workloads.as_deref())?;
        let cluster = self.cluster.as_ref().map(|path| ClusterSpec::load(path)).transpose()?;
        let traces = open_traces(&self.traces, &[])?;
        let descriptions: Vec<Description> =
            traces.iter().map(|trace| Description::of(trace, &catalogue, cluster.as_ref())).collect();
        drop(traces);
        for description in &descriptions {
            let Description { name, jobs, catalogue_durations, unknown_durations, .. } = description;
            if *catalogue_durations > 0 {
                note(&format!(
                    "{name}: {catalogue_durations} of {jobs} jobs have no duration_s; took their workloads' solo runtimes \
                     from {}",
                    catalogue.source()
                ));
            }
            if *unknown_durations > 0 {
                note(&format!(
                    "{name}: {unknown_durations} of {jobs} jobs have neither duration_s nor a workload that was profiled on \
                     as many GPUs; left them out of durations and GPU service"
                ));
            }
        }
        let sides = Sides::of(&descriptions);
        if let Some(dir) = &self.out {
            make_dir(dir)?;
            atomic::write(&dir.join("stats.csv"), rows_to_csv(&sides.rows())?.as_bytes())?;
            atomic::write(&dir.join("stats.json"), render(Format::Json, &sides.rows(), &[])?.as_bytes())?;
            figures(dir, &descriptions)?;
        }
        print(&match self.format.format {
            format @ (Format::Table | Format::Markdown) => sides.table(format),
            format => render(format, &sides.rows(), &[])?,
        })
    }
}

/// Statistics of traces, and distances of all but the first from the first.
struct Sides<'a> {
    names: Vec<&'a str>,
    statistics: Vec<Vec<Statistic>>,
    distances: Vec<Vec<Statistic>>,
}

impl Sides<'_> {
    fn of(descriptions: &[Description]) -> Sides<'_> {
        let others = descriptions.iter().skip(1);
        Sides {
            names: descriptions.iter().map(|description| description.name.as_str()).collect(),
            statistics: statistics(descriptions),
            distances: others.map(|other| distances(&descriptions[0], other)).collect(),
        }
    }

    /// A row per trace and statistic.
    fn rows(&self) -> Vec<Row> {
        let line = |trace: &str, from: Value, statistic: &Statistic| {
            row([
                ("schema_version", SCHEMA_VERSION.into()),
                ("trace", trace.into()),
                ("distance_from", from),
                ("statistic", statistic.name.clone().into()),
                ("value", statistic.value.clone()),
            ])
        };
        let mut rows = Vec::new();
        for (trace, statistics) in self.names.iter().zip(&self.statistics) {
            rows.extend(statistics.iter().map(|statistic| line(trace, Value::Null, statistic)));
        }
        for (trace, distances) in self.names[1..].iter().zip(&self.distances) {
            rows.extend(distances.iter().map(|statistic| line(trace, self.names[0].into(), statistic)));
        }
        rows
    }

    /// A column per trace.
    fn table(&self, format: Format) -> String {
        // Columns by number: names of traces are not names of figures, which say how many digits to show.
        let keys: Vec<String> = (0..self.names.len()).map(|i| i.to_string()).collect();
        let mut rows: Vec<Row> = Vec::new();
        for (i, first) in self.statistics[0].iter().enumerate() {
            let mut row = row([("statistic", first.label.clone().into())]);
            row.extend(keys.iter().cloned().zip(self.statistics.iter().map(|all| all[i].value.clone())));
            rows.push(row);
        }
        for (i, first) in self.distances.first().into_iter().flatten().enumerate() {
            let mut row = row([
                ("statistic", format!("from {}: {}", self.names[0], first.label).into()),
                ("0", Value::Null),
            ]);
            row.extend(keys[1..].iter().cloned().zip(self.distances.iter().map(|all| all[i].value.clone())));
            rows.push(row);
        }
        let headings = keys.iter().map(String::as_str).zip(self.names.iter().copied());
        let columns: Vec<(&str, &str)> = [("statistic", "statistic")].into_iter().chain(headings).collect();
        rows_to_table(format, &rows, &columns)
    }
}

fn figures(dir: &Path, descriptions: &[Description]) -> Result<()> {
    let panel =
        |d: &Description| ArrivalPanel { title: d.name.clone(), submissions_s: d.submissions_s.clone() };
    let panels: Vec<ArrivalPanel> = descriptions.iter().map(panel).collect();
    plot::write(dir, "arrivals", &plot::arrivals(&panels))?;
    let known = |d: &Description| -> (String, Vec<f64>) {
        // A logarithmic axis has no place for 0.
        let positive = &d.durations_s[d.durations_s.partition_point(|duration_s| *duration_s == 0.0)..];
        if positive.len() < d.durations_s.len() {
            let zero = d.durations_s.len() - positive.len();
            note(&format!("{}: left {zero} jobs of 0 s out of the figure of durations", d.name));
        }
        (d.name.clone(), positive.to_vec())
    };
    let durations_s: Vec<(String, Vec<f64>)> = descriptions.iter().map(known).collect();
    plot::write(dir, "durations", &plot::ecdf(&durations_s, Quantity::log("duration [s]")))?;
    let largest = descriptions.iter().filter_map(|d| d.gangs.keys().last()).max();
    let groups = largest.map_or(0, |&gpus| gang_bin(gpus) + 1);
    let shares = |of: usize| -> Vec<(String, Vec<f64>)> {
        descriptions.iter().map(|d| (d.name.clone(), d.gang_shares()[of][..groups].to_vec())).collect()
    };
    let mixes = [(0, "jobs", "fraction of jobs"), (1, "GPU service", "fraction of GPU time")];
    let panels = mixes.map(|(of, title, label)| BarPanel {
        title: title.to_owned(),
        label: label.to_owned(),
        series: shares(of),
    });
    let groups = GANG_BINS[..groups].iter().map(|(_, heading, _)| *heading).collect::<Vec<_>>();
    plot::write(dir, "gpu_mix", &plot::bars(&groups, "GPUs per job", &panels))?;
    Ok(())
}
