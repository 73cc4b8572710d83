//! What jobs do to GPUs and to each other, as described.

use std::collections::BTreeMap;

use aegis_sim::model::{Combination, PairFactors};
use aegis_sim::workload::{GpuProfile, Workload};

use super::stepper::{Oracle, SECOND, Stage};

impl<'w> Oracle<'w> {
    pub fn workload(&self, job: usize) -> &'w Workload {
        self.world.workload(job)
    }

    pub fn gpus_of(&self, server: usize) -> Vec<usize> {
        (0..self.gpus.len()).filter(|&gpu| self.gpus[gpu].server == server).collect()
    }

    fn rank(&self, job: usize, gpu: usize) -> usize {
        self.jobs[job].gpus.iter().position(|&other| other == gpu).unwrap()
    }

    fn profile_on(&self, job: usize, gpu: usize) -> &'w GpuProfile {
        self.workload(job).profile(self.rank(job, gpu))
    }

    pub fn used_mib(&self, gpu: usize) -> f64 {
        self.gpus[gpu].jobs.iter().map(|&job| self.jobs[job].held_mib[self.rank(job, gpu)]).sum()
    }

    fn uses(&self, job: usize, gpu: usize) -> bool {
        let profile = self.profile_on(job, gpu);
        self.jobs[job].stage == Stage::Training
            && self.activity(job) > 0.0
            && [profile.smact, profile.smocc, profile.drama, Some(profile.gpu_util)]
                .iter()
                .any(|metric| metric.is_some_and(|activity| activity.mean > 0.0))
    }

    /// Of a job on a GPU: the workload's own speed there, or else that of all.
    fn speed(&self, job: usize, gpu: usize) -> f64 {
        let spec = self.gpus[gpu].spec;
        *spec.workload_speed.get(&self.workload(job).name).unwrap_or(&spec.speed)
    }

    /// Progress per unit of time: that of the slowest of the GPUs that the job uses.
    pub fn rate(&self, job: usize) -> f64 {
        let all = &self.jobs[job].gpus;
        let used: Vec<usize> = all.iter().copied().filter(|&gpu| self.uses(job, gpu)).collect();
        if used.is_empty() {
            return all.iter().map(|&gpu| self.speed(job, gpu)).fold(f64::INFINITY, f64::min);
        }
        used.iter().map(|&gpu| self.rate_on(job, gpu)).fold(f64::INFINITY, f64::min)
    }

    fn rate_on(&self, job: usize, gpu: usize) -> f64 {
        let jobs: Vec<usize> =
            self.gpus[gpu].jobs.iter().copied().filter(|&job| self.uses(job, gpu)).collect();
        let busy = |job: usize| {
            let profile = self.profile_on(job, gpu);
            let alone = profile.smact.map_or(profile.gpu_util.mean, |smact| smact.mean);
            self.activity(job) * alone / self.over_training(profile)
        };
        let load: f64 = jobs.iter().map(|&job| busy(job) / self.waiting(job, gpu)).sum();
        let capacity = self.world.model.interference.capacity;
        let saturation = if jobs.len() > 1 { f64::max(load / capacity, 1.0) } else { 1.0 };
        let saturation = 1.0 + self.params.interference_strength * (saturation - 1.0);
        self.speed(job, gpu) / (self.waiting(job, gpu) * saturation)
    }

    /// A job's activity as a fraction of that before its closing phase.
    fn activity(&self, job: usize) -> f64 {
        if self.jobs[job].closing { self.world.model.telemetry.closing_activity } else { 1.0 }
    }

    /// A profile's mean activity as a fraction of that before the closing phase.
    fn over_training(&self, profile: &GpuProfile) -> f64 {
        let closing = profile.closing_share;
        1.0 - closing + closing * self.world.model.telemetry.closing_activity
    }

    /// Slowdown of a job by its neighbours one by one.
    fn waiting(&self, job: usize, gpu: usize) -> f64 {
        let interference = &self.world.model.interference;
        let strength = self.params.interference_strength;
        let own = self.profile_on(job, gpu);
        // What the model's constants miss of a workload, in this run.
        let missed = |job: usize| {
            let (name, profile) = (&self.workload(job).name, self.profile_on(job, gpu));
            let counted = profile.smact.is_some() && profile.drama.is_some();
            let of_pairs = if counted {
                &interference.factors
            } else {
                &interference.gpu_utilization.as_ref().unwrap().factors
            };
            self.world.model.noise.pressure(self.noise_seed(), name, of_pairs.contains_key(name))
        };
        let mut slowdown = 1.0;
        for &other in self.gpus[gpu].jobs.iter().filter(|&&other| other != job && self.uses(other, gpu)) {
            let profile = self.profile_on(other, gpu);
            let memory = profile.peak_memory_mib / interference.memory_unit_mib;
            let run = missed(other).aggressor * missed(job).sensitivity;
            let both = self.activity(other) * self.activity(job);
            let (over, own_over) = (self.over_training(profile), self.over_training(own));
            let factors = |of_pairs: &BTreeMap<String, PairFactors>| {
                let of = |job: usize| of_pairs.get(&self.workload(job).name).copied().unwrap_or_default();
                strength * run * both * of(other).aggressor * of(job).sensitivity
            };
            if let (Some(smact), Some(drama), Some(_), Some(own_drama)) =
                (profile.smact, profile.drama, own.smact, own.drama)
            {
                let s = smact.mean / over;
                let factor = factors(&interference.factors);
                slowdown += factor * s * s * (interference.base + interference.memory_slope * memory);
                slowdown += factor * interference.traffic * (drama.mean / over) * (own_drama.mean / own_over);
            } else {
                let (u, by_util) =
                    (profile.gpu_util.mean / over, interference.gpu_utilization.as_ref().unwrap());
                slowdown +=
                    factors(&by_util.factors) * u * u * (by_util.base + by_util.memory_slope * memory);
            }
        }
        slowdown
    }

    /// What a monitor reads at a whole second.
    pub fn sample(&mut self) {
        let second = self.now / SECOND;
        for gpu in 0..self.gpus.len() {
            let telemetry = self.world.model.telemetry;
            let mut sample = [0.0; 4];
            for &job in self.gpus[gpu].jobs.iter().filter(|&&job| self.jobs[job].stage == Stage::Training) {
                let pace = (self.rate(job) / self.speed(job, gpu)).min(1.0);
                let profile = self.profile_on(job, gpu);
                let share = self.activity(job);
                let sampler = self.world.model.telemetry.sampler(profile, self.seed, job as u64);
                let from_start = second - (self.world.jobs[0].submit.micros() + SECOND - 1) / SECOND;
                let values = sampler.values(sampler.dwell(from_start));
                for metric in 0..4 {
                    let (alone, activity) = (share * values[metric], pace * share * values[metric]);
                    let combine =
                        if metric == 3 { telemetry.gpu_util_combination } else { telemetry.combination };
                    sample[metric] = match combine {
                        Combination::Sum => f64::min(sample[metric] + activity, 1.0),
                        Combination::Union => 1.0 - (1.0 - sample[metric]) * (1.0 - activity),
                        Combination::Presence => 1.0 - (1.0 - sample[metric]) * (1.0 - alone),
                    };
                }
            }
            if self.gpus[gpu].blind {
                (sample[0], sample[1]) = (0.0, 0.0);
            }
            self.gpus[gpu].samples.push(sample);
            self.gpus[gpu].sampled_used_mib = self.used_mib(gpu);
        }
    }
}
