use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::{BindKeyPoints, IntoLogRange};

use super::figure::{
    Area, Drawn, Figure, X_LABELS, Y_LABELS, builder, draw_empty, draw_line, fraction, mesh, number, usable,
};
use super::legend::Key;
use super::style::{Look, looks};

const HEIGHT: u32 = 820 + X_LABELS;
/// Where numbers stand within a decade of a logarithmic axis, finest first.
const LOG_STEPS: [&[f64]; 4] = [
    &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 2.0, 5.0],
    &[1.0],
];
/// As many numbers as have room.
const LOG_TICKS: usize = 8;

/// What an ECDF is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity<'a> {
    /// With the unit, such as `job completion time [h]`.
    pub label: &'a str,
    pub log: bool,
}

impl<'a> Quantity<'a> {
    pub fn linear(label: &'a str) -> Quantity<'a> {
        Quantity { label, log: false }
    }

    /// On a logarithmic axis.
    pub fn log(label: &'a str) -> Quantity<'a> {
        Quantity { label, log: true }
    }
}

/// The fraction of jobs at or below a value, over the value, for each policy.
///
/// Values that have no place on the axis are left out: negative, beyond 1e100 or not a number and, on a
/// logarithmic axis, zero.
pub fn ecdf(series: &[(String, Vec<f64>)], quantity: Quantity<'_>) -> Figure {
    let placed = |v: &f64| *v < 1e100 && if quantity.log { *v > 1e-100 } else { *v >= 0.0 };
    let placed = |values: &[f64]| curve(values.iter().copied().filter(placed).collect());
    let series: Vec<_> = series.iter().map(|(policy, values)| (policy.as_str(), placed(values))).collect();
    let values = || series.iter().flat_map(|(_, curve)| curve).map(|(value, _)| *value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);

    let looks = looks(series.iter().map(|(policy, _)| *policy));
    let keys = series.iter().zip(&looks);
    let keys = keys.map(|((policy, _), look)| (Key::Line(*look), (*policy).to_owned()));
    let curves = || series.iter().zip(&looks).map(|((_, curve), look)| (curve.as_slice(), *look));
    Figure::draw(keys, HEIGHT, |area| {
        if quantity.log {
            let (low, high) = log_limits(low, high);
            let x = (low..high).log_scale().with_key_points(log_ticks(low, high));
            draw(area, x, quantity.label, curves())
        } else {
            draw(area, 0.0..usable(high * 1.03), quantity.label, curves())
        }
    })
}

fn draw<'a, X>(
    area: &Area<'_>,
    x: X,
    label: &str,
    curves: impl Iterator<Item = (&'a [(f64, f64)], Look)>,
) -> Drawn
where
    X: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
{
    let mut chart = builder(area, Y_LABELS, X_LABELS).build_cartesian_2d(x, 0.0..1.0)?;
    mesh(&mut chart)
        .x_label_formatter(&number)
        .y_label_formatter(&fraction)
        .x_desc(label)
        .y_desc("fraction of jobs")
        .draw()?;
    let mut empty = true;
    for (curve, look) in curves {
        empty &= curve.is_empty();
        draw_line(&mut chart, curve.to_vec(), look)?;
    }
    if empty { draw_empty(area) } else { Ok(()) }
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
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().floor() as i32;
    let ticks = |steps: &[f64], every: usize| -> Vec<f64> {
        let within = decades.clone().step_by(every);
        let ticks = within.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        ticks.filter(|tick| (low..=high).contains(tick)).collect()
    };
    let fine = LOG_STEPS.iter().map(|steps| ticks(steps, 1));
    let coarse = (2..200).map(|every| ticks(&[1.0], every));
    fine.chain(coarse).find(|ticks| ticks.len() <= LOG_TICKS).unwrap_or_default()
}

/// Rises at each value to the fraction of values at or below it, from zero to one.
fn curve(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let fraction = |count: usize| count as f64 / values.len() as f64;
    let step = |(i, value): (usize, &f64)| [(*value, fraction(i)), (*value, fraction(i + 1))];
    values.iter().enumerate().flat_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_rise_at_each_value_to_the_fraction_at_or_below_it() {
        assert_eq!(curve(vec![3.0, 1.0]), [(1.0, 0.0), (1.0, 0.5), (3.0, 0.5), (3.0, 1.0)]);
        assert!(curve(vec![]).is_empty());
    }

    #[test]
    fn log_ticks_refine_and_thin_out() {
        assert_eq!(log_ticks(0.9, 2.4), [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]);
        assert_eq!(log_ticks(1.9, 9.1), [2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
        assert_eq!(log_ticks(0.1, 1e9).len(), 6);
        assert!(log_ticks(1.5, 6.0).len() >= 2);
    }

    #[test]
    fn extreme_values_are_drawn() {
        let cases = [vec![], vec![0.0], vec![1.0], vec![7.0; 9], vec![1e-6, 1e12], vec![f64::NAN, -1.0]];
        for values in cases {
            for quantity in [Quantity::linear("x"), Quantity::log("x")] {
                assert!(ecdf(&[("aegis".to_owned(), values.clone())], quantity).svg().is_ok());
            }
        }
    }
}
