//! Three and more jobs on one GPU: what pairs say about them, and the constant that they add.

use super::data::Crowd;
use super::pairs::mean;
use crate::model::Interference;
use crate::workload::Catalogue;

/// A staggered run starts its next job this long after the previous one's first activity.
const WATCH_S: f64 = 30.0;
const STEP: f64 = 0.005;
const STEPS: usize = 100;

/// Relative errors of simulated slowdowns, with sign, by case.
#[derive(Debug, Clone, Default)]
pub struct CrowdErrors {
    pub mean: Vec<f64>,
    pub max: Vec<f64>,
}

/// Terms beyond pairs that explain how crowded GPUs slow down.
pub struct CrowdFit {
    pub crowding: f64,
    pub without: CrowdErrors,
    pub train: CrowdErrors,
    /// From fits without the cases that have the same jobs.
    pub held_out: CrowdErrors,
    /// From profiles alone, with the same crowding.
    pub profiles: CrowdErrors,
    /// Pressures multiplied instead of added, without a term for crowding.
    pub product: CrowdErrors,
}

/// Fits `crowding` to runs of several jobs, the rest of the model given.
pub fn fit(crowds: &[Crowd], model: &Interference, catalogue: &Catalogue) -> CrowdFit {
    let added = |crowding: f64| Interference { crowding, ..model.clone() };
    let errors = |model: &Interference, product: bool| {
        let mut errors = CrowdErrors::default();
        for crowd in crowds {
            let (mean, max) = simulate(crowd, model, product, catalogue);
            errors.mean.push(mean / crowd.mean_slowdown - 1.0);
            errors.max.push(max / crowd.max_slowdown - 1.0);
        }
        errors
    };
    let tried: Vec<(f64, CrowdErrors)> = (0..=STEPS)
        .map(|step| {
            let crowding = step as f64 * STEP;
            (crowding, errors(&added(crowding), false))
        })
        .collect();
    let best = |keep: &dyn Fn(usize) -> bool| {
        let score = |errors: &CrowdErrors| errors.keep(keep).score();
        tried
            .iter()
            .reduce(|best, next| if score(&next.1) < score(&best.1) { next } else { best })
            .expect("the grid is not empty")
    };
    let chosen = best(&|_| true);
    let mut held_out = CrowdErrors::default();
    for (i, crowd) in crowds.iter().enumerate() {
        let refit = best(&|other| jobs(&crowds[other]) != jobs(crowd) || crowds.len() == 1);
        held_out.mean.push(refit.1.mean[i]);
        held_out.max.push(refit.1.max[i]);
    }
    let profiles = added(chosen.0).without_factors();
    CrowdFit {
        crowding: chosen.0,
        without: tried[0].1.clone(),
        train: chosen.1.clone(),
        held_out,
        profiles: errors(&profiles, false),
        product: errors(&added(0.0), true),
    }
}

fn jobs(crowd: &Crowd) -> Vec<usize> {
    let mut jobs: Vec<usize> = crowd.jobs.iter().map(|job| job.0).collect();
    jobs.sort_unstable();
    jobs
}

impl CrowdErrors {
    fn keep(&self, keep: &dyn Fn(usize) -> bool) -> CrowdErrors {
        let kept = |errors: &[f64]| (0..errors.len()).filter(|&i| keep(i)).map(|i| errors[i]).collect();
        CrowdErrors { mean: kept(&self.mean), max: kept(&self.max) }
    }

    fn absolute(errors: &[f64]) -> f64 {
        mean(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>())
    }

    /// What a fit minimises: mean and worst slowdown count alike. Rounded, so that ties do not hang on the
    /// last bit.
    pub fn score(&self) -> f64 {
        let score = (Self::absolute(&self.mean) + Self::absolute(&self.max)) / 2.0;
        (score * 1e9).round() / 1e9
    }

