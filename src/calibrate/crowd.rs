//! Several jobs on one GPU as the model has them, beside what was measured.

use super::data::Crowd;
use super::pairs::mean;
use crate::model::{Contention, Model};
use crate::workload::{Catalogue, Workload};

/// A staggered run starts its next job this long after the previous one's first activity.
const WATCH_S: f64 = 30.0;

/// Relative errors of simulated slowdowns, with sign, by run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CrowdErrors {
    pub mean: Vec<f64>,
    pub max: Vec<f64>,
}

impl CrowdErrors {
    pub fn of(crowds: &[Crowd], model: &Model, catalogue: &Catalogue) -> CrowdErrors {
        let mut errors = CrowdErrors::default();
        for crowd in crowds {
            let (mean, max) = simulate(crowd, model, catalogue);
            errors.mean.push(mean / crowd.mean_slowdown - 1.0);
            errors.max.push(max / crowd.max_slowdown - 1.0);
        }
        errors
    }

    /// Mean absolute error of the mean slowdown; 0 without runs.
    pub fn mean_slowdown(&self) -> f64 {
        absolute(&self.mean)
    }

    pub fn describe(&self) -> String {
        let [mean, max] = [&self.mean, &self.max].map(|errors| 100.0 * absolute(errors));
        format!("mean slowdown {mean:.1} %, worst slowdown {max:.1} %")
    }
}

fn absolute(errors: &[f64]) -> f64 {
    if errors.is_empty() { 0.0 } else { mean(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>()) }
}

/// Mean and worst slowdown of a run, relative to the published solo runtimes.
pub fn simulate(crowd: &Crowd, model: &Model, catalogue: &Catalogue) -> (f64, f64) {
    let workloads: Vec<&Workload> =
        crowd.jobs.iter().map(|&(index, _)| &catalogue.workloads()[index]).collect();
    let mut start = 0.0;
    let mut starts = Vec::with_capacity(workloads.len());
    for workload in &workloads {
        starts.push(start);
        if crowd.staggered {
            start += workload.startup_s + WATCH_S;
        }
    }
    let active: Vec<f64> = starts.iter().zip(&workloads).map(|(start, w)| start + w.startup_s).collect();
    let closing = |i: usize| workloads[i].profile(0).closing_s;
    let mut work: Vec<f64> = crowd
        .jobs
        .iter()
        .zip(&workloads)
        .map(|(job, w)| (job.1 * crowd.serial_slowdown - w.startup_s).max(0.0))
        .collect();
    let mut ends = vec![None; work.len()];
    let mut now = 0.0;
    while ends.iter().any(Option::is_none) {
        let on: Vec<usize> = (0..work.len()).filter(|&i| active[i] <= now && ends[i].is_none()).collect();
        let jobs: Vec<Contention> = on.iter().map(|&i| contention(workloads[i], work[i], model)).collect();
        let slowdowns = slowdowns(&jobs, model);
        let mut span =
            active.iter().map(|at| at - now).filter(|&wait| wait > 0.0).fold(f64::INFINITY, f64::min);
        // The job whose training or closing phase ends first, and the work that it then has left.
        let mut first = None;
        for (&i, slowdown) in on.iter().zip(&slowdowns) {
            let left = if work[i] > closing(i) { closing(i) } else { 0.0 };
            if (work[i] - left) * slowdown <= span {
                span = (work[i] - left) * slowdown;
                first = Some((i, left));
            }
        }
        for (&i, slowdown) in on.iter().zip(&slowdowns) {
            work[i] -= span / slowdown;
        }
        match first {
            Some((i, left)) => {
                now += span;
                work[i] = left;
                if left == 0.0 {
                    ends[i] = Some(now);
                }
            }
            // The next start itself, not a sum that may round to just before it.
            None => now = active.iter().copied().filter(|&at| at > now).fold(f64::INFINITY, f64::min),
        }
    }
    let slowdowns: Vec<f64> =
        (0..work.len()).map(|i| (ends[i].unwrap_or(now) - starts[i]) / crowd.jobs[i].1).collect();
    (mean(&slowdowns), slowdowns.iter().copied().fold(0.0, f64::max))
}

/// Of a job with so much work left.
fn contention(workload: &Workload, work_s: f64, model: &Model) -> Contention {
    let profile = workload.profile(0);
    let closing_activity = model.telemetry.closing_activity;
    let training = model.interference.contention(&workload.name, profile, 1.0, closing_activity);
    if work_s > profile.closing_s { training } else { training.at_activity(closing_activity) }
}

/// Of jobs that share a GPU.
fn slowdowns(jobs: &[Contention], model: &Model) -> Vec<f64> {
    let waiting = |victim: usize| {
        let others = (0..jobs.len()).filter(|&other| other != victim);
        1.0 + others.map(|other| jobs[other].pressure_on(&jobs[victim])).sum::<f64>()
    };
    let waiting: Vec<f64> = (0..jobs.len()).map(waiting).collect();
    let loads = jobs.iter().zip(&waiting).map(|(job, waiting)| job.busy / waiting);
    let saturated = model.saturation.slowdown(loads);
    waiting.iter().map(|waiting| waiting * saturated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Saturation;

    fn with(saturation: Saturation) -> Model {
        Model { saturation, ..Model::builtin() }
    }

    #[test]
    fn what_the_model_says_has_no_error() {
        let catalogue = Catalogue::builtin();
        let truth = Saturation { capacity: 0.7, exponent: 0.8 };
        let crowds: Vec<Crowd> = [(true, 3), (true, 5), (false, 4)]
            .into_iter()
            .map(|(staggered, count)| {
                let jobs = (0..count).map(|i| (7 * i + count, 300.0 + 10.0 * i as f64)).collect();
                let case = format!("{count}");
                let (mean_slowdown, max_slowdown) = (1.0, 1.0);
                let mut crowd =
                    Crowd { case, staggered, jobs, mean_slowdown, max_slowdown, serial_slowdown: 0.97 };
                (crowd.mean_slowdown, crowd.max_slowdown) = simulate(&crowd, &with(truth), &catalogue);
                crowd
            })
            .collect();
        let errors = |saturation| CrowdErrors::of(&crowds, &with(saturation), &catalogue);
        assert_eq!(errors(truth).mean_slowdown(), 0.0);
        assert!(errors(Saturation { exponent: 0.0, ..truth }).mean.iter().any(|error| *error < -0.02));
    }

    #[test]
    fn a_saturated_gpu_slows_all_its_jobs_alike() {
        let catalogue = Catalogue::builtin();
        let workload = catalogue.get("vgg16_imagenet_bs32_1gpu").unwrap();
        let of = |saturation, work_s| {
            let model = with(saturation);
            let job = contention(workload, work_s, &model);
            (job.busy, slowdowns(&[job; 2], &model))
        };
        let (busy, without) = of(Saturation { capacity: 1e6, exponent: 1.0 }, 1000.0);
        let load = 2.0 * busy / without[0];
        let (_, with) = of(Saturation { capacity: load / 2.0, exponent: 1.0 }, 1000.0);
        assert!((with[0] - 2.0 * without[0]).abs() < 1e-12 && with[0] == with[1], "{with:?}");
        // In its closing phase it hardly presses on anyone.
        let (_, closing) = of(Saturation { capacity: 1e6, exponent: 1.0 }, 1.0);
        assert!(closing[0] - 1.0 < 0.2 * (without[0] - 1.0), "{closing:?} {without:?}");
    }
}
