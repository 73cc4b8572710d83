//! Interference from pairs of jobs: constants from profiles alone, and what they reach on unseen workloads.

use std::collections::BTreeSet;

use super::data::{Pair, stem};
use super::factors::{self, Factors};
use super::robust::{self, Gradient};
use crate::metrics::quantile_of_sorted;
use crate::workload::Catalogue;

/// The unit of peak memory in the pressure: the memory of an A100 40 GB.
pub const MEMORY_UNIT_MIB: f64 = 40_960.0;
const ITERATIONS: usize = 30;
/// Fits to nearly the same data start from the fit to all of it.
const REFIT_ITERATIONS: usize = 8;

/// Pairs as directed observations: observation `2 i + side` is of pair `i`'s job on that side.
pub struct Observations<'a> {
    pub pairs: &'a [Pair],
    pub catalogue: &'a Catalogue,
    /// Catalogue indices of the measured workloads, sorted by name.
    pub workloads: Vec<usize>,
    /// Victim and aggressor, as positions in `workloads`.
    pub sides: Vec<[usize; 2]>,
    pub rates: Vec<f64>,
    /// Squared SMACT, squared SMACT x memory, SMACT and DRAMA by workload.
    features: Vec<[f64; 4]>,
}

/// What predictions miss measurements by, without sign.
#[derive(Debug, Clone, Default)]
pub struct Errors {
    pub rates: Vec<f64>,
    pub speeds: Vec<f64>,
}

/// How a contended rate follows from profiles.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Constant,
    /// Linear in the aggressor's SMACT.
    Linear,
    /// Pressure of kernels only.
    Kernels,
    /// Pressure of kernels and memory traffic.
    Traffic,
}

/// Constants fitted to pairs, and their errors.
pub struct Fit {
    pub base: f64,
    pub memory_slope: f64,
    pub traffic: f64,
    pub factors: Factors,
    pub train: Errors,
    pub by_workload: Errors,
    pub by_family: Errors,
}

/// Fits the model twice: without and with a pressure of memory traffic.
pub fn fits(pairs: &[Pair], catalogue: &Catalogue) -> [Fit; 2] {
    let data = Observations::new(pairs, catalogue);
    [Form::Kernels, Form::Traffic].map(|form| {
        let (x, by_workload) = data.fit_and_check(form);
        let predict = |k| data.predict(form, &x, k).0;
        let pressures: Vec<f64> = data.all().into_iter().map(|k| 1.0 / predict(k) - 1.0).collect();
        Fit {
            base: x[0].exp(),
            memory_slope: x[1].exp(),
            traffic: x.get(2).map_or(0.0, |log| log.exp()),
            factors: factors::fit(&data, &pressures),
            train: data.errors(&data.all(), predict),
            by_family: data.held_out(form, &x, |position| family(data.name(position))),
            by_workload,
        }
    })
}

/// Errors of a constant rate, and of a rate linear in the aggressor's SMACT, on unseen workloads.
pub fn baselines(pairs: &[Pair], catalogue: &Catalogue) -> [Errors; 2] {
    let data = Observations::new(pairs, catalogue);
    [Form::Constant, Form::Linear].map(|form| data.fit_and_check(form).1)
}

impl<'a> Observations<'a> {
    pub fn new(pairs: &'a [Pair], catalogue: &'a Catalogue) -> Self {
        let mut workloads: Vec<usize> = pairs.iter().flat_map(|pair| pair.workloads).collect();
        workloads.sort_by_key(|&index| &catalogue.workloads()[index].name);
        workloads.dedup();
        let position = |index: usize| {
            workloads.iter().position(|&known| known == index).expect("all workloads of pairs are listed")
        };
        let sides = pairs
            .iter()
            .flat_map(|pair| {
                let [a, b] = pair.workloads.map(position);
                [[a, b], [b, a]]
            })
            .collect();
        let features = workloads
            .iter()
            .map(|&index| {
                let profile = catalogue.workloads()[index].profile(0);
                let (smact, drama) = (profile.smact.mean, profile.drama.mean);
                let squared = smact * smact;
                [squared, squared * profile.peak_memory_mib / MEMORY_UNIT_MIB, smact, drama]
            })
            .collect();
        let rates = pairs.iter().flat_map(Pair::contended_rates).collect();
        Observations { pairs, catalogue, workloads, sides, rates, features }
    }

