//! The figures of an experiment.

use std::path::Path;

use crate::error::Result;
use crate::experiment::sweep::{
    Axis, Better, Design, Estimate, GEOMEAN, Metric, Over, Panels, PlotKind, PlotSpec, Results, Setting,
    Variant, spoken,
};
use crate::metrics::mean;
use crate::report::plot::{
    self, Best, Figure, HeatAxis, HeatPanel, Line, LinePanel, LineSeries, ParetoPanel, ParetoSeries, XAxis,
};

/// Draws all figures that an experiment asks for.
pub fn write(dir: &Path, results: &Results<'_>) -> Result<()> {
    for spec in &results.manifest.presentation.plots {
        plot::write(dir, &spec.name, &draw(results, spec)?)?;
    }
    Ok(())
}

fn draw(results: &Results<'_>, spec: &PlotSpec) -> Result<Figure> {
    let drawn = Drawn { results, spec, metric: Metric::find(&spec.metric, true)? };
    match spec.kind {
        PlotKind::Lines => Ok(drawn.lines()),
        PlotKind::Heatmap => Ok(drawn.heat_map()),
        PlotKind::Pareto => drawn.pareto(),
    }
}

/// Lines that can be told apart.
pub const MOST_LINES: usize = 14;

/// How many lines a figure has.
pub fn lines(design: &Design, spec: &PlotSpec) -> usize {
    if spec.kind != PlotKind::Lines {
        return 0;
    }
    let of_variant = |variant: &Variant| -> usize {
        let axes = variant.axes.iter().map(|&axis| &design.axes[axis]);
        let open =
            axes.filter(|axis| Some(&axis.name) != spec.x.as_ref() && !spec.at.contains_key(&axis.name));
        open.map(|axis| axis.values.len()).product()
    };
    design.variants.iter().filter(|variant| spec.variants.contains(&variant.name)).map(of_variant).sum()
}

struct Drawn<'a> {
    results: &'a Results<'a>,
    spec: &'a PlotSpec,
    metric: Metric,
}

