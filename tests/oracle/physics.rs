//! What jobs do to GPUs and to each other, as described.

use aegis_sim::model::{Combination, Saturation};
use aegis_sim::workload::{GpuProfile, Workload};

use super::stepper::{Job, Oracle, SECOND, Stage};

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
            && [profile.smact, profile.smocc, profile.drama, profile.gpu_util].iter().any(|a| a.mean > 0.0)
    }

    /// Progress per unit of time: that of the slowest of the GPUs that the job uses.
    pub fn rate(&self, job: usize) -> f64 {
        let all = &self.jobs[job].gpus;
        let used: Vec<usize> = all.iter().copied().filter(|&gpu| self.uses(job, gpu)).collect();
        if used.is_empty() {
            return all.iter().map(|&gpu| self.gpus[gpu].speed).fold(f64::INFINITY, f64::min);
        }
        used.iter().map(|&gpu| self.rate_on(job, gpu)).fold(f64::INFINITY, f64::min)
    }

    fn rate_on(&self, job: usize, gpu: usize) -> f64 {
        let jobs = self.gpus[gpu].jobs.iter().copied().filter(|&job| self.uses(job, gpu));
        let load: f64 = jobs.map(|job| self.profile_on(job, gpu).smact.mean / self.waiting(job, gpu)).sum();
        let Saturation { capacity, exponent } = self.world.model.saturation;
        let saturation = f64::max(load / capacity, 1.0).powf(exponent);
        let saturation = 1.0 + self.params.interference_strength * (saturation - 1.0);
        self.gpus[gpu].speed / (self.waiting(job, gpu) * saturation)
    }

    /// Slowdown of a job by its neighbours one by one.
    fn waiting(&self, job: usize, gpu: usize) -> f64 {
        let interference = &self.world.model.interference;
        let strength = self.params.interference_strength;
        let own = self.profile_on(job, gpu);
        let mut slowdown = 1.0;
        for &other in self.gpus[gpu].jobs.iter().filter(|&&other| other != job && self.uses(other, gpu)) {
            let profile = self.profile_on(other, gpu);
            let memory = profile.peak_memory_mib / interference.memory_unit_mib;
            let s = profile.smact.mean;
            slowdown += strength * s * s * (interference.base + interference.memory_slope * memory);
            slowdown += strength * interference.traffic * profile.drama.mean * own.drama.mean;
        }
        slowdown
    }

    /// What a monitor reads at a whole second.
    pub fn sample(&mut self) {
        let second = self.now / SECOND;
        for gpu in 0..self.gpus.len() {
            let combine = self.world.model.telemetry.combination;
            let mut sample = [0.0; 3];
            for &job in self.gpus[gpu].jobs.iter().filter(|&&job| self.jobs[job].stage == Stage::Training) {
                let pace = (self.rate(job) / self.gpus[gpu].speed).min(1.0);
                let profile = self.profile_on(job, gpu);
                let sampler = self.world.model.telemetry.sampler(profile, self.seed, job as u64);
                let from_start = second - (self.world.jobs[0].submit.micros() + SECOND - 1) / SECOND;
                let values = sampler.values(sampler.dwell(from_start));
                for metric in 0..3 {
                    let activity = pace * values[metric];
                    sample[metric] = match combine {
                        Combination::Sum => f64::min(sample[metric] + activity, 1.0),
                        Combination::Union => 1.0 - (1.0 - sample[metric]) * (1.0 - activity),
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
