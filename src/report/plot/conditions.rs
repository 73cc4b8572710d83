use plotters::chart::LabelAreaPosition;
use plotters::element::{EmptyElement, PathElement};
use plotters::prelude::BindKeyPoints;
use plotters::style::{Color, RGBColor};

use super::figure::{
    Area, Drawn, Figure, RIGHT, TITLE, UNIT, X_NUMBERS, Y_LABELS, builder, draw_empty, in_units, mesh,
    number, titled,
};
use super::legend::{Key, diamond};
use super::mark::{Mark, draw_mark};
use super::style::{AXIS, BLUE, MARGIN, TICK_TEXT, VERMILLION, WIDTH, fitted};

/// Of a chart without its title and the names below.
const HEIGHT: u32 = 400;
/// Marks and colours of the first and the second condition.
const LOOKS: [(Mark, RGBColor); 2] = [(Mark::Circle, VERMILLION), (Mark::Square, BLUE)];
/// From the middle of a group to the marks of its conditions.
const ASIDE: f64 = 0.12;

/// A figure under two conditions: a group per name.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionPanel {
    pub title: String,
    pub label: String,
    pub groups: Vec<ConditionGroup>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConditionGroup {
    pub name: String,
    /// Of each condition: lower end of the interval, median, upper end.
    pub values: [[f64; 3]; 2],
    /// Drawn beside the first condition.
    pub measured: Option<f64>,
}

/// Figures under two conditions, a chart each. Values that are no number are left out.
pub fn conditions(names: [&str; 2], panels: &[ConditionPanel]) -> Figure {
    let keys = names.into_iter().zip(LOOKS);
    let keys = keys.map(|(name, (mark, color))| (Key::Mark(mark, color), name.to_owned()));
    let measured = panels.iter().flat_map(|panel| &panel.groups).any(|group| group.measured.is_some());
    let measured = measured.then(|| (Key::Diamond, "measured".to_owned()));
    let height = panels.len().max(1) as u32 * (TITLE + HEIGHT + X_NUMBERS);
    Figure::draw(keys.chain(measured), height, |area| {
        let mut rest = area.clone();
        for panel in panels {
            let (strip, below) = rest.split_vertically(TITLE + HEIGHT + X_NUMBERS);
            draw_panel(&titled(&strip, Y_LABELS, &panel.title)?, panel)?;
            rest = below;
        }
        if panels.iter().all(|panel| panel.groups.is_empty()) { draw_empty(area) } else { Ok(()) }
    })
}

fn draw_panel(area: &Area<'_>, panel: &ConditionPanel) -> Drawn {
    let drawn = |value: &f64| value.abs() < 1e100;
    let values =
        panel.groups.iter().flat_map(|group| group.values.as_flattened().iter().chain(&group.measured));
    let (low, high) = values
        .copied()
        .filter(drawn)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let margin = 0.08 * (high - low).max(1e-3 * high.abs()).max(1e-9);
    let count = panel.groups.len().max(1) as i32;
    let middles = (0..count).map(|i| i * UNIT + UNIT / 2).collect();
    let room = (WIDTH - 2 * MARGIN - Y_LABELS - RIGHT) / count as u32;
    let name = |x: &i32| {
        let group = panel.groups.get((x / UNIT) as usize);
        group.map_or(String::new(), |group| fitted(&group.name, TICK_TEXT, room.saturating_sub(20)))
    };
    let x = (0..count * UNIT).with_key_points(middles);
    let mut chart = builder(area, Y_LABELS, X_NUMBERS).build_cartesian_2d(x, low - margin..high + margin)?;
    mesh(&mut chart)
        .disable_x_mesh()
        .set_tick_mark_size(LabelAreaPosition::Bottom, 10)
        .x_label_formatter(&name)
        .y_label_formatter(&number)
        .y_labels(5)
        .y_desc(&panel.label)
        .draw()?;
    for i in 1..count {
        let line = [(i * UNIT, low - margin), (i * UNIT, high + margin)];
        chart.draw_series([PathElement::new(line, AXIS.stroke_width(3))])?;
    }
    for (i, group) in panel.groups.iter().enumerate() {
        let middle = i as f64 + 0.5;
        for ((values, (mark, color)), side) in group.values.iter().zip(LOOKS).zip([-ASIDE, ASIDE]) {
            if values.iter().all(drawn) {
                let [low, median, high] = *values;
                let x = in_units(middle + side);
                chart.draw_series([PathElement::new([(x, low), (x, high)], color.stroke_width(8))])?;
                draw_mark(&mut chart, (x, median), mark, 16, color)?;
            }
        }
        if let Some(value) = group.measured.filter(drawn) {
            let [outer, inner] = diamond(17);
            let x = in_units(middle - 2.0 * ASIDE);
            chart.draw_series([EmptyElement::at((x, value)) + outer + inner])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_values_are_drawn() {
        let group = |value: f64| ConditionGroup {
            name: "<a>\u{1}".into(),
            values: [[value; 3], [-value, f64::NAN, 1e300]],
            measured: Some(value),
        };
        for groups in [vec![], vec![group(0.0)], vec![group(f64::NAN), group(-3.0)], vec![group(1e-300)]] {
            let panel = ConditionPanel { title: "t & u".into(), label: "x".into(), groups };
            for panels in [vec![panel.clone(), panel], vec![]] {
                assert!(conditions(["a", "b"], &panels).png().is_ok());
            }
        }
    }
}
