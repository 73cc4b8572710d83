use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result, input_error};
use crate::model::{check_schema, parse_toml};
use crate::workload::MAX_MEMORY_MIB;

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
}

fn one() -> usize {
    1
}

fn full_speed() -> f64 {
    1.0
}

const MOST_GPUS: usize = 4096;

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
        let mut servers: Vec<ServerSpec> = Vec::with_capacity(file.server.len());
        for entry in file.server {
            if servers.iter().any(|server| server.name == entry.name) {
                return Err(input_error!(
                    "{source}: two servers are named {:?}; give each its own name",
                    entry.name
                ));
            }
            servers.push(server(source, entry)?);
        }
        if servers.is_empty() {
            return Err(input_error!(
                "{source}: no server; add at least one [[server]] with a [[server.gpu]]"
            ));
        }
        Ok(ClusterSpec { servers })
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
        let spec = GpuSpec { model: gpu.model.clone(), memory_mib, allocatable_mib, speed };
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
    fn mistakes_are_named() {
        let head = "schema_version = 1\n[[server]]\nname = \"a\"\n[[server.gpu]]\nmodel = \"m\"\n";
        for (rest, says) in [
            ("memory_mib = -1\n", "key memory_mib: found -1"),
            ("memory_mib = 8\ncount = 0\n", "key count: found 0"),
            ("memory_mib = 8\nspeed = nan\n", "key speed: found NaN"),
            ("memory_mib = 8\nallocatable_mib = 9\n", "key allocatable_mib: found 9"),
            ("memory_mib = 8\ncuont = 1\n", "line 7"),
        ] {
            let message = ClusterSpec::parse("c.toml", &format!("{head}{rest}")).unwrap_err().to_string();
            assert!(message.starts_with("c.toml") && message.contains(says), "{message}");
        }
    }
}