    pub fn name(&self, position: usize) -> &'a str {
        &self.catalogue.workloads()[self.workloads[position]].name
    }

    fn all(&self) -> Vec<usize> {
        (0..self.rates.len()).collect()
    }

    /// A fit to everything, and the errors on workloads that are left out.
    fn fit_and_check(&self, form: Form) -> (Vec<f64>, Errors) {
        let x = self.fit(form, &self.all(), None);
        let errors = self.held_out(form, &x, |position| self.name(position).to_owned());
        (x, errors)
    }

    fn fit(&self, form: Form, rows: &[usize], from: Option<&[f64]>) -> Vec<f64> {
        let start = match form {
            Form::Constant => vec![1.0],
            Form::Linear => vec![1.0, 0.0],
            // Logarithms, which keeps the constants positive.
            Form::Kernels => vec![-2.0, 1.0],
            Form::Traffic => vec![-2.0, 1.0, -1.0],
        };
        let (start, iterations) = match from {
            Some(x) => (x.to_vec(), REFIT_ITERATIONS),
            None => (start, ITERATIONS),
        };
        robust::fit(start, 0.0, iterations, rows, &self.rates, &|x, k| self.predict(form, x, k))
    }

    /// The contended rate of observation `k` and its derivatives.
    fn predict(&self, form: Form, x: &[f64], k: usize) -> (f64, Gradient) {
        let [victim, aggressor] = self.sides[k];
        let [squared, with_memory, smact, drama] = self.features[aggressor];
        let own = self.features[victim][3];
        let none = (0, 0.0);
        if form == Form::Constant {
            return (x[0], [(0, 1.0), none, none]);
        }
        if form == Form::Linear {
            return (x[0] + x[1] * smact, [(0, 1.0), (1, smact), none]);
        }
        let (base, memory) = (x[0].exp() * squared, x[1].exp() * with_memory);
        let traffic = if form == Form::Traffic { x[2].exp() * drama * own } else { 0.0 };
        let rate = 1.0 / (1.0 + base + memory + traffic);
        let change = -rate * rate;
        (rate, [(0, change * base), (1, change * memory), (2, change * traffic)])
    }

    /// Errors on the pairs of `rows`, which holds both observations of a pair or none.
    pub fn errors(&self, rows: &[usize], predict: impl Fn(usize) -> f64) -> Errors {
        let mut errors = Errors::default();
        for &k in rows {
            errors.rates.push((predict(k) - self.rates[k]).abs());
            if k % 2 == 0 {
                let pair = &self.pairs[k / 2];
                // A baseline may predict anything; a rate is positive.
                let simulated = pair.simulate([predict(k), predict(k + 1)].map(|rate| rate.max(0.01)));
                errors.speeds.extend([0, 1].map(|i| (simulated[i] - pair.speeds()[i]).abs()));
            }
        }
        errors
    }

    /// Errors on the pairs with a workload of a group, from a fit to the pairs without, over all groups.
    fn held_out(&self, form: Form, from: &[f64], group: impl Fn(usize) -> String) -> Errors {
        let groups: Vec<String> = (0..self.workloads.len()).map(group).collect();
        let mut errors = Errors::default();
        for out in groups.iter().collect::<BTreeSet<_>>() {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..self.rates.len())
                .partition(|&k| self.sides[k].iter().any(|&position| groups[position] == *out));
            let x = self.fit(form, &train, Some(from));
            errors.add(self.errors(&test, |k| self.predict(form, &x, k).0));
        }
        errors
    }
}

/// Model architecture and data set: the first two parts of a name.
fn family(name: &str) -> String {
    name.split('_').take(2).collect::<Vec<_>>().join("_")
}

