//! The physics: how jobs slow each other down, what telemetry shows of them, how runs differ.
//!
//! Every constant comes from the TOML files in `models/`, built in or given with `--model`.

mod interference;
mod noise;
mod power;
mod telemetry;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result, did_you_mean, input_error};
use crate::workload::Catalogue;

pub use interference::{Contention, Interference, PairFactors, Utilization};
pub(crate) use noise::host_share;
pub use noise::{Noise, Stream, counter_uniform, tick_phase};
pub use power::Power;
pub use telemetry::{Combination, SAMPLED_METRICS, Sampler, Telemetry};

/// What happens when an allocation does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Seconds from the allocation that does not fit to the end of the process.
    pub oom_exit_s: f64,
    /// Share of a workload's profiled memory that its allocator can do without where memory is short.
    pub elastic_fraction: f64,
    pub growth: Growth,
}

impl Memory {
    /// What of an amount of profiled memory must be there.
    pub(crate) fn needed_mib(&self, profiled_mib: f64) -> f64 {
        profiled_mib * (1.0 - self.elastic_fraction)
    }
}

/// What the memory is that a workload takes after its first GPU activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// An allocator's cache: it takes what is free, up to the peak, and does without the rest.
    Cached,
    /// An allocation like the first: where it does not fit, the process dies of OOM.
    Required,
}

/// All constants of the physics.
#[derive(Debug, Clone)]
pub struct Model {
    pub interference: Interference,
    pub memory: Memory,
    pub telemetry: Telemetry,
    pub power: Power,
    pub noise: Noise,
    /// Runtime in a run over the profile's solo runtime, by workload; 1 where absent.
    pub runtime_factors: BTreeMap<String, f64>,
}

/// A model file: each section replaces the built-in one as a whole.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sections {
    schema_version: u32,
    interference: Option<Interference>,
    memory: Option<Memory>,
    telemetry: Option<Telemetry>,
    power: Option<Power>,
    noise: Option<Noise>,
    runtime_factors: Option<BTreeMap<String, f64>>,
}

pub(crate) const BUILTIN: [(&str, &str); 6] = [
    ("models/interference.toml", include_str!("../../models/interference.toml")),
    ("models/memory.toml", include_str!("../../models/memory.toml")),
    ("models/telemetry.toml", include_str!("../../models/telemetry.toml")),
    ("models/power.toml", include_str!("../../models/power.toml")),
    ("models/noise.toml", include_str!("../../models/noise.toml")),
    ("models/cadence.toml", include_str!("../../models/cadence.toml")),
];

impl Model {
    /// The model that ships with the simulator, calibrated for the A100 40 GB of the AEGIS evaluation.
    pub fn builtin() -> Model {
        let mut all = Sections::default();
        for (source, text) in BUILTIN {
            let part = Sections::parse(source, text).expect("the built-in model parses: a test sees to it");
            all.interference = part.interference.or(all.interference);
            all.memory = part.memory.or(all.memory);
            all.telemetry = part.telemetry.or(all.telemetry);
            all.power = part.power.or(all.power);
            all.noise = part.noise.or(all.noise);
            all.runtime_factors = part.runtime_factors.or(all.runtime_factors);
        }
        all.complete().expect("the built-in model is complete: a test sees to it")
    }

    /// Replaces the sections that a model file gives.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and key for anything that cannot be used.
    pub fn override_with(&mut self, source: &str, text: &str) -> Result<()> {
        let given = Sections::parse(source, text)?;
        replace(&mut self.interference, given.interference);
        replace(&mut self.memory, given.memory);
        replace(&mut self.telemetry, given.telemetry);
        replace(&mut self.power, given.power);
        replace(&mut self.noise, given.noise);
        replace(&mut self.runtime_factors, given.runtime_factors);
        Ok(())
    }

    /// [`Model::override_with`] on a file whose factors are for the workloads of a catalogue.
    ///
    /// # Errors
    /// Also a factor for a workload that the catalogue lacks, with the nearest names.
    pub fn override_with_file(&mut self, path: &Path, catalogue: &Catalogue) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let source = path.display().to_string();
        Sections::parse(&source, &text)?.check_workloads(&source, catalogue)?;
        self.override_with(&source, &text)
    }

    /// Takes out all factors per workload: what remains follows from profiles.
    pub fn without_factors(mut self) -> Model {
        self.runtime_factors.clear();
        self.interference = self.interference.without_factors();
        self
    }
}

fn replace<T>(section: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *section = given;
    }
}

