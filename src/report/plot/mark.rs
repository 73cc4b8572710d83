//! Marks of points, which tell traces apart where colours tell policies.

use plotters::coord::ranged1d::Ranged;
use plotters::element::{EmptyElement, Polygon};
use plotters::style::{Color, RGBColor};

use super::figure::{Chart, Drawn};
use super::style::WHITE;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Wedge,
}

const MARKS: [Mark; 5] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Wedge];

/// Of the polygon that stands for a circle.
const SIDES: i32 = 24;

impl Mark {
    /// After the last come the first again.
    pub fn nth(index: usize) -> Mark {
        MARKS[index % MARKS.len()]
    }

    /// Around a point, with a white rim that sets it off from others.
    pub fn shapes(self, radius: i32, color: RGBColor) -> [Polygon<(i32, i32)>; 2] {
        let shape = |radius, color: RGBColor| Polygon::new(self.corners(radius), color.filled());
        [shape(radius + (radius / 5).max(1), WHITE), shape(radius, color)]
    }

    /// All about as large to the eye.
    fn corners(self, r: i32) -> Vec<(i32, i32)> {
        let (wide, side) = (r * 5 / 4, r * 9 / 10);
        let on_circle = |i: i32| {
            let angle = f64::from(i) / f64::from(SIDES) * std::f64::consts::TAU;
            let at = |part: f64| (f64::from(r) * part).round() as i32;
            (at(libm::cos(angle)), at(libm::sin(angle)))
        };
        match self {
            Mark::Circle => (0..SIDES).map(on_circle).collect(),
            Mark::Square => vec![(-side, -side), (side, -side), (side, side), (-side, side)],
            Mark::Triangle => vec![(-wide, r), (0, -wide), (wide, r)],
            Mark::Diamond => vec![(-wide, 0), (0, -wide), (wide, 0), (0, wide)],
            Mark::Wedge => vec![(-wide, -r), (0, wide), (wide, -r)],
        }
    }
}

/// Draws a mark at a point of a chart.
pub(super) fn draw_mark<X, Y>(
    chart: &mut Chart<'_, X, Y>,
    at: (X::ValueType, Y::ValueType),
    mark: Mark,
    radius: i32,
    color: RGBColor,
) -> Drawn
where
    X: Ranged<ValueType: Clone + 'static>,
    Y: Ranged<ValueType: Clone + 'static>,
{
    for shape in mark.shapes(radius, color) {
        chart.draw_series([EmptyElement::at(at.clone()) + shape])?;
    }
    Ok(())
}
