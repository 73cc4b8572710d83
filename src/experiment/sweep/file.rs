//! The experiment file: TOML in, an [`Experiment`] out, and a place for everything that is wrong with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::axis::{Axis, text_of};
use super::design::{Design, OversizedJobs, Variant};
use super::entries::Entries;
use super::experiment::{Experiment, Resolved};
use super::inputs::{Input, base, traces};
use super::key::Key;
use super::metric::Metric;
use super::plot_spec::{PlotEntry, Presentation};
use super::source::{ReadFile, Source, axes};
use super::tolerance::Tolerance;
use crate::error::{Error, Result, did_you_mean, input_error};
use crate::experiment::Settings;
use crate::model::{check_schema, parse_toml};
use crate::policy::PolicySpec;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    schema_version: u32,
    title: Option<String>,
    #[serde(default)]
    about: String,
    pub traces: Vec<Spanned<String>>,
    #[serde(default)]
    policies: Vec<Spanned<String>>,
    #[serde(default)]
    variant: Vec<VariantEntry>,
    #[serde(default)]
    fixed: Entries,
    #[serde(default)]
    axes: Entries,
    #[serde(default = "one")]
    replicates: Spanned<u64>,
    first_seed: Option<Spanned<u64>>,
    #[serde(default)]
    oversized_jobs: OversizedJobs,
    pub cluster: Option<PathBuf>,
    pub workloads: Option<PathBuf>,
    #[serde(default)]
    pub models: Vec<PathBuf>,
    #[serde(default)]
    pub params: Vec<String>,
    metrics: Option<Vec<Spanned<String>>>,
    baseline: Option<Spanned<String>>,
    #[serde(default)]
    plot: Vec<Spanned<PlotEntry>>,
    #[serde(default)]
    tolerance: BTreeMap<Spanned<String>, Tolerance>,
}

