//! Three and more jobs on one GPU: how well what pairs say predicts them.

use super::data::Crowd;
use super::pairs::mean;
use crate::model::{Contention, Interference};
use crate::workload::{Catalogue, Workload};

/// A staggered run starts its next job this long after the previous one's first activity.
const WATCH_S: f64 = 30.0;

/// Relative errors of simulated slowdowns, with sign, by run.
#[derive(Debug, Clone)]
pub struct CrowdErrors {
    mean: Vec<f64>,
    max: Vec<f64>,
}

/// Errors on runs of several jobs, none of which anything is fitted to.
pub struct CrowdTest {
    pub errors: CrowdErrors,
    /// Of GPUs that can be busy without a limit.
    pub unlimited: CrowdErrors,
    /// From profiles alone.
    pub profiles: CrowdErrors,
}

impl CrowdTest {
    pub fn of(
        crowds: &[Crowd],
        model: &Interference,
        catalogue: &Catalogue,
        closing_activity: f64,
    ) -> CrowdTest {
        let errors = |model: &Interference| {
            let (mut mean, mut max) = (Vec::new(), Vec::new());
            for crowd in crowds {
                let slowdowns = simulate(crowd, model, catalogue, closing_activity);
                mean.push(slowdowns.0 / crowd.mean_slowdown - 1.0);
                max.push(slowdowns.1 / crowd.max_slowdown - 1.0);
            }
            CrowdErrors { mean, max }
        };
        CrowdTest {
            errors: errors(model),
            unlimited: errors(&Interference { capacity: f64::INFINITY, ..model.clone() }),
            profiles: errors(&model.clone().without_factors()),
        }
    }
}

impl CrowdErrors {
    /// Mean absolute errors of the mean and of the worst slowdown.
    fn absolute(&self) -> [f64; 2] {
        [&self.mean, &self.max]
            .map(|errors| mean(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>()))
    }

    /// What a choice between models minimises: mean and worst slowdown count alike.
    pub fn score(&self) -> f64 {
        mean(&self.absolute())
    }

    pub fn describe(&self) -> String {
        let [mean, max] = self.absolute().map(|error| 100.0 * error);
        format!("mean slowdown {mean:.1} %, worst slowdown {max:.1} %")
    }

    /// Errors of the mean slowdown by run, in percent.
    pub fn by_case(&self) -> String {
        let errors: Vec<String> = self.mean.iter().map(|error| format!("{:+.1}", 100.0 * error)).collect();
        errors.join(" ")
    }
}

/// Mean and worst slowdown of a run, relative to the published solo runtimes.
fn simulate(crowd: &Crowd, model: &Interference, catalogue: &Catalogue, closing_activity: f64) -> (f64, f64) {
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
        let jobs: Vec<Contention> =
            on.iter().map(|&i| contention(workloads[i], work[i], model, closing_activity)).collect();
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
fn contention(workload: &Workload, work_s: f64, model: &Interference, closing_activity: f64) -> Contention {
    let profile = workload.profile(0);
    let training = model.contention(&workload.name, profile, 1.0, closing_activity);
    if work_s > profile.closing_s { training } else { training.at_activity(closing_activity) }
}

/// Of jobs that share a GPU.
fn slowdowns(jobs: &[Contention], model: &Interference) -> Vec<f64> {
    let waiting = |victim: usize| {
        let others = (0..jobs.len()).filter(|&other| other != victim);
        1.0 + others.map(|other| jobs[other].pressure_on(&jobs[victim])).sum::<f64>()
    };
    let waiting: Vec<f64> = (0..jobs.len()).map(waiting).collect();
    let shares = jobs.iter().zip(&waiting).map(|(job, waiting)| job.busy / waiting);
    let saturated = model.saturation(shares);
    waiting.iter().map(|waiting| waiting * saturated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    #[test]
    fn what_the_model_says_has_no_error() {
        let catalogue = Catalogue::builtin();
        let truth = Interference { capacity: 0.8, ..Model::builtin().interference };
        let crowds: Vec<Crowd> = [(true, 3), (true, 5), (false, 4)]
            .into_iter()
            .map(|(staggered, count)| {
                let jobs = (0..count).map(|i| (7 * i + count, 300.0 + 10.0 * i as f64)).collect();
                let case = format!("{count}");
                let (mean_slowdown, max_slowdown) = (1.0, 1.0);
                let mut crowd =
                    Crowd { case, staggered, jobs, mean_slowdown, max_slowdown, serial_slowdown: 0.97 };
                (crowd.mean_slowdown, crowd.max_slowdown) = simulate(&crowd, &truth, &catalogue, 0.3);
                crowd
            })
            .collect();
        let got = CrowdTest::of(&crowds, &truth, &catalogue, 0.3);
        assert_eq!(got.errors.score(), 0.0);
        assert!(got.unlimited.mean.iter().any(|error| *error < -0.02), "{:?}", got.unlimited);
    }

    #[test]
    fn a_saturated_gpu_slows_all_its_jobs_alike() {
        let catalogue = Catalogue::builtin();
        let workload = catalogue.get("vgg16_imagenet_bs32_1gpu").unwrap();
        let of = |capacity, work_s| {
            let model = Interference { capacity, ..Model::builtin().interference };
            let job = contention(workload, work_s, &model, 0.3);
            (job.busy, slowdowns(&[job; 2], &model))
        };
        let (busy, without) = of(f64::INFINITY, 1000.0);
        let (_, with) = of(busy / without[0], 1000.0);
        assert!((with[0] - 2.0 * without[0]).abs() < 1e-12 && with[0] == with[1], "{with:?}");
        // In its closing phase it hardly presses on anyone.
        let (_, closing) = of(f64::INFINITY, 1.0);
        assert!(closing[0] - 1.0 < 0.2 * (without[0] - 1.0), "{closing:?} {without:?}");
    }
}
