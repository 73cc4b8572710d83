use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::design::{Design, OversizedJobs, RunKey, Setting, Variant};
use super::key::Scene;
use super::plot_spec::Presentation;
use super::tolerance::Tolerance;
use crate::error::{Error, Result, input_error};
use crate::experiment::Settings;
use crate::metrics::Summary;
use crate::policy::{Params, ParamsFile, PolicySpec};
use crate::sim::{MakespanBound, NoObserver, World, makespan_bound, simulate};
use crate::workload::{BUILTIN_CATALOGUE, Trace};

/// An experiment that can be run.
#[derive(Debug)]
pub struct Experiment {
    pub design: Design,
    pub presentation: Presentation,
    /// By metric, for `check`.
    pub tolerances: BTreeMap<String, Tolerance>,
    /// All that the runs follow from.
    pub inputs: Vec<Input>,
    pub(super) base: Settings,
    pub(super) traces: Vec<Trace>,
    pub(super) variants: Vec<ExperimentVariant>,
}

/// A variant ready to run.
#[derive(Debug)]
pub(super) struct ExperimentVariant {
    pub design: Variant,
    pub policy: PolicySpec,
    pub params: Params,
    pub scene: Scene,
}

/// A file that results follow from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub role: String,
    /// As the experiment names it.
    pub file: String,
    pub sha256: String,
}

impl Input {
    pub(super) fn new(role: &str, file: &str, bytes: &[u8]) -> Input {
        // The name without directories: where the experiment lies is no part of what it is.
        let file = match role {
            "experiment" => Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy()),
            _ => file.into(),
        };
        Input { role: role.to_owned(), file: file.into_owned(), sha256: sha256(bytes) }
    }

    pub(super) fn read(role: &str, file: &Path, path: &Path) -> Result<Input> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Ok(Self::new(role, &file.display().to_string(), &bytes))
    }

    /// What is built in, as one input.
    pub(super) fn builtin() -> Vec<Input> {
        let files = [
            ("models/cluster.toml", include_str!("../../../models/cluster.toml")),
            (BUILTIN_CATALOGUE, include_str!("../../../models/workloads.csv")),
        ];
        let models = crate::model::BUILTIN.iter().copied();
        let params = crate::policy::BUILTIN_PARAMS.iter().copied();
        files
            .into_iter()
            .chain(models)
            .chain(params)
            .map(|(file, text)| Input::new("built in", file, text.as_bytes()))
            .collect()
    }
}

/// In hexadecimal, as `sha256sum` prints it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Experiment {
    /// Changes parameters of all variants, as `--params` and `--set` do.
    ///
    /// # Errors
    /// A parameter that the experiment sets or varies itself.
    pub fn change(&mut self, files: &[String], assignments: &[String]) -> Result<()> {
        for name in files {
            let file = ParamsFile::open(name)?;
            for variant in &mut self.variants {
                file.apply(variant.policy.kind, &mut variant.params);
            }
        }
        for assignment in assignments {
            let mut probe = Params::default();
            probe.assign(assignment)?;
            let key = assignment.split('=').next().unwrap_or_default().trim();
            let axis = self.design.axes.iter().find(|axis| axis.keys.iter().any(|known| known == key));
            let fixed = self.variants.iter().any(|variant| variant.design.fixed.contains_key(key));
            if let Some(whose) = axis
                .map(|axis| format!("varies it on axis {}", axis.name))
                .or(fixed.then(|| "fixes it".to_owned()))
            {
                return Err(input_error!("--set {assignment}: the experiment {whose}; change it there"));
            }
            for variant in &mut self.variants {
                variant.params.assign(assignment)?;
            }
        }
        for (design, variant) in self.design.variants.iter_mut().zip(&mut self.variants) {
            design.params = super::file::texts(&variant.params);
            variant.design.params = design.params.clone();
        }
        Ok(())
    }

    /// The name of one variant's parameters and scene under a setting.
    fn resolved(&self, setting: &Setting) -> (Params, Scene) {
        let variant = &self.variants[setting.variant];
        let (mut params, mut scene) = (variant.params.clone(), variant.scene);
        for (axis, point) in self.design.axes.iter().zip(&setting.points) {
            if let Some(point) = point {
                for (key, text) in axis.parameters().zip(&axis.values[*point]) {
                    key.apply(text, &mut params, &mut scene);
                }
            }
        }
        (params, scene)
    }

    /// That all scenes are possible on the cluster: those of the first setting of each variant decide.
    pub(super) fn check_scenes(&self) -> Result<()> {
        for variant in 0..self.variants.len() {
            let points = (0..self.design.axes.len())
                .map(|axis| self.variants[variant].design.axes.contains(&axis).then_some(0))
                .collect();
            self.resolved(&Setting { variant, points }).1.cluster(&self.base.cluster)?;
        }
        Ok(())
    }

    /// What was accepted in its traces although it is unusual.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.traces.iter().flat_map(|trace| trace.notes.iter().map(String::as_str))
    }

    /// Runs of this experiment, which share what they have in common.
    pub fn runner(&self) -> Runner<'_> {
        Runner { experiment: self, worlds: Mutex::new(HashMap::new()) }
    }

    fn world(&self, trace: usize, scene: &Scene) -> Result<World> {
        let cluster = scene.cluster(&self.base.cluster)?;
        let mut trace = scene.trace(&self.traces[trace]);
        if self.design.oversized_jobs == OversizedJobs::Drop {
            trace = trace.with_gangs_up_to(cluster.largest_server_gpus());
        }
        if trace.jobs.is_empty() {
            return Err(input_error!("{}: no job is left that a server could hold", trace.source));
        }
        World::new(&trace, self.base.catalogue.clone(), cluster, self.base.model.clone())
    }
}

/// By trace and scene.
type Worlds = HashMap<(usize, [Option<u64>; 4]), Arc<OnceLock<Result<World, String>>>>;

/// Does runs of an experiment, from any number of threads.
pub struct Runner<'e> {
    experiment: &'e Experiment,
    worlds: Mutex<Worlds>,
}

impl Runner<'_> {
    /// The summary of a run, and the bound on its makespan.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub fn run(&self, key: RunKey) -> Result<(Summary, MakespanBound), String> {
        let setting = self.experiment.design.setting(key.setting);
        let (params, scene) = self.experiment.resolved(&setting);
        let shared = {
            let mut worlds = self.worlds.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            worlds.entry((key.trace, scene.bits())).or_default().clone()
        };
        let world =
            shared.get_or_init(|| self.experiment.world(key.trace, &scene).map_err(|e| e.to_string()));
        let world = world.as_ref().map_err(String::clone)?;
        let policy = &self.experiment.variants[setting.variant].policy;
        let record =
            simulate(world, policy, &params, key.seed, &mut NoObserver).map_err(|e| e.to_string())?;
        Ok((Summary::of(&record), makespan_bound(world, &params, key.seed)))
    }
}
