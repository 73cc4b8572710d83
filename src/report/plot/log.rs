//! Logarithmic axes whose numbers stand where readers expect them.

use plotters::coord::combinators::{LogCoord, WithKeyPoints};
use plotters::prelude::{BindKeyPoints, IntoLogRange};

/// Where numbers stand within a decade of a logarithmic axis, finest first.
const LOG_STEPS: [&[f64]; 4] = [
    &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 2.0, 5.0],
    &[1.0],
];
/// An axis that has room for values from `low` to `high`, with at most so many numbers.
pub(super) fn log_axis(low: f64, high: f64, most: usize) -> WithKeyPoints<LogCoord<f64>> {
    let (low, high) = log_limits(low, high);
    (low..high).log_scale().with_key_points(log_ticks(low, high, most))
}

/// The same around values that were chosen: with numbers at these, if they are few and apart.
pub(super) fn log_axis_at(values: &[f64], most: usize) -> WithKeyPoints<LogCoord<f64>> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let low = values.first().copied().unwrap_or(f64::NAN);
    let high = values.last().copied().unwrap_or(f64::NAN);
    let apart = (high / low).powf(0.7 / most as f64);
    if (2..=most).contains(&values.len()) && values.windows(2).all(|pair| pair[1] >= apart * pair[0]) {
        let (low, high) = log_limits(low, high);
        (low..high).log_scale().with_key_points(values)
    } else {
        log_axis(low, high, most)
    }
}

/// A little before to a little after positive values.
fn log_limits(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = if low > 0.0 && high >= low { (low, high) } else { (1.0, 10.0) };
    // Values within a fifth of each other need room around them for numbers to stand at.
    let (low, high) = if high < 1.2 * low { (low / 2.0, high * 2.0) } else { (low, high) };
    let margin = (high / low).powf(0.03);
    (low / margin, high * margin)
}

/// plotters itself puts no number at all on a logarithmic axis from 2 to 9.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().floor() as i32;
    let ticks = |steps: &[f64], every: usize| -> Vec<f64> {
        let within = decades.clone().step_by(every);
        let ticks = within.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        ticks.filter(|tick| (low..=high).contains(tick)).collect()
    };
    let fine = LOG_STEPS.iter().map(|steps| ticks(steps, 1));
    let coarse = (2..200).map(|every| ticks(&[1.0], every));
    fine.chain(coarse).find(|ticks| ticks.len() <= most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_ticks_refine_and_thin_out() {
        assert_eq!(log_ticks(0.9, 2.4, 8), [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]);
        assert_eq!(log_ticks(1.9, 9.1, 8), [2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
        assert_eq!(log_ticks(0.1, 1e9, 8).len(), 6);
        assert!(log_ticks(1.5, 6.0, 8).len() >= 2);
    }

    #[test]
    fn chosen_values_are_numbered_where_they_have_room() {
        let ticks = |values: &[f64]| log_axis_at(values, 8).bold_points().to_vec();
        assert_eq!(ticks(&[4.0, 0.25, 1.0, 0.5, 2.0, 1.0]), [0.25, 0.5, 1.0, 2.0, 4.0]);
        assert_eq!(ticks(&[0.25, 1.0, 1.01, 4.0]), log_axis(0.25, 4.0, 8).bold_points());
        assert_eq!(ticks(&[]), log_axis(1.0, 10.0, 8).bold_points());
    }
}
