use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::axis::Axis;

/// Which runs an experiment consists of, as data that results are stored beside.
///
/// A setting is a variant with a point of each of its axes. Every setting runs on every trace under every seed; runs are
/// numbered by setting, then trace, then seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    pub traces: Vec<String>,
    pub variants: Vec<Variant>,
    pub axes: Vec<Axis>,
    pub oversized_jobs: OversizedJobs,
    pub first_seed: u64,
    pub replicates: u64,
}

/// A policy under some parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    pub policy: String,
    /// What the experiment sets, of scheduler and scene.
    pub fixed: BTreeMap<String, String>,
    /// Every parameter of the scheduler, axes apart.
    pub params: BTreeMap<String, String>,
    /// Axes that it varies along, by index.
    pub axes: Vec<usize>,
}

/// What happens to jobs that need more GPUs at once than any server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OversizedJobs {
    /// Runs give them up as they are submitted and count them.
    #[default]
    GiveUp,
    /// Runs with such jobs fail.
    Refuse,
    /// They are left out.
    Drop,
}

/// A variant and where it stands on each axis of the design; `None` on those that it does not vary along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub variant: usize,
    pub points: Vec<Option<usize>>,
}

/// One run of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunKey {
    pub setting: usize,
    pub trace: usize,
    pub seed: u64,
}

impl Design {
    /// Settings of a variant.
    fn settings_of(&self, variant: usize) -> usize {
        self.variants[variant].axes.iter().map(|&axis| self.axes[axis].values.len()).product()
    }

    /// Saturating: whether that is too many is for the reader of a file to say.
    pub fn setting_count(&self) -> usize {
        let of = |variant: &Variant| {
            let points = variant.axes.iter().map(|&axis| self.axes[axis].values.len());
            points.fold(1usize, usize::saturating_mul)
        };
        self.variants.iter().map(of).fold(0, usize::saturating_add)
    }

    pub fn run_count(&self) -> usize {
        self.setting_count().saturating_mul(self.traces.len()).saturating_mul(self.replicates as usize)
    }

    /// By variant, then the points of its axes, the last axis fastest.
    pub fn setting(&self, index: usize) -> Setting {
        let (mut variant, mut rest) = (0, index);
        while rest >= self.settings_of(variant) {
            rest -= self.settings_of(variant);
            variant += 1;
        }
        let mut points = vec![None; self.axes.len()];
        for &axis in self.variants[variant].axes.iter().rev() {
            let count = self.axes[axis].values.len();
            points[axis] = Some(rest % count);
            rest /= count;
        }
        Setting { variant, points }
    }

