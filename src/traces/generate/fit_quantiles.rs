//! Few quantiles that stand for many values.

use super::quantiles::{Quantiles, Tail};
use crate::metrics::mean;

/// The top of the values is summed up by a Pareto tail: this share of them, and at least so many.
const TAIL_SHARE: f64 = 0.01;
const TAIL_VALUES: usize = 20;
/// Values without which the top is not told from the rest.
const LEAST_VALUES: usize = 10 * TAIL_VALUES;

/// What the CDF between two points may miss that of the values by, at least: more where they are so few that chance does
/// more.
fn tolerance(values: usize) -> f64 {
    (0.5 / (values as f64).sqrt()).max(0.002)
}

/// The fewest quantiles, taken greedily, whose distribution is that of ascending values within the tolerance. `whole`
/// numbers are looked at as such: the CDF may rise between them.
pub(super) fn fit_quantiles(sorted: &[f64], whole: bool) -> Quantiles {
    let mut steps: Vec<[f64; 2]> = Vec::new();
    let mut count = 0;
    for equal in sorted.chunk_by(|a, b| a == b) {
        count += equal.len();
        steps.push([round(count as f64 / sorted.len() as f64, 1e6), equal[0]]);
    }
    let tolerance = tolerance(sorted.len());
    if sorted.len() >= LEAST_VALUES {
        let share = TAIL_SHARE.max(TAIL_VALUES as f64 / sorted.len() as f64);
        let start = steps.partition_point(|step| step[0] < 1.0 - share);
        let points = thin(&steps[..=start], whole, tolerance);
        if let Some(fitted) = with_tail(points, sorted, whole) {
            return fitted;
        }
    }
    Quantiles { points: thin(&steps, whole, tolerance), tail: None }
}

/// Keeps steps so that straight lines between them, by `ln(1 + value)`, stay within the tolerance of all.
fn thin(steps: &[[f64; 2]], whole: bool, tolerance: f64) -> Vec<[f64; 2]> {
    // Where a step's value begins: the last number at which the share is still that of the step before.
    let before = |value: f64| if whole { value - 1.0 } else { value };
    let x = |value: f64| libm::log(1.0 + value);
    let mut points = vec![steps[0]];
    let mut at = 0;
    while at + 1 < steps.len() {
        let [p, value] = steps[at];
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut narrow = |other: f64, other_p: f64| {
            let run = x(other) - x(value);
            if run > 0.0 {
                least = least.max((other_p - tolerance - p) / run);
                most = most.min((other_p + tolerance - p) / run);
            }
            (least, most)
        };
        let mut reached = None;
        for next in at + 1..steps.len() {
            let [next_p, next_value] = steps[next];
            let (least, most) = narrow(before(next_value), steps[next - 1][0]);
            let slope = (next_p - p) / (x(next_value) - x(value));
            if (least..=most).contains(&slope) {
                reached = Some(next);
            }
            let (least, most) = narrow(next_value, next_p);
            if least > most {
                break;
            }
        }
        if reached.is_none() {
            // An atom after nothing.
            points.push([p, before(steps[at + 1][1])]);
        }
        at = reached.unwrap_or(at + 1);
        points.push(steps[at]);
    }
    points
}

/// With the tail beyond the points that gives the whole the mean of the values, as it is load that a tail is about.
/// `None` where no tail does.
fn with_tail(points: Vec<[f64; 2]>, sorted: &[f64], whole: bool) -> Option<Quantiles> {
    let (max, low) = (*sorted.last()?, points.last()?[1]);
    if low < 1.0 || low >= max {
        return None;
    }
    let mut fitted = Quantiles { points, tail: None };
    let mut excess = |alpha: f64| {
        fitted.tail = Some(Tail { alpha, max });
        let own = if whole { fitted.whole_mean() } else { fitted.mean() };
        (own - mean(sorted), fitted.clone())
    };
    // The mean falls with alpha.
    let (mut less, mut more) = (0.01, 20.0);
    if excess(less).0 < 0.0 || excess(more).0 > 0.0 {
        return None;
    }
    while more - less > 1e-4 {
        let middle = (less + more) / 2.0;
        if excess(middle).0 > 0.0 { less = middle } else { more = middle }
    }
    Some(excess(round(less, 1e3).max(0.01)).1)
}

/// To so many parts of one.
pub(super) fn round(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::generate::ks_distance;

    /// Log-uniform up to 10,000 with an atom of a tenth at 600 and a tail.
    fn values() -> (Quantiles, Vec<f64>) {
        let truth = Quantiles {
            points: vec![[0.05, 0.0], [0.5, 599.0], [0.6, 600.0], [0.99, 10_000.0]],
            tail: Some(Tail { alpha: 1.3, max: 1e6 }),
        };
        let values = (0..100_000).map(|i| truth.whole((i as f64 + 0.5) / 1e5)).collect();
        (truth, values)
    }

    #[test]
    fn few_points_are_near_all_values() {
        let (truth, values) = values();
        let fitted = fit_quantiles(&values, true);
        fitted.check("fit", 0.0, 1e7).unwrap();
        assert!(fitted.points.len() < 12, "{:?}", fitted.points);
        assert!(ks_distance(&values, |x| fitted.cdf(x)) <= 0.0021);
        assert!((fitted.tail.unwrap().alpha / truth.tail.unwrap().alpha - 1.0).abs() < 0.2, "{fitted:?}");
        assert!((fitted.whole_mean() / mean(&values) - 1.0).abs() < 0.001);
    }

    #[test]
    fn few_values_get_fewer_points_and_no_tail() {
        let (_, values) = values();
        let some: Vec<f64> = values.iter().copied().step_by(600).collect();
        let fitted = fit_quantiles(&some, true);
        assert!(fitted.tail.is_none() && fitted.points.len() < 9, "{fitted:?}");
        assert_eq!(fitted.max(), some[some.len() - 1]);
        assert!(ks_distance(&some, |x| fitted.cdf(x)) <= 0.5 / 167f64.sqrt() + 1e-6);
    }

    #[test]
    fn equal_values_are_an_atom() {
        assert_eq!(fit_quantiles(&[7.0; 9], true), Quantiles::constant(7.0));
        let two = [3.0, 3.0, 9.0, 9.0];
        for (whole, before) in [(true, 8.0), (false, 9.0)] {
            assert_eq!(fit_quantiles(&two, whole).points, [[0.5, 3.0], [0.5, before], [1.0, 9.0]]);
        }
    }
}
