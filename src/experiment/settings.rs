use std::path::PathBuf;

use crate::cluster::ClusterSpec;
use crate::error::{Result, input_error};
use crate::model::Model;
use crate::policy::{Params, ParamsFile, PolicySpec, resolve_params};
use crate::sim::World;
use crate::workload::{Catalogue, Trace};

/// What runs have in common beside trace and policy.
#[derive(Debug, Clone)]
pub struct Settings {
    pub catalogue: Catalogue,
    pub cluster: ClusterSpec,
    pub model: Model,
    /// Applied in order, after the defaults.
    pub params: Vec<ParamsFile>,
    /// `key=value`, applied last.
    pub assignments: Vec<String>,
    pub seed: u64,
}

impl Default for Settings {
    /// What is built in, with seed 0.
    fn default() -> Settings {
        Settings {
            catalogue: Catalogue::builtin(),
            cluster: ClusterSpec::builtin(),
            model: Model::builtin(),
            params: Vec::new(),
            assignments: Vec::new(),
            seed: 0,
        }
    }
}

impl Settings {
    /// Reads the files that are given, and takes what is built in for the others; but of a catalogue that is no
    /// edited copy of the built-in one, the built-in factors per workload know nothing, whatever its names.
    pub fn load(
        cluster: Option<&PathBuf>,
        workloads: Option<&PathBuf>,
        models: &[PathBuf],
        params: &[String],
    ) -> Result<Settings> {
        let mut settings = Settings::default();
        if let Some(path) = cluster {
            settings.cluster = ClusterSpec::load(path)?;
        }
        if let Some(path) = workloads {
            settings.catalogue = Catalogue::load(path)?;
            if !settings.catalogue.derives_from(&Catalogue::builtin()) {
                settings.model = settings.model.without_factors();
            }
        }
        for path in models {
            settings.model.override_with_file(path, &settings.catalogue)?;
        }
        settings.params = params.iter().map(|name| ParamsFile::open(name)).collect::<Result<_>>()?;
        Ok(settings)
    }

    /// Refuses a telemetry condition for all runs, where each has that of its measured run.
    pub(super) fn refuse_condition(&self) -> Result<()> {
        let blind = "telemetry_blind_gpu";
        let key = |assignment: &String| assignment.split('=').next().is_some_and(|key| key.trim() == blind);
        if self.assignments.iter().any(key) {
            return Err(input_error!(
                "--set {blind}: an evaluation runs under the conditions of its measured runs; change them in the measured \
                 results, or use compare"
            ));
        }
        Ok(())
    }

    /// The parameters of a policy.
    pub fn params(&self, policy: &PolicySpec) -> Result<Params> {
        resolve_params(policy, &self.params, &self.assignments)
    }

    /// The world of a trace.
    pub fn world(&self, trace: &Trace) -> Result<World> {
        World::new(trace, self.catalogue.clone(), self.cluster.clone(), self.model.clone())
    }
}
