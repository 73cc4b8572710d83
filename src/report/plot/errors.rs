use plotters::chart::LabelAreaPosition;
use plotters::element::PathElement;
use plotters::style::Color;

use super::figure::{
    Area, CHART, Drawn, Figure, X_NUMBERS, Y_LABELS, builder, draw_empty, in_units, mesh, number, placed,
};
use super::groups::Groups;
use super::interval::draw_bar;
use super::legend::Key;
use super::mark::{Mark, draw_mark};
use super::pairs::{Pair, PairPanel, colors, index, names};
use super::stack::Stack;
use super::style::BLACK;

/// Of a chart without its title and the numbers below.
const HEIGHT: u32 = 360;
/// Share of a trace's width that its marks take.
const FILL: f64 = 0.86;

/// Errors of simulated medians and intervals in percent of what was measured: a chart per figure, in it a group per
/// trace, in that a mark per policy. Figures that nothing was measured of are left out.
pub fn errors(panels: &[PairPanel]) -> Figure {
    let (policies, traces) = (names(panels, |pair| &pair.policy), names(panels, |pair| &pair.trace));
    let colors = colors(&policies);
    let keys = policies
        .iter()
        .zip(&colors)
        .map(|(name, color)| (Key::Mark(Mark::Circle, *color), (*name).to_owned()));
    let panels: Vec<&PairPanel> =
        panels.iter().filter(|panel| panel.pairs.iter().any(|pair| errors_pct(pair).is_some())).collect();
    let stack = Stack { chart: HEIGHT, below: 0, last: X_NUMBERS };
    Figure::draw(keys, stack.height(panels.len()), |area| {
        stack.draw(
            area,
            &panels,
            |panel| &panel.title,
            |area, panel, bottom, _| {
                let place = |pair: &Pair| {
                    let policy = (index(&policies, &pair.policy) as f64 + 0.5) / policies.len() as f64;
                    let x = index(&traces, &pair.trace) as f64 + 0.5 + FILL * (policy - 0.5);
                    (in_units(x), colors[index(&policies, &pair.policy)])
                };
                draw_errors(area, bottom, &traces, &panel.pairs, &place)
            },
        )?;
        if panels.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

/// Of the ends of the interval and the median between them, in percent; none if they have no place on any axis.
fn errors_pct(pair: &Pair) -> Option<[f64; 3]> {
    let errors = pair.simulated.map(|value| 100.0 * (value / pair.measured - 1.0));
    errors.iter().all(placed).then_some(errors)
}

fn draw_errors(
    area: &Area<'_>,
    bottom: u32,
    traces: &[&str],
    pairs: &[Pair],
    place: &dyn Fn(&Pair) -> (i32, plotters::style::RGBColor),
) -> Drawn {
    let errors: Vec<(&Pair, [f64; 3])> =
        pairs.iter().filter_map(|pair| errors_pct(pair).map(|errors| (pair, errors))).collect();
    let ends = || errors.iter().flat_map(|(_, [low, _, high])| [*low, *high]);
    let (low, high) = (ends().fold(-1.0, f64::min), ends().fold(1.0, f64::max));
    let margin = 0.06 * (high - low);
    let groups = Groups::cut(traces.iter().copied(), CHART);
    let mut chart =
        builder(area, Y_LABELS, bottom).build_cartesian_2d(groups.axis(), low - margin..high + margin)?;
    mesh(&mut chart)
        .disable_x_mesh()
        .set_tick_mark_size(LabelAreaPosition::Bottom, if bottom > 0 { 10 } else { 0 })
        .x_label_formatter(&|x| groups.name(x))
        .y_label_formatter(&number)
        .y_labels(5)
        .y_desc("error [%]")
        .draw()?;
    groups.draw_dividers(&mut chart)?;
    let range = chart.x_range();
    chart.draw_series([PathElement::new([(range.start, 0.0), (range.end, 0.0)], BLACK.stroke_width(4))])?;
    for (pair, errors) in &errors {
        let (x, color) = place(pair);
        draw_bar(&mut chart, x, *errors, color)?;
        draw_mark(&mut chart, (x, errors[1]), Mark::Circle, 12, color)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_were_not_measured_have_no_chart() {
        let panel = |title: &str, measured: &[f64]| {
            let pair = |&measured: &f64| Pair {
                policy: "p".into(),
                trace: "t".into(),
                measured,
                simulated: [1.0, 2.0, 3.0],
            };
            PairPanel { title: title.into(), pairs: measured.iter().map(pair).collect() }
        };
        let drawn = |panels: &[PairPanel]| errors(panels).svg().unwrap().to_owned();
        let measured = drawn(&[panel("a", &[2.0]), panel("b", &[4.0])]);
        assert_eq!(
            drawn(&[panel("a", &[2.0]), panel("c", &[]), panel("b", &[4.0]), panel("d", &[0.0])]),
            measured
        );
        assert!(drawn(&[panel("c", &[]), panel("d", &[0.0])]).contains("no data"));
    }
}
