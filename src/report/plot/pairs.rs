use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::style::RGBColor;

use super::figure::{
    Area, Drawn, Figure, RIGHT, TITLE, X_LABELS, X_NUMBERS, Y_LABELS, builder, draw_empty, draw_line, mesh,
    number, titled, usable,
};
use super::legend::Key;
use super::log::log_axis;
use super::mark::{Mark, draw_mark};
use super::style::{AXIS, BLACK, Look, MARGIN, WIDTH, distinct, looks, tint};

/// Something measured, and simulated over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub policy: String,
    pub trace: String,
    pub measured: f64,
    /// Lower end of the interval, median, upper end.
    pub simulated: [f64; 3],
}

/// The pairs of one chart.
#[derive(Debug, Clone, PartialEq)]
pub struct PairPanel {
    pub title: String,
    pub pairs: Vec<Pair>,
}

/// Space above a chart's frame.
const TOP: u32 = 32;

/// Simulated over measured hours of whole runs, a chart each with its own axes. Colours are policies, marks traces.
pub fn agreement(panels: &[PairPanel]) -> Figure {
    let (policies, traces) = (names(panels, |pair| &pair.policy), names(panels, |pair| &pair.trace));
    let colors = colors(&policies);
    let keys = policies.iter().zip(&colors).map(|(name, color)| (Key::Fill(*color), (*name).to_owned()));
    let marks = traces.iter().enumerate();
    let marks = marks.map(|(i, name)| (Key::Mark(Mark::nth(i), BLACK), (*name).to_owned()));
    let columns = 2;
    let width = (WIDTH - 2 * MARGIN) / columns;
    let row = TITLE + TOP + (width - Y_LABELS - RIGHT) + X_LABELS;
    let rows = (panels.len() as u32).div_ceil(columns).max(1);
    Figure::draw(keys.chain(marks), rows * row, |area| {
        let areas = area.split_evenly((rows as usize, columns as usize));
        for (panel, area) in panels.iter().zip(&areas) {
            let area = titled(area, Y_LABELS, &panel.title)?;
            let (low, high) = limits(panel.pairs.iter());
            let margin = 0.04 * (high - low).max(0.1 * high);
            let axis = || (low - margin).max(0.0)..usable(high + margin);
            let place = Place { left: Y_LABELS, bottom: X_LABELS, outer: (true, true), radius: 12 };
            let look = |pair: &Pair| {
                (colors[index(&policies, &pair.policy)], Mark::nth(index(&traces, &pair.trace)))
            };
            draw_pairs(&area, axis(), axis(), &place, &panel.pairs, &look)?;
        }
        if panels.iter().all(|panel| panel.pairs.is_empty()) { draw_empty(area) } else { Ok(()) }
    })
}

