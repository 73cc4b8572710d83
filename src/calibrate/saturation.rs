//! Where a GPU saturates, from runs of several jobs on one GPU and from measured runs of whole traces.

use rayon::prelude::*;

use super::crowd::CrowdErrors;
use super::data::{self, Crowd};
use super::{Report, pairs::mean};
use crate::error::{Result, input_error};
use crate::experiment::{Evaluation, MeasuredRun, Settings};
use crate::metrics::{Summary, quantile_of_sorted};
use crate::model::{Model, Saturation};
use crate::policy::PolicyKind;
use crate::sim::{NoObserver, World, simulate};
use crate::workload::Trace;

/// Candidates in hundredths: a grid as fine as the data can tell apart.
const CAPACITIES: std::ops::RangeInclusive<u32> = 80..=105;
const EXPONENTS: std::ops::RangeInclusive<u32> = 0..=100;
const CAPACITY_STEP: usize = 5;
const EXPONENT_STEP: usize = 10;
/// Runs per candidate and cell, with seeds 1, 2, ...; their medians are compared with what was measured.
const SEEDS: u64 = 20;

/// Figures of a whole run that count.
const FIGURES: [(&str, &str); 3] = [
    ("makespan", "makespan_s"),
    ("mean JCT", "jct_mean_s"),
    ("mean execution time", "execution_time_mean_s"),
];

/// What saturation is fitted to.
pub struct SaturationData<'a> {
    /// Runs of several jobs on one GPU: the data's name, and its bytes.
    pub multiway: Option<(&'a str, &'a [u8])>,
    /// Runs of whole traces.
    pub evaluation: Option<&'a Evaluation>,
}

/// A measured run of a whole trace, and the place of its trace in the evaluation.
struct Cell<'a> {
    trace: usize,
    world: World,
    measured: &'a MeasuredRun,
}

/// Relative errors of a candidate.
struct Tried {
    saturation: Saturation,
    crowds: CrowdErrors,
    /// Of each cell's medians, by figure.
    cells: Vec<[f64; FIGURES.len()]>,
}

/// Fits capacity and exponent: the mean absolute error of the mean slowdown of runs on one GPU and that of whole runs'
/// makespan, mean JCT and mean execution time count alike.
///
/// Exclusive runs and Lucid's are left out, since few of their GPUs saturate; they test the fit. The report says how a
/// fit without a trace does on that trace.
///
/// # Errors
/// Input that cannot be used; nothing to fit to.
pub fn run_saturation(data: &SaturationData<'_>, settings: &Settings) -> Result<Report> {
    let crowds = match data.multiway {
        Some((source, bytes)) => data::read_crowds(source, bytes, &settings.catalogue)?,
        None => Vec::new(),
    };
    let cells = data.evaluation.map_or_else(|| Ok(Vec::new()), |evaluation| cells(evaluation, settings))?;
    if crowds.is_empty() && cells.is_empty() {
        return Err(input_error!("nothing to fit saturation to: give --multiway, --evaluation or both"));
    }
    let tried = candidates()
        .into_par_iter()
        .map(|saturation| Tried::of(saturation, &crowds, &cells, settings))
        .collect::<Result<Vec<Tried>>>()?;
    let without = Tried::of(Saturation { capacity: 1.0, exponent: 0.0 }, &crowds, &cells, settings)?;
    let best = |keep: &dyn Fn(usize) -> bool| {
        let score = |tried: &Tried| tried.score(&cells, keep);
        tried.iter().min_by_key(|tried| score(tried)).expect("there are candidates")
    };
    let all = |_| true;
    let chosen = best(&all);

    let mut lines = Vec::new();
    for (name, tried) in [("without saturation", &without), ("in the fit", chosen)] {
        if !crowds.is_empty() {
            lines.push((format!("error, several jobs on a GPU, {name}"), tried.crowds.describe()));
        }
        if !cells.is_empty() {
            lines.push((format!("error, whole runs, {name}"), tried.describe(&cells, &all)));
        }
    }
    for (index, name) in data.evaluation.iter().flat_map(|evaluation| evaluation.traces.iter().enumerate()) {
        let others = best(&|trace| trace != index);
        let Saturation { capacity, exponent } = others.saturation;
        let name = format!("error, whole runs on {name}, fitted without them ({capacity:.2}, {exponent:.2})");
        lines.push((name, others.describe(&cells, &|trace| trace == index)));
    }
    Ok(report(data, chosen, crowds.len(), cells.len(), lines))
}

