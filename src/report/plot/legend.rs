//! The one legend of a figure, above its data: plotters would put it over them, in one column.

use plotters::element::{Cross, DashedPathElement, EmptyElement, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

use super::figure::{Area, Drawn};
use super::style::{BLACK, Look, MARGIN, TICK_TEXT, WHITE, WIDTH, fitted, text, text_width};

const ROW: u32 = 64;
/// From a key's left end to its name.
const KEY: i32 = 108;
const GAP: u32 = 44;

/// The sign in front of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Line(Look),
    Fill(RGBColor),
    Diamond,
    Cross,
}

/// Entries in a grid of as few rows as they fit into.
pub(super) struct Legend {
    entries: Vec<(Key, String)>,
    column: u32,
    columns: usize,
}

impl Legend {
    pub fn new(entries: impl IntoIterator<Item = (Key, String)>) -> Legend {
        let room = WIDTH - 2 * MARGIN;
        let fit = |name: String| fitted(&name, TICK_TEXT, room - KEY as u32 - GAP);
        let entries: Vec<_> = entries.into_iter().map(|(key, name)| (key, fit(name))).collect();
        let widest = entries.iter().map(|(_, name)| text_width(name, TICK_TEXT)).max().unwrap_or(0);
        let key = |(key, _): &(Key, String)| if matches!(key, Key::Line(_)) { KEY } else { KEY / 2 };
        let column = widest + GAP + entries.iter().map(key).max().unwrap_or(0) as u32;
        let most = (room / column).max(1) as usize;
        let rows = entries.len().div_ceil(most).max(1);
        Legend { columns: entries.len().div_ceil(rows).max(1), column, entries }
    }

    pub fn height(&self) -> u32 {
        self.entries.len().div_ceil(self.columns) as u32 * ROW
    }

    pub fn draw(&self, area: &Area<'_>) -> Drawn {
        let style = text(TICK_TEXT).pos(Pos::new(HPos::Left, VPos::Center));
        let left = (area.dim_in_pixel().0.saturating_sub(self.columns as u32 * self.column - GAP) / 2) as i32;
        for (i, (key, name)) in self.entries.iter().enumerate() {
            let x = left + (i % self.columns) as i32 * self.column as i32;
            let y = (i / self.columns) as i32 * ROW as i32 + ROW as i32 / 2;
            let mut to_name = KEY / 2;
            match *key {
                Key::Line(look) => {
                    to_name = KEY;
                    let style = look.color.stroke_width(look.width);
                    let line = [(x, y), (x + KEY - 18, y)];
                    match look.dash {
                        None => area.draw(&PathElement::new(line, style))?,
                        Some((dash, gap)) => area.draw(&DashedPathElement::new(line, dash, gap, style))?,
                    }
                }
                Key::Fill(color) => {
                    area.draw(&Rectangle::new([(x, y - 18), (x + 36, y + 18)], color.filled()))?;
                }
                Key::Diamond => {
                    let [outer, inner] = diamond(17);
                    area.draw(&(EmptyElement::at((x + 20, y)) + outer + inner))?;
                }
                Key::Cross => {
                    for cross in cross((x + 20, y), 13) {
                        area.draw(&cross)?;
                    }
                }
            }
            area.draw(&Text::new(name.as_str(), (x + to_name, y), &style))?;
        }
        Ok(())
    }
}

/// A measured value's mark, around the point that it is added to.
pub(super) fn diamond(radius: i32) -> [Polygon<(i32, i32)>; 2] {
    let shape =
        |r: i32, color: RGBColor| Polygon::new(vec![(-r, 0), (0, -r), (r, 0), (0, r)], color.filled());
    [shape(radius, BLACK), shape(radius - 6, WHITE)]
}

/// A death's mark, which shows on any colour.
pub(super) fn cross<Coord: Clone>(at: Coord, radius: i32) -> [Cross<Coord, i32>; 2] {
    let width = radius.unsigned_abs() / 2;
    [
        Cross::new(at.clone(), radius + 3, WHITE.stroke_width(2 * width)),
        Cross::new(at, radius, BLACK.stroke_width(width)),
    ]
}
