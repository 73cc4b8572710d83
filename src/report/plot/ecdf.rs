use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};

use super::figure::{
    Area, Drawn, Figure, X_LABELS, Y_LABELS, builder, draw_empty, draw_line, fraction, mesh, number, usable,
};
use super::legend::Key;
use super::log::log_axis;
use super::style::{Look, looks};

const HEIGHT: u32 = 820 + X_LABELS;
/// As many numbers as have room.
const LOG_TICKS: usize = 8;

/// More steps than can be told apart.
const MOST_STEPS: usize = 4_000;

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
    let placed = |values: &[f64]| thinned(curve(values.iter().copied().filter(placed).collect()));
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
            draw(area, log_axis(low, high, LOG_TICKS), quantity.label, curves())
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

/// Rises at each value to the fraction of values at or below it, from zero to one.
pub(super) fn curve(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let fraction = |count: usize| count as f64 / values.len() as f64;
    let step = |(i, value): (usize, &f64)| [(*value, fraction(i)), (*value, fraction(i + 1))];
    values.iter().enumerate().flat_map(step).collect()
}

/// As many steps of a curve as can be told apart, evenly from its first to its last.
fn thinned(curve: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let steps = curve.len() / 2;
    if steps <= MOST_STEPS {
        return curve;
    }
    let kept = |i: usize| i * (steps - 1) / (MOST_STEPS - 1);
    let mut from = 0.0;
    let mut thinned = Vec::with_capacity(2 * MOST_STEPS);
    for step in (0..MOST_STEPS).map(kept) {
        let (value, fraction) = curve[2 * step + 1];
        thinned.extend([(value, from), (value, fraction)]);
        from = fraction;
    }
    thinned
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
    fn curves_of_very_many_jobs_keep_their_ends_and_never_fall() {
        let values = |count: usize| (0..count).map(|i| i as f64).collect::<Vec<f64>>();
        let short = curve(values(MOST_STEPS));
        assert_eq!(thinned(short.clone()), short);
        let long = curve(values(10_000));
        let thin = thinned(long.clone());
        assert_eq!(thin.len(), 2 * MOST_STEPS);
        assert_eq!((thin.first().map(|p| p.0), thin.last()), (Some(0.0), long.last()));
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
        assert!(thin.iter().skip(1).step_by(2).all(|point| long.contains(point)), "points of the curve");
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
