use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::candidates::{Candidate, draw, settings_with_defaults};
use super::goal::{Goal, Score};
use super::halving::{Plan, survivors};
use super::outcome::{Compared, Stage, Tuned, Verdict};
use super::sample::Sample;
use super::space::SearchSpace;
use crate::error::{Result, input_error};
use crate::experiment::Settings;
use crate::experiment::sweep::{Resamples, pool};
use crate::metrics::Summary;
use crate::policy::PolicySpec;
use crate::sim::{NoObserver, Run, World, simulate};
use crate::workload::Trace;

/// What the recommendation is judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HeldOut {
    /// The same jobs under other seeds
    Seeds,
    /// Other jobs too: train on the first half of each trace, judge on the second
    Half,
}

/// What to search for, and on what.
#[derive(Debug, Clone)]
pub struct Request {
    pub policy: PolicySpec,
    /// Its parameters are the defaults that the search starts from.
    pub settings: Settings,
    pub traces: Vec<Trace>,
    pub space: SearchSpace,
    pub goal: Goal,
    /// The most runs, those on held-out data included.
    pub runs: usize,
    /// Training seeds are 1 to this, held-out ones those that follow.
    pub training_seeds: u64,
    pub held_out: HeldOut,
    pub held_out_seeds: u64,
    /// Which candidates are drawn.
    pub seed: u64,
}

/// A search that is ready to run.
#[derive(Debug)]
pub struct Search {
    request: Request,
    plan: Plan,
    /// The defaults first.
    candidates: Vec<Candidate>,
    training: Vec<World>,
    /// `None`: those of training.
    held_out: Option<Vec<World>>,
    /// Columns of [`Goal::figures`] among those of a summary.
    columns: Vec<usize>,
    /// What the user should know before it starts.
    pub notes: Vec<String>,
}

const MOST_RUNS: usize = 10_000_000;
const MOST_SEEDS: u64 = 1_000_000;

/// The defaults and the recommendation.
const JUDGED: usize = 2;

impl Search {
    /// # Errors
    /// Traces that do not fit the server, parameters under which the defaults cannot run, nothing to search, and a
    /// budget that is too small.
    pub fn new(request: Request) -> Result<Search> {
        let mut request = request;
        for (option, seeds) in
            [("--seeds", request.training_seeds), ("--held-out-seeds", request.held_out_seeds)]
        {
            if !(1..=MOST_SEEDS).contains(&seeds) {
                return Err(input_error!("{option} {seeds}: expected 1 to {MOST_SEEDS}"));
            }
        }
        if request.runs > MOST_RUNS {
            return Err(input_error!("--runs {}: expected at most {MOST_RUNS}", request.runs));
        }
        let worlds = |part: &dyn Fn(&Trace) -> Trace| {
            request
                .traces
                .iter()
                .map(|trace| request.settings.world(&part(trace)))
                .collect::<Result<Vec<_>>>()
        };
        let (training, held_out) = match request.held_out {
            HeldOut::Seeds => (worlds(&Trace::clone)?, None),
            HeldOut::Half => {
                if let Some(trace) = request.traces.iter().find(|trace| trace.jobs.len() < 2) {
                    return Err(input_error!(
                        "{}: one job has no halves; add jobs, or take --held-out seeds",
                        trace.source
                    ));
                }
                let first = |trace: &Trace| trace.clone().with_job_count(trace.jobs.len() / 2);
                let rest = |trace: &Trace| trace.clone().without_first_jobs(trace.jobs.len() / 2);
                (worlds(&first)?, Some(worlds(&rest)?))
            }
        };
        let (space, mut notes) = request.space.clone().for_policy(&request.policy, &request.settings)?;
        request.space = space;
        let defaults = request.settings.params(&request.policy)?;
        let runs_on = |candidate: &Candidate| {
            let mut worlds = training.iter().chain(held_out.iter().flatten());
            worlds.try_for_each(|world| Run::new(world, &request.policy, &candidate.params, 1).map(drop))
        };
        let default = Candidate::defaults(&request.space, &defaults);
        runs_on(&default)?;
        let plan = plan(&request, settings_with_defaults(&request.space, &defaults))?;
        let mut candidates = vec![default];
        let mut unusable = Vec::new();
        for candidate in draw(&request.space, &defaults, plan.candidates() - 1, request.seed) {
            match runs_on(&candidate) {
                Ok(()) => candidates.push(candidate),
                Err(problem) => unusable.push(problem),
            }
        }
        if let Some(problem) = unusable.first() {
            notes.push(format!(
                "{} candidates cannot run and are left out, the first: {problem}",
                unusable.len()
            ));
        }
        if candidates.len() < 2 {
            return Err(input_error!("{}: no candidate can run beside the defaults", request.space.source));
        }
        let plan = plan.with_candidates(candidates.len());
        let names = Summary::figure_names();
        let column = |figure: &String| {
            names
                .iter()
                .position(|name| name == figure)
                .ok_or_else(|| input_error!("{figure} is no figure of a single run; take another metric"))
        };
        let columns = request.goal.figures().iter().map(column).collect::<Result<Vec<_>>>()?;
        Ok(Search { request, plan, candidates, training, held_out, columns, notes })
    }