impl Errors {
    pub fn add(&mut self, other: Errors) {
        self.rates.extend(other.rates);
        self.speeds.extend(other.speeds);
    }

    /// What the choice between fits minimises: rounded, so that it does not hang on the last bit.
    pub fn score(&self) -> f64 {
        (mean(&self.speeds) * 1e9).round() / 1e9
    }

    /// Median and 95th percentile on contended rates and on pair speeds, for people.
    pub fn describe(&self) -> String {
        let [rates, speeds] = [&self.rates, &self.speeds].map(|errors| {
            let mut sorted = errors.clone();
            sorted.sort_by(f64::total_cmp);
            let at = |q| quantile_of_sorted(&sorted, q);
            format!("median {:.3}, p95 {:.3}", at(0.5), at(0.95))
        });
        format!("contended rate {rates}; pair speed {speeds}")
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of a mean over observations.
pub fn standard_error(values: &[f64]) -> f64 {
    let centre = mean(values);
    let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len() as f64;
    (variance / values.len() as f64).sqrt()
}

/// Catalogue workloads that factors of `position` hold for: those that differ in the number of epochs only.
pub fn twins<'a>(data: &Observations<'a>, position: usize) -> Vec<&'a str> {
    let of = stem(data.name(position));
    let names = data.catalogue.workloads().iter().map(|workload| workload.name.as_str());
    names.filter(|name| stem(name) == of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Interference, PairFactors};

    /// Pairs of a model with known constants, over a grid of catalogue workloads.
    fn synthetic(model: &Interference, catalogue: &Catalogue) -> Vec<Pair> {
        let chosen: Vec<usize> = (0..catalogue.workloads().len()).step_by(4).collect();
        let mut pairs = Vec::new();
        for (i, &a) in chosen.iter().enumerate() {
            for &b in &chosen[i..] {
                let jobs = [a, b].map(|index| &catalogue.workloads()[index]);
                let rate = |victim: usize| {
                    let other = jobs[1 - victim];
                    let factors = model.factors(&other.name);
                    let pressure = model.pressure(other.profile(0), factors)
                        + model.traffic(other.profile(0), factors) * jobs[victim].profile(0).drama.mean;
                    1.0 / (1.0 + pressure * model.factors(&jobs[victim].name).sensitivity)
                };
                let startup_s = jobs[0].startup_s.max(jobs[1].startup_s);
                let mut pair =
                    Pair { workloads: [a, b], solo_s: [300.0, 400.0], pair_s: [0.0; 2], startup_s };
                let speeds = pair.simulate([rate(0), rate(1)]);
                pair.pair_s = [300.0 / speeds[0], 400.0 / speeds[1]];
                pairs.push(pair);
            }
        }
        pairs
    }

    #[test]
    fn known_constants_are_recovered() {
        let catalogue = Catalogue::builtin();
        let mut model = Interference {
            base: 0.3,
            memory_slope: 1.7,
            memory_unit_mib: MEMORY_UNIT_MIB,
            traffic: 0.6,
            crowding: 0.0,
            factors: Default::default(),
        };
        let [_, got] = fits(&synthetic(&model, &catalogue), &catalogue);
        let near = |got: f64, want: f64| (got - want).abs() < 1e-3;
        assert!(near(got.base, 0.3) && near(got.memory_slope, 1.7), "{} {}", got.base, got.memory_slope);
        assert!(near(got.traffic, 0.6), "{}", got.traffic);
        assert!(got.by_workload.rates.iter().all(|&error| error < 1e-3));

        let victim = catalogue.workloads()[20].name.clone();
        model.factors.insert(victim.clone(), PairFactors { aggressor: 1.0, sensitivity: 2.0 });
        let [_, got] = fits(&synthetic(&model, &catalogue), &catalogue);
        let factors = got.factors.of[&victim];
        assert!((1.6..2.1).contains(&factors.sensitivity), "{factors:?}");
        assert!((0.8..1.2).contains(&factors.aggressor), "{factors:?}");
    }
}