/// Simulated over measured hours of jobs on logarithmic axes that all charts share. Colours and marks are traces.
pub fn job_agreement(panels: &[PairPanel]) -> Figure {
    let traces = names(panels, |pair| &pair.trace);
    let colors = colors(&traces);
    let look = |pair: &Pair| {
        let trace = index(&traces, &pair.trace);
        (colors[trace], Mark::nth(trace))
    };
    let keys = traces.iter().enumerate();
    let keys = keys.map(|(i, name)| (Key::Mark(Mark::nth(i), colors[i]), (*name).to_owned()));
    let columns = 3;
    let width = (WIDTH - 2 * MARGIN - Y_LABELS) / columns;
    let row = TITLE + TOP + (width - RIGHT);
    let rows = (panels.len() as u32).div_ceil(columns).max(1);
    let (low, high) = limits(panels.iter().flat_map(|panel| &panel.pairs));
    let height = rows * row + (rows - 1) * X_NUMBERS + X_LABELS;
    Figure::draw(keys, height, |area| {
        let mut rest = area.clone();
        for (i, of_row) in panels.chunks(columns as usize).enumerate() {
            let last = i as u32 + 1 == rows;
            let bottom = if last { X_LABELS } else { X_NUMBERS };
            let (mut strip, below) = rest.split_vertically(row + bottom);
            for (k, panel) in of_row.iter().enumerate() {
                let left = if k == 0 { Y_LABELS } else { 0 };
                let (area, beside) = strip.split_horizontally(left + width);
                let area = titled(&area, left, &panel.title)?;
                let axis = || log_axis(low, high, 4);
                let place = Place { left, bottom, outer: (last, k == 0), radius: 7 };
                draw_pairs(&area, axis(), axis(), &place, &panel.pairs, &look)?;
                strip = beside;
            }
            rest = below;
        }
        if panels.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

/// Where a chart stands in its figure.
struct Place {
    left: u32,
    bottom: u32,
    /// Whether the axes are named: x, y.
    outer: (bool, bool),
    /// Of marks.
    radius: i32,
}

fn draw_pairs<A>(
    area: &Area<'_>,
    x: A,
    y: A,
    place: &Place,
    pairs: &[Pair],
    look: &dyn Fn(&Pair) -> (RGBColor, Mark),
) -> Drawn
where
    A: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
{
    let mut chart = builder(area, place.left, place.bottom).build_cartesian_2d(x, y)?;
    let (x_range, y_range) = (chart.x_range(), chart.y_range());
    let mut style = mesh(&mut chart);
    style.x_labels(6).y_labels(6).x_label_formatter(&number).y_label_formatter(&number);
    if place.outer.0 {
        style.x_desc("measured [h]");
    }
    if place.outer.1 {
        style.y_desc("simulated [h]");
    }
    style.draw()?;
    let identity = vec![(x_range.start, y_range.start), (x_range.end, y_range.end)];
    draw_line(&mut chart, identity, Look { color: AXIS, dash: Some((16, 12)), width: 4 })?;
    let drawn = || pairs.iter().filter(|pair| is_drawn(pair));
    for pair in drawn() {
        let [low, _, high] = pair.simulated;
        let width = (place.radius / 2).max(3) as u32;
        let color = tint(look(pair).0, 0.7);
        draw_line(
            &mut chart,
            vec![(pair.measured, low), (pair.measured, high)],
            Look { color, dash: None, width },
        )?;
    }
    for pair in drawn() {
        let (color, mark) = look(pair);
        draw_mark(&mut chart, (pair.measured, pair.simulated[1]), mark, place.radius, color)?;
    }
    Ok(())
}

/// Values that have a place on any axis.
fn is_drawn(pair: &Pair) -> bool {
    pair.simulated.iter().chain([&pair.measured]).all(|value| *value > 1e-100 && *value < 1e100)
}

/// Smallest and largest of all values that are drawn.
fn limits<'a>(pairs: impl Iterator<Item = &'a Pair>) -> (f64, f64) {
    let drawn = pairs.filter(|pair| is_drawn(pair));
    let of_pair = |pair: &Pair| {
        let [low, _, high] = pair.simulated;
        (low.min(pair.measured), high.max(pair.measured))
    };
    let widen = |(low, high): (f64, f64), (a, b): (f64, f64)| (low.min(a), high.max(b));
    let (low, high) = drawn.map(of_pair).fold((f64::INFINITY, 0.0), widen);
    if low <= high { (low, high) } else { (1.0, 10.0) }
}

/// In the order of their first pair.
pub(super) fn names<'a>(panels: &'a [PairPanel], name: impl Fn(&'a Pair) -> &'a String) -> Vec<&'a str> {
    distinct(panels.iter().flat_map(|panel| &panel.pairs).map(|pair| name(pair).as_str()))
}

pub(super) fn index(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(0)
}

pub(super) fn colors(names: &[&str]) -> Vec<RGBColor> {
    looks(names.iter().copied()).into_iter().map(|look| look.color).collect()
}

#[cfg(test)]
mod tests {
    use super::super::errors;
    use super::*;

    #[test]
    fn any_pairs_are_drawn() {
        let pair =
            |measured, simulated| Pair { policy: "<p>".into(), trace: "t\u{1}".into(), measured, simulated };
        let cases = [
            vec![],
            vec![pair(1.0, [1.0; 3])],
            vec![pair(0.0, [0.0; 3]), pair(f64::NAN, [1.0, f64::NAN, 1e300])],
            vec![pair(1e-6, [1e9; 3]), pair(3.0, [2.0, 4.0, 3.0])],
        ];
        for pairs in cases {
            let panels = vec![PairPanel { title: "a & b".into(), pairs }; 4];
            for panels in [&panels[..], &panels[..0]] {
                for figure in [agreement(panels), job_agreement(panels), errors(panels)] {
                    assert!(figure.png().is_ok());
                }
            }
        }
    }

    #[test]
    fn limits_take_in_intervals_and_leave_out_what_is_not_drawn() {
        let pair =
            |measured, simulated| Pair { policy: String::new(), trace: String::new(), measured, simulated };
        let pairs = [pair(2.0, [3.0, 4.0, 5.0]), pair(0.0, [9.0; 3])];
        assert_eq!(limits(pairs.iter()), (2.0, 5.0));
    }
}
