//! The truth, step by step.

use aegis_sim::cluster::GpuSpec;
use aegis_sim::engine::Time;
use aegis_sim::model::{Growth, tick_phase};
use aegis_sim::policy::{BlindGpu, Params, PolicyKind};
use aegis_sim::sim::World;

/// Microseconds.
const STEP: i64 = 200_000;
pub const SECOND: i64 = 1_000_000;
/// Rounding that is not taken for work left over.
const NOTHING_US: f64 = 1e-3;

pub fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// How long work takes at a rate.
fn left_us(work_us: f64, rate: f64) -> i64 {
    (work_us / rate - NOTHING_US).ceil() as i64
}

/// One launch of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Try {
    pub job: usize,
    pub server: usize,
    pub gpus: Vec<usize>,
    pub dispatch_us: i64,
    pub active_us: Option<i64>,
    pub end_us: i64,
    pub completed: bool,
    pub collocated: bool,
    pub floor_mib: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stage {
    Absent,
    Waiting,
    /// Launched; reaches the GPU at that time.
    Starting(i64),
    Training,
    /// Its allocation did not fit; ends at that time.
    Dying(i64),
    Gone,
}

pub struct Job {
    pub stage: Stage,
    pub server: usize,
    /// In the order of ranks.
    pub gpus: Vec<usize>,
    pub held_mib: Vec<f64>,
    /// Until the closing phase or, in it, until the end.
    work_us: f64,
    /// Of the closing phase that is still to come.
    closing_us: f64,
    pub closing: bool,
    grows_at: Option<i64>,
    pub recovered: bool,
    pub floor_mib: Option<f64>,
    pub needs_empty: bool,
    /// The largest GPU that it died on with nothing else there, and the GPU that it died on last.
    pub died_empty_mib: f64,
    pub died_on_mib: f64,
    died_alone: bool,
    pub placed_under_mib: f64,
    pub attempt: usize,
}

/// Whether a GPU takes a newcomer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Door {
    Open,
    Until(i64),
    UntilActive,
    Locked,
}

pub struct Gpu<'w> {
    pub spec: &'w GpuSpec,
    pub server: usize,
    pub memory_mib: f64,
    pub allocatable_mib: f64,
    pub blind: bool,
    /// In the order of dispatch.
    pub jobs: Vec<usize>,
    pub newest: Option<usize>,
    pub door: Door,
    pub seen_empty_from: i64,
    pub sampled_used_mib: f64,
    /// SMACT, SMOCC, DRAMA and GPU utilisation, second by second.
    pub samples: Vec<[f64; 4]>,
}

pub struct Oracle<'w> {
    pub world: &'w World,
    pub kind: PolicyKind,
    pub params: Params,
    pub seed: u64,
    pub now: i64,
    pub jobs: Vec<Job>,
    pub gpus: Vec<Gpu<'w>>,
    pub queues: Vec<Vec<usize>>,
    pub recovery: Vec<Vec<usize>>,
    pub last_gpu: Vec<Option<usize>>,
    /// Jobs whose allocation failed, in that order.
    dying: Vec<usize>,
    /// Jobs that started training, in that order.
    active: Vec<usize>,
    pub tries: Vec<Try>,
    given_up: Vec<bool>,
}

pub struct Finished {
    pub attempts: Vec<Try>,
    pub given_up: Vec<bool>,
}

impl Finished {
    pub fn text(&self) -> String {
        self.attempts.iter().map(|attempt| format!("{attempt:?}\n")).collect()
    }
}

