use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result, did_you_mean, input_error};
use crate::model::{check_schema, parse_toml};
use crate::workload::{Catalogue, MAX_MEMORY_MIB};

/// One GPU of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuSpec {
    pub model: String,
    /// Capacity that policies see.
    pub memory_mib: f64,
    /// What jobs can really allocate.
    pub allocatable_mib: f64,
    /// Relative to the GPU that the catalogue was profiled on.
    pub speed: f64,
    /// The same for single workloads, by name, in place of `speed`.
    pub workload_speed: BTreeMap<String, f64>,
}

impl GpuSpec {
    /// The speed of a workload on this GPU, relative to the GPU that the catalogue was profiled on.
    pub fn speed_of(&self, workload: &str) -> f64 {
        self.workload_speed.get(workload).copied().unwrap_or(self.speed)
    }
}

/// A server with a queue and a scheduler loop of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    pub name: String,
    pub gpus: Vec<GpuSpec>,
}

/// One or more servers. A job goes to one of them at submission; a gang never spans servers.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSpec {
    /// The file, for messages.
    pub source: String,
    pub servers: Vec<ServerSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: u32,
    server: Vec<ServerEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerEntry {
    name: String,
    /// Servers of this kind; of several, names end in their number.
    #[serde(default = "one")]
    count: usize,
    gpu: Vec<GpuEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GpuEntry {
    model: String,
    #[serde(default = "one")]
    count: usize,
    memory_mib: f64,
    allocatable_mib: Option<f64>,
    #[serde(default = "full_speed")]
    speed: f64,
    #[serde(default)]
    workload_speed: BTreeMap<String, f64>,
}

fn one() -> usize {
    1
}

fn full_speed() -> f64 {
    1.0
}

const MOST_GPUS: usize = 4096;
const MOST_SERVERS: usize = 4096;
const MOST_GPUS_IN_ALL: usize = 65_536;

impl ClusterSpec {
    /// The server of the AEGIS evaluation: 3 x A100 40 GB.
    pub fn builtin() -> ClusterSpec {
        Self::parse("models/cluster.toml", include_str!("../../models/cluster.toml"))
            .expect("the built-in cluster parses: a test sees to it")
    }

    pub fn load(path: &Path) -> Result<ClusterSpec> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses a cluster file; its keys are described in `models/README.md`.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line or key for anything that cannot be used.
    pub fn parse(source: &str, text: &str) -> Result<ClusterSpec> {
        let file: File = parse_toml(source, text)?;
        check_schema(source, file.schema_version)?;
        let mut servers: Vec<ServerSpec> = Vec::new();
        let (mut names, mut gpus) = (HashSet::new(), 0);
        for entry in file.server {
            if !(1..=MOST_SERVERS).contains(&entry.count) {
                return Err(input_error!(
                    "{source}, server {:?}, key count: found {}; expected 1 to {MOST_SERVERS}",
                    entry.name,
                    entry.count
                ));
            }
            let (name, count) = (entry.name.clone(), entry.count);
            let one = server(source, entry)?;
            gpus += count * one.gpus.len();
            if gpus > MOST_GPUS_IN_ALL {
                return Err(input_error!(
                    "{source}, server {name:?}: with its GPUs the cluster has {gpus}; expected {MOST_GPUS_IN_ALL} at most"
                ));
            }
            for number in 1..=count {
                let name = if count == 1 { name.clone() } else { format!("{name}-{number}") };
                if !names.insert(name.clone()) {
                    return Err(input_error!(
                        "{source}: two servers are named {name:?}; give each its own name"
                    ));
                }
                servers.push(ServerSpec { name, ..one.clone() });
            }
        }
        if servers.is_empty() {
            return Err(input_error!(
                "{source}: no server; add at least one [[server]] with a [[server.gpu]]"
            ));
        }
        Ok(ClusterSpec { source: source.to_owned(), servers })
    }

    /// Checks that a catalogue has every workload that a GPU gives a speed for.
    ///
    /// # Errors
    /// [`Error::Input`] with the GPU, the name and the nearest names of the catalogue.
    pub fn check_workloads(&self, catalogue: &Catalogue) -> Result<()> {
        for server in &self.servers {
            for gpu in &server.gpus {
                let unknown = gpu.workload_speed.keys().find(|name| catalogue.get(name).is_none());
                if let Some(name) = unknown {
                    return Err(input_error!(
                        "{}, server {:?}, GPU {:?}, key workload_speed: unknown workload {name:?}; {}use a name \
                         that {} has, or give the catalogue that has it with --workloads",
                        self.source,
                        server.name,
                        gpu.model,
                        did_you_mean(name, catalogue.names()),
                        catalogue.source()
                    ));
                }
            }
        }
        Ok(())
    }

    /// The same server with another number of GPUs.
    ///
    /// # Errors
    /// Several servers, or GPUs that differ: it would be open which to add or take away.
    pub fn with_gpu_count(mut self, count: usize) -> Result<ClusterSpec> {
        match self.servers.as_mut_slice() {
            [server] if server.gpus.iter().all(|gpu| *gpu == server.gpus[0]) => {
                server.gpus = vec![server.gpus[0].clone(); count];
                Ok(self)
            }
            _ => Err(input_error!(
                "{}: gpu_count needs a cluster of one server whose GPUs are all the same, as it would be open which to add \
                 or take away; write a cluster file for each count",
                self.source
            )),
        }
    }

    /// The same GPUs with another capacity, of which jobs can allocate the same share.
    pub fn with_gpu_memory(mut self, memory_mib: f64) -> ClusterSpec {
        for gpu in self.servers.iter_mut().flat_map(|server| &mut server.gpus) {
            gpu.allocatable_mib *= memory_mib / gpu.memory_mib;
            gpu.memory_mib = memory_mib;
        }
        self
    }

    /// GPUs of all servers.
    pub fn gpu_count(&self) -> usize {
        self.servers.iter().map(|server| server.gpus.len()).sum()
    }

    /// The most GPUs that one server has, and so the largest gang that can run.
    pub fn largest_server_gpus(&self) -> usize {
        self.servers.iter().map(|server| server.gpus.len()).max().unwrap_or(0)
    }
}

fn server(source: &str, entry: ServerEntry) -> Result<ServerSpec> {
    let name = entry.name;
    let mut gpus = Vec::new();
    for gpu in entry.gpu {
        let check = |key: &str, value: f64, low: f64, high: f64| {
            if (low..=high).contains(&value) {
                return Ok(value);
            }
            Err(input_error!(
                "{source}, server {name:?}, GPU {:?}, key {key}: found {value}; expected {low} to {high}",
                gpu.model
            ))
        };
        check("count", gpu.count as f64, 1.0, MOST_GPUS as f64)?;
        let memory_mib = check("memory_mib", gpu.memory_mib, 1.0, MAX_MEMORY_MIB)?;
        let allocatable = gpu.allocatable_mib.unwrap_or(memory_mib);
        let allocatable_mib = check("allocatable_mib", allocatable, 0.0, memory_mib)?;
        let speed = check("speed", gpu.speed, 0.001, 1000.0)?;
        for (workload, &speed) in &gpu.workload_speed {
            check(&format!("workload_speed.{workload}"), speed, 0.001, 1000.0)?;
        }
        let (model, workload_speed) = (gpu.model.clone(), gpu.workload_speed.clone());
        let spec = GpuSpec { model, memory_mib, allocatable_mib, speed, workload_speed };
        gpus.extend(std::iter::repeat_n(spec, gpu.count));
    }
    if gpus.is_empty() || gpus.len() > MOST_GPUS {
        return Err(input_error!(
            "{source}, server {name:?}: found {} GPUs; expected 1 to {MOST_GPUS}",
            gpus.len()
        ));
    }
    Ok(ServerSpec { name, gpus })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_evaluation_server() {
        let cluster = ClusterSpec::builtin();
        assert_eq!(cluster.largest_server_gpus(), 3);
        assert_eq!(cluster.servers[0].gpus[2].memory_mib, 40960.0);
    }

    #[test]
    fn counts_and_capacities_can_be_changed() {
        let changed = ClusterSpec::builtin().with_gpu_memory(20480.0).with_gpu_count(5).unwrap();
        let (before, after) = (&ClusterSpec::builtin().servers[0].gpus[0], &changed.servers[0].gpus[4]);
        assert_eq!((changed.gpu_count(), after.memory_mib), (5, 20480.0));
        assert_eq!(after.allocatable_mib, before.allocatable_mib / 2.0);
        let mut mixed = ClusterSpec::builtin();
        mixed.servers[0].gpus[1].speed = 0.5;
        let message = mixed.with_gpu_count(2).unwrap_err().to_string();
        assert!(message.contains("gpu_count needs a cluster of one server"), "{message}");
    }

    #[test]
    fn servers_of_a_kind_are_numbered() {
        let server = |name: &str, count: &str| {
            format!(
                "[[server]]\nname = \"{name}\"\ncount = {count}\n[[server.gpu]]\nmodel = \"m\"\ncount = 4096\nmemory_mib = 8\n"
            )
        };
        let parse = |servers: &str| ClusterSpec::parse("c.toml", &format!("schema_version = 1\n{servers}"));
        let cluster = parse(&(server("a", "2") + &server("b", "1"))).unwrap();
        assert_eq!(cluster.servers.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["a-1", "a-2", "b"]);
        for (servers, says) in [
            (server("a", "0"), "server \"a\", key count: found 0"),
            (server("a", "2") + &server("a-1", "1"), "two servers are named \"a-1\""),
            (server("a", "17"), "with its GPUs the cluster has 69632"),
        ] {
            let message = parse(&servers).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let head = "schema_version = 1\n[[server]]\nname = \"a\"\n[[server.gpu]]\nmodel = \"m\"\n";
        for (rest, says) in [
            ("memory_mib = -1\n", "key memory_mib: found -1"),
            ("memory_mib = 8\ncount = 0\n", "key count: found 0"),
            ("memory_mib = 8\nspeed = nan\n", "key speed: found NaN"),
            ("memory_mib = 8\nallocatable_mib = 9\n", "key allocatable_mib: found 9"),
            ("memory_mib = 8\ncuont = 1\n", "line 7"),
            ("memory_mib = 8\nworkload_speed = { w = 0 }\n", "key workload_speed.w: found 0"),
        ] {
            let message = ClusterSpec::parse("c.toml", &format!("{head}{rest}")).unwrap_err().to_string();
            assert!(message.starts_with("c.toml") && message.contains(says), "{message}");
        }
    }
    #[test]
    fn a_workload_has_its_own_speed_and_must_be_known() {
        let text = "schema_version = 1\n[[server]]\nname = \"a\"\n[[server.gpu]]\nmodel = \"m\"\nmemory_mib = 8\n\
                    speed = 0.5\n[server.gpu.workload_speed]\nmnist_bs23_1gpu = 0.75\n";
        let cluster = ClusterSpec::parse("c.toml", text).unwrap();
        let gpu = &cluster.servers[0].gpus[0];
        assert_eq!((gpu.speed_of("mnist_bs23_1gpu"), gpu.speed_of("unet_voc_1gpu")), (0.75, 0.5));
        let message = cluster.check_workloads(&Catalogue::builtin()).unwrap_err().to_string();
        assert!(message.starts_with("c.toml, server \"a\", GPU \"m\", key workload_speed"), "{message}");
        assert!(message.contains("did you mean mnist_bs32_1gpu"), "{message}");
    }
}
