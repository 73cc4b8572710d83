use std::ops::Range;

use plotters::chart::LabelAreaPosition;
use plotters::element::{EmptyElement, Rectangle, Text};
use plotters::prelude::BindKeyPoints;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

use super::figure::{
    Area, Drawn, Figure, RIGHT, TITLE, UNIT, X_LABELS, X_NUMBERS, around, builder, draw_empty, in_units,
    mesh, number, placed, titled,
};
use super::legend::{Key, diamond, outline};
use super::style::{DOWN, LABEL_TEXT, MARGIN, TICK_TEXT, WIDTH, fitted, text, text_width};

/// Of a cell, below which fewer maps stand side by side.
const NARROW: u32 = 14;
/// Of a map without its title and names, if its cells are square within these.
const HEIGHTS: Range<u32> = 380..860;
/// Space above a map and above the bar of colours.
const TOP: u32 = 32;
const BAR: u32 = 44;
/// From the edge of a cell to the middle of its outline, which leaves small cells to be seen.
const OUTSIDE: f64 = 4.0;
/// Longest name beside a map.
const BESIDE: u32 = 280;
const MISSING: RGBColor = RGBColor(0xd2, 0xd2, 0xd2);

/// Viridis, which colour-blind readers and grey printers keep in order.
const SCALE: [(u8, u8, u8); 11] = [
    (0x44, 0x01, 0x54),
    (0x48, 0x24, 0x75),
    (0x41, 0x44, 0x87),
    (0x35, 0x5f, 0x8d),
    (0x2a, 0x78, 0x8e),
    (0x21, 0x91, 0x8c),
    (0x22, 0xa8, 0x84),
    (0x44, 0xbf, 0x70),
    (0x7a, 0xd1, 0x51),
    (0xbd, 0xdf, 0x26),
    (0xfd, 0xe7, 0x25),
];

/// The values of a parameter, from left to right or from the bottom up.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatAxis {
    pub label: String,
    pub names: Vec<String>,
    pub default: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeatPanel {
    pub title: String,
    /// By place on the vertical axis, then on the horizontal one.
    pub values: Vec<Vec<f64>>,
    /// Cells of settings that give up more jobs than others, by the same places: none of them is the best.
    pub unranked: Vec<(usize, usize)>,
}

/// Which cells of a map are marked as the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    Lowest,
    Highest,
    /// There is no better and worse.
    None,
}

/// What two parameters do to a figure: a map per panel, on axes and a scale of colours that all share; `label` is of
/// the scale. Cells as good as the best of their map are marked. What is no number is grey.
pub fn heat_maps(x: &HeatAxis, y: &HeatAxis, panels: &[HeatPanel], label: &str, best: Best) -> Figure {
    let layout = Layout::new(x, y, panels.len());
    let maps: Vec<Map> = panels.iter().map(|panel| Map::new(x, y, panel, best)).collect();
    let cells = || maps.iter().flat_map(|map| &map.cells).map(|(.., value)| *value);
    let values = || cells().flatten();
    let default = x.default().zip(y.default());
    let some = maps.iter().any(|map| !map.cells.is_empty());
    let keys = [
        (default.is_some() && some).then_some((Key::Outline, "default")),
        values().next().and(match best {
            Best::Lowest => Some((Key::Diamond, "lowest")),
            Best::Highest => Some((Key::Diamond, "highest")),
            Best::None => None,
        }),
        cells().any(|value| value.is_none()).then_some((Key::Fill(MISSING), "no value")),
    ];
    let some_unranked = panels.iter().any(|panel| !panel.unranked.is_empty());
    let keys = keys.into_iter().flatten().map(|(key, name)| match key {
        Key::Diamond if some_unranked => (key, format!("{name} of those that give up fewest jobs")),
        _ => (key, name.to_owned()),
    });
    let scale = scale(values);
    let rows = panels.len().div_ceil(layout.columns).max(1) as u32;
    let height = rows * layout.row() + (X_LABELS - X_NUMBERS) + TOP + BAR + X_LABELS;
    Figure::draw(keys, height, |area| {
        let mut rest = area.clone();
        for of_row in maps.chunks(layout.columns) {
            let (mut strip, below) = rest.split_vertically(layout.row());
            for (k, map) in of_row.iter().enumerate() {
                let left = if k == 0 { layout.left } else { 0 };
                let (area, beside) = strip.split_horizontally(left + layout.width);
                let area = titled(&area, left, map.title)?;
                draw_map(&area, left, &layout, [x, y], map, &scale, default)?;
                strip = beside;
            }
            rest = below;
        }
        let middle = (layout.left + rest.dim_in_pixel().0.saturating_sub(RIGHT)) as i32 / 2;
        let style = text(LABEL_TEXT).pos(Pos::new(HPos::Center, VPos::Center));
        let room = (X_LABELS - X_NUMBERS) as i32;
        rest.draw(&Text::new(
            fitted(&x.label, LABEL_TEXT, WIDTH - 2 * MARGIN),
            (middle, room / 2 + DOWN),
            style,
        ))?;
        draw_scale(&rest.split_vertically(room).1, layout.left, &scale, label)?;
        if some { Ok(()) } else { draw_empty(area) }
    })
}

