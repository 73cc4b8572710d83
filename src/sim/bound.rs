//! A lower bound on makespan, whatever the policy.

use std::collections::HashMap;

use super::world::{RunAlone, World};
use crate::cluster::GpuSpec;
use crate::engine::Time;
use crate::policy::Params;
use crate::workload::Workload;

/// What no run of a trace can finish before, in seconds after the first submission.
///
/// Three bounds, each of which holds for itself. All know every job's start-up and work in the run of one seed and
/// assume the best of the rest: no wait that a policy could avoid, no pressure, no OOM, the fastest GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MakespanBound {
    /// The job that would end last if each ran alone from its submission.
    pub longest_job_s: f64,
    /// The time for which jobs keep GPUs busy, when all GPUs are as busy as they can be.
    pub gpu_time_s: f64,
    /// The memory that jobs hold, times the time for which they hold it, when all memory is in use.
    pub memory_s: f64,
    /// Jobs whose first allocation no server could ever hold. Every policy gives them up, and no part counts them.
    pub left_out_jobs: usize,
}

impl MakespanBound {
    /// The largest of the parts. A run that gives up further jobs than those left out may well be shorter.
    pub fn makespan_s(&self) -> f64 {
        self.longest_job_s.max(self.gpu_time_s).max(self.memory_s)
    }
}

/// The least that a job asks of a cluster, in microseconds after the first submission.
struct Demand {
    /// Its first activity if it is dispatched as it is submitted.
    ready_us: i64,
    /// GPU time at speed 1, all ranks together.
    busy_us: f64,
    /// MiB times microseconds, likewise.
    memory_mib_us: f64,
}

/// How fast a workload can be on a cluster with this many GPUs for its ranks.
struct Fit {
    /// Of the whole gang.
    speed: f64,
    /// By rank: of all GPUs that could hold it, the least of the GPU's own speed over the workload's on it.
    ///
    /// A second of GPU time is worth the GPU's speed, so that servers of unlike GPUs are not taken for servers
    /// of their fastest; without speeds by workload this is 1.
    price: Vec<f64>,
}

/// The bound for the run of a seed under these parameters.
///
/// Parameters of policies do not matter, but noise, runtime factors, `dispatch_lag_s` and `interference_strength` do.
pub fn makespan_bound(world: &World, params: &Params, seed: u64) -> MakespanBound {
    let Some(first) = world.jobs.first() else { return MakespanBound::default() };
    let noise_seed = params.noise_seed(seed);
    let most_busy = world.model.interference.most_busy(params.interference_strength);
    let lag = Time::from_s(params.dispatch_lag_s);
    let mut fits: HashMap<(usize, usize), Option<Fit>> = HashMap::new();
    let mut demands = Vec::with_capacity(world.jobs.len());
    let mut longest = Time::ZERO;
    for (job, spec) in world.jobs.iter().enumerate() {
        let workload = world.workload(job);
        let fit = fits.entry((spec.workload, spec.gpus)).or_insert_with(|| fit(world, workload, spec.gpus));
        let Some(fit) = fit else { continue };
        let alone = world.run_alone(job, params, noise_seed);
        let ready = spec.submit - first.submit + lag + alone.startup;
        let active_us = (alone.training_us + alone.closing_us) / fit.speed;
        longest = longest.max(ready + whole_us(active_us));
        let memory_mib: f64 = (0..spec.gpus).map(|rank| needed_mib(world, workload, rank)).sum();
        demands.push(Demand {
            ready_us: ready.micros(),
            busy_us: (0..spec.gpus)
                .map(|rank| fit.price[rank] * busy_us(world, workload, rank, &alone, most_busy))
                .sum(),
            memory_mib_us: memory_mib * active_us,
        });
    }
    let gpus = || world.cluster.servers.iter().flat_map(|server| &server.gpus);
    let busy: f64 = gpus().map(|gpu| gpu.speed).sum::<f64>() * most_busy;
    let memory_mib: f64 = gpus().map(|gpu| gpu.allocatable_mib).sum();
    // What is ready late has only the time from then on.
    demands.sort_by_key(|demand| std::cmp::Reverse(demand.ready_us));
    let (mut busy_us, mut memory_mib_us) = (0.0, 0.0);
    let (mut gpu_time, mut memory) = (Time::ZERO, Time::ZERO);
    for demand in &demands {
        let ready = Time::from_micros(demand.ready_us);
        busy_us += demand.busy_us;
        memory_mib_us += demand.memory_mib_us;
        gpu_time = gpu_time.max(ready + whole_us(busy_us / busy));
        memory = memory.max(ready + whole_us(memory_mib_us / memory_mib));
    }
    MakespanBound {
        longest_job_s: longest.as_s(),
        gpu_time_s: gpu_time.as_s(),
        memory_s: memory.as_s(),
        left_out_jobs: world.jobs.len() - demands.len(),
    }
}

