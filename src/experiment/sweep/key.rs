use crate::cluster::ClusterSpec;
use crate::error::{Result, did_you_mean, input_error};
use crate::policy::{Domain, PARAMETERS, Parameter, Params};
use crate::workload::Trace;

/// What an experiment can set or vary: a parameter of the run, or one of the scene that it takes place in.
#[derive(Clone, Copy)]
pub enum Key {
    Param(&'static Parameter),
    Scene(&'static SceneParameter),
}

/// A change to a trace or a cluster.
pub struct SceneParameter {
    pub key: &'static str,
    pub doc: &'static str,
    pub domain: Domain,
    set: fn(&mut Scene, f64),
}

/// All changes to a trace and a cluster; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scene {
    arrival_rate_scale: Option<f64>,
    job_count: Option<f64>,
    gpu_count: Option<f64>,
    gpu_memory_mib: Option<f64>,
}

/// All changes to a trace and a cluster, in the order of their documentation.
pub static SCENE_PARAMETERS: &[SceneParameter] = &[
    SceneParameter {
        key: "arrival_rate_scale",
        doc: "Jobs arrive so many times as fast: gaps between submissions are divided by it.",
        domain: Domain::Number { min: 0.001, max: 1000.0 },
        set: |scene, value| scene.arrival_rate_scale = Some(value),
    },
    SceneParameter {
        key: "job_count",
        doc: "The first jobs of the trace; with more than it has it starts over, a mean gap after its last submission.",
        domain: Domain::Integer { min: 1, max: 1_000_000 },
        set: |scene, value| scene.job_count = Some(value),
    },
    SceneParameter {
        key: "gpu_count",
        doc: "GPUs of the server, for clusters of one server with GPUs that are all the same.",
        domain: Domain::Integer { min: 1, max: 4096 },
        set: |scene, value| scene.gpu_count = Some(value),
    },
    SceneParameter {
        key: "gpu_memory_mib",
        doc: "Memory of every GPU; the share of it that jobs can allocate stays.",
        domain: Domain::Number { min: 1.0, max: 1e9 },
        set: |scene, value| scene.gpu_memory_mib = Some(value),
    },
];

impl Key {
    /// # Errors
    /// Unknown, with the nearest names.
    pub fn find(name: &str) -> Result<Key> {
        let param = PARAMETERS.iter().find(|parameter| parameter.key == name).map(Key::Param);
        let scene = || SCENE_PARAMETERS.iter().find(|parameter| parameter.key == name).map(Key::Scene);
        param.or_else(scene).ok_or_else(|| {
            let known = PARAMETERS.iter().map(|parameter| parameter.key);
            let scene: Vec<&str> = SCENE_PARAMETERS.iter().map(|parameter| parameter.key).collect();
            input_error!(
                "unknown parameter {name:?}: {}see `aegis-sim list parameters` for those of the schedulers; of trace and \
                 server there are {}",
                did_you_mean(name, known.chain(scene.iter().copied())),
                scene.join(", ")
            )
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Key::Param(parameter) => parameter.key,
            Key::Scene(parameter) => parameter.key,
        }
    }

    /// A value as text, written as the simulator writes it.
    ///
    /// # Errors
    /// Out of range, with the range.
    pub fn canonical(self, text: &str) -> Result<String> {
        match self {
            Key::Param(parameter) => parameter.canonical(text),
            Key::Scene(parameter) => {
                let number: Option<f64> = text.parse().ok();
                let fits = |value: &f64| match parameter.domain {
                    Domain::Number { min, max } => (min..=max).contains(value),
                    Domain::Integer { min, max } => {
                        value.fract() == 0.0 && (f64::from(min)..=f64::from(max)).contains(value)
                    }
                    _ => false,
                };
                number.filter(fits).map(|value| value.to_string()).ok_or_else(|| {
                    input_error!("parameter {}: found {text:?}; expected {}", parameter.key, parameter.domain)
                })
            }
        }
    }

    /// What it is without the experiment, as text, where that is one value for all traces.
    pub fn default_of(self, params: &Params, cluster: &ClusterSpec) -> Option<String> {
        let gpus = || cluster.servers.iter().flat_map(|server| &server.gpus);
        match self {
            Key::Param(parameter) => Some(parameter.value(params)),
            Key::Scene(parameter) => match parameter.key {
                "arrival_rate_scale" => Some("1".to_owned()),
                "gpu_count" => Some(cluster.gpu_count().to_string()),
                "gpu_memory_mib" => {
                    let first = gpus().next()?.memory_mib;
                    gpus().all(|gpu| gpu.memory_mib == first).then(|| first.to_string())
                }
                _ => None,
            },
        }
    }

    /// Sets a value that [`Key::canonical`] gave.
    pub fn apply(self, text: &str, params: &mut Params, scene: &mut Scene) {
        match self {
            Key::Param(parameter) => {
                params.set(parameter.key, text).expect("checked when the experiment was read")
            }
            Key::Scene(parameter) => {
                (parameter.set)(scene, text.parse().expect("checked when the experiment was read"));
            }
        }
    }
}

impl Scene {
    /// The trace as it is here. Jobs that no server can hold remain; see [`Trace::with_gangs_up_to`].
    pub fn trace(&self, trace: &Trace) -> Trace {
        let mut trace = trace.clone();
        if let Some(count) = self.job_count {
            trace = trace.with_job_count(count as usize);
        }
        match self.arrival_rate_scale {
            Some(scale) => trace.with_arrival_rate(scale),
            None => trace,
        }
    }