impl Drawn<'_> {
    fn design(&self) -> &Design {
        self.results.design()
    }

    /// What has a chart of its own, with its title: what it is of, and what the figure keeps to.
    fn panels(&self) -> Vec<(Over, String)> {
        let traces = &self.design().traces;
        let kept = kept(self.design(), self.spec);
        let title = |name: &str| [&[name.to_owned()], kept.as_slice()].concat().join(", ");
        match self.spec.panels {
            Panels::Geomean if traces.len() > 1 => vec![(Over::Traces, title(GEOMEAN))],
            _ => traces.iter().enumerate().map(|(trace, name)| (Over::Trace(trace), title(name))).collect(),
        }
    }

    /// The settings that the figure shows, in the order of the design.
    fn settings(&self) -> impl Iterator<Item = (usize, Setting)> + '_ {
        let shown = |(_, setting): &(usize, Setting)| self.spec.shows(self.design(), setting);
        self.design().settings().enumerate().filter(shown)
    }

    /// An axis of the design that the figure names, with its index.
    fn axis(&self, name: &Option<String>) -> (usize, &Axis) {
        let axes = self.design().axes.iter().enumerate();
        let found = axes.into_iter().find(|(_, axis)| Some(&axis.name) == name.as_ref());
        found.expect("checked when the experiment was read")
    }

    fn label(&self, metric: &Metric) -> (String, f64) {
        metric.label(self.results.manifest.presentation.baseline.as_deref())
    }

    /// A series for every variant and every combination of points on the axes that are not `x`.
    fn lines(&self) -> Figure {
        let (x, axis) = self.axis(&self.spec.x);
        let mut series: Vec<(Setting, Vec<(usize, usize)>)> = Vec::new();
        for (index, setting) in self.settings() {
            let point = setting.points[x];
            let mut points = setting.points;
            points[x] = None;
            // What is the same for all needs no mention.
            for (axis, point) in self.design().axes.iter().zip(&mut points) {
                *point = point.filter(|_| !self.spec.at.contains_key(&axis.name));
            }
            let others = Setting { variant: setting.variant, points };
            let entry = (point.unwrap_or(usize::MAX), index);
            match series.iter_mut().find(|(known, _)| *known == others) {
                Some((_, entries)) => entries.push(entry),
                None => series.push((others, vec![entry])),
            }
        }
        let (label, divisor) = self.label(&self.metric);
        let of = |over: Over, index: usize| {
            let Estimate { mean, low, high } = self.results.estimate(&self.metric, index, over);
            [low, mean, high].map(|value| value / divisor)
        };
        let line = |over: Over, entries: &[(usize, usize)]| match entries {
            [(usize::MAX, index)] => Line::Level(of(over, *index)),
            _ => {
                let mut values = vec![[f64::NAN; 3]; axis.values.len()];
                for &(point, index) in entries {
                    values[point] = of(over, index);
                }
                Line::Over(values)
            }
        };
        let panels: Vec<LinePanel> = self
            .panels()
            .into_iter()
            .map(|(over, title)| LinePanel {
                title,
                label: label.clone(),
                series: series
                    .iter()
                    .map(|(others, entries)| LineSeries {
                        name: self.design().describe(others),
                        line: line(over, entries),
                    })
                    .collect(),
            })
            .collect();
        plot::lines(&x_axis(axis), &panels)
    }

    fn heat_map(&self) -> Figure {
        let (x, x_axis) = self.axis(&self.spec.x);
        let (y, y_axis) = self.axis(&self.spec.y);
        let (label, divisor) = self.label(&self.metric);
        let panels: Vec<HeatPanel> = self
            .panels()
            .into_iter()
            .map(|(over, title)| {
                let mut values = vec![vec![f64::NAN; x_axis.values.len()]; y_axis.values.len()];
                let mut unranked = Vec::new();
                let fewest = self.fewest_given_up(over);
                for (index, setting) in self.settings() {
                    if let (Some(column), Some(row)) = (setting.points[x], setting.points[y]) {
                        values[row][column] = mean(&self.results.values(&self.metric, index, over)) / divisor;
                        if self.results.given_up(index, over) > fewest {
                            unranked.push((row, column));
                        }
                    }
                }
                HeatPanel { title, values, unranked }
            })
            .collect();
        let best = match self.metric.better() {
            Better::Lower => Best::Lowest,
            Better::Higher => Best::Highest,
            Better::Neither => Best::None,
        };
        plot::heat_maps(&heat_axis(x_axis), &heat_axis(y_axis), &panels, &label, best)
    }

    /// Of the settings shown. One that gives up more jobs than another does less work: no gain to show.
    fn fewest_given_up(&self, over: Over) -> f64 {
        self.settings().map(|(index, _)| self.results.given_up(index, over)).fold(f64::INFINITY, f64::min)
    }

    fn pareto(&self) -> Result<Figure> {
        let against = Metric::find(self.spec.against.as_deref().unwrap_or_default(), true)?;
        let (label, divisor) = self.label(&self.metric);
        let (x_label, x_divisor) = self.label(&against);
        let value =
            |metric: &Metric, index: usize, over: Over| mean(&self.results.values(metric, index, over));
        let panels: Vec<ParetoPanel> = self
            .panels()
            .into_iter()
            .map(|(over, title)| {
                let fewest = self.fewest_given_up(over);
                let of_variant = |variant: &String| {
                    let own: Vec<(usize, Setting)> = self
                        .settings()
                        .filter(|(_, setting)| self.design().variants[setting.variant].name == *variant)
                        .collect();
                    let point = |(index, _): &(usize, Setting)| {
                        if self.results.given_up(*index, over) > fewest {
                            return [f64::NAN; 2];
                        }
                        [
                            value(&against, *index, over) / x_divisor,
                            value(&self.metric, *index, over) / divisor,
                        ]
                    };
                    ParetoSeries {
                        name: variant.clone(),
                        points: own.iter().map(point).collect(),
                        default: own.iter().position(|(_, setting)| self.design().is_default(setting)),
                    }
                };
                ParetoPanel { title, series: self.spec.variants.iter().map(of_variant).collect() }
            })
            .collect();
        Ok(plot::pareto(&x_label, &label, &panels))
    }
}

