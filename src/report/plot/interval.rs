//! Means with their intervals: the lower end, the mean and the upper end.

use std::ops::Range;

use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{PathElement, Polygon};
use plotters::style::{Color, RGBColor};

use super::figure::{Chart, Drawn, draw_line};
use super::style::Look;

type Linear = RangedCoordf64;

/// How much remains of the colour of a band.
const BAND: f64 = 0.22;

/// Values side by side without one missing.
pub(super) type Run<X> = Vec<(X, [f64; 3])>;

pub(super) fn draw_band<X>(
    chart: &mut Chart<'_, X, Linear>,
    run: &Run<X::ValueType>,
    color: RGBColor,
) -> Drawn
where
    X: Ranged<ValueType: Copy + 'static>,
{
    let low = run.iter().map(|(x, [low, ..])| (*x, *low));
    let high = run.iter().rev().map(|(x, [.., high])| (*x, *high));
    chart.draw_series([Polygon::new(low.chain(high).collect::<Vec<_>>(), color.mix(BAND).filled())])?;
    Ok(())
}

pub(super) fn draw_means<X>(chart: &mut Chart<'_, X, Linear>, run: &Run<X::ValueType>, look: Look) -> Drawn
where
    X: Ranged<ValueType: Copy + 'static>,
{
    draw_line(chart, run.iter().map(|(x, [_, mean, _])| (*x, *mean)).collect(), look)
}

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

/// From end to end of a chart.
pub(super) fn across<X: Copy>(x: &Range<X>, level: [f64; 3]) -> Run<X> {
    vec![(x.start, level), (x.end, level)]
}
