use std::path::PathBuf;

use clap::Args;

use crate::error::{Result, input_error};
use crate::experiment::Settings;
use crate::policy::PolicySpec;
use crate::report::Format;

/// What all runs of a command have in common.
#[derive(Args)]
pub(super) struct InputArgs {
    /// Cluster file (TOML) [default: 3 x A100 40 GB, models/cluster.toml]
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Workload catalogue (CSV) [default: 53 A100 workloads, models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    /// Model file (TOML) whose sections replace the built-in ones; repeatable
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,
    #[command(flatten)]
    params: ParamsArgs,
}

/// Changes of parameters.
#[derive(Args)]
pub(super) struct ParamsArgs {
    /// Parameter set: default, ideal or a TOML file; repeatable, later ones win
    #[arg(long, value_name = "NAME|FILE")]
    pub params: Vec<String>,
    /// Set one parameter, after all else; repeatable (see `aegis-sim list parameters`)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
}

impl ParamsArgs {
    /// The options that were given, as on the command line.
    pub fn words(&self) -> Vec<String> {
        let params = self.params.iter().map(|name| format!("--params {name}"));
        let assignments = self.assignments.iter().map(|assignment| format!("--set {assignment}"));
        params.chain(assignments).collect()
    }
}

/// What `run`, `compare` and `reproduce` share.
#[derive(Args)]
pub(super) struct SettingsArgs {
    #[command(flatten)]
    inputs: InputArgs,
    /// Seed of all randomness; 0 is the run without run-to-run noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl InputArgs {
    /// The options that were given, as on the command line.
    pub fn words(&self) -> Vec<String> {
        let path = |path: &PathBuf| path.display().to_string();
        let options = [
            ("--cluster", self.cluster.iter().map(path).collect::<Vec<_>>()),
            ("--workloads", self.workloads.iter().map(path).collect()),
            ("--model", self.model.iter().map(path).collect()),
        ];
        let files = options
            .into_iter()
            .flat_map(|(option, values)| values.into_iter().map(move |value| format!("{option} {value}")));
        files.chain(self.params.words()).collect()
    }

    pub fn load(self) -> Result<Settings> {
        let mut settings =
            Settings::load(self.cluster.as_ref(), self.workloads.as_ref(), &self.model, &self.params.params)?;
        settings.assignments = self.params.assignments;
        Ok(settings)
    }
}

impl SettingsArgs {
    pub fn load(self) -> Result<Settings> {
        Ok(Settings { seed: self.seed, ..self.inputs.load()? })
    }
}

#[derive(Args)]
pub(super) struct JobsArg {
    /// Threads, 1 to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl JobsArg {
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }
}

#[derive(Args)]
pub(super) struct FormatArg {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Parses policies, refusing one that is given twice.
pub(super) fn policies(names: &[String]) -> Result<Vec<PolicySpec>> {
    let mut policies = Vec::with_capacity(names.len());
    for name in names {
        let policy: PolicySpec = name.parse()?;
        if policies.contains(&policy) {
            return Err(input_error!("--policy {policy} is given twice; remove one"));
        }
        policies.push(policy);
    }
    Ok(policies)
}
