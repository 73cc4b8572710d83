pub(super) mod figures;
mod progress;

use std::path::{Path, PathBuf};

use super::args::{FormatArg, JobsArg};
use super::output::{note, print};
use crate::error::Result;
use crate::experiment::sweep::{
    Better, Experiment, GEOMEAN, Manifest, Over, Results, RunLine, Shard, Store, Variant, aggregate_rows,
    check_failures, merge, seconds_per_run, sweep,
};
use crate::report::{Format, Row, atomic, render, rows_to_csv};

/// Run an experiment: all settings of its axes on all traces under all seeds, in parallel and resumable
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim sweep observation_window --plan                  how many runs, and how long
  aegis-sim sweep observation_window --out out
  aegis-sim sweep observation_window --out out --resume      after a crash, or to redraw the figures
  aegis-sim sweep my.toml --out out --shard 2/8              into out/shard-2-of-8; join with merge
  aegis-sim sweep my.toml --out out --shard auto             in a Slurm job array (Kubernetes: auto/8)

experiments/README.md describes experiment files. Written to --out: experiment.json (what ran, with version and hashes of all
inputs), results.csv (a row per run), runs.csv (means over seeds with 95 % bootstrap intervals) and the figures as SVG and PNG;
docs/formats.md lists the columns. The same experiment gives the same bytes on any number of threads, resumed or not, whole
or merged from shards. Runs that fail are rows with an error, and make the exit code 1.")]
pub(super) struct SweepArgs {
    /// Name of a built-in experiment, or an experiment file (TOML)
    experiment: String,
    /// Folder for the results
    #[arg(long, value_name = "DIR", required_unless_present = "plan")]
    out: Option<PathBuf>,
    #[command(flatten)]
    jobs: JobsArg,
    /// Go on where a sweep into this folder was stopped
    #[arg(long)]
    resume: bool,
    /// Only part i of n, as i/n; auto takes i from a Slurm job array, auto/n from a Kubernetes indexed Job, too
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Print how many runs it is and about how long they take, and stop
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    format: FormatArg,
}

/// Join the shards of an experiment
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim merge out --out merged                         all shards in the folder out
  aegis-sim merge a/shard-1-of-2 b/shard-2-of-2 --out merged

Writes what a sweep without --shard would have written, byte by byte. Refuses shards of different experiments, missing and
unfinished ones, and runs that are there twice.")]
pub(super) struct MergeArgs {
    /// Folders of shards, or folders that hold them
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    format: FormatArg,
}

impl SweepArgs {
    pub fn execute(self) -> Result<()> {
        let experiment = Experiment::open(&self.experiment)?;
        experiment.notes().for_each(note);
        let shard =
            self.shard.as_deref().map(|text| Shard::of_argument(text, &|name| std::env::var(name).ok()));
        let shard = shard.transpose()?;
        let manifest = Manifest::of(&experiment, shard)?;
        let threads = self.jobs.threads();
        let Some(out) = self.out.filter(|_| !self.plan) else {
            return plan(&experiment, &manifest, threads);
        };
        let dir = shard.map_or(out.clone(), |shard| out.join(shard.folder()));
        idle_axes(&experiment).iter().for_each(|text| note(text));
        let store = Store::open(&dir, manifest, self.resume)?;
        let progress = progress::Progress::new(&experiment, store.open_runs().len())?;
        let store = sweep(&experiment, store, threads, &|key, outcome| progress.ended(key, outcome))?;
        progress.finish();
        store.write_results()?;
        let shown = write_and_print(&dir, &store.manifest, store.lines(), self.format.format);
        store.close()?;
        shown
    }
}

impl MergeArgs {
    pub fn execute(self) -> Result<()> {
        let merged = merge(&self.dirs, &self.out)?;
        write_and_print(&self.out, &merged.manifest, &merged.lines, self.format.format)
    }
}

fn plan(experiment: &Experiment, manifest: &Manifest, threads: usize) -> Result<()> {
    let design = &experiment.design;
    let own = manifest.own_runs().count();
    let each_s = seconds_per_run(experiment, 2.0);
    let axes = design.axes.iter().map(|axis| format!("  axis {}: {} values\n", axis.name, axis.values.len()));
    let part = match manifest.shard {
        Some(shard) => format!("{own} of {} runs, shard {shard}", manifest.runs),
        None => format!("{own} runs"),
    };
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let time = std::time::Duration::from_secs_f64(each_s * own as f64 / threads as f64);
    let time = match time.as_secs() {
        0 => "less than a second".to_owned(),
        _ => format!("about {}", indicatif::HumanDuration(time)),
    };
    print(&format!(
        "{}\n{}  {} x {} x {} = {part}\n  {time} on {} ({:.1} ms a run)\n",
        experiment.presentation.title,
        axes.collect::<String>(),
        counted(design.setting_count(), "setting"),
        counted(design.traces.len(), "trace"),
        counted(design.replicates as usize, "seed"),
        counted(threads, "thread"),
        1e3 * each_s
    ))
}