/// Memory that a rank holds from its first activity on.
fn needed_mib(world: &World, workload: &Workload, rank: usize) -> f64 {
    world.model.memory.needed_mib(workload.profile(rank).initial_memory_mib)
}

/// GPU time of one rank at speed 1.
///
/// Of the jobs on a GPU at any moment, busy shares times paces add up to `most_busy` at most; a job by itself, which is
/// never slowed, counts for as much if it is busier.
fn busy_us(world: &World, workload: &Workload, rank: usize, alone: &RunAlone, most_busy: f64) -> f64 {
    let closing_activity = world.model.telemetry.closing_activity;
    // Busy shares know no strength.
    let contention =
        world.model.interference.contention(&workload.name, workload.profile(rank), 1.0, closing_activity);
    let share_us = |busy: f64, us: f64| if us > 0.0 { busy.min(most_busy) * us } else { 0.0 };
    share_us(contention.busy, alone.training_us)
        + share_us(contention.at_activity(closing_activity).busy, alone.closing_us)
}

/// `None` where no server can hold the first allocations of all ranks.
fn fit(world: &World, workload: &Workload, ranks: usize) -> Option<Fit> {
    let needed_mib: Vec<f64> = (0..ranks).map(|rank| needed_mib(world, workload, rank)).collect();
    let mut largest_first = needed_mib.clone();
    largest_first.sort_by(|a, b| b.total_cmp(a));
    let holds = |gpus: &[GpuSpec]| {
        let mut allocatable_mib: Vec<f64> = gpus.iter().map(|gpu| gpu.allocatable_mib).collect();
        allocatable_mib.sort_by(|a, b| b.total_cmp(a));
        gpus.len() >= ranks && largest_first.iter().zip(&allocatable_mib).all(|(needed, has)| needed <= has)
    };
    // A gang goes at the pace of its slowest rank; one without activity has none, unless all are so.
    let computes = |&rank: &usize| workload.profile(rank).telemetry().iter().any(|metric| metric.mean > 0.0);
    let paced = match (0..ranks).filter(computes).count() {
        0 => ranks,
        computing => computing,
    };
    let least_mib = largest_first.last().copied().unwrap_or(0.0);
    let mut fit: Option<Fit> = None;
    for server in world.cluster.servers.iter().filter(|server| holds(&server.gpus)) {
        let usable = server.gpus.iter().filter(|gpu| gpu.allocatable_mib >= least_mib);
        let mut speeds: Vec<f64> = usable.map(|gpu| gpu.speed_of(&workload.name)).collect();
        speeds.sort_by(|a, b| b.total_cmp(a));
        let fit = fit.get_or_insert_with(|| Fit { speed: 0.0, price: vec![f64::INFINITY; ranks] });
        fit.speed = fit.speed.max(speeds[paced - 1]);
        for (price, &needed_mib) in fit.price.iter_mut().zip(&needed_mib) {
            let prices = server.gpus.iter().filter(|gpu| gpu.allocatable_mib >= needed_mib);
            *price = prices.map(|gpu| gpu.speed / gpu.speed_of(&workload.name)).fold(*price, f64::min);
        }
    }
    fit
}

/// Rounded up, for a run's makespan is a whole number of microseconds; but for rounding errors, of sums and
/// of completions in the run.
fn whole_us(us: f64) -> Time {
    Time::from_micros((us * (1.0 - 1e-12) - 0.01).ceil().max(0.0) as i64)
}