    pub fn describe(&self) -> String {
        let [mean, max] = [&self.mean, &self.max].map(|errors| 100.0 * Self::absolute(errors));
        format!("mean slowdown {mean:.1} %, worst slowdown {max:.1} %")
    }

    /// Errors of the mean slowdown by case, in percent.
    pub fn by_case(&self) -> String {
        let errors: Vec<String> = self.mean.iter().map(|error| format!("{:+.1}", 100.0 * error)).collect();
        errors.join(" ")
    }
}

/// Mean and worst slowdown of a run, relative to the published solo runtimes.
fn simulate(crowd: &Crowd, model: &Interference, product: bool, catalogue: &Catalogue) -> (f64, f64) {
    let workloads: Vec<_> = crowd.jobs.iter().map(|&(index, _)| &catalogue.workloads()[index]).collect();
    let mut start = 0.0;
    let mut starts = Vec::with_capacity(workloads.len());
    for workload in &workloads {
        starts.push(start);
        if crowd.staggered {
            start += workload.startup_s + WATCH_S;
        }
    }
    let active: Vec<f64> = starts.iter().zip(&workloads).map(|(start, w)| start + w.startup_s).collect();
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
        let mut span =
            active.iter().map(|at| at - now).filter(|&wait| wait > 0.0).fold(f64::INFINITY, f64::min);
        let slowdowns: Vec<f64> = on.iter().map(|&i| slowdown(i, &on, &workloads, model, product)).collect();
        let mut first = None;
        for (&i, slowdown) in on.iter().zip(&slowdowns) {
            if work[i] * slowdown <= span {
                span = work[i] * slowdown;
                first = Some(i);
            }
        }
        for (&i, slowdown) in on.iter().zip(&slowdowns) {
            work[i] -= span / slowdown;
        }
        match first {
            Some(i) => {
                now += span;
                ends[i] = Some(now);
            }
            // The next start itself, not a sum that may round to just before it.
            None => now = active.iter().copied().filter(|&at| at > now).fold(f64::INFINITY, f64::min),
        }
    }
    let slowdowns: Vec<f64> =
        (0..work.len()).map(|i| (ends[i].unwrap_or(now) - starts[i]) / crowd.jobs[i].1).collect();
    (mean(&slowdowns), slowdowns.iter().copied().fold(0.0, f64::max))
}

fn slowdown(
    victim: usize,
    on: &[usize],
    workloads: &[&crate::workload::Workload],
    model: &Interference,
    product: bool,
) -> f64 {
    let contention = |i: usize| model.contention(&workloads[i].name, workloads[i].profile(0), 1.0);
    let own = contention(victim);
    let others = on.iter().filter(|&&i| i != victim);
    let pressures = others.map(|&i| contention(i).pressure_on(&own));
    let waiting = match product {
        true => pressures.map(|p| 1.0 + p).product::<f64>(),
        false => 1.0 + pressures.sum::<f64>(),
    };
    waiting + model.crowding(on.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_crowding_is_recovered() {
        let catalogue = Catalogue::builtin();
        let model = crate::model::Model::builtin().interference;
        let truth = Interference { crowding: 0.165, ..model.clone() };
        let crowds: Vec<Crowd> = [(true, 3), (true, 5), (false, 4)]
            .into_iter()
            .map(|(staggered, count)| {
                let jobs = (0..count).map(|i| (7 * i + count, 300.0 + 10.0 * i as f64)).collect();
                let case = format!("{count}");
                let (mean_slowdown, max_slowdown) = (1.0, 1.0);
                let mut crowd =
                    Crowd { case, staggered, jobs, mean_slowdown, max_slowdown, serial_slowdown: 0.97 };
                (crowd.mean_slowdown, crowd.max_slowdown) = simulate(&crowd, &truth, false, &catalogue);
                crowd
            })
            .collect();
        let got = fit(&crowds, &model, &catalogue);
        assert_eq!(got.crowding, 0.165);
        assert!(got.held_out.mean.iter().all(|error| error.abs() < 1e-9));
    }
}