impl<'w> Oracle<'w> {
    pub fn new(world: &'w World, kind: PolicyKind, params: Params, seed: u64) -> Oracle<'w> {
        let mut gpus = Vec::new();
        for (server, spec) in world.cluster.servers.iter().enumerate() {
            let blind = match params.telemetry_blind_gpu {
                BlindGpu::None => None,
                BlindGpu::Index(index) => Some(index as usize),
                BlindGpu::Seeded => {
                    let draw = aegis_sim::model::counter_uniform(
                        seed,
                        aegis_sim::model::Stream::BlindGpu,
                        server as u64,
                        0,
                    );
                    Some((draw * spec.gpus.len() as f64).floor() as usize)
                }
            };
            for (index, gpu) in spec.gpus.iter().enumerate() {
                gpus.push(Gpu {
                    spec: gpu,
                    server,
                    memory_mib: gpu.memory_mib,
                    allocatable_mib: gpu.allocatable_mib,
                    blind: blind == Some(index),
                    jobs: Vec::new(),
                    newest: None,
                    door: Door::Open,
                    seen_empty_from: 0,
                    sampled_used_mib: 0.0,
                    samples: Vec::new(),
                });
            }
        }
        let job = || Job {
            stage: Stage::Absent,
            server: 0,
            gpus: Vec::new(),
            held_mib: Vec::new(),
            work_us: 0.0,
            closing_us: 0.0,
            closing: false,
            grows_at: None,
            recovered: false,
            floor_mib: None,
            needs_empty: false,
            died_empty_mib: 0.0,
            died_on_mib: 0.0,
            died_alone: false,
            placed_under_mib: 0.0,
            attempt: 0,
        };
        let servers = world.cluster.servers.len();
        Oracle {
            world,
            kind,
            params,
            seed,
            now: world.jobs[0].submit.micros(),
            jobs: world.jobs.iter().map(|_| job()).collect(),
            gpus,
            queues: vec![Vec::new(); servers],
            recovery: vec![Vec::new(); servers],
            last_gpu: vec![None; servers],
            dying: Vec::new(),
            active: Vec::new(),
            tries: Vec::new(),
            given_up: vec![false; world.jobs.len()],
        }
    }

    pub fn run(mut self) -> Finished {
        loop {
            self.instant();
            if self.jobs.iter().all(|job| job.stage == Stage::Gone) {
                return Finished { attempts: self.tries, given_up: self.given_up };
            }
            assert!(self.now < 10_000 * SECOND, "never ends:\n{:#?}", self.tries);
            self.step();
        }
    }

    /// All that happens at one instant: changes in their order, then the sample, then ticks.
    fn instant(&mut self) {
        while self.next_change() {}
        if self.now % SECOND == 0 {
            self.sample();
        }
        let period = micros(self.params.tick_s);
        loop {
            let mut dispatched = false;
            for server in 0..self.queues.len() {
                if period == 0 || self.grid(server).0 {
                    dispatched |= self.tick(server);
                    while self.next_change() {}
                }
            }
            // A period of 0: as often as something can be dispatched.
            if period > 0 || !dispatched {
                return;
            }
        }
    }

    /// Lets time pass: a step, or less if something falls within it.
    fn step(&mut self) {
        let now = self.now;
        let training = |job: usize| self.jobs[job].stage == Stage::Training;
        let rates: Vec<f64> =
            (0..self.jobs.len()).map(|job| if training(job) { self.rate(job) } else { 0.0 }).collect();
        let mut to = (now / STEP + 1) * STEP;
        let mut meet = |time: i64| {
            if time > now {
                to = to.min(time);
            }
        };
        let period = micros(self.params.tick_s);
        if period > 0 {
            (0..self.queues.len()).for_each(|server| meet(self.grid(server).1));
        }
        for (index, job) in self.jobs.iter().enumerate() {
            match job.stage {
                Stage::Absent => meet(self.world.jobs[index].submit.micros()),
                Stage::Starting(at) | Stage::Dying(at) => meet(at),
                Stage::Training => {
                    meet(now + left_us(job.work_us, rates[index]));
                    meet(job.grows_at.unwrap_or(0));
                }
                Stage::Waiting | Stage::Gone => {}
            }
        }
        for gpu in &self.gpus {
            meet(gpu.seen_empty_from);
            if let Door::Until(time) = gpu.door {
                meet(time);
            }
        }
        for (job, rate) in self.jobs.iter_mut().zip(rates) {
            job.work_us = (job.work_us - rate * (to - now) as f64).max(0.0);
        }
        self.now = to;
    }

    /// Does the first thing that is due: a completion, else an OOM death, an arrival, a first activity, a
    /// growth of memory.
    fn next_change(&mut self) -> bool {
        let now = self.now;
        let jobs = 0..self.jobs.len();
        let done = |job: usize| {
            let state = &self.jobs[job];
            state.stage == Stage::Training
                && state.work_us < 1.0
                && state.work_us / self.rate(job) <= NOTHING_US
        };
        // In the order of dispatch.
        let starter = |attempt: usize| {
            let job = self.tries[attempt].job;
            let starts = matches!(self.jobs[job].stage, Stage::Starting(at) if at <= now);
            (starts && self.jobs[job].attempt == attempt).then_some(job)
        };
        let dies = |job: usize| matches!(self.jobs[job].stage, Stage::Dying(at) if at <= now);
        let arrives =
            |job: usize| self.jobs[job].stage == Stage::Absent && self.world.jobs[job].submit.micros() <= now;
        if let Some(job) = jobs.clone().find(|&job| done(job) && self.jobs[job].closing_us > 0.0) {
            self.close(job);
        } else if let Some(job) = jobs.clone().find(|&job| done(job)) {
            self.leave(job, true);
            self.jobs[job].stage = Stage::Gone;
        } else if let Some(job) = self.dying.iter().copied().find(|&job| dies(job)) {
            self.die(job);
        } else if let Some(job) = jobs.clone().find(|&job| arrives(job)) {
            self.arrive(job);
        } else if let Some(job) = (0..self.tries.len()).find_map(starter) {
            self.start(job);
        } else if let Some(job) =
            self.active.iter().copied().find(|&job| self.jobs[job].grows_at.is_some_and(|at| at <= now))
        {
            self.grow(job);
        } else {
            return false;
        }
        true
    }

    pub fn noise_seed(&self) -> u64 {
        if self.params.noise { self.seed } else { 0 }
    }

    /// Whether a server's scheduler looks at its queue now, and when it does so next.
    fn grid(&self, server: usize) -> (bool, i64) {
        let period = micros(self.params.tick_s);
        let phase = tick_phase(self.noise_seed(), server, Time::from_micros(period)).micros();
        let since = (self.now - phase).rem_euclid(period);
        (since == 0, self.now - since + period)
    }

    pub fn launch(&mut self, job: usize, at: i64) {
        let factor = match self.params.runtime_factors {
            true => self.world.model.runtime_factors.get(&self.workload(job).name).copied().unwrap_or(1.0),
            false => 1.0,
        };
        let seed = self.noise_seed();
        let noise = self.world.model.noise;
        let spec = &self.world.jobs[job];
        let varied = noise.runtime(seed, job as u64, self.workload(job).profile(0));
        let runtime = micros(spec.solo_runtime.as_s() * (factor * varied));
        let startup = micros(spec.startup.as_s() * noise.startup(seed, job as u64)).min(runtime);
        let closing = micros(self.workload(job).profile(0).closing_s).min(runtime - startup);
        self.jobs[job].work_us = (runtime - startup - closing) as f64;
        self.jobs[job].closing_us = closing as f64;
        self.jobs[job].closing = false;
        self.jobs[job].stage = Stage::Starting(at + startup);
    }

    /// Only the closing phase is left.
    fn close(&mut self, job: usize) {
        self.jobs[job].work_us = std::mem::take(&mut self.jobs[job].closing_us);
        self.jobs[job].closing = true;
    }

    fn start(&mut self, job: usize) {
        let needs: Vec<f64> = (0..self.jobs[job].gpus.len())
            .map(|r| self.workload(job).profile(r).initial_memory_mib)
            .collect();
        if !self.allocate(job, &needs) {
            return;
        }
        self.jobs[job].stage = Stage::Training;
        self.active.push(job);
        let attempt = self.jobs[job].attempt;
        self.tries[attempt].active_us = Some(self.now);
        let growth = (0..needs.len())
            .map(|rank| self.workload(job).profile(rank))
            .filter(|profile| profile.peak_memory_mib > profile.initial_memory_mib)
            .map(|profile| micros(profile.memory_growth_s))
            .max();
        self.jobs[job].grows_at = growth.filter(|&after| after > 0).map(|after| self.now + after);
        let opens = self.now + micros(self.params.detection_lag_s) + micros(self.params.observation_window_s);
        for &gpu in &self.jobs[job].gpus {
            let gpu = &mut self.gpus[gpu];
            if gpu.newest == Some(job) && gpu.door == Door::UntilActive {
                gpu.door = Door::Until(opens);
            }
        }
    }

    fn grow(&mut self, job: usize) {
        self.jobs[job].grows_at = None;
        let peaks: Vec<f64> =
            (0..self.jobs[job].gpus.len()).map(|r| self.workload(job).profile(r).peak_memory_mib).collect();
        if self.world.model.memory.growth == Growth::Cached {
            for (rank, peak) in peaks.into_iter().enumerate() {
                let gpu = self.jobs[job].gpus[rank];
                let held = self.jobs[job].held_mib[rank];
                let left = self.gpus[gpu].allocatable_mib - self.used_mib(gpu);
                self.jobs[job].held_mib[rank] = held + (peak - held).min(left).max(0.0);
            }
            return;
        }
        self.allocate(job, &peaks);
    }

    /// Brings a job to these amounts of memory, or has it die.
    fn allocate(&mut self, job: usize, needs_mib: &[f64]) -> bool {
        // What the others leave, by rank.
        let left_mib: Vec<f64> = self.jobs[job]
            .gpus
            .iter()
            .zip(&self.jobs[job].held_mib)
            .map(|(&gpu, held)| self.gpus[gpu].allocatable_mib - (self.used_mib(gpu) - held))
            .collect();
        let needed = 1.0 - self.world.model.memory.elastic_fraction;
        let fits = needs_mib.iter().zip(&left_mib).all(|(need, left)| need * needed <= *left);
        if fits {
            self.jobs[job].held_mib =
                needs_mib.iter().zip(&left_mib).map(|(need, left)| need.min(*left)).collect();
        } else {
            let short = (0..needs_mib.len()).find(|&rank| needs_mib[rank] * needed > left_mib[rank]).unwrap();
            let gpu = self.jobs[job].gpus[short];
            self.jobs[job].died_on_mib = self.gpus[gpu].memory_mib;
            self.jobs[job].died_alone = self.used_mib(gpu) - self.jobs[job].held_mib[short] == 0.0;
            self.jobs[job].stage = Stage::Dying(self.now + micros(self.world.model.memory.oom_exit_s));
            self.jobs[job].grows_at = None;
            self.dying.push(job);
        }
        fits
    }

    fn die(&mut self, job: usize) {
        self.dying.retain(|&dying| dying != job);
        self.leave(job, false);
        let state = &mut self.jobs[job];
        if state.died_alone {
            state.died_empty_mib = f64::max(state.died_empty_mib, state.died_on_mib);
        }
        let state = &self.jobs[job];
        let larger = |gpu: &&Gpu<'_>| gpu.server == state.server && gpu.memory_mib > state.died_empty_mib;
        if state.needs_empty && self.gpus.iter().filter(larger).count() < state.gpus.len() {
            self.given_up[job] = true;
            self.jobs[job].stage = Stage::Gone;
            return;
        }
        let smallest_mib =
            state.gpus.iter().map(|&gpu| self.gpus[gpu].memory_mib).fold(f64::INFINITY, f64::min);
        let next =
            self.recovery_floors(smallest_mib).into_iter().find(|&floor| floor > state.placed_under_mib);
        let next = next.filter(|_| !state.needs_empty && !state.died_alone);
        let state = &mut self.jobs[job];
        state.stage = Stage::Waiting;
        state.recovered = true;
        match next {
            Some(floor) => state.floor_mib = Some(floor),
            None => state.needs_empty = true,
        }
        self.recovery[state.server].push(job);
    }

    fn leave(&mut self, job: usize, completed: bool) {
        let attempt = &mut self.tries[self.jobs[job].attempt];
        (attempt.end_us, attempt.completed) = (self.now, completed);
        for gpu in self.jobs[job].gpus.clone() {
            let gpu = &mut self.gpus[gpu];
            gpu.jobs.retain(|&other| other != job);
            gpu.seen_empty_from = self.now + micros(self.params.detection_lag_s);
            if gpu.newest == Some(job) {
                (gpu.newest, gpu.door) = (None, Door::Open);
            }
        }
        self.active.retain(|&other| other != job);
        self.jobs[job].grows_at = None;
    }
}
