//! How far a window's jobs are from all of them.

use super::statistics::Shape;
use crate::error::{Result, did_you_mean, input_error};

/// What is compared: name, weight in the AEGIS evaluation, and how. Every distance is from 0 to 1.
pub const COMPONENTS: [(&str, f64, &str); 5] = [
    ("runtime", 0.35, "share of jobs shorter than 10 min, 1 h, 6 h and 1 day: mean absolute difference"),
    ("gpu_demand", 0.25, "share of jobs by GPU count: half the sum of absolute differences"),
    ("interarrivals", 0.20, "median and 95th percentile: mean of |a - b| / max(a, b)"),
    ("gpu_service", 0.15, "share of GPU-seconds by GPU count: half the sum of absolute differences"),
    ("burst", 0.05, "share of jobs that come with the one before: absolute difference"),
];

/// A weight for each of [`COMPONENTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights([f64; 5]);

impl Default for Weights {
    fn default() -> Weights {
        Weights(COMPONENTS.map(|(_, weight, _)| weight))
    }
}

impl Weights {
    /// The default ones, changed by assignments `NAME=WEIGHT`.
    ///
    /// # Errors
    /// An unknown name, a weight that is no number or below 0, and weights that are all 0.
    pub fn parse(assignments: &[String]) -> Result<Weights> {
        let names = COMPONENTS.map(|(name, ..)| name);
        let mut weights = Weights::default();
        for assignment in assignments {
            let Some((name, value)) = assignment.split_once('=') else {
                return Err(input_error!(
                    "--weight {assignment}: expected NAME=WEIGHT, with a name of {}",
                    names.join(", ")
                ));
            };
            let Some(index) = names.iter().position(|known| *known == name.trim()) else {
                return Err(input_error!(
                    "--weight {assignment}: unknown name {name:?}; {}known are {}",
                    did_you_mean(name, names),
                    names.join(", ")
                ));
            };
            weights.0[index] = match value.trim().parse::<f64>() {
                Ok(weight) if (0.0..=1e6).contains(&weight) => weight,
                _ => {
                    return Err(input_error!(
                        "--weight {assignment}: found {value:?}; expected a number from 0 to 1000000"
                    ));
                }
            };
        }
        if weights.0.iter().all(|&weight| weight == 0.0) {
            return Err(input_error!(
                "all weights are 0: no window would be better than another; set one above 0"
            ));
        }
        Ok(weights)
    }

    pub fn values(&self) -> [f64; 5] {
        self.0
    }

    /// The weighted sum of distances.
    pub fn total(&self, distances: &[f64; 5]) -> f64 {
        self.0.iter().zip(distances).map(|(weight, distance)| weight * distance).sum()
    }
}

/// The distances of [`COMPONENTS`], for two shapes over the same GPU counts.
pub fn distances(a: &Shape, b: &Shape) -> [f64; 5] {
    [
        absolute(&a.runtime_under, &b.runtime_under) / a.runtime_under.len() as f64,
        absolute(&a.gpu_demand, &b.gpu_demand) / 2.0,
        (relative(a.interarrival_p50_s, b.interarrival_p50_s)
            + relative(a.interarrival_p95_s, b.interarrival_p95_s))
            / 2.0,
        absolute(&a.gpu_service, &b.gpu_service) / 2.0,
        (a.zero_interarrivals - b.zero_interarrivals).abs(),
    ]
}

fn absolute(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

fn relative(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_formulas() {
        let a = Shape {
            runtime_under: [0.5, 0.75, 1.0, 1.0],
            gpu_demand: vec![0.75, 0.25, 0.0],
            gpu_service: vec![0.5, 0.5, 0.0],
            interarrival_p50_s: 0.0,
            interarrival_p95_s: 100.0,
            zero_interarrivals: 0.75,
        };
        let b = Shape {
            runtime_under: [0.25, 0.75, 0.75, 1.0],
            gpu_demand: vec![0.5, 0.25, 0.25],
            gpu_service: vec![0.5, 0.25, 0.25],
            interarrival_p50_s: 8.0,
            interarrival_p95_s: 50.0,
            zero_interarrivals: 0.5,
        };
        assert_eq!(distances(&a, &b), [0.125, 0.25, 0.75, 0.25, 0.25]);
        assert_eq!(distances(&b, &a), distances(&a, &b));
        assert_eq!(distances(&a, &a), [0.0; 5]);
    }

    #[test]
    fn weights_are_changed_by_name() {
        let parse =
            |words: &[&str]| Weights::parse(&words.iter().map(|&word| word.into()).collect::<Vec<_>>());
        assert_eq!(parse(&[]).unwrap().values(), [0.35, 0.25, 0.20, 0.15, 0.05]);
        assert_eq!(parse(&["burst=0", "runtime = 2"]).unwrap().values(), [2.0, 0.25, 0.20, 0.15, 0.0]);
        let none = COMPONENTS.map(|(name, ..)| format!("{name}=0"));
        for (message, says) in [
            (parse(&["runtime"]).unwrap_err(), "expected NAME=WEIGHT"),
            (parse(&["run_time=1"]).unwrap_err(), "did you mean runtime?"),
            (parse(&["burst=-1"]).unwrap_err(), "found \"-1\""),
            (parse(&["burst=NaN"]).unwrap_err(), "found \"NaN\""),
            (Weights::parse(&none).unwrap_err(), "all weights are 0"),
        ] {
            assert!(message.to_string().contains(says), "{message}");
        }
    }
}
