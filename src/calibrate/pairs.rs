//! Interference from pairs of jobs: constants from profiles alone, and what they reach on unseen workloads.

use std::collections::BTreeSet;

use super::data::{Pair, stem};
use super::robust::{self, Gradient};
use crate::metrics::quantile_of_sorted;
use crate::workload::{Activity, Catalogue, Workload};

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
    /// Squared signal, squared signal x memory, signal and DRAMA by workload, before its closing phase.
    features: Vec<[f64; 4]>,
    /// By observation: what is left of the pressure over the time together, part of which may be in a closing phase of
    /// either job.
    left: Vec<f64>,
}

/// What of a profile says how much a job presses on others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signal {
    /// SMACT and DRAMA.
    Counters,
    /// GPU utilisation, without DRAMA.
    Utilization,
}

impl Signal {
    /// What the rate of the linear baseline is linear in.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Counters => "SMACT",
            Signal::Utilization => "GPU utilisation",
        }
    }
}

/// What predictions miss measurements by, without sign.
#[derive(Debug, Clone, Default)]
pub struct Errors {
    pub rates: Vec<f64>,
    pub speeds: Vec<f64>,
    /// Observation and predicted rate, in the order of `rates`.
    pub predicted: Vec<(usize, f64)>,
}

/// How a contended rate follows from profiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    Constant,
    /// Linear in the sum of both jobs' signals.
    Linear,
    /// Pressure of kernels only.
    Kernels,
    /// Pressure of kernels and memory traffic.
    Traffic,
}

/// Constants of a form fitted to pairs, and their errors.
pub struct Fit {
    pub form: Form,
    x: Vec<f64>,
    pub train: Errors,
    pub by_workload: Errors,
    pub by_family: Errors,
}

impl Fit {
    pub fn new(data: &Observations<'_>, form: Form) -> Fit {
        let x = data.fit(form, &data.all(), None);
        Fit {
            train: data.errors(&data.all(), |k| data.predict(form, &x, k).0),
            by_workload: data.held_out(form, &x, |workload| &workload.name),
            by_family: data.held_out(form, &x, |workload| &workload.family),
            form,
            x,
        }
    }

    /// Of the forms that follow from pressures.
    pub fn base(&self) -> f64 {
        self.x[0].exp()
    }

    pub fn memory_slope(&self) -> f64 {
        self.x[1].exp()
    }

    pub fn traffic(&self) -> f64 {
        self.x.get(2).map_or(0.0, |log| log.exp())
    }

    /// By observation.
    pub fn pressures(&self, data: &Observations<'_>) -> Vec<f64> {
        data.all().into_iter().map(|k| 1.0 / data.predict(self.form, &self.x, k).0 - 1.0).collect()
    }
}

/// The first workload of the pairs that SMACT or DRAMA is not known of.
pub fn without_counters<'a>(pairs: &[Pair], catalogue: &'a Catalogue) -> Option<&'a str> {
    let measured = pairs.iter().flat_map(|pair| pair.workloads).map(|index| &catalogue.workloads()[index]);
    let lacks = |workload: &&Workload| workload.profile(0).smact.zip(workload.profile(0).drama).is_none();
    measured.into_iter().find(lacks).map(|workload| workload.name.as_str())
}

