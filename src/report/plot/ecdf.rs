use super::axis::{Axis, Frame, X_AXIS_HEIGHT};
use super::figure::Figure;
use super::legend::{Key, Legend};
use super::style::{MARGIN, WIDTH, looks};

const PLOT_HEIGHT: f64 = 400.0;

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
/// Values that have no place on the axis are left out: negative or not finite and, on a logarithmic axis,
/// zero.
pub fn ecdf(series: &[(String, Vec<f64>)], quantity: Quantity<'_>) -> Figure {
    let series: Vec<(&str, Vec<(f64, f64)>)> = series
        .iter()
        .map(|(policy, values)| {
            let placed = |v: &f64| v.is_finite() && if quantity.log { *v > 0.0 } else { *v >= 0.0 };
            (policy.as_str(), steps(values.iter().copied().filter(placed).collect()))
        })
        .collect();
    let values = || series.iter().flat_map(|(_, steps)| steps).map(|(value, _)| *value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);

    let looks = looks(series.iter().map(|(policy, _)| *policy));
    let keys = series.iter().zip(&looks);
    let legend = Legend::new(keys.map(|((policy, _), look)| (Key::Line(*look), (*policy).to_owned())));
    let top = MARGIN + legend.height() + 14.0;
    let (left, right) = (112.0, WIDTH - 34.0);
    let x = Axis::fitting(right - left, |count| match quantity.log {
        true => Axis::log(low, high, count),
        false => Axis::to(high * 1.03, count),
    });
    let bottom = top + PLOT_HEIGHT;
    let frame = Frame { left, top, right, bottom, x, y: Axis::to(1.0, 5) };
    let mut figure = Figure::new(WIDTH, bottom + X_AXIS_HEIGHT + 6.0);
    legend.draw(&mut figure, MARGIN);
    frame.draw_y(&mut figure, "fraction of jobs");
    frame.draw_x_grid(&mut figure);
    frame.draw_edges(&mut figure);
    for ((_, steps), look) in series.iter().zip(&looks).filter(|((_, steps), _)| !steps.is_empty()) {
        // From zero at the smallest value to one at the largest.
        let rise = steps.first().map(|(value, _)| (*value, 0.0));
        let line = frame.steps(rise.into_iter().chain(steps.iter().copied()));
        figure.path(&line, look.color, look.width, look.dash);
    }
    if values().next().is_none() {
        frame.draw_empty(&mut figure);
    }
    frame.draw_x(&mut figure, quantity.label);
    figure
}

/// Each distinct value with the fraction of values at or below it, ascending.
fn steps(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (i, value) in values.into_iter().enumerate() {
        let fraction = (i + 1) as f64 / count;
        match steps.last_mut() {
            Some(last) if last.0 == value => last.1 = fraction,
            _ => steps.push((value, fraction)),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_at_each_value_to_the_fraction_at_or_below_it() {
        assert_eq!(steps(vec![3.0, 1.0, 3.0, 2.0]), [(1.0, 0.25), (2.0, 0.5), (3.0, 1.0)]);
        assert_eq!(steps(vec![5.0]), [(5.0, 1.0)]);
        assert!(steps(vec![]).is_empty());
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