    pub fn settings(&self) -> impl Iterator<Item = Setting> + '_ {
        (0..self.setting_count()).map(|index| self.setting(index))
    }

    /// The index of a setting that [`Design::setting`] gave.
    pub fn index_of(&self, setting: &Setting) -> usize {
        let before: usize = (0..setting.variant).map(|variant| self.settings_of(variant)).sum();
        let within = self.variants[setting.variant].axes.iter().fold(0, |within, &axis| {
            within * self.axes[axis].values.len() + setting.points[axis].unwrap_or(0)
        });
        before + within
    }

    /// A setting of another variant at the same points, as far as it has these axes.
    pub fn counterpart(&self, setting: &Setting, variant: usize) -> Option<usize> {
        let mut points = vec![None; self.axes.len()];
        for &axis in &self.variants[variant].axes {
            points[axis] = Some(setting.points[axis]?);
        }
        Some(self.index_of(&Setting { variant, points }))
    }

    pub fn run(&self, index: usize) -> RunKey {
        let replicates = self.replicates as usize;
        let (rest, replicate) = (index / replicates, index % replicates);
        RunKey {
            setting: rest / self.traces.len(),
            trace: rest % self.traces.len(),
            seed: self.first_seed + replicate as u64,
        }
    }

    /// The first of the runs of a setting on a trace; one for each seed follows.
    pub fn first_run(&self, setting: usize, trace: usize) -> usize {
        (setting * self.traces.len() + trace) * self.replicates as usize
    }

    /// Columns that say which setting a row is of: variant, policy and the parameters of all axes.
    pub fn setting_columns(&self) -> Vec<String> {
        let keys = self.axes.iter().flat_map(|axis| axis.keys.iter().cloned());
        ["variant".to_owned(), "policy".to_owned()].into_iter().chain(keys).collect()
    }

    /// Values of [`Design::setting_columns`]; blank where a variant does not vary.
    pub fn setting_fields(&self, setting: &Setting) -> Vec<String> {
        let variant = &self.variants[setting.variant];
        let mut fields = vec![variant.name.clone(), variant.policy.clone()];
        for (axis, point) in self.axes.iter().zip(&setting.points) {
            match point {
                Some(point) => fields.extend(axis.values[*point].iter().cloned()),
                None => fields.extend(axis.keys.iter().map(|_| String::new())),
            }
        }
        fields
    }

    /// A setting in words: "aegis, observation_window_s 30".
    pub fn describe(&self, setting: &Setting) -> String {
        let mut text = self.variants[setting.variant].name.clone();
        for (axis, point) in self.axes.iter().zip(&setting.points) {
            if let Some(point) = point {
                for (key, value) in axis.keys.iter().zip(&axis.values[*point]) {
                    text += &format!(", {key} {value}");
                }
            }
        }
        text
    }

    /// A run in words, for messages.
    pub fn describe_run(&self, key: RunKey) -> String {
        let setting = self.describe(&self.setting(key.setting));
        format!("{} on {} under seed {}", setting, self.traces[key.trace], key.seed)
    }

    /// Whether a setting is one of default parameters, but for what all variants fix: its axes are at their default, and
    /// it has one at least.
    pub fn is_default(&self, setting: &Setting) -> bool {
        let fixed = &self.variants[setting.variant].fixed;
        let common = |(key, value)| self.variants.iter().all(|other| other.fixed.get(key) == Some(value));
        let at_default = |(axis, point): (&Axis, &Option<usize>)| point.is_none() || *point == axis.default;
        setting.points.iter().any(Option::is_some)
            && fixed.iter().all(common)
            && self.axes.iter().zip(&setting.points).all(at_default)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::experiment::sweep) fn axis(name: &str, values: &[&str], default: Option<usize>) -> Axis {
        let values = values.iter().map(|value| vec![(*value).to_owned()]).collect();
        Axis { name: name.into(), keys: vec![name.into()], values, default, log: false }
    }

    pub(in crate::experiment::sweep) fn variant(name: &str, axes: &[usize]) -> Variant {
        let (fixed, params) = (BTreeMap::new(), BTreeMap::new());
        Variant { name: name.into(), policy: "aegis".into(), fixed, params, axes: axes.into() }
    }

    /// Three variants of 6, 2 and 1 settings on two traces under two seeds.
    pub(in crate::experiment::sweep) fn design() -> Design {
        Design {
            traces: vec!["philly".into(), "venus".into()],
            variants: vec![variant("both", &[0, 1]), variant("one", &[0]), variant("none", &[])],
            axes: vec![
                axis("gpu_count", &["2", "3"], Some(1)),
                axis("observation_window_s", &["0", "30", "60"], Some(1)),
            ],
            oversized_jobs: OversizedJobs::Refuse,
            first_seed: 1,
            replicates: 2,
        }
    }

    #[test]
    fn settings_are_numbered_through() {
        let design = design();
        assert_eq!((design.setting_count(), design.run_count()), (9, 36));
        let all: Vec<Setting> = design.settings().collect();
        for (index, setting) in all.iter().enumerate() {
            assert_eq!(design.index_of(setting), index);
            assert!(all[..index].iter().all(|other| other != setting));
        }
        assert_eq!(design.describe(&all[5]), "both, gpu_count 3, observation_window_s 60");
        assert_eq!(design.setting_fields(&all[7]), ["one", "aegis", "3", ""]);
        assert_eq!(design.describe(&all[8]), "none");
        assert_eq!((design.counterpart(&all[5], 1), design.counterpart(&all[7], 0)), (Some(7), None));
        assert_eq!(design.counterpart(&all[0], 2), Some(8));
        let defaults = |design: &Design| -> Vec<usize> {
            (0..9).filter(|&index| design.is_default(&all[index])).collect()
        };
        assert_eq!(defaults(&design), [4, 7]);
        let fix = |design: &mut Design, variants: &[usize]| {
            for &variant in variants {
                design.variants[variant].fixed.insert("job_count".into(), "9".into());
            }
        };
        let (mut one, mut every) = (design.clone(), design.clone());
        fix(&mut one, &[1]);
        fix(&mut every, &[0, 1, 2]);
        assert_eq!((defaults(&one), defaults(&every)), (vec![4], vec![4, 7]));
    }

    #[test]
    fn runs_are_numbered_through() {
        let design = design();
        for index in 0..design.run_count() {
            let key = design.run(index);
            assert_eq!(design.first_run(key.setting, key.trace) as u64 + key.seed - 1, index as u64);
        }
        assert_eq!(design.run(35), RunKey { setting: 8, trace: 1, seed: 2 });
    }
}