impl<'a> Observations<'a> {
    /// In its closing phase a job's activity is `closing_activity` of what it was.
    pub fn new(pairs: &'a [Pair], catalogue: &'a Catalogue, signal: Signal, closing_activity: f64) -> Self {
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
                let training = 1.0 / profile.mean_over_training(closing_activity);
                let mean = |metric: Option<Activity>| metric.map_or(0.0, |activity| activity.mean * training);
                let (level, drama) = match signal {
                    Signal::Counters => (mean(profile.smact), mean(profile.drama)),
                    Signal::Utilization => (profile.gpu_util.mean * training, 0.0),
                };
                let squared = level * level;
                [squared, squared * profile.peak_memory_mib / MEMORY_UNIT_MIB, level, drama]
            })
            .collect();
        let rates = pairs.iter().flat_map(Pair::contended_rates).collect();
        let left = |pair: &Pair| {
            pair.closing_shares().map(|share| 1.0 - share * (1.0 - closing_activity)).iter().product::<f64>()
        };
        let left = pairs.iter().map(left).flat_map(|left| [left; 2]).collect();
        Observations { pairs, catalogue, workloads, sides, rates, features, left }
    }

    pub fn name(&self, position: usize) -> &'a str {
        &self.catalogue.workloads()[self.workloads[position]].name
    }

    fn all(&self) -> Vec<usize> {
        (0..self.rates.len()).collect()
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
        let [squared, with_memory, level, drama] = self.features[aggressor];
        let [_, _, own_level, own_drama] = self.features[victim];
        let none = (0, 0.0);
        if form == Form::Constant {
            return (x[0], [(0, 1.0), none, none]);
        }
        if form == Form::Linear {
            let sum = own_level + level;
            return (x[0] + x[1] * sum, [(0, 1.0), (1, sum), none]);
        }
        let left = self.left[k];
        let (base, memory) = (x[0].exp() * squared * left, x[1].exp() * with_memory * left);
        let traffic = if form == Form::Traffic { x[2].exp() * drama * own_drama * left } else { 0.0 };
        let rate = 1.0 / (1.0 + base + memory + traffic);
        let change = -rate * rate;
        (rate, [(0, change * base), (1, change * memory), (2, change * traffic)])
    }

    /// Errors on the pairs of `rows`, which holds both observations of a pair or none.
    pub fn errors(&self, rows: &[usize], predict: impl Fn(usize) -> f64) -> Errors {
        let mut errors = Errors::default();
        for &k in rows {
            errors.rates.push((predict(k) - self.rates[k]).abs());
            errors.predicted.push((k, predict(k)));
            if k % 2 == 0 {
                let pair = &self.pairs[k / 2];
                // A baseline may predict anything; a rate is positive.
                let simulated = pair.simulate([predict(k), predict(k + 1)].map(|rate| rate.max(0.01)));
                errors.speeds.extend([0, 1].map(|i| (simulated[i] - pair.speeds()[i]).abs()));
            }
        }
        errors
    }

    /// Errors on the pairs with a workload of a group, from a fit to the pairs without, over all groups that
    /// leave a pair.
    fn held_out(&self, form: Form, from: &[f64], group: impl Fn(&'a Workload) -> &'a str) -> Errors {
        let group = |&index: &usize| group(&self.catalogue.workloads()[index]);
        let groups: Vec<&str> = self.workloads.iter().map(group).collect();
        let mut errors = Errors::default();
        for out in groups.iter().collect::<BTreeSet<_>>() {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..self.rates.len())
                .partition(|&k| self.sides[k].iter().any(|&position| groups[position] == *out));
            if train.is_empty() {
                continue;
            }
            let x = self.fit(form, &train, Some(from));
            errors.add(self.errors(&test, |k| self.predict(form, &x, k).0));
        }
        errors
    }
}

impl Errors {
    pub fn add(&mut self, other: Errors) {
        self.rates.extend(other.rates);
        self.speeds.extend(other.speeds);
        self.predicted.extend(other.predicted);
    }

    /// What the choice between fits minimises: rounded, so that it does not hang on the last bit.
    pub fn score(&self) -> f64 {
        (mean(&self.speeds) * 1e9).round() / 1e9
    }

