use std::collections::VecDeque;

use super::event::{Event, EventKind, Observer};
use super::record::{Attempt, GpuRecord, JobRecord, RunRecord};
use super::running::{JobState, Phase};
use super::telemetry::TelemetryStore;
use super::world::{Oversized, World};
use crate::cluster::{GpuState, ServerSpec};
use crate::engine::{EventQueue, Handle, Key, Time};
use crate::error::{Result, input_error};
use crate::model::{Stream, counter_uniform, tick_phase};
use crate::policy::{
    self, Availability, BlindGpu, GpuView, Params, Placement, Policy, PolicySpec, Rejection,
};
use crate::workload::Metric;

/// The order of events at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    Completion,
    OutOfMemory,
    Arrival,
    FirstActivity,
    MemoryGrowth,
    /// Never queued: samples are worked out when a scheduler asks, as if taken here.
    TelemetrySample,
    Tick,
}

/// A pending event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    Completion(usize),
    OutOfMemory(usize),
    FirstActivity(usize),
    MemoryGrowth(usize),
    /// Of a server.
    Tick(usize),
}

/// A server's scheduler loop.
pub(super) struct Loop {
    pub first_gpu: usize,
    pub queue: VecDeque<usize>,
    pub recovery: VecDeque<usize>,
    /// GPU-microseconds of the jobs in both queues: whole, so that equal loads compare equal.
    pub queued_gpu_us: i128,
    pub tick: Option<(Time, Handle)>,
    /// Where the grid of its ticks starts.
    pub phase: Time,
    /// Instant of the last tick.
    pub ticked: Option<Time>,
    pub views: Vec<GpuView>,
    /// From when an empty GPU is seen to be idle.
    pub idle_from: Vec<Time>,
    /// The job placed last on each GPU, while it is there.
    pub newest: Vec<Option<usize>>,
    pub last_gpu: Option<usize>,
    /// Last change of a GPU, for free memory at the last sample is out of date until the next.
    pub changed: Time,
    /// What the observer was told last about each GPU, and of which job.
    pub told: Vec<Option<(usize, std::mem::Discriminant<Rejection>)>>,
}

/// A run in progress.
///
/// [`Run::new`] sets up all that the run needs; [`Run::finish`] then handles events without allocating
/// in steady state.
pub struct Run<'w> {
    pub(super) world: &'w World,
    pub(super) params: Params,
    pub(super) policy: Box<dyn Policy>,
    pub(super) seed: u64,
    /// Seed of run-to-run noise: 0 where it is switched off.
    pub(super) noise_seed: u64,
    pub(super) now: Time,
    pub(super) queue: EventQueue<Pending>,
    pub(super) next_arrival: usize,
    pub(super) loops: Vec<Loop>,
    pub(super) gpus: Vec<GpuState>,
    pub(super) blind: Vec<bool>,
    pub(super) telemetry: TelemetryStore,
    pub(super) states: Vec<JobState>,
    /// How often rates were worked out.
    pub(super) rounds: u64,
    pub(super) placement: Placement,
    pub(super) record: RunRecord,
}

