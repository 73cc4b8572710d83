use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::axis::{Axis, text_of};
use super::design::{Design, Setting, Variant};
use super::metric::{Better, Metric};
use crate::error::{Result, did_you_mean, input_error};

/// What is made of an experiment's runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presentation {
    pub title: String,
    /// The question, for readers; blank where the experiment has none.
    pub about: String,
    /// Aggregated; the first is the objective.
    pub metrics: Vec<String>,
    /// The variant that `..._vs_baseline` is relative to.
    pub baseline: Option<String>,
    pub plots: Vec<PlotSpec>,
}

/// A figure of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotSpec {
    /// Of its files.
    pub name: String,
    pub kind: PlotKind,
    pub metric: String,
    /// On the horizontal axis of a Pareto front.
    pub against: Option<String>,
    /// Names of axes.
    pub x: Option<String>,
    pub y: Option<String>,
    pub variants: Vec<String>,
    /// Points of axes that it keeps to, by name.
    pub at: BTreeMap<String, usize>,
    pub panels: Panels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlotKind {
    Lines,
    Heatmap,
    Pareto,
}

/// What has a chart of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panels {
    /// Each trace.
    #[default]
    Traces,
    /// The geometric means over traces.
    Geomean,
}

impl Presentation {
    /// Whether it is of a design, as what [`PlotEntry::resolve`] gives is: for files that others may have changed.
    ///
    /// # Errors
    /// What it names that is not there.
    pub(super) fn check(&self, design: &Design) -> Result<()> {
        if self.metrics.is_empty() {
            return Err(input_error!("it has no metric"));
        }
        for PlotSpec { name, kind, x, y, at, .. } in &self.plots {
            check_name(name)?;
            let axis = |name: &str| axis_named(name, &design.axes);
            let drawn = match kind {
                PlotKind::Lines => [x.is_some(), true],
                PlotKind::Heatmap => [x.is_some(), y.is_some()],
                PlotKind::Pareto => [true, true],
            };
            if drawn != [true, true] {
                return Err(input_error!("plot {name:?}: an axis is missing"));
            }
            x.iter().chain(y).try_for_each(|name| axis(name).map(drop))?;
            for (name, &point) in at {
                if point >= axis(name)?.values.len() {
                    return Err(input_error!("plot: at: axis {name} has no point {point}"));
                }
            }
        }
        Ok(())
    }
}

/// A figure as an experiment file asks for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlotEntry {
    kind: PlotKind,
    name: Option<String>,
    metric: Option<String>,
    against: Option<String>,
    x: Option<String>,
    y: Option<String>,
    variants: Option<Vec<String>>,
    #[serde(default)]
    at: toml::Table,
    #[serde(default)]
    panels: Panels,
}

/// Metric on the horizontal axis of a Pareto front that names none.
const AGAINST: &str = "slowdown_mean";

impl PlotEntry {
    fn of(kind: PlotKind, metric: &str) -> PlotEntry {
        PlotEntry {
            kind,
            name: None,
            metric: Some(metric.to_owned()),
            against: None,
            x: None,
            y: None,
            variants: None,
            at: toml::Table::new(),
            panels: Panels::Traces,
        }
    }

    /// The figures of an experiment that names none: a line for each metric over one axis, or a heat map of the objective
    /// over two, and the Pareto front of makespan and slowdown.
    pub fn defaults(
        axes: &[Axis],
        variants: &[Variant],
        metrics: &[String],
        has_baseline: bool,
    ) -> Vec<PlotSpec> {
        let mut entries = match axes {
            [_] => metrics.iter().map(|metric| PlotEntry::of(PlotKind::Lines, metric)).collect(),
            [_, _] => {
                let both = variants.iter().filter(|variant| variant.axes.len() == 2);
                let map = |variant: &Variant| PlotEntry {
                    name: Some(file_name(&["heatmap", &metrics[0], &variant.name])),
                    variants: Some(vec![variant.name.clone()]),
                    ..PlotEntry::of(PlotKind::Heatmap, &metrics[0])
                };
                both.map(map).collect()
            }
            _ => Vec::new(),
        };
        entries.push(PlotEntry::of(PlotKind::Pareto, "makespan_s"));
        // None of them can be wrong, whatever the experiment.
        entries.iter().filter_map(|entry| entry.resolve(axes, variants, metrics, has_baseline).ok()).collect()
    }

