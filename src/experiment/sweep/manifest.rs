use std::path::Path;

use serde::{Deserialize, Serialize};

use super::design::Design;
use super::experiment::Experiment;
use super::inputs::{Input, sha256};
use super::metric::figure_columns;
use super::plot_spec::Presentation;
use super::shard::Shard;
use crate::error::{Error, Result, input_error};
use crate::report::SCHEMA_VERSION;

pub(super) const MANIFEST: &str = "experiment.json";

/// What a folder of results is of: enough to make all tables and figures of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema_version: u32,
    pub aegis_sim_version: String,
    /// The same for results that may be put together: of version, inputs and design.
    pub identity: String,
    /// The part of the runs that the folder is for; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    pub runs: usize,
    pub inputs: Vec<Input>,
    pub presentation: Presentation,
    pub design: Design,
    /// Columns of a run in results.csv, between its seed and `error`.
    pub figures: Vec<String>,
}

impl Manifest {
    pub fn of(experiment: &Experiment, shard: Option<Shard>) -> Result<Manifest> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let figures = figure_columns();
        Ok(Manifest {
            schema_version: SCHEMA_VERSION,
            identity: identity(&version, &experiment.inputs, &experiment.design, &figures)?,
            aegis_sim_version: version,
            shard,
            runs: experiment.design.run_count(),
            inputs: experiment.inputs.clone(),
            presentation: experiment.presentation.clone(),
            design: experiment.design.clone(),
            figures,
        })
    }

    /// Indices of the runs that the folder is for, ascending.
    pub fn own_runs(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let shard = self.shard;
        (0..self.runs).filter(move |&run| shard.is_none_or(|shard| shard.has(run)))
    }

    /// Whether the folder is for a run.
    pub(super) fn owns(&self, run: usize) -> bool {
        self.shard.is_none_or(|shard| shard.has(run))
    }

    pub(super) fn text(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self).map_err(as_json)?;
        text.push('\n');
        Ok(text)
    }

    /// The manifest of a folder; `None` if it has none.
    ///
    /// # Errors
    /// It is there and cannot be used.
    pub fn open(dir: &Path) -> Result<Option<Manifest>> {
        let path = dir.join(MANIFEST);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error)
                if [std::io::ErrorKind::NotFound, std::io::ErrorKind::NotADirectory]
                    .contains(&error.kind()) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(Error::read(&path, error)),
        };
        let unusable = |problem: &dyn std::fmt::Display| {
            input_error!(
                "{} is not what a sweep of this version writes: {problem}; take another folder",
                path.display()
            )
        };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| unusable(&error))?;
        if manifest.schema_version != SCHEMA_VERSION {
            return Err(unusable(&format!("schema_version {}", manifest.schema_version)));
        }
        // What is worked out from it below is sound only if nobody changed it.
        let Manifest { aegis_sim_version, inputs, design, figures, presentation, .. } = &manifest;
        if manifest.identity != identity(aegis_sim_version, inputs, design, figures)? {
            return Err(unusable(&"its identity is not that of its design"));
        }
        if manifest.runs != design.run_count() {
            return Err(unusable(&"its number of runs is not that of its design"));
        }
        presentation.check(design).map_err(|problem| unusable(&problem))?;
        Ok(Some(manifest))
    }

    /// How this differs from another experiment's, in words.
    fn difference(&self, other: &Manifest) -> String {
        if self.aegis_sim_version != other.aegis_sim_version {
            return format!("version {} against {}", self.aegis_sim_version, other.aegis_sim_version);
        }
        let changed =
            self.inputs.iter().find(|input| input.role != "experiment" && !other.inputs.contains(input));
        if let Some(input) = changed {
            return format!("{} ({}) is another", input.file, input.role);
        }
        let (own, other) = (&self.design, &other.design);
        let axis = own.axes.iter().find(|axis| !other.axes.contains(axis));
        let variant = own.variants.iter().find(|variant| !other.variants.contains(variant));
        if own.traces != other.traces {
            format!("traces {} against {}", own.traces.join(", "), other.traces.join(", "))
        } else if (own.first_seed, own.replicates) != (other.first_seed, other.replicates) {
            let seeds = |design: &Design| format!("{} seeds from {}", design.replicates, design.first_seed);
            format!("{} against {}", seeds(own), seeds(other))
        } else if let Some(axis) = axis {
            format!("axis {} has other values, or is none of the other's", axis.name)
        } else if let Some(variant) = variant {
            format!("variant {:?} has other parameters, or is none of the other's", variant.name)
        } else {
            "with other axes or variants, or another treatment of oversized jobs".to_owned()
        }
    }

    /// Removes the figures that are not asked for any more.
    pub(super) fn remove_figures_without(&self, presentation: &Presentation, dir: &Path) -> Result<()> {
        for plot in self
            .presentation
            .plots
            .iter()
            .filter(|plot| presentation.plots.iter().all(|p| p.name != plot.name))
        {
            for extension in ["svg", "png"] {
                let path = dir.join(format!("{}.{extension}", plot.name));
                if path.is_file() {
                    std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
                }
            }
        }
        Ok(())
    }

    /// # Errors
    /// The folders hold different experiments.
    pub fn same_experiment(&self, dir: &Path, other: &Manifest, whose: &str) -> Result<()> {
        if self.identity == other.identity {
            return Ok(());
        }
        Err(input_error!(
            "{} holds results of another experiment than {whose}: {}; take another folder with --out",
            dir.display(),
            self.difference(other)
        ))
    }
}

/// Equal for results that may be put together. Titles and figures may change: the experiment file is no part of it.
fn identity(version: &str, inputs: &[Input], design: &Design, figures: &[String]) -> Result<String> {
    let inputs: Vec<&Input> = inputs.iter().filter(|input| input.role != "experiment").collect();
    serde_json::to_vec(&(version, inputs, design, figures)).map(|bytes| sha256(&bytes)).map_err(as_json)
}

fn as_json(error: serde_json::Error) -> Error {
    input_error!("cannot write the experiment as JSON: {error}")
}
