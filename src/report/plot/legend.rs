//! The one legend of a figure, above its data: plotters would put it over them, in one column.

use plotters::element::{
    Circle, Cross, DashedPathElement, EmptyElement, PathElement, Polygon, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

use super::figure::{Area, Drawn};
use super::mark::{Mark, Shapes};
use super::style::{BLACK, DOWN, Look, MARGIN, TICK_TEXT, WHITE, WIDTH, fitted, text, text_width};

const ROW: u32 = 64;
/// From a key's left end to its name.
const KEY: i32 = 108;
const GAP: u32 = 44;

/// The sign in front of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Line(Look),
    Fill(RGBColor),
    Mark(Mark, RGBColor),
    Diamond,
    Cross,
    Ring,
    Outline,
}

/// A key, its name and the width of both.
type Entry = (Key, String, u32);

pub(super) struct Legend {
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    pub fn new(entries: impl IntoIterator<Item = (Key, String)>) -> Legend {
        let room = WIDTH - 2 * MARGIN;
        let measured = |(key, name): (Key, String)| {
            let name = fitted(&name, TICK_TEXT, room - KEY as u32);
            let width = key.width() as u32 + text_width(&name, TICK_TEXT);
            (key, name, width)
        };
        let entries: Vec<Entry> = entries.into_iter().map(measured).collect();
        let widest = rows(&entries, room);
        // The narrowest of those with as few rows has rows of about the same width.
        let mut even = (1..room / GAP).map(|gaps| rows(&entries, gaps * GAP));
        let even = even.find(|rows| rows.len() == widest.len());
        Legend { rows: even.unwrap_or(widest) }
    }

    pub fn height(&self) -> u32 {
        self.rows.len() as u32 * ROW
    }

    pub fn draw(&self, area: &Area<'_>) -> Drawn {
        for (i, row) in self.rows.iter().enumerate() {
            let y = (i as u32 * ROW + ROW / 2) as i32;
            let mut x = (area.dim_in_pixel().0.saturating_sub(row_width(row)) / 2) as i32;
            for (key, name, width) in row {
                key.draw(area, (x, y))?;
                let style = text(TICK_TEXT).pos(Pos::new(HPos::Left, VPos::Center));
                area.draw(&Text::new(name.as_str(), (x + key.width(), y + DOWN), style))?;
                x += (width + GAP) as i32;
            }
        }
        Ok(())
    }
}

/// As many entries to a row as fit into `room`, and one at least.
fn rows(entries: &[Entry], room: u32) -> Vec<Vec<Entry>> {
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        match rows.last_mut() {
            Some(row) if row_width(row) + GAP + entry.2 <= room => row.push(entry.clone()),
            _ => rows.push(vec![entry.clone()]),
        }
    }
    rows
}

fn row_width(row: &[Entry]) -> u32 {
    row.iter().map(|(.., width)| width + GAP).sum::<u32>().saturating_sub(GAP)
}

impl Key {
    /// To where its name begins.
    fn width(self) -> i32 {
        if matches!(self, Key::Line(_)) { KEY } else { KEY / 2 }
    }

    fn draw(self, area: &Area<'_>, (x, y): (i32, i32)) -> Drawn {
        match self {
            Key::Line(look) => {
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
            Key::Mark(mark, color) => {
                let here = || EmptyElement::at((x + 20, y));
                match mark.shapes(16, color) {
                    Shapes::Circles(circles) => {
                        circles.into_iter().try_for_each(|c| area.draw(&(here() + c)))?
                    }
                    Shapes::Polygons(shapes) => {
                        shapes.into_iter().try_for_each(|s| area.draw(&(here() + s)))?
                    }
                }
            }
            Key::Diamond => {
                let [outer, inner] = diamond(17);
                area.draw(&(EmptyElement::at((x + 20, y)) + outer + inner))?;
            }
            Key::Ring => {
                for ring in ring((x + 20, y), 17) {
                    area.draw(&ring)?;
                }
            }
            Key::Outline => {
                for outline in outline([(x + 3, y - 17), (x + 37, y + 17)]) {
                    area.draw(&outline)?;
                }
            }
            Key::Cross => {
                for cross in cross((x + 20, y), 13) {
                    area.draw(&cross)?;
                }
            }
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

/// What sets a point off from others.
pub(super) fn ring<Coord: Clone>(at: Coord, radius: i32) -> [Circle<Coord, i32>; 2] {
    [(11, WHITE), (5, BLACK)].map(|(width, color)| Circle::new(at.clone(), radius, color.stroke_width(width)))
}

/// The edge of a rectangle, which shows on any colour.
pub(super) fn outline<X: Copy, Y: Copy>([(x0, y0), (x1, y1)]: [(X, Y); 2]) -> [PathElement<(X, Y)>; 2] {
    // Around its first corner twice, or that would be open.
    let edge = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0), (x1, y0)];
    [(10, BLACK), (4, WHITE)].map(|(width, color)| PathElement::new(edge, color.stroke_width(width)))
}

/// A death's mark, which shows on any colour.
pub(super) fn cross<Coord: Clone>(at: Coord, radius: i32) -> [Cross<Coord, i32>; 2] {
    let width = radius.unsigned_abs() / 2;
    [
        Cross::new(at.clone(), radius + 3, WHITE.stroke_width(2 * width)),
        Cross::new(at, radius, BLACK.stroke_width(width)),
    ]
}
