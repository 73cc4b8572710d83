use std::ops::Range;

use plotters::chart::LabelAreaPosition;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::element::Rectangle;
use plotters::style::Color;

use super::figure::{
    Area, CHART, Drawn, Figure, UNIT, X_LABELS, X_NUMBERS, Y_LABELS, around, builder, draw_empty, draw_line,
    in_units, mesh, number, placed,
};
use super::groups::Groups;
use super::interval::{Run, across, draw_band, draw_bar, draw_means};
use super::legend::Key;
use super::log::log_axis_at;
use super::mark::{Mark, draw_mark};
use super::stack::Stack;
use super::style::{AXIS, BLACK, LABEL_TEXT, Look, distinct, looks, text_width, tint};

/// Of a chart without its title and what is below.
const HEIGHT: u32 = 420;
const DEFAULT: Look = Look { color: AXIS, dash: Some((10, 10)), width: 4 };
/// How much remains of the colour of the strip behind a default.
const STRIP: f64 = 0.09;
/// Means are marked where they are no more than this.
const MARKED: usize = 15;
/// Of a group's width: what marks side by side take together, and from one to the next at most.
const FILL: f64 = 0.8;
const ASIDE: f64 = 0.24;

/// What a parameter does to a figure, on one chart.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePanel {
    pub title: String,
    /// Of the vertical axis.
    pub label: String,
    pub series: Vec<LineSeries>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    pub name: String,
    pub line: Line,
}

/// Values are the lower end of the interval, the mean and the upper end.
///
/// A mean that is no number is left out, as are ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A value for each of the axis. The line has a gap where one is left out.
    Over(Vec<[f64; 3]>),
    /// The same of a line that was only ever to have values at some of the axis: it goes on between them.
    Sparse(Vec<[f64; 3]>),
    /// The parameter has no part in it.
    Level([f64; 3]),
}

/// The values of a parameter. Charts share them.
#[derive(Debug, Clone, PartialEq)]
pub enum XAxis {
    /// In any order.
    Numbers {
        label: String,
        values: Vec<f64>,
        log: bool,
        default: Option<f64>,
    },
    Words {
        label: String,
        names: Vec<String>,
        default: Option<usize>,
    },
}

/// Means over a parameter with their intervals: a chart per panel. Numbers have lines with bands, words marks with
/// bars. Colours are names of series.
pub fn lines(x: &XAxis, panels: &[LinePanel]) -> Figure {
    let names = distinct(panels.iter().flat_map(|panel| &panel.series).map(|series| series.name.as_str()));
    let looks = looks(names.iter().copied());
    let tracks = |panel: &'_ LinePanel| -> Vec<Track> {
        let track = |series: &LineSeries| {
            let index = names.iter().position(|name| *name == series.name).unwrap_or(0);
            Track::new(&series.line, index, looks[index])
        };
        panel.series.iter().map(track).collect()
    };
    let charts: Vec<(&LinePanel, Vec<Track>)> = panels.iter().map(|panel| (panel, tracks(panel))).collect();
    match x {
        XAxis::Numbers { label, values, log, default } => {
            let drawn = |x: &f64| placed(x) && (!log || *x > 1e-100);
            let xs = values.iter().copied().enumerate().filter(|(_, x)| drawn(x));
            let mut numbers = Numbers { label, xs: xs.collect(), default: default.filter(drawn) };
            numbers.xs.sort_by(|(_, a), (_, b)| a.total_cmp(b));
            let keys = looks.iter().map(|look| Key::Line(*look));
            let default = numbers.default.map(|_| Key::Line(DEFAULT));
            let ends = || numbers.xs.iter().map(|(_, x)| *x).chain(numbers.default);
            draw(keys, &names, default, &charts, X_LABELS, |area, panel, tracks, bottom| {
                if *log {
                    let chosen: Vec<f64> = ends().collect();
                    draw_numbers(area, bottom, log_axis_at(&chosen, 8), &numbers, panel, tracks)
                } else {
                    draw_numbers(area, bottom, around(ends(), 0.03), &numbers, panel, tracks)
                }
            })
        }
        XAxis::Words { label, names: words, default } => {
            let marked = |i: &usize| {
                let mut tracks = charts.iter().flat_map(|(_, tracks)| tracks);
                tracks.any(|track| track.index == *i && track.level.is_none())
            };
            let words = Words {
                label,
                groups: Groups::turned(words.iter().map(String::as_str), CHART),
                marked: (0..names.len()).filter(marked).collect(),
                default: default.filter(|default| *default < words.len()),
            };
            let keys = looks.iter().enumerate().map(|(i, look)| match words.marked.contains(&i) {
                true => Key::Mark(Mark::nth(i), look.color),
                false => Key::Line(*look),
            });
            let default = words.default.map(|_| Key::Fill(tint(BLACK, STRIP)));
            let below = words.groups.height() + if label.is_empty() { 0 } else { X_LABELS - X_NUMBERS };
            draw(keys, &names, default, &charts, below, |area, panel, tracks, bottom| {
                draw_words(area, bottom, &words, panel, tracks)
            })
        }
    }
}