fn report(
    data: &SaturationData<'_>,
    chosen: &Tried,
    crowds: usize,
    cells: usize,
    lines: Vec<(String, String)>,
) -> Report {
    let Saturation { capacity, exponent } = chosen.saturation;
    let multiway = data.multiway.map_or(String::new(), |(source, _)| {
        format!("#   {crowds} runs of several jobs on one GPU, {source}: mean slowdown\n")
    });
    let whole = data.evaluation.map_or(String::new(), |evaluation| {
        let source = evaluation.measured.source();
        format!(
            "#   {cells} runs of whole traces, {source}, under all policies but exclusive and lucid, {SEEDS} seeds each:\n\
             #   makespan, mean JCT and mean execution time\n"
        )
    });
    let errors: String = lines.iter().map(|(name, value)| format!("# {name}:\n#   {value}\n")).collect();
    let toml = format!(
        "\
# How much slower all jobs of a GPU run when together they ask for more of it than there is:
# max(1, load / capacity)^exponent, where load is the sum of SMACT alone x the rate that the pressures leave
# (models/interference.toml). It starts with the second job.
#
# Fitted by
#   aegis-sim calibrate saturation
# to
{multiway}{whole}# which count alike. Mean absolute errors:
{errors}schema_version = 1

[saturation]
capacity = {capacity:.2}
exponent = {exponent:.2}
"
    );
    let fitted = [("capacity", capacity), ("exponent", exponent)]
        .map(|(name, value)| (name.to_owned(), format!("{value:.2}")));
    Report { toml, lines: fitted.into_iter().chain(lines).collect() }
}

fn candidates() -> Vec<Saturation> {
    let exponents = |capacity: u32| {
        EXPONENTS.step_by(EXPONENT_STEP).map(move |exponent| Saturation {
            capacity: f64::from(capacity) / 100.0,
            exponent: f64::from(exponent) / 100.0,
        })
    };
    CAPACITIES.step_by(CAPACITY_STEP).flat_map(exponents).collect()
}

fn cells<'a>(evaluation: &'a Evaluation, settings: &Settings) -> Result<Vec<Cell<'a>>> {
    let mut cells = Vec::new();
    for (trace, name) in evaluation.traces.iter().enumerate() {
        let world = settings.world(&Trace::open(name)?)?;
        for policy in &evaluation.policies {
            if matches!(policy.kind, PolicyKind::Exclusive | PolicyKind::Lucid) {
                continue;
            }
            if let Some(measured) = evaluation.measured.get(&world.trace_name, policy) {
                cells.push(Cell { trace, world: world.clone(), measured });
            }
        }
    }
    Ok(cells)
}

impl Tried {
    fn of(
        saturation: Saturation,
        crowds: &[Crowd],
        cells: &[Cell<'_>],
        settings: &Settings,
    ) -> Result<Tried> {
        let model = Model { saturation, ..settings.model.clone() };
        let crowds = CrowdErrors::of(crowds, &model, &settings.catalogue);
        let cells = cells.par_iter().map(|cell| cell.errors(saturation, settings)).collect::<Result<_>>()?;
        Ok(Tried { saturation, crowds, cells })
    }

    /// Mean absolute error of a figure over the cells of some traces; 0 without cells.
    fn of_figure(&self, figure: usize, cells: &[Cell<'_>], keep: &dyn Fn(usize) -> bool) -> f64 {
        let kept = cells.iter().zip(&self.cells).filter(|(cell, _)| keep(cell.trace));
        let errors: Vec<f64> = kept.map(|(_, errors)| errors[figure].abs()).collect();
        if errors.is_empty() { 0.0 } else { mean(&errors) }
    }

    /// Rounded, so that ties do not hang on the last bit.
    fn score(&self, cells: &[Cell<'_>], keep: &dyn Fn(usize) -> bool) -> i64 {
        let whole: f64 = (0..FIGURES.len()).map(|figure| self.of_figure(figure, cells, keep)).sum();
        ((self.crowds.mean_slowdown() + whole / FIGURES.len() as f64) * 1e9).round() as i64
    }

    fn describe(&self, cells: &[Cell<'_>], keep: &dyn Fn(usize) -> bool) -> String {
        let figures = FIGURES.iter().enumerate();
        let errors: Vec<String> = figures
            .map(|(figure, (name, _))| format!("{name} {:.2} %", 100.0 * self.of_figure(figure, cells, keep)))
            .collect();
        errors.join(", ")
    }
}

impl Cell<'_> {
    fn errors(&self, saturation: Saturation, settings: &Settings) -> Result<[f64; FIGURES.len()]> {
        let mut world = self.world.clone();
        world.model.saturation = saturation;
        let mut params = settings.params(&self.measured.policy)?;
        params.set("telemetry_blind_gpu", self.measured.telemetry.over_seeds())?;
        let simulated = |seed| simulate(&world, &self.measured.policy, &params, seed, &mut NoObserver);
        let runs = (1..=SEEDS)
            .map(|seed| Ok(Summary::of(&simulated(seed)?).figures()))
            .collect::<Result<Vec<_>>>()?;
        Ok(FIGURES.map(|(_, name)| {
            let figure = |run: &Vec<(String, crate::metrics::Figure)>| {
                run.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, figure)| figure.as_f64())
            };
            let mut values: Vec<f64> = runs.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            quantile_of_sorted(&values, 0.5) / self.measured.figure(name).unwrap_or(f64::NAN) - 1.0
        }))
    }
}
