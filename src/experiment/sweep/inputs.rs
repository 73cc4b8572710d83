//! The files that results follow from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Spanned;

use super::file::File;
use super::source::Source;
use crate::error::{Error, Result, input_error, is_path};
use crate::experiment::Settings;
use crate::policy::BUILTIN_PARAMS;
use crate::workload::{BUILTIN_CATALOGUE, BUILTIN_TRACES, Trace};

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

/// What runs have in common, and the files that it comes from.
pub(super) fn base(file: &File, dir: &Path) -> Result<(Settings, Vec<Input>)> {
    let beside = |path: &PathBuf| dir.join(path);
    let builtin = |name: &String| BUILTIN_PARAMS.iter().any(|(builtin, _)| builtin == name);
    let params = file.params.iter().map(|name| match builtin(name) {
        true => name.clone(),
        false => dir.join(name).display().to_string(),
    });
    let models: Vec<PathBuf> = file.models.iter().map(beside).collect();
    let mut base = Settings::load(
        file.cluster.as_ref().map(beside).as_ref(),
        file.workloads.as_ref().map(beside).as_ref(),
        &models,
        &params.collect::<Vec<_>>(),
    )?;
    // Errors of runs are results: they name files as the experiment does, wherever it lies.
    if let Some(path) = &file.cluster {
        base.cluster.source = path.display().to_string();
    }
    if let Some(path) = &file.workloads {
        base.catalogue.set_source(&path.display().to_string());
    }
    let mut inputs = Input::builtin();
    let roles = [
        ("cluster", file.cluster.as_slice()),
        ("workloads", file.workloads.as_slice()),
        ("model", &file.models),
    ];
    for (role, paths) in roles {
        for path in paths {
            inputs.push(Input::read(role, path, &beside(path))?);
        }
    }
    for name in file.params.iter().filter(|name| !builtin(name)) {
        inputs.push(Input::read("params", Path::new(name), &dir.join(name))?);
    }
    Ok((base, inputs))
}

/// Those that an experiment names.
pub(super) fn traces(
    source: &Source<'_>,
    names: &[Spanned<String>],
    dir: &Path,
    inputs: &mut Vec<Input>,
) -> Result<Vec<Trace>> {
    let mut traces: Vec<Trace> = Vec::with_capacity(names.len());
    for spanned in names {
        let (at, name) = (source.at(spanned.span().start), spanned.as_ref());
        let trace = match BUILTIN_TRACES.iter().find(|(builtin, _)| builtin == name) {
            Some((builtin, text)) => {
                inputs.push(Input::new("trace", builtin, text.as_bytes()));
                Trace::open(name)?
            }
            None if name == "-" => {
                return Err(at(input_error!("traces: standard input can be read only once; name a file")));
            }
            None => {
                let path = dir.join(name);
                // A slip in a built-in name is for `Trace::open` to tell.
                let opened = match is_path(name, &path) {
                    true => path.display().to_string(),
                    false => name.clone(),
                };
                let mut trace = Trace::open(&opened).map_err(&at)?;
                trace.source = name.clone();
                inputs.push(Input::read("trace", Path::new(name), &path)?);
                trace
            }
        };
        if trace.name == super::GEOMEAN {
            return Err(at(input_error!(
                "traces: one named {:?} would look like the means; rename its file",
                trace.name
            )));
        }
        if traces.iter().any(|other| other.name == trace.name) {
            return Err(at(input_error!(
                "traces: {:?} is named twice; traces go by their file's name, so rename or remove one",
                trace.name
            )));
        }
        traces.push(trace);
    }
    if traces.is_empty() {
        return Err(input_error!("{}: traces: name at least one, such as \"philly\"", source.name));
    }
    Ok(traces)
}