impl HeatAxis {
    fn default(&self) -> Option<usize> {
        self.default.filter(|default| *default < self.names.len())
    }

    fn name(&self, at: &i32, room: u32) -> String {
        self.names.get((at / UNIT) as usize).map_or(String::new(), |name| fitted(name, TICK_TEXT, room))
    }
}

struct Layout {
    columns: usize,
    /// Of what is beside the first map of a row.
    left: u32,
    /// Of a map with the space to its right.
    width: u32,
    /// Of a map alone.
    height: u32,
    /// Places of the names that have room: x, y.
    named: [Vec<i32>; 2],
}

impl Layout {
    fn new(x: &HeatAxis, y: &HeatAxis, count: usize) -> Layout {
        let widest =
            |axis: &HeatAxis| axis.names.iter().map(|name| text_width(name, TICK_TEXT)).max().unwrap_or(0);
        let left = widest(y).min(BESIDE) + 110;
        let width = |columns: usize| (WIDTH - 2 * MARGIN - left) / columns as u32;
        let (nx, ny) = (x.names.len().max(1) as u32, y.names.len().max(1) as u32);
        let most = if count == 4 { 2 } else { count.clamp(1, 3) };
        let columns = (1..=most).rev().find(|columns| width(*columns) - RIGHT >= nx * NARROW).unwrap_or(1);
        let width = width(columns);
        let map = width - RIGHT;
        let height =
            ((u64::from(map) * u64::from(ny) / u64::from(nx)) as u32).clamp(HEIGHTS.start, HEIGHTS.end);
        let named = [named(x.names.len(), map, widest(x) + 24), named(y.names.len(), height, 60)];
        Layout { columns, left, width, height, named }
    }

    /// Width and height of a cell.
    fn cell(&self, [x, y]: [&HeatAxis; 2]) -> [f64; 2] {
        [(self.width - RIGHT, x), (self.height, y)]
            .map(|(length, axis)| f64::from(length) / axis.names.len().max(1) as f64)
    }

    fn row(&self) -> u32 {
        TITLE + TOP + self.height + X_NUMBERS
    }
}

/// Places of names on an axis: of all, every second, fifth, tenth and so on, with room for each.
fn named(count: usize, length: u32, room: u32) -> Vec<i32> {
    let fits = |every: &usize| *every as f64 * f64::from(length) >= f64::from(room) * count as f64;
    let every = (0..).flat_map(|decade| [1, 2, 5].map(|step| step * 10usize.saturating_pow(decade)));
    let every = every.take(20).find(fits).unwrap_or(usize::MAX);
    (0..count).step_by(every).map(|i| i as i32 * UNIT + UNIT / 2).collect()
}

struct Map<'a> {
    title: &'a str,
    /// With their places on the axes.
    cells: Vec<(usize, usize, Option<f64>)>,
    /// The best of them.
    marked: Vec<(usize, usize)>,
}

