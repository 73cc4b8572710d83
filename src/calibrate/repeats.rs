//! How much runtimes vary between runs of the same job, by how much the job waits for its host.

use std::collections::BTreeMap;

use super::data::AttemptRow;
use super::pairs::mean;
use crate::model::host_share;
use crate::workload::Catalogue;

/// Candidates for `gpu_sigma / host_sigma`, evenly spaced on a logarithmic scale from 0.001 to 10.
const RATIOS: usize = 2000;
/// Offsets of sources and the law depend on each other; they settle within two or three rounds.
const ROUNDS: usize = 5;

/// The logs of a workload's runtimes in the exclusive runs, and of its runs from other sources.
pub struct Runs {
    pub gpu_util: f64,
    pub exclusive: Vec<f64>,
    /// By source: the profile, and further solo runs.
    pub other: [Vec<f64>; 2],
}

/// What the runs of one workload say about its spread.
#[derive(Clone, Copy)]
pub struct Scatter {
    /// How much of the host's variation it takes over.
    share: f64,
    /// Sum of squared deviations from its mean, and their degrees of freedom.
    squares: f64,
    freedom: f64,
}

/// How the spread of a job's runtime follows from its share of the host's variation, see [`Noise`](crate::model::Noise).
#[derive(Clone, Copy)]
pub struct Law {
    pub gpu_sigma: f64,
    pub host_sigma: f64,
    pub log_likelihood: f64,
}

impl Law {
    fn variance(&self, share: f64) -> f64 {
        self.gpu_sigma.powi(2) + (self.host_sigma * share).powi(2)
    }

    /// The most likely law, over a grid of ratios; its scale follows from each ratio.
    pub fn fit(scatters: &[Scatter]) -> Law {
        let freedom: f64 = scatters.iter().map(|s| s.freedom).sum();
        let at = |step: usize| {
            let ratio = 10f64.powf(4.0 * step as f64 / RATIOS as f64 - 3.0);
            let shape = |s: &Scatter| ratio * ratio + s.share * s.share;
            let scale = scatters.iter().map(|s| s.squares / shape(s)).sum::<f64>() / freedom;
            let logs = scatters.iter().map(|s| s.freedom * (scale * shape(s)).ln()).sum::<f64>();
            Law {
                gpu_sigma: scale.sqrt() * ratio,
                host_sigma: scale.sqrt(),
                log_likelihood: -0.5 * (logs + freedom),
            }
        };
        // From the largest ratio on, and by more than rounding: where nothing tells the host's part, there is none.
        let better = |a: Law, b: Law| if b.log_likelihood > a.log_likelihood + 1e-9 { b } else { a };
        (0..RATIOS).rev().map(at).fold(at(RATIOS), better)
    }
}

impl Runs {
    pub fn scatter(&self, share: f64) -> Scatter {
        let centre = mean(&self.exclusive);
        let squares = self.exclusive.iter().map(|log| (log - centre).powi(2)).sum();
        Scatter { share, squares, freedom: self.exclusive.len() as f64 - 1.0 }
    }
}

/// The law of all runs, with the offset of each source: of jobs that keep the GPU busy, and of jobs that never use it.
pub fn law_of(runs: &[Runs]) -> (Law, [Option<[f64; 2]>; 2]) {
    let own: Vec<Scatter> = runs.iter().map(|runs| runs.scatter(host_share(runs.gpu_util))).collect();
    let mut law = Law::fit(&own);
    let mut offsets = [None; 2];
    for _ in 0..ROUNDS {
        let mut scatters = own.clone();
        for (source, offset) in offsets.iter_mut().enumerate() {
            let extra: Vec<Extra> = runs
                .iter()
                .zip(&own)
                .enumerate()
                .flat_map(|(index, (runs, scatter))| {
                    let (count, centre) = (runs.exclusive.len() as f64, mean(&runs.exclusive));
                    // The mean that it is compared with varies too.
                    let inflation = 1.0 + 1.0 / count;
                    let variance = law.variance(scatter.share) * inflation;
                    runs.other[source].iter().map(move |log| Extra {
                        index,
                        share: scatter.share,
                        difference: log - centre,
                        inflation,
                        weight: 1.0 / variance,
                    })
                })
                .collect();
            let Some(line) = line(&extra) else { continue };
            *offset = Some(line);
            // The two constants of the line cost two degrees of freedom.
            let freedom = 1.0 - 2.0 / extra.len() as f64;
            for run in &extra {
                let rest = run.difference - line[0] - line[1] * run.share;
                scatters[run.index].squares += rest * rest / run.inflation;
                scatters[run.index].freedom += freedom;
            }
        }
        law = Law::fit(&scatters);
    }
    (law, offsets)
}

