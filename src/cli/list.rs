use super::args::FormatArg;
use super::output::print;
use crate::error::Result;
use crate::experiment::sweep::{BUILTIN_EXPERIMENTS, Better, Experiment, Metric, figure_columns};
use crate::policy::{Modifier, ParamsFile, PolicyKind};
use crate::report::{Row, render, row};
use crate::workload::{BUILTIN_TRACES, Catalogue, Trace};

/// List what can be named: traces, policies, workloads, parameters, experiments or metrics
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim list policies
  aegis-sim list workloads --format csv")]
pub(super) struct ListArgs {
    #[arg(value_enum)]
    what: What,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Traces,
    Policies,
    Workloads,
    Parameters,
    Experiments,
    Metrics,
}

type Columns = &'static [(&'static str, &'static str)];

impl ListArgs {
    pub fn execute(self) -> Result<()> {
        let (rows, columns): (Vec<Row>, Columns) = match self.what {
            What::Traces => (traces()?, TRACES),
            What::Policies => (policies(), POLICIES),
            What::Workloads => (workloads(), WORKLOADS),
            What::Parameters => (parameters(), PARAMETERS),
            What::Experiments => (experiments()?, EXPERIMENTS),
            What::Metrics => (metrics(), METRICS),
        };
        print(&render(self.format.format, &rows, columns)?)
    }
}

const TRACES: Columns = &[
    ("trace", "trace"),
    ("jobs", "jobs"),
    ("span_s", "arrivals within [s]"),
    ("gpus", "GPUs asked for, in all"),
];

fn traces() -> Result<Vec<Row>> {
    let names = BUILTIN_TRACES.map(|(name, _)| name);
    names
        .into_iter()
        .map(|name| {
            let jobs = Trace::open(name)?.jobs;
            let span_s =
                jobs.last().map_or(0.0, |job| job.submit_s) - jobs.first().map_or(0.0, |job| job.submit_s);
            let gpus: u32 = jobs.iter().map(|job| job.gpus).sum();
            Ok(row([
                ("trace", name.into()),
                ("jobs", jobs.len().into()),
                ("span_s", span_s.into()),
                ("gpus", gpus.into()),
            ]))
        })
        .collect()
}

const POLICIES: Columns = &[("name", "name"), ("kind", "kind"), ("meaning", "meaning")];

fn policies() -> Vec<Row> {
    let policy = |kind: PolicyKind| {
        let meaning = match kind {
            PolicyKind::Exclusive => "a GPU never holds two jobs",
            PolicyKind::Horus => "predicted utilisations of a GPU's jobs add up to at most 100 %",
            PolicyKind::Lucid => "at most two jobs per GPU whose sharing scores and memory peaks fit",
            PolicyKind::Aegis => "memory feasibility, post-placement observation, runtime pressure, recovery",
        };
        row([("name", kind.name().into()), ("kind", "policy".into()), ("meaning", meaning.into())])
    };
    let modifier = |(name, _, meaning): (&str, Modifier, &str)| {
        row([
            ("name", format!("+{name}").into()),
            ("kind", "aegis modifier".into()),
            ("meaning", meaning.into()),
        ])
    };
    let alias = |(alias, name): (&str, &str)| {
        row([
            ("name", format!("+{alias}").into()),
            ("kind", "aegis modifier".into()),
            ("meaning", format!("another name of +{name}").into()),
        ])
    };
    let modifiers = Modifier::ALL.into_iter().map(modifier).chain(Modifier::ALIASES.into_iter().map(alias));
    PolicyKind::ALL.into_iter().map(policy).chain(modifiers).collect()
}

const WORKLOADS: Columns = &[
    ("workload", "workload"),
    ("gpus", "GPUs"),
    ("solo_runtime_s", "solo runtime [s]"),
    ("startup_s", "start-up [s]"),
    ("peak_memory_mib", "peak memory [MiB]"),
    ("smact_mean", "SMACT"),
    ("smocc_mean", "SMOCC"),
    ("drama_mean", "DRAMA"),
    ("gpu_util_mean", "GPU utilisation"),
];

fn workloads() -> Vec<Row> {
    let of = |workload: &crate::workload::Workload| {
        let profile = workload.profile(0);
        row([
            ("workload", workload.name.as_str().into()),
            ("gpus", workload.gpus.into()),
            ("solo_runtime_s", workload.solo_runtime_s.into()),
            ("startup_s", workload.startup_s.into()),
            ("peak_memory_mib", (profile.peak_memory_mib.round() as u64).into()),
            ("smact_mean", profile.smact.map(|smact| smact.mean).into()),
            ("smocc_mean", profile.smocc.map(|smocc| smocc.mean).into()),
            ("drama_mean", profile.drama.map(|drama| drama.mean).into()),
            ("gpu_util_mean", profile.gpu_util.mean.into()),
        ])
    };
    Catalogue::builtin().workloads().iter().map(of).collect()
}

const EXPERIMENTS: Columns =
    &[("experiment", "experiment"), ("settings", "settings"), ("runs", "runs"), ("about", "question")];

fn experiments() -> Result<Vec<Row>> {
    BUILTIN_EXPERIMENTS
        .iter()
        .map(|(name, _)| {
            let Experiment { design, presentation, .. } = Experiment::open(name)?;
            Ok(row([
                ("experiment", (*name).into()),
                ("settings", design.setting_count().into()),
                ("runs", design.run_count().into()),
                ("about", presentation.about.into()),
            ]))
        })
        .collect()
}

const METRICS: Columns = &[("metric", "metric"), ("label", "on figures"), ("better", "better")];

fn metrics() -> Vec<Row> {
    let known = figure_columns().into_iter().filter_map(|name| Metric::find(&name, false).ok());
    known
        .map(|metric| {
            let better = match metric.better() {
                Better::Lower => "lower",
                Better::Higher => "higher",
                Better::Neither => "",
            };
            let (label, _) = metric.label(None);
            row([("metric", metric.name.into()), ("label", label.into()), ("better", better.into())])
        })
        .collect()
}

const PARAMETERS: Columns =
    &[("parameter", "parameter"), ("default", "default"), ("range", "range"), ("meaning", "meaning")];

fn parameters() -> Vec<Row> {
    let defaults = PolicyKind::ALL.map(ParamsFile::defaults);
    let values = defaults.each_ref().map(|params| params.entries().collect::<Vec<_>>());
    (0..values[0].len())
        .map(|i| {
            let (parameter, common) = &values[PolicyKind::Aegis as usize][i];
            // Where policies differ, what differs from AEGIS.
            let others: Vec<String> = PolicyKind::ALL
                .into_iter()
                .zip(&values)
                .filter(|(_, values)| values[i].1 != *common)
                .map(|(kind, values)| format!("; {}: {}", kind.name(), values[i].1))
                .collect();
            row([
                ("parameter", parameter.key.into()),
                ("default", format!("{common}{}", others.concat()).into()),
                ("range", parameter.domain.to_string().into()),
                ("meaning", parameter.doc.trim().into()),
            ])
        })
        .collect()
}