/// The legend and the charts, `below` pixels above the figure's end.
fn draw(
    keys: impl Iterator<Item = Key>,
    names: &[&str],
    default: Option<Key>,
    charts: &[(&LinePanel, Vec<Track>)],
    below: u32,
    chart: impl Fn(&Area<'_>, &LinePanel, &[Track], u32) -> Drawn,
) -> Figure {
    let keys = keys.zip(names.iter().map(|name| (*name).to_owned()));
    let default = default.map(|key| (key, "default".to_owned()));
    // A long label needs a chart that it fits beside.
    let labels = charts.iter().map(|(panel, _)| text_width(&panel.label, LABEL_TEXT) + 20);
    let stack = Stack { chart: labels.fold(HEIGHT, u32::max).min(2 * HEIGHT), below: 0, last: below };
    Figure::draw(keys.chain(default), stack.height(charts.len()), |area| {
        stack.draw(
            area,
            charts,
            |(panel, _)| &panel.title,
            |area, (panel, tracks), bottom, _| {
                chart(area, panel, tracks, bottom)?;
                if tracks.iter().all(Track::is_empty) { draw_empty(area) } else { Ok(()) }
            },
        )?;
        if charts.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

/// What is drawn of a series.
struct Track {
    /// Of its name.
    index: usize,
    look: Look,
    level: Option<[f64; 3]>,
    over: Vec<Option<[f64; 3]>>,
    sparse: bool,
}

impl Track {
    fn new(line: &Line, index: usize, look: Look) -> Track {
        let drawn = |[low, mean, high]: [f64; 3]| {
            let end = |end: f64| if placed(&end) { end } else { mean };
            placed(&mean).then(|| [end(low), mean, end(high)])
        };
        let sparse = matches!(line, Line::Sparse(_));
        let (level, over) = match line {
            Line::Level(value) => (drawn(*value), vec![]),
            Line::Over(values) | Line::Sparse(values) => (None, values.iter().copied().map(drawn).collect()),
        };
        Track { index, look, level, over, sparse }
    }

    fn values(&self) -> impl Iterator<Item = [f64; 3]> {
        self.over.iter().chain([&self.level]).copied().flatten()
    }

    fn is_empty(&self) -> bool {
        self.values().next().is_none()
    }

    fn get(&self, index: usize) -> Option<[f64; 3]> {
        self.over.get(index).copied().flatten()
    }
}

fn y_axis(tracks: &[Track]) -> Range<f64> {
    around(tracks.iter().flat_map(Track::values).flatten(), 0.08)
}

struct Numbers<'a> {
    label: &'a str,
    /// With their places among all, ascending.
    xs: Vec<(usize, f64)>,
    default: Option<f64>,
}

impl Numbers<'_> {
    fn runs(&self, track: &Track) -> Vec<Run<f64>> {
        let values = self.xs.iter().map(|(i, x)| track.get(*i).map(|value| (*x, value)));
        let values: Vec<_> = values.filter(|value| value.is_some() || !track.sparse).collect();
        let runs = values.split(Option::is_none).filter(|run| !run.is_empty());
        runs.map(|run| run.iter().copied().flatten().collect()).collect()
    }
}

fn draw_numbers<A>(
    area: &Area<'_>,
    bottom: u32,
    x: A,
    numbers: &Numbers<'_>,
    panel: &LinePanel,
    tracks: &[Track],
) -> Drawn
where
    A: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
{
    let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(x, y_axis(tracks))?;
    let (x, y) = (chart.x_range(), chart.y_range());
    let mut style = mesh(&mut chart);
    style.x_label_formatter(&number).y_label_formatter(&number).y_labels(5).y_desc(&panel.label);
    style.set_tick_mark_size(LabelAreaPosition::Bottom, if bottom > 0 { 10 } else { 0 });
    if bottom > 0 {
        style.x_desc(numbers.label);
    }
    style.draw()?;
    let runs = |track: &Track| match track.level {
        Some(level) => vec![across(&x, level)],
        None => numbers.runs(track),
    };
    let runs: Vec<(&Track, Vec<Run<f64>>)> = tracks.iter().map(|track| (track, runs(track))).collect();
    let each = || runs.iter().flat_map(|(track, runs)| runs.iter().map(|run| (*track, run)));
    // No band hides a line.
    for (track, run) in each() {
        match run[..] {
            [(x, value)] => draw_bar(&mut chart, x, value, tint(track.look.color, 0.5))?,
            _ => draw_band(&mut chart, run, track.look.color)?,
        }
    }
    if let Some(default) = numbers.default {
        draw_line(&mut chart, vec![(default, y.start), (default, y.end)], DEFAULT)?;
    }
    for (track, run) in each() {
        draw_means(&mut chart, run, track.look)?;
        if track.level.is_none() && (run.len() == 1 || numbers.xs.len() <= MARKED) {
            for (x, [_, mean, _]) in run {
                draw_mark(&mut chart, (*x, *mean), Mark::nth(track.index), 10, track.look.color)?;
            }
        }
    }
    Ok(())
}

struct Words<'a> {
    label: &'a str,
    groups: Groups,
    /// Indices of the names that have marks.
    marked: Vec<usize>,
    default: Option<usize>,
}

fn draw_words(area: &Area<'_>, bottom: u32, words: &Words<'_>, panel: &LinePanel, tracks: &[Track]) -> Drawn {
    let groups = &words.groups;
    let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(groups.axis(), y_axis(tracks))?;
    let (x, y) = (chart.x_range(), chart.y_range());
    let name = |x: &i32| groups.name(x);
    let mut style = mesh(&mut chart);
    style.disable_x_mesh().x_label_formatter(&name).y_label_formatter(&number).y_labels(5);
    style.set_tick_mark_size(LabelAreaPosition::Bottom, if bottom > 0 { groups.tick() } else { 0 });
    style.y_desc(&panel.label);
    if bottom > 0 {
        style.x_desc(words.label);
    }
    style.draw()?;
    if let Some(default) = words.default {
        let left = default as i32 * UNIT;
        let strip = Rectangle::new([(left, y.start), (left + UNIT, y.end)], BLACK.mix(STRIP).filled());
        chart.draw_series([strip])?;
    }
    groups.draw_dividers(&mut chart)?;
    let levels =
        || tracks.iter().filter_map(|track| track.level.map(|level| (track.look, across(&x, level))));
    for (look, run) in levels() {
        draw_band(&mut chart, &run, look.color)?;
    }
    for (look, run) in levels() {
        draw_means(&mut chart, &run, look)?;
    }
    let pitch = ASIDE.min(FILL / words.marked.len().max(1) as f64);
    for track in tracks.iter().filter(|track| track.level.is_none()) {
        let place = words.marked.iter().position(|index| *index == track.index).unwrap_or(0) as f64;
        let side = (place - (words.marked.len() as f64 - 1.0) / 2.0) * pitch;
        for i in 0..groups.count() {
            let Some(value) = track.get(i as usize) else { continue };
            let x = in_units(f64::from(i) + 0.5 + side);
            draw_bar(&mut chart, x, value, track.look.color)?;
            draw_mark(&mut chart, (x, value[1]), Mark::nth(track.index), 15, track.look.color)?;
        }
    }
    if bottom > 0 { groups.draw_upright(area, &chart, y.start) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(lines: impl IntoIterator<Item = Line>) -> LinePanel {
        let series = lines.into_iter().enumerate();
        let series = series.map(|(i, line)| LineSeries { name: format!("<{i}>\u{1}"), line });
        LinePanel { title: "t & u\u{0}".into(), label: "y [h]".into(), series: series.collect() }
    }

    fn numbers(values: &[f64], log: bool, default: Option<f64>) -> XAxis {
        XAxis::Numbers { label: "x".into(), values: values.to_vec(), log, default }
    }

    #[test]
    fn any_values_are_drawn() {
        let odd = [[f64::NAN; 3], [1.0, f64::INFINITY, 2.0], [f64::NAN, 0.0, 1e300], [3.0, -2.0, 1.0]];
        let axes = |log| {
            let default = Some(f64::NAN);
            [
                numbers(&[], log, default),
                numbers(&[0.0, -1.0, f64::NAN, 1e300], log, Some(3.0)),
                numbers(&[1.0; 9], log, None),
            ]
        };
        let words = |names: &[&str], default| XAxis::Words {
            label: "x".into(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            default,
        };
        let words = [words(&[], Some(0)), words(&["a"], Some(9)), words(&["\u{1}<", "", "c"], Some(2))];
        for x in axes(false).into_iter().chain(axes(true)).chain(words) {
            let lines =
                odd.map(Line::Level).into_iter().chain([Line::Over(vec![]), Line::Over(odd.to_vec())]);
            for panels in [vec![], vec![panel([]); 2], vec![panel(lines); 2]] {
                assert!(super::lines(&x, &panels).png().is_ok());
            }
        }
    }

    #[test]
    fn missing_values_part_a_line_and_values_are_sorted() {
        let line = Line::Over([1.0, f64::NAN, 3.0, 4.0].map(|mean| [mean - 1.0, mean, f64::NAN]).to_vec());
        let track = Track::new(&line, 0, looks(["a"])[0]);
        let xs = vec![(3, 1.0), (2, 2.0), (1, 3.0), (0, 4.0)];
        let runs = Numbers { label: "", xs, default: None }.runs(&track);
        assert_eq!(
            runs,
            [vec![(1.0, [3.0, 4.0, 4.0]), (2.0, [2.0, 3.0, 3.0])], vec![(4.0, [0.0, 1.0, 1.0])]]
        );
    }

    #[test]
    fn a_level_is_a_band_below_a_line_on_either_axis() {
        let panels = [panel([Line::Level([1.0, 2.0, 3.0])])];
        let words = XAxis::Words { label: String::new(), names: vec!["a".into()], default: None };
        for x in [numbers(&[1.0, 2.0], false, None), words] {
            let svg = lines(&x, &panels).svg().unwrap().to_owned();
            let (band, line) = (svg.find("<polygon opacity=\"0.22\""), svg.rfind("<polyline"));
            assert!(band.is_some() && line > band, "{svg}");
        }
    }
}