impl Map<'_> {
    fn new<'a>(x: &HeatAxis, y: &HeatAxis, panel: &'a HeatPanel, best: Best) -> Map<'a> {
        let value =
            |i: usize, k: usize| panel.values.get(k).and_then(|row| row.get(i)).copied().filter(placed);
        let places = (0..y.names.len()).flat_map(|k| (0..x.names.len()).map(move |i| (i, k)));
        let cells: Vec<_> = places.map(|(i, k)| (i, k, value(i, k))).collect();
        let ranked: Vec<_> = cells.iter().filter(|(i, k, _)| !panel.unranked.contains(&(*k, *i))).collect();
        let values = ranked.iter().filter_map(|(.., value)| *value);
        let best = match best {
            Best::Lowest => values.fold(f64::INFINITY, f64::min),
            Best::Highest => values.fold(f64::NEG_INFINITY, f64::max),
            Best::None => f64::NAN,
        };
        let marked =
            ranked.iter().filter(|(.., value)| *value == Some(best)).map(|(i, k, _)| (*i, *k)).collect();
        Map { title: &panel.title, cells, marked }
    }
}

/// From the lowest to the highest value, or about the only one.
fn scale<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> Range<f64> {
    let scale = around(values(), 0.0);
    let wide = scale.end - scale.start > 1e-9 * scale.start.abs().max(scale.end.abs()).max(1e-9);
    if wide { scale } else { around(values(), 1.0) }
}

