use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result, input_error};
use crate::experiment::Settings;
use crate::experiment::sweep::{Axis, Entries, Key, ReadFile, Source, axes};
use crate::model::{check_schema, parse_toml};
use crate::policy::{PolicySpec, parameter_matters};

/// What a search may choose from: every combination of the points of its axes.
#[derive(Debug, Clone)]
pub struct SearchSpace {
    /// The file, for messages.
    pub source: String,
    pub axes: Vec<Axis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: u32,
    #[serde(default)]
    axes: Entries,
}

const BUILTIN: (&str, &str) =
    ("experiments/tune/space.toml", include_str!("../../../experiments/tune/space.toml"));

/// Conditions of a run, which no scheduler chooses.
const CONDITIONS: [&str; 6] = [
    "detection_lag_s",
    "dispatch_lag_s",
    "telemetry_blind_gpu",
    "runtime_factors",
    "noise",
    "interference_strength",
];

impl SearchSpace {
    pub fn builtin() -> SearchSpace {
        let (name, text) = BUILTIN;
        let none = |path: &Path| Err(input_error!("{name} names the file {}", path.display()));
        Self::parse(name, text, &none).expect("the built-in search space parses: a test sees to it")
    }

    /// Reads a search file: `schema_version = 1` and `[axes]` as in an experiment file. Paths in it are relative to it.
    ///
    /// # Errors
    /// [`Error::Input`] with file and line for axes that cannot be used, or that are no choice of a scheduler.
    pub fn load(path: &Path) -> Result<SearchSpace> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        let read = |file: &Path| std::fs::read(dir.join(file)).map_err(|e| Error::read(&dir.join(file), e));
        Self::parse(&path.display().to_string(), &text, &read)
    }

    fn parse(name: &str, text: &str, read: ReadFile<'_>) -> Result<SearchSpace> {
        let file: File = parse_toml(name, text)?;
        check_schema(name, file.schema_version)?;
        let source = Source { name, text };
        let axes = axes(&source, &file.axes, read, &mut Vec::new())?;
        for (entry, axis) in file.axes.iter().zip(&axes) {
            let condition = |key: &Key| matches!(key, Key::Scene(_)) || CONDITIONS.contains(&key.name());
            if let Some(key) = axis.parameters().find(condition) {
                return Err(source.at(entry.start)(input_error!(
                    "axis {}: {} is no choice of the scheduler; take it out, or use an experiment (sweep)",
                    axis.name,
                    key.name()
                )));
            }
        }
        if axes.is_empty() {
            return Err(input_error!("{name}: name at least one parameter under [axes]"));
        }
        Ok(SearchSpace { source: name.to_owned(), axes })
    }

    /// What of it a policy can be tuned by, and why axes were left out. Modifiers and assignments come after parameter
    /// files, so that a file could not change what they set.
    ///
    /// # Errors
    /// No axis is left.
    pub fn for_policy(
        mut self,
        policy: &PolicySpec,
        settings: &Settings,
    ) -> Result<(SearchSpace, Vec<String>)> {
        let params = settings.params(policy)?;
        let varied: Vec<String> = self.axes.iter().flat_map(|axis| axis.keys.clone()).collect();
        let mut notes = Vec::new();
        self.axes.retain(|axis| {
            let modifier = policy
                .modifiers()
                .iter()
                .find(|modifier| modifier.keys().iter().any(|key| axis.keys.iter().any(|own| own == key)));
            let assignment = settings.assignments.iter().find(|assignment| {
                let key = assignment.split('=').next().unwrap_or_default().trim();
                axis.keys.iter().any(|own| own == key)
            });
            let why = match (modifier, assignment) {
                (Some(modifier), _) => format!("+{} sets it", modifier.name()),
                (None, Some(assignment)) => format!("--set {assignment} sets it"),
                (None, None)
                    if !axis.keys.iter().any(|key| {
                        parameter_matters(policy.kind, key, &params, &|key| {
                            varied.iter().any(|varied| varied == key)
                        })
                    }) =>
                {
                    format!("it changes nothing under {policy} here")
                }
                (None, None) => return true,
            };
            notes.push(format!("{} is not searched: {why}", axis.name));
            false
        });
        if self.axes.is_empty() {
            return Err(input_error!(
                "{}: nothing is left to search: {}; name other parameters with --search",
                self.source,
                notes.join("; ")
            ));
        }
        Ok((self, notes))
    }

    /// How many settings it has; saturating.
    pub fn settings(&self) -> usize {
        self.axes.iter().fold(1, |product: usize, axis| product.saturating_mul(axis.values.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyKind;

    fn left(policy: &str, assignments: &[&str]) -> Result<(SearchSpace, Vec<String>)> {
        let assignments = assignments.iter().map(|text| (*text).to_owned()).collect();
        let settings = Settings { assignments, ..Settings::default() };
        SearchSpace::builtin().for_policy(&policy.parse().unwrap(), &settings)
    }

    fn names(space: &SearchSpace) -> Vec<&str> {
        space.axes.iter().map(|axis| axis.name.as_str()).collect()
    }

    #[test]
    fn every_axis_of_the_builtin_space_has_the_default() {
        let params = Settings::default().params(&PolicyKind::Aegis.into()).unwrap();
        for axis in SearchSpace::builtin().axes {
            let key = axis.parameters().next().unwrap();
            let Key::Param(parameter) = key else { panic!("{} is of the scene", axis.name) };
            assert!(axis.values.contains(&vec![parameter.value(&params)]), "{}", axis.name);
        }
    }

    #[test]
    fn only_what_a_file_can_change_is_searched() {
        let (all, notes) = left("aegis", &[]).unwrap();
        assert_eq!((all.axes.len(), notes.len()), (7, 0));
        let (space, notes) = left("aegis+lug+smi70", &["recovery=floors"]).unwrap();
        assert_eq!(names(&space), ["observation_window_s", "memory_floor_mib"]);
        for says in [
            "placement is not searched: +lug sets it",
            "--set recovery=floors",
            "smact_threshold is not searched: it",
        ] {
            assert!(notes.iter().any(|note| note.contains(says)), "{notes:?}");
        }
        assert_eq!(names(&left("lucid", &[]).unwrap().0), ["observation_window_s", "recovery"]);
        let message = left("lucid", &["recovery=idle", "observation_window_s=3"]).unwrap_err().to_string();
        assert!(message.contains("nothing is left to search"), "{message}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let none = |path: &Path| Err(input_error!("no file {}", path.display()));
        for (axes, says) in [
            ("", "s.toml: name at least one parameter under [axes]"),
            ("smact_treshold = [0.5]", "s.toml, line 4: unknown parameter \"smact_treshold\""),
            ("tick_s = [1]\ngpu_count = [2, 3]", "s.toml, line 5: axis gpu_count: gpu_count is no choice"),
            ("noise = [true, false]", "s.toml, line 4: axis noise: noise is no choice"),
            ("smact_threshold = [2]", "s.toml, line 4: parameter smact_threshold: found \"2\""),
            ("both = { file = \"x.csv\", keys = [\"tick_s\"] }", "s.toml, line 4: no file x.csv"),
        ] {
            let text = format!("schema_version = 1\n\n[axes]\n{axes}\n");
            let message = SearchSpace::parse("s.toml", &text, &none).unwrap_err().to_string();
            assert!(message.starts_with(says), "{message}");
        }
        let message = SearchSpace::parse("s.toml", "schema_version = 1\naxis = 3\n", &none).unwrap_err();
        assert!(message.to_string().contains("axis"), "{message}");
    }
}
