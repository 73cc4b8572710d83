//! The scheduler's side of a run: ticks, dispatches, and what becomes of jobs that die.

use super::event::{EventKind, Observer};
use super::record::{Attempt, Outcome};
use super::run::{Class, Pending, Run};
use super::running::Phase;
use crate::cluster::Resident;
use crate::engine::Time;
use crate::policy::{
    self, Availability, Decision, JobRequest, Observation, ObservationAnchor, Recheck, available_memory_mib,
    next_recovery_floor_mib,
};
use crate::workload::Metric;

impl Run<'_> {
    /// One step of a server's scheduler loop.
    pub(super) fn tick(&mut self, server: usize, observer: &mut dyn Observer) {
        let now = self.now;
        let second = now.whole_s();
        let scheduler = &mut self.loops[server];
        scheduler.tick = None;
        scheduler.ticked = Some(now);
        let Some(&job) = scheduler.recovery.front().or(scheduler.queue.front()) else { return };
        for (index, view) in scheduler.views.iter_mut().enumerate() {
            let gpu = scheduler.first_gpu + index;
            view.free_mib = view.capacity_mib - self.telemetry.sampled_used_mib(gpu, second);
            view.idle = view.residents.is_empty() && scheduler.idle_from[index] <= now;
        }
        let state = &self.states[job];
        let request = JobRequest {
            profile: &self.world.profiles[job],
            recovered: state.recovered,
            recovery_floor_mib: state.recovery_floor_mib,
            forced_idle: state.forced_idle,
            outgrown_mib: state.outgrown_mib,
            died_on_mib: state.died_on_mib,
        };
        let observation = Observation {
            now,
            gpus: &scheduler.views,
            profiles: &self.world.profiles,
            last_gpu: scheduler.last_gpu,
        };
        let mut risks = self.telemetry.risks(scheduler.first_gpu, second);
        self.placement.terse = !observer.watches();
        let policy = self.policy.as_ref();
        match policy::decide(policy, &observation, &request, &mut risks, &self.params, &mut self.placement) {
            Decision::Wait(recheck) => {
                self.tell_rejections(server, job, observer);
                self.wait(server, recheck);
            }
            decision => {
                let required_mib = policy.required_memory_mib(&request, &self.params);
                self.dispatch(server, job, decision == Decision::Collocated, required_mib, observer);
                // One dispatch per tick; the next tick lies on the grid behind this one.
                self.request_tick(server, now);
            }
        }
    }

    /// Has the scheduler look again when it may find something else.
    fn wait(&mut self, server: usize, recheck: Recheck) {
        let scheduler = &self.loops[server];
        let next_sample = self.now.next_whole_s();
        let asked = match recheck {
            Recheck::At(time) => Some(time.max(self.now + Time::STEP)),
            Recheck::OnChange => None,
        };
        // Free memory is that of the last sample: after a change, the next one may show more.
        let stale = Time::from_whole_s(self.now.whole_s()) <= scheduler.changed;
        let unnoticed = scheduler.idle_from.iter().copied().filter(|&from| from > self.now).min();
        let at = [asked, stale.then_some(next_sample), unnoticed].into_iter().flatten().min();
        if let Some(at) = at {
            self.request_tick(server, at);
        }
    }

    fn tell_rejections(&mut self, server: usize, job: usize, observer: &mut dyn Observer) {
        if !observer.watches() {
            return;
        }
        for i in 0..self.placement.rejections.len() {
            let (index, reason) = self.placement.rejections[i];
            let told = Some((job, std::mem::discriminant(&reason)));
            let scheduler = &mut self.loops[server];
            if scheduler.told[index] != told {
                scheduler.told[index] = told;
                let gpu = scheduler.first_gpu + index;
                self.emit(observer, Some(job), EventKind::Reject { gpu, reason });
            }
        }
    }

    fn dispatch(
        &mut self,
        server: usize,
        job: usize,
        collocated: bool,
        required_mib: Option<f64>,
        observer: &mut dyn Observer,
    ) {
        let now = self.now;
        let gpu_us = self.gpu_us(job);
        let scheduler = &mut self.loops[server];
        if scheduler.recovery.front() == Some(&job) {
            scheduler.recovery.pop_front();
        } else {
            scheduler.queue.pop_front();
        }
        scheduler.queued_gpu_us -= gpu_us;

        let launch = now + Time::from_s(self.params.dispatch_lag_s);
        let window = Time::from_s(self.params.observation_window_s);
        let forced = self.states[job].forced_idle;
        let workload = self.world.workload(job);
        let interference = &self.world.model.interference;
        let noise = self.world.model.noise;
        let strength = self.params.interference_strength;
        let closing_activity = self.world.model.telemetry.closing_activity;
        let state = &mut self.states[job];
        state.gpus.clear();
        let mut least_available_mib = f64::INFINITY;
        for (rank, &index) in self.placement.gpus.iter().enumerate() {
            let gpu = scheduler.first_gpu + index;
            state.gpus.push(gpu);
            scheduler.last_gpu = Some(index);
            scheduler.newest[index] = Some(job);
            let view = &mut scheduler.views[index];
            view.residents.push(job);
            let available_mib = available_memory_mib(view, &self.params);
            least_available_mib = least_available_mib.min(available_mib);
            view.availability = match self.params.observation_anchor {
                _ if forced => Availability::Reserved,
                ObservationAnchor::Activity => Availability::AwaitingActivity,
                ObservationAnchor::Launch => Availability::At(launch + window),
                ObservationAnchor::None => Availability::Now,
            };
            let profile = workload.profile(rank);
            let over_training = profile.mean_over_training(closing_activity);
            let measured = interference.is_measured(&workload.name, profile);
            let run_factors = noise.pressure(self.noise_seed, &workload.name, measured);
            let contention = interference.contention(&workload.name, profile, strength, closing_activity);
            let truth = &mut self.gpus[gpu];
            truth.book(now);
            truth.residents.push(Resident {
                job,
                active: false,
                memory_mib: 0.0,
                speed: truth.spec.speed_of(&workload.name),
                contention: contention.times(run_factors),
                activity: profile.telemetry().map(|activity| (activity.mean / over_training).min(1.0)),
                pace: 1.0,
            });
        }

        let first_range = self.record.attempt_gpus.len();
        self.record.attempt_gpus.extend_from_slice(&state.gpus);
        state.attempts += 1;
        state.attempt = self.record.attempts.len();
        state.phase = Phase::Startup;
        // A recovered job is placed under its floor whatever the policy asks for, or its floors would not rise.
        let floor_mib = required_mib.into_iter().chain(state.recovery_floor_mib).reduce(f64::max);
        state.effective_floor_mib = floor_mib.unwrap_or(0.0).max(least_available_mib);
        self.record.attempts.push(Attempt {
            job,
            number: state.attempts,
            gpus: first_range..self.record.attempt_gpus.len(),
            dispatch: now,
            launch,
            first_activity: None,
            end: launch,
            outcome: Outcome::Completed,
            collocated,
            floor_mib,
        });
        let record = &mut self.record.jobs[job];
        if state.attempts == 1 {
            record.first_dispatch = now;
            record.first_launch = launch;
        } else {
            record.recovery_wait = record.recovery_wait + (now - state.failed_at);
        }
        record.attempts = state.attempts;

        let alone = self.world.run_alone(job, &self.params, self.noise_seed);
        state.work_us = alone.training_us;
        state.closing_us = alone.closing_us;
        state.rate = 0.0;
        self.queue.push(launch + alone.startup, Class::FirstActivity as u8, Pending::FirstActivity(job));
        let kind = EventKind::Dispatch {
            gpus: &self.states[job].gpus,
            attempt: self.states[job].attempts,
            collocated,
        };
        self.emit(observer, Some(job), kind);
        for &gpu in &self.states[job].gpus {
            self.tell_gpu(gpu, observer);
        }
    }

    /// A process ends: its GPUs are free of it at once, and the scheduler notices a little later.
    pub(super) fn leave(&mut self, job: usize, outcome: Outcome, observer: &mut dyn Observer) {
        let now = self.now;
        let attempt = self.attempt_mut(job);
        attempt.end = now;
        attempt.outcome = outcome;
        let launch = attempt.launch;
        let record = &mut self.record.jobs[job];
        record.execution = record.execution + (now - launch);
        record.end = now;
        self.deactivate(job, observer);
        let server = self.states[job].server;
        let noticed = now + Time::from_s(self.params.detection_lag_s);
        for i in 0..self.states[job].gpus.len() {
            let gpu = self.states[job].gpus[i];
            self.before_change(gpu);
            let truth = &mut self.gpus[gpu];
            truth.residents.retain(|resident| resident.job != job);
            truth.update_memory();
            self.telemetry.set_used_mib(gpu, truth.used_mib);
            let scheduler = &mut self.loops[server];
            let index = gpu - scheduler.first_gpu;
            scheduler.views[index].residents.retain(|&resident| resident != job);
            if scheduler.newest[index] == Some(job) {
                scheduler.newest[index] = None;
                scheduler.views[index].availability = Availability::Now;
            }
            scheduler.idle_from[index] = noticed;
            self.tell_gpu(gpu, observer);
        }
        self.loops[server].changed = now;
        self.request_tick(server, now);
    }

    /// A job has done its work: that before its closing phase, or all.
    pub(super) fn completion(&mut self, job: usize, observer: &mut dyn Observer) {
        self.states[job].completion = None;
        if self.states[job].closing_us > 0.0 {
            self.begin_closing(job);
            return self.update_rates(job, observer);
        }
        if let Some(handle) = self.states[job].growth.take() {
            self.queue.cancel(handle);
        }
        self.leave(job, Outcome::Completed, observer);
        self.states[job].phase = Phase::Done;
        self.emit(observer, Some(job), EventKind::Complete);
    }

    pub(super) fn out_of_memory(&mut self, job: usize, observer: &mut dyn Observer) {
        self.leave(job, Outcome::OutOfMemory, observer);
        self.emit(observer, Some(job), EventKind::OutOfMemory { gpus: &self.states[job].gpus });
        let state = &mut self.states[job];
        let capacity_mib =
            state.gpus.iter().map(|&gpu| self.gpus[gpu].spec.memory_mib).fold(f64::INFINITY, f64::min);
        if state.died_alone {
            state.outgrown_mib = state.outgrown_mib.max(state.died_on_mib);
        }
        let views = &self.loops[state.server].views;
        let larger = views.iter().filter(|view| view.capacity_mib > state.outgrown_mib).count();
        if state.forced_idle && larger < state.gpus.len() {
            return self.give_up(job, "out of memory although it had its GPUs for itself", observer);
        }
        // Once forced onto idle GPUs a job stays so, and moves on to larger ones. Alone on a GPU it was as good as
        // forced: no floor that this GPU could offer is safe.
        let floor_mib = match state.forced_idle || state.died_alone {
            true => None,
            false => next_recovery_floor_mib(state.effective_floor_mib, capacity_mib, &self.params),
        };
        state.phase = Phase::Queued;
        state.recovered = true;
        state.failed_at = self.now;
        state.recovery_floor_mib = floor_mib.or(state.recovery_floor_mib);
        state.forced_idle = floor_mib.is_none();
        let server = state.server;
        let gpu_us = self.gpu_us(job);
        let scheduler = &mut self.loops[server];
        scheduler.recovery.push_back(job);
        scheduler.queued_gpu_us += gpu_us;
        self.emit(observer, Some(job), EventKind::Recover { floor_mib });
        self.request_tick(server, self.now);
    }

    pub(super) fn give_up(&mut self, job: usize, reason: &'static str, observer: &mut dyn Observer) {
        self.states[job].phase = Phase::Done;
        self.record.jobs[job].given_up = Some(reason);
        self.emit(observer, Some(job), EventKind::GiveUp { reason });
    }

    pub(super) fn tell_gpu(&self, gpu: usize, observer: &mut dyn Observer) {
        if observer.watches() {
            let truth = &self.gpus[gpu];
            let activity = truth.expected_activity();
            debug_assert!(activity[Metric::Smact as usize] <= 1.0);
            let kind =
                EventKind::Gpu { gpu, jobs: truth.residents.len(), used_mib: truth.used_mib, activity };
            self.emit(observer, None, kind);
        }
    }
}
