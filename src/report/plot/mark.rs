//! Marks of points, which tell traces apart where colours tell policies.

use plotters::coord::ranged1d::Ranged;
use plotters::element::{Circle, EmptyElement, Polygon};
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

/// A mark around a point, and below it a white rim that sets it off from others.
pub(super) enum Shapes {
    Circles([Circle<(i32, i32), i32>; 2]),
    Polygons([Polygon<(i32, i32)>; 2]),
}

impl Mark {
    /// After the last come the first again.
    pub fn nth(index: usize) -> Mark {
        MARKS[index % MARKS.len()]
    }

    pub fn shapes(self, radius: i32, color: RGBColor) -> Shapes {
        let layers = [(radius + (radius / 5).max(1), WHITE), (radius, color)];
        match self {
            Mark::Circle => Shapes::Circles(layers.map(|(r, color)| Circle::new((0, 0), r, color.filled()))),
            _ => Shapes::Polygons(layers.map(|(r, color)| Polygon::new(self.corners(r), color.filled()))),
        }
    }

    /// Of a polygon about as large to the eye as a circle.
    fn corners(self, r: i32) -> Vec<(i32, i32)> {
        let (wide, side) = (r * 5 / 4, r * 9 / 10);
        match self {
            Mark::Circle | Mark::Square => vec![(-side, -side), (side, -side), (side, side), (-side, side)],
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
    let here = || EmptyElement::at(at.clone());
    match mark.shapes(radius, color) {
        Shapes::Circles(circles) => chart.draw_series(circles.map(|circle| here() + circle))?,
        Shapes::Polygons(polygons) => chart.draw_series(polygons.map(|polygon| here() + polygon))?,
    };
    Ok(())
}
