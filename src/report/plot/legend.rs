//! The one legend of a figure, above its data.

use plotters::style::RGBColor;

use super::figure::{Figure, Point};
use super::style::{BLACK, LINE, Look, MARGIN, TICK_TEXT, WHITE, WIDTH};
use super::text::{Align, fitted, text_width};

const ROW: f64 = 32.0;
const KEY_GAP: f64 = 9.0;
const ENTRY_GAP: f64 = 26.0;

/// The sign in front of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Line(Look),
    Fill(RGBColor),
    Diamond,
    Cross,
}

impl Key {
    fn width(self) -> f64 {
        match self {
            Key::Line(_) => 50.0,
            _ => 20.0,
        }
    }

    fn draw(self, figure: &mut Figure, (x, y): Point) {
        let middle = (x + self.width() / 2.0, y);
        match self {
            Key::Line(look) => {
                figure.path(&[(x, y), (x + self.width(), y)], look.color, look.width, look.dash);
            }
            Key::Fill(color) => figure.rect((x, y - 9.0), (x + 20.0, y + 9.0), color),
            Key::Diamond => diamond(figure, middle, 9.0),
            Key::Cross => figure.cross(middle, 7.0),
        }
    }
}

/// A measured value's mark.
pub(super) fn diamond(figure: &mut Figure, (x, y): Point, radius: f64) {
    for (r, color) in [(radius, BLACK), (radius - LINE.min(radius * 0.4), WHITE)] {
        figure.polygon(vec![(x - r, y), (x, y - r), (x + r, y), (x, y + r)], color);
    }
}

/// Entries in rows, as many to a row as fit.
pub(super) struct Legend {
    rows: Vec<Vec<(Key, String)>>,
}

impl Legend {
    pub fn new(entries: impl IntoIterator<Item = (Key, String)>) -> Legend {
        let room = WIDTH - 2.0 * MARGIN;
        let mut entries: Vec<(Key, String)> = entries
            .into_iter()
            .map(|(key, name)| (key, fitted(&name, TICK_TEXT, room - key.width() - KEY_GAP)))
            .collect();
        let mut rows = Vec::new();
        let fitting = rows_needed(&entries, room);
        // Spread evenly over the rows that are needed at least.
        while !entries.is_empty() {
            let rows_left = fitting.saturating_sub(rows.len()).max(1);
            let mut count = entries.len().div_ceil(rows_left);
            while count > 1 && row_width(&entries[..count]) > room {
                count -= 1;
            }
            let rest = entries.split_off(count);
            rows.push(std::mem::replace(&mut entries, rest));
        }
        Legend { rows }
    }

    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    pub fn draw(&self, figure: &mut Figure, top: f64) {
        for (i, row) in self.rows.iter().enumerate() {
            let y = top + (i as f64 + 0.5) * ROW;
            let mut x = (WIDTH - row_width(row)) / 2.0;
            for (key, name) in row {
                key.draw(figure, (x, y));
                x += key.width() + KEY_GAP;
                figure.text(name, (x, y), TICK_TEXT, Align::Left);
                x += text_width(name, TICK_TEXT) + ENTRY_GAP;
            }
        }
    }
}

fn entry_width((key, name): &(Key, String)) -> f64 {
    key.width() + KEY_GAP + text_width(name, TICK_TEXT)
}

fn row_width(row: &[(Key, String)]) -> f64 {
    row.iter().map(entry_width).sum::<f64>() + ENTRY_GAP * row.len().saturating_sub(1) as f64
}

fn rows_needed(entries: &[(Key, String)], room: f64) -> usize {
    let mut rows = 1;
    let mut used = 0.0;
    for entry in entries {
        let width = entry_width(entry);
        if used > 0.0 && used + ENTRY_GAP + width > room {
            rows += 1;
            used = 0.0;
        }
        used += if used > 0.0 { ENTRY_GAP + width } else { width };
    }
    rows
}