    /// Median and 95th percentile on contended rates and on pair speeds, for people.
    pub fn describe(&self) -> String {
        if self.rates.is_empty() {
            return "not known: nothing is left to fit to".to_owned();
        }
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
    use crate::calibrate::factors;
    use crate::model::{Interference, PairFactors, Utilization};

    /// Pairs of a model with known constants, over a grid of catalogue workloads.
    fn synthetic(model: &Interference, catalogue: &Catalogue) -> Vec<Pair> {
        let chosen: Vec<usize> = (0..catalogue.workloads().len()).step_by(4).collect();
        let mut pairs = Vec::new();
        for (i, &a) in chosen.iter().enumerate() {
            for &b in &chosen[i..] {
                let jobs = [a, b].map(|index| &catalogue.workloads()[index]);
                let rate = |victim: usize| {
                    let other = jobs[1 - victim];
                    let [other, own] = [other, jobs[victim]]
                        .map(|workload| model.contention(&workload.name, workload.profile(0), 1.0, 1.0));
                    1.0 / (1.0 + other.pressure_on(&own))
                };
                let startup_s = jobs[0].startup_s.max(jobs[1].startup_s);
                let mut pair = Pair {
                    workloads: [a, b],
                    solo_s: [300.0, 400.0],
                    pair_s: [0.0; 2],
                    startup_s,
                    closing_s: [0.0; 2],
                };
                let speeds = pair.simulate([rate(0), rate(1)]);
                pair.pair_s = [300.0 / speeds[0], 400.0 / speeds[1]];
                pairs.push(pair);
            }
        }
        pairs
    }

    #[test]
    fn known_constants_are_recovered() {
        let mut catalogue = Catalogue::builtin();
        let mut model = Interference {
            capacity: 1.0,
            base: 0.3,
            memory_slope: 1.7,
            memory_unit_mib: MEMORY_UNIT_MIB,
            traffic: 0.6,
            factors: Default::default(),
            gpu_utilization: Some(Utilization { base: 0.2, memory_slope: 0.9, factors: Default::default() }),
        };
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-3, "{got} {want}");
        let pairs = synthetic(&model, &catalogue);
        let data = Observations::new(&pairs, &catalogue, Signal::Counters, 1.0);
        let got = Fit::new(&data, Form::Traffic);
        near(got.base(), 0.3);
        near(got.memory_slope(), 1.7);
        near(got.traffic(), 0.6);
        assert!(got.by_workload.rates.iter().all(|&error| error < 1e-3));

        let victim = catalogue.workloads()[20].name.clone();
        model.factors.insert(victim.clone(), PairFactors { aggressor: 1.0, sensitivity: 2.0 });
        let pairs = synthetic(&model, &catalogue);
        let data = Observations::new(&pairs, &catalogue, Signal::Counters, 1.0);
        let factors = factors::fit(&data, &Fit::new(&data, Form::Traffic).pressures(&data));
        let factors = factors.of[&victim];
        assert!((1.6..2.1).contains(&factors.sensitivity), "{factors:?}");
        assert!((0.8..1.2).contains(&factors.aggressor), "{factors:?}");

        let names: Vec<String> = catalogue.names().map(str::to_owned).collect();
        for name in names {
            catalogue.get_mut(&name).unwrap().forget_counters();
        }
        let pairs = synthetic(&model, &catalogue);
        assert_eq!(without_counters(&pairs, &catalogue), Some(catalogue.workloads()[0].name.as_str()));
        let data = Observations::new(&pairs, &catalogue, Signal::Utilization, 1.0);
        let got = Fit::new(&data, Form::Kernels);
        near(got.base(), 0.2);
        near(got.memory_slope(), 0.9);
    }

    /// Errors from a fit to everything must not pass for errors on what was left out.
    #[test]
    fn nothing_is_left_of_a_single_family() {
        let mut catalogue = Catalogue::builtin();
        let pairs = synthetic(&crate::model::Model::builtin().interference, &catalogue);
        for name in catalogue.names().map(str::to_owned).collect::<Vec<_>>() {
            catalogue.get_mut(&name).unwrap().family = "one".to_owned();
        }
        let data = Observations::new(&pairs, &catalogue, Signal::Counters, 1.0);
        let fit = Fit::new(&data, Form::Kernels);
        assert!(fit.by_family.rates.is_empty() && !fit.by_workload.rates.is_empty());
        assert!(fit.by_family.describe().starts_with("not known"));
    }
}
