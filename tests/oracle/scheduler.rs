//! The schedulers, as described.

use aegis_sim::policy::{MemorySource, ObservationAnchor, Order, PolicyKind, Pressure, Recovery};

use super::risk::risk;
use super::stepper::{Door, Oracle, Stage, Try, micros};

const SMACT: usize = 0;
const SMOCC: usize = 1;
const DRAMA: usize = 2;
const GPU_UTIL: usize = 3;

impl Oracle<'_> {
    /// Sends a job to the server with the least work waiting.
    pub fn arrive(&mut self, job: usize) {
        // Work waiting on each server that could hold the job; servers with room for its memory first.
        let wanted = self.world.jobs[job].gpus;
        let largest_mib =
            (0..wanted).map(|rank| self.workload(job).profile(rank).peak_memory_mib).fold(0.0, f64::max);
        let needed_mib = largest_mib * (1.0 - self.world.model.memory.elastic_fraction);
        let choice = (0..self.queues.len()).filter(|&server| self.gpus_of(server).len() >= wanted);
        let server = choice.min_by_key(|&server| {
            let room = self
                .gpus_of(server)
                .iter()
                .filter(|&&gpu| self.gpus[gpu].allocatable_mib >= needed_mib)
                .count();
            let waiting = self.queues[server].iter().chain(&self.recovery[server]);
            let gpu_us: i64 = waiting
                .map(|&j| self.world.jobs[j].gpus as i64 * self.world.jobs[j].solo_runtime.micros())
                .sum();
            let residents: usize = self.gpus_of(server).iter().map(|&gpu| self.gpus[gpu].jobs.len()).sum();
            (room < wanted, gpu_us, residents)
        });
        let server = server.unwrap();
        self.jobs[job].server = server;
        self.jobs[job].stage = Stage::Waiting;
        self.queues[server].push(job);
    }

    /// One step of a server's scheduler loop; whether a job was dispatched.
    pub fn tick(&mut self, server: usize) -> bool {
        let Some(&job) = self.recovery[server].first().or(self.queues[server].first()) else {
            return false;
        };
        let wanted = self.world.jobs[job].gpus;
        // Where a server's GPUs differ, not those that are known to be too small.
        let known_mib =
            f64::max(self.required_mib(job).unwrap_or(0.0), self.jobs[job].floor_mib.unwrap_or(0.0));
        let of_at_least = |least_mib: f64| -> Vec<usize> {
            let memory = |gpu: usize| self.gpus[gpu].memory_mib;
            let gpus = self.gpus_of(server).into_iter();
            gpus.filter(|&gpu| memory(gpu) >= least_mib && memory(gpu) > self.jobs[job].died_empty_mib)
                .collect()
        };
        let died_on_mib = self.jobs[job].died_on_mib;
        let tiers = [
            of_at_least(f64::max(known_mib, died_on_mib)),
            of_at_least(died_on_mib),
            of_at_least(0.0),
            self.gpus_of(server),
        ];
        let usable = tiers.into_iter().find(|gpus| gpus.len() >= wanted).unwrap();
        let idle: Vec<usize> = usable.into_iter().filter(|&gpu| self.is_idle(gpu)).collect();
        if idle.len() >= wanted {
            self.dispatch(job, &idle[..wanted], false);
            return true;
        }
        let state = &self.jobs[job];
        let waits_for_idle = state.needs_empty || state.recovered && self.params.recovery == Recovery::Idle;
        if self.kind == PolicyKind::Exclusive || waits_for_idle {
            return false;
        }
        // Whatever is smallest in the first, then the second key, then the index.
        let mut candidates: Vec<(f64, f64, usize)> = self
            .gpus_of(server)
            .into_iter()
            .filter(|&gpu| self.is_open(gpu))
            .filter_map(|gpu| {
                let (first, second) = match self.kind {
                    PolicyKind::Aegis => self.aegis(job, gpu),
                    PolicyKind::Horus => self.horus(job, gpu),
                    _ => self.lucid(job, gpu),
                }?;
                Some((first, second, gpu))
            })
            .collect();
        candidates.sort_by(|a, b| a.partial_cmp(b).unwrap());
        if candidates.len() < wanted {
            return false;
        }
        let gpus: Vec<usize> = candidates[..wanted].iter().map(|candidate| candidate.2).collect();
        self.dispatch(job, &gpus, true);
        true
    }

    fn is_idle(&self, gpu: usize) -> bool {
        let gpu = &self.gpus[gpu];
        gpu.jobs.is_empty() && gpu.seen_empty_from <= self.now
    }

    fn is_open(&self, gpu: usize) -> bool {
        match self.gpus[gpu].door {
            Door::Open => true,
            Door::Until(time) => time <= self.now,
            Door::UntilActive | Door::Locked => false,
        }
    }

    /// Free memory at the last sample, less the guard.
    fn available_mib(&self, gpu: usize) -> f64 {
        let gpu = &self.gpus[gpu];
        let guard_mib =
            f64::max(self.params.memory_guard_mib, self.params.memory_guard_fraction * gpu.memory_mib);
        gpu.memory_mib - gpu.sampled_used_mib - guard_mib
    }

    fn risk(&self, gpu: usize, metric: usize) -> f64 {
        let samples: Vec<f64> = self.gpus[gpu].samples.iter().map(|sample| sample[metric]).collect();
        let from = samples.len().saturating_sub(self.params.telemetry_samples as usize);
        risk(&samples[from..])
    }

    /// What AEGIS, or Lucid, takes the job to need.
    fn required_mib(&self, job: usize) -> Option<f64> {
        let workload = self.workload(job);
        let (peak_mib, estimates) = (workload.profile(0).peak_memory_mib, workload.estimates);
        if self.kind == PolicyKind::Lucid {
            return Some(peak_mib);
        }
        let margin_mib = self.params.memory_margin_mib;
        let needed_mib = match self.params.memory_source {
            _ if self.kind != PolicyKind::Aegis => None,
            MemorySource::Free => Some(self.params.memory_floor_mib),
            MemorySource::Peak => Some(peak_mib + margin_mib),
            MemorySource::Horus => estimates.horus_mib.map(|mib| mib + margin_mib),
            MemorySource::FakeTensor => estimates.faketensor_mib.map(|mib| mib + margin_mib),
            MemorySource::GpuMemNet => estimates.gpumemnet_mib.map(|mib| mib + margin_mib),
        };
        needed_mib.map(|mib| mib.max(self.jobs[job].floor_mib.unwrap_or(0.0)))
    }

    fn meets_recovery_floor(&self, job: usize, gpu: usize) -> bool {
        self.jobs[job].floor_mib.is_none_or(|floor_mib| self.available_mib(gpu) >= floor_mib)
    }

    fn aegis(&self, job: usize, gpu: usize) -> Option<(f64, f64)> {
        let available_mib = self.available_mib(gpu);
        let params = &self.params;
        if params.placement == Order::Rr {
            let server = self.gpus[gpu].server;
            let all = self.gpus_of(server);
            let place = |gpu: usize| all.iter().position(|&other| other == gpu).unwrap();
            let next = self.last_gpu[server].map_or(0, |last| place(last) + 1);
            let turn = (0..all.len()).position(|turn| (next + turn) % all.len() == place(gpu)).unwrap();
            return Some((turn as f64, 0.0));
        }
        if available_mib < self.required_mib(job)? {
            return None;
        }
        if params.pressure == Pressure::Thresholds
            && self.risk(gpu, SMACT) >= params.smact_threshold
            && (self.risk(gpu, SMOCC) >= params.smocc_threshold
                || self.risk(gpu, DRAMA) >= params.drama_threshold)
        {
            return None;
        }
        if params.pressure == Pressure::GpuUtilization
            && self.risk(gpu, GPU_UTIL) >= params.gpu_util_threshold
        {
            return None;
        }
        let by_nvidia_smi = params.pressure == Pressure::GpuUtilization;
        let key = match params.placement {
            Order::Magm => -available_mib,
            Order::Bf => available_mib,
            Order::Lug => self.risk(gpu, if by_nvidia_smi { GPU_UTIL } else { SMACT }),
            Order::Ff | Order::Rr => 0.0,
        };
        Some((key, 0.0))
    }

    fn horus(&self, job: usize, gpu: usize) -> Option<(f64, f64)> {
        let predicted = |job: usize| {
            let workload = self.workload(job);
            let known = workload.estimates.horus_mib.is_some() || !self.params.horus_needs_estimate;
            known.then_some(workload.profile(0).gpu_util.mean)
        };
        let own = predicted(job)?;
        let booked: f64 = self.gpus[gpu].jobs.iter().filter_map(|&other| predicted(other)).sum();
        (booked + own <= self.params.horus_utilization_cap && self.meets_recovery_floor(job, gpu))
            .then_some((booked + own, 0.0))
    }

    fn lucid(&self, job: usize, gpu: usize) -> Option<(f64, f64)> {
        let together = || self.gpus[gpu].jobs.iter().copied().chain([job]);
        let score: u32 = together().map(|job| self.workload(job).lucid_sharing_score.unwrap_or(2)).sum();
        let memory_mib: f64 = together().map(|job| self.workload(job).profile(0).peak_memory_mib).sum();
        let qualifies = together().count() <= self.params.lucid_max_jobs as usize
            && score <= self.params.lucid_max_score
            && memory_mib <= self.gpus[gpu].memory_mib - self.params.lucid_memory_margin_mib;
        (qualifies && self.meets_recovery_floor(job, gpu)).then_some((f64::from(score), memory_mib))
    }

    /// 25, 50 and 75 % of the memory, with steps in between so that none is too large.
    pub fn recovery_floors(&self, memory_mib: f64) -> Vec<f64> {
        let mut floors = vec![0.25 * memory_mib];
        for anchor in [0.5 * memory_mib, 0.75 * memory_mib] {
            while floors[floors.len() - 1] + self.params.recovery_bucket_step_mib < anchor {
                floors.push(floors[floors.len() - 1] + self.params.recovery_bucket_step_mib);
            }
            floors.push(anchor);
        }
        floors
    }

    fn dispatch(&mut self, job: usize, gpus: &[usize], collocated: bool) {
        let server = self.jobs[job].server;
        self.queues[server].retain(|&waiting| waiting != job);
        self.recovery[server].retain(|&waiting| waiting != job);
        let launch = self.now + micros(self.params.dispatch_lag_s);
        let required_mib = self.required_mib(job);
        let least_mib = gpus.iter().map(|&gpu| self.available_mib(gpu)).fold(f64::INFINITY, f64::min);
        let state = &mut self.jobs[job];
        state.gpus = gpus.to_vec();
        state.held_mib = vec![0.0; gpus.len()];
        let floor_mib = required_mib.into_iter().chain(state.floor_mib).reduce(f64::max);
        state.placed_under_mib = floor_mib.unwrap_or(0.0).max(least_mib);
        state.attempt = self.tries.len();
        self.tries.push(Try {
            job,
            server,
            gpus: gpus.to_vec(),
            dispatch_us: self.now,
            active_us: None,
            end_us: 0,
            completed: false,
            collocated,
            floor_mib,
        });
        let door = match self.params.observation_anchor {
            _ if state.needs_empty => Door::Locked,
            ObservationAnchor::Activity => Door::UntilActive,
            ObservationAnchor::Launch => Door::Until(launch + micros(self.params.observation_window_s)),
            ObservationAnchor::None => Door::Open,
        };
        debug_assert_eq!(state.stage, Stage::Waiting);
        for &gpu in gpus {
            self.gpus[gpu].jobs.push(job);
            self.gpus[gpu].newest = Some(job);
            self.gpus[gpu].door = door;
        }
        self.last_gpu[server] = gpus.last().copied();
        self.launch(job, launch);
    }
}
