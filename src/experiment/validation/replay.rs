use std::sync::OnceLock;

use rayon::prelude::*;

use super::Reference;
use crate::error::Result;
use crate::experiment::{MeasuredRun, Settings};
use crate::metrics::{Figure, Summary};
use crate::policy::Params;
use crate::sim::{JobRecord, NoObserver, World, simulate};

/// The value of `telemetry_blind_gpu` for sound telemetry on all GPUs.
pub(super) const SOUND: &str = "none";

/// Under which telemetry condition runs are replayed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Telemetry {
    /// That of the measured run; where it is not known which GPU was blind, it is drawn for every seed.
    AsMeasured,
    Sound,
}

/// What is kept of the simulated runs: figures, and completion times of jobs.
pub(super) struct Replay<'a> {
    reference: &'a Reference,
    worlds: Vec<World>,
    /// Names of the figures that a summary has, and whether they count something.
    names: Vec<(String, bool)>,
    /// By measured run, then seed.
    runs: Vec<Vec<SeedRun>>,
    /// By measured run.
    measured_jcts_s: Vec<Option<Vec<Option<f64>>>>,
}

/// One simulated run condensed.
struct SeedRun {
    figures: Vec<f64>,
    /// Of the trace's jobs; NaN for one that did not complete.
    jcts_s: Vec<f64>,
}

impl<'a> Replay<'a> {
    pub fn of(
        reference: &'a Reference,
        settings: &Settings,
        seeds: u64,
        telemetry: Telemetry,
        replayed: &(dyn Fn() + Sync),
    ) -> Result<Replay<'a>> {
        let worlds = reference.worlds(settings)?;
        let measured_jcts_s = reference
            .runs
            .iter()
            .map(|(trace, run)| match &reference.jobs {
                Some(jobs) => jobs.jcts_s(run, &worlds[*trace]),
                None => Ok(None),
            })
            .collect::<Result<Vec<_>>>()?;
        let params = reference
            .runs
            .iter()
            .map(|(_, run)| {
                let mut params = settings.params(&run.policy)?;
                let blind = match telemetry {
                    Telemetry::AsMeasured => run.telemetry.over_seeds(),
                    Telemetry::Sound => SOUND,
                };
                params.set("telemetry_blind_gpu", blind)?;
                Ok(params)
            })
            .collect::<Result<Vec<Params>>>()?;
        let names = OnceLock::new();
        let tasks: Vec<(usize, u64)> =
            (0..reference.runs.len()).flat_map(|run| (1..=seeds).map(move |seed| (run, seed))).collect();
        let flat = tasks
            .into_par_iter()
            .map(|(index, seed)| {
                let (trace, run) = &reference.runs[index];
                let seed_run = SeedRun::simulate(&worlds[*trace], run, &params[index], seed, &names);
                replayed();
                seed_run
            })
            .collect::<Result<Vec<SeedRun>>>()?;
        let mut flat = flat.into_iter();
        let runs = reference.runs.iter().map(|_| flat.by_ref().take(seeds as usize).collect()).collect();
        let names = names.into_inner().unwrap_or_default();
        Ok(Replay { reference, worlds, names, runs, measured_jcts_s })
    }

    pub fn measured(&self, run: usize) -> &MeasuredRun {
        &self.reference.runs[run].1
    }

    pub fn world(&self, run: usize) -> &World {
        &self.worlds[self.reference.runs[run].0]
    }

    /// By job; `None` for a run whose jobs were not measured.
    pub fn measured_jcts_s(&self, run: usize) -> Option<&[Option<f64>]> {
        self.measured_jcts_s[run].as_deref()
    }

    pub fn seeds(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }

    /// Names of all figures, in the order of every table, and whether they count something.
    pub fn names(&self) -> &[(String, bool)] {
        &self.names
    }

    /// NaN for a figure that runs do not have.
    pub fn figure(&self, run: usize, seed: usize, name: &str) -> f64 {
        let index = self.names.iter().position(|(known, _)| known == name);
        index.map_or(f64::NAN, |index| self.runs[run][seed].figures[index])
    }

    /// Of each seed; NaN where the job did not complete.
    pub fn jcts_s(&self, run: usize) -> impl Iterator<Item = &[f64]> {
        self.runs[run].iter().map(|seed_run| seed_run.jcts_s.as_slice())
    }
}

impl SeedRun {
    /// `names` are set by whichever run comes first: all have the same figures.
    fn simulate(
        world: &World,
        run: &MeasuredRun,
        params: &Params,
        seed: u64,
        names: &OnceLock<Vec<(String, bool)>>,
    ) -> Result<SeedRun> {
        let record = simulate(world, &run.policy, params, seed, &mut NoObserver)?;
        let figures = Summary::of(&record).figures();
        let jct_s = |job: &JobRecord| if job.completed() { job.jct_s() } else { f64::NAN };
        let seed_run = SeedRun {
            figures: figures.iter().map(|(_, figure)| figure.as_f64()).collect(),
            jcts_s: record.jobs.iter().map(jct_s).collect(),
        };
        names.get_or_init(|| {
            let counts = |figure| matches!(figure, Figure::Count(_));
            figures.into_iter().map(|(name, figure)| (name, counts(figure))).collect()
        });
        Ok(seed_run)
    }
}