    /// # Errors
    /// Anything that names what is not there, or too little to draw.
    pub fn resolve(
        &self,
        axes: &[Axis],
        variants: &[Variant],
        metrics: &[String],
        has_baseline: bool,
    ) -> Result<PlotSpec> {
        let metric = match (&self.metric, self.kind) {
            (Some(metric), _) => metric.clone(),
            (None, PlotKind::Pareto) => "makespan_s".to_owned(),
            (None, _) => metrics[0].clone(),
        };
        let against = match self.kind {
            PlotKind::Pareto => Some(self.against.clone().unwrap_or_else(|| AGAINST.to_owned())),
            _ if self.against.is_some() => {
                return Err(input_error!("plot: `against` belongs to a Pareto front"));
            }
            _ => None,
        };
        for metric in [Some(&metric), against.as_ref()].into_iter().flatten() {
            Metric::find(metric, has_baseline)?;
        }
        let (x, y) = match self.kind {
            PlotKind::Pareto if self.x.is_some() || self.y.is_some() => {
                return Err(input_error!(
                    "plot: a Pareto front has metrics on its axes: `against` and `metric`, no x and y"
                ));
            }
            PlotKind::Pareto => (None, None),
            PlotKind::Lines => (Some(axis_or(&self.x, axes, 0)?), None),
            PlotKind::Heatmap => (Some(axis_or(&self.x, axes, 0)?), Some(axis_or(&self.y, axes, 1)?)),
        };
        if x.is_some() && x == y {
            return Err(input_error!("plot: x and y are the same axis; a heat map needs two"));
        }
        let better = |name: &str| Metric::find(name, true).map(|metric| (metric.better(), metric.is_count()));
        for name in [Some(&metric), against.as_ref()].into_iter().flatten() {
            let (better, is_count) = better(name)?;
            if self.kind == PlotKind::Pareto && better != Better::Lower {
                return Err(input_error!(
                    "plot: a Pareto front is of metrics of which less is better, and {name} is none"
                ));
            }
            if self.panels == Panels::Geomean && is_count {
                return Err(input_error!(
                    "plot: there is no geometric mean of {name}; take panels = \"traces\""
                ));
            }
        }
        if self.kind != PlotKind::Heatmap && self.y.is_some() {
            return Err(input_error!("plot: `y` belongs to a heat map"));
        }
        if let Some(name) = self.at.keys().find(|name| Some(*name) == x.as_ref() || Some(*name) == y.as_ref())
        {
            return Err(input_error!(
                "plot: at: {name} is drawn along an axis of the figure; take it out of one"
            ));
        }
        if self.variants.as_ref().is_some_and(Vec::is_empty) {
            return Err(input_error!("plot: variants: name at least one, or leave the key out"));
        }
        let mut at = BTreeMap::new();
        for (name, value) in &self.at {
            let axis = axis_named(name, axes)?;
            let label = text_of(name, value)?;
            let key = axis.parameters().next();
            let canonical = key.and_then(|key| key.canonical(&label).ok()).unwrap_or(label.clone());
            let point = (0..axis.values.len())
                .find(|&point| axis.label(point) == label || axis.label(point) == canonical);
            let point = point.ok_or_else(|| {
                let labels: Vec<String> = (0..axis.values.len()).map(|point| axis.label(point)).collect();
                input_error!(
                    "plot: at: axis {name} has no value {label}; its values are {}",
                    labels.join(", ")
                )
            })?;
            at.insert(name.clone(), point);
        }
        for name in self.variants.iter().flatten() {
            if !variants.iter().any(|variant| variant.name == *name) {
                let names = || variants.iter().map(|variant| variant.name.as_str());
                return Err(input_error!(
                    "plot: unknown variant {name:?}: {}variants are {}",
                    did_you_mean(name, names()),
                    names().collect::<Vec<_>>().join(", ")
                ));
            }
        }
        let all = || variants.iter().map(|variant| variant.name.clone()).collect();
        let mut shown: Vec<String> = self.variants.clone().unwrap_or_else(all);
        if self.kind == PlotKind::Heatmap {
            let varies = |variant: &Variant| {
                [&x, &y]
                    .into_iter()
                    .flatten()
                    .all(|name| variant.axes.iter().any(|&axis| axes[axis].name == *name))
            };
            shown.retain(|name| {
                variants.iter().filter(|variant| varies(variant)).any(|variant| variant.name == *name)
            });
            let [shown] = shown.as_slice() else {
                return Err(input_error!(
                    "plot: a heat map is of one variant that varies along both axes, and {} are; name it: variants = [\"...\"]",
                    shown.len()
                ));
            };
            let variant = variants.iter().find(|variant| variant.name == *shown);
            let open =
                variant.into_iter().flat_map(|variant| &variant.axes).map(|&axis| &axes[axis]).find(|axis| {
                    ![&x, &y].into_iter().flatten().any(|name| axis.name == *name)
                        && !at.contains_key(&axis.name)
                });
            if let Some(axis) = open {
                return Err(input_error!(
                    "plot: a heat map needs a value of axis {} too: at = {{ {} = {} }}",
                    axis.name,
                    axis.name,
                    axis.label(0)
                ));
            }
        }
        let kind = match self.kind {
            PlotKind::Lines => "lines",
            PlotKind::Heatmap => "heatmap",
            PlotKind::Pareto => "pareto",
        };
        let name = self.name.clone().unwrap_or_else(|| file_name(&[kind, &metric]));
        check_name(&name)?;
        Ok(PlotSpec {
            name,
            kind: self.kind,
            metric,
            against,
            x,
            y,
            variants: shown,
            at,
            panels: self.panels,
        })
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(input_error!(
            "plot: name {name:?}: expected the name of a file without directory and extension"
        ));
    }
    Ok(())
}

