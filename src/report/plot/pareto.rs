use std::cmp::Ordering;

use super::figure::{
    Area, Drawn, Figure, X_LABELS, X_NUMBERS, Y_LABELS, around, builder, draw_empty, draw_line, mesh, number,
    placed, steps,
};
use super::legend::{Key, ring};
use super::mark::{Mark, draw_mark};
use super::stack::Stack;
use super::style::{BLACK, Look, distinct, looks, tint};

/// Of a chart without its title and what is below.
const HEIGHT: u32 = 560;
const FRONT: Look = Look { color: BLACK, dash: None, width: 4 };
/// Radii of points, and of the ring around a default.
const SMALL: i32 = 7;
const LARGE: i32 = 13;
const RING: i32 = 23;
/// How much remains of the colour of a small point.
const FAINT: f64 = 0.55;

/// Settings of one chart, as points of which less is better on both axes.
#[derive(Debug, Clone, PartialEq)]
pub struct ParetoPanel {
    pub title: String,
    pub series: Vec<ParetoSeries>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParetoSeries {
    pub name: String,
    pub points: Vec<[f64; 2]>,
    /// The point of the default setting.
    pub default: Option<usize>,
}

/// Settings by two figures, each chart with its own axes, and their Pareto fronts over all series. Colours and marks
/// are names of series. Points on the front, defaults and lone points of a series are large.
pub fn pareto(x_label: &str, y_label: &str, panels: &[ParetoPanel]) -> Figure {
    let series = || panels.iter().flat_map(|panel| &panel.series);
    let names = distinct(series().map(|series| series.name.as_str()));
    let looks = looks(names.iter().copied());
    let key = |(i, look): (usize, &Look)| (Key::Mark(Mark::nth(i), look.color), names[i].to_owned());
    let keys = looks.iter().enumerate().map(key);
    let default = series().any(|series| series.default().is_some());
    let default = default.then(|| (Key::Ring, "default".to_owned()));
    let front = [(Key::Line(FRONT), "Pareto front".to_owned())];
    let stack = Stack { chart: HEIGHT, below: X_NUMBERS, last: X_LABELS };
    Figure::draw(keys.chain(default).chain(front), stack.height(panels.len()), |area| {
        stack.draw(
            area,
            panels,
            |panel| &panel.title,
            |area, panel, bottom, last| {
                let look = |series: &ParetoSeries| {
                    let i = names.iter().position(|name| *name == series.name).unwrap_or(0);
                    (Mark::nth(i), looks[i])
                };
                draw_panel(area, bottom, [last.then_some(x_label), Some(y_label)], panel, &look)
            },
        )?;
        if panels.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

/// Indices of the points that no other is better than: as low on both axes and lower on one. By the first value, and in
/// the given order where points are the same. Points of numbers that have no place on an axis are left out.
pub fn front(points: &[[f64; 2]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).filter(|i| points[*i].iter().all(placed)).collect();
    order.sort_by(|a, b| points[*a].partial_cmp(&points[*b]).unwrap_or(Ordering::Equal));
    let mut front: Vec<usize> = Vec::new();
    for i in order {
        let beaten =
            front.last().is_some_and(|last| points[i][1] >= points[*last][1] && points[i] != points[*last]);
        if !beaten {
            front.push(i);
        }
    }
    front
}

impl ParetoSeries {
    fn default(&self) -> Option<[f64; 2]> {
        self.default.and_then(|i| self.points.get(i)).copied().filter(|point| point.iter().all(placed))
    }
}

struct Dot {
    at: (f64, f64),
    mark: Mark,
    look: Look,
    large: bool,
}

fn draw_panel(
    area: &Area<'_>,
    bottom: u32,
    [x_label, y_label]: [Option<&str>; 2],
    panel: &ParetoPanel,
    look: &dyn Fn(&ParetoSeries) -> (Mark, Look),
) -> Drawn {
    let points: Vec<[f64; 2]> = panel.series.iter().flat_map(|series| &series.points).copied().collect();
    let front = front(&points);
    let axis = |i: usize| around(points.iter().filter(|p| p.iter().all(placed)).map(|p| p[i]), 0.06);
    let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(axis(0), axis(1))?;
    let (x, y) = (chart.x_range(), chart.y_range());
    let mut style = mesh(&mut chart);
    style.x_label_formatter(&number).y_label_formatter(&number).y_labels(6);
    if let Some(label) = x_label {
        style.x_desc(label);
    }
    if let Some(label) = y_label {
        style.y_desc(label);
    }
    style.draw()?;
    let mut on_front = vec![false; points.len()];
    front.iter().for_each(|i| on_front[*i] = true);
    let dots = panel.series.iter().flat_map(|series| {
        let (mark, look) = look(series);
        let lone = series.points.len() == 1;
        let chosen = move |i| lone || series.default == Some(i);
        series.points.iter().enumerate().map(move |(i, [x, y])| Dot {
            at: (*x, *y),
            mark,
            look,
            large: chosen(i),
        })
    });
    let mut dots: Vec<Dot> = dots.collect();
    dots.iter_mut().zip(on_front).for_each(|(dot, on_front)| dot.large |= on_front);
    dots.retain(|dot| placed(&dot.at.0) && placed(&dot.at.1));
    for dot in dots.iter().filter(|dot| !dot.large) {
        draw_mark(&mut chart, dot.at, dot.mark, SMALL, tint(dot.look.color, FAINT))?;
    }
    let line = steps(front.iter().map(|i| (points[*i][0], points[*i][1])));
    if let (Some(first), Some(last)) = (line.first().copied(), line.last().copied()) {
        let ends = [(first.0, y.end), (x.end, last.1)];
        let line = [ends[0]].into_iter().chain(line).chain([ends[1]]).collect();
        draw_line(&mut chart, line, FRONT)?;
    }
    for dot in dots.iter().filter(|dot| dot.large) {
        draw_mark(&mut chart, dot.at, dot.mark, LARGE, dot.look.color)?;
    }
    for [x, y] in panel.series.iter().filter_map(ParetoSeries::default) {
        chart.draw_series(ring((x, y), RING))?;
    }
    if dots.is_empty() { draw_empty(area) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_no_point_is_better_than() {
        let points = [[3.0, 1.0], [1.0, 3.0], [2.0, 2.0], [2.0, 2.5], [2.5, 2.0], [4.0, 1.0], [3.0, 3.0]];
        assert_eq!(front(&points), [1, 2, 0]);
        assert!(front(&[]).is_empty());
    }

    #[test]
    fn the_same_point_is_on_the_front_each_time() {
        assert_eq!(front(&[[2.0, 2.0], [1.0, 3.0], [2.0, 2.0], [1.0, 3.0], [2.0, 3.0]]), [1, 3, 0, 2]);
        assert_eq!(front(&[[0.0, 1.0], [-0.0, 1.0]]), [0, 1]);
    }

    #[test]
    fn what_is_no_number_is_not_on_the_front() {
        let nan = f64::NAN;
        let points = [[nan, 0.0], [0.0, nan], [2.0, 1.0], [f64::NEG_INFINITY, 5.0], [1.0, f64::INFINITY]];
        assert_eq!(front(&points), [2]);
    }

    #[test]
    fn any_points_are_drawn() {
        let odd =
            vec![[f64::NAN, 1.0], [1.0, 2.0], [1.0, 2.0], [-3.0, 1e300], [f64::INFINITY, 0.0], [-0.0, 1e9]];
        for points in [vec![], vec![[1.0, 1.0]], odd] {
            for default in [None, Some(0), Some(3), Some(99)] {
                let series = |name: &str| ParetoSeries { name: name.into(), points: points.clone(), default };
                let panel =
                    ParetoPanel { title: "t & u\u{1}".into(), series: vec![series("<a>"), series("b\u{0}")] };
                for panels in [vec![], vec![panel; 2]] {
                    assert!(pareto("x", "y", &panels).png().is_ok());
                }
            }
        }
    }
}
