//! The truth's side of a run: memory, activity and progress of the jobs on the GPUs.

use super::event::{EventKind, Observer};
use super::run::{Class, Pending, Run};
use super::running::Phase;
use crate::engine::Time;
use crate::model::Growth;
use crate::policy::Availability;

impl Run<'_> {
    /// A launched job reaches the GPU: it allocates its memory and trains, or dies of OOM.
    pub(super) fn first_activity(&mut self, job: usize, observer: &mut dyn Observer) {
        let now = self.now;
        let workload = self.world.workload(job);
        for (rank, &gpu) in self.states[job].gpus.iter().enumerate() {
            let needed_mib = self.world.model.memory.needed_mib(workload.profile(rank).initial_memory_mib);
            let free_mib = self.gpus[gpu].free_mib();
            if needed_mib > free_mib {
                return self.fail_allocation(job, gpu, needed_mib, free_mib, observer);
            }
        }
        self.attempt_mut(job).first_activity = Some(now);
        let state = &mut self.states[job];
        state.phase = Phase::Training;
        state.updated = now;
        let server = state.server;
        let noticed = now + Time::from_s(self.params.detection_lag_s);
        let window_end = noticed + Time::from_s(self.params.observation_window_s);
        let mut growth_s: f64 = 0.0;
        for rank in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[rank];
            self.before_change(gpu);
            let profile = workload.profile(rank);
            if profile.initial_memory_mib < profile.peak_memory_mib {
                growth_s = growth_s.max(profile.memory_growth_s);
            }
            let truth = &mut self.gpus[gpu];
            let free_mib = truth.free_mib();
            if let Some(resident) = truth.resident_mut(job) {
                resident.active = true;
                resident.memory_mib = profile.initial_memory_mib.min(free_mib);
            }
            truth.update_memory();
            self.telemetry.set_used_mib(gpu, truth.used_mib);
            let sampler = self.world.model.telemetry.sampler(profile, self.seed, job as u64);
            self.telemetry.start(gpu, job, sampler, 1.0);
            // A GPU watches the job placed on it last; a gang's windows all open with its first activity.
            let scheduler = &mut self.loops[server];
            let index = gpu - scheduler.first_gpu;
            let view = &mut scheduler.views[index];
            if scheduler.newest[index] == Some(job) && view.availability == Availability::AwaitingActivity {
                view.availability = Availability::At(window_end);
            }
        }
        if growth_s > 0.0 {
            let at = now + Time::from_s(growth_s);
            let handle = self.queue.push(at, Class::MemoryGrowth as u8, Pending::MemoryGrowth(job));
            self.states[job].growth = Some(handle);
        }
        self.emit(observer, Some(job), EventKind::FirstActivity { gpus: &self.states[job].gpus });
        if self.states[job].work_us == 0.0 {
            self.begin_closing(job);
        }
        self.update_rates(job, observer);
        self.loops[server].changed = now;
        self.request_tick(server, now);
    }

    /// What is left of a job's work is that of its closing phase, in which it asks less of its GPUs.
    pub(super) fn begin_closing(&mut self, job: usize) {
        let closing_activity = self.world.model.telemetry.closing_activity;
        self.states[job].work_us = std::mem::take(&mut self.states[job].closing_us);
        self.states[job].updated = self.now;
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.before_change(gpu);
            self.telemetry.set_closing(gpu, job);
            if let Some(resident) = self.gpus[gpu].resident_mut(job) {
                resident.contention = resident.contention.at_activity(closing_activity);
                resident.activity = resident.activity.map(|mean| mean * closing_activity);
            }
        }
    }

    /// A job's memory grows to its peak, as far as it has to and can.
    pub(super) fn memory_growth(&mut self, job: usize, observer: &mut dyn Observer) {
        self.states[job].growth = None;
        let workload = self.world.workload(job);
        for (rank, &gpu) in self.states[job].gpus.iter().enumerate() {
            let held_mib = self.gpus[gpu].resident(job).map_or(0.0, |resident| resident.memory_mib);
            let needed_mib =
                self.world.model.memory.needed_mib(workload.profile(rank).peak_memory_mib) - held_mib;
            let free_mib = self.gpus[gpu].free_mib();
            if needed_mib > free_mib && self.world.model.memory.growth == Growth::Required {
                return self.fail_allocation(job, gpu, needed_mib, free_mib, observer);
            }
        }
        for rank in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[rank];
            self.before_change(gpu);
            let truth = &mut self.gpus[gpu];
            let free_mib = truth.free_mib().max(0.0);
            if let Some(resident) = truth.resident_mut(job) {
                resident.memory_mib =
                    workload.profile(rank).peak_memory_mib.min(resident.memory_mib + free_mib);
            }
            truth.update_memory();
            self.telemetry.set_used_mib(gpu, truth.used_mib);
            self.tell_gpu(gpu, observer);
        }
        self.emit(observer, Some(job), EventKind::MemoryGrowth { gpus: &self.states[job].gpus });
        let server = self.states[job].server;
        self.loops[server].changed = self.now;
        self.request_tick(server, self.now);
    }

    /// The process that asks for memory that is not there stops working, on all its GPUs, and ends soon.
    fn fail_allocation(
        &mut self,
        job: usize,
        gpu: usize,
        needed_mib: f64,
        free_mib: f64,
        observer: &mut dyn Observer,
    ) {
        self.emit(observer, Some(job), EventKind::AllocationFailed { gpu, needed_mib, free_mib });
        self.deactivate(job, observer);
        let truth = &self.gpus[gpu];
        let state = &mut self.states[job];
        state.died_on_mib = truth.spec.memory_mib;
        state.died_alone = truth.residents.iter().all(|other| other.job == job || other.memory_mib == 0.0);
        state.phase = Phase::Dying;
        if let Some(handle) = state.completion.take() {
            self.queue.cancel(handle);
        }
        let at = self.now + Time::from_s(self.world.model.memory.oom_exit_s);
        self.queue.push(at, Class::OutOfMemory as u8, Pending::OutOfMemory(job));
    }

    /// Takes a job's activity, not its memory, off its GPUs; no-op where there is none.
    pub(super) fn deactivate(&mut self, job: usize, observer: &mut dyn Observer) {
        if self.states[job].phase != Phase::Training {
            return;
        }
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.before_change(gpu);
            self.telemetry.stop(gpu, job);
            if let Some(resident) = self.gpus[gpu].resident_mut(job) {
                resident.active = false;
            }
        }
        self.update_rates(job, observer);
    }

    /// Brings what is integrated or sampled over time up to date with a GPU that is about to change.
    pub(super) fn before_change(&mut self, gpu: usize) {
        let until = self.visible_from(self.gpus[gpu].server);
        self.telemetry.sample_until(gpu, until);
        self.gpus[gpu].book(self.now);
    }

    /// Works out anew the rates that a change of `job` may have changed: of the jobs that share a GPU with
    /// it, itself included.
    pub(super) fn update_rates(&mut self, job: usize, observer: &mut dyn Observer) {
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.gpus[gpu].saturation = self.saturation(gpu);
        }
        self.rounds += 1;
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.update_rates_on(gpu, job, observer);
            self.tell_gpu(gpu, observer);
        }
    }

    /// Of the jobs on one GPU. Tells of the other GPUs of gangs among them, unless `cause` is on those too.
    fn update_rates_on(&mut self, gpu: usize, cause: usize, observer: &mut dyn Observer) {
        for k in 0..self.gpus[gpu].residents.len() {
            let resident = &self.gpus[gpu].residents[k];
            let (job, active) = (resident.job, resident.active);
            // Rates do not depend on each other: one that was worked out in this round is not to be again, which matters
            // to gangs of thousands.
            if !active || self.states[job].rated == self.rounds {
                continue;
            }
            self.states[job].rated = self.rounds;
            if self.update_rate(job, observer) {
                self.tell_other_gpus(job, cause, observer);
            }
        }
    }

    /// A gang's pace changed: tells of its GPUs that `job` is not on.
    fn tell_other_gpus(&self, gang: usize, job: usize, observer: &mut dyn Observer) {
        if gang == job || !observer.watches() {
            return;
        }
        for &gpu in self.states[gang].gpus.iter().filter(|gpu| !self.states[job].gpus.contains(gpu)) {
            self.tell_gpu(gpu, observer);
        }
    }

    /// Whether the rate is another one now.
    fn update_rate(&mut self, job: usize, observer: &mut dyn Observer) -> bool {
        let state = &self.states[job];
        let speeds = state.gpus.iter().filter_map(|&gpu| self.gpus[gpu].resident(job)).map(|own| own.speed);
        let slowest_gpu = speeds.fold(f64::INFINITY, f64::min);
        let contended = state.gpus.iter().filter_map(|&gpu| self.contended_rate(gpu, job));
        let rate = contended.reduce(f64::min).unwrap_or(slowest_gpu);
        if rate == state.rate && state.completion.is_some() {
            return false;
        }
        let state = &mut self.states[job];
        state.progress(self.now);
        state.rate = rate;
        let at = state.completion_time();
        match state.completion {
            Some(handle) => {
                self.queue.reschedule(handle, at);
            }
            None => {
                let handle = self.queue.push(at, Class::Completion as u8, Pending::Completion(job));
                state.completion = Some(handle);
            }
        }
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.before_change(gpu);
            if let Some(resident) = self.gpus[gpu].resident_mut(job) {
                resident.pace = (rate / resident.speed).min(1.0);
                self.telemetry.set_pace(gpu, job, resident.pace);
            }
        }
        self.emit(observer, Some(job), EventKind::Rate { rate });
        true
    }

    /// The rate at which a job could progress on one of its GPUs; `None` if it does not compute there.
    ///
    /// Worked out from the residents every time, never carried along: alone it is the job's speed there exactly.
    fn contended_rate(&self, gpu: usize, job: usize) -> Option<f64> {
        let truth = &self.gpus[gpu];
        let own = truth.resident(job)?;
        if !own.computes() {
            return None;
        }
        Some(own.speed / (truth.waiting(own) * truth.saturation))
    }

    /// By how much the load of a GPU slows its residents down beside their pressures.
    fn saturation(&self, gpu: usize) -> f64 {
        let truth = &self.gpus[gpu];
        let computing = truth.residents.iter().filter(|resident| resident.computes());
        let shares = computing.map(|resident| resident.contention.busy / truth.waiting(resident));
        let slowdown = self.world.model.interference.saturation(shares);
        1.0 + self.params.interference_strength * (slowdown - 1.0)
    }
}
