use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use super::design::{Design, OversizedJobs, RunKey, Setting, Variant};
use super::inputs::Input;
use super::key::{Key, Scene};
use super::plot_spec::Presentation;
use super::tolerance::Tolerance;
use crate::error::{Result, input_error};
use crate::experiment::Settings;
use crate::metrics::Summary;
use crate::policy::{Params, ParamsFile, PolicySpec, parameter_matters};
use crate::sim::{MakespanBound, NoObserver, World, makespan_bound, simulate};
use crate::workload::Trace;

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
    /// What the design's variants run with.
    pub(super) resolved: Vec<Resolved>,
}

/// A variant ready to run.
#[derive(Debug)]
pub(super) struct Resolved {
    pub policy: PolicySpec,
    pub params: Params,
    pub scene: Scene,
}

impl Resolved {
    /// A policy with what an experiment fixes.
    pub fn new(policy: PolicySpec, fixed: &BTreeMap<String, String>, base: &Settings) -> Result<Resolved> {
        let (mut params, mut scene) = (base.params(&policy)?, Scene::default());
        for (key, text) in fixed {
            Key::find(key)?.apply(text, &mut params, &mut scene);
        }
        Ok(Resolved { policy, params, scene })
    }

    pub fn texts(&self) -> BTreeMap<String, String> {
        self.params.entries().map(|(parameter, text)| (parameter.key.to_owned(), text)).collect()
    }
}

impl Experiment {
    /// Changes parameters of all variants, as `--params` and `--set` do: sets come before the modifiers of policies,
    /// assignments after them.
    ///
    /// # Errors
    /// A parameter that the experiment sets or varies itself.
    pub fn change(&mut self, files: &[String], assignments: &[String]) -> Result<()> {
        for name in files {
            let file = ParamsFile::open(name)?;
            let kinds = self.resolved.iter().map(|resolved| resolved.policy.kind);
            let own = kinds.flat_map(|kind| file.keys(kind)).find_map(|key| Some((key, self.own(key)?)));
            if let Some((key, whose)) = own {
                return Err(input_error!("--params {name}: the experiment {whose} {key}; change it there"));
            }
            self.base.params.push(file);
        }
        for assignment in assignments {
            let key = assignment.split('=').next().unwrap_or_default().trim();
            if let Ok(Key::Scene(_)) = Key::find(key) {
                return Err(input_error!(
                    "--set {assignment}: {key} is of trace or server; set it in the experiment, under [fixed] or [axes]"
                ));
            }
            Params::default().assign(assignment)?;
            if let Some(whose) = self.own(key) {
                return Err(input_error!("--set {assignment}: the experiment {whose} it; change it there"));
            }
            self.base.assignments.push(assignment.clone());
        }
        for (variant, resolved) in self.design.variants.iter_mut().zip(&mut self.resolved) {
            *resolved = Resolved::new(resolved.policy.clone(), &variant.fixed, &self.base)?;
            variant.params = resolved.texts();
        }
        Ok(())
    }