impl<'w> Run<'w> {
    /// # Errors
    /// `telemetry_blind_gpu` names a GPU that no server has, or the policy reads telemetry that is not known of
    /// some workload of the trace.
    pub fn new(world: &'w World, policy: &PolicySpec, params: &Params, seed: u64) -> Result<Run<'w>> {
        let scheduler = policy::build(policy.kind);
        world.check_telemetry(policy, scheduler.as_ref(), params)?;
        let start = world.jobs.first().map_or(Time::ZERO, |job| job.submit);
        let combinations = world.model.telemetry.combinations();
        let noise_seed = params.noise_seed(seed);
        let mut loops = Vec::new();
        let mut gpus = Vec::new();
        let mut blind = Vec::new();
        for (index, server) in world.cluster.servers.iter().enumerate() {
            let phase = tick_phase(noise_seed, index, Time::from_s(params.tick_s));
            loops.push(Loop::new(gpus.len(), phase, server.gpus.iter().map(|gpu| gpu.memory_mib)));
            let blind_gpu = match params.telemetry_blind_gpu {
                BlindGpu::None => None,
                BlindGpu::Index(gpu) => Some(gpu as usize),
                BlindGpu::Seeded => {
                    let draw = counter_uniform(seed, Stream::BlindGpu, index as u64, 0);
                    Some((draw * server.gpus.len() as f64) as usize)
                }
            };
            for (gpu, spec) in server.gpus.iter().enumerate() {
                let mut state = GpuState::new(spec.clone(), index, combinations, world.model.power);
                state.meter.start(start);
                gpus.push(state);
                blind.push(blind_gpu == Some(gpu));
            }
        }
        if let BlindGpu::Index(gpu) = params.telemetry_blind_gpu
            && !blind.contains(&true)
        {
            return Err(input_error!(
                "telemetry_blind_gpu = {gpu}: the largest server has {} GPUs, numbered from 0",
                world.cluster.largest_server_gpus()
            ));
        }
        let jobs = &world.jobs;
        // Of jobs that are given up at once, however many they would need.
        let held_gpus = |job: usize| if world.is_oversized(job) { 0 } else { jobs[job].gpus };
        Ok(Run {
            world,
            params: params.clone(),
            policy: scheduler,
            seed,
            noise_seed,
            now: start,
            queue: EventQueue::with_capacity(2 * gpus.len() + 64),
            next_arrival: 0,
            loops,
            telemetry: TelemetryStore::new(&blind, params.telemetry_samples as usize, start, combinations),
            gpus,
            blind,
            states: (0..jobs.len()).map(|job| JobState::new(held_gpus(job))).collect(),
            rounds: 0,
            placement: Placement::default(),
            record: RunRecord {
                trace: world.trace_name.clone(),
                policy: policy.to_string(),
                seed,
                jobs: jobs.iter().enumerate().map(|(i, job)| job_record(job, world.workload(i))).collect(),
                attempts: Vec::with_capacity(jobs.len() + jobs.len() / 4),
                attempt_gpus: Vec::with_capacity((0..jobs.len()).map(held_gpus).sum::<usize>() * 5 / 4),
                gpus: Vec::new(),
                events: 0,
                start,
                end: start,
            },
        })
    }

    /// Handles all events and returns the record.
    pub fn finish(mut self, observer: &mut dyn Observer) -> RunRecord {
        while let Some(next) = self.next() {
            self.record.events += 1;
            match next {
                Next::Arrival(job) => {
                    self.now = self.world.jobs[job].submit;
                    self.next_arrival += 1;
                    self.arrival(job, observer);
                }
                Next::Queued(key) => {
                    debug_assert!(key.time >= self.now, "time went back");
                    self.now = key.time;
                    if let Some((_, pending)) = self.queue.pop() {
                        self.handle(pending, observer);
                    }
                }
            }
        }
        debug_assert!(self.states.iter().all(|state| state.phase == Phase::Done), "a job was lost");
        self.close()
    }

    /// The earlier of the next arrival and the next queued event. Arrivals are sorted, so that they need
    /// no queue.
    fn next(&self) -> Option<Next> {
        let arrival = self.world.jobs.get(self.next_arrival).map(|job| job.submit);
        match (arrival, self.queue.peek()) {
            (Some(at), Some(key)) if (key.time, key.class) < (at, Class::Arrival as u8) => {
                Some(Next::Queued(key))
            }
            (Some(_), _) => Some(Next::Arrival(self.next_arrival)),
            (None, key) => key.map(Next::Queued),
        }
    }

    fn handle(&mut self, pending: Pending, observer: &mut dyn Observer) {
        match pending {
            Pending::Completion(job) => self.completion(job, observer),
            Pending::OutOfMemory(job) => self.out_of_memory(job, observer),
            Pending::FirstActivity(job) => self.first_activity(job, observer),
            Pending::MemoryGrowth(job) => self.memory_growth(job, observer),
            Pending::Tick(server) => self.tick(server, observer),
        }
    }

    fn arrival(&mut self, job: usize, observer: &mut dyn Observer) {
        if self.world.is_oversized(job) {
            self.emit(observer, Some(job), EventKind::Submit { server: None });
            return self.give_up(job, Oversized::REASON, observer);
        }
        let server = self.route(job);
        self.states[job].server = server;
        self.record.jobs[job].server = server;
        self.emit(observer, Some(job), EventKind::Submit { server: Some(server) });
        let gpu_us = self.gpu_us(job);
        let scheduler = &mut self.loops[server];
        scheduler.queued_gpu_us += gpu_us;
        scheduler.queue.push_back(job);
        // Behind another job it changes nothing that the scheduler looks at.
        if scheduler.queue.len() == 1 && scheduler.recovery.is_empty() {
            self.request_tick(server, self.now);
        }
    }

    /// The server with the fewest queued GPU-seconds that can hold the job; of equals the one with the fewest
    /// jobs on its GPUs, then the lowest. One with enough GPUs but too little memory holds it only where no
    /// server has enough of both.
    fn route(&self, job: usize) -> usize {
        let wanted = self.world.jobs[job].gpus;
        let mut best: Option<(bool, i128, usize, usize)> = None;
        for (index, server) in self.world.cluster.servers.iter().enumerate() {
            if server.gpus.len() < wanted {
                continue;
            }
            let scheduler = &self.loops[index];
            let residents = scheduler.views.iter().map(|view| view.residents.len()).sum();
            let candidate = (!self.has_room(job, server), scheduler.queued_gpu_us, residents, index);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
        best.map_or(0, |best| best.3)
    }

    /// Whether a server's GPUs, all idle, would hold the job's memory.
    fn has_room(&self, job: usize, server: &ServerSpec) -> bool {
        let workload = self.world.workload(job);
        let needed_mib = (0..self.world.jobs[job].gpus)
            .map(|rank| self.world.model.memory.needed_mib(workload.profile(rank).peak_memory_mib))
            .fold(0.0, f64::max);
        server.gpus.iter().filter(|gpu| gpu.allocatable_mib >= needed_mib).count()
            >= self.world.jobs[job].gpus
    }

    pub(super) fn gpu_us(&self, job: usize) -> i128 {
        let job = &self.world.jobs[job];
        job.gpus as i128 * i128::from(job.solo_runtime.micros())
    }

    /// Has a server's scheduler look at its queue at the first point of its grid from `time` on.
    pub(super) fn request_tick(&mut self, server: usize, time: Time) {
        let scheduler = &mut self.loops[server];
        if scheduler.queue.is_empty() && scheduler.recovery.is_empty() {
            return;
        }
        let period = Time::from_s(self.params.tick_s);
        let mut at = (time.max(self.now) - scheduler.phase).ceil_to(period) + scheduler.phase;
        if period > Time::ZERO && scheduler.ticked == Some(at) {
            at = at + period;
        }
        match scheduler.tick {
            Some((before, _)) if before <= at => {}
            Some((_, handle)) => {
                self.queue.reschedule(handle, at);
                scheduler.tick = Some((at, handle));
            }
            None => {
                let handle = self.queue.push(at, Class::Tick as u8, Pending::Tick(server));
                scheduler.tick = Some((at, handle));
            }
        }
    }

    /// The first second whose sample sees what happens now on a server.
    pub(super) fn visible_from(&self, server: usize) -> i64 {
        let whole = self.now == Time::from_whole_s(self.now.whole_s());
        let ticked = self.loops[server].ticked == Some(self.now);
        if whole && !ticked { self.now.whole_s() } else { self.now.whole_s() + 1 }
    }

    pub(super) fn emit(&self, observer: &mut dyn Observer, job: Option<usize>, kind: EventKind<'_>) {
        if observer.watches() {
            observer.event(&Event { time: self.now, job, kind });
        }
    }

    fn close(mut self) -> RunRecord {
        let attempted = self.record.jobs.iter().filter(|job| job.attempts > 0);
        let end = attempted.map(|job| job.end).max().unwrap_or(self.record.start);
        self.record.end = end;
        let span_s = (end - self.record.start).as_s();
        let mean = |total: f64| if span_s > 0.0 { total / span_s } else { 0.0 };
        let known = Metric::ALL.map(|metric| self.world.knows(metric));
        for (index, gpu) in self.gpus.iter_mut().enumerate() {
            gpu.book(end);
            let meter = &gpu.meter;
            let activity =
                |metric: Metric| known[metric as usize].then(|| mean(meter.activity_s[metric as usize]));
            let active_mean = |total: f64| total / meter.active_s;
            let activity_active_mean = |metric: Metric| {
                if known[metric as usize] { active_mean(meter.activity_s[metric as usize]) } else { f64::NAN }
            };
            self.record.gpus.push(GpuRecord {
                server: gpu.server,
                index: index - self.loops[gpu.server].first_gpu,
                model: gpu.spec.model.clone(),
                memory_mib: gpu.spec.memory_mib,
                telemetry_blind: self.blind[index],
                busy_s: meter.busy_s,
                active_s: meter.active_s,
                idle_s: (span_s - meter.busy_s).max(0.0),
                peak_memory_mib: meter.peak_mib,
                memory_mean_mib: mean(meter.memory_mib_s),
                smact_mean: activity(Metric::Smact),
                smocc_mean: activity(Metric::Smocc),
                drama_mean: activity(Metric::Drama),
                gpu_util_mean: mean(meter.activity_s[Metric::GpuUtil as usize]),
                memory_active_mean_mib: active_mean(meter.active_memory_mib_s),
                smact_active_mean: activity_active_mean(Metric::Smact),
                smocc_active_mean: activity_active_mean(Metric::Smocc),
                drama_active_mean: activity_active_mean(Metric::Drama),
                gpu_util_active_mean: activity_active_mean(Metric::GpuUtil),
                power_active_mean_w: active_mean(meter.active_energy_j),
                energy_j: meter.energy_j,
            });
        }
        self.record
    }

    pub(super) fn attempt_mut(&mut self, job: usize) -> &mut Attempt {
        &mut self.record.attempts[self.states[job].attempt]
    }
}

enum Next {
    Arrival(usize),
    Queued(Key),
}

impl Loop {
    fn new(first_gpu: usize, phase: Time, capacities_mib: impl Iterator<Item = f64>) -> Loop {
        let views: Vec<GpuView> = capacities_mib
            .map(|capacity_mib| GpuView {
                capacity_mib,
                free_mib: capacity_mib,
                idle: true,
                availability: Availability::Now,
                residents: Vec::with_capacity(8),
            })
            .collect();
        let gpu_count = views.len();
        Loop {
            first_gpu,
            queue: VecDeque::with_capacity(64),
            recovery: VecDeque::with_capacity(8),
            queued_gpu_us: 0,
            tick: None,
            phase,
            ticked: None,
            views,
            idle_from: vec![Time::ZERO; gpu_count],
            newest: vec![None; gpu_count],
            last_gpu: None,
            changed: Time::ZERO,
            told: vec![None; gpu_count],
        }
    }
}

fn job_record(job: &crate::workload::Job, workload: &crate::workload::Workload) -> JobRecord {
    JobRecord {
        id: job.id.clone(),
        workload: workload.name.clone(),
        gpus: job.gpus,
        server: 0,
        submit: job.submit,
        solo_runtime: job.solo_runtime,
        first_dispatch: job.submit,
        first_launch: job.submit,
        end: job.submit,
        attempts: 0,
        recovery_wait: Time::ZERO,
        execution: Time::ZERO,
        given_up: None,
    }
}