/// A run from another source against the mean of the exclusive ones.
struct Extra {
    index: usize,
    share: f64,
    difference: f64,
    inflation: f64,
    weight: f64,
}

/// Weighted least squares of the differences by share: value at 0, and slope. `None` where nothing is left over.
fn line(runs: &[Extra]) -> Option<[f64; 2]> {
    let sum = |of: fn(&Extra) -> f64| runs.iter().map(|run| run.weight * of(run)).sum::<f64>();
    let (one, x, y) = (sum(|_| 1.0), sum(|run| run.share), sum(|run| run.difference));
    let (xx, xy) = (sum(|run| run.share * run.share), sum(|run| run.share * run.difference));
    let determinant = one * xx - x * x;
    (runs.len() > 2 && determinant > 1e-9 * one * xx)
        .then(|| [(xx * y - x * xy) / determinant, (one * xy - x * y) / determinant])
}

/// Of every workload with an exclusive attempt. Solo runs of others are left out: there is nothing to compare them with.
pub fn collect(attempts: &[AttemptRow], solo: &[(usize, f64)], catalogue: &Catalogue) -> Vec<Runs> {
    let mut exclusive: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for attempt in attempts.iter().filter(|a| a.policy == "exclusive" && !a.out_of_memory) {
        exclusive.entry(attempt.workload).or_default().push((attempt.end_s - attempt.launch_s).ln());
    }
    exclusive
        .into_iter()
        .map(|(index, exclusive)| {
            let workload = &catalogue.workloads()[index];
            let further =
                solo.iter().filter(|(other, _)| *other == index).map(|(_, runtime_s)| runtime_s.ln());
            Runs {
                gpu_util: workload.profile(0).gpu_util.mean,
                exclusive,
                other: [vec![workload.solo_runtime_s.ln()], further.collect()],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    /// Made-up runs of a known law; other sources run longer by their own offsets.
    #[test]
    fn a_known_law_is_recovered() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (gpu_sigma, host_sigma) = (0.01, 0.1);
        let runs: Vec<Runs> = (0..400)
            .map(|i| {
                let gpu_util = f64::from(i) / 400.0;
                let share = host_share(gpu_util);
                let sigma = f64::hypot(gpu_sigma, host_sigma * share);
                let mut draw = |offset: f64| {
                    let normal: f64 = StandardNormal.sample(&mut rng);
                    6.0 + offset + sigma * normal
                };
                Runs {
                    gpu_util,
                    exclusive: (0..3).map(|_| draw(0.0)).collect(),
                    other: [vec![draw(0.03 + 0.2 * share)], vec![draw(-0.02)]],
                }
            })
            .collect();
        let (law, [profiles, solo]) = law_of(&runs);
        assert!((law.gpu_sigma / gpu_sigma - 1.0).abs() < 0.1, "{}", law.gpu_sigma);
        assert!((law.host_sigma / host_sigma - 1.0).abs() < 0.1, "{}", law.host_sigma);
        let [gpu, host] = profiles.unwrap();
        assert!((gpu - 0.03).abs() < 0.003 && (host - 0.2).abs() < 0.04, "{gpu} {host}");
        assert!((solo.unwrap()[0] + 0.02).abs() < 0.003);
    }

    /// Runs that do not differ at all, and workloads that do not differ in their share.
    #[test]
    fn where_nothing_tells_the_host_part_there_is_none() {
        let runs =
            |logs: &[f64]| Runs { gpu_util: 0.5, exclusive: logs.to_vec(), other: [vec![6.0], vec![]] };
        let (law, offsets) = law_of(&[runs(&[6.0, 6.0]), runs(&[7.0, 7.0])]);
        assert_eq!((law.gpu_sigma, law.host_sigma, offsets), (0.0, 0.0, [None, None]));
        let (law, _) = law_of(&[runs(&[6.0, 6.1]), runs(&[7.0, 7.1])]);
        assert!(law.host_sigma * 0.25 < 0.1 * law.gpu_sigma, "{} {}", law.host_sigma, law.gpu_sigma);
    }
}