    /// What the experiment does with a parameter itself, as a verb.
    fn own(&self, key: &str) -> Option<&'static str> {
        let varies = self.design.axes.iter().any(|axis| axis.keys.iter().any(|known| known == key));
        let fixes = self.design.variants.iter().any(|variant| variant.fixed.contains_key(key));
        varies.then_some("varies").or(fixes.then_some("fixes"))
    }

    /// Axes along which all runs of a variant are the same, by index.
    pub fn idle_axes(&self, variant: usize) -> Vec<usize> {
        let Resolved { policy, params, .. } = &self.resolved[variant];
        let own = || self.design.variants[variant].axes.iter().map(|&axis| (axis, &self.design.axes[axis]));
        let varied = |key: &str| own().any(|(_, axis)| axis.keys.iter().any(|own| own == key));
        let matters = |key: Key| match key {
            Key::Param(parameter) => parameter_matters(policy.kind, parameter.key, params, &varied),
            Key::Scene(_) => true,
        };
        own().filter(|(_, axis)| !axis.parameters().any(matters)).map(|(index, _)| index).collect()
    }

    /// Parameters and scene of a setting.
    fn resolve(&self, setting: &Setting) -> (Params, Scene) {
        let Resolved { params, scene, .. } = &self.resolved[setting.variant];
        let (mut params, mut scene) = (params.clone(), *scene);
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
        for (variant, Variant { axes, .. }) in self.design.variants.iter().enumerate() {
            let points = (0..self.design.axes.len()).map(|axis| axes.contains(&axis).then_some(0)).collect();
            self.resolve(&Setting { variant, points }).1.cluster(&self.base.cluster)?;
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
        let largest = cluster.largest_server_gpus();
        let mut trace = scene.trace(&self.traces[trace]);
        if self.design.oversized_jobs == OversizedJobs::Drop {
            trace = trace.with_gangs_up_to(largest);
        }
        let oversized = trace.jobs.iter().filter(|job| job.gpus as usize > largest).count();
        if oversized > 0 && self.design.oversized_jobs == OversizedJobs::Refuse {
            return Err(input_error!(
                "{}: {oversized} of the jobs need more GPUs than the largest server has ({largest}); give it more with gpu_count or \
                 cluster, or leave such jobs out with oversized_jobs = \"drop\", or have them given up with \"give_up\"",
                trace.source
            ));
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
        let (params, scene) = self.experiment.resolve(&setting);
        let shared = {
            let mut worlds = self.worlds.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            worlds.entry((key.trace, scene.bits())).or_default().clone()
        };
        let world =
            shared.get_or_init(|| self.experiment.world(key.trace, &scene).map_err(|e| e.to_string()));
        let world = world.as_ref().map_err(String::clone)?;
        let policy = &self.experiment.resolved[setting.variant].policy;
        let record =
            simulate(world, policy, &params, key.seed, &mut NoObserver).map_err(|e| e.to_string())?;
        Ok((Summary::of(&record), makespan_bound(world, &params, key.seed)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::Error;

    fn experiment(rest: &str) -> Experiment {
        let head = "schema_version = 1\ntraces = [\"philly\"]\npolicies = [\"lucid\", \"aegis+peak-mem\"]\n";
        let none = |path: &Path| Err(Error::read(path, std::io::ErrorKind::NotFound.into()));
        Experiment::parse("e.toml", &format!("{head}{rest}"), Path::new("."), &none).unwrap()
    }

    #[test]
    fn changes_keep_the_order_of_sets_modifiers_and_assignments() {
        let mut changed = experiment("[fixed]\nrecovery = \"floors\"\n");
        changed.change(&["ideal".into()], &["memory_floor_mib=7".into()]).unwrap();
        let params = &changed.design.variants[1].params;
        assert_eq!(
            [&params["memory_source"], &params["tick_s"], &params["memory_floor_mib"]],
            ["peak", "0", "7"]
        );
        assert_eq!(params["recovery"], "floors");
        let mut changed = experiment("");
        changed.change(&["default".into()], &["memory_source=free".into()]).unwrap();
        assert_eq!(changed.design.variants[1].params["memory_source"], "free");
        let mut changed = experiment("");
        changed.change(&["default".into()], &[]).unwrap();
        assert_eq!(changed.design, experiment("").design, "the defaults change nothing");
    }

    #[test]
    fn what_the_experiment_sets_itself_is_not_changed_from_outside() {
        let varies = "[axes]\nobservation_window_s = [0, 30]\n";
        let fixes = "[fixed]\ntick_s = 1\n";
        for (rest, file, assignment, says) in [
            (
                varies,
                None,
                Some("observation_window_s=9"),
                "--set observation_window_s=9: the experiment varies it",
            ),
            (varies, Some("default"), None, "--params default: the experiment varies observation_window_s"),
            (fixes, None, Some(" tick_s = 9"), "the experiment fixes it; change it there"),
            (fixes, Some("ideal"), None, "--params ideal: the experiment fixes tick_s"),
            ("", None, Some("tick=9"), "did you mean tick_s"),
            ("", None, Some("gpu_count=3"), "set it in the experiment"),
        ] {
            let list = |text: Option<&str>| text.map(str::to_owned).into_iter().collect::<Vec<_>>();
            let message = experiment(rest).change(&list(file), &list(assignment)).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