    /// The most runs that [`Search::run`] does.
    pub fn most_runs(&self) -> usize {
        self.plan.runs() + held_out_runs(&self.request)
    }

    /// Searches and judges, on `threads` threads (0: one per core); `ended` is called after each run, from any thread.
    /// The result is the same on any number of threads.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub fn run(&self, threads: usize, ended: &(dyn Fn() + Sync)) -> Result<Tuned> {
        pool(threads)?.install(|| self.search(ended))
    }

    fn search(&self, ended: &(dyn Fn() + Sync)) -> Result<Tuned> {
        let goal = &self.request.goal;
        let mut samples = vec![Sample::default(); self.candidates.len()];
        let mut scores = vec![Score { violation: 0.0, objective: 0.0 }; self.candidates.len()];
        let mut alive: Vec<usize> = (0..self.candidates.len()).collect();
        let mut seeds = 0;
        for rung in &self.plan.rungs {
            alive = survivors(alive, rung.candidates, |a, b| scores[a].rank(&scores[b]));
            let more = self.evaluate(&self.training, &alive, seeds + 1..=rung.seeds, ended)?;
            alive.iter().zip(more).for_each(|(&candidate, more)| samples[candidate].extend(more));
            seeds = rung.seeds;
            // Those that are out keep a score under fewer seeds, which nobody looks at.
            scores = samples.iter().map(|sample| goal.score(sample, &samples[0])).collect();
        }
        let resamples = Resamples::new(samples[0].seeds());
        let has_room = |candidate: usize| {
            scores[candidate].keeps_bounds() && goal.keeps_with_room(&samples[candidate], &resamples)
        };
        let last: Vec<(bool, usize)> =
            alive.into_iter().map(|candidate| (has_room(candidate), candidate)).collect();
        // Of equals the defaults.
        let best = last.iter().min_by(|(a_room, a), (b_room, b)| {
            b_room.cmp(a_room).then(scores[*a].rank(&scores[*b])).then(a.cmp(b))
        });
        let best = best.map_or(0, |(_, candidate)| *candidate);
        let mut compared = self.compare(Stage::Training, &samples[0], &samples[best]);
        let mut runs = self.plan.runs();
        let verdict = if let Some((_, bound, trace)) = goal.worst(&samples[best]) {
            Verdict::NoneKeepsBounds(self.miss(&samples[best], bound, trace))
        } else if best == 0 {
            Verdict::DefaultsBest
        } else {
            let held_out = self.evaluate(
                self.held_out.as_ref().unwrap_or(&self.training),
                &[0, best],
                self.held_out_seeds(),
                ended,
            )?;
            runs += held_out_runs(&self.request);
            compared.extend(self.compare(Stage::HeldOut, &held_out[0], &held_out[1]));
            self.judge(&held_out[0], &held_out[1], &compared)
        };
        Ok(Tuned::new(
            &self.request,
            &self.plan,
            runs,
            (&self.candidates[0], &self.candidates[best]),
            compared,
            verdict,
        ))
    }

    fn held_out_seeds(&self) -> RangeInclusive<u64> {
        let first = self.request.training_seeds + 1;
        first..=self.request.training_seeds + self.request.held_out_seeds
    }

    /// Runs of some candidates, in their order.
    fn evaluate(
        &self,
        worlds: &[World],
        candidates: &[usize],
        seeds: RangeInclusive<u64>,
        ended: &(dyn Fn() + Sync),
    ) -> Result<Vec<Sample>> {
        let count = (seeds.end() + 1 - seeds.start()) as usize;
        let per_candidate = worlds.len() * count;
        let one = |task: usize| {
            let params = &self.candidates[candidates[task / per_candidate]].params;
            let world = &worlds[task % per_candidate / count];
            let seed = seeds.start() + (task % count) as u64;
            let record = simulate(world, &self.request.policy, params, seed, &mut NoObserver)?;
            ended();
            let figures = Summary::of(&record).figures();
            Ok(self.columns.iter().map(|&column| figures[column].1.as_f64()).collect())
        };
        let runs: Result<Vec<Vec<f64>>> =
            (0..candidates.len() * per_candidate).into_par_iter().map(one).collect();
        let of_candidate = |runs: &[Vec<f64>]| Sample::of(runs.chunks(count).map(<[_]>::to_vec).collect());
        Ok(runs?.chunks(per_candidate).map(of_candidate).collect())
    }

    fn compare(&self, stage: Stage, defaults: &Sample, recommended: &Sample) -> Vec<Compared> {
        Compared::all(stage, &self.request.goal, &self.request.traces, defaults, recommended)
    }

    fn miss(&self, sample: &Sample, bound: usize, trace: usize) -> super::Miss {
        super::Miss {
            bound: self.request.goal.bounds[bound].clone(),
            trace: self.request.traces[trace].name.clone(),
            value: sample.mean(trace, Goal::figure_of_bound(bound)),
        }
    }

    /// Judges the best candidate, which keeps the bounds in training, on held-out data.
    fn judge(&self, defaults: &Sample, best: &Sample, compared: &[Compared]) -> Verdict {
        let goal = &self.request.goal;
        if let Some((_, bound, trace)) = goal.worst(best) {
            return Verdict::BreaksBound(self.miss(best, bound, trace));
        }
        let objective = Compared::objective(compared, Stage::HeldOut);
        let gain = objective.map_or(0.0, Compared::gain);
        let no_worse_job = goal.score(best, defaults).keeps_bounds();
        let clear = objective.is_some_and(|compared| compared.difference.is_clear());
        match (gain > 0.0, clear) {
            _ if !no_worse_job => Verdict::NotBetter,
            (true, true) => Verdict::Better { clear },
            _ if goal.worst(defaults).is_some() => Verdict::KeepsBounds,
            (true, false) => Verdict::Better { clear },
            (false, _) => Verdict::NotBetter,
        }
    }
}

fn held_out_runs(request: &Request) -> usize {
    JUDGED.saturating_mul(request.held_out_seeds as usize).saturating_mul(request.traces.len())
}

fn plan(request: &Request, settings: usize) -> Result<Plan> {
    let held_out = held_out_runs(request);
    let (traces, seeds) = (request.traces.len(), request.training_seeds);
    let budget = request.runs.saturating_sub(held_out);
    if settings < JUDGED {
        return Err(input_error!(
            "{}: has no setting beside the defaults; give its axes other values",
            request.space.source
        ));
    }
    Plan::within(budget, traces, seeds, settings).ok_or_else(|| {
        let least = held_out.saturating_add(JUDGED.saturating_mul(traces).saturating_mul(seeds as usize));
        input_error!(
            "--runs {}: one candidate beside the defaults takes {least} runs already ({traces} traces under {seeds} \
             training and {} held-out seeds); give more runs, or fewer --seeds or --held-out-seeds",
            request.runs,
            request.held_out_seeds
        )
    })
}