fn color(share: f64) -> RGBColor {
    let last = SCALE.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last - 1);
    let part = at - below as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    let (a, b) = (SCALE[below], SCALE[below + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

fn draw_map(
    area: &Area<'_>,
    left: u32,
    layout: &Layout,
    [x, y]: [&HeatAxis; 2],
    map: &Map<'_>,
    scale: &Range<f64>,
    default: Option<(usize, usize)>,
) -> Drawn {
    let [named_x, named_y] = layout.named.clone();
    let axis = |axis: &HeatAxis| 0..axis.names.len().max(1) as i32 * UNIT;
    let mut chart = builder(area, left, X_NUMBERS)
        .build_cartesian_2d(axis(x).with_key_points(named_x), axis(y).with_key_points(named_y))?;
    let (x_name, y_name) = (|at: &i32| x.name(at, layout.width), |at: &i32| y.name(at, BESIDE));
    let mut style = mesh(&mut chart);
    style.disable_mesh().x_label_formatter(&x_name).y_label_formatter(&y_name);
    if left > 0 {
        style.y_desc(fitted(&y.label, LABEL_TEXT, layout.height + 2 * X_NUMBERS));
    } else {
        style.set_tick_mark_size(LabelAreaPosition::Left, 0);
    }
    style.draw()?;
    let corners = |i: usize, k: usize| {
        let (x, y) = (i as i32 * UNIT, k as i32 * UNIT);
        [(x, y), (x + UNIT, y + UNIT)]
    };
    let cell = |(i, k, value): &(usize, usize, Option<f64>)| {
        let share = |value: f64| (value - scale.start) / (scale.end - scale.start);
        let color = value.map_or(MISSING, |value| color(share(value)));
        Rectangle::new(corners(*i, *k), color.filled())
    };
    chart.draw_series(map.cells.iter().map(cell))?;
    let cell = layout.cell([x, y]);
    if let Some((i, k)) = default {
        let [(left, low), (right, high)] = corners(i, k);
        let [x, y] = cell.map(|pixels| in_units(OUTSIDE / pixels));
        chart.draw_series(outline([(left - x, low - y), (right + x, high + y)]))?;
    }
    let radius = (cell[0].min(cell[1]) * 0.34).clamp(14.0, 18.0) as i32;
    for (i, k) in &map.marked {
        let [(x, y), _] = corners(*i, *k);
        let [outer, inner] = diamond(radius);
        chart.draw_series([EmptyElement::at((x + UNIT / 2, y + UNIT / 2)) + outer + inner])?;
    }
    Ok(())
}

/// The bar of colours.
fn draw_scale(area: &Area<'_>, left: u32, scale: &Range<f64>, label: &str) -> Drawn {
    let mut chart = builder(area, left, X_LABELS).build_cartesian_2d(scale.clone(), 0.0..1.0)?;
    let steps = 200;
    let step = |i: i32| {
        let at = |i: i32| scale.start + (scale.end - scale.start) * f64::from(i) / f64::from(steps);
        let color = color((f64::from(i) + 0.5) / f64::from(steps));
        Rectangle::new([(at(i), 0.0), (at(i + 1), 1.0)], color.filled())
    };
    chart.draw_series((0..steps).map(step))?;
    let mut style = mesh(&mut chart);
    style.disable_mesh().disable_y_axis().x_label_formatter(&number).x_desc(label).draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(count: usize, default: Option<usize>) -> HeatAxis {
        HeatAxis {
            label: "<a>\u{1}".into(),
            names: (0..count).map(|i| format!("{i}\u{0}")).collect(),
            default,
        }
    }

    #[test]
    fn any_values_are_drawn() {
        let odd = vec![vec![f64::NAN, 1e300, -1e99, 1.0], vec![], vec![0.0, f64::INFINITY]];
        let near = vec![vec![1.0, 1.0 + f64::EPSILON], vec![1.0]];
        for values in [vec![], vec![vec![1e-300; 3]; 3], odd, near] {
            let panel = HeatPanel { title: "t & u\u{1}".into(), values, unranked: vec![(0, 0)] };
            for (nx, ny) in [(0, 0), (1, 1), (3, 2), (70, 1), (1, 70)] {
                for count in 0..5 {
                    let panels = vec![panel.clone(); count];
                    let figure =
                        heat_maps(&axis(nx, Some(0)), &axis(ny, Some(9)), &panels, "z [h]", Best::Lowest);
                    assert!(figure.svg().is_ok());
                }
            }
            assert!(
                heat_maps(&axis(2, Some(1)), &axis(2, Some(0)), &[panel], "z", Best::Lowest).png().is_ok()
            );
        }
    }

    #[test]
    fn names_are_thinned_out_to_those_with_room() {
        let every =
            |count, length| -> Vec<i32> { named(count, length, 60).iter().map(|at| at / UNIT).collect() };
        assert_eq!(every(3, 180), [0, 1, 2]);
        assert_eq!(every(3, 179), [0, 2]);
        assert_eq!(every(11, 300), [0, 5, 10]);
        assert_eq!(every(4, 0), [0]);
        assert!(every(0, 100).is_empty());
    }

    #[test]
    fn every_cell_as_good_as_the_best_is_marked() {
        let values = vec![vec![2.0, f64::NAN], vec![1.0, 1.0]];
        let panel = HeatPanel { title: String::new(), values, unranked: Vec::new() };
        for (best, marks, says) in
            [(Best::Lowest, 3, "lowest"), (Best::Highest, 2, "highest"), (Best::None, 0, "no value")]
        {
            let panels = [panel.clone()];
            let svg = heat_maps(&axis(2, None), &axis(2, None), &panels, "z", best).svg().unwrap().to_owned();
            // Two shapes to a mark, of which the legend has one.
            assert_eq!(svg.matches("<polygon").count(), 2 * marks);
            assert!(svg.contains(says) && svg.contains("no value") && !svg.contains("default"));
        }
        let panels = [HeatPanel { unranked: vec![(1, 1)], ..panel }];
        let svg =
            heat_maps(&axis(2, None), &axis(2, None), &panels, "z", Best::Lowest).svg().unwrap().to_owned();
        assert_eq!(svg.matches("<polygon").count(), 2 * 2);
    }

    #[test]
    fn colours_run_from_end_to_end() {
        assert_eq!([color(-1.0), color(0.0)], [RGBColor(0x44, 0x01, 0x54); 2]);
        assert_eq!([color(1.0), color(9.0)], [RGBColor(0xfd, 0xe7, 0x25); 2]);
        assert_eq!(color(0.05), RGBColor(0x46, 0x13, 0x65));
    }
}