/// Axes along which all runs of a variant are the same.
fn idle_axes(experiment: &Experiment) -> Vec<String> {
    let design = &experiment.design;
    let idle = |(index, variant): (usize, &Variant)| {
        let names: Vec<&str> =
            experiment.idle_axes(index).into_iter().map(|axis| design.axes[axis].name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{} does not depend on {}: its runs repeat along it; a [[variant]] with without = [\"{}\"] has them once",
                variant.name,
                names.join(" and "),
                names.join("\", \"")
            )
        })
    };
    design.variants.iter().enumerate().filter_map(idle).collect()
}

/// Aggregates and figures of all runs; of a shard there is nothing to aggregate.
fn write_and_print(dir: &Path, manifest: &Manifest, lines: &[Option<RunLine>], format: Format) -> Result<()> {
    let results = Results::new(manifest, lines)?;
    if let Some(shard) = manifest.shard {
        note(&format!(
            "shard {shard}: {} runs in {}; merge joins all shards",
            manifest.own_runs().count(),
            dir.display()
        ));
    } else {
        let rows = aggregate_rows(&results)?;
        atomic::write(&dir.join("runs.csv"), rows_to_csv(&rows)?.as_bytes())?;
        figures::write(dir, &results)?;
        doubts(&results).iter().for_each(|text| note(text));
        print(&shown(format, &results, rows)?)?;
    }
    check_failures(&manifest.design, &results.failures)
}

/// What a reader of the results should know.
fn doubts(results: &Results<'_>) -> Vec<String> {
    let design = results.design();
    let gives_up = |setting: &usize| results.given_up(*setting, Over::Traces) > 0.0;
    let giving_up = (0..design.setting_count()).filter(gives_up).count();
    let given_up = (giving_up > 0).then(|| {
        format!(
            "{giving_up} of {} settings give up jobs that fit nowhere (given_up_jobs): their makespans are of less work, \
             and they are ranked last",
            design.setting_count()
        )
    });
    let crowded = results.manifest.presentation.plots.iter().filter_map(|plot| {
        let lines = figures::lines(design, plot);
        (lines > figures::MOST_LINES).then(|| {
            format!(
                "figure {} has {lines} lines, more than there are looks; name fewer variants, or points of axes with at",
                plot.name
            )
        })
    });
    given_up.into_iter().chain(crowded).collect()
}

/// Settings that a table shows.
const SHOWN: usize = 10;

/// All rows for programs; for people the best settings, by the mean of the first metric over all traces.
fn shown(format: Format, results: &Results<'_>, mut rows: Vec<Row>) -> Result<String> {
    let design = results.design();
    let objective = results.objective()?;
    let for_people = matches!(format, Format::Table | Format::Markdown);
    let mut end = String::new();
    if for_people {
        let ranked = results.ranked(&objective);
        let wanted = if design.traces.len() > 1 { GEOMEAN } else { &design.traces[0] };
        let of_settings: Vec<&Row> = rows.iter().filter(|row| row["trace"] == wanted).collect();
        if ranked.len() > SHOWN {
            let which = match objective.better() {
                Better::Lower => format!("with the least {}", objective.name),
                Better::Higher => format!("with the most {}", objective.name),
                Better::Neither => {
                    format!("that come first: neither less nor more {} is better", objective.name)
                }
            };
            end = format!("The {SHOWN} of {} settings {which}; runs.csv has all.\n", ranked.len());
        }
        rows = ranked.iter().take(SHOWN).map(|(index, ..)| of_settings[*index].clone()).collect();
    }
    let keys = design.setting_columns().into_iter().map(|column| (column.clone(), column));
    let means = results.manifest.presentation.metrics.iter();
    let means = means.map(|metric| (format!("{metric}_mean"), metric.clone()));
    let (low, high) = (format!("{}_low", objective.name), format!("{}_high", objective.name));
    let ends = [(low, "95 % from".to_owned()), (high, "to".to_owned())];
    let mut columns: Vec<(String, String)> = keys.chain(means).collect();
    columns.retain(|(name, _)| rows.iter().any(|row| row.get(name).is_some_and(|value| !value.is_null())));
    let after =
        columns.iter().position(|(name, _)| *name == format!("{}_mean", objective.name)).map_or(0, |i| i + 1);
    columns.splice(after..after, ends);
    columns.insert(0, ("trace".to_owned(), "trace".to_owned()));
    let columns: Vec<(&str, &str)> =
        columns.iter().map(|(name, heading)| (name.as_str(), heading.as_str())).collect();
    Ok(render(format, &rows, &columns)? + &end)
}
