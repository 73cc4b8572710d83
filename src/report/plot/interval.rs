//! Means with their intervals: the lower end, the mean and the upper end.

use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::element::PathElement;
use plotters::style::{Color, RGBColor};

use super::figure::{Chart, Drawn};

type Linear = RangedCoordf64;

/// The bar of an interval at one place.
pub(super) fn draw_bar<X>(
    chart: &mut Chart<'_, X, Linear>,
    x: X::ValueType,
    [low, _, high]: [f64; 3],
    color: RGBColor,
) -> Drawn
where
    X: Ranged<ValueType: Copy + 'static>,
{
    chart.draw_series([PathElement::new([(x, low), (x, high)], color.stroke_width(8))])?;
    Ok(())
}