fn one() -> Spanned<u64> {
    Spanned::new(0..0, 1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantEntry {
    name: Option<Spanned<String>>,
    policy: Spanned<String>,
    #[serde(default)]
    fixed: Entries,
    #[serde(default)]
    without: Vec<Spanned<String>>,
}

/// Metrics of an experiment that names none.
const METRICS: [&str; 6] =
    ["makespan_s", "jct_mean_s", "slowdown_mean", "slowdown_p95", "failed_attempts", "given_up_jobs"];
const MOST_RUNS: usize = 10_000_000;
const MOST_SEED: u64 = 1 << 40;

impl Experiment {
    /// Reads an experiment file. Paths in it are relative to it.
    ///
    /// # Errors
    /// [`Error::Input`] with file and line for anything that cannot be used.
    pub fn load(path: &Path) -> Result<Experiment> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        let read = |path: &Path| std::fs::read(dir.join(path)).map_err(|e| Error::read(&dir.join(path), e));
        Self::parse(&path.display().to_string(), &text, dir, &read)
    }

    /// Parses an experiment file whose own files `read` reads and lie in `dir`.
    pub(super) fn parse(name: &str, text: &str, dir: &Path, read: ReadFile<'_>) -> Result<Experiment> {
        let file: File = parse_toml(name, text)?;
        check_schema(name, file.schema_version)?;
        let source = Source { name, text };
        let (base, mut inputs) = base(&file, dir)?;
        inputs.insert(0, Input::new("experiment", name, text.as_bytes()));
        let traces = traces(&source, &file.traces, dir, &mut inputs)?;
        let mut axes = axes(&source, &file.axes, read, &mut inputs)?;
        let (variants, resolved) = variants(&source, &file, &axes, &base)?;
        for (index, axis) in axes.iter_mut().enumerate() {
            let first = variants.iter().position(|variant| variant.axes.contains(&index));
            axis.default = first.and_then(|variant| {
                let params = &resolved[variant].params;
                let values: Option<Vec<String>> =
                    axis.parameters().map(|key| key.default_of(params, &base.cluster)).collect();
                let values = values?;
                axis.values.iter().position(|point| *point == values)
            });
        }
        let (baseline, presentation) = presentation(&source, &file, &axes, &variants)?;
        let tolerances = file.tolerance.iter().map(|(metric, tolerance)| {
            let at = source.at(metric.span().start);
            Metric::find(metric.as_ref(), baseline).map_err(&at)?;
            tolerance.check(metric.as_ref()).map_err(&at)?;
            Ok((metric.as_ref().clone(), *tolerance))
        });
        let tolerances = tolerances.collect::<Result<_>>()?;
        let replicates = *file.replicates.as_ref();
        if !(1..=1_000_000).contains(&replicates) {
            let problem = input_error!("replicates: found {replicates}; expected 1 to 1000000");
            return Err(source.at(file.replicates.span().start)(problem));
        }
        let first_seed = file.first_seed.as_ref().map_or(1, |seed| *seed.as_ref());
        if let Some(seed) = file.first_seed.filter(|_| first_seed > MOST_SEED) {
            let problem = input_error!("first_seed: found {first_seed}; expected 0 to {MOST_SEED}");
            return Err(source.at(seed.span().start)(problem));
        }
        let design = Design {
            traces: traces.iter().map(|trace| trace.name.clone()).collect(),
            variants,
            axes,
            oversized_jobs: file.oversized_jobs,
            first_seed,
            replicates,
        };
        if design.run_count() > MOST_RUNS {
            return Err(input_error!(
                "{name}: {} settings on {} traces under {replicates} seeds are {} runs; expected at most {MOST_RUNS}: thin \
                 out the axes",
                design.setting_count(),
                design.traces.len(),
                design.run_count()
            ));
        }
        let experiment = Experiment { design, presentation, tolerances, inputs, base, traces, resolved };
        experiment.check_scenes().map_err(|problem| input_error!("{name}: {problem}"))?;
        Ok(experiment)
    }
}

type Fixed = BTreeMap<String, String>;

/// Values that are set, none of them of an axis.
fn fixed(
    source: &Source<'_>,
    entries: &Entries,
    axes: &[&Axis],
    whose: &str,
    into: &mut Fixed,
) -> Result<()> {
    for entry in entries.iter() {
        let at = source.at(entry.start);
        let key = Key::find(&entry.key).map_err(&at)?;
        if let Some(axis) = axes.iter().find(|axis| axis.keys.contains(&entry.key)) {
            return Err(at(input_error!(
                "{} is fixed{whose} and on axis {} as well; remove one, or name the axis in `without` of a [[variant]]",
                entry.key,
                axis.name
            )));
        }
        let text = text_of(&entry.key, &entry.value).and_then(|text| key.canonical(&text)).map_err(&at)?;
        into.insert(entry.key.clone(), text);
    }
    Ok(())
}

fn variants(
    source: &Source<'_>,
    file: &File,
    axes: &[Axis],
    base: &Settings,
) -> Result<(Vec<Variant>, Vec<Resolved>)> {
    let (mut variants, mut ready): (Vec<Variant>, Vec<Resolved>) = (Vec::new(), Vec::new());
    let mut common = Fixed::new();
    fixed(source, &file.fixed, &axes.iter().collect::<Vec<_>>(), "", &mut common)?;
    let none = VariantEntry {
        name: None,
        policy: Spanned::new(0..0, String::new()),
        fixed: Entries::default(),
        without: Vec::new(),
    };
    let plain = file.policies.iter().map(|policy| (policy, &none));
    for (policy, entry) in plain.chain(file.variant.iter().map(|entry| (&entry.policy, entry))) {
        let at = source.at(policy.span().start);
        let spec: PolicySpec = policy.as_ref().parse().map_err(&at)?;
        let name = entry.name.as_ref().map_or(spec.to_string(), |name| name.as_ref().clone());
        if name.contains(char::is_control) {
            return Err(at(input_error!("variant {name:?}: expected a name on one line")));
        }
        if name.is_empty() || variants.iter().any(|other| other.name == name) {
            return Err(at(input_error!("variant {name:?}: give each variant a name of its own")));
        }
        let mut without = Vec::new();
        for left_out in &entry.without {
            let position = axes.iter().position(|axis| axis.name == *left_out.as_ref()).ok_or_else(|| {
                let names = || axes.iter().map(|axis| axis.name.as_str());
                source.at(left_out.span().start)(input_error!(
                    "variant {name:?}: without {:?}: {}axes are {}",
                    left_out.as_ref(),
                    did_you_mean(left_out.as_ref(), names()),
                    names().collect::<Vec<_>>().join(", ")
                ))
            })?;
            without.push(position);
        }
        let own: Vec<usize> = (0..axes.len()).filter(|axis| !without.contains(axis)).collect();
        let own_axes: Vec<&Axis> = own.iter().map(|&axis| &axes[axis]).collect();
        let mut values = common.clone();
        fixed(source, &entry.fixed, &own_axes, &format!(" in variant {name:?}"), &mut values)?;
        let keys = || own_axes.iter().flat_map(|axis| axis.keys.iter());
        for (name, set) in file.params.iter().zip(&base.params) {
            // The set of all defaults sets everything.
            let sets =
                |key: &&String| name != "default" && set.keys(spec.kind).any(|set| set == key.as_str());
            if let Some(key) = keys().find(sets) {
                return Err(at(input_error!(
                    "the parameter set {name} sets {key}, and an axis varies it; remove one"
                )));
            }
        }
        let varied = own_axes.iter().flat_map(|axis| axis.keys.iter().map(String::as_str));
        for modifier in spec.modifiers() {
            let set = varied
                .clone()
                .chain(values.keys().map(String::as_str))
                .find(|key| modifier.keys().contains(key));
            if let Some(key) = set {
                return Err(at(input_error!(
                    "variant {name:?}: +{} sets {key}, and so does an axis or a fixed value; remove one",
                    modifier.name()
                )));
            }
        }
        let policy = spec.to_string();
        let resolved = Resolved::new(spec, &values, base)?;
        variants.push(Variant { name, policy, fixed: values, params: resolved.texts(), axes: own });
        ready.push(resolved);
    }
    if variants.is_empty() {
        return Err(input_error!(
            "{}: name at least one policy: policies = [\"aegis\"], or a [[variant]]",
            source.name
        ));
    }
    Ok((variants, ready))
}

/// Whether there is a baseline, and what is shown.
fn presentation(
    source: &Source<'_>,
    file: &File,
    axes: &[Axis],
    variants: &[Variant],
) -> Result<(bool, Presentation)> {
    let names = || variants.iter().map(|variant| variant.name.as_str());
    if let Some(baseline) = &file.baseline
        && !names().any(|name| name == baseline.as_ref())
    {
        return Err(source.at(baseline.span().start)(input_error!(
            "baseline {:?} is no variant: {}variants are {}",
            baseline.as_ref(),
            did_you_mean(baseline.as_ref(), names()),
            names().collect::<Vec<_>>().join(", ")
        )));
    }
    let has_baseline = file.baseline.is_some();
    let mut metrics: Vec<String> = Vec::new();
    for name in file.metrics.iter().flatten() {
        let at = source.at(name.span().start);
        Metric::find(name.as_ref(), has_baseline).map_err(&at)?;
        if metrics.contains(name.as_ref()) {
            return Err(at(input_error!("metric {:?} stands there twice; remove one", name.as_ref())));
        }
        metrics.push(name.as_ref().clone());
    }
    if metrics.is_empty() {
        metrics = METRICS.map(str::to_owned).into();
    }
    let mut plots = Vec::new();
    for entry in &file.plot {
        let at = source.at(entry.span().start);
        plots.push(entry.as_ref().resolve(axes, variants, &metrics, has_baseline).map_err(at)?);
    }
    if file.plot.is_empty() {
        plots = PlotEntry::defaults(axes, variants, &metrics, has_baseline);
    }
    for (i, plot) in plots.iter().enumerate() {
        if plots[..i].iter().any(|other| other.name == plot.name) {
            let at = source.at(file.plot.get(i).map_or(0, |entry| entry.span().start));
            return Err(at(input_error!(
                "two plots are called {:?}; give one of them another name",
                plot.name
            )));
        }
        // What is drawn is aggregated too.
        let drawn = [Some(&plot.metric), plot.against.as_ref()].into_iter().flatten();
        let further: Vec<String> = drawn.filter(|metric| !metrics.contains(metric)).cloned().collect();
        metrics.extend(further);
    }
    let title = file.title.clone().unwrap_or_else(|| {
        Path::new(source.name).file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
    });
    let baseline = file.baseline.as_ref().map(|baseline| baseline.as_ref().clone());
    Ok((has_baseline, Presentation { title, about: file.about.clone(), metrics, baseline, plots }))
}