    /// The cluster as it is here.
    ///
    /// # Errors
    /// See [`ClusterSpec::with_gpu_count`].
    pub fn cluster(&self, cluster: &ClusterSpec) -> Result<ClusterSpec> {
        let mut cluster = cluster.clone();
        if let Some(memory_mib) = self.gpu_memory_mib {
            cluster = cluster.with_gpu_memory(memory_mib);
        }
        match self.gpu_count {
            Some(count) => cluster.with_gpu_count(count as usize),
            None => Ok(cluster),
        }
    }

    /// The same for the same scene.
    pub(super) fn bits(&self) -> [Option<u64>; 4] {
        [self.arrival_rate_scale, self.job_count, self.gpu_count, self.gpu_memory_mib]
            .map(|value| value.map(f64::to_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_and_written_in_one_way() {
        let canonical = |key: &str, text: &str| Key::find(key).and_then(|key| key.canonical(text));
        assert_eq!(canonical("observation_window_s", "30.0").unwrap(), "30");
        assert_eq!(canonical("gpu_count", "4.0").unwrap(), "4");
        assert_eq!(canonical("arrival_rate_scale", "0.250").unwrap(), "0.25");
        assert_eq!(canonical("placement", "lug").unwrap(), "lug");
        for (key, text, says) in [
            (
                "gpu_count",
                "2.5",
                "parameter gpu_count: found \"2.5\"; expected a whole number from 1 to 4096",
            ),
            ("job_count", "0", "expected a whole number from 1"),
            ("arrival_rate_scale", "nan", "expected a number from 0.001"),
            ("smact_threshold", "1.5", "expected a number from 0 to 1"),
            ("smact_treshold", "0.5", "did you mean smact_threshold"),
            ("gpu_cuont", "1", "did you mean gpu_count"),
        ] {
            let message = canonical(key, text).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn a_scene_changes_trace_and_cluster() {
        let (mut params, mut scene) = (Params::default(), Scene::default());
        for (key, text) in
            [("job_count", "3"), ("arrival_rate_scale", "2"), ("gpu_count", "5"), ("gpu_memory_mib", "1000")]
        {
            Key::find(key).unwrap().apply(text, &mut params, &mut scene);
        }
        let philly = Trace::open("philly").unwrap();
        let trace = scene.trace(&philly);
        let gap_s = |trace: &Trace| trace.jobs[2].submit_s - trace.jobs[0].submit_s;
        assert_eq!((trace.jobs.len(), gap_s(&trace)), (3, gap_s(&philly) / 2.0));
        let cluster = scene.cluster(&ClusterSpec::builtin()).unwrap();
        assert_eq!((cluster.gpu_count(), cluster.servers[0].gpus[0].memory_mib), (5, 1000.0));
        assert_eq!(Scene::default().trace(&philly).jobs, philly.jobs);
    }
}
