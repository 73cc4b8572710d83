//! Corrections per workload, drawn towards 1.

use std::collections::{BTreeMap, BTreeSet};

use super::pairs::{Errors, Observations, mean, standard_error, twins};
use super::robust;
use crate::model::PairFactors;

/// Strengths of the ridge on log factors, tried from weak to strong.
const RIDGES: [f64; 6] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
const ITERATIONS: usize = 30;
/// Leaving one pair out moves little.
const REFIT_ITERATIONS: usize = 3;

pub struct Factors {
    pub of: BTreeMap<String, PairFactors>,
    pub ridge: f64,
    pub train: Errors,
    /// From fits without the pair in question, repeats of it included.
    pub by_pair: Errors,
}

/// Fits factors to what profiles leave open: `pressures` follow from profiles, by observation.
///
/// The ridge is the strongest whose error on left-out pairs is within one standard error of the best: a
/// workload's runs share one solo runtime, and an error in that looks like a factor that holds for all pairs.
pub fn fit(data: &Observations<'_>, pressures: &[f64]) -> Factors {
    let all: Vec<usize> = (0..data.rates.len()).collect();
    let count = data.workloads.len();
    let predict = |x: &[f64], k: usize| {
        let [victim, aggressor] = data.sides[k];
        let pressure = pressures[k] * (x[aggressor] + x[count + victim]).exp();
        let rate = 1.0 / (1.0 + pressure);
        let change = -rate * rate * pressure;
        (rate, [(aggressor, change), (count + victim, change), (0, 0.0)])
    };
    let mut tried: Vec<(f64, Vec<f64>, Errors)> = RIDGES
        .iter()
        .map(|&ridge| {
            let start = vec![0.0; 2 * count];
            let x = robust::fit(start, ridge, ITERATIONS, &all, &data.rates, &predict);
            let mut errors = Errors::default();
            for (a, b) in data.pairs.iter().map(key).collect::<BTreeSet<_>>() {
                let (test, train): (Vec<usize>, Vec<usize>) =
                    all.iter().partition(|&&k| key(&data.pairs[k / 2]) == (a, b));
                if train.is_empty() {
                    continue;
                }
                let refit = robust::fit(x.clone(), ridge, REFIT_ITERATIONS, &train, &data.rates, &predict);
                errors.add(data.errors(&test, |k| predict(&refit, k).0));
            }
            (ridge, x, errors)
        })
        .collect();
    let best = tried.iter().map(|(_, _, errors)| &errors.rates).min_by(|a, b| mean(a).total_cmp(&mean(b)));
    let limit = best.map_or(f64::INFINITY, |rates| mean(rates) + standard_error(rates));
    // Of data so odd that no error is a number, the strongest: it leaves factors closest to 1.
    let chosen = tried.iter().rposition(|(_, _, errors)| mean(&errors.rates) <= limit);
    let (ridge, x, by_pair) = tried.swap_remove(chosen.unwrap_or(RIDGES.len() - 1));
    let of = (0..count)
        .flat_map(|position| {
            let factors =
                PairFactors { aggressor: x[position].exp(), sensitivity: x[count + position].exp() };
            twins(data, position).into_iter().map(move |name| (name.to_owned(), factors))
        })
        .collect();
    Factors { of, ridge, train: data.errors(&all, |k| predict(&x, k).0), by_pair }
}

fn key(pair: &super::data::Pair) -> (usize, usize) {
    let [a, b] = pair.workloads;
    (a.min(b), a.max(b))
}