impl Sections {
    fn parse(source: &str, text: &str) -> Result<Sections> {
        let file: Sections = parse_toml(source, text)?;
        check_schema(source, file.schema_version)?;
        let check = |key: &str, value: f64, range: std::ops::RangeInclusive<f64>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(input_error!(
                "{source}, key {key}: found {value}; expected a number from {} to {}",
                range.start(),
                range.end()
            ))
        };
        if let Some(interference) = &file.interference {
            interference.check(check)?;
        }
        if let Some(memory) = &file.memory {
            check("memory.oom_exit_s", memory.oom_exit_s, 0.0..=3600.0)?;
            check("memory.elastic_fraction", memory.elastic_fraction, 0.0..=1.0)?;
        }
        if let Some(telemetry) = &file.telemetry {
            check("telemetry.closing_activity", telemetry.closing_activity, 0.0..=1.0)?;
            if let Some(dwell_s) = telemetry.bursty_dwell_s {
                check("telemetry.bursty_dwell_s", dwell_s, 1.0..=86400.0)?;
            }
            check("telemetry.dwell_s", telemetry.dwell_s, 1.0..=86400.0)?;
        }
        if let Some(power) = &file.power {
            check("power.idle_w", power.idle_w, 0.0..=1e5)?;
            check("power.gpu_util_w", power.gpu_util_w, 0.0..=1e5)?;
            check("power.drama_w", power.drama_w, 0.0..=1e5)?;
        }
        if let Some(noise) = &file.noise {
            check("noise.gpu_sigma", noise.gpu_sigma, 0.0..=1.0)?;
            check("noise.host_sigma", noise.host_sigma, 0.0..=10.0)?;
            check("noise.startup_sigma", noise.startup_sigma, 0.0..=3.0)?;
            check("noise.interference_sigma", noise.interference_sigma, 0.0..=3.0)?;
            check("noise.extrapolation_sigma", noise.extrapolation_sigma, 0.0..=3.0)?;
        }
        for (workload, &factor) in file.runtime_factors.iter().flatten() {
            check(&format!("runtime_factors.{workload}"), factor, 0.01..=100.0)?;
        }
        Ok(file)
    }

    fn check_workloads(&self, source: &str, catalogue: &Catalogue) -> Result<()> {
        let pairs = self.interference.iter().flat_map(|section| section.factor_sections());
        let pairs = pairs.flat_map(|(section, factors)| factors.keys().map(move |name| (section, name)));
        let runtimes = self.runtime_factors.iter().flat_map(|factors| factors.keys());
        let mut named = pairs.chain(runtimes.map(|name| ("runtime_factors", name)));
        match named.find(|(_, name)| catalogue.get(name).is_none()) {
            Some((section, name)) => Err(input_error!(
                "{source}, key {section}: unknown workload {name:?}; {}take the factor out, or give the catalogue \
                 that has the workload with --workloads ({} does not)",
                did_you_mean(name, catalogue.names()),
                catalogue.source()
            )),
            None => Ok(()),
        }
    }

    fn complete(self) -> Option<Model> {
        Some(Model {
            interference: self.interference?,
            memory: self.memory?,
            telemetry: self.telemetry?,
            power: self.power?,
            noise: self.noise?,
            runtime_factors: self.runtime_factors?,
        })
    }
}

/// Parses a TOML file; the parser's message says line, column and key.
pub(crate) fn parse_toml<T: serde::de::DeserializeOwned>(source: &str, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| input_error!("{source} cannot be used: {error}"))
}

/// The one version of this project's TOML files.
pub(crate) fn check_schema(source: &str, version: impl Into<i64>) -> Result<()> {
    let version = version.into();
    if version == 1 {
        return Ok(());
    }
    Err(input_error!("{source}: found schema_version {version}; this build reads version 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_model_parses() {
        let model = Model::builtin();
        assert!(model.interference.memory_slope > 0.0);
    }

    #[test]
    fn a_file_replaces_sections_and_is_checked() {
        let mut model = Model::builtin();
        let section =
            "schema_version = 1\n[telemetry]\ncombination = \"sum\"\ngpu_util_combination = \"presence\"\n";
        model.override_with("m.toml", &format!("{section}dwell_s = 3.0\n")).unwrap();
        assert_eq!(model.telemetry.dwell_s, 3.0);
        for (text, says) in [
            ("schema_version = 1\n[telemetry]\ndwell = 3.0\n", "line 3"),
            (&format!("{section}dwell_s = 0.0\n"), "key telemetry.dwell_s: found 0"),
            (
                "schema_version = 1\n[memory]\ngrowth = \"cached\"\nelastic_fraction = 0.1\noom_exit_s = nan\n",
                "key memory.oom_exit_s: found NaN",
            ),
            (
                "schema_version = 1\n[power]\nidle_w = 60.0\ngpu_util_w = -1.0\ndrama_w = 0.0\n",
                "key power.gpu_util_w: found -1",
            ),
            ("schema_version = 1\n[power]\nidle_w = 60.0\ndrama_w = 0.0\n", "missing field `gpu_util_w`"),
            ("schema_version = 2\n", "schema_version 2"),
        ] {
            let message = model.override_with("m.toml", text).unwrap_err().to_string();
            assert!(message.starts_with("m.toml") && message.contains(says), "{message}");
        }
    }
    #[test]
    fn factors_name_workloads_of_the_catalogue() {
        let builtin = Catalogue::builtin();
        let head =
            "schema_version = 1\n[interference]\nbase = 0.1\nmemory_slope = 1.0\nmemory_unit_mib = 40960.0\n";
        let factors = "aggressor = 1.0\nsensitivity = 1.0\n";
        for (section, text) in [
            ("runtime_factors", "schema_version = 1\n[runtime_factors]\nunet_vok_1gpu = 1.0\n".to_owned()),
            ("interference.factors", format!("{head}[interference.factors.unet_vok_1gpu]\n{factors}")),
            (
                "interference.gpu_utilization.factors",
                format!(
                    "{head}[interference.gpu_utilization]\nbase = 0.1\nmemory_slope = 1.0\n\
                     [interference.gpu_utilization.factors.unet_vok_1gpu]\n{factors}"
                ),
            ),
        ] {
            let given = Sections::parse("m.toml", &text).unwrap();
            let message = given.check_workloads("m.toml", &builtin).unwrap_err().to_string();
            let expected = format!(
                "m.toml, key {section}: unknown workload \"unet_vok_1gpu\"; did you mean unet_voc_1gpu"
            );
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