/// What a figure keeps to: the variant of a heat map, and points of axes that are not drawn.
fn kept(design: &Design, spec: &PlotSpec) -> Vec<String> {
    let variant = spec.variants.first().filter(|_| spec.kind == PlotKind::Heatmap).cloned();
    let points = spec.at.iter().filter_map(|(name, &point)| {
        let axis = design.axes.iter().find(|axis| axis.name == *name)?;
        let (words, unit, divisor) = in_words(axis);
        let value = axis.numbers().map_or(axis.label(point), |numbers| rounded(numbers[point] / divisor));
        Some(format!("{words} {value}{}", unit.map_or(String::new(), |unit| format!(" {unit}"))))
    });
    variant.into_iter().chain(points).collect()
}

/// What a figure shows, in words.
pub fn caption(results: &Results<'_>, spec: &PlotSpec) -> Result<String> {
    let presentation = &results.manifest.presentation;
    let words = |metric: &str| Ok(Metric::find(metric, true)?.words(presentation.baseline.as_deref()));
    let axis = |name: &Option<String>| {
        let found = results.design().axes.iter().find(|axis| Some(&axis.name) == name.as_ref());
        found.map_or(String::new(), |axis| in_words(axis).0)
    };
    let drawn = words(&spec.metric)?;
    let shown = match spec.kind {
        PlotKind::Lines => format!("{drawn} over {}", axis(&spec.x)),
        PlotKind::Heatmap => format!("{drawn} over {} and {}", axis(&spec.x), axis(&spec.y)),
        PlotKind::Pareto => {
            format!("{drawn} against {}", words(spec.against.as_deref().unwrap_or_default())?)
        }
    };
    Ok([&[shown], kept(results.design(), spec).as_slice()].concat().join(", "))
}

/// A parameter in words, the unit that its values are shown in, if they have one, and what they are divided by for it.
fn in_words(axis: &Axis) -> (String, Option<&'static str>, f64) {
    let units = [("_s", "s", 1.0), ("_mib", "GiB", 1024.0)];
    let name = axis.name.as_str();
    let known =
        units.into_iter().find_map(|(end, unit, divisor)| Some((name.strip_suffix(end)?, unit, divisor)));
    let words = |name: &str| name.split('_').map(spoken).collect::<Vec<_>>().join(" ");
    match known {
        Some((name, unit, divisor)) => (words(name), Some(unit), divisor),
        None => (words(name), None, 1.0),
    }
}

/// As it stands at an axis, with its unit in brackets.
fn axis_label(axis: &Axis) -> (String, f64) {
    let (words, unit, divisor) = in_words(axis);
    (words + &unit.map_or(String::new(), |unit| format!(" [{unit}]")), divisor)
}

fn x_axis(axis: &Axis) -> XAxis {
    let (label, divisor) = axis_label(axis);
    match axis.numbers() {
        Some(values) => {
            let values: Vec<f64> = values.into_iter().map(|value| value / divisor).collect();
            let default = axis.default.map(|point| values[point]);
            XAxis::Numbers { label, values, log: axis.log, default }
        }
        None => XAxis::Words { label, names: point_names(axis), default: axis.default },
    }
}

fn heat_axis(axis: &Axis) -> HeatAxis {
    let (label, divisor) = axis_label(axis);
    let names = match axis.numbers() {
        Some(values) => values.into_iter().map(|value| rounded(value / divisor)).collect(),
        None => point_names(axis),
    };
    HeatAxis { label, names, default: axis.default }
}

/// To three digits behind the point at most.
fn rounded(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

fn point_names(axis: &Axis) -> Vec<String> {
    (0..axis.values.len()).map(|point| axis.label(point)).collect()
}