/// Parts of a name that any file system takes.
fn file_name(parts: &[&str]) -> String {
    let plain = |c: char| if c.is_alphanumeric() || ['-', '_', '+', '.'].contains(&c) { c } else { '_' };
    parts.join("_").chars().map(plain).collect()
}

fn axis_named<'a>(name: &str, axes: &'a [Axis]) -> Result<&'a Axis> {
    axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
        let names = || axes.iter().map(|axis| axis.name.as_str());
        input_error!(
            "plot: unknown axis {name:?}: {}axes are {}",
            did_you_mean(name, names()),
            names().collect::<Vec<_>>().join(", ")
        )
    })
}

fn axis_or(name: &Option<String>, axes: &[Axis], position: usize) -> Result<String> {
    match name {
        Some(name) => axis_named(name, axes).map(|axis| axis.name.clone()),
        None => axes.get(position).map(|axis| axis.name.clone()).ok_or_else(|| {
            input_error!(
                "plot: the experiment has {} axes, and this figure needs {}",
                axes.len(),
                position + 1
            )
        }),
    }
}

impl PlotSpec {
    /// Whether the figure shows a setting.
    pub fn shows(&self, design: &Design, setting: &Setting) -> bool {
        let kept = |(axis, point): (&Axis, &Option<usize>)| match (self.at.get(&axis.name), point) {
            (Some(wanted), Some(point)) => wanted == point,
            _ => true,
        };
        self.variants.contains(&design.variants[setting.variant].name)
            && design.axes.iter().zip(&setting.points).all(kept)
    }
}
