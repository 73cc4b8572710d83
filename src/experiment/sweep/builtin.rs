use std::path::Path;

use super::experiment::Experiment;
use crate::error::{Error, Result, check_builtin_or_path};

/// The experiments that ship with the simulator: name and TOML text.
pub const BUILTIN_EXPERIMENTS: [(&str, &str); 8] = [
    ("observation_window", include_str!("../../../experiments/observation_window.toml")),
    ("pressure_thresholds", include_str!("../../../experiments/pressure_thresholds.toml")),
    ("placement", include_str!("../../../experiments/placement.toml")),
    ("memory_information", include_str!("../../../experiments/memory_information.toml")),
    ("recovery", include_str!("../../../experiments/recovery.toml")),
    ("load", include_str!("../../../experiments/load.toml")),
    ("gpus", include_str!("../../../experiments/gpus.toml")),
    ("interference", include_str!("../../../experiments/interference.toml")),
];

/// Files that they name.
const FILES: [(&str, &[u8]); 1] = [(
    "measured/threshold_settings.csv",
    include_bytes!("../../../experiments/measured/threshold_settings.csv"),
)];

impl Experiment {
    /// A built-in experiment by name, or a TOML file by path.
    ///
    /// # Errors
    /// See [`Experiment::load`]; an unknown name, with the nearest.
    pub fn open(name: &str) -> Result<Experiment> {
        if let Some((builtin, text)) = BUILTIN_EXPERIMENTS.iter().find(|(builtin, _)| *builtin == name) {
            let read = |path: &Path| {
                let file = FILES.iter().find(|(file, _)| Path::new(file) == path);
                let missing = || Error::read(path, std::io::ErrorKind::NotFound.into());
                file.map(|(_, bytes)| bytes.to_vec()).ok_or_else(missing)
            };
            return Self::parse(&format!("experiments/{builtin}.toml"), text, Path::new(""), &read);
        }
        let path = Path::new(name);
        check_builtin_or_path("experiment", name, &BUILTIN_EXPERIMENTS, "TOML")?;
        Self::load(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_can_be_used() {
        for (name, _) in BUILTIN_EXPERIMENTS {
            let experiment = Experiment::open(name).unwrap();
            assert!(
                !experiment.presentation.plots.is_empty() && !experiment.presentation.about.is_empty(),
                "{name}"
            );
        }
        let window = Experiment::open("observation_window").unwrap().design;
        assert_eq!((window.axes[0].values.len(), window.axes[0].default), (31, Some(3)));
        let thresholds = Experiment::open("pressure_thresholds").unwrap().design;
        let axis = &thresholds.axes[0];
        assert_eq!(axis.values.len(), 122);
        assert_eq!(axis.default.map(|point| axis.label(point)).as_deref(), Some("0.65/0.35/0.5"));
        let message = Experiment::open("observation_windows").unwrap_err().to_string();
        assert!(message.contains("did you mean observation_window?"), "{message}");
    }
}
