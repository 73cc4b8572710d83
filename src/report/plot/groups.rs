//! Axes of words: a group for each, with its name below.

use plotters::coord::combinators::WithKeyPoints;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordi32;
use plotters::element::{PathElement, Text};
use plotters::prelude::BindKeyPoints;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform};

use super::figure::{Area, Chart, Drawn, UNIT, X_NUMBERS};
use super::style::{AXIS, TICK_TEXT, fitted, text, text_width};

/// Longest name that reads upwards.
const UPRIGHT: u32 = 440;
/// Between names side by side.
const APART: u32 = 20;

type Axis = WithKeyPoints<RangedCoordi32>;

pub(super) struct Groups {
    names: Vec<String>,
    upright: bool,
}

impl Groups {
    /// On an axis `width` pixels long, with names cut to their groups.
    pub fn cut<'a>(names: impl IntoIterator<Item = &'a str>, width: u32) -> Groups {
        let names: Vec<&str> = names.into_iter().collect();
        let room = (width / names.len().max(1) as u32).saturating_sub(APART);
        Groups { names: names.iter().map(|name| fitted(name, TICK_TEXT, room)).collect(), upright: false }
    }

    /// The same, with names that read upwards where one is wider than its group.
    pub fn turned<'a>(names: impl IntoIterator<Item = &'a str>, width: u32) -> Groups {
        let names: Vec<String> = names.into_iter().map(|name| fitted(name, TICK_TEXT, UPRIGHT)).collect();
        let room = f64::from(width) / names.len().max(1) as f64 - f64::from(APART);
        let mut groups = Groups { names, upright: false };
        groups.upright = f64::from(groups.widest()) > room;
        groups
    }

    fn widest(&self) -> u32 {
        self.names.iter().map(|name| text_width(name, TICK_TEXT)).max().unwrap_or(0)
    }

    /// Of the names.
    pub fn height(&self) -> u32 {
        if self.upright { 40 + self.widest() } else { X_NUMBERS }
    }

    /// One at least.
    pub fn count(&self) -> i32 {
        self.names.len().max(1) as i32
    }

    /// Whole, in [`UNIT`]s to a group, with a key point in the middle of each.
    pub fn axis(&self) -> Axis {
        let middles = (0..self.count()).map(|i| i * UNIT + UNIT / 2).collect();
        (0..self.count() * UNIT).with_key_points(middles)
    }

    /// What plotters writes below a key point. It would centre a name that reads upwards on the axis.
    pub fn name(&self, x: &i32) -> String {
        let name = self.names.get((x / UNIT) as usize).filter(|_| !self.upright);
        name.cloned().unwrap_or_default()
    }

    /// Length of the ticks on the axis.
    pub fn tick(&self) -> i32 {
        if self.upright { 0 } else { 10 }
    }

    /// Names that read upwards, below an axis at the height `bottom`.
    pub fn draw_upright<Y: Ranged<ValueType: Copy>>(
        &self,
        area: &Area<'_>,
        chart: &Chart<'_, Axis, Y>,
        bottom: Y::ValueType,
    ) -> Drawn {
        let style = text(TICK_TEXT).transform(FontTransform::Rotate270);
        let style = style.pos(Pos::new(HPos::Right, VPos::Center));
        let (left, top) = area.get_base_pixel();
        for (i, name) in self.names.iter().enumerate().filter(|_| self.upright) {
            let (x, y) = chart.backend_coord(&(i as i32 * UNIT + UNIT / 2, bottom));
            area.draw(&Text::new(name.as_str(), (x - left, y - top + 20), &style))?;
        }
        Ok(())
    }

    /// Lines between groups.
    pub fn draw_dividers<Y: Ranged<ValueType: Copy + 'static>>(
        &self,
        chart: &mut Chart<'_, Axis, Y>,
    ) -> Drawn {
        let range = chart.y_range();
        let line = |i: i32| [(i * UNIT, range.start), (i * UNIT, range.end)];
        let lines = (1..self.count()).map(|i| PathElement::new(line(i), AXIS.stroke_width(3)));
        chart.draw_series(lines)?;
        Ok(())
    }
}
